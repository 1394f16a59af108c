//! What shall be run: teams and their jobs, in order of submission, on the virtual clock.
//!
//! Times are whole microseconds since the workload's beginning: sums of them are exact. This module refuses to know
//! where jobs run, and who may run what.

use crate::trace::{Trace, TraceError};
use reeve_core::kind::Kind;
use reeve_core::priority::{Priority, PriorityClass};
use std::collections::HashMap;

/// Microseconds of virtual time.
pub type Micros = i64;

/// Microseconds of a second.
pub const SECOND: Micros = 1_000_000;

/// A job as it was, or would be, submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub name: String,
    /// Its place in [`Workload::teams`].
    pub team: usize,
    pub at: Micros,
    /// How long it runs, were it left alone.
    pub runs: Micros,
    /// It leaves at that moment, done or not, started or not.
    pub until: Option<Micros>,
    pub gpus: u32,
    /// A part of one GPU.
    pub milli: Option<u32>,
    pub kind: Option<Kind>,
    pub priority: Option<Priority>,
}

impl Task {
    /// What it asks of the quota.
    #[must_use]
    pub fn asks_milli(&self) -> i64 {
        self.milli.map_or(i64::from(self.gpus) * 1_000, i64::from)
    }
}

/// Jobs, earliest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workload {
    pub teams: Vec<String>,
    pub tasks: Vec<Task>,
}

impl Workload {
    /// The jobs of a trace. A kind or priority that it does not say is left to the policy.
    ///
    /// # Errors
    /// A kind or priority that does not exist, naming the line.
    pub fn of(trace: &Trace) -> Result<Self, TraceError> {
        let mut workload = Self::default();
        let mut index: HashMap<&str, usize> = HashMap::new();
        for row in &trace.rows {
            let next = workload.teams.len();
            let team = *index.entry(row.team.as_str()).or_insert(next);
            if team == next {
                workload.teams.push(row.team.clone());
            }
            let wrong = |text: &str, what| TraceError::Wrong { line: row.line, text: text.to_owned(), what };
            let kind = row.kind.as_deref().map(|text| text.parse::<Kind>().map_err(|_| wrong(text, "kind")));
            let class = row
                .priority
                .as_deref()
                .map(|text| text.parse::<PriorityClass>().map_err(|_| wrong(text, "priority class")));
            workload.tasks.push(Task {
                name: row.name.clone().unwrap_or_else(|| format!("line-{}", row.line)),
                team,
                at: micros(row.at_secs),
                runs: micros(row.duration_secs).max(1),
                until: None,
                gpus: row.gpus,
                milli: row.gpu_milli,
                kind: kind.transpose()?,
                priority: class.transpose()?.map(PriorityClass::value),
            });
        }
        Ok(workload)
    }

    /// Only the jobs of teams that `keep` names.
    pub fn retain_teams(&mut self, keep: impl Fn(&str) -> bool) {
        let kept: Vec<bool> = self.teams.iter().map(|team| keep(team)).collect();
        let place: Vec<usize> = kept
            .iter()
            .scan(0, |next, &kept| {
                let place = *next;
                *next += usize::from(kept);
                Some(place)
            })
            .collect();
        self.tasks.retain(|task| kept[task.team]);
        self.tasks.iter_mut().for_each(|task| task.team = place[task.team]);
        let mut kept = kept.into_iter();
        self.teams.retain(|_| kept.next().unwrap_or(false));
    }

    /// Only jobs of `from ≤ at < to`, counted anew from the first of them.
    pub fn retain_between(&mut self, from: Micros, to: Micros) {
        self.tasks.retain(|task| (from..to).contains(&task.at));
        let first = self.tasks.first().map_or(0, |task| task.at);
        for task in &mut self.tasks {
            task.at -= first;
            task.until = task.until.map(|until| until - first);
        }
    }

    /// When the last job is submitted.
    #[must_use]
    pub fn last_submission(&self) -> Micros {
        self.tasks.last().map_or(0, |task| task.at)
    }

    /// Teams and jobs under other names: nothing that is measured may change by it.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        self.teams.iter_mut().for_each(|team| *team = name(team));
        self.tasks.iter_mut().for_each(|task| task.name = name(&task.name));
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a trace's seconds, bounded when it is read")]
fn micros(secs: f64) -> Micros {
    (secs * SECOND as f64).round() as Micros
}
