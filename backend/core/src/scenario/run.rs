//! Running a scenario: each step happens, the planner plans until nothing changes, the judge looks at
//! every plan and every state, and then the step's expectations are held against what is.
//!
//! This module refuses to know how a plan is made: the planner is an argument.

use super::cluster::{Cluster, End};
use super::explain;
use super::format::{Action, InitialState, NodeCommand, Pick, Scenario, SetSpec, Step};
use super::refusal::Refusal;
use super::verdict::{self, StepFacts};
use super::world::World;
use super::yaml::{FormatError, Pos};
use crate::id::JobId;
use crate::node::NodeState;
use crate::schedule::check;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{Job, Snapshot};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use std::collections::BTreeMap;

/// Plans in a row without the clock moving, after which a planner is said not to settle.
const MAX_PLANS: u32 = 2_000;

/// Anything that plans.
pub type Planner = fn(&Snapshot) -> Plan;

/// How one scenario went.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    pub name: String,
    pub at: Pos,
    pub passed: bool,
    /// Empty when it passed.
    pub failures: Vec<Failure>,
    pub steps: Vec<StepReport>,
    pub notes: Vec<String>,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub at: Pos,
    /// Counts from 1; 0 = before the first step.
    pub step: usize,
    pub what: String,
    pub expected: String,
    pub got: String,
}

/// What one step led to, for `--explain`.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    pub step: usize,
    pub at: Pos,
    pub title: String,
    pub lines: Vec<String>,
}

/// Runs one scenario with the given planner.
#[must_use]
pub fn run(scenario: &Scenario, planner: Planner) -> Outcome {
    let mut outcome = Outcome {
        name: scenario.name.clone(),
        at: scenario.at,
        passed: false,
        failures: Vec::new(),
        steps: Vec::new(),
        notes: scenario.notes.clone(),
    };
    match World::build(scenario) {
        Ok(world) => Runner::new(world, planner).all(scenario, &mut outcome),
        Err(error) => outcome.failures.push(malformed(0, &error)),
    }
    outcome.passed = outcome.failures.is_empty();
    outcome
}

/// The state in which a scenario begins.
///
/// # Errors
/// A name that does not exist, jobs that do not fit: with its place in the file.
pub fn beginning(scenario: &Scenario) -> Result<Snapshot, FormatError> {
    World::build(scenario).map(|world| world.cluster.snapshot)
}

fn malformed(step: usize, error: &FormatError) -> Failure {
    Failure {
        at: error.at,
        step,
        what: "the file".into(),
        expected: "a story that can be told".into(),
        got: error.message.clone(),
    }
}

struct Runner {
    world: World,
    planner: Planner,
    refused: BTreeMap<String, Refusal>,
    last_plan: Plan,
    lines: Vec<String>,
}

impl Runner {
    fn new(world: World, planner: Planner) -> Self {
        Self { world, planner, refused: BTreeMap::new(), last_plan: Plan::default(), lines: Vec::new() }
    }

    fn all(mut self, scenario: &Scenario, outcome: &mut Outcome) {
        let found = check::state_violations(&self.world.cluster.snapshot);
        for violation in found {
            outcome.failures.push(judged(0, scenario.at, &violation, &self.world.cluster));
        }
        for (index, step) in scenario.steps.iter().enumerate() {
            if !outcome.failures.is_empty() {
                break;
            }
            let number = index + 1;
            if let Err(failures) = self.step(number, step) {
                outcome.failures.extend(failures);
            }
            let title = explain::title(step);
            let lines = std::mem::take(&mut self.lines);
            outcome.steps.push(StepReport { step: number, at: step.at, title, lines });
        }
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<(), Vec<Failure>> {
        self.refused.clear();
        let before = self.world.cluster.evictions.len();
        let mut facts = Progress::default();
        let place = Place { number, at: step.at };
        for (at, action) in &step.actions {
            self.act(action, *at, place, &mut facts)?;
        }
        self.settle(place, &mut facts)?;
        self.lines.extend(explain::waiting(&self.last_plan, &self.world.cluster));
        let Some(expect) = &step.expect else { return Ok(()) };
        let facts = StepFacts {
            world: &self.world,
            started: &facts.started,
            evictions_before: before,
            refused: &self.refused,
            plan: &self.last_plan,
            settled_at_once: facts.most_plans <= 1,
        };
        let failures: Vec<Failure> = expect
            .all
            .iter()
            .filter_map(|(at, expectation)| {
                verdict::judge(expectation, &facts, *at).err().map(|miss| (*at, miss))
            })
            .map(|(at, miss)| Failure {
                at,
                step: number,
                what: miss.what,
                expected: miss.expected,
                got: miss.got,
            })
            .collect();
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }

    fn act(
        &mut self,
        action: &Action,
        at: Pos,
        place: Place,
        facts: &mut Progress,
    ) -> Result<(), Vec<Failure>> {
        let done = match action {
            Action::Wait(secs) => return self.wait(*secs, place, facts),
            Action::Cycles(count) => return self.cycles(*count, place, facts),
            Action::Submit(specs) => self.submit(specs),
            Action::Set(set) => self.set(set, at),
            Action::Node(commands) => self.command_nodes(commands, at),
            Action::Vacate(pick) => self.vacate(pick, at),
            Action::Finish(pick) => self.end(pick, End::Succeeded, at),
            Action::Fail(pick) => self.end(pick, End::Failed, at),
            Action::Cancel(pick) => self.end(pick, End::Cancelled, at),
            Action::Checkpoint(pick) => self
                .picked(pick, at, |job| !job.is_pending())
                .map(|jobs| jobs.into_iter().for_each(|job| self.world.cluster.save_checkpoint(job))),
        };
        done.map_err(|error| vec![malformed(place.number, &error)])?;
        self.judge_state(place)
    }

    fn submit(&mut self, specs: &[super::format::JobSpec]) -> Result<(), FormatError> {
        for spec in specs {
            if spec.state != InitialState::Pending {
                return Err(FormatError::new(spec.at, "a submitted job starts as pending"));
            }
            self.world.team(&spec.team, spec.at)?;
            if let Some(refusal) = self.world.refusal(spec) {
                self.lines.push(format!("refused {}: {} ({})", spec.name, refusal.code, refusal.text));
                self.refused.insert(spec.name.clone(), refusal);
            } else {
                self.world.add_job(spec, TimeDelta::zero())?;
            }
        }
        Ok(())
    }

    fn set(&mut self, set: &SetSpec, at: Pos) -> Result<(), FormatError> {
        set.policy.apply(&mut self.world.cluster.snapshot.policy);
        self.world.set_kind_ceilings(set.policy.ceilings());
        self.world.set_teams(&set.teams)?;
        self.world.set_queues(&set.queues)?;
        for (name, priority) in &set.priorities {
            let id = self.world.job_id(name, at)?;
            if let Some(job) = self.world.cluster.job_mut(id) {
                job.priority = *priority;
            }
        }
        Ok(())
    }

    fn command_nodes(&mut self, commands: &[(String, NodeCommand)], at: Pos) -> Result<(), FormatError> {
        for (name, command) in commands {
            let node = self.world.node(name, at)?;
            let state = match command {
                NodeCommand::Lost => NodeState::Lost,
                NodeCommand::Ready => NodeState::Ready,
                NodeCommand::Cordoned => NodeState::Cordoned,
                NodeCommand::Drain => NodeState::Draining,
            };
            self.world.cluster.set_node(node, state);
        }
        Ok(())
    }

    fn vacate(&mut self, pick: &Pick, at: Pos) -> Result<(), FormatError> {
        let leaving = |job: &Job| job.members.iter().any(|member| member.leaving.is_some());
        for job in self.picked(pick, at, leaving)? {
            self.world.cluster.vacate(job);
        }
        Ok(())
    }

    /// `finish` and `fail` end what runs; `cancel` also what waits.
    fn end(&mut self, pick: &Pick, end: End, at: Pos) -> Result<(), FormatError> {
        let may_end = |job: &Job| end == End::Cancelled || !job.is_pending();
        for job in self.picked(pick, at, may_end)? {
            self.world.cluster.end(job, end);
        }
        Ok(())
    }

    fn picked(&self, pick: &Pick, at: Pos, suits: impl Fn(&Job) -> bool) -> Result<Vec<JobId>, FormatError> {
        let cluster = &self.world.cluster;
        match pick {
            Pick::All => {
                Ok(cluster.snapshot.jobs.iter().filter(|job| suits(job)).map(|job| job.id).collect())
            }
            Pick::Names(names) => names
                .iter()
                .map(|name| {
                    let id = self.world.job_id(name, at)?;
                    let suits = cluster.job(id).is_some_and(&suits);
                    suits.then_some(id).ok_or_else(|| {
                        let state = verdict::state_of(&self.world, id);
                        FormatError::new(
                            at,
                            format!("this step does not suit job `{name}`, which is {state}"),
                        )
                    })
                })
                .collect(),
        }
    }

    fn cycles(&mut self, count: u32, place: Place, facts: &mut Progress) -> Result<(), Vec<Failure>> {
        for _ in 0..count {
            self.plan_once(place, facts)?;
        }
        Ok(())
    }

    /// Moves the clock from one due moment to the next, planning at each.
    fn wait(&mut self, secs: i64, place: Place, facts: &mut Progress) -> Result<(), Vec<Failure>> {
        let end = self.world.cluster.snapshot.now + TimeDelta::seconds(secs);
        self.settle(place, facts)?;
        loop {
            let next = next_due(&self.world.cluster.snapshot, &self.last_plan).filter(|&due| due < end);
            self.world.cluster.advance_to(next.unwrap_or(end));
            self.lines.push(format!("clock: {}", explain::clock(self.world.cluster.snapshot.now)));
            self.settle(place, facts)?;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    fn settle(&mut self, place: Place, facts: &mut Progress) -> Result<(), Vec<Failure>> {
        for plans in 0..MAX_PLANS {
            if !self.plan_once(place, facts)? {
                facts.most_plans = facts.most_plans.max(plans);
                return Ok(());
            }
        }
        let got = format!("still deciding after {MAX_PLANS} plans at one moment");
        Err(vec![Failure {
            at: place.at,
            step: place.number,
            what: "the planner settles".into(),
            expected: "a plan that changes nothing".into(),
            got,
        }])
    }

    /// One cycle: plan, judge, apply, judge. True if something changed.
    fn plan_once(&mut self, place: Place, facts: &mut Progress) -> Result<bool, Vec<Failure>> {
        let plan = (self.planner)(&self.world.cluster.snapshot);
        let changes = !(plan.starts.is_empty() && plan.reclaims.is_empty() && plan.dropped.is_empty());
        let violations = check::violations(&self.world.cluster.snapshot, &plan);
        self.lines.extend(explain::decisions(&plan, &self.world.cluster));
        if !violations.is_empty() {
            let judged =
                violations.iter().map(|found| judged(place.number, place.at, found, &self.world.cluster));
            return Err(judged.collect());
        }
        facts.started.extend(plan.starts.iter().filter(|start| !start.grow).map(|start| start.job));
        if let Err(error) = self.world.cluster.apply(&plan) {
            return Err(vec![malformed(place.number, &FormatError::new(place.at, error.to_string()))]);
        }
        self.last_plan = plan;
        self.judge_state(place)?;
        Ok(changes)
    }

    fn judge_state(&self, place: Place) -> Result<(), Vec<Failure>> {
        let found = check::state_violations(&self.world.cluster.snapshot);
        let judged: Vec<Failure> =
            found.iter().map(|found| judged(place.number, place.at, found, &self.world.cluster)).collect();
        if judged.is_empty() { Ok(()) } else { Err(judged) }
    }
}

#[derive(Debug, Clone, Copy)]
struct Place {
    number: usize,
    at: Pos,
}

#[derive(Debug, Default)]
struct Progress {
    started: Vec<JobId>,
    /// The most plans with a decision that it took, at one moment, until one changed nothing.
    most_plans: u32,
}

fn judged(step: usize, at: Pos, violation: &check::Violation, cluster: &Cluster) -> Failure {
    Failure {
        at,
        step,
        what: format!("the judge: {}", violation.rule),
        expected: "no violation".into(),
        got: explain::with_names(&violation.detail, &cluster.snapshot),
    }
}

/// The next moment at which time alone may change something: the planner's own word for it, and every
/// grace, protection and nomination that ends.
fn next_due(snapshot: &Snapshot, plan: &Plan) -> Option<DateTime<Utc>> {
    let mut due: Vec<DateTime<Utc>> = plan.next_due.into_iter().collect();
    due.extend(snapshot.nominations.iter().map(|nomination| nomination.expires_at));
    for job in &snapshot.jobs {
        let min_runtime = TimeDelta::seconds(snapshot.policy.rules(job.kind).min_runtime_secs);
        for member in &job.members {
            due.extend(member.leaving.as_ref().map(|leaving| leaving.leave_by));
            due.push(member.started_at + min_runtime);
            due.push(member.started_at + min_runtime * 2);
        }
    }
    due.into_iter().filter(|&due| due > snapshot.now).min()
}
