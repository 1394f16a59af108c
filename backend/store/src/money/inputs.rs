//! What was recorded of a pool in a window, for the ledger's rule. Times are cut to milliseconds.

use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::money::ledger_input::{Capacity, Guarantee, Held, Inputs, Lent, Ms, Span, Work};
use sqlx::PgConnection;
use uuid::Uuid;

/// A window of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: DateTime<Utc>,
    pub(super) to: DateTime<Utc>,
}

impl Window {
    pub(super) fn span(self) -> Span {
        Span { from: self.from.timestamp_millis(), to: self.to.timestamp_millis() }
    }
}

pub(super) async fn load(
    connection: &mut PgConnection,
    pool: Uuid,
    window: Window,
) -> Result<Inputs, StoreError> {
    Ok(Inputs {
        held: held(connection, pool, window).await?,
        lent: lent(connection, pool, window).await?,
        capacity: capacity(connection, pool, window).await?,
        guarantees: guarantees(connection, pool, window).await?,
    })
}

fn span(from: DateTime<Utc>, to: Option<DateTime<Utc>>) -> Span {
    Span { from: from.timestamp_millis(), to: to.map_or(Ms::MAX, |to| to.timestamp_millis()) }
}

async fn held(connection: &mut PgConnection, pool: Uuid, window: Window) -> Result<Vec<Held>, StoreError> {
    let rows = sqlx::query!(
        "select u.run_id, u.job_id, u.team_id, j.queue_id, u.kind, u.priority_class, j.preemptible, u.gpu_milli,
                r.placed_at, u.started_at, u.ended_at
         from usage_intervals u join jobs j on j.id = u.job_id join runs r on r.id = u.run_id
         where u.pool_id = $1 and u.started_at < $3 and (u.ended_at is null or u.ended_at > $2)
         order by u.started_at, u.id",
        pool,
        window.from,
        window.to
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Held {
                work: Work {
                    run: row.run_id,
                    job: row.job_id.into(),
                    team: row.team_id.into(),
                    queue: row.queue_id.into(),
                    kind: row.kind.parse()?,
                    class: row.priority_class.parse()?,
                },
                preemptible: row.preemptible,
                milli: row.gpu_milli,
                since: row.placed_at.timestamp_millis(),
                span: span(row.started_at, row.ended_at),
            })
        })
        .collect()
}

async fn lent(connection: &mut PgConnection, pool: Uuid, window: Window) -> Result<Vec<Lent>, StoreError> {
    let rows = sqlx::query!(
        "select borrower_team_id, lender_team_id, gpu_milli, started_at, ended_at from loans
         where pool_id = $1 and started_at < $3 and (ended_at is null or ended_at > $2) order by started_at, id",
        pool,
        window.from,
        window.to
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Lent {
            borrower: row.borrower_team_id.into(),
            lender: row.lender_team_id.map(Into::into),
            milli: row.gpu_milli,
            span: span(row.started_at, row.ended_at),
        })
        .collect())
}

async fn capacity(
    connection: &mut PgConnection,
    pool: Uuid,
    window: Window,
) -> Result<Vec<Capacity>, StoreError> {
    let rows = sqlx::query!(
        "select gpu_milli, down_milli, started_at, ended_at from capacity_intervals
         where pool_id = $1 and started_at < $3 and (ended_at is null or ended_at > $2) order by started_at, id",
        pool,
        window.from,
        window.to
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Capacity {
            milli: row.gpu_milli,
            down_milli: row.down_milli,
            span: span(row.started_at, row.ended_at),
        })
        .collect())
}

async fn guarantees(
    connection: &mut PgConnection,
    pool: Uuid,
    window: Window,
) -> Result<Vec<Guarantee>, StoreError> {
    let rows = sqlx::query!(
        "select team_id, gpu_milli, started_at, ended_at from guarantee_intervals
         where pool_id = $1 and started_at < $3 and (ended_at is null or ended_at > $2) order by started_at, id",
        pool,
        window.from,
        window.to
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Guarantee {
            team: row.team_id.into(),
            milli: row.gpu_milli,
            span: span(row.started_at, row.ended_at),
        })
        .collect())
}
