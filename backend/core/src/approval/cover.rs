//! What active escalations do to the planner's snapshot: raised priorities, and jobs that are not evicted.
//!
//! Nothing is kept of it in the jobs themselves: what is no longer active is simply not applied any more, and whoever
//! runs runs on.

use super::terms::Scope;
use crate::id::{JobId, QueueId, TeamId};
use crate::kind::Kind;
use crate::priority::PriorityClass;
use crate::schedule::snapshot::{Job, Snapshot, Team};
use std::collections::BTreeMap;

/// An active raise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The team whose jobs, or whose job, it raises. It reaches the teams below.
    pub team: TeamId,
    /// Only this job.
    pub job: Option<JobId>,
    /// Only jobs of this queue.
    pub queue: Option<QueueId>,
    /// Only jobs of these kinds.
    pub kinds: Option<Vec<Kind>>,
    pub level: PriorityClass,
    pub scope: Scope,
}

/// What is active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exception {
    Raise(Raise),
    NeverEvict(JobId),
}

impl Raise {
    /// Whether it reaches the job.
    #[must_use]
    pub fn covers(&self, job: &Job, parents: &BTreeMap<TeamId, Option<TeamId>>) -> bool {
        if let Some(only) = self.job {
            return job.id == only;
        }
        self.queue.is_none_or(|queue| job.queue == queue)
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&job.kind))
            && is_below(job.team, self.team, parents)
    }

    /// The job as it counts with it: never less than before.
    pub fn apply(&self, job: &mut Job) {
        let level = self.level.value();
        match self.scope {
            Scope::Team => job.team_priority = job.team_priority.max(Some(level)),
            Scope::Platform => job.priority = job.priority.max(level),
        }
    }
}

/// Each team's parent.
fn parents(teams: &[Team]) -> BTreeMap<TeamId, Option<TeamId>> {
    teams.iter().map(|team| (team.id, team.parent)).collect()
}

fn is_below(team: TeamId, above: TeamId, parents: &BTreeMap<TeamId, Option<TeamId>>) -> bool {
    let up = std::iter::successors(Some(team), |team| parents.get(team).copied().flatten());
    // No chain is longer than all teams, even were the tree a ring.
    up.take(parents.len() + 1).any(|team| team == above)
}

/// Puts what is active over the jobs.
pub fn apply_exceptions(snapshot: &mut Snapshot, exceptions: &[Exception]) {
    if exceptions.is_empty() {
        return;
    }
    let parents = parents(&snapshot.teams);
    for job in &mut snapshot.jobs {
        for exception in exceptions {
            match exception {
                Exception::Raise(raise) if raise.covers(job, &parents) => raise.apply(job),
                Exception::NeverEvict(only) if job.id == *only => job.never_evict = true,
                Exception::Raise(_) | Exception::NeverEvict(_) => {}
            }
        }
    }
}
