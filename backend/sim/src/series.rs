//! A simulation over time, as average GPUs in equal spans: what pictures and programs read.
//!
//! This module refuses to smooth: a span's value is its integral divided by its time.

use crate::record::{Amount, Record, Span, Sums};
use crate::workload::{Micros, SECOND};
use reeve_core::schedule::snapshot::Snapshot;
use serde::Serialize;

/// One team's GPUs by span.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeamSeries {
    pub team: String,
    pub guaranteed_gpus: f64,
    pub used_gpus: Vec<f64>,
    pub borrowed_gpus: Vec<f64>,
    pub lent_gpus: Vec<f64>,
    pub waiting_gpus: Vec<f64>,
}

/// All of it; teams in the order of the policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    pub span_secs: f64,
    /// When the last job was submitted.
    pub window_secs: f64,
    pub capacity_gpus: Vec<f64>,
    pub evictions: Vec<u32>,
    pub teams: Vec<TeamSeries>,
}

impl Series {
    #[must_use]
    pub fn of(cluster: &Snapshot, record: &Record) -> Self {
        let by_span = |team: usize, of: fn(&Sums) -> Amount| -> Vec<f64> {
            record.spans.iter().map(|span| gpus(of(&span.teams[team]), span.micros)).collect()
        };
        let guaranteed = |team: usize| -> f64 {
            let own = cluster.quotas.iter().filter(|quota| quota.team == cluster.teams[team].id);
            own.map(|quota| quota.guaranteed.as_gpus()).sum()
        };
        let teams = cluster.teams.iter().enumerate().map(|(at, team)| TeamSeries {
            team: team.slug.clone(),
            guaranteed_gpus: guaranteed(at),
            used_gpus: by_span(at, |sums| sums.used),
            borrowed_gpus: by_span(at, |sums| sums.borrowed),
            lent_gpus: by_span(at, |sums| sums.lent),
            waiting_gpus: by_span(at, |sums| sums.waiting),
        });
        let capacity = |span: &Span| gpus(span.capacity, span.micros);
        Self {
            span_secs: record.span_micros as f64 / SECOND as f64,
            window_secs: record.window as f64 / SECOND as f64,
            capacity_gpus: record.spans.iter().map(capacity).collect(),
            evictions: record.spans.iter().map(|span| span.evictions).collect(),
            teams: teams.collect(),
        }
    }

    /// Without the tail in which nothing more is submitted and the last long jobs run out, but for its beginning.
    #[must_use]
    pub fn without_tail(&self) -> Self {
        let spans = (self.window_secs * 1.1 / self.span_secs.max(f64::MIN_POSITIVE)).ceil() as usize;
        let mut short = self.clone();
        short.capacity_gpus.truncate(spans);
        short.evictions.truncate(spans);
        for team in &mut short.teams {
            for values in
                [&mut team.used_gpus, &mut team.borrowed_gpus, &mut team.lent_gpus, &mut team.waiting_gpus]
            {
                values.truncate(spans);
            }
        }
        short
    }

    /// All teams together, span by span.
    #[must_use]
    pub fn total(&self, of: impl Fn(&TeamSeries) -> &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; self.capacity_gpus.len()];
        for team in &self.teams {
            total.iter_mut().zip(of(team)).for_each(|(sum, value)| *sum += value);
        }
        total
    }
}

fn gpus(amount: Amount, micros: Micros) -> f64 {
    if micros == 0 { 0.0 } else { amount as f64 / 1_000.0 / micros as f64 }
}
