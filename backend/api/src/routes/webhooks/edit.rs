//! `PATCH /webhooks/{id}`.

use super::body::check;
use super::load::load;
use super::view::WebhookView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::StoreError;
use reeve_store::webhooks::{self, DisabledReason, Webhook, WebhookKind, WebhookTerms};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditWebhook {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    url: Option<String>,
    /// A robot's own signing secret; null = none. A webhook's is changed by `rotate-secret`.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>, format = Password)]
    secret: Option<Option<String>>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<String>)]
    event_types: Option<Vec<String>>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    locale: Option<String>,
    /// `enabled` or `disabled`; what is pending for a disabled one is cancelled.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    state: Option<String>,
}

/// Changes a webhook.
#[utoipa::path(patch, path = "/api/v1/webhooks/{id}", operation_id = "edit_webhook", tag = "webhooks",
    params(("id" = Uuid, Path)), request_body = EditWebhook, responses((status = 200, body = WebhookView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
    if_match: IfMatch,
    Json(body): Json<EditWebhook>,
) -> Result<Response> {
    load(&app, &caller, Action::WebhookEdit, id).await?;
    let mut tx = app.begin(&caller).await?;
    let before = webhooks::lock(&mut tx, id).await?;
    if_match.check(before.version)?;
    let kind: WebhookKind = before.kind.parse().map_err(StoreError::from)?;
    let mut fields = Fields::new();
    if kind == WebhookKind::Webhook && body.secret.is_some() {
        fields.add("/secret", "rotate_instead", "use rotate-secret, so that receivers can change over");
    }
    let terms = changed(&before, body);
    check(&app, &mut fields, kind, &terms);
    fields.done()?;
    let saved = webhooks::save(&mut tx, &before, &terms).await?;
    tx.commit().await?;
    Ok(versioned(saved.version, &WebhookView::from(saved)))
}

fn changed(before: &Webhook, body: EditWebhook) -> WebhookTerms {
    let kept = before.terms();
    let state = body.state.unwrap_or(kept.state);
    let disabled_reason = match (state.as_str(), before.state.as_str()) {
        ("enabled", _) => None,
        (_, "disabled") => kept.disabled_reason,
        _ => Some(DisabledReason::ByHand.to_string()),
    };
    WebhookTerms {
        name: body.name.unwrap_or(kept.name),
        url: body.url.unwrap_or(kept.url),
        secret: body.secret.unwrap_or(kept.secret),
        event_types: body.event_types.unwrap_or(kept.event_types),
        locale: body.locale.unwrap_or(kept.locale),
        state,
        disabled_reason,
    }
}
