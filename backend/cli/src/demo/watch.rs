//! Says what happens: a line for each change of a loan, each recall, and each job that comes back.
//!
//! It refuses to end the demo: what cannot be read now is read a moment later.

use super::seed::POOL;
use crate::client::{Call, Client, ClientError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

const PAUSE: Duration = Duration::from_millis(700);

/// Reads and prints until dropped. What was there before `begin` is not told again.
pub(super) async fn run(admin: &Client, begin: Instant) {
    let mut seen = Seen::default();
    let mut first = true;
    loop {
        match read(admin, &seen).await {
            Ok(now) => {
                let lines = seen.lines(&now);
                if !first {
                    lines.iter().for_each(|line| println!("[{:>4} s] {line}", begin.elapsed().as_secs()));
                }
                first = false;
            }
            Err(error) => tracing::debug!(%error, "watching"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// (lender, borrower) → GPUs.
type Loans = BTreeMap<(String, String), f64>;

/// Below this a difference is one of rounding.
const DUST: f64 = 0.01;

/// What is read each time.
#[derive(Debug, Default)]
struct Now {
    loans: Loans,
    /// Newest first.
    reclaims: Vec<Value>,
    /// Evicted jobs that were waited for.
    evicted: Vec<Value>,
}

#[derive(Debug, Default)]
struct Seen {
    loans: Loans,
    waiting_reclaims: BTreeSet<String>,
    ended_reclaims: BTreeSet<String>,
    evicted_jobs: BTreeSet<String>,
}

async fn read(admin: &Client, seen: &Seen) -> Result<Now, ClientError> {
    let matrix = admin.send(Call::get("/loans/matrix").query("pool", Some(POOL))).await?;
    let reclaims =
        admin.send(Call::get("/reclaims").query("pool", Some(POOL)).query("limit", Some(20))).await?;
    let mut now =
        Now { loans: loans(&matrix), reclaims: items(&reclaims).cloned().collect(), evicted: Vec::new() };
    for id in &seen.evicted_jobs {
        now.evicted.push(admin.send(Call::get(format!("/jobs/{id}"))).await?);
    }
    Ok(now)
}

fn loans(matrix: &Value) -> Loans {
    let cells = matrix["cells"].as_array().into_iter().flatten();
    cells
        .filter_map(|cell| {
            let lender = cell["lender"]["slug"].as_str().unwrap_or("nobody's guarantee");
            Some(((lender.to_owned(), slug(&cell["borrower"])?), cell["gpus"].as_f64()?))
        })
        .collect()
}

impl Seen {
    /// What is new, in words; remembers it.
    fn lines(&mut self, now: &Now) -> Vec<String> {
        let mut lines = Vec::new();
        self.reclaims(now, &mut lines);
        self.loans(now, &mut lines);
        self.resumed(now, &mut lines);
        lines
    }

    /// A line a borrower whose sum has changed: who lends how much of it moves with every start, and is for the console.
    fn loans(&mut self, now: &Now, lines: &mut Vec<String>) {
        let borrowers: BTreeSet<&str> =
            self.loans.keys().chain(now.loans.keys()).map(|(_, borrower)| borrower.as_str()).collect();
        for borrower in borrowers {
            let (before, after) = (borrowed(&self.loans, borrower), borrowed(&now.loans, borrower));
            let lenders = lenders(&now.loans, borrower);
            if after > before + DUST {
                lines.push(format!("{borrower} borrows {} from {lenders}", short(after)));
            } else if after < before - DUST && after > DUST {
                let back = short(before - after);
                lines.push(format!(
                    "{borrower} has given {back} back, borrows {} from {lenders}",
                    short(after)
                ));
            } else if after < before - DUST {
                lines.push(format!("{borrower} has given {} back, borrows nothing", short(before)));
            }
        }
        self.loans.clone_from(&now.loans);
    }

    fn reclaims(&mut self, now: &Now, lines: &mut Vec<String>) {
        for reclaim in now.reclaims.iter().rev() {
            let Some(id) = reclaim["id"].as_str() else { continue };
            let evictor = slug(&reclaim["evictor_team"]).unwrap_or_else(|| "the operator".to_owned());
            if self.waiting_reclaims.insert(id.to_owned()) {
                lines.push(recall_line(reclaim, &evictor));
                let jobs =
                    items_of(reclaim, "evictions").filter_map(|eviction| eviction["job"]["id"].as_str());
                self.evicted_jobs.extend(jobs.map(str::to_owned));
            }
            if reclaim["state"] != "waiting" && self.ended_reclaims.insert(id.to_owned()) {
                lines.push(end_line(reclaim, &evictor));
            }
        }
    }

    fn resumed(&mut self, now: &Now, lines: &mut Vec<String>) {
        for job in &now.evicted {
            let (Some(id), state) = (job["id"].as_str(), job["state"].as_str().unwrap_or_default()) else {
                continue;
            };
            let back = state == "running" && job["run_number"].as_i64() > Some(1);
            if back {
                lines.push(format!(
                    "{} of {} runs again from its checkpoint, as run {}",
                    text(&job["name"]),
                    text(&job["team"]["slug"]),
                    job["run_number"]
                ));
            }
            if back || !job["finished_at"].is_null() {
                self.evicted_jobs.remove(id);
            }
        }
    }
}

fn recall_line(reclaim: &Value, evictor: &str) -> String {
    let victims: Vec<String> = items_of(reclaim, "evictions")
        .map(|eviction| {
            format!(
                "{} of {} ({})",
                text(&eviction["job"]["name"]),
                text(&eviction["team"]["slug"]),
                gpus(&eviction["gpus"])
            )
        })
        .collect();
    let cause = items_of(reclaim, "evictions").next().map_or("reclaim", |eviction| text(&eviction["cause"]));
    let verb = if cause == "reclaim" { "recalls" } else { "preempts" };
    let asker =
        reclaim["evictor_job"]["name"].as_str().map(|name| format!(" for {name}")).unwrap_or_default();
    format!("{evictor} {verb} {}{asker}: {}", gpus(&reclaim["gpus"]), victims.join(", "))
}

fn end_line(reclaim: &Value, evictor: &str) -> String {
    let name = reclaim["evictor_job"]["name"].as_str().unwrap_or("its job");
    let saved =
        items_of(reclaim, "evictions").filter(|eviction| !eviction["checkpointed_at"].is_null()).count();
    match reclaim["state"].as_str() {
        Some("done") => format!(
            "{evictor} has {} back, {saved} checkpoints written: {name} starts",
            gpus(&reclaim["gpus"])
        ),
        state => format!("{evictor}'s recall for {name} ended: {}", state.unwrap_or("unknown")),
    }
}

fn items(page: &Value) -> impl Iterator<Item = &Value> {
    items_of(page, "items")
}

fn items_of<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn slug(team: &Value) -> Option<String> {
    team["slug"].as_str().map(str::to_owned)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn gpus(value: &Value) -> String {
    short(value.as_f64().unwrap_or(0.0))
}

/// 4, or 0.4.
fn short(gpus: f64) -> String {
    let text = format!("{gpus:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn borrowed(loans: &Loans, borrower: &str) -> f64 {
    loans.iter().filter(|((_, by), _)| by == borrower).map(|(_, gpus)| gpus).sum()
}

/// "vision", or "vision (3) and search (1.5)".
fn lenders(loans: &Loans, borrower: &str) -> String {
    let of: Vec<_> = loans.iter().filter(|((_, by), _)| by == borrower).collect();
    if let [((lender, _), _)] = of.as_slice() {
        return lender.clone();
    }
    let each: Vec<String> =
        of.iter().map(|((lender, _), gpus)| format!("{lender} ({})", short(**gpus))).collect();
    each.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn now(borrowed: f64, reclaim_state: Option<&str>) -> Now {
        let cell = json!({"lender": {"slug": "vision"}, "borrower": {"slug": "speech"}, "gpus": borrowed});
        let reclaim = reclaim_state.map(|state| {
            json!({"id": "r1", "state": state, "gpus": 4.0, "evictor_team": {"slug": "vision"},
                "evictor_job": {"name": "ocr"}, "evictions": [{"job": {"id": "j1", "name": "asr"}, "cause": "reclaim",
                "team": {"slug": "speech"}, "gpus": 4.0, "checkpointed_at": "2026-01-01T00:00:00Z"}]})
        });
        Now {
            loans: loans(&json!({"cells": if borrowed > 0.0 { vec![cell] } else { Vec::new() }})),
            reclaims: reclaim.into_iter().collect(),
            evicted: Vec::new(),
        }
    }

    #[test]
    fn a_loan_and_its_recall_are_told_once_each() {
        let mut seen = Seen::default();
        assert_eq!(seen.lines(&now(6.0, None)), ["speech borrows 6 from vision"]);
        assert!(seen.lines(&now(6.0, None)).is_empty());
        assert_eq!(seen.lines(&now(6.0, Some("waiting"))), ["vision recalls 4 for ocr: asr of speech (4)"]);
        let back = seen.lines(&now(2.0, Some("done")));
        assert_eq!(
            back,
            [
                "vision has 4 back, 1 checkpoints written: ocr starts",
                "speech has given 4 back, borrows 2 from vision"
            ]
        );
        assert!(seen.lines(&now(2.0, Some("done"))).is_empty());
    }

    #[test]
    fn an_evicted_job_is_told_when_it_runs_again() {
        let mut seen = Seen::default();
        seen.lines(&now(6.0, Some("waiting")));
        let mut later = now(6.0, Some("waiting"));
        later.evicted = vec![
            json!({"id": "j1", "name": "asr", "state": "running", "run_number": 2, "team": {"slug": "speech"}}),
        ];
        assert_eq!(seen.lines(&later), ["asr of speech runs again from its checkpoint, as run 2"]);
        assert!(seen.evicted_jobs.is_empty());
    }
}
