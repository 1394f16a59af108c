//! Why a job waits: exactly one main reason, the first of the fixed order that applies, with numbers,
//! the other obstacles, and the smallest change that would help.
//!
//! Reasons are read off the state after the last decision, so that the same state always gives the same
//! reason. Nothing is decided here.

use super::backfill::Backlog;
use super::bounds::{Bounds, ceil_gpus, fewer, gpu_numbers, obstacle, over_cap};

use super::calendar;
use super::fit::{self, Among};
use super::ledger::Short;
use super::line::Lines;
use super::outlook::{Outlooks, Search, leaving_secs};
use super::problem::Problem;
use super::queue_use::QueueLimit;
use super::serve::{Desk as Served, Notes, pools_in_order};
use super::space::Count;
use super::state::State;
use super::timeline::last_to_leave;
use crate::id::JobId;
use crate::job::GpuAsk;
use crate::queue::QueueState;
use crate::reason::{ExpectedStart, Explanation, Help, Obstacle, ReasonCode, Why};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;

type Found = (Obstacle, Help);

/// What explanations are read off: everything is decided.
struct Desk<'s, 'p, 'a> {
    state: &'s State<'p, 'a>,
    bounds: &'s mut Bounds,
    outlooks: Outlooks,
    /// By how long they wait for who leaves.
    promised: BTreeMap<i64, Arc<Why>>,
}

/// One explanation for each pending job that did not start, by job id.
pub(super) fn explain_all(
    state: &State<'_, '_>,
    bounds: &mut Bounds,
    lines: &Lines,
    served: &Served,
) -> Vec<(JobId, Explanation)> {
    let problem = state.problem;
    let notes = |job: usize| served.notes(job);
    let mut desk = Desk { state, bounds, outlooks: Outlooks::new(state), promised: BTreeMap::new() };
    // Those who are alike wait for the same reasons.
    let mut of_kind: Vec<Option<Arc<Why>>> = vec![None; lines.kinds];
    let mut positions = vec![0_u32; problem.queues.len() + 1];
    let mut explained: Vec<(usize, Explanation)> = Vec::with_capacity(lines.in_order.len());
    for &job in lines.in_order.iter().filter(|&&job| state.jobs[job].members.is_empty()) {
        let position = &mut positions[problem.jobs[job].queue.unwrap_or(problem.queues.len())];
        *position += 1;
        let line = lines.line_of(job);
        let head = line.and_then(|line| line.head());
        let told = match line {
            Some(line) if line.strict && head != Some(job) => explanation(behind_the_head(*position)),
            Some(line) if line.strict => explanation(desk.obstacles(job, &notes(job))),
            _ if head.is_some_and(|head| head != job && state.jobs[head].held.is_some()) => {
                explanation(behind_the_head(*position))
            }
            _ if state.jobs[job].held.is_some() => explanation(desk.obstacles(job, &notes(job))),
            _ if state.jobs[job].nominated.is_some() => desk.promised(job),
            _ => of_kind[lines.kind_of(job)]
                .get_or_insert_with(|| explanation(desk.obstacles(job, &notes(head.unwrap_or(job)))))
                .clone(),
        };
        let expected = match &state.jobs[job].nominated {
            Some(holds) => last_to_leave(state, holds).map(|at| ExpectedStart::Leaving { at }),
            None => expected_start(&served.backlog, job, head),
        };
        explained.push((job, Explanation { why: told, position: *position, expected_start: expected }));
    }
    explained.sort_unstable_by_key(|(job, _)| *job);
    explained.into_iter().map(|(job, explanation)| (problem.jobs[job].job.id, explanation)).collect()
}

/// Those behind the head of their line come after it.
fn expected_start(backlog: &Backlog, job: usize, head: Option<usize>) -> Option<ExpectedStart> {
    let behind = head.filter(|&head| head != job).and_then(|head| backlog.expected(head));
    backlog.expected(job).or_else(|| behind.map(|_| ExpectedStart::BehindPlanned { jobs: 1 }))
}

/// All but a job's place in line: those who are alike share it.
fn explanation(mut found: Vec<Found>) -> Arc<Why> {
    if found.is_empty() {
        found.push((obstacle(ReasonCode::BehindOthers, None, BTreeMap::new()), Help::Wait));
    }
    let (main, help) = found.remove(0);
    let others = found.into_iter().map(|(obstacle, _)| obstacle).collect();
    Arc::new(Why { main, others, help: Some(help) })
}

impl Desk<'_, '_, '_> {
    /// Why a job waits to which space is promised: those who wait as long share it.
    fn promised(&mut self, job: usize) -> Arc<Why> {
        let holds = self.state.jobs[job].nominated.iter().flatten();
        let secs = leaving_secs(self.state, holds.map(|hold| hold.node));
        match invalid(self.state.problem, job) {
            Some(wrong) => explanation(vec![wrong]),
            None => {
                let found = || explanation(vec![waiting_for_evictions(secs)]);
                Arc::clone(self.promised.entry(secs).or_insert_with(found))
            }
        }
    }

    /// All obstacles of a job; those of its most promising pool first.
    fn obstacles(&mut self, job: usize, notes: &Notes) -> Vec<Found> {
        let state = self.state;
        if let Some(wrong) = invalid(state.problem, job) {
            return vec![wrong];
        }
        if let Some(held) = &state.jobs[job].held {
            return vec![protected(state, held.until, Some(held.free_milli))];
        }
        if let Some(holds) = &state.jobs[job].nominated {
            return vec![waiting_for_evictions(leaving_secs(state, holds.iter().map(|hold| hold.node)))];
        }
        let pools = pools_in_order(state, job);
        let mut by_pool: Vec<Vec<Found>> = pools.iter().map(|&pool| self.in_pool(job, pool, notes)).collect();
        // The pool that needs the least to change decides; the fixed order ranks that.
        let best = (0..by_pool.len())
            .rev()
            .max_by_key(|&at| by_pool[at].first().map(|(obstacle, _)| obstacle.code))
            .unwrap_or(0);
        let mut found = by_pool.remove(best);
        found.extend(queue_held(state.problem, job));
        found.extend(outside_time_window(state.problem, job));
        found.sort_by_key(|(obstacle, _)| obstacle.code);
        let Some(main) = found.first().map(|(obstacle, _)| obstacle.code) else { return found };
        // Of the other pools, only what comes later: what rules a pool out is no obstacle while another is open.
        for (other, help) in by_pool.into_iter().flatten().filter(|(obstacle, _)| obstacle.code >= main) {
            if !found.iter().any(|(known, _)| *known == other) {
                found.push((other, help));
            }
        }
        found[1..].sort_by_key(|(obstacle, _)| obstacle.code);
        found
    }

    /// Obstacles in one pool, in the fixed order.
    fn in_pool(&mut self, job: usize, pool: usize, notes: &Notes) -> Vec<Found> {
        let state = self.state;
        let mut found = Vec::new();
        let never = self.bounds.never_fits(state.problem, job, pool);
        let never_fits = never.is_some();
        found.extend(never);
        let cap = over_cap(state, job, pool);
        let over = cap.is_some();
        found.extend(cap);
        if !over {
            found.extend(no_quota(state, job, pool));
        }
        if never_fits {
            return found;
        }
        if let Some(ahead) = calendar::maintenance_ahead(state, job, pool) {
            found.push(ahead);
        } else if self.bounds.nodes_take_no_work(state.problem, job, pool) {
            let class = state.problem.jobs[job].class;
            let outlook = self.outlooks.of(state, class, pool);
            let asks = state.problem.classes[class].shape.gpus.milli().0;
            let amounts = [("asks", asks), ("free", outlook.free), ("best_node", outlook.best_node)];
            let numbers = gpu_numbers(&amounts);
            let detail = calendar::why_no_work(state.problem, class, pool);
            found.push((obstacle(ReasonCode::Fragmented, Some(detail), numbers), Help::Wait));
        } else {
            found.extend(self.no_space(job, pool, notes));
        }
        found
    }

    /// Why no place was found: exactly one of the reasons that are about space.
    fn no_space(&mut self, job: usize, pool: usize, notes: &Notes) -> Option<Found> {
        let state = self.state;
        let problem = state.problem;
        let row = &problem.jobs[job];
        let class = &problem.classes[row.class];
        let outlook = self.outlooks.of(state, row.class, pool);
        match outlook.open {
            Search::Found if state.quota(job, pool, row.base_milli).is_ok() => {
                return notes.behind_planned.then(|| kept_for_others(problem, notes));
            }
            Search::Found if state.quota_later(job, pool, row.base_milli).is_err() => return None,
            Search::Found => return Some(waiting_for_evictions(self.outlooks.leaving_secs(state, pool))),
            Search::OutOfBudget => return Some(out_of_budget()),
            Search::Nothing => {}
        }
        if let Some(until) = notes.protected_until {
            return Some(protected(state, until, None));
        }
        let (asks, free, best_node) = (class.shape.gpus.milli().0, outlook.free, outlook.best_node);
        let numbers = || {
            let mut numbers = gpu_numbers(&[("asks", asks), ("free", free), ("best_node", best_node)]);
            if class.members > 1 {
                numbers.insert("replicas".to_owned(), class.members.into());
            }
            numbers
        };
        if outlook.later == Search::Found {
            return Some(waiting_for_evictions(self.outlooks.leaving_secs(state, pool)));
        }
        if class.require.is_some() && outlook.open_anywhere == Search::Found {
            let mut numbers = numbers();
            let best = fit::most_in_one_place(problem, &state.space.open, class, pool, Among::Working);
            numbers.extend(best.map(|replicas| ("replicas_in_best_place".to_owned(), i64::from(replicas))));
            return Some((obstacle(ReasonCode::Topology, class.require.as_deref(), numbers), fewer(best)));
        }
        let help = match class.shape.gpus {
            GpuAsk::Whole { .. } if best_node >= 1_000 && best_node < asks => {
                Help::AskForFewerGpus { gpus: best_node / 1_000 }
            }
            _ => Help::Wait,
        };
        let total = asks * i64::from(class.members);
        if free >= total {
            return Some((obstacle(ReasonCode::Fragmented, None, numbers()), help));
        }
        if notes.out_of_budget {
            return Some(out_of_budget());
        }
        if free + notes.takeable_milli >= total && notes.takeable_milli > 0 {
            return Some((obstacle(ReasonCode::Fragmented, Some("no_node_can_be_emptied"), numbers()), help));
        }
        if let Some(maintained) = calendar::in_maintenance(problem, row.class, pool, numbers()) {
            return Some(maintained);
        }
        let promised = state.space.later.pool_milli[pool] < total && self.outlooks.promised;
        let detail = if promised { "nominated_elsewhere" } else { "pool_full" };
        Some((obstacle(ReasonCode::BehindOthers, Some(detail), numbers()), Help::Wait))
    }
}

fn invalid(problem: &Problem<'_>, job: usize) -> Option<Found> {
    let row = &problem.jobs[job];
    let detail = match row {
        _ if row.team.is_none() => "unknown_team",
        _ if row.queue.is_none() => "unknown_queue",
        _ if row.pools.is_empty() => "unknown_pool",
        _ => return None,
    };
    Some((obstacle(ReasonCode::Invalid, Some(detail), BTreeMap::new()), Help::Wait))
}

fn queue_held(problem: &Problem<'_>, job: usize) -> Option<Found> {
    let row = &problem.jobs[job];
    let held = row.queue.is_some_and(|queue| problem.queues[queue].state == QueueState::Held);
    let (detail, help) = match (held, row.job.held) {
        (true, _) => (None, Help::OpenQueue),
        (false, true) => (Some("job_held"), Help::Wait),
        (false, false) => return None,
    };
    Some((obstacle(ReasonCode::QueueHeld, detail, BTreeMap::new()), help))
}

fn outside_time_window(problem: &Problem<'_>, job: usize) -> Option<Found> {
    let until = problem.closed_until(job)?;
    let secs = (until - problem.now).num_seconds();
    let numbers = [("wait_secs".to_owned(), secs)].into();
    Some((obstacle(ReasonCode::OutsideTimeWindow, None, numbers), Help::WaitForWindow { secs }))
}

fn behind_the_head(position: u32) -> Vec<Found> {
    let numbers = [("ahead".to_owned(), i64::from(position) - 1)].into();
    vec![(obstacle(ReasonCode::BehindOthers, Some("ahead_in_queue"), numbers), Help::Wait)]
}

fn no_quota(state: &State<'_, '_>, job: usize, pool: usize) -> Option<Found> {
    let row = &state.problem.jobs[job];
    let team = row.team?;
    let asks = row.base_milli;
    let code = ReasonCode::NoQuota;
    if let Some((limit, used, most)) = state.queue_limit(job, Count::Both) {
        let (detail, numbers) = match limit {
            QueueLimit::Jobs => ("queue_max_running_jobs", jobs_numbers(used, most)),
            QueueLimit::JobsPerUser => ("queue_max_running_jobs_per_user", jobs_numbers(used, most)),
            QueueLimit::Gpus => {
                ("queue_max_running_gpus", gpu_numbers(&[("asks", asks), ("used", used), ("cap", most)]))
            }
        };
        let gpus = if limit == QueueLimit::Gpus { ceil_gpus(used + asks - most) } else { 0 };
        return Some((obstacle(code, Some(detail), numbers), Help::WaitForOwnJobs { gpus }));
    }
    let limits = &state.limits[pool];
    let used = state.later[pool].used[team];
    if row.base_inside_only && !state.never_fits(job, pool, asks) {
        let guaranteed = limits.guaranteed[team];
        let numbers = gpu_numbers(&[("asks", asks), ("used", used), ("guaranteed", guaranteed)]);
        let help = Help::WaitForOwnJobs { gpus: ceil_gpus(asks) };
        return Some((obstacle(code, Some("never_evicted_beyond_guarantee"), numbers), help));
    }
    match state.quota_later(job, pool, asks).err()? {
        Short::Cap { node, used, cap } => {
            let detail = if node == team { "team_cap" } else { "parent_cap" };
            let numbers = gpu_numbers(&[("asks", asks), ("used", used), ("cap", cap)]);
            Some((
                obstacle(code, Some(detail), numbers),
                Help::WaitForOwnJobs { gpus: ceil_gpus(used + asks - cap) },
            ))
        }
        // Inside its guarantee a job lacks no quota: what it lacks is on loan to others.
        Short::Lending { .. } if state.inside(job, pool).is_some() => None,
        Short::Lending { have, need } => {
            let promised = limits.overcommitted && used + asks <= limits.nominal[team];
            let detail = if promised { "guarantees_exceed_capacity" } else { "nothing_to_borrow" };
            let guaranteed = limits.guaranteed[team];
            let numbers = gpu_numbers(&[
                ("asks", asks),
                ("used", used),
                ("guaranteed", guaranteed),
                ("to_borrow", have),
                ("must_borrow", need),
            ]);
            Some((obstacle(code, Some(detail), numbers), Help::RaiseQuota { gpus: ceil_gpus(need - have) }))
        }
    }
}

fn jobs_numbers(used: i64, most: i64) -> BTreeMap<String, i64> {
    [("used_jobs".to_owned(), used), ("cap_jobs".to_owned(), most)].into()
}

/// Victims are there, once their minimum run time is over; what of the space is free already may be held.
fn protected(state: &State<'_, '_>, until: DateTime<Utc>, held_milli: Option<i64>) -> Found {
    let secs = (until - state.problem.now).num_seconds().max(0);
    let mut numbers = held_milli.map_or_else(BTreeMap::new, |held| gpu_numbers(&[("held", held)]));
    numbers.insert("wait_secs".to_owned(), secs);
    let protected = obstacle(ReasonCode::WaitingForEvictions, Some("minimum_run_time"), numbers);
    (protected, Help::WaitForLeaving { secs })
}

fn kept_for_others(problem: &Problem<'_>, notes: &Notes) -> Found {
    match notes.reservation {
        Some(reservation) => calendar::reserved_ahead(problem, reservation),
        None => behind_planned(notes.would_pass_secs),
    }
}

/// There is space, and it is kept for somebody whose start is planned.
fn behind_planned(would_pass_secs: Option<i64>) -> Found {
    let numbers = would_pass_secs.map(|secs| ("planned_in_secs".to_owned(), secs)).into_iter().collect();
    let help = would_pass_secs.map_or(Help::Wait, |secs| Help::SetTimeLimit { secs });
    (obstacle(ReasonCode::BehindOthers, Some("planned_start_ahead"), numbers), help)
}

fn out_of_budget() -> Found {
    (obstacle(ReasonCode::SearchBudgetExhausted, None, BTreeMap::new()), Help::Wait)
}

fn waiting_for_evictions(secs: i64) -> Found {
    let numbers = [("wait_secs".to_owned(), secs)].into();
    (obstacle(ReasonCode::WaitingForEvictions, None, numbers), Help::WaitForLeaving { secs })
}
