//! Rule 5.8: nobody who starts, grows or runs on is in the way of a planned start at the moment for which it is planned,
//! and no two of them share space.

use super::Violation;
use super::index::Index;
use crate::id::{GpuId, JobId};
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{GpuSlice, Job, Member};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let mut kept: BTreeMap<GpuId, JobId> = BTreeMap::new();
    for planned in plan.planned.iter().filter(|planned| !planned.members.is_empty()) {
        let used = planned.at.map(|at| lasting(index, plan, at, planned.job)).unwrap_or_default();
        for slice in planned.members.iter().flat_map(|member| &member.gpus) {
            if used.get(&slice.gpu).copied().unwrap_or(0) + slice.milli.0 > 1_000 {
                let detail =
                    format!("job {} is planned for {:?} on GPU {}", planned.job, planned.at, slice.gpu);
                found.push(Violation::new("planned_space_taken", detail));
            }
            if slice.milli.0 == 1_000
                && kept.insert(slice.gpu, planned.job).is_some_and(|other| other != planned.job)
            {
                let detail = format!("GPU {} is kept for job {} and another", slice.gpu, planned.job);
                found.push(Violation::new("planned_twice", detail));
            }
        }
    }
}

/// What others still hold after `at`, by GPU. What is kept for a starving job has no such moment.
fn lasting(index: &Index<'_>, plan: &Plan, at: DateTime<Utc>, planned: JobId) -> BTreeMap<GpuId, i64> {
    let now = index.snapshot.now;
    let mut used: BTreeMap<GpuId, i64> = BTreeMap::new();
    let evictions = plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions);
    let evicted: BTreeSet<(JobId, u32)> = evictions
        .flat_map(|eviction| eviction.members.iter().map(|&member| (eviction.job, member)))
        .collect();
    for job in index.snapshot.jobs.iter().filter(|job| job.id != planned) {
        let Some(started) = job.members.iter().map(|member| member.started_at).min() else { continue };
        // One that is over its limit is about to be stopped: nobody counts on it.
        let over = !outlasts(job, started, now);
        let stays = |member: &&Member| member.leaving.is_none() && !evicted.contains(&(job.id, member.index));
        if !over && outlasts(job, started, at) {
            hold(&mut used, job.members.iter().filter(stays).flat_map(|member| &member.gpus));
        }
    }
    let nominated = |job: JobId| index.snapshot.nominations.iter().any(|nomination| nomination.job == job);
    for start in plan.starts.iter().filter(|start| !nominated(start.job)) {
        if outlasts(index.jobs[&start.job], now, at) {
            hold(&mut used, start.members.iter().flat_map(|member| &member.gpus));
        }
    }
    used
}

fn hold<'a>(used: &mut BTreeMap<GpuId, i64>, slices: impl Iterator<Item = &'a GpuSlice>) {
    for slice in slices {
        *used.entry(slice.gpu).or_default() += slice.milli.0;
    }
}

fn outlasts(job: &Job, started: DateTime<Utc>, at: DateTime<Utc>) -> bool {
    let limit = job.time_limit_secs.and_then(TimeDelta::try_seconds);
    limit.and_then(|limit| started.checked_add_signed(limit)).is_none_or(|end| end > at)
}
