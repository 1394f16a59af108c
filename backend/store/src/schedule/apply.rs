//! Makes a plan true: guarded updates in batches, each compared with what it should have touched.
//!
//! A plan is a proposal. If any guard does not hold, [`StoreError::Conflict`] undoes the whole tick. Nothing here
//! decides; nothing here looks for a second-best.

use super::explanations::{self, Freshness};
use super::snapshot::Loaded;
use super::{diff_capacity, diff_guarantees, diff_loans, diff_planned, place, reclaim};
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteContext};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, NodeId};
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::Snapshot;
use serde_json::json;
use sqlx::PgConnection;
use std::collections::BTreeSet;
use uuid::Uuid;

/// How much a plan changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    pub starts: usize,
    pub grown: usize,
    pub evictions: usize,
    pub dropped: usize,
    pub explained: usize,
    pub loans_changed: usize,
}

impl Applied {
    /// Nothing happened that could let another plan differ.
    #[must_use]
    pub const fn is_quiet(&self) -> bool {
        self.starts == 0 && self.grown == 0 && self.evictions == 0 && self.dropped == 0
    }
}

/// A tick's changes before the commit.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) applied: Applied,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) nodes: BTreeSet<NodeId>,
    /// Of the explanations that were written.
    pub(crate) reason_hashes: Vec<(JobId, i64)>,
}

/// What the parts share.
pub(super) struct Applier<'a> {
    pub(super) connection: &'a mut PgConnection,
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: DateTime<Utc>,
    pub(super) events: Vec<NewEvent>,
    /// Nodes whose desired state changes.
    pub(super) nodes: BTreeSet<NodeId>,
    /// Jobs that were told to move: their homes are promised after that.
    pub(super) moving: BTreeSet<JobId>,
}

/// `session` names who writes, to those who keep explanations' hashes.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    session: Uuid,
    context: &WriteContext,
    loaded: &Loaded,
    plan: &Plan,
    freshness: Freshness,
) -> Result<Change, StoreError> {
    let mut applier = Applier {
        connection,
        snapshot: &loaded.snapshot,
        now: context.now,
        events: Vec::new(),
        nodes: BTreeSet::new(),
        moving: BTreeSet::new(),
    };
    let dropped = reclaim::drop_nominations(&mut applier, &plan.dropped).await?;
    let (starts, grown) = place::place(&mut applier, &plan.starts).await?;
    let evictions = reclaim::reclaim(&mut applier, &plan.reclaims).await?;
    let reason_hashes = explanations::write(&mut applier, session, loaded, &plan.waiting, freshness).await?;
    let explained = reason_hashes.len();
    let loans_changed = diff_loans::write(&mut applier, &plan.loans).await?;
    diff_planned::write(&mut applier, &plan.planned).await?;
    diff_capacity::write(&mut applier).await?;
    diff_guarantees::write(&mut applier).await?;
    pool_modes(&mut applier, plan).await?;
    bump_generations(&mut applier).await?;
    Ok(Change {
        applied: Applied { starts, grown, evictions, dropped, explained, loans_changed },
        events: applier.events,
        nodes: applier.nodes,
        reason_hashes,
    })
}

async fn pool_modes(applier: &mut Applier<'_>, plan: &Plan) -> Result<(), StoreError> {
    let pools: Vec<Uuid> = plan.pool_modes.keys().map(|pool| pool.0).collect();
    let modes: Vec<String> = plan.pool_modes.values().map(ToString::to_string).collect();
    let changed = sqlx::query!(
        r#"update pools p set mode = n.mode, updated_at = $3 from unnest($1::uuid[], $2::text[]) as n(id, mode)
           where p.id = n.id and p.mode <> n.mode returning p.id, p.mode"#,
        &pools,
        &modes,
        applier.now
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    for row in changed {
        let event = NewEvent::new("pool.mode_changed", "pool", row.id).after(json!({"mode": row.mode}));
        applier.events.push(event);
    }
    Ok(())
}

async fn bump_generations(applier: &mut Applier<'_>) -> Result<(), StoreError> {
    let nodes: Vec<Uuid> = applier.nodes.iter().map(|node| node.0).collect();
    if !nodes.is_empty() {
        bump(applier.connection, &nodes).await?;
    }
    Ok(())
}

/// These nodes' desired state has changed. In id order, so that two writers never wait for each other.
pub(crate) async fn bump(connection: &mut PgConnection, nodes: &[Uuid]) -> Result<(), StoreError> {
    sqlx::query!(
        "with locked as (select node_id from node_generations where node_id = any($1) order by node_id for update)
         update node_generations g set generation = generation + 1 from locked l where g.node_id = l.node_id",
        nodes
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Refuses the whole plan unless exactly `expected` rows were still as the snapshot saw them.
pub(super) fn expect(touched: u64, expected: usize) -> Result<(), StoreError> {
    if usize::try_from(touched) == Ok(expected) { Ok(()) } else { Err(StoreError::Conflict) }
}
