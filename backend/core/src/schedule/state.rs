//! What changes while a plan is made: who holds what, who was asked to leave, what is promised.
//!
//! Two ledgers a pool mirror the two views of [`super::space`]: *now* counts what runs and what is
//! leaving, *later* what runs and what is nominated. A start must fit both. This module carries out
//! decisions; it takes none.

use super::cover::Cover;
use super::held::Held;
use super::herd::Stirs;
use super::hourly::{moves_left, rebalance_left};
use super::ledger::{Ledger, Limits, Row, Short, Tree};
use super::problem::{Hold, Problem};
use super::queue_use::QueueUse;
use super::sides::Sides;
use super::space::{Count, Space};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// One member as the plan sees it.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) index: u32,
    pub(super) hold: Hold,
    pub(super) milli: i64,
    /// Asked to leave, before this plan or by it.
    pub(super) leaving: bool,
}

/// A job as the plan sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct Sim {
    pub(super) members: Vec<Live>,
    pub(super) pool: Option<usize>,
    /// Started by this plan: taking it back is no eviction.
    pub(super) fresh: bool,
    /// Its start kept a nomination.
    pub(super) was_promised: bool,
    pub(super) nominated: Option<Vec<Hold>>,
    pub(super) held: Option<Box<Held>>,
}

impl Sim {
    pub(super) fn staying(&self) -> impl Iterator<Item = (usize, &Live)> {
        self.members.iter().enumerate().filter(|(_, member)| !member.leaving)
    }
}

#[derive(Debug)]
pub(super) struct State<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) tree: Tree,
    pub(super) limits: Vec<Limits>,
    never_limits: Vec<Limits>,
    pub(super) space: Space,
    pub(super) now: Vec<Ledger>,
    pub(super) later: Vec<Ledger>,
    /// Never-evicted work only.
    never: Vec<Ledger>,
    pub(super) jobs: Vec<Sim>,
    /// By node: jobs that had, or got, a member there.
    pub(super) on_node: Vec<Vec<usize>>,
    /// By team: placed jobs.
    pub(super) of_team: Vec<Vec<usize>>,
    /// By team: the lowest priority that any of its placed jobs had.
    pub(super) lowest: Vec<i32>,
    /// Including the leaving, and without them but with the nominated.
    pub(super) queue_now: Vec<QueueUse>,
    pub(super) queue_later: Vec<QueueUse>,
    /// Rebalancing evictions that the hourly cap still allows.
    pub(super) rebalance_left: usize,
    /// Moves that the hourly cap still allows.
    pub(super) moves_left: usize,
    /// The next moment at which time alone changes something.
    pub(super) due: Option<DateTime<Utc>>,
    /// (pool, team) whose use later has changed since somebody last asked.
    moved: Vec<(usize, usize)>,
    has_moved: Vec<bool>,
    /// By team: whose units have become others.
    pub(super) stirs: Vec<Stirs>,
    /// By pool and tree node: what is held inside its guarantee for owners who wait. Nobody else of its branch
    /// recalls loans with that part of the guarantee.
    pub(super) held_milli: Vec<Vec<i64>>,
    /// By pool: teams that use more than their guarantee later. Only theirs can be on loan.
    pub(super) above: Vec<BTreeSet<usize>>,
    /// Which branches' use later or units have changed since a front last looked.
    pub(super) sides: Sides,
    /// On whom planned starts rely that are kept clear of just now.
    pub(super) covers: Vec<Cover>,
}

impl<'p, 'a> State<'p, 'a> {
    pub(super) fn new(problem: &'p Problem<'a>) -> Self {
        let tree = tree_of(problem);
        let limits: Vec<Limits> = limits_of(problem, &tree);
        let pools = problem.pools.len();
        let mut state = Self {
            problem,
            never_limits: limits.iter().map(|limits| limits.guarantee_only(&tree)).collect(),
            limits,
            space: Space::new(problem),
            now: vec![Ledger::new(&tree); pools],
            later: vec![Ledger::new(&tree); pools],
            never: vec![Ledger::new(&tree); pools],
            sides: Sides::new(&tree),
            tree,
            jobs: vec![Sim::default(); problem.jobs.len()],
            on_node: problem.node_jobs.clone(),
            of_team: vec![Vec::new(); problem.teams.len()],
            lowest: vec![i32::MAX; problem.teams.len()],
            queue_now: vec![QueueUse::default(); problem.queues.len()],
            queue_later: vec![QueueUse::default(); problem.queues.len()],
            rebalance_left: rebalance_left(problem),
            moves_left: moves_left(problem),
            due: None,
            moved: Vec::new(),
            has_moved: vec![false; pools * problem.teams.len()],
            stirs: vec![Stirs::default(); problem.teams.len()],
            held_milli: vec![vec![0; problem.teams.len() + 1]; pools],
            above: vec![BTreeSet::new(); pools],
            covers: Vec::new(),
        };
        let teams = problem.teams.len();
        let mut loads = vec![Load::default(); pools * teams];
        for (job, row) in problem.jobs.iter().enumerate() {
            let Some(pool) = row.pool else { continue };
            let load = state.load(job, pool);
            if let Some(team) = row.team {
                loads[pool * teams + team].add(load);
            }
        }
        for (at, load) in loads.iter().enumerate().filter(|(_, load)| load.now > 0) {
            let (pool, team) = (at / teams, at % teams);
            state.now[pool].add(&state.tree, &state.limits[pool], team, load.now);
            state.use_later(pool, team, load.later);
        }
        state
    }

    /// Who holds something already; what it is charged is the answer. The quota of one who should have left long ago is
    /// another's, and its team has lost it: rights count it as gone, or others would pay for it twice.
    fn load(&mut self, job: usize, pool: usize) -> Load {
        let row = &self.problem.jobs[job];
        let mut load = Load::default();
        for member in &row.members {
            load.add(Load { now: member.milli, later: if member.leaving { 0 } else { member.milli } });
        }
        if let Some(queue) = row.queue {
            self.queue_now[queue].milli += load.now;
            self.queue_later[queue].milli += load.later;
        }
        self.list_in_team(job);
        self.jobs[job].pool = Some(pool);
        self.jobs[job].members = row
            .members
            .iter()
            .map(|member| Live {
                index: member.index,
                hold: member.hold.clone(),
                milli: member.milli,
                leaving: member.leaving,
            })
            .collect();
        let staying = self.jobs[job].staying().count() > 0;
        self.count_queue(job, if staying { Count::Both } else { Count::Now }, 1);
        self.charge_never(job, pool, self.never_milli(job), 1);
        load
    }

    fn list_in_team(&mut self, job: usize) {
        let row = &self.problem.jobs[job];
        if let Some(team) = row.team {
            self.of_team[team].push(job);
            self.note_units(team, job);
            self.lowest[team] = self.lowest[team].min(row.priority);
        }
    }

    /// Will this plan look again at `at`?
    pub(super) fn look_again(&mut self, at: DateTime<Utc>) {
        if at > self.problem.now && self.due.is_none_or(|due| at < due) {
            self.due = Some(at);
        }
    }

    fn charge(&mut self, job: usize, pool: usize, milli: i64, count: Count) {
        let row = &self.problem.jobs[job];
        if let Some(queue) = row.queue {
            self.queue_now[queue].milli += if count == Count::Later { 0 } else { milli };
            self.queue_later[queue].milli += if count == Count::Now { 0 } else { milli };
        }
        let Some(team) = row.team else { return };
        if count != Count::Later {
            self.now[pool].add(&self.tree, &self.limits[pool], team, milli);
        }
        if count != Count::Now {
            self.use_later(pool, team, milli);
        }
    }

    /// Looks at how things would stand with one more member of a job, wherever it lies; nothing stays changed.
    pub(super) fn with_one_more<T>(&mut self, job: usize, pool: usize, look: impl FnOnce(&Self) -> T) -> T {
        let milli = self.problem.jobs[job].member_milli;
        self.charge(job, pool, milli, Count::Both);
        let seen = look(self);
        self.charge(job, pool, -milli, Count::Both);
        seen
    }

    fn use_later(&mut self, pool: usize, team: usize, milli: i64) {
        self.later[pool].add(&self.tree, &self.limits[pool], team, milli);
        let moved = &mut self.has_moved[pool * self.problem.teams.len() + team];
        if !*moved {
            *moved = true;
            self.moved.push((pool, team));
        }
        self.note_above(pool, team);
        self.sides.note(pool, team);
    }

    fn note_above(&mut self, pool: usize, team: usize) {
        for node in self.tree.path(team) {
            if self.later[pool].used[node] > self.limits[pool].guaranteed[node] {
                self.above[pool].insert(node);
            } else {
                self.above[pool].remove(&node);
            }
        }
    }

    /// Whose use later may have changed since this was last asked: each (pool, team) once.
    pub(super) fn take_moved(&mut self) -> Vec<(usize, usize)> {
        for &(pool, team) in &self.moved {
            self.has_moved[pool * self.problem.teams.len() + team] = false;
        }
        std::mem::take(&mut self.moved)
    }

    fn never_milli(&self, job: usize) -> i64 {
        let row = &self.problem.jobs[job];
        if row.surplus_never_evicted {
            self.jobs[job].members.iter().map(|member| member.milli).sum()
        } else if row.base_inside_only {
            row.base_milli.min(self.jobs[job].members.iter().map(|member| member.milli).sum())
        } else {
            0
        }
    }

    fn charge_never(&mut self, job: usize, pool: usize, milli: i64, sign: i64) {
        if let Some(team) = self.problem.jobs[job].team
            && milli != 0
        {
            self.never[pool].add(&self.tree, &self.never_limits[pool], team, sign * milli);
        }
    }

    /// Starts a job (or adds members) in this plan.
    pub(super) fn start(&mut self, job: usize, pool: usize, holds: Vec<Hold>) {
        let first = self.jobs[job].members.is_empty();
        if let Some(team) = self.problem.jobs[job].team {
            self.note_units(team, job);
        }
        let milli = self.problem.jobs[job].member_milli;
        let never_before = self.never_milli(job);
        if first {
            self.jobs[job].fresh = true;
            self.list_in_team(job);
            self.jobs[job].pool = Some(pool);
            self.count_queue(job, Count::Both, 1);
        }
        self.jobs[job].members.reserve_exact(holds.len());
        for hold in holds {
            self.space.take(self.problem, &hold, Count::Both);
            self.charge(job, pool, milli, Count::Both);
            let on_node = &mut self.on_node[hold.node];
            if on_node.last() != Some(&job) && (first || !on_node.contains(&job)) {
                on_node.push(job);
            }
            let (at, index) = self.free_index(job);
            self.jobs[job].members.insert(at, Live { index, hold, milli, leaving: false });
        }
        if first || self.problem.jobs[job].surplus_never_evicted {
            self.charge_never(job, pool, self.never_milli(job) - never_before, 1);
        }
    }

    /// The first index that no member has, and where it stands among the members, which are in that order.
    fn free_index(&self, job: usize) -> (usize, u32) {
        let members = &self.jobs[job].members;
        let taken = members.iter().zip(0..).take_while(|(member, index)| member.index == *index).count();
        (taken, u32::try_from(taken).unwrap_or(u32::MAX))
    }

    /// Takes a start of this plan back.
    pub(super) fn withdraw(&mut self, job: usize) {
        let Some(pool) = self.jobs[job].pool else { return };
        self.charge_never(job, pool, self.never_milli(job), -1);
        for member in std::mem::take(&mut self.jobs[job].members) {
            self.space.give(self.problem, &member.hold, Count::Both);
            self.charge(job, pool, -member.milli, Count::Both);
            if self.problem.jobs[job].members.is_empty() {
                self.on_node[member.hold.node].retain(|&other| other != job);
            }
        }
        self.count_queue(job, Count::Both, -1);
        self.jobs[job] = Sim::default();
        if let Some(team) = self.problem.jobs[job].team {
            self.of_team[team].retain(|&other| other != job);
            self.note_units(team, job);
        }
    }

    fn note_units(&mut self, team: usize, job: usize) {
        self.stirs[team].note(job, self.of_team[team].len());
        self.sides.note_units(team);
    }

    /// One member is asked to leave: later it is gone.
    pub(super) fn release(&mut self, job: usize, at: usize) {
        self.set_leaving(job, at, true);
    }

    /// Undoes [`Self::release`].
    pub(super) fn restore(&mut self, job: usize, at: usize) {
        self.set_leaving(job, at, false);
    }

    fn set_leaving(&mut self, job: usize, at: usize, leaving: bool) {
        let Some(pool) = self.jobs[job].pool else { return };
        let staying_before = self.jobs[job].staying().count();
        let member = &mut self.jobs[job].members[at];
        member.leaving = leaving;
        let milli = if leaving { -member.milli } else { member.milli };
        if leaving {
            self.space.give(self.problem, &member.hold, Count::Later);
        } else {
            self.space.take(self.problem, &member.hold, Count::Later);
        }
        self.note_early_leave(job, at, leaving);
        self.charge(job, pool, milli, Count::Later);
        if let Some(team) = self.problem.jobs[job].team {
            self.note_units(team, job);
        }
        if leaving && staying_before == 1 {
            self.count_queue(job, Count::Later, -1);
        } else if !leaving && staying_before == 0 {
            self.count_queue(job, Count::Later, 1);
        }
    }

    /// Promises space to a pending job, or to one that leaves to run there: what is never evicted of the latter is charged
    /// as long as it holds anything.
    pub(super) fn nominate(&mut self, job: usize, pool: usize, holds: Vec<Hold>) {
        for hold in &holds {
            self.space.take(self.problem, hold, Count::Later);
        }
        let row = &self.problem.jobs[job];
        self.charge(job, pool, row.base_milli, Count::Later);
        self.count_queue(job, Count::Later, 1);
        if row.base_inside_only && self.jobs[job].members.is_empty() {
            self.charge_never(job, pool, row.base_milli, 1);
        }
        self.jobs[job].pool = Some(pool);
        self.jobs[job].nominated = Some(holds);
    }

    /// Takes a promise back.
    pub(super) fn lift(&mut self, job: usize) -> Option<(usize, Vec<Hold>)> {
        let holds = self.jobs[job].nominated.take()?;
        let pool = self.jobs[job].pool?;
        if self.jobs[job].members.is_empty() {
            self.jobs[job].pool = None;
        }
        for hold in &holds {
            self.space.give(self.problem, hold, Count::Later);
        }
        let row = &self.problem.jobs[job];
        self.charge(job, pool, -row.base_milli, Count::Later);
        self.count_queue(job, Count::Later, -1);
        if row.base_inside_only && self.jobs[job].members.is_empty() {
            self.charge_never(job, pool, row.base_milli, -1);
        }
        Some((pool, holds))
    }

    /// Quota for `milli` more of the job's team later, as if all who were asked to leave had left.
    pub(super) fn quota_later(&self, job: usize, pool: usize, milli: i64) -> Result<(), Short> {
        let Some(team) = self.problem.jobs[job].team else { return Ok(()) };
        self.later[pool].fits(&self.tree, &self.limits[pool], team, milli)
    }

    /// Whether all that will be used lies within the limits of the job's team, of those above it, and of lending.
    pub(super) fn is_within_quota_later(&self, job: usize, pool: usize) -> bool {
        let Some(team) = self.problem.jobs[job].team else { return true };
        self.later[pool].is_within(&self.tree, &self.limits[pool], team)
    }

    /// Quota now and later.
    pub(super) fn quota(&self, job: usize, pool: usize, milli: i64) -> Result<(), Short> {
        let Some(team) = self.problem.jobs[job].team else { return Ok(()) };
        self.quota_later(job, pool, milli)?;
        self.now[pool].fits(&self.tree, &self.limits[pool], team, milli)
    }

    /// Whether the quota that is in use now, the leaving included, has room for a promised job.
    pub(super) fn fits_now(&self, job: usize) -> bool {
        let row = &self.problem.jobs[job];
        let (Some(team), Some(pool)) = (row.team, self.jobs[job].pool) else { return true };
        self.now[pool].fits(&self.tree, &self.limits[pool], team, row.base_milli).is_ok()
    }

    /// Whether never-evicted work of this size still lies inside guarantee.
    pub(super) fn never_fits(&self, job: usize, pool: usize, milli: i64) -> bool {
        let Some(team) = self.problem.jobs[job].team else { return true };
        self.never[pool].fits(&self.tree, &self.never_limits[pool], team, milli).is_ok()
    }

    /// The most never-evicted work that the team could ever have.
    pub(super) fn most_never(&self, job: usize, pool: usize) -> i64 {
        let Some(team) = self.problem.jobs[job].team else { return i64::MAX };
        self.never_limits[pool].most(&self.tree, team).0
    }

    /// Steps up to the guarantee inside which the job's start would lie.
    pub(super) fn inside(&self, job: usize, pool: usize) -> Option<usize> {
        let row = &self.problem.jobs[job];
        let team = row.team?;
        self.later[pool].inside(&self.tree, &self.limits[pool], team, row.base_milli)
    }
}

/// What is charged to a team.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    now: i64,
    later: i64,
}

impl Load {
    const fn add(&mut self, other: Self) {
        self.now += other.now;
        self.later += other.later;
    }
}

pub(super) fn tree_of(problem: &Problem<'_>) -> Tree {
    let mut parents = vec![None; problem.teams.len()];
    for team in &problem.snapshot.teams {
        if let Ok(index) = problem.teams.binary_search(&team.id) {
            parents[index] = team.parent.and_then(|parent| problem.teams.binary_search(&parent).ok());
        }
    }
    Tree::new(&parents)
}

pub(super) fn limits_of(problem: &Problem<'_>, tree: &Tree) -> Vec<Limits> {
    let mut rows = vec![vec![Row::default(); problem.teams.len()]; problem.pools.len()];
    for quota in &problem.snapshot.quotas {
        let (Ok(pool), Ok(team)) =
            (problem.pools.binary_search(&quota.pool), problem.teams.binary_search(&quota.team))
        else {
            continue;
        };
        rows[pool][team] = Row {
            guaranteed: quota.guaranteed.0,
            borrow_limit: quota.borrow_limit.map(|limit| limit.0),
            lend_limit: quota.lend_limit.map(|limit| limit.0),
            weight: quota.weight,
        };
    }
    rows.iter().zip(capacities(problem)).map(|(rows, capacity)| Limits::new(tree, rows, capacity)).collect()
}

/// GPUs that take work, and the parts of others that are still held: what cannot be used is no
/// capacity, but what runs on it must not make its team look as if it borrowed.
fn capacities(problem: &Problem<'_>) -> Vec<i64> {
    let mut held = vec![0_i64; problem.gpus.len()];
    for slice in problem.jobs.iter().flat_map(|job| &job.members).flat_map(|member| &member.hold.slices) {
        held[slice.gpu] += slice.milli;
    }
    let mut capacities = vec![0; problem.pools.len()];
    for row in problem.nodes.iter().filter(|row| row.exists()) {
        for gpu in row.gpus() {
            capacities[row.pool] += if problem.gpus[gpu].usable { 1_000 } else { held[gpu].min(1_000) };
        }
    }
    capacities
}
