//! Expectations held against the state after a step.
//!
//! What this version cannot evaluate is a miss that says so; nothing passes in silence.

mod amounts;
mod jobs;
mod places;

use super::format::{Bound, Expectation as E};
use super::refusal::Refusal;
use super::world::World;
use super::yaml::Pos;
use crate::id::JobId;
use crate::schedule::plan::Plan;
use std::collections::BTreeMap;

pub(super) use jobs::state_of;

/// What a step led to.
pub(super) struct StepFacts<'a> {
    pub(super) world: &'a World,
    pub(super) started: &'a [JobId],
    /// Eviction decisions made before the step.
    pub(super) evictions_before: usize,
    pub(super) refused: &'a BTreeMap<String, Refusal>,
    /// The last plan, which changed nothing.
    pub(super) plan: &'a Plan,
    /// At every moment of the step, the second plan changed nothing.
    pub(super) settled_at_once: bool,
}

/// An expectation that is not met.
#[derive(Debug, Clone)]
pub(super) struct Miss {
    pub(super) what: String,
    pub(super) expected: String,
    pub(super) got: String,
}

pub(super) type Met = Result<(), Miss>;

/// Whether the expectation at `at` is met.
pub(super) fn judge(expectation: &E, facts: &StepFacts<'_>, at: Pos) -> Met {
    match expectation {
        E::Started(wanted) => jobs::started(wanted, facts),
        E::Evicting(wanted) => jobs::evicting(wanted, facts),
        E::NotEvicting(names) => jobs::not_evicting(names, facts, at),
        E::Evicted(wanted) => jobs::evicted(wanted, facts),
        E::PendingReasons(wanted) => jobs::pending_reasons(wanted, facts, at),
        E::Pending(wanted) => jobs::pending(wanted, facts),
        E::RefusedReasons(wanted) => jobs::refused_reasons(wanted, facts, at),
        E::Refused(wanted) => jobs::refused(wanted, facts),
        E::Causes(wanted) => jobs::causes(wanted, facts, at),
        E::State(wanted) => jobs::states(wanted, facts, at),
        E::Placed(wanted) => places::placed(wanted, facts, at),
        E::Replicas(wanted) => places::replicas(wanted, facts, at),
        E::Usage(wanted) => amounts::usage(wanted, facts, at),
        E::Loans(wanted) => amounts::loans(wanted, facts, at),
        E::Lent(wanted) => amounts::lent(wanted, facts, at),
        E::Numbers(wanted) => amounts::numbers(wanted, facts, at),
        E::PoolMode(wanted) => amounts::pool_mode(wanted, facts, at),
        E::EvictionsTotal(bound) => {
            number("evictions_total", *bound, count(facts.world.cluster.evictions.len()), &plain)
        }
        E::Eta(wanted) => amounts::eta(wanted, facts, at),
        E::PlanAgainIsEmpty if facts.settled_at_once => Ok(()),
        E::PlanAgainIsEmpty => {
            miss("plan_again_is_empty", "a second plan that changes nothing", "it changed things")
        }
    }
}

fn miss<T>(what: impl Into<String>, expected: impl Into<String>, got: impl Into<String>) -> Result<T, Miss> {
    Err(Miss { what: what.into(), expected: expected.into(), got: got.into() })
}

fn equal(what: impl Into<String>, expected: &str, got: &str) -> Met {
    if expected == got { Ok(()) } else { miss(what, expected, got) }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn plain(number: i64) -> String {
    number.to_string()
}

/// Thousandths as GPUs.
fn gpus(milli: i64) -> String {
    crate::units::MilliGpu(milli).as_gpus().to_string()
}

fn number(what: impl Into<String>, bound: Bound, got: i64, show: &dyn Fn(i64) -> String) -> Met {
    let within = bound.min.is_none_or(|min| got >= min) && bound.max.is_none_or(|max| got <= max);
    if within {
        return Ok(());
    }
    let expected = match (bound.min, bound.max) {
        (Some(min), Some(max)) if min == max => show(min),
        (Some(min), Some(max)) => format!("{} … {}", show(min), show(max)),
        (Some(min), None) => format!("at least {}", show(min)),
        (None, Some(max)) => format!("at most {}", show(max)),
        (None, None) => "a number".into(),
    };
    miss(what, expected, show(got))
}

/// An unknown name is the file's mistake, and is reported as that.
fn known<T>(found: Result<T, super::yaml::FormatError>) -> Result<T, Miss> {
    found.or_else(|error| miss("the file", "names that exist", error.message))
}
