//! The simulator: a workload on a cluster under a policy, planned by production's planner on a virtual clock.
//!
//! At each moment at which something happens, everything that happens then is carried out, and then there is one
//! planning pass: snapshot in, plan out, applied as the store would. The cluster in memory is the scenarios'.
//! The engine refuses to decide: who runs, leaves or waits is [`reeve_core::schedule::plan`]'s word alone.

use crate::event::{Change, Event, Queue};
use crate::record::Record;
use crate::run::{Life, Run};
use crate::workload::{Micros, SECOND, Task, Workload};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::eviction::EvictionCause;
use reeve_core::id::{JobId, PoolId, QueueId, TeamId};
use reeve_core::job::CheckpointMode;
use reeve_core::kind::Kind;
use reeve_core::policy::{KindRules, Place};
use reeve_core::reason::ReasonCode;
use reeve_core::scenario::Cluster;
use reeve_core::scenario::cluster::{End, UnknownJob};
use reeve_core::schedule::lending::Lending;
use reeve_core::schedule::plan::{Loan, Plan};
use reeve_core::schedule::snapshot::Snapshot;
use reeve_core::schedule::{check, plan};
use reeve_core::units::MilliGpu;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// What a workload does not say.
#[derive(Debug, Clone)]
pub struct Options {
    /// The kind of jobs whose trace names none.
    pub kind: Kind,
    pub checkpoint: CheckpointMode,
    /// How often a job saves by itself, if it does.
    pub checkpoint_every: Micros,
    /// How long an evicted job takes to save and leave; `None` = its whole grace.
    pub leaves_after: Option<Micros>,
    /// A larger job becomes a gang of members of at most this size.
    pub node_gpus: u32,
    /// Plan at most this often: what happens in between is planned together. 0 = at every moment.
    pub plan_every: Micros,
    /// Judge every plan and every state.
    pub check: bool,
    pub faults: Option<crate::faults::Faults>,
    /// Keep every holding and every loan as an interval.
    pub intervals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: Kind::Training,
            checkpoint: CheckpointMode::OnSignal,
            checkpoint_every: 1_800 * SECOND,
            leaves_after: None,
            node_gpus: 8,
            plan_every: 0,
            check: false,
            faults: None,
            intervals: false,
        }
    }
}

/// Why a simulation can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    #[error(
        "team {0:?} of the workload is none of the policy's teams: add it under `teams:`, or leave its jobs out with --teams-from"
    )]
    UnknownTeam(String),
    #[error("team {0:?} has no queue")]
    NoQueue(String),
    #[error("the cluster has no nodes: give `nodes:` in the policy, or --nodes")]
    NoNodes,
    #[error("the workload holds no jobs")]
    NoJobs,
    #[error(transparent)]
    Plan(#[from] UnknownJob),
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// By task.
    pub runs: Vec<Run>,
    pub record: Record,
    /// By cause; a node's loss is `node_lost`.
    pub evictions: BTreeMap<&'static str, u64>,
    /// By team, then by cause.
    pub evictions_of_team: Vec<BTreeMap<&'static str, u64>>,
    /// Decisions to recall, whatever number of victims each had.
    pub reclaims: u64,
    pub passes: u64,
    /// What the planner itself took.
    pub planning: Duration,
    /// What the judge found, if it looked; the first few in words.
    pub violations: u64,
    pub violation_samples: Vec<String>,
    /// By team: microseconds in which a job of it waited inside its guarantee for longer than minimum run time and
    /// grace, while another team was on loan all the while.
    pub denied: Vec<Micros>,
    /// The longest such wait, counted from its beginning.
    pub longest_owed_wait: Micros,
    /// Empty unless asked for.
    pub intervals: crate::intervals::Intervals,
}

/// A simulation under way.
pub(crate) struct Engine<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) options: &'a Options,
    pub(crate) cluster: Cluster,
    pub(crate) queue: Queue,
    pub(crate) record: Record,
    pub(crate) lives: Vec<Life>,
    pub(crate) task_of: HashMap<JobId, usize>,
    pub(crate) index: Index,
    pub(crate) evictions: BTreeMap<&'static str, u64>,
    pub(crate) evictions_of_team: Vec<BTreeMap<&'static str, u64>>,
    pub(crate) owed: crate::owed::Owed,
    pub(crate) intervals: crate::intervals::Intervals,
    origin: DateTime<Utc>,
    pub(crate) now: Micros,
    due: Option<Micros>,
    /// When to plan for what has happened already.
    planned_for: Option<Micros>,
    /// Nothing but running work can change between plans: every GPU takes work for good, no quota drains.
    is_plain: bool,
    /// How many tasks are in line.
    pub(crate) in_line: usize,
    pub(crate) lending: Option<Lending>,
    /// Waiting tasks that no space could help: held, refused, out of their time window.
    pub(crate) barred: HashSet<usize>,
    /// The longest minimum run time and grace that any job may have.
    pub(crate) gentleness: Micros,
    reclaims: u64,
    passes: u64,
    planning: Duration,
    violations: u64,
    violation_samples: Vec<String>,
    arrived: usize,
}

/// Dense numbers of what does not change.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) teams: Vec<TeamId>,
    /// By workload team: where it stands in `teams` and its queue.
    pub(crate) of_workload: Vec<usize>,
    pub(crate) queues: Vec<QueueId>,
    /// By workload team: its queue's slug, and those of its team and the teams above it.
    places: Vec<(String, Vec<String>)>,
    pub(crate) team_at: HashMap<TeamId, usize>,
    pub(crate) pool_at: HashMap<PoolId, usize>,
    /// By team and pool, in milli-GPU.
    pub(crate) guaranteed: Vec<Vec<i64>>,
    /// The same, used.
    pub(crate) used: Vec<Vec<i64>>,
}

/// Runs everything to its end. `progress` hears how many jobs have been submitted.
///
/// # Errors
/// The workload does not suit the cluster.
pub fn simulate(
    cluster: &Snapshot,
    workload: &Workload,
    options: &Options,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, SimError> {
    if cluster.nodes.is_empty() {
        return Err(SimError::NoNodes);
    }
    if workload.tasks.is_empty() {
        return Err(SimError::NoJobs);
    }
    let mut engine = Engine::new(cluster, workload, options)?;
    while let Some(at) = engine.next_moment() {
        engine.advance(at);
        match engine.carry_out_events() {
            Change::Nothing => {}
            Change::Freed if engine.nobody_cares() => engine.follow_loans(),
            Change::Freed | Change::Other => engine.plan_soon(),
        }
        if engine.is_due() {
            engine.plan_once()?;
        } else {
            engine.measure();
        }
        if engine.passes.is_multiple_of(512) {
            progress(engine.arrived);
        }
    }
    Ok(engine.finish())
}

impl<'a> Engine<'a> {
    fn new(cluster: &Snapshot, workload: &'a Workload, options: &'a Options) -> Result<Self, SimError> {
        let index = Index::new(cluster, workload)?;
        let capacity = capacity_milli(cluster);
        let teams = index.teams.len();
        let mut engine = Self {
            workload,
            options,
            cluster: Cluster::new(cluster.clone()),
            queue: Queue::default(),
            record: Record::new(teams, capacity, workload.last_submission()),
            lives: workload.tasks.iter().map(|task| Life::new(task.runs)).collect(),
            task_of: HashMap::new(),
            index,
            evictions: BTreeMap::new(),
            evictions_of_team: vec![BTreeMap::new(); teams],
            owed: crate::owed::Owed::new(teams),
            intervals: crate::intervals::Intervals::default(),
            origin: cluster.now,
            now: 0,
            due: None,
            planned_for: None,
            is_plain: is_plain(cluster) && options.faults.is_none(),
            in_line: 0,
            lending: None,
            barred: HashSet::new(),
            gentleness: 0,
            reclaims: 0,
            passes: 0,
            planning: Duration::ZERO,
            violations: 0,
            violation_samples: Vec::new(),
            arrived: 0,
        };
        engine.gentleness = engine.longest_gentleness();
        for (task, job) in workload.tasks.iter().enumerate() {
            engine.queue.add(job.at, Event::Arrive { task });
            if let Some(until) = job.until {
                engine.queue.add(until, Event::Withdraw { task });
            }
        }
        if let Some(faults) = &options.faults {
            faults.plan(cluster.nodes.len(), workload.last_submission(), &mut engine.queue);
        }
        Ok(engine)
    }

    /// The rules of a task's kind where it stands.
    pub(crate) fn rules(&self, task: &Task) -> KindRules {
        let (queue, teams) = &self.index.places[task.team];
        let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
        let place = Place { queue: Some(queue), teams: &teams };
        self.cluster.snapshot.policy.rules_at(task.kind.unwrap_or(self.options.kind), place)
    }

    fn longest_gentleness(&self) -> Micros {
        let mut seen = HashSet::new();
        let new = |task: &&Task| seen.insert((task.team, task.kind));
        let rules = self.workload.tasks.iter().filter(new).map(|task| self.rules(task));
        rules.map(|rules| rules.min_runtime_secs + rules.grace_secs).max().unwrap_or(0) * SECOND
    }

    fn next_moment(&self) -> Option<Micros> {
        let due = self.due.filter(|_| self.has_live_jobs());
        self.queue.next_at().into_iter().chain(due).chain(self.planned_for).min()
    }

    /// GPUs that become free change nothing when nobody waits, nothing is promised and nobody is leaving: the plan
    /// would be empty but for its loans. The judge wants to see it all the same.
    fn nobody_cares(&self) -> bool {
        let quiet = self.in_line == 0 && self.due.is_none() && self.planned_for.is_none();
        quiet && !self.options.check && self.is_plain && self.cluster.snapshot.nominations.is_empty()
    }

    /// Brings up to date who lends, without a plan.
    fn follow_loans(&mut self) {
        if self.lending.is_none() {
            self.lending = Some(Lending::new(&self.cluster.snapshot));
        }
        let Some(lending) = &self.lending else { return };
        let used = self.index.used_by();
        let loans = lending.loans(used);
        self.note_loans(&loans);
    }

    fn note_loans(&mut self, loans: &[Loan]) {
        if self.options.intervals {
            self.intervals.lend(loans, self.now);
        }
        self.record.now.iter_mut().for_each(|gauge| gauge.lent = 0);
        for loan in loans {
            if let Some(&lender) = loan.lender.and_then(|team| self.index.team_at.get(&team)) {
                self.record.now[lender].lent += loan.milli.0;
            }
        }
    }

    fn plan_soon(&mut self) {
        let every = self.options.plan_every.max(1);
        let at = (self.now + every - 1) / every * every;
        self.planned_for.get_or_insert(at);
    }

    fn is_due(&self) -> bool {
        self.planned_for.into_iter().chain(self.due).any(|at| at <= self.now)
    }

    fn has_live_jobs(&self) -> bool {
        !self.cluster.snapshot.jobs.is_empty()
    }

    fn advance(&mut self, at: Micros) {
        self.owed.pass(self.now, at);
        self.record.pass(at);
        self.now = at;
        self.cluster.advance_to(self.moment(at));
    }

    /// Everything of this moment.
    fn carry_out_events(&mut self) -> Change {
        let mut changed = Change::Nothing;
        while let Some(event) = self.queue.pop_at(self.now) {
            changed = changed.max(self.carry_out(event));
            self.arrived += usize::from(matches!(event, Event::Arrive { .. }));
        }
        changed
    }

    fn plan_once(&mut self) -> Result<(), SimError> {
        self.passes += 1;
        self.planned_for = None;
        let start = Instant::now();
        let plan = plan(&self.cluster.snapshot);
        self.planning += start.elapsed();
        if self.options.check {
            self.judge(check::violations(&self.cluster.snapshot, &plan));
        }
        self.cluster.apply(&plan)?;
        self.follow(&plan);
        if self.options.check {
            self.judge(check::state_violations(&self.cluster.snapshot));
        }
        self.due = plan.next_due.map(|due| self.micros(due));
        Ok(())
    }

    /// Notes what an applied plan means for clock and figures.
    fn follow(&mut self, plan: &Plan) {
        for start in &plan.starts {
            self.started(start);
        }
        for reclaim in &plan.reclaims {
            self.reclaims += u64::from(reclaim.evictor.is_some() && !reclaim.evictions.is_empty());
            for eviction in &reclaim.evictions {
                self.asked_to_leave(eviction);
            }
        }
        self.note_loans(&plan.loans);
        self.record.waiting_now.clear();
        self.barred.clear();
        for (job, explanation) in &plan.waiting {
            let Some(&task) = self.task_of.get(job) else { continue };
            let code = explanation.main.code;
            *self.record.waiting_now.entry(code).or_default() += self.workload.tasks[task].asks_milli();
            // Reasons before this one in the fixed order are not about space.
            if code < ReasonCode::NoQuota {
                self.barred.insert(task);
            }
        }
        self.measure();
    }

    fn judge(&mut self, found: Vec<check::Violation>) {
        self.violations += found.len() as u64;
        for violation in found {
            if self.violation_samples.len() < 10 {
                self.violation_samples.push(format!("at {} s: {violation}", self.now / SECOND));
            }
        }
    }

    pub(crate) fn moment(&self, at: Micros) -> DateTime<Utc> {
        self.origin + TimeDelta::microseconds(at)
    }

    pub(crate) fn micros(&self, at: DateTime<Utc>) -> Micros {
        (at - self.origin).num_microseconds().unwrap_or(Micros::MAX)
    }

    pub(crate) fn count_eviction(&mut self, team: usize, cause: Option<EvictionCause>) {
        let name = cause.map_or("node_lost", EvictionCause::as_str);
        *self.evictions.entry(name).or_default() += 1;
        *self.evictions_of_team[team].entry(name).or_default() += 1;
        self.record.evicted(1);
    }

    pub(crate) fn end(&mut self, id: JobId, end: End) {
        self.cluster.end(id, end);
    }

    fn finish(mut self) -> Outcome {
        self.intervals.close(self.now);
        Outcome {
            runs: self.lives.into_iter().map(|life| life.run).collect(),
            record: self.record,
            evictions: self.evictions,
            evictions_of_team: self.evictions_of_team,
            reclaims: self.reclaims,
            passes: self.passes,
            planning: self.planning,
            violations: self.violations,
            violation_samples: self.violation_samples,
            denied: self.owed.denied,
            longest_owed_wait: self.owed.longest,
            intervals: self.intervals,
        }
    }
}

impl Index {
    fn used_by(&self) -> impl Iterator<Item = (TeamId, PoolId, MilliGpu)> + '_ {
        let pools = self.pool_at.iter();
        pools.flat_map(|(&pool, &at)| {
            let teams = self.teams.iter().zip(&self.used);
            teams.map(move |(&team, used)| (team, pool, MilliGpu(used[at])))
        })
    }

    fn new(cluster: &Snapshot, workload: &Workload) -> Result<Self, SimError> {
        let teams: Vec<TeamId> = cluster.teams.iter().map(|team| team.id).collect();
        let team_at: HashMap<TeamId, usize> = teams.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let pool_at: HashMap<PoolId, usize> =
            cluster.pools.iter().enumerate().map(|(at, pool)| (pool.id, at)).collect();
        let mut guaranteed = vec![vec![0; pool_at.len()]; teams.len()];
        for quota in &cluster.quotas {
            if let (Some(&team), Some(&pool)) = (team_at.get(&quota.team), pool_at.get(&quota.pool)) {
                guaranteed[team][pool] = quota.guaranteed.0;
            }
        }
        let mut of_workload = Vec::new();
        let (mut queues, mut places) = (Vec::new(), Vec::new());
        for name in &workload.teams {
            let team = cluster.teams.iter().position(|team| team.slug == *name);
            let team = team.ok_or_else(|| SimError::UnknownTeam(name.clone()))?;
            let own: Vec<_> = cluster.queues.iter().filter(|queue| queue.team == teams[team]).collect();
            // The first queue that a file declares comes after the one that each team has, and takes its place.
            let queue = own.get(1).or(own.first()).ok_or_else(|| SimError::NoQueue(name.clone()))?;
            of_workload.push(team);
            queues.push(queue.id);
            places.push((queue.slug.clone(), chain(cluster, teams[team])));
        }
        let used = vec![vec![0; pool_at.len()]; teams.len()];
        Ok(Self { teams, of_workload, queues, places, team_at, pool_at, guaranteed, used })
    }
}

/// GPUs that work, in milli-GPU.
pub(crate) fn capacity_milli(cluster: &Snapshot) -> i64 {
    use reeve_core::node::NodeState;
    let working = cluster.nodes.iter().filter(|node| node.state == NodeState::Ready);
    working.flat_map(|node| &node.gpus).filter(|gpu| gpu.healthy).map(|_| 1_000).sum()
}

fn is_plain(cluster: &Snapshot) -> bool {
    let gpus = cluster.nodes.iter().map(|node| node.gpus.len()).sum::<usize>();
    i64::try_from(gpus).is_ok_and(|gpus| gpus * 1_000 == capacity_milli(cluster))
        && !cluster.quotas.iter().any(|quota| quota.drain)
}

/// Slugs of a team and of those above it.
fn chain(cluster: &Snapshot, team: TeamId) -> Vec<String> {
    let by_id = |id: TeamId| cluster.teams.iter().find(|team| team.id == id);
    let up = std::iter::successors(by_id(team), |team| team.parent.and_then(by_id));
    up.take(cluster.teams.len()).map(|team| team.slug.clone()).collect()
}
