//! `GET /nodes`.

use super::view::{NodeView, views};
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_core::node::NodeState;
use reeve_store::nodes;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeFilter {
    /// A pool's slug or id.
    pool: Option<String>,
    /// `ready`, `cordoned`, `draining` or `lost`.
    state: Option<String>,
}

/// Nodes by name, with their GPUs and who holds them.
#[utoipa::path(get, path = "/api/v1/nodes", operation_id = "list_nodes", tag = "nodes", params(NodeFilter, ListParams),
    responses((status = 200, body = PageView<NodeView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<NodeFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::NodeRead, &Resource::Installation).await?;
    let pool = match &list.filter.pool {
        Some(name) => Some(PoolId(reeve_store::pools::find(&app.store, name).await?.id)),
        None => None,
    };
    let state = list.filter.state.as_deref();
    if let Some(Err(error)) = state.map(str::parse::<NodeState>) {
        return Err(Problem::new(Code::InvalidQuery).error("state", "unknown_value", error.to_string()));
    }
    let after: Option<String> = list.after()?;
    let rows = nodes::list::list(&app.store, pool, state, after.as_deref(), list.fetch()).await?;
    let page = list.cut(rows, |node| node.name.clone());
    let items = views(&app.store, page.items).await?;
    Ok(list.reply(reeve_store::page::Page { items, next_cursor: page.next_cursor }))
}
