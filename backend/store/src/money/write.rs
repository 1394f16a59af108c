//! Puts settled hours and their days in place of what stood there.

use crate::error::StoreError;
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::money::ledger::Entry;
use reeve_core::money::quantity::micro_hours;
use sqlx::PgConnection;
use uuid::Uuid;

/// Lines of one insert, a column each.
#[derive(Default)]
struct Columns {
    shares: Vec<String>,
    teams: Vec<Option<Uuid>>,
    lenders: Vec<Option<Uuid>>,
    runs: Vec<Option<Uuid>>,
    jobs: Vec<Option<Uuid>>,
    queues: Vec<Option<Uuid>>,
    kinds: Vec<Option<String>>,
    classes: Vec<Option<String>>,
    millis: Vec<i64>,
    from: Vec<DateTime<Utc>>,
    to: Vec<DateTime<Utc>>,
}

impl Columns {
    fn of(entries: &[Entry]) -> Self {
        let mut columns = Self::default();
        let at = |millis| DateTime::from_timestamp_millis(millis).unwrap_or_default();
        for entry in entries {
            let (part, work) = (&entry.part, entry.part.work());
            columns.shares.push(part.share().to_string());
            columns.teams.push(part.team().map(|team| team.0));
            columns.lenders.push(part.lender().map(|team| team.0));
            columns.runs.push(work.map(|work| work.run));
            columns.jobs.push(work.map(|work| work.job.0));
            columns.queues.push(work.map(|work| work.queue.0));
            columns.kinds.push(work.map(|work| work.kind.to_string()));
            columns.classes.push(work.map(|work| work.class.to_string()));
            columns.millis.push(entry.milli);
            columns.from.push(at(entry.span.from));
            columns.to.push(at(entry.span.to));
        }
        columns
    }
}

/// The lines of one hour, instead of those it had.
pub(super) async fn hour(
    connection: &mut PgConnection,
    pool: Uuid,
    hour: DateTime<Utc>,
    entries: &[Entry],
) -> Result<(), StoreError> {
    sqlx::query!("delete from ledger_entries where pool_id = $1 and hour = $2", pool, hour)
        .execute(&mut *connection)
        .await?;
    let columns = Columns::of(entries);
    sqlx::query!(
        "insert into ledger_entries (pool_id, hour, share, team_id, lender_team_id, run_id, job_id, queue_id, kind,
                                     priority_class, gpu_milli, started_at, ended_at)
         select $1, $2, n.share, n.team, n.lender, n.run, n.job, n.queue, n.kind, n.class, n.milli, n.began, n.ended
         from unnest($3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[], $9::text[], $10::text[],
                     $11::bigint[], $12::timestamptz[], $13::timestamptz[])
           as n(share, team, lender, run, job, queue, kind, class, milli, began, ended)",
        pool,
        hour,
        &columns.shares,
        &columns.teams as &[Option<Uuid>],
        &columns.lenders as &[Option<Uuid>],
        &columns.runs as &[Option<Uuid>],
        &columns.jobs as &[Option<Uuid>],
        &columns.queues as &[Option<Uuid>],
        &columns.kinds as &[Option<String>],
        &columns.classes as &[Option<String>],
        &columns.millis,
        &columns.from,
        &columns.to
    )
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// A day of the ledger summed up and rounded to what is billed, instead of what stood there.
pub(super) async fn day(connection: &mut PgConnection, pool: Uuid, day: NaiveDate) -> Result<(), StoreError> {
    let from = day.and_time(chrono::NaiveTime::MIN).and_utc();
    let rows = sqlx::query!(
        r#"select share, team_id, lender_team_id, job_id, queue_id, kind, priority_class,
                  sum(gpu_milli * (extract(epoch from ended_at - started_at) * 1000)::bigint)::bigint as "amount!"
           from ledger_entries where pool_id = $1 and hour >= $2 and hour < $2 + interval '24 hours'
           group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7"#,
        pool,
        from
    )
    .fetch_all(&mut *connection)
    .await?;
    sqlx::query!("delete from usage_days where pool_id = $1 and day = $2", pool, day)
        .execute(&mut *connection)
        .await?;
    let amounts: Vec<i64> = rows.iter().map(|row| row.amount).collect();
    let hours = micro_hours(&amounts);
    let shares: Vec<String> = rows.iter().map(|row| row.share.clone()).collect();
    let teams: Vec<Option<Uuid>> = rows.iter().map(|row| row.team_id).collect();
    let lenders: Vec<Option<Uuid>> = rows.iter().map(|row| row.lender_team_id).collect();
    let jobs: Vec<Option<Uuid>> = rows.iter().map(|row| row.job_id).collect();
    let queues: Vec<Option<Uuid>> = rows.iter().map(|row| row.queue_id).collect();
    let kinds: Vec<Option<String>> = rows.iter().map(|row| row.kind.clone()).collect();
    let classes: Vec<Option<String>> = rows.iter().map(|row| row.priority_class.clone()).collect();
    sqlx::query!(
        "insert into usage_days (day, pool_id, share, team_id, lender_team_id, job_id, queue_id, kind, priority_class,
                                 gpu_milli_ms, gpu_micro_hours)
         select $1, $2, n.share, n.team, n.lender, n.job, n.queue, n.kind, n.class, n.amount, n.hours
         from unnest($3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::text[], $9::text[], $10::bigint[],
                     $11::bigint[]) as n(share, team, lender, job, queue, kind, class, amount, hours)",
        day,
        pool,
        &shares,
        &teams as &[Option<Uuid>],
        &lenders as &[Option<Uuid>],
        &jobs as &[Option<Uuid>],
        &queues as &[Option<Uuid>],
        &kinds as &[Option<String>],
        &classes as &[Option<String>],
        &amounts,
        &hours
    )
    .execute(&mut *connection)
    .await?;
    Ok(())
}
