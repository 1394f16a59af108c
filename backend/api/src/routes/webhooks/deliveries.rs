//! `GET /webhooks/{id}/deliveries`.

use super::delivery_view::DeliveryView;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_store::deliveries::{self, DeliveryState};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfState {
    /// `pending`, `delivered`, `failed` or `cancelled`; repeat for several.
    #[serde(default)]
    state: Vec<String>,
}

/// Lists what a webhook was and is to be sent, newest first. Kept for 30 days.
#[utoipa::path(get, path = "/api/v1/webhooks/{id}/deliveries", operation_id = "list_deliveries", tag = "webhooks",
    params(("id" = Uuid, Path), OfState, ListParams), responses((status = 200, body = PageView<DeliveryView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<Uuid>,
    list: List<OfState>,
) -> Result<Response> {
    load(&app, &caller, Action::WebhookRead, id).await?;
    for text in &list.filter.state {
        if let Err(error) = text.parse::<DeliveryState>() {
            return Err(Problem::new(Code::InvalidQuery).error("state", "unknown_value", error.to_string()));
        }
    }
    let rows = deliveries::list(&app.store, id, &list.filter.state, list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |delivery| delivery.id).map(DeliveryView::from)))
}
