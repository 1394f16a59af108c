//! P9: an eviction's record is complete, and says what is true: who asked, under which rule, from whom, and
//! the shares of all concerned before and after.
//!
//! Whether the victim was rightly chosen is judged elsewhere.

use super::index::{Index, asked_by, held_by};
use super::quota::Guarantees;
use crate::eviction::EvictionCause;
use crate::id::TeamId;
use crate::schedule::plan::{Eviction, Reclaim, TeamShare};
use crate::schedule::snapshot::Job;
use crate::units::MilliGpu;
use std::collections::BTreeSet;

const LAST_TIER: u8 = 3;

pub(super) fn judge(
    index: &Index<'_>,
    guarantees: &Guarantees,
    reclaim: &Reclaim,
    victim: &Job,
    eviction: &Eviction,
) -> Result<(), String> {
    let record = &eviction.record;
    let number = record.rule.split(' ').next().unwrap_or_default();
    if !rules(eviction.cause).contains(&number) || record.rule.len() <= number.len() {
        return Err(format!("rule {:?} for {}", record.rule, eviction.cause));
    }
    let evictor = reclaim.evictor.and_then(|id| index.jobs.get(&id));
    if record.evictor != reclaim.evictor
        || record.evictor_team != evictor.map(|job| job.team)
        || record.evictor_priority != evictor.map(|job| job.priority_for(eviction.cause))
    {
        return Err("another evictor".into());
    }
    if record.victim_team != victim.team || record.victim_priority != victim.priority_for(eviction.cause) {
        return Err("another victim".into());
    }
    if record.tier > LAST_TIER || record.lost_gpu_secs < 0 {
        return Err(format!("tier {}, {} GPU-seconds lost", record.tier, record.lost_gpu_secs));
    }
    let concerned: BTreeSet<TeamId> = [victim.team].into_iter().chain(record.evictor_team).collect();
    for team in concerned {
        shares(index, guarantees, reclaim, record.evictor_team, eviction, team)?;
    }
    Ok(())
}

/// The numbers of the rule book that may stand behind a cause.
const fn rules(cause: EvictionCause) -> &'static [&'static str] {
    match cause {
        EvictionCause::Reclaim => &["2.3", "2.5"],
        EvictionCause::Preemption => &["4.2"],
        EvictionCause::BorrowPreemption => &["4.3"],
        EvictionCause::Rebalance => &["2.8"],
        EvictionCause::Consolidation => &["5.10"],
        EvictionCause::Idle => &["6.2"],
        EvictionCause::Drain => &["5.1"],
        EvictionCause::QuotaLowered => &["2.10"],
        EvictionCause::Operator => &["operator"],
    }
}

/// A concerned team stands in both lists, with its guarantee, and the difference is what the decision takes
/// from it and promises to it. (Starts of the plan that were taken back for it may add to the loss.)
fn shares(
    index: &Index<'_>,
    guarantees: &Guarantees,
    reclaim: &Reclaim,
    evictor_team: Option<TeamId>,
    eviction: &Eviction,
    team: TeamId,
) -> Result<(), String> {
    let of = |shares: &[TeamShare]| shares.iter().find(|share| share.team == team).copied();
    let record = &eviction.record;
    let (Some(before), Some(after)) = (of(&record.shares_before), of(&record.shares_after)) else {
        return Err(format!("no shares of team {team}"));
    };
    let (low, high) = (guarantees.low(team), guarantees.high(team));
    if before.guaranteed != after.guaranteed || before.guaranteed < low || before.guaranteed > high {
        return Err(format!("team {team} is guaranteed {} to {} milli-GPU", low.0, high.0));
    }
    let got: MilliGpu = match evictor_team {
        Some(asking) if asking == team => reclaim.nomination.iter().map(asked_by).sum(),
        _ => MilliGpu::ZERO,
    };
    // Who only moves takes nothing from its team: its home is promised.
    let moves = |eviction: &&Eviction| eviction.cause == EvictionCause::Consolidation;
    let lost: MilliGpu = reclaim
        .evictions
        .iter()
        .filter(|eviction| !moves(eviction))
        .map(|eviction| taken(index, eviction, team))
        .sum();
    if after.used > before.used + got - lost {
        let (before, after) = (before.used.0, after.used.0);
        return Err(format!("team {team}: {before} + {} - {} milli-GPU is not {after}", got.0, lost.0));
    }
    Ok(())
}

fn taken(index: &Index<'_>, eviction: &Eviction, team: TeamId) -> MilliGpu {
    let is_theirs = index.jobs.get(&eviction.job).is_some_and(|job| job.team == team);
    if is_theirs { held(index, eviction) } else { MilliGpu::ZERO }
}

/// What an eviction takes.
pub(super) fn held(index: &Index<'_>, eviction: &Eviction) -> MilliGpu {
    let Some(victim) = index.jobs.get(&eviction.job) else { return MilliGpu::ZERO };
    victim.members.iter().filter(|member| eviction.members.contains(&member.index)).map(held_by).sum()
}
