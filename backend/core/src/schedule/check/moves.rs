//! Rule 5.10: whoever moves has a home in the same plan, and makes room for a job that starts.
//!
//! Whether the movers are the cheapest is the planner's search; whether the asker has quota and whether places are free
//! is judged with all other promises.

use super::Violation;
use super::index::Index;
use crate::eviction::EvictionCause;
use crate::id::JobId;
use crate::policy::{Consolidation, Policy};
use crate::schedule::plan::{Eviction, Plan, Reclaim};
use crate::schedule::snapshot::Job;
use chrono::TimeDelta;

/// The plan lets the job move.
pub(super) fn moves(plan: &Plan, job: JobId) -> bool {
    evictions(plan).any(|eviction| eviction.job == job)
}

fn evictions(plan: &Plan) -> impl Iterator<Item = &Eviction> {
    let all = plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions);
    all.filter(|eviction| eviction.cause == EvictionCause::Consolidation)
}

/// The reclaim is nothing but the home of a job that moves.
pub(super) fn is_home(plan: &Plan, reclaim: &Reclaim, job: &Job) -> bool {
    reclaim.evictor == Some(job.id) && reclaim.evictions.is_empty() && moves(plan, job.id)
}

pub(super) fn judge(
    plan: &Plan,
    policy: &Policy,
    evictor: &Job,
    victim: &Job,
    eviction: &Eviction,
) -> Result<(), String> {
    if policy.consolidation == Consolidation::Off {
        return Err("consolidation is off".into());
    }
    if victim.priority > evictor.priority {
        return Err(format!("priority {} against {}", evictor.priority.0, victim.priority.0));
    }
    if !victim.requeue || victim.held || eviction.surplus_only {
        return Err("it would not run again".into());
    }
    let home = plan.reclaims.iter().find(|reclaim| is_home(plan, reclaim, victim));
    let Some(home) = home else { return Err("it has no home".into()) };
    if home.nomination != eviction.record.moves_to {
        return Err("its record names another home".into());
    }
    Ok(())
}

pub(super) fn hourly_cap(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let Consolidation::On { max_moves_per_hour: Some(most) } = index.snapshot.policy.consolidation else {
        return;
    };
    let since = index.snapshot.now - TimeDelta::hours(1);
    let recent = index.snapshot.consolidation_moves_last_hour.iter().filter(|&&at| at > since).count();
    let new = evictions(plan).count();
    if new > 0 && new + recent > most as usize {
        let detail = format!("{new} after {recent} in the last hour, at most {most}");
        found.push(Violation::new("consolidation_cap_exceeded", detail));
    }
}
