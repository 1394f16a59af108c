//! An operation as JSON.

use crate::extract::Caller;
use crate::refs::UserRef;
use chrono::{DateTime, Utc};
use reeve_core::text_enum;
use reeve_store::operations::{Operation, OperationKind, OperationState};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

text_enum! {
    StepState {
        Waiting = "waiting",
        Running = "running",
        Done = "done",
        Stopped = "stopped",
    }
}

/// A step of the work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperationStep {
    name: String,
    #[schema(value_type = String)]
    state: StepState,
}

/// The file that came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperationResult {
    href: String,
    file_name: String,
    content_type: String,
    bytes: i64,
}

/// Long work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperationView {
    id: Uuid,
    kind: String,
    #[schema(value_type = Object)]
    params: Value,
    #[schema(value_type = String)]
    state: OperationState,
    steps: Vec<OperationStep>,
    done_rows: i64,
    /// Null until it is known.
    total_rows: Option<i64>,
    percent: Option<i64>,
    created_by: UserRef,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    /// When the result is thrown away.
    expires_at: Option<DateTime<Utc>>,
    error: Option<String>,
    result: Option<OperationResult>,
}

impl From<Operation> for OperationView {
    fn from(found: Operation) -> Self {
        let percent = match (found.state, found.total_rows) {
            (OperationState::Succeeded, _) => Some(100),
            (_, Some(total)) if total > 0 => Some((found.done_rows * 100 / total).clamp(0, 99)),
            _ => None,
        };
        Self {
            steps: steps(&found),
            result: found.file.map(|file| OperationResult {
                href: format!("/api/v1/operations/{}/result", found.id),
                file_name: file.name,
                content_type: file.content_type,
                bytes: file.bytes,
            }),
            id: found.id,
            kind: found.kind.to_string(),
            params: found.params,
            state: found.state,
            done_rows: found.done_rows,
            total_rows: found.total_rows,
            percent,
            created_by: UserRef {
                id: found.created_by,
                username: found.username,
                display_name: found.display_name,
            },
            created_at: found.created_at,
            started_at: found.started_at,
            finished_at: found.finished_at,
            expires_at: found.expires_at,
            error: found.error,
        }
    }
}

impl OperationView {
    /// One that has just been asked for.
    pub(super) fn asked(id: Uuid, params: Value, caller: &Caller, now: DateTime<Utc>) -> Self {
        Self::from(Operation {
            id,
            kind: OperationKind::UsageExport,
            params,
            teams: None,
            state: OperationState::Queued,
            attempt: 0,
            cancel_asked: false,
            done_rows: 0,
            total_rows: None,
            error: None,
            file: None,
            created_by: caller.actor.id.0,
            username: caller.username.clone(),
            display_name: caller.display_name.clone(),
            created_at: now,
            started_at: None,
            finished_at: None,
            expires_at: None,
        })
    }
}

fn steps(found: &Operation) -> Vec<OperationStep> {
    let all_read = found.total_rows.is_some_and(|total| found.done_rows >= total);
    let states = match found.state {
        OperationState::Queued => [StepState::Waiting, StepState::Waiting],
        OperationState::Running if all_read => [StepState::Done, StepState::Running],
        OperationState::Running => [StepState::Running, StepState::Waiting],
        OperationState::Succeeded => [StepState::Done, StepState::Done],
        OperationState::Failed | OperationState::Cancelled => [StepState::Stopped, StepState::Stopped],
    };
    let step = |(name, state): (&str, StepState)| OperationStep { name: name.to_owned(), state };
    ["rows", "file"].into_iter().zip(states).map(step).collect()
}
