//! `GET /webhooks/{id}`.

use super::load::load;
use super::view::WebhookView;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use uuid::Uuid;

/// Shows a webhook.
#[utoipa::path(get, path = "/api/v1/webhooks/{id}", operation_id = "show_webhook", tag = "webhooks",
    params(("id" = Uuid, Path)), responses((status = 200, body = WebhookView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Response> {
    let webhook = load(&app, &caller, Action::WebhookRead, id).await?;
    Ok(versioned(webhook.version, &WebhookView::from(webhook)))
}
