//! The workload that ships with the demo: `demo/workload.csv`, whose README says how it was made.
//!
//! It refuses rows that it does not understand: the file is ours.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const FILE: &str = include_str!("../../demo/workload.csv");
const JOB: &str = include_str!("../../demo/job.sh");
/// The label that the demo's own jobs carry.
pub(super) const LABEL: &str = "demo";

/// A job of the workload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    at_secs: f64,
    pub(super) team: String,
    pub(super) user: String,
    queue: String,
    name: String,
    kind: String,
    gpus: u32,
    replicas: u32,
    duration_secs: u32,
}

/// The whole file, and how long it takes.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) rows: Vec<Row>,
    length: Duration,
}

impl Workload {
    pub(super) fn read() -> anyhow::Result<Self> {
        let rows: Vec<Row> = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(FILE.as_bytes())
            .deserialize()
            .collect::<Result<_, _>>()
            .context("workload.csv")?;
        let last = rows.last().context("workload.csv is empty")?.at_secs;
        ensure!(rows.is_sorted_by(|a, b| a.at_secs <= b.at_secs), "workload.csv is not in order");
        // The next round begins when the last act has had its time.
        Ok(Self { rows, length: Duration::from_secs_f64(last + 40.0) })
    }

    /// When a row is due in a round, from the demo's start.
    pub(super) fn due(&self, round: u32, row: &Row) -> Duration {
        self.length * round + Duration::from_secs_f64(row.at_secs)
    }
}

/// The job as the REST API takes it.
pub(super) fn job(row: &Row, round: u32) -> Value {
    let name = if round == 0 { row.name.clone() } else { format!("{}-r{}", row.name, round + 1) };
    json!({
        "name": name,
        "team": row.team,
        "queue": row.queue,
        "kind": row.kind,
        "gpus": row.gpus,
        "replicas": row.replicas,
        "checkpoint": "on_signal",
        "checkpoint_signal": "USR1",
        "command": ["sh", "-c", JOB, "demo-job", row.duration_secs.to_string()],
        "labels": {LABEL: "workload"},
    })
}

#[cfg(test)]
mod tests {
    use super::super::logins::PEOPLE;
    use super::super::seed::{GUARANTEED_GPUS, TEAMS};
    use super::*;

    #[test]
    fn the_shipped_workload_is_of_teams_and_people_of_the_demo() {
        let workload = Workload::read().expect("reads");
        assert!(workload.rows.len() > 100, "{}", workload.rows.len());
        for row in &workload.rows {
            assert!(TEAMS.iter().any(|(slug, _)| *slug == row.team), "{row:?}");
            let person = PEOPLE.iter().find(|person| person.username == row.user).expect("a person");
            assert!(person.role.is_some_and(|(team, _)| team == row.team), "{row:?}");
            assert!(row.queue.starts_with(&row.team), "{row:?}");
            assert!(row.gpus <= 8 && row.gpus * row.replicas <= 24, "{row:?}");
        }
    }

    /// What a newcomer is promised: loans and a reclaim within a minute.
    #[test]
    fn in_the_first_minute_two_teams_borrow_and_the_third_comes_back() {
        let workload = Workload::read().expect("reads");
        let asked = |team: &str, from: f64, to: f64| -> u32 {
            let within = |row: &&Row| row.team == team && (from..to).contains(&row.at_secs);
            workload.rows.iter().filter(within).map(|row| row.gpus * row.replicas).sum()
        };
        assert!(asked("speech", 0.0, 15.0) > GUARANTEED_GPUS);
        assert!(asked("search", 0.0, 15.0) > GUARANTEED_GPUS);
        assert_eq!(asked("vision", 0.0, 15.0), 0);
        assert_eq!(asked("speech", 0.0, 15.0) + asked("search", 0.0, 15.0), 3 * GUARANTEED_GPUS);
        let back = asked("vision", 15.0, 45.0);
        assert!((4..=GUARANTEED_GPUS).contains(&back), "{back}");
    }

    #[test]
    fn later_rounds_have_names_of_their_own() {
        let workload = Workload::read().expect("reads");
        assert_ne!(job(&workload.rows[0], 0)["name"], job(&workload.rows[0], 1)["name"]);
        assert!(
            workload.due(1, &workload.rows[0]) > workload.due(0, &workload.rows[workload.rows.len() - 1])
        );
    }
}
