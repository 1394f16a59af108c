//! The figures as a table for people.

use crate::output::table;
use reeve_sim::figures::{Figures, TeamFigures};
use reeve_sim::page::{duration, evictions};

const TITLES: [&str; 14] = [
    "TEAM",
    "GUARANTEED",
    "JOBS",
    "NEVER STARTED",
    "GPU-HOURS",
    "WAIT MEAN",
    "P50",
    "P95",
    "MAX",
    "BORROWED",
    "LENT",
    "EVICTIONS",
    "WORK LOST",
    "BELOW GUARANTEE",
];

pub(super) fn print(name: &str, figures: &Figures) {
    let rows = figures.teams.iter().chain([&figures.total]).map(row).collect();
    println!("\n{name}");
    print!("{}", table(TITLES.map(str::to_owned).to_vec(), rows));
    let total = &figures.total;
    println!(
        "allocated {:.2} %, waiting {:.3} GPUs on average, {} reclaims; in line {} a job, evictions included",
        figures.allocated_percent,
        figures.mean_waiting_gpus,
        figures.reclaims,
        duration(total.waited_mean_secs),
    );
    for (reason, gpus) in &figures.mean_waiting_gpus_by_reason {
        println!("  waiting for {reason}: {gpus:.3} GPUs");
    }
    println!(
        "owners denied beyond minimum run time and grace: {:.1} minutes; longest wait inside a guarantee while others \
         were on loan: {}",
        total.denied_minutes,
        duration(figures.longest_owed_wait_secs)
    );
}

fn row(team: &TeamFigures) -> Vec<String> {
    vec![
        team.team.clone(),
        format!("{:.0}", team.guaranteed_gpus),
        team.jobs.to_string(),
        team.never_started.to_string(),
        format!("{:.0}", team.gpu_hours),
        duration(team.wait_mean_secs),
        duration(team.wait_p50_secs),
        duration(team.wait_p95_secs),
        duration(team.wait_max_secs),
        format!("{:.0}", team.borrowed_gpu_hours),
        format!("{:.0}", team.lent_gpu_hours),
        evictions(team),
        format!("{:.1}", team.work_lost_gpu_hours),
        format!("{:.1}", team.waiting_below_guarantee_gpu_hours),
    ]
}
