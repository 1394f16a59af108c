//! Serves all lines in the order of service, again and again until nothing more changes, so that
//! planning again on the result finds nothing to do.
//!
//! This module decides no single job: that is [`super::serve`]'s.

use super::bounds::Bounds;
use super::line::Lines;
use super::nominate;
use super::order::Picker;
use super::serve::{Desk, Served};
use super::spare;
use super::state::State;

/// More passes than any story needs; a plan that still changes goes on in the next cycle.
const MAX_PASSES: usize = 8;

/// Serves everybody; returns the lines as the last pass left them.
pub(super) fn serve_all(state: &mut State<'_, '_>, bounds: &mut Bounds, desk: &mut Desk) -> Lines {
    let mut lines = Lines::new(state, bounds);
    for _ in 0..MAX_PASSES {
        desk.forget_failures();
        desk.release_held(state);
        desk.backlog.begin(state);
        lines.form(state);
        let served = serve_once(state, &mut lines, desk);
        let changed_places = desk.took_back && keep_in_line(state, &lines);
        let spared = spare::spare_needless(state, &mut desk.draft);
        let started = nominate::start_early(state, &mut desk.draft);
        if !served && !changed_places && !spared && !started {
            break;
        }
    }
    lines
}

/// One pass; whether anything changed.
fn serve_once(state: &mut State<'_, '_>, lines: &mut Lines, desk: &mut Desk) -> bool {
    let mut changed = false;
    let mut picker = Picker::new(state, lines);
    // Who was taken back stands in no line of this pass: its queue waits for the next one, or others of the
    // queue would overtake it.
    let mut waits: Vec<bool> = vec![false; state.problem.queues.len()];
    while let Some(at) = picker.next(state, lines) {
        let line = &mut lines[at];
        let Some(job) = line.head() else { break };
        let queue_waits = state.problem.jobs[job].queue.is_some_and(|queue| waits[queue]);
        let served = if queue_waits || state.jobs[job].nominated.is_some() {
            Served::Blocked
        } else {
            desk.serve(state, job)
        };
        for taken_back in desk.withdrawn.drain(..) {
            desk.took_back = true;
            state.problem.jobs[taken_back].queue.into_iter().for_each(|queue| waits[queue] = true);
        }
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

/// A start that was taken back may have left younger ones of its line in place: a twin changes places with
/// it, and in a strict queue all that started behind it are taken back. Whether any did.
fn keep_in_line(state: &mut State<'_, '_>, lines: &Lines) -> bool {
    let mut changed = false;
    for (strict, jobs) in lines.with_started(state) {
        let waits = |state: &State<'_, '_>, job: usize| state.jobs[job].members.is_empty();
        if strict {
            let behind = jobs.iter().copied().skip_while(|&job| !waits(state, job));
            let started: Vec<usize> = behind.filter(|&job| !waits(state, job)).collect();
            changed |= !started.is_empty();
            started.into_iter().for_each(|job| state.withdraw(job));
        } else {
            changed |= change_places(state, &jobs);
        }
    }
    changed
}

/// The first of a line that wait get the places of the last that start.
fn change_places(state: &mut State<'_, '_>, jobs: &[usize]) -> bool {
    let (mut front, mut back) = (0, jobs.len());
    loop {
        let waits = |at: &usize| state.jobs[jobs[*at]].members.is_empty();
        let first = (front..jobs.len()).find(waits);
        let last = (0..back).rev().find(|at| !waits(at));
        let (Some(first), Some(last)) = (first, last) else { return front > 0 };
        let (older, younger) = (jobs[first], jobs[last]);
        let Some(pool) = state.jobs[younger].pool.filter(|_| last > first) else { return front > 0 };
        let holds = state.jobs[younger].members.iter().map(|member| member.hold.clone()).collect();
        state.withdraw(younger);
        state.start(older, pool, holds);
        (front, back) = (first + 1, last);
    }
}
