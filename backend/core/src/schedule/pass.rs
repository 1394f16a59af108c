//! Serves all lines in the order of service, again and again until nothing more changes, so that
//! planning again on the result finds nothing to do.
//!
//! This module decides no single job: that is [`super::serve`]'s.

use super::bounds::Bounds;
use super::nominate;
use super::order::{Line, Picker, lines};
use super::serve::{Desk, Served};
use super::state::State;

/// More passes than any story needs; a plan that still changes goes on in the next cycle.
const MAX_PASSES: usize = 8;

/// Serves everybody; returns the lines as the last pass left them.
pub(super) fn serve_all(state: &mut State<'_, '_>, bounds: &mut Bounds, desk: &mut Desk) -> Vec<Line> {
    let can_ever: Vec<bool> = (0..state.jobs.len())
        .map(|job| state.problem.jobs[job].job.is_pending() && bounds.can_ever(state, job))
        .collect();
    let mut last = Vec::new();
    for _ in 0..MAX_PASSES {
        desk.forget_failures();
        last = lines(state, |job| can_ever[job]);
        let served = serve_once(state, &mut last, desk);
        if !served {
            break;
        }
        nominate::start_early(state, &desk.draft);
    }
    last
}

/// One pass; whether anything changed.
fn serve_once(state: &mut State<'_, '_>, lines: &mut [Line], desk: &mut Desk) -> bool {
    let mut changed = false;
    let mut picker = Picker::new(state, lines);
    while let Some(at) = picker.next(state, lines) {
        let line = &mut lines[at];
        let Some(job) = line.head() else { continue };
        if state.jobs[job].nominated.is_some() {
            line.blocked = true;
            picker.line_moved(line.team);
            continue;
        }
        match desk.serve(state, job) {
            Served::Blocked => {
                line.blocked = true;
                picker.line_moved(line.team);
            }
            Served::Started | Served::Nominated => {
                changed = true;
                // In a strict queue, a nominated job stays at the head; a new pass finds it there.
                if line.strict && state.jobs[job].nominated.is_some() {
                    line.blocked = true;
                } else {
                    line.next += 1;
                }
                picker.touch(state, line.team);
            }
        }
    }
    changed
}
