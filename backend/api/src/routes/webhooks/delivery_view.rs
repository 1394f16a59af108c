//! A delivery as JSON.

use chrono::{DateTime, Utc};
use reeve_store::deliveries::{Attempt, Delivery};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DeliveryView {
    id: Uuid,
    /// `webhook-id`: the same however often it is sent.
    message_id: String,
    #[schema(example = "job.evicted")]
    event_type: String,
    /// The event's position in the audit log; null for a test.
    event_position: Option<i64>,
    /// `pending`, `delivered`, `failed` or `cancelled`.
    state: String,
    attempts: i32,
    next_attempt_at: Option<DateTime<Utc>>,
    last_status: Option<i32>,
    last_error: Option<String>,
    last_attempt_at: Option<DateTime<Utc>>,
    delivered_at: Option<DateTime<Utc>>,
    resend_of: Option<Uuid>,
    created_at: DateTime<Utc>,
}

/// With what was sent, and each attempt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DeliveryDetailView {
    #[serde(flatten)]
    delivery: DeliveryView,
    /// As it is sent; robots' signatures are added then.
    body: String,
    attempt_log: Vec<AttemptView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AttemptView {
    number: i32,
    at: DateTime<Utc>,
    status: Option<i32>,
    error: Option<String>,
    took_ms: i32,
    /// The beginning of the answer.
    response_excerpt: String,
}

impl From<Delivery> for DeliveryView {
    fn from(row: Delivery) -> Self {
        Self {
            id: row.id,
            message_id: row.message_id,
            event_type: row.event_type,
            event_position: row.event_position,
            state: row.state,
            attempts: row.attempts,
            next_attempt_at: row.next_attempt_at,
            last_status: row.last_status,
            last_error: row.last_error,
            last_attempt_at: row.last_attempt_at,
            delivered_at: row.delivered_at,
            resend_of: row.resend_of,
            created_at: row.created_at,
        }
    }
}

impl DeliveryDetailView {
    pub(crate) fn new(row: Delivery, attempts: Vec<Attempt>) -> Self {
        let body = row.body.clone();
        let attempt_log = attempts.into_iter().map(AttemptView::from).collect();
        Self { delivery: row.into(), body, attempt_log }
    }
}

impl From<Attempt> for AttemptView {
    fn from(row: Attempt) -> Self {
        Self {
            number: row.number,
            at: row.at,
            status: row.status,
            error: row.error,
            took_ms: row.took_ms,
            response_excerpt: row.response_excerpt,
        }
    }
}
