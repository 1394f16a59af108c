//! A job's attempts and their members, as JSON.

use crate::refs::{NodeRef, PoolRef};
use chrono::{DateTime, Utc};
use reeve_store::jobs::show::{MemberRow, RunRow, members};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// One attempt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunView {
    pub number: i32,
    pub state: String,
    pub pool: Option<PoolRef>,
    /// It was told to resume (`REEVE_RESUME=1`).
    pub resume: bool,
    pub placed_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub end_detail: Option<String>,
    pub leave_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
    pub members: Vec<RunMember>,
}

/// One member of the gang.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunMember {
    /// Rank, from 0.
    pub member: i32,
    pub node: NodeRef,
    pub gpu_indices: Vec<i32>,
    /// Thousandths of GPUs that it holds.
    pub gpu_milli: i64,
    pub state: String,
    pub pid: Option<i64>,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub checkpointed_at: Option<DateTime<Utc>>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub end_detail: Option<String>,
}

/// Runs with their members: one set look-up a page.
pub(crate) async fn views(store: &Store, runs: Vec<RunRow>) -> Result<Vec<RunView>, StoreError> {
    let ids: Vec<Uuid> = runs.iter().map(|run| run.id).collect();
    let mut by_run: BTreeMap<Uuid, Vec<RunMember>> = BTreeMap::new();
    for member in members(store, &ids).await? {
        by_run.entry(member.run_id).or_default().push(member.into());
    }
    Ok(runs
        .into_iter()
        .map(|run| RunView {
            members: by_run.remove(&run.id).unwrap_or_default(),
            number: run.number,
            state: run.state,
            pool: run.pool_id.zip(run.pool_slug).map(|(id, slug)| PoolRef { id, slug }),
            resume: run.resume,
            placed_at: run.placed_at,
            started_at: run.started_at,
            ended_at: run.ended_at,
            exit_code: run.exit_code,
            signal: run.signal,
            end_detail: run.end_detail,
            leave_cause: run.leave_cause,
            leave_by: run.leave_by,
        })
        .collect())
}

impl From<MemberRow> for RunMember {
    fn from(member: MemberRow) -> Self {
        Self {
            member: member.member,
            node: NodeRef { id: member.node_id, name: member.node_name },
            gpu_indices: member.gpu_indices,
            gpu_milli: member.gpu_milli,
            state: member.state,
            pid: member.pid,
            started_at: member.started_at,
            ended_at: member.ended_at,
            checkpointed_at: member.checkpointed_at,
            exit_code: member.exit_code,
            signal: member.signal,
            end_detail: member.end_detail,
        }
    }
}
