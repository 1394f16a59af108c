//! `POST /webhooks/{id}/deliveries/{delivery}/resend`.

use super::delivery_view::DeliveryView;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::deliveries::{self, NewDelivery};
use uuid::Uuid;

/// Sends a message once more, as it was and under the same `webhook-id`, whatever became of it.
#[utoipa::path(post, path = "/api/v1/webhooks/{id}/deliveries/{delivery}/resend", operation_id = "resend_delivery",
    tag = "webhooks", params(("id" = Uuid, Path), ("delivery" = Uuid, Path)), request_body = Empty,
    responses((status = 202, body = DeliveryView)))]
pub(crate) async fn resend(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, delivery)): Path<(Uuid, Uuid)>,
    Keyed { once, .. }: Keyed<Empty>,
) -> Result<Response> {
    let webhook = load(&app, &caller, Action::WebhookEdit, id).await?;
    let before = deliveries::find(&app.store, id, delivery).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    if webhook.state != "enabled" {
        return Err(Problem::new(Code::Conflict).detail("the webhook is disabled: enable it first"));
    }
    let again = NewDelivery {
        webhook_id: Some(id),
        user_id: None,
        message_id: before.message_id,
        event_position: before.event_position,
        event_type: before.event_type,
        body: before.body,
        resend_of: Some(before.id),
    };
    let mut tx = app.begin(&caller).await?;
    let made = deliveries::add(&mut tx, webhook.team_id, "webhook.resent", again).await?;
    once.commit(tx, StatusCode::ACCEPTED, &DeliveryView::from(made)).await
}
