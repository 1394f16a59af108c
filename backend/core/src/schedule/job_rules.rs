//! The rules of each job's kind, as its queue and team have them, and whether its time window is open.
//!
//! Thousands of jobs share few sets of rules: each set is made once.

use super::problem::{Index, Problem};
use super::snapshot::{Job, Snapshot};
use crate::id::{QueueId, TeamId};
use crate::kind::Kind;
use crate::policy::{KindRules, Place};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// One set of rules, at this moment.
#[derive(Debug)]
pub(super) struct JobRules {
    pub(super) rules: KindRules,
    /// Its time window is closed until then; `None` = it may start.
    pub(super) closed_until: Option<DateTime<Utc>>,
}

/// All sets that are in use.
#[derive(Debug, Default)]
pub(super) struct RuleBook {
    sets: Vec<JobRules>,
    known: Index<(Kind, TeamId, QueueId), usize>,
}

impl RuleBook {
    pub(super) fn rules(&self, set: usize) -> &KindRules {
        &self.sets[set].rules
    }

    /// Whether some set's time window is closed.
    pub(super) fn any_closed(&self) -> bool {
        self.sets.iter().any(|set| set.closed_until.is_some())
    }

    /// The index of a job's set.
    pub(super) fn of(&mut self, snapshot: &Snapshot, places: &Places<'_>, job: &Job) -> usize {
        let sets = &mut self.sets;
        *self.known.entry((job.kind, job.team, job.queue)).or_insert_with(|| {
            let rules = places.rules(snapshot, job);
            let closed_until = rules.time_window.as_ref().filter(|window| !window.is_open(snapshot.now));
            let closed_until =
                closed_until.map(|window| window.opens_at(snapshot.now).unwrap_or(DateTime::<Utc>::MAX_UTC));
            sets.push(JobRules { rules, closed_until });
            sets.len() - 1
        })
    }
}

/// Slugs by which rules are looked up.
pub(super) struct Places<'a> {
    queues: BTreeMap<QueueId, &'a str>,
    teams: BTreeMap<TeamId, Vec<&'a str>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let by_id: BTreeMap<TeamId, _> = snapshot.teams.iter().map(|team| (team.id, team)).collect();
        let chain = |first: TeamId| {
            let up = std::iter::successors(by_id.get(&first), |team| by_id.get(&team.parent?));
            // No chain is longer than all teams, even were the tree a ring.
            up.take(by_id.len()).map(|team| team.slug.as_str()).collect()
        };
        Self {
            queues: snapshot.queues.iter().map(|queue| (queue.id, queue.slug.as_str())).collect(),
            teams: by_id.keys().map(|&team| (team, chain(team))).collect(),
        }
    }

    pub(super) fn rules(&self, snapshot: &Snapshot, job: &Job) -> KindRules {
        let teams = self.teams.get(&job.team).map_or(&[][..], Vec::as_slice);
        snapshot.policy.rules_at(job.kind, Place { queue: self.queues.get(&job.queue).copied(), teams })
    }
}

impl Problem<'_> {
    /// The rules that hold for a job.
    pub(super) fn rules(&self, job: usize) -> &KindRules {
        self.rule_book.rules(self.jobs[job].rules)
    }

    /// Until when the job's time window keeps it from starting.
    pub(super) fn closed_until(&self, job: usize) -> Option<DateTime<Utc>> {
        self.rule_book.sets[self.jobs[job].rules].closed_until
    }
}
