//! The judge: what is wrong with a state or a plan, by the product's rules alone.
//!
//! It shares no code with the planner, so that a mistake there is not made here too: it has its own
//! index, its own quota arithmetic and its own projection of a plan onto a state. It runs in debug
//! builds after every plan, at the end of tests over the database, and after replays.
//!
//! It is lenient where the rules leave a choice (rounding of scaled guarantees, the order in which a
//! plan's evictions are thought of), so that everything it reports is wrong. It refuses to repair, to
//! search for better plans, and to judge what the snapshot does not hold (budgets, approvals).

mod answers;
mod calendar;
mod evictions;
mod index;
mod moves;
mod needless;
mod order;
mod planned;
mod project;
mod quota;
mod records;
mod starts;
mod state;

use super::plan::Plan;
use super::snapshot::Snapshot;
use index::Index;
use serde::Serialize;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// A stable word for the rule, for example `gpu_double_booked`.
    pub rule: &'static str,
    /// What exactly, with ids and numbers.
    pub detail: String,
}

impl Violation {
    pub(super) fn new(rule: &'static str, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// What is wrong with a state, whatever led to it: double booking, torn gangs, intruded nominations.
///
/// Limits are not looked at: quotas are lowered and nodes are lost under running work. See
/// [`limits_exceeded`].
#[must_use]
pub fn state_violations(snapshot: &Snapshot) -> Vec<Violation> {
    state::violations(&Index::new(snapshot))
}

/// Teams above guaranteed + borrow limit, and pools in which more is lent than may be. No violations in
/// themselves (a quota may have been lowered); whoever knows that none was can assert that this is empty.
#[must_use]
pub fn limits_exceeded(snapshot: &Snapshot) -> Vec<Violation> {
    let index = Index::new(snapshot);
    quota::exceeded(&index, &quota::Use::held(&index))
}

/// What is wrong with a plan for this state.
#[must_use]
pub fn violations(snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
    let index = Index::new(snapshot);
    let mut found = Vec::new();
    if !project::names_exist(&index, plan, &mut found) {
        return found;
    }
    let after = project::after(snapshot, plan);
    let broken_before = state::violations(&index);
    let broken_after = state::violations(&Index::new(&after)).into_iter();
    found.extend(broken_after.filter(|violation| !broken_before.contains(violation)));
    starts::judge(&index, plan, &mut found);
    evictions::judge(&index, plan, &mut found);
    needless::judge(&index, plan, &mut found);
    quota::judge(&index, plan, &mut found);
    order::judge(&index, plan, &mut found);
    answers::judge(&index, plan, &mut found);
    planned::judge(&index, plan, &mut found);
    calendar::judge(&index, &after, plan, &mut found);
    found
}
