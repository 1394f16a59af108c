//! The calendar: maintenance windows of nodes, and GPUs reserved for a team.
//!
//! A job whose end (by its time limit) lies after a window begins does not start on the window's nodes; one without a
//! limit does not from a day before on, and leaves by the drain. A job of others whose end lies after a reservation
//! begins, or that has none, keeps clear of what [`super::reserve`] keeps for it. What binds a job is a part of its class,
//! so that jobs of one class still fit or fail together. While a window is open its nodes count as draining, whatever
//! their stored state: nothing must be set back when it is over.
//!
//! This module chooses no GPUs, gives no quota, and evicts nobody.

use super::bounds::{gpu_numbers, obstacle};
use super::fit::{self, Among, Budget, OutOfBudget};
use super::problem::{Class, Hold, Problem};
use super::reserve::Reserved;
use super::snapshot::{Job, Snapshot};
use super::state::State;
use super::timeline::{Opening, Timeline};
use crate::id::{NodeId, PoolId, TeamId};
use crate::node::NodeState;
use crate::reason::{Help, Obstacle, ReasonCode};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;
use std::rc::Rc;

const EXPLAIN_STEPS: u64 = 100_000;

/// A maintenance window by dense indices.
#[derive(Debug)]
struct Window {
    nodes: Vec<usize>,
    starts_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
}

/// A reservation by dense indices.
#[derive(Debug)]
pub(super) struct ReservationRow {
    pub(super) pool: usize,
    pub(super) team: usize,
    /// By team: it is the reservation's or below it.
    pub(super) serves: Vec<bool>,
    pub(super) gpus: usize,
    pub(super) starts_at: DateTime<Utc>,
    pub(super) ends_at: DateTime<Utc>,
}

/// What is not over, in the order in which it begins.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    windows: Vec<Window>,
    reservations: Vec<ReservationRow>,
    lead: TimeDelta,
}

/// What of the calendar a job that starts now keeps clear of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Bound {
    windows: Vec<usize>,
    reservations: Vec<usize>,
}

impl Bound {
    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.reservations.is_empty()
    }

    pub(super) fn has_reservation(&self, reservation: usize) -> bool {
        self.reservations.contains(&reservation)
    }
}

/// Whether a maintenance window of the node is open.
pub(super) fn is_in_maintenance(snapshot: &Snapshot, node: NodeId) -> bool {
    let now = snapshot.now;
    let mut open =
        snapshot.maintenance_windows.iter().filter(|row| row.starts_at <= now && now < row.ends_at);
    open.any(|row| row.nodes.contains(&node))
}

impl Calendar {
    pub(super) fn new(
        snapshot: &Snapshot,
        pools: &[PoolId],
        teams: &[TeamId],
        node: impl Fn(&NodeId) -> Option<usize>,
    ) -> Self {
        let now = snapshot.now;
        let mut windows: Vec<_> =
            snapshot.maintenance_windows.iter().filter(|row| row.ends_at > now).collect();
        windows.sort_unstable_by_key(|row| (row.starts_at, row.id));
        let mut reservations: Vec<_> = snapshot.reservations.iter().filter(|row| row.ends_at > now).collect();
        reservations.sort_unstable_by_key(|row| (row.starts_at, row.id));
        let lead = snapshot.policy.backfill.lead_without_limit_secs();
        let reservation = |row: &super::snapshot::Reservation| {
            Some(ReservationRow {
                pool: pools.binary_search(&row.pool).ok()?,
                team: teams.binary_search(&row.team).ok()?,
                serves: served(snapshot, teams, row.team),
                gpus: row.gpus as usize,
                starts_at: row.starts_at,
                ends_at: row.ends_at,
            })
        };
        let window = |row: &super::snapshot::MaintenanceWindow| Window {
            nodes: row.nodes.iter().filter_map(&node).collect(),
            starts_at: row.starts_at,
            ends_at: row.ends_at,
        };
        Self {
            windows: windows.into_iter().map(window).collect(),
            reservations: reservations.into_iter().filter_map(reservation).collect(),
            lead: TimeDelta::seconds(lead),
        }
    }

    pub(super) fn reservation(&self, at: usize) -> &ReservationRow {
        &self.reservations[at]
    }

    pub(super) fn reservations(&self) -> impl Iterator<Item = (usize, &ReservationRow)> {
        self.reservations.iter().enumerate()
    }

    /// When something begins or ends.
    pub(super) fn moments(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let windows = self.windows.iter().flat_map(|row| [row.starts_at, row.ends_at]);
        windows.chain(self.reservations.iter().flat_map(|row| [row.starts_at, row.ends_at]))
    }

    /// What a job that starts at `now`, or has started, keeps clear of.
    pub(super) fn binds(&self, job: &Job, team: Option<usize>, now: DateTime<Utc>) -> Bound {
        if self.windows.is_empty() && self.reservations.is_empty() {
            return Bound::default();
        }
        let started = job.members.iter().map(|member| member.started_at).min().unwrap_or(now);
        let windows = self.windows.iter().zip(0..);
        let windows = windows
            .filter(|(row, _)| now < row.starts_at && self.outlasts(end(job, started), now, row.starts_at));
        Bound { windows: windows.map(|(_, at)| at).collect(), reservations: self.met(job, team, started) }
    }

    /// Reservations of others that a job would meet, were it to start then.
    fn met(&self, job: &Job, team: Option<usize>, started: DateTime<Utc>) -> Vec<usize> {
        let end = end(job, started);
        let met = |row: &ReservationRow| {
            let own = team.is_some_and(|team| row.serves[team]);
            !own && started < row.ends_at && end.is_none_or(|end| end > row.starts_at)
        };
        self.reservations.iter().zip(0..).filter(|(row, _)| met(row)).map(|(_, at)| at).collect()
    }

    /// Whether who ends then, or never, runs into what begins at `from`.
    fn outlasts(&self, end: Option<DateTime<Utc>>, now: DateTime<Utc>, from: DateTime<Utc>) -> bool {
        match end {
            Some(end) => end > from,
            None => now.checked_add_signed(self.lead).is_none_or(|until| until >= from),
        }
    }

    /// Nodes that take work, but for those whose maintenance is too near.
    pub(super) fn without_windows(&self, node_ok: &Rc<[bool]>, bound: &Bound) -> Rc<[bool]> {
        if bound.windows.is_empty() {
            return Rc::clone(node_ok);
        }
        let mut open = node_ok.to_vec();
        for node in bound.windows.iter().flat_map(|&at| &self.windows[at].nodes) {
            open[*node] = false;
        }
        open.into()
    }

    /// Whether maintenance falls into this time on the node.
    pub(super) fn is_maintained(
        &self,
        node: usize,
        from: DateTime<Utc>,
        until: Option<DateTime<Utc>>,
    ) -> bool {
        let overlaps = |row: &&Window| row.ends_at > from && until.is_none_or(|until| row.starts_at < until);
        self.windows.iter().filter(overlaps).any(|row| row.nodes.contains(&node))
    }
}

fn end(job: &Job, started: DateTime<Utc>) -> Option<DateTime<Utc>> {
    started.checked_add_signed(TimeDelta::try_seconds(job.time_limit_secs?)?)
}

/// By team: it is this one or stands below it.
fn served(snapshot: &Snapshot, teams: &[TeamId], team: TeamId) -> Vec<bool> {
    let parents: BTreeMap<TeamId, Option<TeamId>> =
        snapshot.teams.iter().map(|row| (row.id, row.parent)).collect();
    let is_served = |&own: &TeamId| {
        let above = std::iter::successors(Some(own), |id| parents.get(id).copied().flatten());
        above.take(teams.len() + 1).any(|id| id == team)
    };
    teams.iter().map(is_served).collect()
}

/// The job's first opening beside the reservations that it would meet then; `None` also where maintenance of the nodes
/// comes in between. A reservation that is over by then is in its way all the same: nobody is promised a start that
/// hangs on it.
pub(super) fn first_opening<'h>(
    state: &State<'_, '_>,
    timeline: &Timeline,
    job: usize,
    ahead: impl Iterator<Item = (usize, &'h [Hold])> + Clone,
    reserved: &'h [Reserved],
    budget: &mut Budget,
) -> Result<Option<Opening>, OutOfBudget> {
    let problem = state.problem;
    let row = &problem.jobs[job];
    let mut met = problem.classes[row.class].bound.reservations.clone();
    loop {
        let holds =
            reserved.iter().filter(|kept| met.contains(&kept.reservation)).flat_map(|kept| &kept.holds);
        let Some(opening) = timeline.first_opening(state, job, ahead.clone(), holds, budget)? else {
            return Ok(None);
        };
        let more = problem.calendar.met(row.job, row.team, opening.at);
        let more: Vec<usize> = more.into_iter().filter(|at| !met.contains(at)).collect();
        if more.is_empty() {
            let until =
                end(row.job, opening.at).or_else(|| opening.at.checked_add_signed(problem.calendar.lead));
            let at = opening.at;
            let maintained = |hold: &Hold| problem.calendar.is_maintained(hold.node, at, until);
            return Ok(Some(opening).filter(|opening| !opening.holds.iter().any(maintained)));
        }
        met.extend(more);
    }
}

/// There is space now, and its maintenance begins before the job would have ended.
pub(super) fn maintenance_ahead(state: &State<'_, '_>, job: usize, pool: usize) -> Option<(Obstacle, Help)> {
    let problem = state.problem;
    let class = &problem.classes[problem.jobs[job].class];
    let windows = || class.bound.windows.iter().map(|&at| &problem.calendar.windows[at]);
    let barred = |node: &usize| windows().any(|row| row.nodes.contains(node)) && suits(problem, class, *node);
    let first = windows().filter(|row| row.nodes.iter().any(barred)).map(|row| row.starts_at).min()?;
    let node_ok = (0..problem.nodes.len()).map(|node| suits(problem, class, node)).collect();
    let unbarred = Class { node_ok, ..class.clone() };
    let fits = |class: &Class| {
        let mut budget = Budget::new(EXPLAIN_STEPS);
        let open = &state.space.open;
        fit::place(problem, open, class, pool, class.members, Among::Working, &mut budget)
    };
    if !matches!(fits(class), Ok(None)) || !matches!(fits(&unbarred), Ok(Some(_))) {
        return None;
    }
    let secs = (first - problem.now).num_seconds();
    let mut numbers = gpu_numbers(&[("asks", class.shape.gpus.milli().0)]);
    numbers.insert("planned_in_secs".to_owned(), secs);
    let obstacle = obstacle(ReasonCode::Fragmented, Some("maintenance_ahead"), numbers);
    Some((obstacle, Help::SetTimeLimit { secs }))
}

fn suits(problem: &Problem<'_>, class: &Class, node: usize) -> bool {
    class.node_could[node] && problem.nodes[node].state == NodeState::Ready
}

/// Which detail says why none of the nodes that suit the class takes it.
pub(super) fn why_no_work(problem: &Problem<'_>, class: usize, pool: usize) -> &'static str {
    let class = &problem.classes[class];
    let nodes = || problem.pool_nodes[pool].iter().filter(|&&node| class.node_could[node]);
    if nodes().any(|&node| suits(problem, class, node) && !class.node_ok[node]) {
        "maintenance_ahead"
    } else if nodes().any(|&node| is_in_maintenance(problem.snapshot, problem.nodes[node].node.id)) {
        "in_maintenance"
    } else {
        "nodes_take_no_work"
    }
}

/// No space is left, and nodes on which members would fit are in maintenance.
pub(super) fn in_maintenance(
    problem: &Problem<'_>,
    class: usize,
    pool: usize,
    mut numbers: BTreeMap<String, i64>,
) -> Option<(Obstacle, Help)> {
    let class = &problem.classes[class];
    let open = problem.calendar.windows.iter().filter(|row| row.starts_at <= problem.now);
    let large = |node: &&usize| {
        let row = &problem.nodes[**node];
        row.pool == pool && class.node_could[**node] && row.gpu_count >= class.shape.gpus.devices() as usize
    };
    let ends_at =
        open.filter(|row| row.nodes.iter().any(|node| large(&node))).map(|row| row.ends_at).min()?;
    numbers.insert("wait_secs".to_owned(), (ends_at - problem.now).num_seconds());
    Some((obstacle(ReasonCode::Fragmented, Some("in_maintenance"), numbers), Help::Wait))
}

/// There is space, and it is reserved for another team.
pub(super) fn reserved_ahead(problem: &Problem<'_>, reservation: usize) -> (Obstacle, Help) {
    let row = problem.calendar.reservation(reservation);
    let begins = (row.starts_at - problem.now).num_seconds();
    let mut numbers =
        gpu_numbers(&[("reserved", 1_000 * i64::try_from(row.gpus).unwrap_or(i64::MAX / 1_000))]);
    if begins > 0 {
        numbers.insert("planned_in_secs".to_owned(), begins);
        let ahead = obstacle(ReasonCode::BehindOthers, Some("reserved_ahead"), numbers);
        return (ahead, Help::SetTimeLimit { secs: begins });
    }
    numbers.insert("wait_secs".to_owned(), (row.ends_at - problem.now).num_seconds());
    (obstacle(ReasonCode::BehindOthers, Some("reserved_now"), numbers), Help::Wait)
}
