//! `GET /agent/v1/desired`: what the node should run, as soon as it changes.

use super::credential::NodeCaller;
use super::desired_view::member;
use crate::app::AppState;
use crate::extract::Params;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use reeve_core::id::NodeId;
use reeve_store::nodes::desired::{generation, members};
use reeve_store::signal::DesiredChanged;
use reeve_wire::desired::Desired;
use reeve_wire::heartbeat::MAX_POLL_SECS;
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct DesiredQuery {
    /// The generation that the agent has; 0 at its start.
    #[serde(default)]
    generation: i64,
    /// Wait this long for a newer one; at most 30.
    #[serde(default)]
    wait_secs: u32,
}

/// Answers when the node's generation is no longer the agent's, or after `wait_secs` with what is. A waiting poll
/// holds no database connection: the process's one listener wakes it.
#[utoipa::path(get, path = "/agent/v1/desired", operation_id = "agent_desired", tag = "agent", params(DesiredQuery),
    responses((status = 200, body = Desired), (status = 401, description = "not a node's credential")))]
pub(crate) async fn desired(
    State(app): State<AppState>,
    node: NodeCaller,
    Params(query): Params<DesiredQuery>,
) -> Result<Json<Desired>> {
    // Subscribed before looking: a change in between is not missed.
    let mut changes = app.store.signals().desired();
    let mut now = generation(&app.store, node.id).await?;
    if now == query.generation && query.wait_secs > 0 {
        let wait = Duration::from_secs(query.wait_secs.min(MAX_POLL_SECS).into());
        // Time running out is no error: the agent gets what is.
        tokio::select! {
            _ = tokio::time::timeout(wait, changed(&mut changes, node.id)) => {}
            () = app.shutdown.cancelled() => {}
        }
        now = generation(&app.store, node.id).await?;
    }
    let rows = members(&app.store, node.id).await?;
    let members = rows.into_iter().map(member).collect::<Result<_, _>>()?;
    Ok(Json(Desired { generation: now, members }))
}

/// Returns when the node may have news; a receiver that lagged looks anyway.
async fn changed(changes: &mut Receiver<DesiredChanged>, node: NodeId) {
    loop {
        match changes.recv().await {
            Ok(change) if !change.concerns(node) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            // The server is going down: let the poll run into its time.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
