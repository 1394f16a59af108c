//! The command: which sections, and what becomes of the figures.

use super::report::Report;
use super::{admission, audit, audit_live, cycle, earth, exports, idle, packing, philly, service, states};
use clap::Args;
use std::path::PathBuf;

/// Measure and print the figures.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Only this section: A (packing, on openb), B (admission, end to end), C (lending, on Helios Earth), D (real jobs, of Philly), E (planning
    /// cycle), F (service), G (proving the audit log), I (idle reclaim), L (exports of
    /// the ledger) or P (random states under the judge)
    #[arg(long)]
    only: Option<String>,
    /// Where published traces lie, for A, C and D: openb/ (nodes, pods, arrivals, published figures),
    /// helios-earth/tenant_minutes_2020_05.csv.gz, philly/jobs.csv.gz and philly/vc_nodes.csv
    #[arg(long, default_value = "data", value_name = "DIR")]
    data: PathBuf,
    /// Random states to plan and judge in section P
    #[arg(long, default_value_t = 1_000_000)]
    states: u64,
    /// Events of the log that section G proves
    #[arg(long, default_value_t = 1_000_000)]
    events: i64,
    /// Lines of the ledger that section L exports; xlsx has room for 1,048,575 a sheet
    #[arg(long, default_value_t = 1_000_000)]
    entries: i64,
    /// Jobs in the table when lists and explanations are measured in section F
    #[arg(long, default_value_t = 100_000)]
    jobs: usize,
    /// Seconds for each measurement of throughput in section F
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Where the figures go as JSON, one file a section
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
}

/// Runs the sections.
///
/// # Errors
/// When something could not be measured at all; never because a figure falls short.
pub(crate) async fn run(args: BenchArgs) -> anyhow::Result<()> {
    let wanted = |section: &str| args.only.as_deref().is_none_or(|only| only.eq_ignore_ascii_case(section));
    if let Some(only) = &args.only {
        anyhow::ensure!(
            ["A", "B", "C", "D", "E", "F", "G", "I", "L", "P"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(only)),
            "no section {only:?}: there are A, B, C, D, E, F, G, I, L and P"
        );
    }
    if wanted("A") {
        let mut report = Report::new("A", "packing on the openb trace");
        tokio::task::block_in_place(|| packing::measure(&mut report, &args.data))?;
        report.finish(&args.out)?;
    }
    if wanted("B") {
        let mut report = Report::new("B", "admission under quota, as in Kueue's published runs");
        admission::measure(&mut report).await?;
        report.finish(&args.out)?;
    }
    if wanted("C") {
        let mut report = Report::new("C", "what borrowing gives on the Helios Earth trace");
        tokio::task::block_in_place(|| earth::measure(&mut report, &args.data))?;
        report.finish(&args.out)?;
    }
    if wanted("D") {
        let mut report = Report::new("D", "real jobs of the Philly trace");
        tokio::task::block_in_place(|| philly::measure(&mut report, &args.data))?;
        report.finish(&args.out)?;
    }
    if wanted("E") {
        let mut report = Report::new("E", "planning cycle");
        tokio::task::block_in_place(|| cycle::measure(&mut report));
        report.finish(&args.out)?;
    }
    if wanted("I") {
        let mut report = Report::new("I", "idle reclaim on duty cycles with known truth");
        tokio::task::block_in_place(|| idle::measure(&mut report));
        report.finish(&args.out)?;
    }
    if wanted("P") {
        let mut report = Report::new("P", "random states under the judge");
        tokio::task::block_in_place(|| states::measure(&mut report, args.states));
        report.finish(&args.out)?;
    }
    if wanted("G") {
        let mut report = Report::new("G", "proving the audit log");
        tokio::task::block_in_place(|| audit::measure(&mut report, args.events))?;
        audit_live::measure(&mut report, args.events).await?;
        report.finish(&args.out)?;
    }
    if wanted("L") {
        let mut report = Report::new("L", "exports of the ledger");
        exports::measure(&mut report, args.entries).await?;
        report.finish(&args.out)?;
    }
    if wanted("F") {
        let mut report = Report::new("F", "service");
        service::measure(&mut report, args.jobs, std::time::Duration::from_secs(args.seconds)).await?;
        report.finish(&args.out)?;
    }
    Ok(())
}
