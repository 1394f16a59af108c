//! `POST /nodes/{node}/uncordon`.

use super::set_state::{NodeNote, Request, set_state};
use super::view::NodeView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Keyed};
use crate::problem::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::node::NodeState;

/// It takes work again.
#[utoipa::path(post, path = "/api/v1/nodes/{node}/uncordon", operation_id = "uncordon_node", tag = "nodes", params(("node" = String, Path)),
    request_body = Option<NodeNote>,
    responses((status = 200, body = NodeView), (status = 412, description = "changed since it was read"),
              (status = 428, description = "If-Match is missing")))]
pub(crate) async fn uncordon(
    State(app): State<AppState>,
    caller: Caller,
    Path(node): Path<String>,
    if_match: IfMatch,
    keyed: Keyed<NodeNote>,
) -> Result<Response> {
    let request = Request { caller, node, if_match, keyed };
    set_state(&app, request, Action::NodeCordon, NodeState::Ready).await
}
