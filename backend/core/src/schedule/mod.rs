//! The planner: snapshot in, plan out. Pure: the same input gives the same output.
//!
//! A plan is a proposal. Nothing here does I/O, reads a clock, draws a random number, or trusts that a
//! plan will be applied.

mod backfill;
mod bounds;
mod bracket;
mod calendar;
mod cards;
pub mod check;
mod consolidate;
mod cover;
mod draft;
mod drain;
mod explain;
mod fit;
mod front;
mod grow;
mod held;
mod herd;
mod hourly;
mod job_rules;
mod ledger;
pub mod lending;
mod line;
mod loans;
mod muster;
mod nominate;
mod order;
mod outlook;
pub mod packing;
mod pass;
pub mod plan;
mod problem;
mod queue_use;
mod reserve;
mod rights;
mod room;
mod score;
mod serve;
pub(crate) mod share_out;
mod sides;
pub mod snapshot;
mod space;
mod spare;
mod state;
mod stow;
mod summary;
mod timeline;
mod unit;
mod victims;

use bounds::Bounds;
use plan::Plan;
use problem::Problem;
use serve::Desk;
use snapshot::Snapshot;
use state::State;

/// A part of making a plan, for whoever measures how long each takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Reduce,
    Promises,
    Drains,
    Serve,
    Grow,
    Explain,
    Account,
}

/// What should happen now, and why everybody else waits.
#[must_use]
pub fn plan(snapshot: &Snapshot) -> Plan {
    plan_watched(snapshot, |_| {})
}

/// As [`plan`]; says of each phase when it is over.
#[must_use]
pub fn plan_watched(snapshot: &Snapshot, mut over: impl FnMut(Phase)) -> Plan {
    // 1. Reduce to small integers; note who holds and who leaves.
    let problem = Problem::new(snapshot);
    let mut state = State::new(&problem);
    let mut bounds = Bounds::new(&problem);
    let mut desk = Desk::new(&problem);
    over(Phase::Reduce);

    // 2. Keep promises: nominated jobs hold their space, and start once it is free.
    nominate::keep_promises(&mut state, &mut desk.draft);
    over(Phase::Promises);

    // 3. Drain nodes and lowered quotas, gradually.
    drain::drain_nodes(&mut state, &mut desk.draft);
    drain::drain_quotas(&mut state, &mut desk.draft);
    over(Phase::Drains);

    // 4. Serve pending jobs in order: on idle GPUs, else by evictions with a nomination.
    let lines = pass::serve_all(&mut state, &mut bounds, &mut desk);
    over(Phase::Serve);

    // 5. Let elastic jobs grow where nothing pending needs the space.
    let contended = summary::contended(&state, &lines);
    let waiting: Vec<usize> = lines.iter().filter_map(line::Line::head).collect();
    grow::grow(&mut state, &contended, &waiting, &desk.backlog);
    over(Phase::Grow);

    // 6. Explain each wait.
    state.space.settle(&problem);
    debug_assert!(state.space.is_true(&problem), "views and their indexes equal a recount");
    let waiting = explain::explain_all(&state, &mut bounds, &lines, &desk);
    over(Phase::Explain);

    // 7. Attribute loans to lenders, and say when to look again.
    if let Some(at) = desk.backlog.starves_at {
        state.look_again(at);
    }
    let plan = Plan {
        starts: draft::starts(&state),
        reclaims: desk.draft.reclaims,
        dropped: desk.draft.dropped,
        planned: desk.backlog.planned(&state),
        waiting,
        loans: summary::loans(&state),
        pool_modes: summary::pool_modes(&state),
        next_due: summary::next_due(&mut state),
    };
    over(Phase::Account);
    plan
}

#[cfg(test)]
mod tests;
