//! Serves all lines in the order of service, again and again until nothing more changes, so that
//! planning again on the result finds nothing to do.
//!
//! This module decides no single job: that is [`super::serve`]'s.

use super::bounds::Bounds;
use super::line::Lines;
use super::nominate;
use super::order::Picker;
use super::serve::{Desk, Served};
use super::state::State;

/// More passes than any story needs; a plan that still changes goes on in the next cycle.
const MAX_PASSES: usize = 8;

/// Serves everybody; returns the lines as the last pass left them.
pub(super) fn serve_all(state: &mut State<'_, '_>, bounds: &mut Bounds, desk: &mut Desk) -> Lines {
    let mut lines = Lines::new(state, bounds);
    for _ in 0..MAX_PASSES {
        desk.forget_failures();
        lines.form(state);
        let served = serve_once(state, &mut lines, desk);
        if !served {
            break;
        }
        nominate::start_early(state, &desk.draft);
    }
    lines
}

/// One pass; whether anything changed.
fn serve_once(state: &mut State<'_, '_>, lines: &mut Lines, desk: &mut Desk) -> bool {
    let mut changed = false;
    let mut picker = Picker::new(state, lines);
    while let Some(at) = picker.next(state, lines) {
        let line = &mut lines[at];
        let Some(job) = line.head() else { break };
        let served =
            if state.jobs[job].nominated.is_some() { Served::Blocked } else { desk.serve(state, job) };
        changed |= served != Served::Blocked;
        // In a strict queue, a nominated job stays at the head; a new pass finds it there.
        if served == Served::Blocked || (line.strict && state.jobs[job].nominated.is_some()) {
            line.blocked = true;
        } else {
            line.next += 1;
        }
        picker.served(state, lines, at);
    }
    changed
}
