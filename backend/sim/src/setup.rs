//! The cluster before the first job: from a file in the scenario format's keys, or from nodes of each tenant.
//!
//! This module refuses jobs and steps in such a file: they come with the workload.

use chrono::{DateTime, Utc};
use reeve_core::id::{GpuId, NodeId, PoolId, QueueId, TeamId};
use reeve_core::node::NodeState;
use reeve_core::policy::Policy;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_core::scenario::{self, FormatError};
use reeve_core::schedule::snapshot::{Gpu, Node, Pool, Queue, Quota, Snapshot, Team};
use reeve_core::units::{Mib, MilliCpu, MilliGpu};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Nodes without a word about them: no limit by cpu or memory.
const PLENTY_OF_CORES: MilliCpu = MilliCpu(1_000_000);
const PLENTY_OF_MEMORY: Mib = Mib(16 * 1_024 * 1_024);
const GPU_MEMORY: Mib = Mib(80 * 1_024);

/// Why a file makes no cluster.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("{0} documents in one file: a policy is one document, give the others by another --policy")]
    Several(usize),
    #[error(
        "`{0}` have no place in a simulated policy: the workload brings its own jobs; take the section out"
    )]
    Unwanted(&'static str),
}

/// A tenant's guarantee, in the one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub team: String,
    pub guaranteed_gpus: u32,
}

/// What a policy file says.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    pub name: String,
    /// Its cluster; without nodes or teams where it has none.
    pub snapshot: Snapshot,
}

/// Reads a policy: `pools`, `nodes`, `teams`, `queues` and `policy` as in a scenario file.
///
/// # Errors
/// What is wrong, with its line.
pub fn read_policy(text: &str, default_name: &str) -> Result<PolicyFile, SetupError> {
    let documents = scenario::parse_setups(text, default_name)?;
    let [document] = documents.as_slice() else { return Err(SetupError::Several(documents.len())) };
    if !document.jobs.is_empty() {
        return Err(SetupError::Unwanted("jobs"));
    }
    if !document.steps.is_empty() {
        return Err(SetupError::Unwanted("steps"));
    }
    Ok(PolicyFile { name: document.name.clone(), snapshot: scenario::beginning(document)? })
}

/// One pool of equal nodes, and a team with its own queue for each tenant.
#[must_use]
pub fn of_tenants(tenants: &[Tenant], nodes: u32, node_gpus: u32, policy: Policy) -> Snapshot {
    let mut ids = Ids::default();
    let pool = PoolId(ids.next());
    let mut snapshot = empty(policy);
    snapshot.pools = vec![Pool { id: pool, slug: "p".to_owned() }];
    add_nodes(&mut snapshot, nodes, node_gpus, &mut ids);
    add_tenants(&mut snapshot, tenants, &mut ids);
    snapshot
}

/// Equal nodes, `n1`, `n2`, …, in the first pool.
fn add_nodes(snapshot: &mut Snapshot, nodes: u32, node_gpus: u32, ids: &mut Ids) {
    let Some(pool) = snapshot.pools.first().map(|pool| pool.id) else { return };
    for number in 1..=nodes {
        let gpus = (0..node_gpus).map(|index| Gpu {
            id: GpuId(ids.next()),
            index,
            model: "gpu".to_owned(),
            memory: GPU_MEMORY,
            healthy: true,
        });
        let gpus = gpus.collect();
        snapshot.nodes.push(Node {
            id: NodeId(ids.next()),
            name: format!("n{number}"),
            pool,
            state: NodeState::Ready,
            cpu: PLENTY_OF_CORES,
            memory: PLENTY_OF_MEMORY,
            gpus,
            labels: BTreeMap::new(),
            topology: BTreeMap::new(),
            nvlink: Vec::new(),
            rdma: false,
            datasets: Vec::new(),
        });
    }
}

fn add_tenants(snapshot: &mut Snapshot, tenants: &[Tenant], ids: &mut Ids) {
    let Some(pool) = snapshot.pools.first().map(|pool| pool.id) else { return };
    for tenant in tenants {
        let id = TeamId(ids.next());
        snapshot.teams.push(Team { id, slug: tenant.team.clone(), parent: None });
        snapshot.quotas.push(Quota {
            team: id,
            pool,
            guaranteed: MilliGpu::whole(tenant.guaranteed_gpus),
            borrow_limit: None,
            lend_limit: None,
            weight: 1,
            drain: false,
        });
        snapshot.queues.push(Queue {
            id: QueueId(ids.next()),
            slug: tenant.team.clone(),
            team: id,
            order: QueueOrder::FifoWithBackfill,
            state: QueueState::Open,
            max_running_jobs: None,
            max_running_jobs_per_user: None,
            max_running_gpus: None,
        });
    }
}

/// The policy of a file on the nodes and tenants of another place, where the file names none of its own.
#[must_use]
pub fn completed(file: &PolicyFile, tenants: &[Tenant], nodes: u32, node_gpus: u32) -> Snapshot {
    let mut snapshot = file.snapshot.clone();
    let mut ids = Ids { last: 1 << 40 };
    if snapshot.nodes.is_empty() {
        add_nodes(&mut snapshot, nodes, node_gpus, &mut ids);
    }
    if snapshot.teams.is_empty() {
        add_tenants(&mut snapshot, tenants, &mut ids);
    }
    snapshot
}

fn empty(policy: Policy) -> Snapshot {
    Snapshot {
        now: beginning(),
        policy,
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
    }
}

/// Every simulation starts at this moment, as every scenario does.
fn beginning() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).unwrap_or_default()
}

/// Ids in the order in which they are asked for: names have no part in them. They sort before those that the
/// simulated cluster gives to jobs.
#[derive(Debug, Default)]
struct Ids {
    last: u64,
}

impl Ids {
    fn next(&mut self) -> Uuid {
        self.last += 1;
        Uuid::from_u128((0x7000_7fff_u128 << 64) | u128::from(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_file_brings_what_it_names_and_is_completed_by_the_rest() {
        let file = read_policy("policy: {grace: 0s}\nteams: {a: {guaranteed: 4}}\n", "mild").expect("reads");
        assert_eq!(file.name, "mild");
        let snapshot = completed(&file, &[Tenant { team: "z".into(), guaranteed_gpus: 8 }], 2, 8);
        assert_eq!((snapshot.nodes.len(), snapshot.teams.len()), (2, 1));
        assert_eq!(snapshot.teams[0].slug, "a");
        assert_eq!(snapshot.policy.rules(reeve_core::kind::Kind::Batch).grace_secs, 0);
    }

    #[test]
    fn what_a_policy_may_not_hold_is_named_with_its_line() {
        let unknown = read_policy("policy: {}\nnods: []\n", "x").expect_err("unknown key").to_string();
        assert!(unknown.contains("nods") && unknown.contains('2'), "{unknown}");
        let jobs =
            read_policy("teams: {a: {guaranteed: 1}}\nnodes: [{count: 1}]\njobs: {j: {team: a}}\n", "x");
        assert!(jobs.expect_err("jobs").to_string().contains("jobs"));
    }
}
