//! What must hold of every plan beside what the judge says: that planning again finds nothing, that names
//! decide nothing, that promises are kept, that reasons are true, that it all comes to an end.
//!
//! The dear ones are asked of some states only, chosen by step, so that a walk repeats exactly. Where a
//! property counts instead of searching, it is asked of plain walks only. Nothing here repairs a plan.

mod counting;
mod names;
mod owners;
mod reasons;

use super::{Profile, Walk};
use crate::id::JobId;
use crate::schedule::check::Violation;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::Snapshot;
use chrono::TimeDelta;
use std::collections::BTreeSet;

/// A dear property is asked of each so-manieth state.
const EVERY: u32 = 4;
/// An owner's wait is told to its end for each so-manieth state.
const EVERY_WAIT: u32 = 16;
/// Of so many walks, a mixed and a plain one are frozen at their end.
const EVERY_WALK: u64 = 16;
/// Cycles of a frozen walk.
const FROZEN_CYCLES: u32 = 200;

fn violation(rule: &'static str, detail: impl Into<String>) -> Violation {
    Violation { rule, detail: detail.into() }
}

/// What is broken, and where: a state of the walk, or of what might come after it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) violations: Vec<Violation>,
    /// The story of what might come after, if that is where it broke.
    pub(super) story: Option<Vec<String>>,
    pub(super) state: Snapshot,
}

impl Finding {
    fn here(state: &Snapshot, violations: Vec<Violation>) -> Self {
        Self { violations, story: None, state: state.clone() }
    }

    fn later(walk: &Walk, state: Snapshot, violations: Vec<Violation>) -> Box<Self> {
        Box::new(Self { violations, story: Some(walk.story.clone()), state })
    }
}

/// Whether the plan that was made for `state`, and then carried out, keeps everything.
pub(super) fn keep(
    walk: &Walk,
    state: &Snapshot,
    plan: &Plan,
    planner: &impl Fn(&Snapshot) -> Plan,
) -> Result<(), Box<Finding>> {
    let again = planner(walk.snapshot());
    if !is_empty(&again) {
        let found = violation("planned_again", summary(walk, &again));
        return Err(Box::new(Finding::here(state, vec![found])));
    }
    match walk.step % EVERY {
        1 => unkept_promise(walk, planner)?,
        2 => reasons::change(walk, planner)?,
        _ => {}
    }
    let mut found = Vec::new();
    if walk.step.is_multiple_of(EVERY) {
        found.extend(names::decide(state, plan, planner, u64::from(walk.step)));
    }
    if walk.profile == Profile::Plain {
        found.extend(counting::owner_waits(state, plan));
        found.extend(counting::larger_set_than_needed(state, plan));
        found.extend(counting::gpu_idles(state, plan));
        if walk.step.is_multiple_of(EVERY_WAIT) {
            owners::wait_no_longer_than_they_must(walk, planner)?;
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Box::new(Finding::here(state, found))) }
}

/// One more cycle of what might come after.
fn cycle(walk: &mut Walk, planner: &impl Fn(&Snapshot) -> Plan) -> Result<Plan, Box<Finding>> {
    let state = walk.snapshot().clone();
    walk.plan(planner).map_err(|violations| Finding::later(walk, state, violations))
}

/// P11's measure: nothing is decided.
pub(super) fn is_empty(plan: &Plan) -> bool {
    plan.starts.is_empty() && plan.reclaims.is_empty() && plan.dropped.is_empty()
}

fn summary(walk: &Walk, plan: &Plan) -> String {
    let starts = plan.starts.iter().map(|start| format!("start {}", walk.name(start.job)));
    let reclaims = plan.reclaims.iter().map(|reclaim| {
        let victims: Vec<String> = reclaim.evictions.iter().map(|eviction| walk.name(eviction.job)).collect();
        let evictor = reclaim.evictor.map_or_else(|| "nobody".into(), |job| walk.name(job));
        format!("evict {victims:?} for {evictor}")
    });
    let dropped = plan.dropped.iter().map(|dropped| format!("drop {}", walk.name(dropped.job)));
    starts.chain(reclaims).chain(dropped).collect::<Vec<_>>().join(", ")
}

/// P4, second half: once its victims have left, a nominated job starts in the very next cycle, or its
/// nomination ends visibly.
fn unkept_promise(walk: &Walk, planner: &impl Fn(&Snapshot) -> Plan) -> Result<(), Box<Finding>> {
    let waiting: Vec<JobId> = walk.snapshot().nominations.iter().map(|found| found.job).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let mut walk = walk.clone();
    walk.vacate_all();
    walk.story.push("-- all who leave are gone".into());
    let state = walk.snapshot().clone();
    let next = cycle(&mut walk, planner)?;
    let mut served: BTreeSet<JobId> = next.starts.iter().map(|start| start.job).collect();
    served.extend(next.dropped.iter().map(|dropped| dropped.job));
    let Some(job) = waiting.into_iter().find(|job| !served.contains(job)) else { return Ok(()) };
    let detail = format!("{} neither starts nor is dropped", walk.name(job));
    Err(Finding::later(&walk, state, vec![violation("nomination_idles", detail)]))
}

/// Whether a walk's end is looked at by [`end`].
pub(super) const fn is_frozen_at_the_end(seed: u64) -> bool {
    seed % EVERY_WALK < 2
}

/// P5: with arrivals frozen, evictions reach zero. Victims leave at once, time passes.
pub(super) fn end(walk: &Walk, planner: &impl Fn(&Snapshot) -> Plan) -> Result<(), Box<Finding>> {
    let mut walk = walk.clone();
    walk.story.push("-- nothing arrives any more".into());
    let mut last_eviction = 0;
    let mut state = walk.snapshot().clone();
    for number in 1..=FROZEN_CYCLES {
        let before = walk.snapshot().clone();
        let plan = cycle(&mut walk, planner)?;
        if plan.reclaims.iter().any(|reclaim| !reclaim.evictions.is_empty()) {
            last_eviction = number;
            state = before;
        }
        walk.vacate_all();
        let now = walk.snapshot().now + TimeDelta::minutes(10);
        walk.cluster.advance_to(now);
    }
    if last_eviction <= FROZEN_CYCLES / 2 {
        return Ok(());
    }
    walk.story.truncate(60);
    let detail = format!("one in cycle {last_eviction} after the last arrival");
    Err(Finding::later(&walk, state, vec![violation("evictions_never_end", detail)]))
}
