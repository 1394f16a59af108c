//! The figures of a finished simulation, per team and in all, ready to print or to compare.
//!
//! This module refuses to round: whoever shows a figure does. GPU-hours and seconds are floats here and nowhere
//! before: nothing is decided by them.

use crate::engine::Outcome;
use crate::record::{Amount, Sums};
use crate::run::Run;
use crate::workload::{Micros, SECOND, Workload};
use reeve_core::schedule::snapshot::Snapshot;
use serde::Serialize;
use std::collections::BTreeMap;

/// What became of one team's jobs, or of all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeamFigures {
    pub team: String,
    pub guaranteed_gpus: f64,
    pub jobs: usize,
    pub finished: usize,
    pub never_started: usize,
    /// Held, from the first submission until everything had ended.
    pub gpu_hours: f64,
    /// From submission to the first start, over jobs that started.
    pub wait_mean_secs: f64,
    pub wait_p50_secs: f64,
    pub wait_p95_secs: f64,
    pub wait_max_secs: f64,
    /// All time in line, after evictions too, over all jobs.
    pub waited_mean_secs: f64,
    /// End less submission less run time, over finished jobs: waits, and work done twice.
    pub delay_mean_secs: f64,
    pub borrowed_gpu_hours: f64,
    pub lent_gpu_hours: f64,
    pub waiting_gpu_hours: f64,
    /// Waited for by jobs that the team's idle guarantee covered.
    pub waiting_below_guarantee_gpu_hours: f64,
    /// Minutes in which a job waited inside the guarantee beyond minimum run time and grace, another team being on
    /// loan all the while.
    pub denied_minutes: f64,
    pub evictions: BTreeMap<&'static str, u64>,
    pub work_lost_gpu_hours: f64,
}

/// One policy's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    pub total: TeamFigures,
    pub teams: Vec<TeamFigures>,
    /// Of the cluster's GPU-hours between the first and the last submission.
    pub allocated_percent: f64,
    pub mean_waiting_gpus: f64,
    /// The same, by the main reason that the planner gave.
    pub mean_waiting_gpus_by_reason: BTreeMap<&'static str, f64>,
    pub reclaims: u64,
    pub longest_owed_wait_secs: f64,
    /// From the first submission to the last end.
    pub hours: f64,
    pub planning_passes: u64,
    pub violations: u64,
}

impl Figures {
    #[must_use]
    pub fn of(cluster: &Snapshot, workload: &Workload, outcome: &Outcome) -> Self {
        let place: Vec<Option<usize>> = workload
            .teams
            .iter()
            .map(|name| cluster.teams.iter().position(|team| team.slug == *name))
            .collect();
        let mut runs: Vec<Vec<(Micros, &Run)>> = vec![Vec::new(); cluster.teams.len()];
        for (task, run) in workload.tasks.iter().zip(&outcome.runs) {
            if let Some(team) = place[task.team] {
                let delay = run.done.map_or(0, |done| done - task.at - task.runs);
                runs[team].push((delay, run));
            }
        }
        let guaranteed = |team: usize| -> f64 {
            let own = cluster.quotas.iter().filter(|quota| quota.team == cluster.teams[team].id);
            own.map(|quota| quota.guaranteed.as_gpus()).sum()
        };
        let record = &outcome.record;
        let teams = (0..cluster.teams.len())
            // A department without jobs of its own has no line of its own.
            .filter(|&team| !runs[team].is_empty() || guaranteed(team) > 0.0)
            .map(|team| {
                let sums = (&record.sums[team], outcome.denied[team]);
                let figures = team_figures(
                    &cluster.teams[team].slug,
                    &runs[team],
                    sums,
                    &outcome.evictions_of_team[team],
                );
                TeamFigures { guaranteed_gpus: guaranteed(team), ..figures }
            })
            .collect();
        let all: Vec<(Micros, &Run)> = runs.iter().flatten().copied().collect();
        let sums = (&Sums::total(&record.sums), outcome.denied.iter().sum());
        let window = Sums::total(&record.sums_in_window);
        let capacity = cluster.nodes.iter().map(|node| node.gpus.len()).sum::<usize>();
        Self {
            total: TeamFigures {
                guaranteed_gpus: capacity as f64,
                ..team_figures("(all)", &all, sums, &outcome.evictions)
            },
            teams,
            allocated_percent: 100.0 * window.used as f64 / (record.capacity_in_window.max(1)) as f64,
            mean_waiting_gpus: mean_gpus(window.waiting, record.window),
            mean_waiting_gpus_by_reason: record
                .waiting_by_reason
                .iter()
                .map(|(reason, &amount)| (reason.as_str(), mean_gpus(amount, record.window)))
                .collect(),
            reclaims: outcome.reclaims,
            longest_owed_wait_secs: secs(outcome.longest_owed_wait),
            hours: secs(record.at()) / 3_600.0,
            planning_passes: outcome.passes,
            violations: outcome.violations,
        }
    }
}

fn team_figures(
    team: &str,
    runs: &[(Micros, &Run)],
    (sums, denied): (&Sums, Micros),
    evictions: &BTreeMap<&'static str, u64>,
) -> TeamFigures {
    let mut waits: Vec<Micros> = runs.iter().filter_map(|(_, run)| run.first_wait).collect();
    waits.sort_unstable();
    let delays: Vec<Micros> =
        runs.iter().filter(|(_, run)| run.done.is_some()).map(|(delay, _)| *delay).collect();
    let waited: Vec<Micros> = runs.iter().map(|(_, run)| run.waited).collect();
    TeamFigures {
        team: team.to_owned(),
        guaranteed_gpus: 0.0,
        jobs: runs.len(),
        finished: delays.len(),
        never_started: runs.len() - waits.len(),
        gpu_hours: gpu_hours(sums.used),
        wait_mean_secs: mean_secs(&waits),
        wait_p50_secs: secs(percentile(&waits, 50)),
        wait_p95_secs: secs(percentile(&waits, 95)),
        wait_max_secs: secs(waits.last().copied().unwrap_or(0)),
        waited_mean_secs: mean_secs(&waited),
        delay_mean_secs: mean_secs(&delays),
        borrowed_gpu_hours: gpu_hours(sums.borrowed),
        lent_gpu_hours: gpu_hours(sums.lent),
        waiting_gpu_hours: gpu_hours(sums.waiting),
        waiting_below_guarantee_gpu_hours: gpu_hours(sums.owed),
        denied_minutes: secs(denied) / 60.0,
        evictions: evictions.clone(),
        work_lost_gpu_hours: gpu_hours(runs.iter().map(|(_, run)| run.lost).sum()),
    }
}

/// Milli-GPU microseconds as GPU-hours.
#[must_use]
pub fn gpu_hours(amount: Amount) -> f64 {
    amount as f64 / 1_000.0 / SECOND as f64 / 3_600.0
}

fn mean_gpus(amount: Amount, over: Micros) -> f64 {
    amount as f64 / 1_000.0 / over.max(1) as f64
}

fn secs(micros: Micros) -> f64 {
    micros as f64 / SECOND as f64
}

/// The mean, from an exact sum; 0 for none.
#[must_use]
pub fn mean_secs(micros: &[Micros]) -> f64 {
    let sum: i128 = micros.iter().map(|&micros| i128::from(micros)).sum();
    if micros.is_empty() { 0.0 } else { sum as f64 / SECOND as f64 / micros.len() as f64 }
}

/// Nearest rank; 0 for none.
fn percentile(sorted: &[Micros], percent: usize) -> Micros {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}
