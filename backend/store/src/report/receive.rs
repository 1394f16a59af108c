//! One report: lease first, then whatever has changed, in one transaction.
//!
//! A heartbeat without news writes the lease only, apart from every row that the scheduling tick updates. A report of
//! another instance, or an older one, changes nothing.

use super::{members, runs};
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteContext};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::NodeId;
use reeve_core::job::MemberState;
use serde_json::json;
use uuid::Uuid;

/// Everything that a node's agent knows of.
#[derive(Debug, Clone)]
pub struct NodeReport {
    pub node: NodeId,
    pub instance: Uuid,
    pub sequence: i64,
    /// The desired generation that it has acted on.
    pub generation: i64,
    pub lease: TimeDelta,
    pub clock_skew_ms: i64,
    pub members: Vec<MemberReport>,
}

/// One member as its agent sees it. Times by the server's clock.
#[derive(Debug, Clone)]
pub struct MemberReport {
    pub job_id: Uuid,
    pub run_number: i32,
    pub member: i32,
    pub state: MemberState,
    pub pid: Option<i64>,
    pub started_at: Option<DateTime<Utc>>,
    pub checkpointed_at: Option<DateTime<Utc>>,
    pub log_bytes: Option<i64>,
    pub end: Option<MemberEnd>,
}

/// How a process ended.
#[derive(Debug, Clone)]
pub struct MemberEnd {
    pub at: DateTime<Utc>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub start_error: Option<String>,
    pub lease_lost: bool,
    pub vanished: bool,
    pub asked: bool,
    pub timed_out: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// (job, run number, member): ends on record.
    pub settled: Vec<(Uuid, i32, i32)>,
    /// The node's desired generation.
    pub generation: i64,
}

/// Takes a report in.
///
/// # Errors
/// [`StoreError::Conflict`] when another instance holds the node; [`StoreError::NotFound`] for no node.
pub async fn receive(
    store: &Store,
    context: WriteContext,
    report: &NodeReport,
) -> Result<Received, StoreError> {
    let now = context.now;
    if !renew(store, report, now).await? {
        // Older than one that came before: say only where things stand.
        let generation = crate::nodes::desired::generation(store, report.node).await?;
        return Ok(Received { settled: Vec::new(), generation });
    }
    let mut connection = store.pool().acquire().await?;
    let known = members::known(&mut connection, report).await?;
    // Read after the members: an order given in between must not look like one that the agent has acted on.
    let standing = sqlx::query!(
        "select n.state, n.state_before_lost, g.generation, l.stray_members from nodes n
         join node_generations g on g.node_id = n.id join node_leases l on l.node_id = n.id where n.id = $1",
        report.node.0
    )
    .fetch_one(&mut *connection)
    .await?;
    drop(connection);
    let compared = members::compare(report, &known, standing.generation, now);
    let returns = standing.state == "lost" && compared.strays == 0;
    let strays_changed = standing.stray_members != compared.strays;
    if !compared.moved.is_empty() || returns || strays_changed {
        let mut tx = store.begin(context).await?;
        if !compared.moved.is_empty() {
            runs::advance(&mut tx, report.node, &compared.moved).await?;
        }
        if strays_changed {
            note_strays(&mut tx, report.node, compared.strays).await?;
        }
        if returns {
            give_back(&mut tx, report.node).await?;
        }
        tx.commit().await?;
    }
    Ok(Received { settled: compared.settled, generation: standing.generation })
}

/// Renews the lease; `false` = an older report than one that came before.
async fn renew(store: &Store, report: &NodeReport, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let renewed = sqlx::query!(
        "update node_leases set last_seen_at = $4, lease_until = greatest(lease_until, $5),
                report_sequence = $3, acted_generation = $6, clock_skew_ms = $7
         where node_id = $1 and instance_id = $2 and report_sequence < $3",
        report.node.0,
        report.instance,
        report.sequence,
        now,
        now + report.lease,
        report.generation,
        report.clock_skew_ms
    )
    .execute(store.pool())
    .await?;
    if renewed.rows_affected() == 1 {
        return Ok(true);
    }
    let holder = sqlx::query_scalar!("select instance_id from node_leases where node_id = $1", report.node.0)
        .fetch_one(store.pool())
        .await?;
    if holder == report.instance { Ok(false) } else { Err(StoreError::Conflict) }
}

async fn note_strays(tx: &mut crate::write_tx::WriteTx, node: NodeId, strays: i32) -> Result<(), StoreError> {
    sqlx::query!("update node_leases set stray_members = $2 where node_id = $1", node.0, strays)
        .execute(tx.connection())
        .await?;
    tx.record(NewEvent::new("node.strays", "node", node).after(json!({"stray_members": strays})));
    tx.wake_schedule();
    Ok(())
}

/// A lost node is back and clean: it takes work again, as it did before.
async fn give_back(tx: &mut crate::write_tx::WriteTx, node: NodeId) -> Result<(), StoreError> {
    let now = tx.now();
    let back = sqlx::query!(
        r#"update nodes set state = coalesce(state_before_lost, 'ready'), state_before_lost = null,
                  version = version + 1, updated_at = $2
           where id = $1 and state = 'lost' returning state"#,
        node.0,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    let state = back.map(|row| row.state);
    tx.record(
        NewEvent::new("node.returned", "node", node)
            .before(json!({"state": "lost"}))
            .after(json!({"state": state})),
    );
    tx.wake_schedule();
    Ok(())
}
