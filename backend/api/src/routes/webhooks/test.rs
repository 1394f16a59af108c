//! `POST /webhooks/{id}/test`.

use super::delivery_view::DeliveryView;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Empty, Keyed};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use reeve_core::access::Action;
use reeve_core::id::EventId;
use reeve_core::notice::test_notice;
use reeve_store::deliveries::{self, NewDelivery};
use reeve_store::webhooks::Webhook;
use serde_json::json;
use uuid::Uuid;

/// Puts a test message in line; look at the delivery for what became of it.
#[utoipa::path(post, path = "/api/v1/webhooks/{id}/test", operation_id = "test_webhook", tag = "webhooks",
    params(("id" = Uuid, Path)), request_body = Empty, responses((status = 202, body = DeliveryView)))]
pub(crate) async fn test(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Keyed { once, .. }: Keyed<Empty>,
) -> Result<Response> {
    let webhook = load(&app, &caller, Action::WebhookEdit, id).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    if webhook.state != "enabled" {
        return Err(Problem::new(Code::Conflict).detail("the webhook is disabled: enable it first"));
    }
    let mut tx = app.begin(&caller).await?;
    let message = message(&webhook, tx.now());
    let made = deliveries::add(&mut tx, webhook.team_id, "webhook.tested", message).await?;
    once.commit(tx, StatusCode::ACCEPTED, &DeliveryView::from(made)).await
}

fn message(webhook: &Webhook, now: DateTime<Utc>) -> NewDelivery {
    let id = EventId::mint(now).0;
    let said = test_notice();
    let text = if webhook.locale == "zh-CN" { said.zh } else { said.en };
    let body = match webhook.kind.as_str() {
        "webhook" => json!({
            "specversion": "1.0", "id": id, "source": "/reeve", "type": "reeve.webhook.test",
            "subject": format!("webhook/{}", webhook.id), "time": now, "datacontenttype": "application/json",
            "data": {"text": text},
        }),
        "feishu" => json!({"msg_type": "text", "content": {"text": text}}),
        "dingtalk" => json!({"msgtype": "text", "text": {"content": format!("Reeve {text}")}}),
        "wecom" => json!({"msgtype": "text", "text": {"content": text}}),
        _ => json!({"text": text}),
    };
    NewDelivery {
        webhook_id: Some(webhook.id),
        user_id: None,
        message_id: format!("evt_{}", id.simple()),
        event_position: None,
        event_type: "webhook.test".to_owned(),
        body: body.to_string(),
        resend_of: None,
    }
}
