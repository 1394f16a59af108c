//! Pending jobs stand in *lines*: those of a queue that fit or fail together form one, so that a shape
//! that cannot start is looked at once. A strict queue is one line.
//!
//! Who is alike, and in which line, is worked out once a plan; each pass only forms the lines anew from
//! those who still wait. This module starts nobody and does not say whose turn it is.

use super::bounds::Bounds;
use super::problem::{Index, Problem};
use super::state::State;
use crate::id::UserId;
use crate::kind::Kind;
use crate::queue::{QueueOrder, QueueState};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;

/// Stands in no line, or is like nobody.
const NONE: usize = usize::MAX;

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

/// Jobs that agree in this fit or fail together, and wait for the same reasons.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Alike<'a> {
    queue: Option<usize>,
    team: Option<usize>,
    priority: i32,
    team_priority: i32,
    class: usize,
    kind: Kind,
    pools: &'a [usize],
    preemptible: bool,
    evict_others: bool,
    held: bool,
    /// Decides who passes a planned start.
    time_limit_secs: Option<i64>,
    /// Where the queue limits each user.
    user: Option<UserId>,
    max_replicas: u32,
}

/// All pending jobs.
#[derive(Debug)]
pub(super) struct Lines {
    /// By queue, highest priority, then age.
    pub(super) in_order: Vec<usize>,
    /// By job: the number of those like it.
    alike: Vec<usize>,
    /// How many such numbers there are.
    pub(super) kinds: usize,
    line_of: Vec<usize>,
    lines: Vec<Line>,
}

impl std::ops::Index<usize> for Lines {
    type Output = Line;

    fn index(&self, line: usize) -> &Line {
        &self.lines[line]
    }
}

impl std::ops::IndexMut<usize> for Lines {
    fn index_mut(&mut self, line: usize) -> &mut Line {
        &mut self.lines[line]
    }
}

impl Lines {
    pub(super) fn new(state: &State<'_, '_>, bounds: &mut Bounds) -> Self {
        let problem = state.problem;
        let jobs = problem.jobs.len();
        let mut found = Self {
            in_order: in_order(problem),
            alike: vec![NONE; jobs],
            kinds: 0,
            line_of: vec![NONE; jobs],
            lines: Vec::new(),
        };
        let mut index: Index<Alike<'_>, usize> = Index::default();
        // By kind: its line; in strict queues all kinds share one.
        let mut line_of_kind: Vec<usize> = Vec::new();
        let mut line_of_queue: Vec<usize> = vec![NONE; problem.queues.len()];
        // Most stand beside one who is alike.
        let mut beside: Option<(Alike<'_>, usize)> = None;
        for at in 0..found.in_order.len() {
            let job = found.in_order[at];
            let own = alike(problem, job);
            let kind = match &beside {
                Some((other, kind)) if *other == own => *kind,
                _ => *index.entry(own).or_insert(line_of_kind.len()),
            };
            beside = Some((own, kind));
            if kind == line_of_kind.len() {
                let may_start = is_served(problem, job) && bounds.can_ever(state, job);
                let line = if may_start { found.line_for(problem, job, &mut line_of_queue) } else { NONE };
                line_of_kind.push(line);
            }
            found.alike[job] = kind;
            found.line_of[job] = line_of_kind[kind];
        }
        found.kinds = line_of_kind.len();
        found
    }

    fn line_for(&mut self, problem: &Problem<'_>, job: usize, line_of_queue: &mut [usize]) -> usize {
        let row = &problem.jobs[job];
        let (Some(queue), Some(team)) = (row.queue, row.team) else { return NONE };
        let strict = problem.queues[queue].order == QueueOrder::StrictFifo;
        if strict && line_of_queue[queue] != NONE {
            return line_of_queue[queue];
        }
        let line = self.lines.len();
        if strict {
            line_of_queue[queue] = line;
        }
        self.lines.push(Line { team, strict, jobs: Vec::new(), next: 0, blocked: false });
        line
    }

    /// Puts those who still wait into their lines. The nominated wait elsewhere, except in a strict queue,
    /// where nothing overtakes a head that waits in its nomination.
    pub(super) fn form(&mut self, state: &State<'_, '_>) {
        for line in &mut self.lines {
            line.jobs.clear();
            (line.next, line.blocked) = (0, false);
        }
        for &job in &self.in_order {
            let Some(line) = self.lines.get_mut(self.line_of[job]) else { continue };
            let sim = &state.jobs[job];
            let promised = sim.nominated.is_some();
            if !sim.members.is_empty() || (promised && !line.strict) {
                continue;
            }
            line.blocked |= promised && line.jobs.is_empty();
            line.jobs.push(job);
        }
    }

    /// By line, strict or not: those who wait or were started by this plan, in their order. The promised stand
    /// in strict lines only.
    pub(super) fn with_started(&self, state: &State<'_, '_>) -> Vec<(bool, Vec<usize>)> {
        let mut found: Vec<(bool, Vec<usize>)> =
            self.lines.iter().map(|line| (line.strict, Vec::new())).collect();
        for &job in &self.in_order {
            let Some((strict, jobs)) = found.get_mut(self.line_of[job]) else { continue };
            let sim = &state.jobs[job];
            let started = sim.fresh && !sim.was_promised;
            let waits = sim.members.is_empty() && (*strict || sim.nominated.is_none());
            if started || waits {
                jobs.push(job);
            }
        }
        found
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Line> {
        self.lines.iter()
    }

    pub(super) fn line_of(&self, job: usize) -> Option<&Line> {
        self.lines.get(self.line_of[job])
    }

    /// The number of those like a pending job.
    pub(super) fn kind_of(&self, job: usize) -> usize {
        self.alike[job]
    }
}

/// Pending jobs by their place in their queue: highest priority, then age.
fn in_order(problem: &Problem<'_>) -> Vec<usize> {
    type Place = (Option<usize>, Reverse<i32>, DateTime<Utc>, usize);
    let rows = problem.jobs.iter().enumerate().filter(|(_, row)| row.job.is_pending());
    let place = |(job, row): (usize, &super::problem::JobRow<'_>)| {
        (row.queue, Reverse(row.team_priority), row.submitted_at, job)
    };
    let mut places: Vec<Place> = rows.map(place).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, _, _, job)| job).collect()
}

fn alike<'p>(problem: &'p Problem<'_>, job: usize) -> Alike<'p> {
    let row = &problem.jobs[job];
    let queue = row.queue.map(|queue| problem.queues[queue]);
    Alike {
        queue: row.queue,
        team: row.team,
        priority: row.priority,
        team_priority: row.team_priority,
        class: row.class,
        kind: row.job.kind,
        pools: &row.pools,
        preemptible: row.job.preemptible,
        evict_others: row.job.evict_others,
        held: row.job.held,
        time_limit_secs: row.job.time_limit_secs,
        user: queue.and_then(|queue| queue.max_running_jobs_per_user).map(|_| row.job.user),
        max_replicas: row.job.max_replicas,
    }
}

/// Its queue is served and nobody holds the job back.
fn is_served(problem: &Problem<'_>, job: usize) -> bool {
    let row = &problem.jobs[job];
    let open = row.queue.is_some_and(|queue| problem.queues[queue].state != QueueState::Held);
    open && !row.job.held && row.team.is_some() && problem.closed_until(job).is_none()
}
