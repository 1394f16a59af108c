//! `GET /webhooks/{id}/deliveries/{delivery}`.

use super::delivery_view::DeliveryDetailView;
use super::load::load;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::{Path, State};
use reeve_core::access::Action;
use reeve_store::deliveries;
use uuid::Uuid;

/// Shows a delivery with what was sent and each attempt.
#[utoipa::path(get, path = "/api/v1/webhooks/{id}/deliveries/{delivery}", operation_id = "show_delivery",
    tag = "webhooks", params(("id" = Uuid, Path), ("delivery" = Uuid, Path)),
    responses((status = 200, body = DeliveryDetailView)))]
pub(crate) async fn show(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, delivery)): Path<(Uuid, Uuid)>,
) -> Result<Json<DeliveryDetailView>> {
    load(&app, &caller, Action::WebhookRead, id).await?;
    let row = deliveries::find(&app.store, id, delivery).await?;
    let attempts = deliveries::attempts(&app.store, row.id).await?;
    Ok(Json(DeliveryDetailView::new(row, attempts)))
}
