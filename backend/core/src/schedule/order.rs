//! The order of service (rule 2.2): requests inside their team's guarantee first, by priority and age;
//! then what lies inside a department's guarantee; then the surplus, by class band, weighted share and
//! age. Shares are compared where the branches of two teams meet, and anew after each start.
//!
//! Pending jobs stand in *lines*: those of a queue that fit or fail together form one, so that a shape
//! that cannot start is looked at once. A strict queue is one line. This module starts nobody.

use super::ledger::Share;
use super::problem::Problem;
use super::state::State;
use crate::id::{JobId, UserId};
use crate::kind::Kind;
use crate::policy::SurplusOrder;
use crate::queue::{QueueOrder, QueueState};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Jobs in line, oldest of the highest priority first.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) team: usize,
    pub(super) strict: bool,
    pub(super) jobs: Vec<usize>,
    /// The head; everything before it is served.
    pub(super) next: usize,
    /// The head could not be served in this pass.
    pub(super) blocked: bool,
}

impl Line {
    pub(super) fn head(&self) -> Option<usize> {
        self.jobs.get(self.next).copied()
    }
}

/// Jobs that agree in this fit or fail together.
#[derive(PartialEq, Eq, Hash)]
struct Alike<'a> {
    priority: i32,
    class: usize,
    kind: Kind,
    pools: &'a [usize],
    preemptible: bool,
    evict_others: bool,
    /// Where the queue limits each user.
    user: Option<UserId>,
    max_replicas: u32,
}

#[derive(PartialEq, Eq, Hash)]
struct LineKey<'a> {
    queue: usize,
    /// The rest is equal for a strict queue's jobs, whatever they ask.
    rest: Option<Alike<'a>>,
}

/// All lines, and by job the line it stands in.
pub(super) fn lines(state: &State<'_, '_>, can_ever: impl Fn(usize) -> bool) -> Vec<Line> {
    let problem = state.problem;
    let mut jobs: Vec<usize> = (0..problem.jobs.len())
        .filter(|&job| is_waiting(state, job) && is_served(problem, job) && can_ever(job))
        .filter(|&job| state.jobs[job].nominated.is_none() || is_strict(problem, job))
        .collect();
    jobs.sort_by_key(|&job| place_in_queue(problem, job));
    let mut index: HashMap<LineKey<'_>, usize> = HashMap::new();
    let mut lines: Vec<Line> = Vec::new();
    for job in jobs {
        let row = &problem.jobs[job];
        let (Some(at), Some(team)) = (row.queue, row.team) else { continue };
        let queue = problem.queues[at];
        let strict = is_strict(problem, job);
        let rest = (!strict).then(|| Alike {
            priority: row.job.priority.0,
            class: row.class,
            kind: row.job.kind,
            pools: &row.pools,
            preemptible: row.job.preemptible,
            evict_others: row.job.evict_others,
            user: queue.max_running_jobs_per_user.map(|_| row.job.user),
            max_replicas: row.job.max_replicas,
        });
        let next = lines.len();
        let line = *index.entry(LineKey { queue: at, rest }).or_insert(next);
        if line == next {
            // Nothing overtakes a head that waits in its nomination.
            let blocked = state.jobs[job].nominated.is_some();
            lines.push(Line { team, strict, jobs: Vec::new(), next: 0, blocked });
        }
        lines[line].jobs.push(job);
    }
    lines
}

fn is_waiting(state: &State<'_, '_>, job: usize) -> bool {
    state.problem.jobs[job].job.is_pending() && state.jobs[job].members.is_empty()
}

fn is_strict(problem: &Problem<'_>, job: usize) -> bool {
    let queue = problem.jobs[job].queue;
    queue.is_some_and(|queue| problem.queues[queue].order == QueueOrder::StrictFifo)
}

/// Highest priority, then age: the order inside a queue.
pub(super) fn place_in_queue(
    problem: &Problem<'_>,
    job: usize,
) -> (Option<usize>, Reverse<i32>, DateTime<Utc>, JobId) {
    let row = &problem.jobs[job];
    (row.queue, Reverse(row.job.priority.0), row.job.submitted_at, row.job.id)
}

/// Its queue is served and nobody holds the job back.
pub(super) fn is_served(problem: &Problem<'_>, job: usize) -> bool {
    let row = &problem.jobs[job];
    let open = row.queue.is_some_and(|queue| problem.queues[queue].state != QueueState::Held);
    open && !row.job.held && row.team.is_some() && problem.closed_until(job).is_none()
}

/// Who is served first. Less = first; the last field is the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// Steps up to the guarantee inside which the request lies.
    level: usize,
    /// Inside the own guarantee: exact priority. Surplus: the band. 0 when only shares count.
    class: Reverse<i32>,
    share: Option<Share>,
    submitted_at: DateTime<Utc>,
    job: JobId,
}

fn turn(state: &State<'_, '_>, job: usize) -> Turn {
    let row = &state.problem.jobs[job];
    let level = row.pools.iter().filter_map(|&pool| state.inside(job, pool)).min().unwrap_or(usize::MAX);
    let class = if level == 0 {
        row.job.priority.0
    } else if state.problem.snapshot.policy.surplus_order == SurplusOrder::Bands {
        row.job.priority.band().value().0
    } else {
        0
    };
    Turn { level, class: Reverse(class), share: None, submitted_at: row.job.submitted_at, job: row.job.id }
}

/// Picks the line to serve next.
#[derive(Debug)]
pub(super) struct Picker {
    /// By team: the turn of its best line; `None` = must be looked at again.
    best: Vec<Option<Option<(Turn, usize)>>>,
    by_team: Vec<Vec<usize>>,
}

impl Picker {
    pub(super) fn new(state: &State<'_, '_>, lines: &[Line]) -> Self {
        let teams = state.problem.teams.len();
        let mut by_team = vec![Vec::new(); teams];
        for (index, line) in lines.iter().enumerate() {
            by_team[line.team].push(index);
        }
        Self { best: vec![None; teams], by_team }
    }

    /// Something of this team, or of its relatives, has changed.
    pub(super) fn touch(&mut self, state: &State<'_, '_>, team: usize) {
        let top = state.tree.path(team).last().unwrap_or(team);
        for other in 0..self.best.len() {
            if state.tree.is_under(other, top) {
                self.best[other] = None;
            }
        }
    }

    /// Only the team's lines have moved.
    pub(super) fn line_moved(&mut self, team: usize) {
        self.best[team] = None;
    }

    /// The next line, by a tournament up the team tree.
    pub(super) fn next(&mut self, state: &State<'_, '_>, lines: &[Line]) -> Option<usize> {
        let tree = &state.tree;
        let mut champion: Vec<Option<(Turn, usize)>> = vec![None; tree.root + 1];
        for &node in &tree.bottom_up {
            if node != tree.root {
                let own = self.best_of_team(state, lines, node);
                champion[node] = better(champion[node], own);
                let Some((turn, line)) = champion[node] else { continue };
                let parent = tree.parent[node];
                let share = (turn.level > 0).then(|| share(state, node, lines[line].head()));
                champion[parent] = better(champion[parent], Some((Turn { share, ..turn }, line)));
            }
        }
        champion[tree.root].map(|(_, line)| line)
    }

    fn best_of_team(&mut self, state: &State<'_, '_>, lines: &[Line], team: usize) -> Option<(Turn, usize)> {
        if let Some(known) = self.best[team] {
            return known;
        }
        let waiting = self.by_team[team].iter().filter(|&&line| !lines[line].blocked);
        let best = waiting.filter_map(|&line| Some((turn(state, lines[line].head()?), line))).min();
        self.best[team] = Some(best);
        best
    }
}

fn better(left: Option<(Turn, usize)>, right: Option<(Turn, usize)>) -> Option<(Turn, usize)> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

/// What a node uses above its guarantee, in the pool that its candidate wants first.
fn share(state: &State<'_, '_>, node: usize, job: Option<usize>) -> Share {
    let pool = job.and_then(|job| state.problem.jobs[job].pools.first().copied());
    let nothing = Share { over: 0, weight: 1 };
    pool.map_or(nothing, |pool| state.later[pool].share(&state.limits[pool], node, 0))
}
