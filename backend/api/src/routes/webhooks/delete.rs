//! `DELETE /webhooks/{id}`.

use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::Action;
use reeve_store::webhooks;
use uuid::Uuid;

/// Deletes a webhook with the record of what it was sent.
#[utoipa::path(delete, path = "/api/v1/webhooks/{id}", operation_id = "delete_webhook", tag = "webhooks",
    params(("id" = Uuid, Path)), responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    load(&app, &caller, Action::WebhookEdit, id).await?;
    let mut tx = app.begin(&caller).await?;
    let webhook = webhooks::lock(&mut tx, id).await?;
    if_match.check(webhook.version)?;
    webhooks::delete(&mut tx, &webhook).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
