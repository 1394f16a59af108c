//! What became of the jobs. It refuses to guess: a job that has not started yet has no wait, and is counted apart.

use crate::output::{Output, table};
use anyhow::Context;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// One team's figures, in real seconds (the trace's divided by the speed).
#[derive(Debug, Default, Serialize, PartialEq)]
pub(crate) struct TeamReport {
    pub(crate) team: String,
    pub(crate) jobs: usize,
    pub(crate) succeeded: usize,
    pub(crate) never_started: usize,
    pub(crate) evictions: u64,
    pub(crate) wait_mean_secs: f64,
    pub(crate) wait_p50_secs: f64,
    pub(crate) wait_p95_secs: f64,
}

/// Per team, and all together under `(all)`, from the jobs' views.
pub(crate) fn teams(jobs: &[Value]) -> anyhow::Result<Vec<TeamReport>> {
    let mut by_team: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for job in jobs {
        by_team.entry(job["team"]["slug"].as_str().context("a job without a team")?).or_default().push(job);
    }
    let mut reports: Vec<TeamReport> =
        by_team.iter().map(|(team, jobs)| one(team, jobs)).collect::<anyhow::Result<_>>()?;
    reports.push(one("(all)", &jobs.iter().collect::<Vec<_>>())?);
    Ok(reports)
}

fn one(team: &str, jobs: &[&Value]) -> anyhow::Result<TeamReport> {
    let mut waits = Vec::new();
    for job in jobs {
        if let Some(started) = time(job, "started_at")? {
            let submitted = time(job, "submitted_at")?.context("a job without submitted_at")?;
            waits.push((started - submitted).as_seconds_f64().max(0.0));
        }
    }
    waits.sort_by(f64::total_cmp);
    Ok(TeamReport {
        team: team.to_owned(),
        jobs: jobs.len(),
        succeeded: jobs.iter().filter(|job| job["state"] == "succeeded").count(),
        never_started: jobs.len() - waits.len(),
        evictions: jobs.iter().filter_map(|job| job["eviction_count"].as_u64()).sum(),
        wait_mean_secs: if waits.is_empty() { 0.0 } else { waits.iter().sum::<f64>() / waits.len() as f64 },
        wait_p50_secs: percentile(&waits, 50),
        wait_p95_secs: percentile(&waits, 95),
    })
}

fn time(job: &Value, field: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let text = job[field].as_str();
    text.map(|text| text.parse().with_context(|| format!("{field}: {text}"))).transpose()
}

/// Nearest rank.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

pub(crate) fn print(reports: &[TeamReport], loans: usize, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.json(&serde_json::json!({"teams": reports, "loan_intervals": loans}));
    }
    let titles = ["TEAM", "JOBS", "SUCCEEDED", "NEVER STARTED", "EVICTIONS", "WAIT MEAN", "P50", "P95"];
    let row = |team: &TeamReport| {
        vec![
            team.team.clone(),
            team.jobs.to_string(),
            team.succeeded.to_string(),
            team.never_started.to_string(),
            team.evictions.to_string(),
            format!("{:.2} s", team.wait_mean_secs),
            format!("{:.2} s", team.wait_p50_secs),
            format!("{:.2} s", team.wait_p95_secs),
        ]
    };
    print!("{}", table(titles.map(str::to_owned).to_vec(), reports.iter().map(row).collect()));
    println!("loan intervals on the ledger: {loans}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn waits_are_of_started_jobs_only() {
        let job = |team: &str, started: Option<&str>, state: &str| {
            json!({"team": {"slug": team}, "state": state, "eviction_count": 1,
                "submitted_at": "2026-01-01T00:00:00Z", "started_at": started})
        };
        let jobs = [
            job("a", Some("2026-01-01T00:00:01Z"), "succeeded"),
            job("a", Some("2026-01-01T00:00:03Z"), "failed"),
            job("a", None, "cancelled"),
            job("b", None, "cancelled"),
        ];
        let got = teams(&jobs).expect("figures");
        assert_eq!((got[0].wait_mean_secs, got[0].wait_p50_secs, got[0].wait_p95_secs), (2.0, 1.0, 3.0));
        assert_eq!((got[0].succeeded, got[0].never_started, got[0].evictions), (1, 1, 3));
        assert_eq!((got[1].wait_mean_secs, got[1].never_started), (0.0, 1));
        assert_eq!((got[2].team.as_str(), got[2].jobs), ("(all)", 4));
    }
}
