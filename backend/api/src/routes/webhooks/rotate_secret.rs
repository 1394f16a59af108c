//! `POST /webhooks/{id}/rotate-secret`.

use super::body::mint_secret;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::Action;
use reeve_store::webhooks;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RotateSecret {
    /// For so long messages are signed with the old secret too: 0 to 604800; a day when left out.
    overlap_secs: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RotatedSecret {
    /// Shown once.
    #[schema(example = "whsec_…")]
    secret: String,
    previous_valid_until: DateTime<Utc>,
}

/// Makes a new signing secret. Until the old one ends, messages carry both signatures.
#[utoipa::path(post, path = "/api/v1/webhooks/{id}/rotate-secret", operation_id = "rotate_webhook_secret",
    tag = "webhooks", params(("id" = Uuid, Path)), request_body = RotateSecret,
    responses((status = 200, body = RotatedSecret)))]
pub(crate) async fn rotate(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Keyed { body, once }: Keyed<RotateSecret>,
) -> Result<Response> {
    let webhook = load(&app, &caller, Action::WebhookEdit, id).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    if webhook.kind != "webhook" {
        return Err(
            Problem::new(Code::Conflict).detail("a robot's secret comes from its maker: edit the webhook")
        );
    }
    let overlap = body.overlap_secs.unwrap_or(86_400);
    let mut fields = Fields::new();
    fields.range("/overlap_secs", overlap, 0, 604_800);
    fields.done()?;
    let mut tx = app.begin(&caller).await?;
    let before = webhooks::lock(&mut tx, id).await?;
    let rotated =
        RotatedSecret { secret: mint_secret(), previous_valid_until: tx.now() + TimeDelta::seconds(overlap) };
    webhooks::rotate_secret(&mut tx, &before, &rotated.secret, rotated.previous_valid_until).await?;
    once.commit_secret(tx, StatusCode::OK, &rotated).await
}
