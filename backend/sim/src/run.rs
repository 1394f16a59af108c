//! One job's way through a simulation: submitted, started, asked to leave, back in line, done.
//!
//! Here the engine's clock meets the cluster in memory: each event is carried out on both. Nothing here chooses.

use crate::engine::{Engine, capacity_milli};
use crate::event::{Change, Event};
use crate::owed::Claim;
use crate::workload::{Micros, Task};
use reeve_core::id::{JobId, UserId};
use reeve_core::job::{CheckpointMode, GpuAsk, Shape};
use reeve_core::scenario::cluster::End;
use reeve_core::schedule::plan::{Eviction, Start};
use reeve_core::schedule::snapshot::{Job, Snapshot};
use reeve_core::units::{Mib, MilliCpu, MilliGpu};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What became of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    /// From submission to its first start; `None` = it never started.
    pub first_wait: Option<Micros>,
    /// All time in line, after evictions too.
    pub waited: Micros,
    pub evictions: u32,
    /// Work that had to be done again, times its GPUs (milli).
    pub lost: i128,
    /// When it had done its work; `None` = it never had.
    pub done: Option<Micros>,
    /// It left at the moment the workload had set.
    pub withdrawn: bool,
}

/// A job's state while the clock runs.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) run: Run,
    pub(crate) id: Option<JobId>,
    remaining: Micros,
    /// Counts starts and interruptions: events of an older number change nothing.
    number: u32,
    started: Micros,
    saved: Micros,
    in_line_since: Option<Micros>,
    /// (pool, milli-GPU) held.
    held: Option<(usize, i64)>,
}

impl Life {
    pub(crate) fn new(runs: Micros) -> Self {
        Self {
            run: Run::default(),
            id: None,
            remaining: runs,
            number: 0,
            started: 0,
            saved: 0,
            in_line_since: None,
            held: None,
        }
    }
}

impl Engine<'_> {
    /// Carries out one event, and says what it means for a plan.
    pub(crate) fn carry_out(&mut self, event: Event) -> Change {
        match event {
            Event::Arrive { task } => self.arrive(task),
            Event::End { task, run } if self.is_current(task, run) => {
                self.leave(task, false);
                return Change::Freed;
            }
            Event::Withdraw { task } if self.lives[task].id.is_some() => {
                self.leave(task, true);
                return Change::Freed;
            }
            Event::Vacate { task, run } if self.is_current(task, run) => self.vacate(task),
            Event::Checkpoint { task, run } if self.is_current(task, run) => {
                self.save(task);
                return Change::Nothing;
            }
            Event::Node { node, lost } => self.set_node(node, lost),
            Event::End { .. } | Event::Withdraw { .. } | Event::Vacate { .. } | Event::Checkpoint { .. } => {
                return Change::Nothing;
            }
        }
        Change::Other
    }

    fn is_current(&self, task: usize, run: u32) -> bool {
        self.lives[task].id.is_some() && self.lives[task].number == run
    }

    fn arrive(&mut self, task: usize) {
        let id = JobId(self.cluster.mint());
        let job = self.job(id, task);
        self.cluster.snapshot.jobs.push(job);
        self.task_of.insert(id, task);
        self.lives[task].id = Some(id);
        self.line_up(task);
    }

    fn line_up(&mut self, task: usize) {
        self.lives[task].in_line_since = Some(self.now);
        self.in_line += 1;
        let team = self.team(task);
        self.record.now[team].waiting += self.workload.tasks[task].asks_milli();
    }

    fn leave_line(&mut self, task: usize) {
        if let Some(since) = self.lives[task].in_line_since.take() {
            self.lives[task].run.waited += self.now - since;
            self.in_line -= 1;
            let team = self.team(task);
            self.record.now[team].waiting -= self.workload.tasks[task].asks_milli();
        }
    }

    pub(crate) fn team(&self, task: usize) -> usize {
        self.index.of_workload[self.workload.tasks[task].team]
    }

    /// Its work is done, or the workload takes it away.
    fn leave(&mut self, task: usize, withdrawn: bool) {
        let Some(id) = self.lives[task].id.take() else { return };
        self.leave_line(task);
        self.let_go(task);
        let life = &mut self.lives[task];
        life.run.withdrawn = withdrawn;
        life.run.done = (!withdrawn || life.run.first_wait.is_some()).then_some(self.now);
        self.task_of.remove(&id);
        self.end(id, if withdrawn { End::Cancelled } else { End::Succeeded });
    }

    /// A start (or more members of an elastic job) has been applied.
    pub(crate) fn started(&mut self, start: &Start) {
        let Some(&task) = self.task_of.get(&start.job) else { return };
        let milli: i64 =
            start.members.iter().flat_map(|member| &member.gpus).map(|slice| slice.milli.0).sum();
        let pool = start.pool.and_then(|pool| self.index.pool_at.get(&pool).copied()).unwrap_or(0);
        self.hold(task, pool, milli);
        if start.grow {
            return;
        }
        self.leave_line(task);
        let life = &mut self.lives[task];
        life.number += 1;
        (life.started, life.saved) = (self.now, self.now);
        life.run.first_wait.get_or_insert(self.now - self.workload.tasks[task].at);
        let (run, remaining) = (life.number, life.remaining);
        if self.workload.tasks[task].until.is_none() {
            self.queue.add(self.now + remaining, Event::End { task, run });
        }
        if self.options.checkpoint == CheckpointMode::Periodic {
            self.queue.add(self.now + self.options.checkpoint_every.max(1), Event::Checkpoint { task, run });
        }
    }

    fn save(&mut self, task: usize) {
        let Some(id) = self.lives[task].id else { return };
        self.cluster.save_checkpoint(id);
        let life = &mut self.lives[task];
        life.saved = self.now;
        let run = life.number;
        self.queue.add(self.now + self.options.checkpoint_every.max(1), Event::Checkpoint { task, run });
    }

    /// An eviction has been applied: the job saves, and leaves when it has, at the latest when its grace is over.
    pub(crate) fn asked_to_leave(&mut self, eviction: &Eviction) {
        let Some(&task) = self.task_of.get(&eviction.job) else { return };
        let leave_by = self.micros(eviction.leave_by);
        let at = self.options.leaves_after.map_or(leave_by, |after| leave_by.min(self.now + after));
        self.lives[task].run.evictions += 1;
        self.count_eviction(self.team(task), Some(eviction.cause));
        let run = self.lives[task].number;
        self.queue.add(at.max(self.now), Event::Vacate { task, run });
    }

    /// The leaving members are gone; with the last of them the job stands in line again.
    fn vacate(&mut self, task: usize) {
        let Some(id) = self.lives[task].id else { return };
        self.cluster.vacate(id);
        let staying = self.cluster.job(id).map_or(0, held_milli);
        if staying > 0 {
            self.keep(task, staying);
            return;
        }
        let life = &self.lives[task];
        let saved = match self.options.checkpoint {
            CheckpointMode::OnSignal => self.now,
            CheckpointMode::Periodic => life.saved,
            CheckpointMode::None => life.started,
        };
        self.interrupt(task, saved);
    }

    /// Its run is over before its work is; what was done after `saved` is lost.
    fn interrupt(&mut self, task: usize, saved: Micros) {
        self.let_go(task);
        let asks = i128::from(self.workload.tasks[task].asks_milli());
        let now = self.now;
        let life = &mut self.lives[task];
        life.number += 1;
        life.remaining = (life.remaining - (saved - life.started)).max(1);
        life.run.lost += i128::from(now - saved) * asks;
        self.line_up(task);
    }

    /// A node is lost, with all that ran on it; or it is back.
    fn set_node(&mut self, node: usize, lost: bool) {
        let snapshot = &self.cluster.snapshot;
        let Some(id) = snapshot.nodes.get(node).map(|node| node.id) else { return };
        let hit: Vec<JobId> = if lost {
            let on_it = |job: &&Job| job.members.iter().any(|member| member.node == id);
            snapshot.jobs.iter().filter(on_it).map(|job| job.id).collect()
        } else {
            Vec::new()
        };
        self.cluster.set_node(id, Event::state_of_node(lost));
        self.record.capacity_milli = capacity_milli(&self.cluster.snapshot);
        self.lending = None;
        for id in hit {
            self.torn(id);
        }
    }

    /// A gang has lost members with their node: the rest leaves, and it starts anew from what it had saved.
    fn torn(&mut self, id: JobId) {
        let Some(&task) = self.task_of.get(&id) else { return };
        self.count_eviction(self.team(task), None);
        self.lives[task].run.evictions += 1;
        // A simulated gang's other members notice at once that the gang is broken.
        self.cluster.vacate(id);
        let life = &self.lives[task];
        let saved =
            if self.options.checkpoint == CheckpointMode::Periodic { life.saved } else { life.started };
        self.interrupt(task, saved);
    }

    fn hold(&mut self, task: usize, pool: usize, milli: i64) {
        let held = self.lives[task].held.map_or(0, |(_, held)| held);
        self.set_held(task, Some((pool, held + milli)));
    }

    fn keep(&mut self, task: usize, milli: i64) {
        let pool = self.lives[task].held.map_or(0, |(pool, _)| pool);
        self.set_held(task, Some((pool, milli)));
    }

    fn let_go(&mut self, task: usize) {
        self.set_held(task, None);
    }

    fn set_held(&mut self, task: usize, held: Option<(usize, i64)>) {
        let team = self.team(task);
        let before = std::mem::replace(&mut self.lives[task].held, held);
        if let Some((pool, milli)) = before {
            self.index.used[team][pool] -= milli;
        }
        if let Some((pool, milli)) = held {
            self.index.used[team][pool] += milli;
        }
        if let Some((pool, _)) = held.or(before).filter(|_| self.options.intervals) {
            self.intervals.hold(task, pool, held.map_or(0, |(_, milli)| milli), self.now);
        }
    }

    /// Reads off what each team uses, borrows and is owed.
    pub(crate) fn measure(&mut self) {
        for (team, gauge) in self.record.now.iter_mut().enumerate() {
            let pairs = self.index.used[team].iter().zip(&self.index.guaranteed[team]);
            let idle: i64 = pairs.clone().map(|(used, guaranteed)| (guaranteed - used).max(0)).sum();
            gauge.used = self.index.used[team].iter().sum();
            gauge.borrowed = pairs.map(|(used, guaranteed)| (used - guaranteed).max(0)).sum();
            gauge.owed = gauge.waiting.min(idle);
        }
        let claims = self.claims();
        self.owed.set(self.now, &claims);
    }

    /// Waiting jobs that their team's guarantee covers while somebody else is on loan; oldest first, as far as the
    /// guarantee goes.
    fn claims(&self) -> Vec<Claim> {
        let borrowed: i64 = self.record.now.iter().map(|gauge| gauge.borrowed).sum();
        let mut left: BTreeMap<usize, i64> = BTreeMap::new();
        let mut claims = Vec::new();
        if borrowed == 0 {
            return claims;
        }
        for job in self.cluster.snapshot.jobs.iter().filter(|job| job.is_pending()) {
            let Some(&task) = self.task_of.get(&job.id) else { continue };
            let team = self.team(task);
            let gauge = &self.record.now[team];
            let pairs = self.index.used[team].iter().zip(&self.index.guaranteed[team]);
            let left = left
                .entry(team)
                .or_insert_with(|| pairs.map(|(used, guaranteed)| (guaranteed - used).max(0)).sum());
            let asks = self.workload.tasks[task].asks_milli();
            if borrowed > gauge.borrowed && asks <= *left && !self.barred.contains(&task) {
                *left -= asks;
                claims.push(Claim { task, team, allowed: self.gentleness });
            }
        }
        claims
    }

    /// The job as the store would hand it to the planner.
    fn job(&self, id: JobId, task: usize) -> Job {
        let task = &self.workload.tasks[task];
        let Task { name, gpus, milli, team, kind, priority, .. } = task;
        let replicas = gpus.div_ceil(self.options.node_gpus).max(1);
        let snapshot = &self.cluster.snapshot;
        let kind = kind.unwrap_or(self.options.kind);
        let rules = self.rules(task);
        Job {
            id,
            name: name.clone(),
            team: self.index.teams[self.index.of_workload[*team]],
            queue: self.index.queues[*team],
            user: UserId(Uuid::from_u128(*team as u128 + 1)),
            kind,
            priority: priority.unwrap_or_else(|| rules.default_priority.value()),
            team_priority: None,
            submitted_at: snapshot.now,
            shape: shape(*gpus, *milli, replicas, snapshot),
            min_replicas: replicas,
            max_replicas: replicas,
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
            checkpoint: self.options.checkpoint,
            last_checkpoint_at: None,
            run_number: 0,
            evictions_in_last_day: 0,
            held: false,
            members: Vec::new(),
        }
    }
}

fn held_milli(job: &Job) -> i64 {
    job.members.iter().flat_map(|member| &member.gpus).map(|slice| slice.milli.0).sum()
}

/// What each member asks for. A share of a GPU takes the same share of its memory.
fn shape(gpus: u32, milli: Option<u32>, replicas: u32, cluster: &Snapshot) -> Shape {
    let gpu_memory = cluster.nodes.iter().flat_map(|node| &node.gpus).map(|gpu| gpu.memory.0).min();
    let ask = match milli {
        Some(milli) => GpuAsk::Share {
            devices: 1,
            milli: MilliGpu(milli.into()),
            memory: Mib(gpu_memory.unwrap_or(0) * i64::from(milli) / 1_000),
        },
        None => GpuAsk::Whole { gpus: gpus.div_ceil(replicas) },
    };
    Shape { gpus: ask, cpu: MilliCpu(0), memory: Mib(0) }
}
