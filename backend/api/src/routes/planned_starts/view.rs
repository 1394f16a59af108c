//! A planned start as JSON.

use crate::refs::{JobRef, MaskedJobRef, NodeRef, PoolRef, TeamRef};
use crate::routes::sentence_view::SentenceView;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::Actor;
use reeve_core::id::UserId;
use reeve_core::reason::{ExpectedStart, Explanation};
use reeve_core::schedule::snapshot::Placement;
use reeve_core::sentence::expected::expected;
use reeve_core::units::MilliGpu;
use reeve_store::planned_starts::{GpuPlace, PlannedRow, places};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PlannedStartView {
    pub job: MaskedJobRef,
    pub kind: String,
    pub priority_class: String,
    pub pool: PoolRef,
    pub gpus: f64,
    /// Null = unknown: it has waited so long that its space is kept without one.
    pub starts_at: Option<DateTime<Utc>>,
    /// When its time limit would end it then; null without one.
    pub ends_by: Option<DateTime<Utc>>,
    /// Why then, or why that is unknown; null until the planner has explained it.
    pub sentence: Option<SentenceView>,
    /// The reclaim by which others leave for it.
    pub reclaim_id: Option<Uuid>,
    /// Empty where it lies too far ahead for its place to be kept.
    pub members: Vec<PlannedMember>,
}

/// Where a member is to start.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PlannedMember {
    pub member: u32,
    pub node: NodeRef,
    pub gpu_indices: Vec<i32>,
    pub gpu_milli: i64,
}

/// Starts with their places: one set look-up a page.
pub(super) async fn views(
    store: &Store,
    actor: &Actor,
    rows: Vec<PlannedRow>,
) -> Result<Vec<PlannedStartView>, StoreError> {
    let mut read: Vec<(PlannedRow, Vec<Placement>)> = Vec::with_capacity(rows.len());
    let mut gpus = Vec::new();
    for row in rows {
        let placement: Vec<Placement> = serde_json::from_value(row.placement.clone())?;
        gpus.extend(placement.iter().flat_map(|member| &member.gpus).map(|slice| slice.gpu.0));
        read.push((row, placement));
    }
    let known = places(store, &gpus).await?;
    Ok(read.into_iter().map(|(row, placement)| view(actor, row, &placement, &known)).collect())
}

fn view(
    actor: &Actor,
    row: PlannedRow,
    placement: &[Placement],
    known: &BTreeMap<Uuid, GpuPlace>,
) -> PlannedStartView {
    let each = i64::from(row.gpus) * row.gpu_milli.unwrap_or(1_000);
    let limit = row.time_limit_secs.and_then(TimeDelta::try_seconds);
    let basis = basis(actor, &row);
    let rests_on = rests_on(&row);
    let team = TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name };
    let job = JobRef { id: row.job_id, name: row.job_name, team };
    PlannedStartView {
        job: MaskedJobRef::new(actor, UserId(row.user_id), job),
        kind: row.kind,
        priority_class: row.priority_class,
        pool: PoolRef { id: row.pool_id, slug: row.pool_slug },
        gpus: MilliGpu(each.saturating_mul(i64::from(row.min_replicas))).as_gpus(),
        starts_at: row.starts_at,
        ends_by: row.starts_at.zip(limit).and_then(|(start, limit)| start.checked_add_signed(limit)),
        sentence: rests_on.map(|start| expected(start, basis.as_deref()).into()),
        reclaim_id: row.reclaim_id,
        members: placement.iter().filter_map(|member| place(member, known)).collect(),
    }
}

/// What the explanation says, at the moment that the plan says: explanations are written less often.
fn rests_on(row: &PlannedRow) -> Option<ExpectedStart> {
    let explanation: Option<Explanation> =
        row.reason.clone().and_then(|reason| serde_json::from_value(reason).ok());
    let said = explanation.and_then(|explanation| explanation.expected_start);
    match (row.starts_at, said) {
        (Some(at), Some(ExpectedStart::TimeLimit { job, .. })) if row.reclaim_id.is_none() => {
            Some(ExpectedStart::TimeLimit { at, job })
        }
        (Some(at), _) => Some(ExpectedStart::Leaving { at }),
        (None, said) => said.filter(|start| start.at().is_none()),
    }
}

/// The name of the job whose end it waits for, if the caller may read it.
fn basis(actor: &Actor, row: &PlannedRow) -> Option<String> {
    let team = TeamRef {
        id: row.basis_team_id?,
        slug: row.basis_team_slug.clone()?,
        name: row.basis_team_name.clone()?,
    };
    let job = JobRef { id: row.basis_job_id?, name: row.basis_job_name.clone()?, team };
    MaskedJobRef::new(actor, UserId(row.basis_user_id?), job).name
}

/// GPUs of one member; none of it when its node is gone.
fn place(member: &Placement, known: &BTreeMap<Uuid, GpuPlace>) -> Option<PlannedMember> {
    let gpus: Vec<&GpuPlace> = member.gpus.iter().filter_map(|slice| known.get(&slice.gpu.0)).collect();
    let first = gpus.first()?;
    let mut gpu_indices: Vec<i32> = gpus.iter().map(|gpu| gpu.index).collect();
    gpu_indices.sort_unstable();
    Some(PlannedMember {
        member: member.index,
        node: NodeRef { id: first.node_id, name: first.node_name.clone() },
        gpu_indices,
        gpu_milli: member.gpus.iter().map(|slice| slice.milli.0).sum(),
    })
}
