//! The log of what changed of that which the planner reads: `planner_changes`, filled by triggers in the transaction of
//! each change.
//!
//! A reader remembers the PostgreSQL snapshot in which it last read; what it has missed are exactly the rows of
//! transactions that this one did not see. Commits out of order, long transactions and undone ones need no thought. It is
//! not a queue: nobody takes anything out but [`prune`], and whoever may have missed something reads everything.

use crate::error::StoreError;
use crate::row::word;
use reeve_core::text_enum;
use sqlx::PgConnection;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Above so many rows, reading everything costs no more.
const MOST_ROWS: usize = 20_000;

text_enum! {
    /// What a row of the log is about.
    Subject {
        Jobs = "jobs",
        Nodes = "nodes",
        /// Policy, pools, teams, quotas, queues.
        Settings = "settings",
        Calendar = "calendar",
        /// Evictions of causes whose rate the policy caps.
        CappedEvictions = "capped_evictions",
        /// Explanations, by the session that wrote them.
        Reasons = "reasons",
    }
}

/// What changed between two looks.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) jobs: BTreeSet<Uuid>,
    pub(super) nodes: BTreeSet<Uuid>,
    pub(super) settings: bool,
    pub(super) calendar: bool,
    pub(super) capped_evictions: bool,
    /// Sessions that wrote explanations.
    pub(super) reasons: BTreeSet<Uuid>,
}

/// Where a look stands.
#[derive(Debug)]
pub(super) struct Standing {
    /// The transaction's own snapshot, as text.
    pub(super) seen: String,
    /// Every transaction before this one is over.
    pub(super) horizon: String,
    /// What changed since the look before may be gone from the log.
    pub(super) missed: bool,
}

/// Must be read in the transaction whose look it is.
pub(super) async fn standing(
    connection: &mut PgConnection,
    before: Option<&str>,
) -> Result<Standing, StoreError> {
    let row = sqlx::query!(
        r#"select pg_current_snapshot()::text as "seen!", pg_snapshot_xmin(pg_current_snapshot())::text as "horizon!",
                  coalesce((select below from planner_changes_pruned)
                           > pg_snapshot_xmin($1::text::pg_snapshot), false) as "missed!""#,
        before
    )
    .fetch_one(connection)
    .await?;
    Ok(Standing { seen: row.seen, horizon: row.horizon, missed: row.missed })
}

/// What has changed since the look that saw `before`; `None` = too much to be worth it.
pub(super) async fn since(
    connection: &mut PgConnection,
    before: &str,
) -> Result<Option<Changes>, StoreError> {
    let rows = sqlx::query!(
        "select subject, ids from planner_changes
         where xid >= pg_snapshot_xmin($1::text::pg_snapshot)
           and not pg_visible_in_snapshot(xid, $1::text::pg_snapshot)
         limit $2",
        before,
        MOST_ROWS as i64
    )
    .fetch_all(connection)
    .await?;
    if rows.len() >= MOST_ROWS {
        return Ok(None);
    }
    let mut changes = Changes::default();
    for row in rows {
        match word(&row.subject)? {
            Subject::Jobs => changes.jobs.extend(row.ids),
            Subject::Nodes => changes.nodes.extend(row.ids),
            Subject::Settings => changes.settings = true,
            Subject::Calendar => changes.calendar = true,
            Subject::CappedEvictions => changes.capped_evictions = true,
            Subject::Reasons => changes.reasons.extend(row.ids),
        }
    }
    Ok(Some(changes))
}

/// Forgets what everybody has seen who looked after `horizon`. Rows of transactions that are yet to come can only stem
/// from another cluster's backup.
pub(super) async fn prune(connection: &mut PgConnection, horizon: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "with gone as (
             delete from planner_changes where xid < $1::text::xid8 or xid > pg_current_xact_id()
         )
         insert into planner_changes_pruned (below) values ($1::text::xid8)
         on conflict (one) do update set below = excluded.below",
        horizon
    )
    .execute(connection)
    .await?;
    Ok(())
}
