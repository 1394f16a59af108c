//! The snapshot reduced to dense small integers in a fixed order, so that the inner loops compare
//! numbers and the same input always gives the same output.
//!
//! Everything here stays constant during a plan; what changes is [`super::state`]'s. This module
//! decides nothing.

use super::calendar::{Bound, Calendar, is_in_maintenance};
use super::job_rules::{Places, RuleBook};
use super::snapshot::{GpuSlice, Job, Node, Placement, Queue, Snapshot};
use crate::id::{GpuId, JobId, NodeId, PoolId, QueueId, TeamId};
use crate::job::{CheckpointMode, GpuAsk, NvLink, Shape};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::units::{Mib, MilliGpu};
use chrono::{DateTime, TimeDelta, Utc};
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// A map that is only ever asked, never walked: its order decides nothing.
pub(super) type Index<K, V> = HashMap<K, V, FixedState>;

/// A part of one GPU, by dense index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) gpu: usize,
    pub(super) milli: i64,
    pub(super) memory: i64,
}

/// Most members hold one GPU, or a part of one.
pub(super) type Slices = SmallVec<[Slice; 1]>;

/// What one member holds or would hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) node: usize,
    pub(super) slices: Slices,
    pub(super) cpu: i64,
    pub(super) memory: i64,
}

/// A placed member at the start of the plan.
#[derive(Debug)]
pub(super) struct MemberRow {
    pub(super) index: u32,
    pub(super) hold: Hold,
    pub(super) leaving: bool,
    /// Asked to leave so long ago that nobody counts on it any more.
    pub(super) overdue: bool,
    pub(super) milli: i64,
}

#[derive(Debug)]
pub(super) struct JobRow<'a> {
    pub(super) job: &'a Job,
    /// `None`: the team is unknown (deleted); it holds space but no quota.
    pub(super) team: Option<usize>,
    pub(super) queue: Option<usize>,
    /// Acceptable pools, in the job's order; jobs that name the same pools share the list.
    pub(super) pools: Rc<[usize]>,
    pub(super) class: usize,
    /// As the job has them: the order of service reads these of all jobs, and a job lies far away.
    pub(super) priority: i32,
    /// Among its own team's jobs.
    pub(super) team_priority: i32,
    pub(super) submitted_at: DateTime<Utc>,
    /// Its set in the rule book.
    pub(super) rules: usize,
    pub(super) members: Vec<MemberRow>,
    /// The pool in which it runs.
    pub(super) pool: Option<usize>,
    /// What the smallest gang is charged.
    pub(super) base_milli: i64,
    pub(super) member_milli: i64,
    /// When the gang started.
    pub(super) started_at: DateTime<Utc>,
    /// Until when its base cannot be taken.
    pub(super) protected_until: DateTime<Utc>,
    pub(super) tier: u8,
    /// Its base may not sit on a loan.
    pub(super) base_inside_only: bool,
    /// Its base is never a victim.
    pub(super) base_never_evicted: bool,
    pub(super) surplus_never_evicted: bool,
}

/// What decides where a job may go: jobs of one class fit or fail together.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) shape: Shape,
    pub(super) members: u32,
    pub(super) model: Option<String>,
    pub(super) require: Option<String>,
    pub(super) prefer: Option<String>,
    /// A member's GPUs must lie in one NVLink domain.
    pub(super) linked: bool,
    /// By node: meets labels, model and RDMA and takes work. Classes with the same wishes share it.
    pub(super) node_ok: Rc<[bool]>,
    /// By node: would meet them if its state and health allowed.
    pub(super) node_could: Rc<[bool]>,
    /// What of the calendar its jobs keep clear of; `node_ok` has the windows in it.
    pub(super) bound: Bound,
}

#[derive(Debug)]
pub(super) struct NodeRow<'a> {
    pub(super) node: &'a Node,
    /// As stored, but draining while a maintenance window is open.
    pub(super) state: NodeState,
    pub(super) pool: usize,
    pub(super) first_gpu: usize,
    pub(super) gpu_count: usize,
    /// Groups of dense GPU indices that are linked.
    pub(super) nvlink: Vec<Vec<usize>>,
    /// Its GPUs are not all of one model.
    pub(super) is_mixed: bool,
}

impl NodeRow<'_> {
    pub(super) fn gpus(&self) -> std::ops::Range<usize> {
        self.first_gpu..self.first_gpu + self.gpu_count
    }

    pub(super) fn exists(&self) -> bool {
        !matches!(self.state, NodeState::Lost | NodeState::Removed)
    }
}

#[derive(Debug)]
pub(super) struct GpuRow<'a> {
    pub(super) id: GpuId,
    pub(super) model: &'a str,
    pub(super) memory: i64,
    /// Healthy and on a node that takes work.
    pub(super) usable: bool,
    pub(super) healthy: bool,
}

/// The whole problem.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: DateTime<Utc>,
    pub(super) pools: Vec<PoolId>,
    pub(super) nodes: Vec<NodeRow<'a>>,
    pub(super) pool_nodes: Vec<Vec<usize>>,
    pub(super) gpus: Vec<GpuRow<'a>>,
    pub(super) teams: Vec<TeamId>,
    pub(super) queues: Vec<&'a Queue>,
    pub(super) jobs: Vec<JobRow<'a>>,
    pub(super) classes: Vec<Class>,
    /// (pool, level) → the nodes of each place.
    pub(super) places: BTreeMap<(usize, &'a str), Vec<Vec<usize>>>,
    /// Jobs for which somebody was asked to leave, and is expected to do so but has not yet.
    pub(super) leaving_for: HashSet<JobId>,
    /// By node: placed jobs with a member there.
    pub(super) node_jobs: Vec<Vec<usize>>,
    pub(super) rule_book: RuleBook,
    pub(super) calendar: Calendar,
    node_index: Index<NodeId, usize>,
}

/// What a job wants of a node itself, whatever is free there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wishes<'a> {
    model: &'a Option<String>,
    labels: &'a BTreeMap<String, String>,
    rdma: bool,
}

#[derive(PartialEq, Eq, Hash)]
struct ClassKey<'a> {
    shape: Shape,
    members: u32,
    wishes: Wishes<'a>,
    require: &'a Option<String>,
    prefer: &'a Option<String>,
    linked: bool,
    bound: Bound,
}

/// [`Class::node_ok`] and [`Class::node_could`].
type Masks = (Rc<[bool]>, Rc<[bool]>);

/// What many jobs have in common, found again by what they ask.
#[derive(Default)]
struct Shared<'a> {
    classes: Index<ClassKey<'a>, usize>,
    masks: Index<Wishes<'a>, Masks>,
    pools: Index<&'a [PoolId], Rc<[usize]>>,
    homes: Index<(TeamId, QueueId), Home>,
}

/// Whose a job is.
#[derive(Debug, Clone, Copy)]
struct Home {
    team: Option<usize>,
    queue: Option<usize>,
}

/// The nodes of each place of a level.
type ByPlace<'a> = BTreeMap<&'a str, Vec<usize>>;

impl<'a> Problem<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let mut pools: Vec<PoolId> = snapshot.pools.iter().map(|pool| pool.id).collect();
        pools.sort_unstable();
        let mut teams: Vec<TeamId> = snapshot.teams.iter().map(|team| team.id).collect();
        teams.sort_unstable();
        let mut queues: Vec<&Queue> = snapshot.queues.iter().collect();
        queues.sort_unstable_by_key(|queue| queue.id);
        let mut problem = Self {
            snapshot,
            now: snapshot.now,
            pool_nodes: vec![Vec::new(); pools.len()],
            pools,
            nodes: Vec::new(),
            gpus: Vec::new(),
            teams,
            queues,
            jobs: Vec::new(),
            classes: Vec::new(),
            places: BTreeMap::new(),
            leaving_for: HashSet::new(),
            node_jobs: Vec::new(),
            rule_book: RuleBook::default(),
            calendar: Calendar::default(),
            node_index: Index::default(),
        };
        problem.add_nodes();
        problem.calendar = Calendar::new(snapshot, &problem.pools, &problem.teams, |node| {
            problem.node_index.get(node).copied()
        });
        problem.add_jobs();
        problem
    }

    fn add_nodes(&mut self) {
        let mut by_level: BTreeMap<(usize, &'a str), ByPlace<'a>> = BTreeMap::new();
        let mut nodes: Vec<&Node> = self.snapshot.nodes.iter().collect();
        nodes.sort_unstable_by_key(|node| node.id);
        for node in nodes {
            let Ok(pool) = self.pools.binary_search(&node.pool) else { continue };
            let index = self.nodes.len();
            let first_gpu = self.gpus.len();
            let state = match node.state {
                NodeState::Ready | NodeState::Cordoned if is_in_maintenance(self.snapshot, node.id) => {
                    NodeState::Draining
                }
                state => state,
            };
            let mut gpus: Vec<_> = node.gpus.iter().collect();
            gpus.sort_unstable_by_key(|gpu| (gpu.index, gpu.id));
            for gpu in &gpus {
                self.gpus.push(GpuRow {
                    id: gpu.id,
                    model: &gpu.model,
                    memory: gpu.memory.0,
                    usable: gpu.healthy && state == NodeState::Ready,
                    healthy: gpu.healthy,
                });
            }
            let dense = |wanted: &u32| {
                gpus.iter().position(|gpu| gpu.index == *wanted).map(|offset| first_gpu + offset)
            };
            let mut nvlink: Vec<Vec<usize>> =
                node.nvlink.iter().map(|domain| domain.iter().filter_map(dense).collect()).collect();
            nvlink.iter_mut().for_each(|domain| domain.sort_unstable());
            nvlink.sort_unstable();
            let is_mixed = gpus.windows(2).any(|pair| pair[0].model != pair[1].model);
            for (level, place) in &node.topology {
                let places: &mut ByPlace<'a> = by_level.entry((pool, level.as_str())).or_default();
                places.entry(place.as_str()).or_default().push(index);
            }
            self.node_index.insert(node.id, index);
            self.pool_nodes[pool].push(index);
            self.nodes.push(NodeRow {
                node,
                state,
                pool,
                first_gpu,
                gpu_count: gpus.len(),
                nvlink,
                is_mixed,
            });
        }
        let of_level = |(level, places): (_, ByPlace<'a>)| (level, places.into_values().collect());
        self.places = by_level.into_iter().map(of_level).collect();
    }

    fn add_jobs(&mut self) {
        let mut jobs: Vec<(JobId, &Job)> = self.snapshot.jobs.iter().map(|job| (job.id, job)).collect();
        jobs.sort_unstable_by_key(|(id, _)| *id);
        let places = Places::new(self.snapshot);
        let mut shared = Shared::default();
        self.node_jobs = vec![Vec::new(); self.nodes.len()];
        self.jobs.reserve_exact(jobs.len());
        for (_, job) in jobs {
            let class = self.class_index(job, &mut shared);
            let pools = shared.pools.entry(job.pools.as_slice()).or_insert_with(|| self.pools_of(job));
            let pools = Rc::clone(pools);
            let home = *shared.homes.entry((job.team, job.queue)).or_insert_with(|| self.home_of(job));
            let row = self.row_of(&places, job, home, class, pools);
            let index = self.jobs.len();
            for member in &row.members {
                let on_node = &mut self.node_jobs[member.hold.node];
                if on_node.last() != Some(&index) {
                    on_node.push(index);
                }
            }
            let leaving = job.members.iter().filter(|member| member.leaving.is_some());
            let expected = leaving
                .filter(|member| row.members.iter().any(|held| held.index == member.index && !held.overdue));
            let leaving = expected.filter_map(|member| member.leaving.as_ref());
            self.leaving_for.extend(leaving.filter_map(|leaving| leaving.evictor));
            self.jobs.push(row);
        }
    }

    fn class_index(&mut self, job: &'a Job, shared: &mut Shared<'a>) -> usize {
        let wishes = Wishes { model: &job.gpu_model, labels: &job.labels, rdma: job.rdma };
        let key = ClassKey {
            shape: job.shape,
            members: job.min_replicas.max(1),
            wishes,
            require: &job.require_topology,
            prefer: &job.prefer_topology,
            linked: job.nvlink == NvLink::Required && job.shape.gpus.devices() > 1,
            bound: self.calendar.binds(job, self.teams.binary_search(&job.team).ok(), self.now),
        };
        let (bound, linked) = (key.bound.clone(), key.linked);
        let next = self.classes.len();
        let class = *shared.classes.entry(key).or_insert(next);
        if class == next {
            let (ok, could) = shared.masks.entry(wishes).or_insert_with(|| self.masks_of(job));
            self.classes.push(Class {
                shape: job.shape,
                members: job.min_replicas.max(1),
                model: job.gpu_model.clone(),
                require: job.require_topology.clone(),
                prefer: job.prefer_topology.clone(),
                linked,
                node_ok: self.calendar.without_windows(ok, &bound),
                node_could: Rc::clone(could),
                bound,
            });
        }
        class
    }

    fn home_of(&self, job: &Job) -> Home {
        let queue = |queue: &&Queue| -> QueueId { queue.id };
        Home {
            team: self.teams.binary_search(&job.team).ok(),
            queue: self.queues.binary_search_by_key(&job.queue, queue).ok(),
        }
    }

    fn pools_of(&self, job: &Job) -> Rc<[usize]> {
        if job.pools.is_empty() {
            return (0..self.pools.len()).collect();
        }
        job.pools.iter().filter_map(|pool| self.pools.binary_search(pool).ok()).collect()
    }

    fn masks_of(&self, job: &Job) -> Masks {
        let could = |row: &NodeRow<'_>| {
            row.exists()
                && (!job.rdma || row.node.rdma)
                && job.labels.iter().all(|(key, value)| row.node.labels.get(key) == Some(value))
                && job
                    .gpu_model
                    .as_ref()
                    .is_none_or(|model| row.gpus().any(|gpu| self.gpus[gpu].model == model))
        };
        let node_could: Rc<[bool]> = self.nodes.iter().map(could).collect();
        let rows = self.nodes.iter().zip(node_could.iter());
        let node_ok = rows.map(|(row, &could)| could && row.state == NodeState::Ready).collect();
        (node_ok, node_could)
    }

    fn row_of(
        &mut self,
        places: &Places<'a>,
        job: &'a Job,
        home: Home,
        class: usize,
        pools: Rc<[usize]>,
    ) -> JobRow<'a> {
        let set = self.rule_book.of(self.snapshot, places, job);
        let rules = self.rule_book.rules(set);
        let overdue_after = self.snapshot.policy.nomination_timeout();
        let mut members: Vec<MemberRow> = job
            .members
            .iter()
            .filter_map(|member| {
                let node = *self.node_index.get(&member.node)?;
                let hold = self.hold(node, &member.gpus, job.shape);
                Some(MemberRow {
                    index: member.index,
                    milli: hold.slices.iter().map(|slice| slice.milli).sum(),
                    hold,
                    leaving: member.leaving.is_some(),
                    overdue: member.leaving.as_ref().is_some_and(|l| l.leave_by + overdue_after <= self.now),
                })
            })
            .collect();
        members.sort_by_key(|member| member.index);
        let started_at = job.members.iter().map(|member| member.started_at).min().unwrap_or(self.now);
        let often = job.evictions_in_last_day >= self.snapshot.policy.max_evictions_per_job_per_day;
        let protection = TimeDelta::seconds(rules.min_runtime_secs * if often { 2 } else { 1 });
        let member_milli = job.shape.gpus.milli().0;
        JobRow {
            job,
            team: home.team,
            queue: home.queue,
            pools,
            class,
            priority: job.priority.0,
            team_priority: job.priority_in_team().0,
            submitted_at: job.submitted_at,
            rules: set,
            pool: members.first().map(|member| self.nodes[member.hold.node].pool),
            members,
            base_milli: member_milli * i64::from(job.min_replicas.max(1)),
            member_milli,
            started_at,
            protected_until: started_at + protection,
            tier: tier_of(job),
            base_inside_only: !job.preemptible || !rules.may_borrow || job.kind == Kind::Inference,
            base_never_evicted: !job.preemptible || job.never_evict || job.kind == Kind::Inference,
            surplus_never_evicted: !job.preemptible,
        }
    }

    /// A stored placement by dense indices; slices of GPUs that no longer exist are left out.
    pub(super) fn hold(&self, node: usize, gpus: &[GpuSlice], shape: Shape) -> Hold {
        let first = self.nodes[node].first_gpu;
        let of_node = &self.gpus[self.nodes[node].gpus()];
        let dense = |slice: &GpuSlice| {
            let at = of_node.iter().position(|gpu| gpu.id == slice.gpu)?;
            Some(Slice { gpu: first + at, milli: slice.milli.0, memory: slice.memory.0 })
        };
        let slices = gpus.iter().filter_map(dense).collect();
        Hold { node, slices, cpu: shape.cpu.0, memory: shape.memory.0 }
    }

    /// A stored placement; `None` when its node or one of its GPUs no longer exists.
    pub(super) fn placed(&self, placement: &Placement, shape: Shape) -> Option<Hold> {
        let node = *self.node_index.get(&placement.node)?;
        let hold = self.hold(node, &placement.gpus, shape);
        (hold.slices.len() == placement.gpus.len()).then_some(hold)
    }

    /// All GPUs of a node.
    pub(super) fn whole_node(&self, node: usize) -> Hold {
        let slices =
            self.nodes[node].gpus().map(|gpu| Slice { gpu, milli: 1_000, memory: self.gpus[gpu].memory });
        Hold { node, slices: slices.collect(), cpu: 0, memory: 0 }
    }

    /// Back to ids.
    pub(super) fn placement(&self, index: u32, hold: &Hold) -> Placement {
        let gpus = hold.slices.iter().map(|slice| GpuSlice {
            gpu: self.gpus[slice.gpu].id,
            milli: MilliGpu(slice.milli),
            memory: Mib(slice.memory),
        });
        Placement { index, node: self.nodes[hold.node].node.id, gpus: gpus.collect() }
    }

    /// A job by its id.
    pub(super) fn job(&self, id: JobId) -> Option<usize> {
        self.jobs.binary_search_by_key(&id, |row| row.job.id).ok()
    }

    /// Whether the class asks for no GPU.
    pub(super) fn is_cpu_only(&self, class: usize) -> bool {
        self.classes[class].shape.gpus == GpuAsk::None
    }
}

/// Rule 4.4: what is flagged idle goes first, then experiments, jobs that can resume, and work that would be lost.
fn tier_of(job: &Job) -> u8 {
    match job.kind {
        _ if job.idle => 0,
        Kind::Experiment => 1,
        _ if !job.requeue => 3,
        Kind::Training if job.checkpoint == CheckpointMode::None => 3,
        Kind::Training | Kind::Inference | Kind::Evaluation | Kind::Batch => 2,
    }
}
