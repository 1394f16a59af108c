//! Results of running files: one line a scenario, and JSON for programs.

use super::parse::parse;
use super::run::{Outcome, Planner, run};
use super::yaml::FormatError;
use serde::Serialize;
use std::fmt::Write as _;

/// One file's results, or why it could not be read.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    pub file: String,
    /// `line:column: message` of a malformed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub scenarios: Vec<Outcome>,
}

impl FileReport {
    /// Runs all scenarios of a file's text.
    #[must_use]
    pub fn of(file: &str, text: &str, planner: Planner) -> Self {
        match parse(text) {
            Ok(scenarios) => Self {
                file: file.into(),
                error: None,
                scenarios: scenarios.iter().map(|scenario| run(scenario, planner)).collect(),
            },
            Err(error) => Self::unreadable(file, &error),
        }
    }

    fn unreadable(file: &str, error: &FormatError) -> Self {
        Self { file: file.into(), error: Some(error.to_string()), scenarios: Vec::new() }
    }

    #[must_use]
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.scenarios.iter().all(|scenario| scenario.passed)
    }

    /// One line a scenario, expected against got under a failed one, and all steps with `explain`.
    #[must_use]
    pub fn text(&self, explain: bool) -> String {
        let mut out = String::new();
        if let Some(error) = &self.error {
            let _ = writeln!(out, "error {}:{error}", self.file);
        }
        for scenario in &self.scenarios {
            let verdict = if scenario.passed { "ok   " } else { "FAIL " };
            let _ = writeln!(out, "{verdict} {}: {}", self.file, scenario.name);
            for note in &scenario.notes {
                let _ = writeln!(out, "      note {}:{note}", self.file);
            }
            if explain {
                explain_steps(scenario, &mut out);
            }
            for failure in &scenario.failures {
                let _ = writeln!(
                    out,
                    "      {}:{} step {}, {}: expected {}, got {}",
                    self.file, failure.at, failure.step, failure.what, failure.expected, failure.got
                );
            }
        }
        out
    }
}

fn explain_steps(scenario: &Outcome, out: &mut String) {
    for step in &scenario.steps {
        let _ = writeln!(out, "      step {} (line {}): {}", step.step, step.at.line, step.title);
        for line in &step.lines {
            let _ = writeln!(out, "        {line}");
        }
    }
}
