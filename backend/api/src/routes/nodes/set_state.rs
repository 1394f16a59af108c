//! What cordon, uncordon and drain have in common.

use super::view::views;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::NodeId;
use reeve_core::node::NodeState;
use reeve_store::nodes;
use reeve_store::version::etag;
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeNote {
    /// Why, for people; at most 500 characters.
    pub(super) note: Option<String>,
}

/// What a request about a node's state carries.
pub(super) struct Request {
    pub(super) caller: Caller,
    pub(super) node: String,
    pub(super) if_match: IfMatch,
    pub(super) keyed: Keyed<NodeNote>,
}

/// Sets the state and answers the node.
pub(super) async fn set_state(
    app: &AppState,
    request: Request,
    action: Action,
    state: NodeState,
) -> Result<Response> {
    let Request { caller, node, if_match, keyed } = request;
    app.allow(&caller, action, &Resource::Installation).await?;
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.text("/note", body.note.as_deref().unwrap_or_default(), 0, 500);
    fields.done()?;
    let row = nodes::list::find(&app.store, &node).await?;
    if_match.require(row.version)?;
    if row.state == NodeState::Removed.as_str() {
        return Err(Problem::new(Code::Conflict).detail("the node was removed: join it again"));
    }
    let mut tx = app.begin(&caller).await?;
    nodes::admin::set_state(&mut tx, &row, state, body.note.as_deref()).await?;
    let after = nodes::list::get_in(&mut tx, NodeId(row.id)).await?;
    let tag = etag(after.version);
    let view = views(&app.store, vec![after]).await?.remove(0);
    once.commit_with(tx, StatusCode::OK, &view, &[("etag", tag)]).await
}
