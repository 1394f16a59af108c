//! The calendar: nothing starts that would run into a maintenance window of its nodes, and no start of others leaves a
//! reservation fewer GPUs than it asks for and had.
//!
//! Who ran before is not judged, nor how many GPUs a reservation gets in the end. An owner who recalls a loan of the
//! reservation's own team takes its place, which the rules allow.

use super::Violation;
use super::index::Index;
use crate::id::{GpuId, JobId};
use crate::node::NodeState;
use crate::policy::Backfill;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{Job, Placement, Reservation, Snapshot};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeSet;

pub(super) fn judge(index: &Index<'_>, after: &Snapshot, plan: &Plan, found: &mut Vec<Violation>) {
    for start in &plan.starts {
        maintenance(index, start.job, &start.members, found);
    }
    for reclaim in &plan.reclaims {
        if let Some(job) = reclaim.evictor {
            maintenance(index, job, &reclaim.nomination, found);
        }
    }
    let exempt = recallers(index, plan);
    let now = index.snapshot.now;
    for reservation in index.snapshot.reservations.iter().filter(|row| row.ends_at > now) {
        let before = available(index, index.snapshot, reservation, &BTreeSet::new());
        let exempt = exempt.iter().filter(|(_, victim)| serves(index, reservation, victim));
        let exempt = exempt.map(|(evictor, _)| *evictor).collect();
        let left = available(index, after, reservation, &exempt);
        if left < before.min(reservation.gpus as usize) {
            let detail = format!(
                "reservation {} of {} GPUs: {before} could be had, {left} after the plan",
                reservation.id, reservation.gpus
            );
            found.push(Violation::new("reservation_intruded", detail));
        }
    }
}

fn maintenance(index: &Index<'_>, id: JobId, members: &[Placement], found: &mut Vec<Violation>) {
    let (now, job) = (index.snapshot.now, index.jobs[&id]);
    let until = match end(job, started(job, now)) {
        // The moment of the end itself is still before the window.
        Some(end) => Some((end - TimeDelta::microseconds(1)).max(now)),
        None => now.checked_add_signed(lead(index.snapshot)),
    };
    for placement in members {
        if index.is_maintained(placement.node, now, until) {
            let detail = format!("job {id} on node {}", placement.node);
            found.push(Violation::new("runs_into_maintenance", detail));
        }
    }
}

/// How long before a window jobs without a time limit stay away.
fn lead(snapshot: &Snapshot) -> TimeDelta {
    match snapshot.policy.backfill {
        Backfill::On { window_secs, .. } => TimeDelta::seconds(window_secs.clamp(0, 366 * 86_400)),
        Backfill::Off => TimeDelta::days(1),
    }
}

fn started(job: &Job, now: DateTime<Utc>) -> DateTime<Utc> {
    job.members.iter().map(|member| member.started_at).min().unwrap_or(now)
}

fn end(job: &Job, started: DateTime<Utc>) -> Option<DateTime<Utc>> {
    started.checked_add_signed(TimeDelta::try_seconds(job.time_limit_secs?)?)
}

fn serves(index: &Index<'_>, reservation: &Reservation, job: &JobId) -> bool {
    index.jobs.get(job).is_some_and(|job| index.chain(job.team).contains(&reservation.team))
}

/// Who recalls from whom in this plan.
fn recallers(index: &Index<'_>, plan: &Plan) -> Vec<(JobId, JobId)> {
    let of = |reclaim: &crate::schedule::plan::Reclaim| {
        let evictor = reclaim.evictor.filter(|job| index.jobs.contains_key(job));
        let victims: Vec<JobId> = reclaim.evictions.iter().map(|eviction| eviction.job).collect();
        evictor
            .into_iter()
            .flat_map(move |evictor| victims.clone().into_iter().map(move |victim| (evictor, victim)))
    };
    plan.reclaims.iter().flat_map(of).collect()
}

/// GPUs that the reservation could have when it begins: working ones that no others keep, nor share.
fn available(
    index: &Index<'_>,
    snapshot: &Snapshot,
    reservation: &Reservation,
    exempt: &BTreeSet<JobId>,
) -> usize {
    let moment = reservation.starts_at.max(snapshot.now);
    let mut blocked: BTreeSet<GpuId> = BTreeSet::new();
    for job in &snapshot.jobs {
        let own = serves(index, reservation, &job.id);
        let lasts = end(job, started(job, snapshot.now)).is_none_or(|end| end > moment);
        let staying = job.members.iter().filter(|member| lasts && member.leaving.is_none());
        let kept = staying.flat_map(|member| &member.gpus).filter(|slice| !own || slice.milli.0 < 1_000);
        blocked.extend(kept.map(|slice| slice.gpu));
    }
    for nomination in snapshot.nominations.iter().filter(|nomination| !exempt.contains(&nomination.job)) {
        let Some(job) = index.jobs.get(&nomination.job) else { continue };
        let lasts = end(job, snapshot.now).is_none_or(|end| end > moment);
        if lasts && !serves(index, reservation, &nomination.job) {
            blocked.extend(nomination.members.iter().flat_map(|member| &member.gpus).map(|slice| slice.gpu));
        }
    }
    let until = reservation.ends_at - TimeDelta::microseconds(1);
    let nodes = snapshot.nodes.iter().filter(|node| {
        node.pool == reservation.pool
            && node.state == NodeState::Ready
            && !index.is_maintained(node.id, reservation.starts_at, Some(until))
    });
    let free = nodes.flat_map(|node| &node.gpus).filter(|gpu| gpu.healthy && !blocked.contains(&gpu.id));
    free.count()
}
