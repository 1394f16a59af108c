//! The cluster at the beginning of a walk: small, so that teams collide.

use super::{Profile, SplitMix};
use crate::id::{GpuId, NodeId, PoolId, QueueId, TeamId};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::policy::{
    Consolidation, Placement, Policy, PreemptWithinTeam, Rebalance, ReclaimMode, SurplusOrder,
};
use crate::queue::{QueueOrder, QueueState};
use crate::scenario::cluster::Cluster;
use crate::schedule::snapshot::{Gpu, Node, Pool, Queue, Quota, Snapshot, Team};
use crate::units::{Mib, MilliCpu, MilliGpu};
use chrono::DateTime;
use std::collections::BTreeMap;

pub(super) fn cluster(rng: &mut SplitMix, profile: Profile) -> Cluster {
    let snapshot = Snapshot {
        now: DateTime::from_timestamp(1_767_225_600, 0).unwrap_or_default(),
        policy: policy(rng, profile),
        pools: Vec::new(),
        nodes: Vec::new(),
        teams: Vec::new(),
        quotas: Vec::new(),
        queues: Vec::new(),
        jobs: Vec::new(),
        nominations: Vec::new(),
        rebalance_evictions_last_hour: Vec::new(),
        consolidation_moves_last_hour: Vec::new(),
        reservations: Vec::new(),
        maintenance_windows: Vec::new(),
    };
    let mut cluster = Cluster::new(snapshot);
    let pools = if profile == Profile::Mixed && rng.one_in(3) { 2 + usize::from(rng.one_in(4)) } else { 1 };
    for pool in 0..pools {
        add_pool(&mut cluster, rng, profile, pool);
    }
    add_teams(&mut cluster, rng, profile);
    cluster
}

pub(super) fn policy(rng: &mut SplitMix, profile: Profile) -> Policy {
    let mut policy = Policy::default();
    if rng.one_in(3) {
        let most = [1, 2, 20][rng.below(3) as usize];
        policy.rebalance = Rebalance::On { max_evictions_per_hour: rng.one_in(2).then_some(most) };
    }
    let min_runtime = if rng.one_in(2) { Some(0) } else { None };
    for &kind in Kind::ALL {
        let mut rules = policy.rules(kind);
        rules.min_runtime_secs = min_runtime.unwrap_or(rules.min_runtime_secs);
        policy.kinds.insert(kind, rules);
    }
    if profile == Profile::Plain {
        return policy;
    }
    if rng.one_in(6) {
        policy.reclaim = if rng.one_in(2) { ReclaimMode::LowerPriority } else { ReclaimMode::Off };
    }
    if rng.one_in(5) {
        let equal = rng.one_in(2);
        policy.preempt_within_team =
            if equal { PreemptWithinTeam::LowerOrNewerEqual } else { PreemptWithinTeam::Off };
    }
    if rng.one_in(4) {
        policy.borrow_preemption_max_priority = None;
    }
    if rng.one_in(4) {
        policy.surplus_order = SurplusOrder::ShareOnly;
    }
    if rng.one_in(4) {
        policy.placement = Placement::Mix;
    }
    if rng.one_in(6) {
        policy.nomination_timeout_secs = i64::from(rng.below(3)) * 60;
    }
    if rng.one_in(6) {
        policy.max_evictions_per_job_per_day = 1;
    }
    if rng.one_in(6) {
        policy.kinds.values_mut().for_each(|rules| rules.grace_secs = 0);
    }
    // From a source of its own: all else of a seed's walk stays as it is.
    let mut own = SplitMix::new(rng.clone().draw());
    if own.one_in(3) {
        let most = [1, 3, 20][own.below(3) as usize];
        policy.consolidation = Consolidation::On { max_moves_per_hour: own.one_in(2).then_some(most) };
    }
    policy
}

fn add_pool(cluster: &mut Cluster, rng: &mut SplitMix, profile: Profile, number: usize) {
    let id = PoolId(cluster.mint());
    cluster.snapshot.pools.push(Pool { id, slug: format!("pool{number}") });
    let size = [1, 2, 4, 8][rng.below(4) as usize];
    let linked = profile == Profile::Mixed && size >= 4 && rng.one_in(3);
    for index in 0..=rng.below(4) {
        let node = NodeId(cluster.mint());
        let mut gpus = Vec::new();
        for gpu in 0..size {
            let gpu_id = GpuId(cluster.mint());
            gpus.push(Gpu {
                id: gpu_id,
                index: gpu,
                model: format!("model{number}"),
                memory: Mib(81_920),
                healthy: true,
            });
        }
        let tight = profile == Profile::Mixed;
        cluster.snapshot.nodes.push(Node {
            id: node,
            name: format!("p{number}n{index}"),
            pool: id,
            state: NodeState::Ready,
            cpu: if tight { MilliCpu(i64::from(size) * 8_000) } else { MilliCpu(1_000_000) },
            memory: Mib(i64::from(size) * 65_536),
            gpus,
            labels: BTreeMap::from([("half".into(), (index % 2).to_string())]),
            topology: BTreeMap::from([
                ("zone".into(), format!("z{}", index / 3)),
                ("rack".into(), format!("r{}", index / 2)),
            ]),
            nvlink: if linked {
                vec![(0..size).step_by(2).collect(), (1..size).step_by(2).collect()]
            } else {
                Vec::new()
            },
            rdma: index % 2 == 0,
            datasets: Vec::new(),
        });
    }
}

fn add_teams(cluster: &mut Cluster, rng: &mut SplitMix, profile: Profile) {
    let departments = if profile == Profile::Mixed && rng.one_in(2) { 1 + rng.below(4) } else { 0 };
    let mut parents: Vec<TeamId> = Vec::new();
    for number in 0..departments {
        // Some departments lie inside others.
        let above = if rng.one_in(3) { parents.last().copied() } else { None };
        parents.push(add_team(cluster, format!("dept{number}"), above));
    }
    let mut leaves = Vec::new();
    for number in 0..2 + rng.below(3) {
        let parent = if rng.one_in(3) { None } else { rng.pick(&parents).copied() };
        leaves.push(add_team(cluster, format!("team{number}"), parent));
    }
    for pool in cluster.snapshot.pools.clone() {
        add_quotas(cluster, rng, profile, pool.id, &leaves);
    }
    for team in leaves {
        add_queues(cluster, rng, profile, team);
    }
}

fn add_team(cluster: &mut Cluster, slug: String, parent: Option<TeamId>) -> TeamId {
    let id = TeamId(cluster.mint());
    cluster.snapshot.teams.push(Team { id, slug, parent });
    id
}

/// Guarantees that sometimes add up to more than there is; departments cover their children.
fn add_quotas(cluster: &mut Cluster, rng: &mut SplitMix, profile: Profile, pool: PoolId, leaves: &[TeamId]) {
    let gpus: usize =
        cluster.snapshot.nodes.iter().filter(|node| node.pool == pool).map(|node| node.gpus.len()).sum();
    let mut left = u32::try_from(gpus).unwrap_or(0) + if rng.one_in(5) { 3 } else { 0 };
    // Departments come before what lies in them: backwards, children before their parents.
    let mut below: BTreeMap<TeamId, u32> = BTreeMap::new();
    for &team in leaves {
        let guaranteed = rng.below(left + 1).min(left);
        left -= guaranteed;
        let parent =
            cluster.snapshot.teams.iter().find(|found| found.id == team).and_then(|team| team.parent);
        if let Some(parent) = parent {
            *below.entry(parent).or_default() += guaranteed;
        }
        let quota = quota(rng, profile, team, pool, guaranteed);
        cluster.snapshot.quotas.push(quota);
    }
    let departments: Vec<Team> =
        cluster.snapshot.teams.iter().rev().filter(|team| !leaves.contains(&team.id)).cloned().collect();
    for team in departments {
        let pot = rng.below(left + 1).min(left);
        left -= pot;
        let guaranteed = below.get(&team.id).copied().unwrap_or(0) + pot;
        if let Some(parent) = team.parent {
            *below.entry(parent).or_default() += guaranteed;
        }
        let quota = quota(rng, profile, team.id, pool, guaranteed);
        cluster.snapshot.quotas.push(quota);
    }
}

fn quota(rng: &mut SplitMix, profile: Profile, team: TeamId, pool: PoolId, guaranteed: u32) -> Quota {
    let limit = |rng: &mut SplitMix, most: u32| {
        (profile == Profile::Mixed && rng.one_in(3)).then(|| MilliGpu::whole(rng.below(most + 1)))
    };
    Quota {
        team,
        pool,
        guaranteed: MilliGpu::whole(guaranteed),
        borrow_limit: limit(rng, 6),
        lend_limit: limit(rng, guaranteed),
        weight: if rng.one_in(5) { rng.below(3) } else { 1 },
        drain: false,
    }
}

fn add_queues(cluster: &mut Cluster, rng: &mut SplitMix, profile: Profile, team: TeamId) {
    let id = QueueId(cluster.mint());
    let wild = profile == Profile::Mixed;
    let strict = wild && rng.one_in(4);
    cluster.snapshot.queues.push(Queue {
        id,
        slug: format!("queue-{id}"),
        team,
        order: if strict { QueueOrder::StrictFifo } else { QueueOrder::FifoWithBackfill },
        state: QueueState::Open,
        max_running_jobs: (wild && rng.one_in(8)).then(|| 1 + rng.below(4)),
        max_running_jobs_per_user: (wild && rng.one_in(8)).then(|| 1 + rng.below(3)),
        max_running_gpus: (wild && rng.one_in(8)).then(|| MilliGpu::whole(1 + rng.below(6))),
    });
}
