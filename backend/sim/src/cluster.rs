//! Synthetic clusters of a given size, for measuring a planning cycle.
//!
//! The same size, case and seed give the same snapshot. Shapes are chosen so that each case is what its name says
//! whatever the planner does; nothing here knows how it decides.

use chrono::{DateTime, TimeDelta, Utc};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reeve_core::id::{GpuId, JobId, NodeId, PoolId, QueueId, TeamId, UserId};
use reeve_core::job::{CheckpointMode, GpuAsk, Shape};
use reeve_core::kind::Kind;
use reeve_core::node::NodeState;
use reeve_core::policy::Policy;
use reeve_core::priority::PriorityClass;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_core::schedule::snapshot::{Gpu, GpuSlice, Job, Member, Node, Pool, Queue, Quota, Snapshot, Team};
use reeve_core::units::{Mib, MilliCpu, MilliGpu, WHOLE_GPU};
use std::collections::BTreeMap;
use uuid::Uuid;

const GPUS_PER_NODE: usize = 8;
const GPU_MEMORY: Mib = Mib(81_920);

/// How big, as the benchmarks name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub name: &'static str,
    pub nodes: usize,
    pub teams: usize,
    pub pending: usize,
    pub running: usize,
}

impl Size {
    pub const SMALL: Self = Self { name: "S", nodes: 100, teams: 20, pending: 1_000, running: 500 };
    pub const MEDIUM: Self = Self { name: "M", nodes: 1_000, teams: 200, pending: 10_000, running: 5_000 };
    pub const LARGE: Self = Self { name: "L", nodes: 5_000, teams: 1_000, pending: 100_000, running: 25_000 };

    const fn gpus(self) -> usize {
        self.nodes * GPUS_PER_NODE
    }
}

/// What the pending jobs meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Jobs of a tenth of a GPU on what running jobs leave free.
    AllFit,
    /// Every GPU busy inside its team's guarantee: whole-GPU jobs of all sizes wait.
    NoneFit,
    /// Every GPU busy, half the teams on loan: owners ask inside their guarantee.
    ReclaimNeeded,
    /// As `NoneFit`, with one pending job only, for more GPUs than any node has.
    OneNeverFits,
    /// As `ReclaimNeeded`, with one pending owner asking for one GPU.
    OneReclaims,
    /// As `ReclaimNeeded`, but one team alone has borrowed all: each owner chooses among all that runs.
    OneLender,
    /// One GPU of each node is free, half the teams are on loan: owners ask for gangs of 64 whole nodes.
    FragmentedGangs,
}

impl Case {
    pub const ALL: [Self; 7] = [
        Self::AllFit,
        Self::NoneFit,
        Self::ReclaimNeeded,
        Self::OneNeverFits,
        Self::OneReclaims,
        Self::OneLender,
        Self::FragmentedGangs,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllFit => "all_fit",
            Self::NoneFit => "none_fit",
            Self::ReclaimNeeded => "reclaim_needed",
            Self::OneNeverFits => "verdict_never_fits",
            Self::OneReclaims => "reclaim_one_gpu",
            Self::OneLender => "reclaim_from_one",
            Self::FragmentedGangs => "fragmented_gangs",
        }
    }

    const fn lends(self) -> bool {
        matches!(self, Self::ReclaimNeeded | Self::OneReclaims | Self::OneLender | Self::FragmentedGangs)
    }
}

/// The state of a cluster of that size in that case.
#[must_use]
pub fn generate(size: Size, case: Case, seed: u64) -> Snapshot {
    let mut maker = Maker { random: StdRng::seed_from_u64(seed), size, case };
    let now = DateTime::<Utc>::UNIX_EPOCH + TimeDelta::days(20_000);
    let pool = PoolId(maker.uuid());
    let nodes = (0..size.nodes).map(|number| maker.node(number, pool)).collect::<Vec<_>>();
    let teams: Vec<Team> = (0..size.teams)
        .map(|number| Team { id: TeamId(maker.uuid()), slug: format!("team-{number}"), parent: None })
        .collect();
    let queues: Vec<Queue> = teams.iter().map(|team| maker.queue(team)).collect();
    let mut jobs = maker.running(now, &nodes, &queues);
    let quotas = maker.quotas(&teams, pool, &jobs);
    jobs.extend(maker.pending(now, &queues));
    // As the store loads them.
    jobs.sort_unstable_by_key(|job| job.id);
    Snapshot {
        now,
        policy: Policy::default(),
        pools: vec![Pool { id: pool, slug: "pool".to_owned() }],
        nodes,
        teams,
        quotas,
        queues,
        jobs,
        nominations: Vec::new(),
        rebalance_evictions_last_hour: Vec::new(),
        consolidation_moves_last_hour: Vec::new(),
        reservations: Vec::new(),
        maintenance_windows: Vec::new(),
    }
}

struct Maker {
    random: StdRng,
    size: Size,
    case: Case,
}

impl Maker {
    fn uuid(&mut self) -> Uuid {
        Uuid::from_u128(self.random.random())
    }

    fn node(&mut self, number: usize, pool: PoolId) -> Node {
        let gpus = (0..GPUS_PER_NODE)
            .map(|index| Gpu {
                id: GpuId(self.uuid()),
                index: u32::try_from(index).unwrap_or(0),
                model: "A100-80G".to_owned(),
                memory: GPU_MEMORY,
                healthy: true,
            })
            .collect();
        Node {
            id: NodeId(self.uuid()),
            name: format!("node-{number}"),
            pool,
            state: NodeState::Ready,
            cpu: MilliCpu(128_000),
            memory: Mib(1_048_576),
            gpus,
            labels: BTreeMap::new(),
            topology: BTreeMap::from([("rack".to_owned(), format!("rack-{}", number / 10))]),
            nvlink: vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]],
            rdma: true,
            datasets: Vec::new(),
        }
    }

    fn queue(&mut self, team: &Team) -> Queue {
        Queue {
            id: QueueId(self.uuid()),
            slug: team.slug.clone(),
            team: team.id,
            order: QueueOrder::FifoWithBackfill,
            state: QueueState::Open,
            max_running_jobs: None,
            max_running_jobs_per_user: None,
            max_running_gpus: None,
        }
    }

    /// The same guarantee for each team; where nothing may fit, exactly what each uses.
    fn quotas(&self, teams: &[Team], pool: PoolId, running: &[Job]) -> Vec<Quota> {
        let even = self.size.gpus() / teams.len().max(1);
        let full = matches!(self.case, Case::NoneFit | Case::OneNeverFits);
        let mut used: BTreeMap<TeamId, usize> = BTreeMap::new();
        for job in running {
            *used.entry(job.team).or_default() += job.members.len();
        }
        teams
            .iter()
            .map(|team| {
                let gpus = if full { used.get(&team.id).copied().unwrap_or(0) } else { even };
                Quota {
                    team: team.id,
                    pool,
                    guaranteed: MilliGpu::whole(u32::try_from(gpus).unwrap_or(u32::MAX)),
                    borrow_limit: None,
                    lend_limit: None,
                    weight: 1,
                    drain: false,
                }
            })
            .collect()
    }

    /// Running jobs fill the nodes from the first GPU on: all GPUs, or one each where pending ones shall fit. When
    /// something is lent, only the first half of the teams run.
    fn running(&mut self, now: DateTime<Utc>, nodes: &[Node], queues: &[Queue]) -> Vec<Job> {
        let count = self.size.running;
        let used_on_node = GPUS_PER_NODE - usize::from(self.case == Case::FragmentedGangs);
        let gpus = if self.case == Case::AllFit { count } else { self.size.nodes * used_on_node };
        let users = match self.case {
            Case::OneLender => 1,
            case if case.lends() => queues.len() / 2,
            _ => queues.len(),
        };
        let mut free = nodes
            .iter()
            .flat_map(|node| node.gpus.iter().take(used_on_node).map(move |gpu| (node.id, gpu.id)));
        (0..count)
            .map(|number| {
                // Sizes as even as they go, so that they add up exactly.
                let asked = gpus * (number + 1) / count - gpus * number / count;
                let mut job =
                    self.job(now, &queues[number % users], u32::try_from(asked).unwrap_or(1), WHOLE_GPU);
                job.run_number = 1;
                job.members = (0..asked)
                    .filter_map(|_| free.next())
                    .enumerate()
                    .map(|(index, (node, gpu))| Member {
                        index: u32::try_from(index).unwrap_or(0),
                        node,
                        gpus: vec![GpuSlice { gpu, milli: WHOLE_GPU, memory: GPU_MEMORY }],
                        started_at: now - TimeDelta::hours(2),
                        leaving: None,
                    })
                    .collect();
                // One GPU a member: a job's GPUs may lie across two nodes.
                job.shape.gpus = GpuAsk::Whole { gpus: 1 };
                (job.min_replicas, job.max_replicas) =
                    (u32::try_from(asked).unwrap_or(1), u32::try_from(asked).unwrap_or(1));
                job
            })
            .collect()
    }

    fn pending(&mut self, now: DateTime<Utc>, queues: &[Queue]) -> Vec<Job> {
        let half = queues.len() / 2;
        match self.case {
            Case::AllFit => (0..self.size.pending)
                .map(|number| self.job(now, &queues[number % queues.len()], 1, MilliGpu(100)))
                .collect(),
            Case::NoneFit => (0..self.size.pending)
                .map(|number| {
                    let gpus = [1, 2, 4, 8][self.random.random_range(0..4)];
                    self.job(now, &queues[number % queues.len()], gpus, WHOLE_GPU)
                })
                .collect(),
            Case::ReclaimNeeded | Case::OneLender => (0..self.size.pending)
                .map(|number| self.job(now, &queues[half + number % (queues.len() - half)], 1, WHOLE_GPU))
                .collect(),
            Case::FragmentedGangs => (0..self.size.pending)
                .map(|number| {
                    let queue = &queues[half + number % (queues.len() - half)];
                    let mut job = self.job(now, queue, 8, WHOLE_GPU);
                    (job.min_replicas, job.max_replicas) = (64, 64);
                    job
                })
                .collect(),
            Case::OneNeverFits => vec![self.job(now, &queues[0], 16, WHOLE_GPU)],
            Case::OneReclaims => vec![self.job(now, &queues[half], 1, WHOLE_GPU)],
        }
    }

    /// A pending job of one member.
    fn job(&mut self, now: DateTime<Utc>, queue: &Queue, gpus: u32, milli: MilliGpu) -> Job {
        let ask = if milli == WHOLE_GPU {
            GpuAsk::Whole { gpus }
        } else {
            GpuAsk::Share { devices: gpus, milli, memory: Mib(8_192) }
        };
        let age = self.random.random_range(7_200..86_400);
        Job {
            id: JobId(self.uuid()),
            name: "job".to_owned(),
            team: queue.team,
            queue: queue.id,
            user: UserId(Uuid::nil()),
            kind: Kind::Batch,
            priority: PriorityClass::Normal.value(),
            team_priority: None,
            submitted_at: now - TimeDelta::seconds(age),
            shape: Shape { gpus: ask, cpu: MilliCpu(1_000), memory: Mib(4_096) },
            min_replicas: 1,
            max_replicas: 1,
            pools: Vec::new(),
            gpu_model: None,
            labels: BTreeMap::new(),
            require_topology: None,
            prefer_topology: None,
            nvlink: reeve_core::job::NvLink::Preferred,
            rdma: false,
            time_limit_secs: None,
            preemptible: true,
            idle: false,
            never_evict: false,
            evict_others: true,
            requeue: true,
            checkpoint: CheckpointMode::OnSignal,
            last_checkpoint_at: None,
            run_number: 0,
            evictions_in_last_day: 0,
            held: false,
            members: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reeve_core::schedule::plan;

    fn small(case: Case) -> Snapshot {
        generate(Size { name: "tiny", nodes: 10, teams: 4, pending: 20, running: 50 }, case, 7)
    }

    #[test]
    fn the_same_seed_gives_the_same_state() {
        assert_eq!(small(Case::NoneFit), small(Case::NoneFit));
    }

    #[test]
    fn each_case_is_what_its_name_says() {
        assert_eq!(plan(&small(Case::AllFit)).starts.len(), 20);

        let none = plan(&small(Case::NoneFit));
        assert_eq!((none.starts.len(), none.reclaims.len(), none.waiting.len()), (0, 0, 20));

        assert!(!plan(&small(Case::ReclaimNeeded)).reclaims.is_empty());
        assert_eq!(plan(&small(Case::OneNeverFits)).waiting.len(), 1);
        assert_eq!(plan(&small(Case::OneReclaims)).reclaims.len(), 1);
        assert!(!plan(&small(Case::OneLender)).reclaims.is_empty());

        let gangs = plan(&small(Case::FragmentedGangs));
        assert_eq!((gangs.starts.len(), gangs.reclaims.len(), gangs.waiting.len()), (0, 0, 20));
    }
}
