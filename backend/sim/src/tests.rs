//! Whole simulations on small clusters.

use crate::engine::{Options, Outcome, SimError, simulate};
use crate::faults::Faults;
use crate::figures::{Figures, TeamFigures};
use crate::generate::Parameters;
use crate::page::{Told, page};
use crate::record::Sums;
use crate::series::Series;
use crate::setup::{self, Tenant};
use crate::workload::{SECOND, Task, Workload};
use reeve_core::job::CheckpointMode;
use reeve_core::policy::Policy;
use reeve_core::schedule::snapshot::Snapshot;

const HOUR: i64 = 3_600;

fn small(seed: u64) -> (Snapshot, Workload) {
    let asked = Parameters { nodes: 6, node_gpus: 8, teams: 4, jobs: 200, days: 1.0, load: 1.1, seed };
    (setup::of_tenants(&asked.tenants(), asked.nodes, asked.node_gpus, Policy::default()), asked.workload())
}

fn task(team: usize, at_secs: i64, runs_secs: i64, gpus: u32) -> Task {
    Task {
        name: "job".into(),
        team,
        at: at_secs * SECOND,
        runs: runs_secs * SECOND,
        until: None,
        gpus,
        milli: None,
        kind: None,
        priority: None,
    }
}

/// Two teams with half of one node each.
fn two_teams(tasks: Vec<Task>, options: &Options) -> (Outcome, Figures) {
    let tenants = ["a", "b"].map(|team| Tenant { team: team.into(), guaranteed_gpus: 4 });
    let cluster = setup::of_tenants(&tenants, 1, 8, Policy::default());
    let workload = Workload { teams: vec!["a".into(), "b".into()], tasks };
    let outcome = simulate(&cluster, &workload, options, |_| {}).expect("runs");
    let figures = Figures::of(&cluster, &workload, &outcome);
    (outcome, figures)
}

fn without_names(figures: &Figures) -> (Vec<TeamFigures>, Figures) {
    let nameless = |team: &TeamFigures| TeamFigures { team: String::new(), ..team.clone() };
    (figures.teams.iter().map(nameless).collect(), Figures { teams: Vec::new(), ..figures.clone() })
}

#[test]
fn the_same_numbers_come_out_twice_and_under_other_names() {
    let (cluster, workload) = small(7);
    let told = |cluster: &Snapshot, workload: &Workload| {
        let outcome = simulate(cluster, workload, &Options::default(), |_| {}).expect("runs");
        Figures::of(cluster, workload, &outcome)
    };
    let figures = told(&cluster, &workload);
    assert!(figures.total.evictions.values().sum::<u64>() > 0, "something must have been decided");
    assert_eq!(figures, told(&cluster, &workload));

    // Reversed digits and letters: no order of names survives.
    let other =
        |name: &str| name.chars().rev().map(|c| (0x7a - (c as u8 % 26)) as char).collect::<String>() + name;
    let (mut renamed, mut jobs) = (cluster.clone(), workload.clone());
    jobs.rename(other);
    renamed.teams.iter_mut().for_each(|team| team.slug = other(&team.slug));
    renamed.queues.iter_mut().for_each(|queue| queue.slug = other(&queue.slug));
    renamed.nodes.iter_mut().for_each(|node| node.name = other(&node.name));
    assert_eq!(without_names(&figures), without_names(&told(&renamed, &jobs)));
}

#[test]
fn moments_at_which_nothing_can_change_need_no_plan() {
    let (cluster, workload) = small(7);
    let told = |check| {
        let options = Options { check, ..Options::default() };
        let outcome = simulate(&cluster, &workload, &options, |_| {}).expect("runs");
        Figures::of(&cluster, &workload, &outcome)
    };
    let (all, some) = (told(true), told(false));
    assert!(all.planning_passes > some.planning_passes, "{} {}", all.planning_passes, some.planning_passes);
    assert_eq!(some, Figures { planning_passes: some.planning_passes, ..all });
}

#[test]
fn the_judge_finds_nothing_while_nodes_are_lost_and_return() {
    for (seed, checkpoint) in [(1, CheckpointMode::Periodic), (2, CheckpointMode::None)] {
        let (cluster, workload) = small(seed);
        let faults = Faults { seed, every: 12 * HOUR * SECOND, repair: HOUR * SECOND };
        let options = Options { check: true, checkpoint, faults: Some(faults), ..Options::default() };
        let outcome = simulate(&cluster, &workload, &options, |_| {}).expect("runs");
        assert_eq!(outcome.violation_samples, Vec::<String>::new(), "seed {seed}");
        assert!(outcome.evictions.get("node_lost").is_some_and(|&count| count > 0), "seed {seed}");
        assert!(outcome.runs.iter().any(|run| run.lost > 0), "seed {seed}");
        assert!(outcome.runs.iter().all(|run| run.done.is_some()), "seed {seed}: all end in the end");
    }
}

#[test]
fn gpu_time_adds_up_to_work_done_and_work_lost() {
    for checkpoint in [CheckpointMode::OnSignal, CheckpointMode::None] {
        let (cluster, workload) = small(7);
        let options = Options { checkpoint, ..Options::default() };
        let outcome = simulate(&cluster, &workload, &options, |_| {}).expect("runs");
        let done: i128 =
            workload.tasks.iter().map(|task| i128::from(task.runs) * i128::from(task.asks_milli())).sum();
        let lost: i128 = outcome.runs.iter().map(|run| run.lost).sum();
        let waited: i128 = workload
            .tasks
            .iter()
            .zip(&outcome.runs)
            .map(|(task, run)| i128::from(run.waited) * i128::from(task.asks_milli()))
            .sum();
        let sums = Sums::total(&outcome.record.sums);
        assert_eq!((sums.used, sums.waiting), (done + lost, waited));
        assert_eq!(sums.borrowed, sums.lent, "every GPU of the pool is somebody's guarantee");
        assert_eq!(lost > 0, checkpoint == CheckpointMode::None);
    }
}

#[test]
fn an_owner_waits_for_minimum_run_time_and_grace_and_no_longer() {
    // b borrows the whole node for ten hours; after ten minutes a asks for its half.
    let tasks = vec![task(1, 0, 10 * HOUR, 8), task(0, 600, HOUR, 4)];
    let (outcome, figures) = two_teams(tasks, &Options::default());
    let waits: Vec<_> = outcome.runs.iter().map(|run| run.first_wait.map(|wait| wait / SECOND)).collect();
    // Training: thirty minutes from b's start, then five of grace.
    assert_eq!(waits, [Some(0), Some(1_800 - 600 + 300)]);
    assert_eq!(figures.total.evictions.get("reclaim"), Some(&1));
    assert_eq!((figures.total.denied_minutes, figures.longest_owed_wait_secs), (0.0, 1_500.0));
    assert_eq!(figures.total.work_lost_gpu_hours, 0.0);
    // b had done 35 minutes; it goes on when a has ended.
    let ends: Vec<_> = outcome.runs.iter().map(|run| run.done.map(|done| done / SECOND)).collect();
    assert_eq!(ends, [Some(2_100 + HOUR + 10 * HOUR - 2_100), Some(2_100 + HOUR)]);
}

#[test]
fn what_is_not_saved_is_done_again() {
    let tasks = vec![task(1, 0, 10 * HOUR, 8), task(0, 600, HOUR, 4)];
    let options = Options { checkpoint: CheckpointMode::None, ..Options::default() };
    let (outcome, figures) = two_teams(tasks, &options);
    assert_eq!(figures.total.work_lost_gpu_hours, 8.0 * 2_100.0 / 3_600.0);
    assert_eq!(outcome.runs[0].done.map(|done| done / SECOND), Some(2_100 + HOUR + 10 * HOUR));
}

#[test]
fn a_job_that_never_fits_never_starts_and_ends_nothing() {
    let (outcome, figures) = two_teams(vec![task(0, 0, HOUR, 16), task(1, 5, HOUR, 1)], &Options::default());
    assert_eq!(
        (outcome.runs[0].first_wait, figures.total.never_started, figures.total.finished),
        (None, 1, 1)
    );
}

#[test]
fn a_team_without_a_quota_is_named() {
    let tenants = [Tenant { team: "a".into(), guaranteed_gpus: 8 }];
    let cluster = setup::of_tenants(&tenants, 1, 8, Policy::default());
    let workload = Workload { teams: vec!["stranger".into()], tasks: vec![task(0, 0, 1, 1)] };
    let error = simulate(&cluster, &workload, &Options::default(), |_| {}).expect_err("unknown");
    assert!(matches!(&error, SimError::UnknownTeam(team) if team == "stranger"), "{error}");
}

#[test]
fn the_page_needs_nothing_else_and_shows_each_policy_and_team() {
    let (cluster, workload) = small(4);
    let outcome = simulate(&cluster, &workload, &Options::default(), |_| {}).expect("runs");
    let (figures, series) =
        (Figures::of(&cluster, &workload, &outcome), Series::of(&cluster, &outcome.record));
    let told = |name| Told { name, figures: &figures, series: &series };
    let page = page("a <made-up> week", &[told("mild & fair"), told("strict")]);
    for wanted in
        ["a &lt;made-up&gt; week", "mild &amp; fair", "strict", "team-1", "prefers-color-scheme:dark"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    for refused in ["<script", "http://", "https://", "url(", "@import", "NaN"] {
        assert!(!page.contains(refused), "{refused}");
    }
}
