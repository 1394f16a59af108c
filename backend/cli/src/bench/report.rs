//! Figures: a line each, a table at the end, JSON in a file.

use serde::Serialize;
use std::path::Path;

/// What a figure should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "bound", content = "value", rename_all = "snake_case")]
pub(super) enum Target {
    Below(f64),
    AtMost(f64),
    AtLeast(f64),
    /// Printed for comparison; nothing was promised.
    None,
}

#[derive(Debug, Serialize)]
struct Figure {
    case: String,
    metric: String,
    value: f64,
    target: Target,
    ok: bool,
}

/// One section's figures.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    section: &'static str,
    title: &'static str,
    machine: Machine,
    figures: Vec<Figure>,
}

#[derive(Debug, Serialize)]
struct Machine {
    cores: usize,
    cpu: String,
}

impl Report {
    pub(super) fn new(section: &'static str, title: &'static str) -> Self {
        println!("\nbench {section}: {title}");
        Self { section, title, machine: Machine::here(), figures: Vec::new() }
    }

    /// Adds a figure, and prints its line at once: `bench <section> <case> <metric> <value> <target> ok|short`.
    pub(super) fn add(
        &mut self,
        case: impl Into<String>,
        metric: impl Into<String>,
        value: f64,
        target: Target,
    ) {
        let (case, metric) = (case.into(), metric.into());
        let (ok, wanted) = match target {
            Target::Below(most) => (value < most, format!("<{most}")),
            Target::AtMost(most) => (value <= most, format!("<={most}")),
            Target::AtLeast(least) => (value >= least, format!(">={least}")),
            Target::None => (true, "-".to_owned()),
        };
        let verdict = if ok { "ok" } else { "short" };
        println!("bench {} {case} {metric} {value:.3} {wanted} {verdict}", self.section);
        self.figures.push(Figure { case, metric, value, target, ok });
    }

    /// Prints the table and writes `<out>/<section>.json`.
    pub(super) fn finish(self, out: &Path) -> anyhow::Result<()> {
        println!("\n{} {} on {} cores, {}", self.section, self.title, self.machine.cores, self.machine.cpu);
        println!("{:<28} {:<32} {:>14} {:>14} {:>8}", "case", "metric", "ours", "target", "ratio");
        for figure in &self.figures {
            let (target, ratio) = match figure.target {
                Target::Below(value) => (format!("< {value}"), format!("{:.2}", figure.value / value)),
                Target::AtMost(value) => (format!("<= {value}"), format!("{:.2}", figure.value / value)),
                Target::AtLeast(value) => (format!(">= {value}"), format!("{:.2}", figure.value / value)),
                Target::None => ("-".to_owned(), "-".to_owned()),
            };
            println!(
                "{:<28} {:<32} {:>14.3} {target:>14} {ratio:>8}",
                figure.case, figure.metric, figure.value
            );
        }
        std::fs::create_dir_all(out)?;
        std::fs::write(out.join(format!("{}.json", self.section)), serde_json::to_vec_pretty(&self)?)?;
        Ok(())
    }
}

impl Machine {
    fn here() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split(':').nth(1))
            .map_or_else(|| "unknown CPU".to_owned(), |name| name.trim().to_owned());
        Self { cores: std::thread::available_parallelism().map_or(1, usize::from), cpu }
    }
}

/// The `percent`-th percentile (nearest rank) of unsorted values; 0 for none.
pub(super) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_nearest_rank() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 99)), (50.0, 99.0));
        assert_eq!(percentile(&[7.0], 99), 7.0);
        assert_eq!(percentile(&[], 50), 0.0);
    }
}
