//! The decisions taken so far, and their translation into a [`Plan`].
//!
//! This module takes no decision.

use super::plan::{DroppedNomination, Eviction, EvictionRecord, Reclaim, RunnerUp, Start, TeamShare};
use super::problem::{Hold, Problem};
use super::rights::Evictor;
use super::score::{UnitKey, lost_gpu_secs, tier};
use super::snapshot::Placement;
use super::state::State;
use super::unit::{Chosen, Found, Unit};
use crate::eviction::EvictionCause;
use crate::units::MilliGpu;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// Decisions in the order in which they were taken.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) reclaims: Vec<Reclaim>,
    /// Who was promised space in this plan for which nobody is asked to leave.
    pub(super) without_victims: Vec<usize>,
    /// Somebody is asked to leave for a job of its own team.
    pub(super) within_team: bool,
    /// Nominations that end without a start.
    pub(super) dropped: Vec<DroppedNomination>,
}

impl Draft {
    /// Somebody need not leave after all.
    pub(super) fn list_without_victims(&mut self, problem: &Problem<'_>) {
        let without = self.reclaims.iter().filter(|reclaim| reclaim.evictions.is_empty());
        self.without_victims = without.filter_map(|reclaim| problem.job(reclaim.evictor?)).collect();
    }
}

/// Shares of the teams that a decision concerns.
pub(super) fn shares(state: &State<'_, '_>, pool: usize, teams: &BTreeSet<usize>) -> Vec<TeamShare> {
    teams
        .iter()
        .map(|&team| TeamShare {
            team: state.problem.teams[team],
            used: MilliGpu(state.later[pool].used[team]),
            guaranteed: MilliGpu(state.limits[pool].guaranteed[team]),
        })
        .collect()
}

/// The rule of the product's rule book behind a cause.
const fn rule(cause: EvictionCause, overshoot: i64) -> &'static str {
    match cause {
        EvictionCause::Reclaim if overshoot > 0 => "2.5 owner recalls an indivisible loan",
        EvictionCause::Reclaim => "2.3 owner recalls a loan",
        EvictionCause::Preemption => "4.2 higher class of the same team",
        EvictionCause::BorrowPreemption => "4.3 priority across teams, loans only",
        EvictionCause::Rebalance => "2.8 surplus is shared out more evenly",
        EvictionCause::Consolidation => "5.10 moves to make room",
        EvictionCause::Idle => "6.2 idle",
        EvictionCause::Drain => "5.1 its node is drained",
        EvictionCause::QuotaLowered => "2.10 the quota was lowered",
        EvictionCause::Operator => "operator",
    }
}

/// Members of one gang, by their ranks.
pub(super) fn placements(problem: &Problem<'_>, holds: &[Hold]) -> Vec<Placement> {
    holds.iter().zip(0..).map(|(hold, index)| problem.placement(index, hold)).collect()
}

/// When a unit has to be gone.
pub(super) fn leave_by(state: &State<'_, '_>, unit: Unit) -> DateTime<Utc> {
    let grace = state.problem.rules(unit.job).grace_secs;
    state.problem.now + TimeDelta::seconds(grace.max(0))
}

/// The best candidate that was not chosen, and what decided against it.
fn runner_up(state: &State<'_, '_>, found: &Found, victim: &UnitKey) -> Option<RunnerUp> {
    let best = found.runner_up.as_ref()?;
    let decided_by = if best < victim { "not_needed" } else { victim.decided_by(best) };
    Some(RunnerUp { job: state.problem.jobs[best.unit.job].job.id, decided_by: decided_by.to_owned() })
}

/// Everything about the evictions of one decision. The victims must still be in place, so that the
/// shares before it can be read; [`complete`] fills in the shares after it.
pub(super) fn evictions(state: &State<'_, '_>, evictor: &Evictor, found: &Found) -> Vec<Eviction> {
    let asking = &state.problem.jobs[evictor.job];
    let before = shares(state, evictor.pool, &teams_of(state, evictor, found));
    let mut by_job: BTreeMap<usize, Vec<&Chosen>> = BTreeMap::new();
    for chosen in found.victims.iter().filter(|chosen| !state.jobs[chosen.key.unit.job].fresh) {
        by_job.entry(chosen.key.unit.job).or_default().push(chosen);
    }
    let record = |chosen: &Chosen, victim: usize, surplus_only: bool| EvictionRecord {
        rule: rule(chosen.right.cause, chosen.right.overshoot).to_owned(),
        evictor: Some(asking.job.id),
        evictor_team: Some(asking.job.team),
        victim_team: state.problem.jobs[victim].job.team,
        evictor_priority: Some(asking.job.priority_for(chosen.right.cause)),
        victim_priority: state.problem.jobs[victim].job.priority_for(chosen.right.cause),
        tier: tier(state, Unit { job: victim, surplus: surplus_only.then_some(0) }),
        lost_gpu_secs: chosen.key.lost_gpu_secs,
        candidates: u32::try_from(found.candidates).unwrap_or(u32::MAX),
        runner_up: runner_up(state, found, &chosen.key),
        shares_before: before.clone(),
        shares_after: Vec::new(),
        moves_to: found
            .homes
            .iter()
            .find(|home| home.job == victim)
            .map_or_else(Vec::new, |home| placements(state.problem, &home.holds)),
    };
    by_job
        .into_iter()
        .filter_map(|(victim, parts)| {
            let gang = parts.iter().find(|chosen| chosen.key.unit.surplus.is_none());
            let chosen = *gang.or(parts.first())?;
            let mut members: Vec<u32> = match gang {
                Some(_) => state.jobs[victim].staying().map(|(_, member)| member.index).collect(),
                None => parts
                    .iter()
                    .flat_map(|part| part.members())
                    .map(|&at| state.jobs[victim].members[at].index)
                    .collect(),
            };
            members.sort_unstable();
            Some(Eviction {
                job: state.problem.jobs[victim].job.id,
                members,
                surplus_only: gang.is_none(),
                cause: chosen.right.cause,
                leave_by: leave_by(state, chosen.key.unit),
                record: record(chosen, victim, gang.is_none()),
            })
        })
        .collect()
}

fn teams_of(state: &State<'_, '_>, evictor: &Evictor, found: &Found) -> BTreeSet<usize> {
    let victims = found.victims.iter().filter_map(|chosen| state.problem.jobs[chosen.key.unit.job].team);
    victims.chain([evictor.team]).collect()
}

/// Fills in the shares after the decision.
pub(super) fn complete(state: &State<'_, '_>, evictor: &Evictor, found: &Found, evictions: &mut [Eviction]) {
    let after = shares(state, evictor.pool, &teams_of(state, evictor, found));
    for eviction in evictions {
        eviction.record.shares_after.clone_from(&after);
    }
}

/// An eviction that serves no job: a drain, or a lowered quota.
pub(super) fn without_evictor(
    state: &mut State<'_, '_>,
    pool: usize,
    unit: Unit,
    cause: EvictionCause,
    candidates: usize,
) -> Reclaim {
    let row = &state.problem.jobs[unit.job];
    let teams: BTreeSet<usize> = row.team.into_iter().collect();
    let shares_before = shares(state, pool, &teams);
    let positions = unit.members(state);
    let mut members: Vec<u32> = positions.iter().map(|&at| state.jobs[unit.job].members[at].index).collect();
    members.sort_unstable();
    let mut record = EvictionRecord {
        rule: rule(cause, 0).to_owned(),
        evictor: None,
        evictor_team: None,
        victim_team: row.job.team,
        evictor_priority: None,
        victim_priority: row.job.priority,
        tier: tier(state, unit),
        lost_gpu_secs: lost_gpu_secs(state, unit, state.problem.now),
        candidates: u32::try_from(candidates).unwrap_or(u32::MAX),
        runner_up: None,
        shares_before,
        shares_after: Vec::new(),
        moves_to: Vec::new(),
    };
    for at in positions {
        state.release(unit.job, at);
    }
    record.shares_after = shares(state, pool, &teams);
    let leave_by = leave_by(state, unit);
    state.look_again(leave_by);
    Reclaim {
        pool: state.problem.pools[pool],
        evictor: None,
        evictions: vec![Eviction {
            job: row.job.id,
            members,
            surplus_only: unit.surplus.is_some(),
            cause,
            leave_by,
            record,
        }],
        nomination: Vec::new(),
        expires_at: leave_by,
    }
}

/// The starts and growths of the plan, by job.
pub(super) fn starts(state: &State<'_, '_>) -> Vec<Start> {
    let mut starts = Vec::with_capacity(state.jobs.iter().filter(|sim| sim.fresh).count());
    for (job, sim) in state.jobs.iter().enumerate() {
        let row = &state.problem.jobs[job];
        let had = row.members.len();
        // Nobody loses a member within a plan: who has no more has no other.
        if sim.members.len() <= had {
            continue;
        }
        let mut new = Vec::with_capacity(sim.members.len() - had);
        let members = sim.members.iter();
        let added = members.filter(|member| !row.members.iter().any(|old| old.index == member.index));
        new.extend(added.map(|member| state.problem.placement(member.index, &member.hold)));
        let pool = (!state.problem.is_cpu_only(row.class)).then_some(sim.pool).flatten();
        starts.push(Start {
            job: row.job.id,
            pool: pool.map(|pool| state.problem.pools[pool]),
            members: new,
            grow: had > 0,
        });
    }
    starts
}
