//! A scenario's cluster and its names: every id belongs to a word of the file.
//!
//! This module refuses to plan: it places only the jobs that the file says are running.

use super::calendar;
use super::cluster::Cluster;
use super::format::{InitialState, JobSpec, NodeSpec, PerPool, QueuePatch, Scenario, TeamPatch};
use super::yaml::{FormatError, Pos};
use crate::id::{GpuId, JobId, NodeId, PoolId, QueueId, TeamId, UserId};
use crate::kind::Kind;
use crate::policy::Policy;
use crate::priority::{Priority, PriorityClass};
use crate::queue::{QueueOrder, QueueState};
use crate::schedule::snapshot::{Gpu, Job, Node, Pool, Queue, Quota, Snapshot, Team};
use crate::units::MilliGpu;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;

/// What the snapshot has no room for.
#[derive(Debug, Clone, Default)]
struct Rules {
    team_ceilings: BTreeMap<TeamId, PriorityClass>,
    kind_ceilings: BTreeMap<Kind, PriorityClass>,
    queue_kinds: BTreeMap<QueueId, Vec<Kind>>,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) pools: BTreeMap<String, PoolId>,
    pub(super) nodes: BTreeMap<String, NodeId>,
    pub(super) teams: BTreeMap<String, TeamId>,
    pub(super) queues: BTreeMap<String, QueueId>,
    pub(super) jobs: BTreeMap<String, JobId>,
    users: BTreeMap<String, UserId>,
    /// Queues of a team that the file itself declares, in its order; else the team's own.
    team_queues: BTreeMap<TeamId, Vec<QueueId>>,
    rules: Rules,
}

type Built<T> = Result<T, FormatError>;

/// Every scenario starts at this moment.
fn beginning() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).unwrap_or_default()
}

impl World {
    /// The cluster before the first step.
    pub(super) fn build(scenario: &Scenario) -> Built<Self> {
        let mut policy = Policy::default();
        scenario.policy.apply(&mut policy);
        let mut world = Self::empty(policy);
        world.rules.kind_ceilings.extend(scenario.policy.ceilings());
        for pool in &scenario.pools {
            let id = PoolId(world.cluster.mint());
            if world.pools.insert(pool.name.clone(), id).is_some() {
                return Err(FormatError::new(scenario.at, format!("a second pool `{}`", pool.name)));
            }
            world.cluster.snapshot.pools.push(Pool { id, slug: pool.name.clone() });
        }
        for node in &scenario.nodes {
            world.add_node(node, scenario)?;
        }
        world.set_teams(&scenario.teams)?;
        world.guarantee_departments(&scenario.teams);
        world.set_queues(&scenario.queues)?;
        world.add_initial_jobs(&scenario.jobs)?;
        calendar::add(&mut world, scenario)?;
        Ok(world)
    }

    fn empty(policy: Policy) -> Self {
        let snapshot = Snapshot {
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
        };
        Self {
            cluster: Cluster::new(snapshot),
            pools: BTreeMap::new(),
            nodes: BTreeMap::new(),
            teams: BTreeMap::new(),
            queues: BTreeMap::new(),
            jobs: BTreeMap::new(),
            users: BTreeMap::new(),
            team_queues: BTreeMap::new(),
            rules: Rules::default(),
        }
    }

    fn add_node(&mut self, spec: &NodeSpec, scenario: &Scenario) -> Built<()> {
        let pool_name = match (&spec.pool, scenario.pools.as_slice()) {
            (Some(name), _) => name,
            (None, [only]) => &only.name,
            (None, _) => return Err(FormatError::new(spec.at, "there are several pools: say which `pool`")),
        };
        let pool = self.pool(pool_name, spec.at)?;
        let model = scenario.pools.iter().find(|pool| pool.name == *pool_name);
        let model = model.map_or_else(String::new, |pool| pool.gpu_model.clone());
        let id = NodeId(self.cluster.mint());
        let mut gpus = Vec::new();
        for index in 0..spec.gpus {
            let gpu = GpuId(self.cluster.mint());
            gpus.push(Gpu { id: gpu, index, model: model.clone(), memory: spec.gpu_memory, healthy: true });
        }
        self.nodes.insert(spec.name.clone(), id);
        self.cluster.snapshot.nodes.push(Node {
            id,
            name: spec.name.clone(),
            pool,
            state: spec.state,
            cpu: spec.cpu,
            memory: spec.memory,
            gpus,
            labels: spec.labels.clone(),
            topology: spec.topology.clone(),
            nvlink: spec.nvlink.clone(),
            rdma: spec.rdma,
            datasets: spec.datasets.clone(),
        });
        Ok(())
    }

    /// Adds teams, changes them, or deletes them.
    pub(super) fn set_teams(&mut self, patches: &[TeamPatch]) -> Built<()> {
        for patch in patches.iter().filter(|patch| !patch.delete) {
            self.team_or_new(&patch.name);
        }
        for patch in patches {
            if patch.delete {
                self.delete_team(patch)?;
                continue;
            }
            let team = self.team_or_new(&patch.name);
            if let Some(parent) = &patch.parent {
                // A parent that only stands beside its children is a department without a row of its own.
                let parent = parent.as_ref().map(|name| self.team_or_new(name));
                self.set_parent(team, parent, patch.at)?;
            }
            if let Some(ceiling) = patch.ceiling {
                self.rules.team_ceilings.insert(team, ceiling);
            }
            self.set_quotas(team, patch)?;
        }
        Ok(())
    }

    fn team_or_new(&mut self, name: &str) -> TeamId {
        if let Some(&id) = self.teams.get(name) {
            return id;
        }
        let id = TeamId(self.cluster.mint());
        self.teams.insert(name.to_owned(), id);
        self.cluster.snapshot.teams.push(Team { id, slug: name.to_owned(), parent: None });
        for pool in self.cluster.snapshot.pools.clone() {
            self.cluster.snapshot.quotas.push(Quota {
                team: id,
                pool: pool.id,
                guaranteed: MilliGpu::ZERO,
                borrow_limit: None,
                lend_limit: None,
                weight: 1,
                drain: false,
            });
        }
        let queue = self.new_queue(name, id);
        self.team_queues.insert(id, vec![queue]);
        id
    }

    fn set_parent(&mut self, team: TeamId, parent: Option<TeamId>, at: Pos) -> Built<()> {
        let mut above = parent;
        while let Some(id) = above {
            if id == team {
                return Err(FormatError::new(at, "a team can't stand above itself"));
            }
            above =
                self.cluster.snapshot.teams.iter().find(|team| team.id == id).and_then(|team| team.parent);
        }
        for found in self.cluster.snapshot.teams.iter_mut().filter(|found| found.id == team) {
            found.parent = parent;
        }
        Ok(())
    }

    /// The jobs of a deleted team end with it; its guarantee is nobody's from then on.
    fn delete_team(&mut self, patch: &TeamPatch) -> Built<()> {
        let team = self.team(&patch.name, patch.at)?;
        let jobs: Vec<JobId> =
            self.cluster.snapshot.jobs.iter().filter(|job| job.team == team).map(|job| job.id).collect();
        for job in jobs {
            self.cluster.end(job, super::cluster::End::Cancelled);
        }
        let snapshot = &mut self.cluster.snapshot;
        snapshot.teams.retain(|found| found.id != team);
        snapshot.quotas.retain(|quota| quota.team != team);
        snapshot.queues.retain(|queue| queue.team != team);
        self.teams.remove(&patch.name);
        Ok(())
    }

    fn set_quotas(&mut self, team: TeamId, patch: &TeamPatch) -> Built<()> {
        if let Some(guaranteed) = &patch.guaranteed {
            if matches!(guaranteed, PerPool::Every(_)) && self.pools.len() > 1 {
                return Err(FormatError::new(
                    patch.at,
                    "there are several pools: `guaranteed: {p: 4, q: 2}`",
                ));
            }
            self.each_quota(team, guaranteed, |quota, value| quota.guaranteed = value)?;
        }
        if let Some(limit) = &patch.borrow_limit {
            self.each_quota(team, limit, |quota, value| quota.borrow_limit = value)?;
        }
        if let Some(limit) = &patch.lend_limit {
            self.each_quota(team, limit, |quota, value| quota.lend_limit = value)?;
        }
        if let Some(weight) = &patch.weight {
            self.each_quota(team, weight, |quota, value| quota.weight = value)?;
        }
        if let Some(drain) = patch.drain {
            self.each_quota(team, &PerPool::Every(drain), |quota, value| quota.drain = value)?;
        }
        Ok(())
    }

    fn each_quota<T: Copy>(
        &mut self,
        team: TeamId,
        values: &PerPool<T>,
        set: impl Fn(&mut Quota, T),
    ) -> Built<()> {
        let mut by_pool = BTreeMap::new();
        match values {
            PerPool::Every(value) => by_pool.extend(self.pools.values().map(|&pool| (pool, *value))),
            PerPool::Each(each) => {
                for (name, at, value) in each {
                    by_pool.insert(self.pool(name, *at)?, *value);
                }
            }
        }
        for quota in self.cluster.snapshot.quotas.iter_mut().filter(|quota| quota.team == team) {
            if let Some(&value) = by_pool.get(&quota.pool) {
                set(quota, value);
            }
        }
        Ok(())
    }

    /// A department whose guarantee the file leaves out has its children's sum.
    fn guarantee_departments(&mut self, patches: &[TeamPatch]) {
        let given = |id: TeamId, world: &Self| {
            patches
                .iter()
                .any(|patch| patch.guaranteed.is_some() && world.teams.get(&patch.name) == Some(&id))
        };
        // Deepest first: as often as the tree can be deep.
        for _ in 0..self.teams.len() {
            for quota in 0..self.cluster.snapshot.quotas.len() {
                let (team, pool) = {
                    let quota = &self.cluster.snapshot.quotas[quota];
                    (quota.team, quota.pool)
                };
                let children: Vec<TeamId> = self
                    .cluster
                    .snapshot
                    .teams
                    .iter()
                    .filter(|child| child.parent == Some(team))
                    .map(|child| child.id)
                    .collect();
                if children.is_empty() || given(team, self) {
                    continue;
                }
                let quotas = &self.cluster.snapshot.quotas;
                let sum = quotas.iter().filter(|quota| quota.pool == pool && children.contains(&quota.team));
                let sum = sum.map(|quota| quota.guaranteed).sum();
                self.cluster.snapshot.quotas[quota].guaranteed = sum;
            }
        }
    }

    pub(super) fn set_queues(&mut self, patches: &[QueuePatch]) -> Built<()> {
        for patch in patches {
            let id = match (self.queues.get(&patch.name), &patch.team) {
                (Some(&id), _) => id,
                (None, Some(team)) => {
                    let team = self.team(team, patch.at)?;
                    let id = self.new_queue(&patch.name, team);
                    self.declare_queue(team, id);
                    id
                }
                (None, None) => {
                    return Err(FormatError::new(patch.at, format!("queue `{}` needs a `team`", patch.name)));
                }
            };
            if let Some(kinds) = &patch.kinds {
                self.rules.queue_kinds.insert(id, kinds.clone());
            }
            for queue in self.cluster.snapshot.queues.iter_mut().filter(|queue| queue.id == id) {
                queue.order = patch.order.unwrap_or(queue.order);
                queue.state = patch.state.unwrap_or(queue.state);
                queue.max_running_jobs = patch.max_running_jobs.unwrap_or(queue.max_running_jobs);
                queue.max_running_jobs_per_user =
                    patch.max_running_jobs_per_user.unwrap_or(queue.max_running_jobs_per_user);
                queue.max_running_gpus = patch.max_running_gpus.unwrap_or(queue.max_running_gpus);
            }
        }
        Ok(())
    }

    /// The first queue that the file declares for a team takes the place of the team's own.
    fn declare_queue(&mut self, team: TeamId, queue: QueueId) {
        let own = self.cluster.snapshot.queues.iter().find(|found| found.team == team).map(|found| found.id);
        let queues = self.team_queues.entry(team).or_default();
        queues.retain(|&found| Some(found) != own);
        queues.push(queue);
    }

    fn new_queue(&mut self, name: &str, team: TeamId) -> QueueId {
        let id = QueueId(self.cluster.mint());
        self.queues.insert(name.to_owned(), id);
        self.cluster.snapshot.queues.push(Queue {
            id,
            slug: name.to_owned(),
            team,
            order: QueueOrder::FifoWithBackfill,
            state: QueueState::Open,
            max_running_jobs: None,
            max_running_jobs_per_user: None,
            max_running_gpus: None,
        });
        id
    }

    pub(super) fn pool(&self, name: &str, at: Pos) -> Built<PoolId> {
        self.pools.get(name).copied().ok_or_else(|| FormatError::new(at, format!("no pool `{name}`")))
    }

    pub(super) fn team(&self, name: &str, at: Pos) -> Built<TeamId> {
        self.teams.get(name).copied().ok_or_else(|| FormatError::new(at, format!("no team `{name}`")))
    }

    pub(super) fn job_id(&self, name: &str, at: Pos) -> Built<JobId> {
        self.jobs.get(name).copied().ok_or_else(|| FormatError::new(at, format!("no job `{name}`")))
    }

    pub(super) fn node(&self, name: &str, at: Pos) -> Built<NodeId> {
        self.nodes.get(name).copied().ok_or_else(|| FormatError::new(at, format!("no node `{name}`")))
    }

    fn add_initial_jobs(&mut self, specs: &[JobSpec]) -> Built<()> {
        let count = i64::try_from(specs.len()).unwrap_or(i64::MAX);
        let mut placing = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            // Microseconds keep the file's order among jobs that say the same moment.
            let before = TimeDelta::microseconds(count - i64::try_from(index).unwrap_or(count));
            let id = self.add_job(spec, before)?;
            if spec.state != InitialState::Pending {
                placing.push((id, spec));
            }
        }
        super::placing::place_running(self, &placing)
    }

    /// Puts a job into the snapshot, pending.
    pub(super) fn add_job(&mut self, spec: &JobSpec, before: TimeDelta) -> Built<JobId> {
        if self.jobs.contains_key(&spec.name) {
            return Err(FormatError::new(spec.at, format!("a second job `{}`", spec.name)));
        }
        let team = self.team(&spec.team, spec.at)?;
        let queue = match &spec.queue {
            Some(name) => self.queues.get(name).copied(),
            None => self.team_queues.get(&team).and_then(|queues| queues.first().copied()),
        };
        let missing =
            || FormatError::new(spec.at, format!("no queue `{}`", spec.queue.as_deref().unwrap_or("")));
        let queue = queue.ok_or_else(missing)?;
        let pools = spec.pools.iter().map(|name| self.pool(name, spec.at)).collect::<Built<Vec<_>>>()?;
        let id = JobId(self.cluster.mint());
        let user = match self.users.get(&spec.user) {
            Some(&user) => user,
            None => {
                let user = UserId(self.cluster.mint());
                self.users.insert(spec.user.clone(), user);
                user
            }
        };
        let job = new_job(spec, (id, team, queue, user), pools, &self.cluster.snapshot, before);
        self.jobs.insert(spec.name.clone(), id);
        self.cluster.snapshot.jobs.push(job);
        Ok(id)
    }

    /// Why the API would not take this job at all.
    pub(super) fn refusal(&self, spec: &JobSpec) -> Option<super::refusal::Refusal> {
        let team = self.teams.get(&spec.team).copied();
        let queue = spec.queue.as_ref().and_then(|name| self.queues.get(name).copied());
        let queue = queue.or_else(|| team.and_then(|team| self.team_queues.get(&team)?.first().copied()));
        let facts = super::refusal::Facts {
            priority: priority_of(spec, &self.cluster.snapshot.policy),
            ceiling: team
                .and_then(|team| self.rules.team_ceilings.get(&team).copied())
                .or_else(|| self.rules.kind_ceilings.get(&spec.kind).copied()),
            queue: self.cluster.snapshot.queues.iter().find(|found| Some(found.id) == queue),
            kinds: queue.and_then(|queue| self.rules.queue_kinds.get(&queue)),
            snapshot: &self.cluster.snapshot,
        };
        super::refusal::refusal(spec, &facts)
    }

    pub(super) fn set_kind_ceilings(&mut self, ceilings: impl Iterator<Item = (Kind, PriorityClass)>) {
        self.rules.kind_ceilings.extend(ceilings);
    }
}

fn priority_of(spec: &JobSpec, policy: &Policy) -> Priority {
    spec.priority.unwrap_or_else(|| policy.rules(spec.kind).default_priority.value())
}

fn new_job(
    spec: &JobSpec,
    (id, team, queue, user): (JobId, TeamId, QueueId, UserId),
    pools: Vec<PoolId>,
    snapshot: &Snapshot,
    before: TimeDelta,
) -> Job {
    let since = |secs: i64| snapshot.now + TimeDelta::seconds(secs) - before;
    let submitted = spec.submitted_secs.or(spec.started_secs).or(match spec.state {
        InitialState::Pending => Some(0),
        _ => Some(super::placing::LONG_AGO_SECS),
    });
    Job {
        id,
        name: spec.name.clone(),
        team,
        queue,
        user,
        kind: spec.kind,
        priority: priority_of(spec, &snapshot.policy),
        team_priority: None,
        submitted_at: since(submitted.unwrap_or(0)),
        shape: crate::job::Shape { gpus: spec.gpus, cpu: spec.cpu, memory: spec.memory },
        min_replicas: spec.min_replicas,
        max_replicas: spec.max_replicas,
        pools,
        gpu_model: spec.gpu_model.clone(),
        labels: spec.labels.clone(),
        require_topology: spec.require_topology.clone(),
        prefer_topology: spec.prefer_topology.clone(),
        nvlink: spec.nvlink,
        rdma: spec.rdma,
        time_limit_secs: spec.time_limit_secs,
        preemptible: spec.preemptible,
        idle: spec.idle,
        never_evict: false,
        evict_others: spec.evict_others,
        requeue: spec.requeue,
        checkpoint: spec.checkpoint,
        last_checkpoint_at: spec.last_checkpoint_secs.map(|secs| snapshot.now + TimeDelta::seconds(secs)),
        run_number: 0,
        evictions_in_last_day: 0,
        held: false,
        members: Vec::new(),
    }
}
