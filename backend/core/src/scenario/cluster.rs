//! A cluster that exists only in memory: a [`Snapshot`] and what happens to it.
//!
//! It stands for the store and the agents when a scenario or a random walk runs: it carries out plans
//! and confirms departures. It refuses to decide anything, and to judge a plan: that is
//! [`crate::schedule::check`]'s work.

use crate::eviction::EvictionCause;
use crate::id::{JobId, NodeId, ReclaimId, TeamId};
use crate::job::CheckpointMode;
use crate::node::NodeState;
use crate::schedule::plan::{Eviction, Plan, Start};
use crate::schedule::snapshot::{Job, Leaving, Member, Nomination, Placement, Snapshot};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// How a job ended for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Succeeded,
    Failed,
    Cancelled,
}

/// One eviction decision.
#[derive(Debug, Clone)]
pub struct EvictionNote {
    pub job: JobId,
    pub name: String,
    pub team: TeamId,
    pub cause: EvictionCause,
    pub at: DateTime<Utc>,
    /// Its members have left.
    pub gone: bool,
}

/// A job that is no longer in the snapshot.
#[derive(Debug, Clone)]
pub struct EndedJob {
    pub name: String,
    pub team: TeamId,
    pub end: End,
}

/// A plan that does not match the state it is applied to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan speaks of job {job}, which is not in the state")]
pub struct UnknownJob {
    pub job: JobId,
}

/// The state and its history.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub snapshot: Snapshot,
    pub evictions: Vec<EvictionNote>,
    pub ended: BTreeMap<JobId, EndedJob>,
    /// By job: its evictions whose members have not left yet, as places in `evictions`.
    open: BTreeMap<JobId, Vec<usize>>,
    minted: u64,
}

impl Cluster {
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        Self { snapshot, evictions: Vec::new(), ended: BTreeMap::new(), open: BTreeMap::new(), minted: 0 }
    }

    /// An id that sorts after all earlier ones; never random, so that a story repeats exactly.
    pub fn mint(&mut self) -> Uuid {
        self.minted += 1;
        Uuid::from_u128((0x7000_8000_u128 << 64) | u128::from(self.minted))
    }

    #[must_use]
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.place_of(id).map(|at| &self.snapshot.jobs[at])
    }

    pub fn job_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.place_of(id).map(|at| &mut self.snapshot.jobs[at])
    }

    /// Jobs stand in the order of their ids when those were minted here; a long simulation lives by that.
    fn place_of(&self, id: JobId) -> Option<usize> {
        let jobs = &self.snapshot.jobs;
        let at = jobs.partition_point(|job| job.id < id);
        if jobs.get(at).is_some_and(|job| job.id == id) {
            return Some(at);
        }
        jobs.iter().position(|job| job.id == id)
    }

    /// Moves the clock and forgets evictions that are too old for the policy's counts.
    pub fn advance_to(&mut self, now: DateTime<Utc>) {
        self.snapshot.now = now;
        self.count_recent_evictions();
    }

    fn count_recent_evictions(&mut self) {
        let since = self.snapshot.now - TimeDelta::days(1);
        let mut recent: BTreeMap<JobId, u32> = BTreeMap::new();
        for note in self.latest_evictions(since) {
            *recent.entry(note.job).or_default() += 1;
        }
        let since = self.snapshot.now - TimeDelta::hours(1);
        let of = |cause: EvictionCause| {
            let latest = self.latest_evictions(since).filter(move |note| note.cause == cause);
            let mut times: Vec<DateTime<Utc>> = latest.map(|note| note.at).collect();
            times.reverse();
            times
        };
        let (rebalances, moves) = (of(EvictionCause::Rebalance), of(EvictionCause::Consolidation));
        self.snapshot.rebalance_evictions_last_hour = rebalances;
        self.snapshot.consolidation_moves_last_hour = moves;
        for job in &mut self.snapshot.jobs {
            job.evictions_in_last_day = recent.get(&job.id).copied().unwrap_or(0);
        }
    }

    /// Evictions decided after a moment, latest first.
    fn latest_evictions(&self, since: DateTime<Utc>) -> impl Iterator<Item = &EvictionNote> {
        self.evictions.iter().rev().take_while(move |note| note.at > since)
    }

    /// Carries out a plan as the store would.
    ///
    /// # Errors
    /// The plan speaks of a job that is not there.
    pub fn apply(&mut self, plan: &Plan) -> Result<(), UnknownJob> {
        let gone: BTreeSet<JobId> = plan.dropped.iter().map(|dropped| dropped.job).collect();
        self.snapshot.nominations.retain(|nomination| !gone.contains(&nomination.job));
        for reclaim in &plan.reclaims {
            for eviction in &reclaim.evictions {
                self.ask_to_leave(eviction, reclaim.evictor)?;
            }
            if let Some(job) = reclaim.evictor {
                self.nominate(job, &reclaim.nomination, reclaim.expires_at);
            }
        }
        for start in &plan.starts {
            self.start(start)?;
        }
        self.count_recent_evictions();
        Ok(())
    }

    fn nominate(&mut self, job: JobId, members: &[Placement], expires_at: DateTime<Utc>) {
        let reclaim = ReclaimId(self.mint());
        let created_at = self.snapshot.now;
        self.snapshot.nominations.retain(|nomination| nomination.job != job);
        self.snapshot.nominations.push(Nomination {
            job,
            reclaim,
            members: members.to_vec(),
            created_at,
            expires_at,
        });
    }

    fn ask_to_leave(&mut self, eviction: &Eviction, evictor: Option<JobId>) -> Result<(), UnknownJob> {
        let at = self.snapshot.now;
        let job = self.job_mut(eviction.job).ok_or(UnknownJob { job: eviction.job })?;
        for member in job.members.iter_mut().filter(|member| eviction.members.contains(&member.index)) {
            member.leaving =
                Some(Leaving { leave_by: eviction.leave_by, cause: Some(eviction.cause), evictor });
        }
        let (name, team) = (job.name.clone(), job.team);
        self.open.entry(eviction.job).or_default().push(self.evictions.len());
        self.evictions.push(EvictionNote {
            job: eviction.job,
            name,
            team,
            cause: eviction.cause,
            at,
            gone: false,
        });
        Ok(())
    }

    fn start(&mut self, start: &Start) -> Result<(), UnknownJob> {
        let started_at = self.snapshot.now;
        let job = self.job_mut(start.job).ok_or(UnknownJob { job: start.job })?;
        if !start.grow {
            job.run_number += 1;
        }
        job.members.extend(start.members.iter().map(|placement| Member {
            index: placement.index,
            node: placement.node,
            gpus: placement.gpus.clone(),
            started_at,
            leaving: None,
        }));
        job.members.sort_by_key(|member| member.index);
        self.snapshot.nominations.retain(|nomination| nomination.job != start.job);
        Ok(())
    }

    /// The agents confirm that the job's leaving members are gone.
    pub fn vacate(&mut self, id: JobId) {
        let now = self.snapshot.now;
        let Some(job) = self.job_mut(id) else { return };
        job.members.retain(|member| member.leaving.is_none());
        if job.members.is_empty() && job.checkpoint == CheckpointMode::OnSignal {
            job.last_checkpoint_at = Some(now);
        }
        self.settle(id);
    }

    /// The job ends by itself or by its user's wish, at once.
    pub fn end(&mut self, id: JobId, end: End) {
        self.close_evictions(id);
        if let Some(index) = self.place_of(id) {
            let job = self.snapshot.jobs.remove(index);
            self.ended.insert(id, EndedJob { name: job.name, team: job.team, end });
        }
    }

    pub fn save_checkpoint(&mut self, id: JobId) {
        let now = self.snapshot.now;
        if let Some(job) = self.job_mut(id) {
            job.last_checkpoint_at = Some(now);
        }
    }

    /// Sets a node's state. What runs on a lost node is gone; a gang that is no longer whole leaves its
    /// other nodes too and stands in line again.
    pub fn set_node(&mut self, id: NodeId, state: NodeState) {
        for node in self.snapshot.nodes.iter_mut().filter(|node| node.id == id) {
            node.state = state;
        }
        if state != NodeState::Lost {
            return;
        }
        let hit: Vec<JobId> = self
            .snapshot
            .jobs
            .iter()
            .filter(|job| job.members.iter().any(|member| member.node == id))
            .map(|job| job.id)
            .collect();
        for job in hit {
            self.lose_members(job, id);
        }
    }

    fn lose_members(&mut self, id: JobId, node: NodeId) {
        let now = self.snapshot.now;
        let policy = self.snapshot.policy.clone();
        let Some(job) = self.job_mut(id) else { return };
        job.members.retain(|member| member.node != node);
        let staying = job.members.iter().filter(|member| member.leaving.is_none()).count();
        if staying < job.min_replicas as usize {
            let leave_by = now + TimeDelta::seconds(policy.rules(job.kind).grace_secs);
            for member in job.members.iter_mut().filter(|member| member.leaving.is_none()) {
                member.leaving = Some(Leaving { leave_by, cause: None, evictor: None });
            }
        }
        self.settle(id);
    }

    /// After members left: evictions that are complete are noted, and a job that was evicted and cannot be
    /// requeued is cancelled.
    fn settle(&mut self, id: JobId) {
        let Some(job) = self.job(id) else { return };
        if job.members.iter().any(|member| member.leaving.is_some()) {
            return;
        }
        let (empty, requeue) = (job.members.is_empty(), job.requeue);
        let evicted = self.close_evictions(id);
        if empty && evicted && !requeue {
            self.end(id, End::Cancelled);
        }
    }

    /// Notes that the job's evictions are complete; whether there were any.
    fn close_evictions(&mut self, id: JobId) -> bool {
        let open = self.open.remove(&id).unwrap_or_default();
        for &at in &open {
            self.evictions[at].gone = true;
        }
        !open.is_empty()
    }
}
