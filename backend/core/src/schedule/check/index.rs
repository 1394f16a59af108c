//! The snapshot by id. A second index beside the planner's, on purpose.

use crate::id::{GpuId, JobId, NodeId, PoolId, QueueId, TeamId};
use crate::node::NodeState;
use crate::policy::{KindRules, Place};
use crate::schedule::snapshot::{Gpu, Job, Member, Node, Placement, Queue, Quota, Snapshot, Team};
use crate::units::MilliGpu;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

pub(super) struct Index<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) jobs: BTreeMap<JobId, &'a Job>,
    pub(super) nodes: BTreeMap<NodeId, &'a Node>,
    pub(super) gpus: BTreeMap<GpuId, (&'a Node, &'a Gpu)>,
    pub(super) teams: BTreeMap<TeamId, &'a Team>,
    pub(super) queues: BTreeMap<QueueId, &'a Queue>,
    pub(super) quotas: BTreeMap<(TeamId, PoolId), &'a Quota>,
}

impl<'a> Index<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let mut gpus = BTreeMap::new();
        for node in &snapshot.nodes {
            gpus.extend(node.gpus.iter().map(|gpu| (gpu.id, (node, gpu))));
        }
        Self {
            snapshot,
            jobs: snapshot.jobs.iter().map(|job| (job.id, job)).collect(),
            nodes: snapshot.nodes.iter().map(|node| (node.id, node)).collect(),
            gpus,
            teams: snapshot.teams.iter().map(|team| (team.id, team)).collect(),
            queues: snapshot.queues.iter().map(|queue| (queue.id, queue)).collect(),
            quotas: snapshot.quotas.iter().map(|quota| ((quota.team, quota.pool), quota)).collect(),
        }
    }

    /// The team and those above it, nearest first; a cycle ends where it closes.
    pub(super) fn chain(&self, team: TeamId) -> Vec<TeamId> {
        let mut chain = Vec::new();
        let mut next = Some(team);
        while let Some(id) = next.filter(|id| !chain.contains(id)) {
            chain.push(id);
            next = self.teams.get(&id).and_then(|team| team.parent).filter(|id| self.teams.contains_key(id));
        }
        chain
    }

    pub(super) fn children(&self, team: Option<TeamId>) -> impl Iterator<Item = TeamId> + '_ {
        self.snapshot
            .teams
            .iter()
            .filter(move |child| child.parent.filter(|id| self.teams.contains_key(id)) == team)
            .map(|child| child.id)
    }

    /// The rules of a job's kind, as its queue and the teams above it have them.
    pub(super) fn rules(&self, job: &Job) -> KindRules {
        let chain = self.chain(job.team);
        let teams: Vec<&str> =
            chain.iter().filter_map(|id| self.teams.get(id)).map(|team| team.slug.as_str()).collect();
        let queue = self.queues.get(&job.queue).map(|queue| queue.slug.as_str());
        self.snapshot.policy.rules_at(job.kind, Place { queue, teams: &teams })
    }

    pub(super) fn window_is_open(&self, job: &Job) -> bool {
        self.rules(job).time_window.is_none_or(|window| window.is_open(self.snapshot.now))
    }

    /// The two sides below the nearest common ancestor, each from the team upwards; a side is empty when
    /// its team stands above the other.
    pub(super) fn sides(&self, left: TeamId, right: TeamId) -> (Vec<TeamId>, Vec<TeamId>) {
        let (mut left, mut right) = (self.chain(left), self.chain(right));
        while let (Some(l), Some(r)) = (left.last(), right.last()) {
            if l != r {
                break;
            }
            left.pop();
            right.pop();
        }
        (left, right)
    }

    /// Whether maintenance of the node falls into the time from `from` to `until`, both included; `None` = for ever.
    pub(super) fn is_maintained(
        &self,
        node: NodeId,
        from: DateTime<Utc>,
        until: Option<DateTime<Utc>>,
    ) -> bool {
        self.snapshot.maintenance_windows.iter().any(|window| {
            window.nodes.contains(&node)
                && window.ends_at > from
                && until.is_none_or(|until| window.starts_at <= until)
        })
    }

    pub(super) fn pool_of(&self, node: NodeId) -> Option<PoolId> {
        self.nodes.get(&node).map(|node| node.pool)
    }

    /// What can be used or is: of GPUs that take nothing new, only what runs on them.
    pub(super) fn usable_capacity(&self, pool: PoolId) -> MilliGpu {
        let mut held: BTreeMap<GpuId, MilliGpu> = BTreeMap::new();
        for slice in self.snapshot.jobs.iter().flat_map(|job| &job.members).flat_map(|member| &member.gpus) {
            *held.entry(slice.gpu).or_default() += slice.milli;
        }
        let nodes = self.snapshot.nodes.iter().filter(|node| node.pool == pool && exists(node));
        let usable = |node: &Node, gpu: &Gpu| {
            let takes_work = node.state == NodeState::Ready
                && gpu.healthy
                && !self.is_maintained(node.id, self.snapshot.now, Some(self.snapshot.now));
            if takes_work { MilliGpu::whole(1) } else { held.get(&gpu.id).copied().unwrap_or_default() }
        };
        nodes.flat_map(|node| node.gpus.iter().map(move |gpu| usable(node, gpu))).sum()
    }

    /// Healthy GPUs on nodes that exist.
    pub(super) fn capacity(&self, pool: PoolId) -> MilliGpu {
        let nodes = self.snapshot.nodes.iter().filter(|node| node.pool == pool && exists(node));
        let count = nodes.flat_map(|node| &node.gpus).filter(|gpu| gpu.healthy).count();
        MilliGpu::whole(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

pub(super) fn exists(node: &Node) -> bool {
    !matches!(node.state, NodeState::Lost | NodeState::Removed)
}

pub(super) fn stays(member: &Member) -> bool {
    member.leaving.is_none()
}

/// Asked to leave so long ago that a plan may look for other space.
pub(super) fn is_overdue(snapshot: &Snapshot, member: &Member) -> bool {
    let timeout = snapshot.policy.nomination_timeout();
    member.leaving.as_ref().is_some_and(|leaving| leaving.leave_by + timeout <= snapshot.now)
}

pub(super) fn held_by(member: &Member) -> MilliGpu {
    member.gpus.iter().map(|slice| slice.milli).sum()
}

pub(super) fn asked_by(placement: &Placement) -> MilliGpu {
    placement.gpus.iter().map(|slice| slice.milli).sum()
}
