//! The planner: snapshot in, plan out. Pure: the same input gives the same output.
//!
//! A plan is a proposal. Nothing here does I/O, reads a clock, draws a random number, or trusts that a
//! plan will be applied.

mod bounds;
pub mod check;
mod draft;
mod drain;
mod explain;
mod fit;
mod grow;
mod job_rules;
mod ledger;
mod loans;
mod nominate;
mod order;
mod pass;
pub mod plan;
mod problem;
mod rights;
mod score;
mod serve;
mod share_out;
pub mod snapshot;
mod space;
mod state;
mod summary;
mod victims;

use bounds::Bounds;
use plan::Plan;
use problem::Problem;
use serve::Desk;
use snapshot::Snapshot;
use state::State;

/// What should happen now, and why everybody else waits.
#[must_use]
pub fn plan(snapshot: &Snapshot) -> Plan {
    // 1. Reduce to small integers; note who holds and who leaves.
    let problem = Problem::new(snapshot);
    let mut state = State::new(&problem);
    let mut bounds = Bounds::new(&problem);
    let mut desk = Desk::new(&problem);

    // 2. Keep promises: nominated jobs hold their space, and start once it is free.
    nominate::keep_promises(&mut state, &mut desk.draft);

    // 3. Drain nodes and lowered quotas, gradually.
    drain::drain_nodes(&mut state, &mut desk.draft);
    drain::drain_quotas(&mut state, &mut desk.draft);

    // 4. Serve pending jobs in order: on idle GPUs, else by evictions with a nomination.
    let lines = pass::serve_all(&mut state, &mut bounds, &mut desk);

    // 5. Let elastic jobs grow where nothing pending needs the space.
    let contended = summary::contended(&state, &lines);
    grow::grow(&mut state, &contended);

    // 6. Attribute loans to lenders, explain each wait, and say when to look again.
    Plan {
        starts: draft::starts(&state),
        reclaims: desk.draft.reclaims,
        dropped: desk.draft.dropped,
        waiting: explain::explain_all(&state, &mut bounds, &lines, &desk.notes),
        loans: summary::loans(&state),
        pool_modes: summary::pool_modes(&state),
        next_due: summary::next_due(&mut state),
    }
}

#[cfg(test)]
mod tests;
