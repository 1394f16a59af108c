//! What became of the jobs, in the trace's own time. It refuses to guess: a job that has not started has no wait,
//! and is counted apart.

use crate::output::{Output, table};
use anyhow::Context;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the server says after a replay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replayed<'a> {
    pub(crate) jobs: &'a [Value],
    /// Of these jobs, by job.
    pub(crate) runs: &'a BTreeMap<String, Vec<Value>>,
    pub(crate) loans: &'a [Value],
    /// How many of the trace's seconds passed in a real one.
    pub(crate) speed: f64,
}

/// One team's figures. Seconds and hours are the trace's: real ones times the speed, and so is the system's own
/// latency that is in them.
#[derive(Debug, Default, Serialize, PartialEq)]
pub(crate) struct TeamReport {
    pub(crate) team: String,
    pub(crate) jobs: usize,
    pub(crate) succeeded: usize,
    pub(crate) never_started: usize,
    pub(crate) evictions: u64,
    pub(crate) gpu_hours: f64,
    pub(crate) borrowed_gpu_hours: f64,
    pub(crate) lent_gpu_hours: f64,
    pub(crate) wait_mean_secs: f64,
    pub(crate) wait_p50_secs: f64,
    pub(crate) wait_p95_secs: f64,
}

/// Per team, and all together under `(all)`.
pub(crate) fn teams(replayed: Replayed<'_>) -> anyhow::Result<Vec<TeamReport>> {
    let mut by_team: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for job in replayed.jobs {
        by_team.entry(job["team"]["slug"].as_str().context("a job without a team")?).or_default().push(job);
    }
    let end = replayed.jobs.iter().filter_map(|job| time(job, "finished_at").ok()?).max();
    let mut reports = Vec::new();
    for (team, jobs) in &by_team {
        let mut report = one(team, jobs, replayed)?;
        for loan in replayed.loans {
            let hours = loan["gpus"].as_f64().unwrap_or(0.0) * hours(loan, end)? * replayed.speed;
            if loan["borrower"]["slug"] == *team {
                report.borrowed_gpu_hours += hours;
            }
            if loan["lender"]["slug"] == *team {
                report.lent_gpu_hours += hours;
            }
        }
        reports.push(report);
    }
    let mut all = one("(all)", &replayed.jobs.iter().collect::<Vec<_>>(), replayed)?;
    all.borrowed_gpu_hours = reports.iter().map(|team| team.borrowed_gpu_hours).sum();
    all.lent_gpu_hours = reports.iter().map(|team| team.lent_gpu_hours).sum();
    reports.push(all);
    Ok(reports)
}

fn one(team: &str, jobs: &[&Value], replayed: Replayed<'_>) -> anyhow::Result<TeamReport> {
    let (mut waits, mut gpu_secs) = (Vec::new(), 0.0);
    for job in jobs {
        let runs = job["id"].as_str().and_then(|id| replayed.runs.get(id)).map_or(&[][..], Vec::as_slice);
        let first = runs.iter().min_by_key(|run| run["number"].as_u64());
        let first = first.map(|run| time(run, "started_at")).transpose()?.flatten();
        let submitted = time(job, "submitted_at")?.context("a job without submitted_at")?;
        waits.extend(first.map(|first| (first - submitted).as_seconds_f64().max(0.0) * replayed.speed));
        for run in runs {
            gpu_secs += held(run)? * replayed.speed;
        }
    }
    let gpu_hours = gpu_secs / 3600.0;
    waits.sort_by(f64::total_cmp);
    Ok(TeamReport {
        team: team.to_owned(),
        jobs: jobs.len(),
        succeeded: jobs.iter().filter(|job| job["state"] == "succeeded").count(),
        never_started: jobs.len() - waits.len(),
        evictions: jobs.iter().filter_map(|job| job["eviction_count"].as_u64()).sum(),
        gpu_hours,
        wait_mean_secs: if waits.is_empty() { 0.0 } else { waits.iter().sum::<f64>() / waits.len() as f64 },
        wait_p50_secs: percentile(&waits, 50),
        wait_p95_secs: percentile(&waits, 95),
        ..TeamReport::default()
    })
}

/// GPU-seconds that a run's members held, from placement to release, as loans are counted.
fn held(run: &Value) -> anyhow::Result<f64> {
    let mut sum = 0.0;
    for member in run["members"].as_array().into_iter().flatten() {
        let gpus = member["gpu_indices"].as_array().map_or(0, Vec::len) as f64;
        let share = member["gpu_milli"].as_f64().unwrap_or(1000.0) / 1000.0;
        let span = time(member, "placed_at")?.zip(time(member, "released_at")?);
        sum += gpus * share * span.map_or(0.0, |(from, to)| (to - from).as_seconds_f64().max(0.0));
    }
    Ok(sum)
}

/// A loan still open counts until the last job's end.
fn hours(loan: &Value, end: Option<DateTime<Utc>>) -> anyhow::Result<f64> {
    let (start, end) = (time(loan, "started_at")?, time(loan, "ended_at")?.or(end));
    Ok(start.zip(end).map_or(0.0, |(start, end)| (end - start).as_seconds_f64().max(0.0) / 3600.0))
}

fn time(item: &Value, field: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let text = item[field].as_str();
    text.map(|text| text.parse().with_context(|| format!("{field}: {text}"))).transpose()
}

/// Nearest rank.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

pub(crate) fn print(replayed: Replayed<'_>, output: Output) -> anyhow::Result<()> {
    let reports = teams(replayed)?;
    let loans = replayed.loans.len();
    if output.is_json() {
        let value = serde_json::json!({"speed": replayed.speed, "teams": reports, "loan_intervals": loans});
        return output.json(&value);
    }
    let titles = [
        "TEAM",
        "JOBS",
        "SUCCEEDED",
        "NEVER STARTED",
        "EVICTIONS",
        "GPU-HOURS",
        "BORROWED",
        "LENT",
        "WAIT MEAN",
        "P50",
        "P95",
    ];
    let row = |team: &TeamReport| {
        vec![
            team.team.clone(),
            team.jobs.to_string(),
            team.succeeded.to_string(),
            team.never_started.to_string(),
            team.evictions.to_string(),
            format!("{:.1}", team.gpu_hours),
            format!("{:.1}", team.borrowed_gpu_hours),
            format!("{:.1}", team.lent_gpu_hours),
            format!("{:.0} s", team.wait_mean_secs),
            format!("{:.0} s", team.wait_p50_secs),
            format!("{:.0} s", team.wait_p95_secs),
        ]
    };
    print!("{}", table(titles.map(str::to_owned).to_vec(), reports.iter().map(row).collect()));
    println!("Times are the trace's: real ones times {}, the system's own latency included.", replayed.speed);
    println!("{loans} loan intervals on the ledger. `reeve check` proves the ledger against the runs.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(id: &str, team: &str, state: &str) -> Value {
        json!({"id": id, "team": {"slug": team}, "state": state, "eviction_count": 1,
            "submitted_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:11Z"})
    }

    /// Placed a second before its start.
    fn run(number: u32, start: u32, end: u32, milli: u32) -> Value {
        let at = |secs: u32| format!("2026-01-01T00:00:{secs:02}Z");
        json!({"number": number, "started_at": at(start), "members": [
            {"gpu_indices": [0, 3], "gpu_milli": milli, "placed_at": at(start - 1), "released_at": at(end)}]})
    }

    #[test]
    fn waits_and_hours_are_of_started_jobs_only_and_in_the_traces_time() {
        let jobs = [
            job("1", "a", "succeeded"),
            job("2", "a", "failed"),
            job("3", "a", "cancelled"),
            job("4", "b", "cancelled"),
        ];
        let runs = BTreeMap::from([
            ("1".to_owned(), vec![run(1, 1, 10, 1000)]),
            ("2".to_owned(), vec![run(1, 3, 18, 500)]),
        ]);
        let replayed = Replayed { jobs: &jobs, runs: &runs, loans: &[], speed: 100.0 };
        let got = teams(replayed).expect("figures");
        assert_eq!(
            (got[0].wait_mean_secs, got[0].wait_p50_secs, got[0].wait_p95_secs),
            (200.0, 100.0, 300.0)
        );
        assert_eq!((got[0].succeeded, got[0].never_started, got[0].evictions), (1, 1, 3));
        assert_eq!(got[0].gpu_hours, 1.0, "(10 s × 2 GPUs + 16 s × 2 halves) × 100 are an hour");
        assert_eq!((got[1].wait_mean_secs, got[1].never_started), (0.0, 1));
        assert_eq!((got[2].team.as_str(), got[2].jobs), ("(all)", 4));
    }

    #[test]
    fn an_evicted_job_waited_until_its_first_run_and_held_gpus_in_all_of_them() {
        let jobs = [job("1", "a", "succeeded")];
        let runs = BTreeMap::from([("1".to_owned(), vec![run(2, 9, 11, 1000), run(1, 2, 5, 1000)])]);
        let got = teams(Replayed { jobs: &jobs, runs: &runs, loans: &[], speed: 3600.0 }).expect("figures");
        assert_eq!((got[0].wait_mean_secs, got[0].gpu_hours), (7200.0, 14.0));
    }

    #[test]
    fn loans_count_for_borrower_and_lender_and_open_ones_until_the_end() {
        let jobs = [job("1", "a", "cancelled"), job("2", "b", "cancelled")];
        let loan = |lender: Value, ended: Option<&str>| json!({"borrower": {"slug": "a"}, "lender": lender, "gpus": 3.0, "started_at": "2026-01-01T00:00:01Z", "ended_at": ended});
        let loans = [loan(json!({"slug": "b"}), Some("2026-01-01T00:00:02Z")), loan(Value::Null, None)];
        let replayed = Replayed { jobs: &jobs, runs: &BTreeMap::new(), loans: &loans, speed: 3600.0 };
        let got = teams(replayed).expect("figures");
        assert_eq!((got[0].borrowed_gpu_hours, got[1].lent_gpu_hours), (33.0, 3.0));
        assert_eq!((got[2].borrowed_gpu_hours, got[2].lent_gpu_hours), (33.0, 3.0));
    }
}
