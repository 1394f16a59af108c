//! The ledger's lines, every one of them.

use super::job::Job;
use super::step::ExportError;
use super::table::Table;
use chrono::{DateTime, SecondsFormat, Utc};
use reeve_core::csv_text::Field;
use reeve_store::money::entries::{self, EntryFilter, EntryRow};

const COLUMNS: [&str; 14] = [
    "entry_id",
    "pool",
    "share",
    "team",
    "lender",
    "queue",
    "job_id",
    "job_name",
    "kind",
    "priority_class",
    "gpu_milli",
    "started_at",
    "ended_at",
    "gpu_milli_ms",
];

pub(super) async fn write(job: &mut Job<'_>) -> Result<bool, ExportError> {
    let params = &job.params;
    let filter = EntryFilter { from: params.from, to: params.to, teams: job.operation.teams.clone() };
    let total = entries::count(job.store, &filter).await?;
    let mut table = Table::begin(params.format, &COLUMNS, params.bom, &mut job.sink).await?;
    let mut after = (DateTime::<Utc>::MIN_UTC.max(params.from), 0);
    loop {
        let page = entries::page(job.store, &filter, after, Job::PAGE).await?;
        let Some(last) = page.last() else { break };
        after = (last.hour, last.id);
        let rows: Vec<Vec<Field>> = page.iter().map(row).collect();
        table.rows(&rows, &mut job.sink).await?;
        if !job.done(rows.len(), total).await? {
            return Ok(false);
        }
    }
    table.end(&mut job.sink).await?;
    Ok(true)
}

fn row(entry: &EntryRow) -> Vec<Field> {
    let number = |value: i64| Field::Number(value.to_string());
    let at = |at: DateTime<Utc>| Field::text(at.to_rfc3339_opts(SecondsFormat::Millis, true));
    vec![
        number(entry.id),
        Field::text(&entry.pool_slug),
        Field::text(&entry.share),
        Field::maybe(entry.team_slug.as_deref()),
        Field::maybe(entry.lender_slug.as_deref()),
        Field::maybe(entry.queue_slug.as_deref()),
        Field::maybe(entry.job_id.map(|id| id.to_string())),
        Field::maybe(entry.job_name.as_deref()),
        Field::maybe(entry.kind.as_deref()),
        Field::maybe(entry.priority_class.as_deref()),
        number(entry.gpu_milli),
        at(entry.started_at),
        at(entry.ended_at),
        number(entry.amount()),
    ]
}
