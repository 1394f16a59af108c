//! `PATCH /nodes/{node}`: its labels.

use super::view::{NodeView, views};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, not_null};
use crate::problem::{Fields, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::NodeId;
use reeve_core::job_spec::fault::Faults;
use reeve_core::job_spec::text;
use reeve_store::nodes;
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditNode {
    /// All of the node's labels from now on.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = BTreeMap<String, String>)]
    labels: Option<BTreeMap<String, String>>,
}

/// Changes a node's labels.
#[utoipa::path(patch, path = "/api/v1/nodes/{node}", operation_id = "edit_node", tag = "nodes", params(("node" = String, Path)),
    request_body = EditNode,
    responses((status = 200, body = NodeView), (status = 412, description = "changed since it was read"),
              (status = 428, description = "If-Match is missing")))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(node): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditNode>,
) -> Result<Response> {
    app.allow(&caller, Action::NodeEdit, &Resource::Installation).await?;
    let row = nodes::list::find(&app.store, &node).await?;
    if_match.require(row.version)?;
    let Some(labels) = body.labels else {
        let version = row.version;
        return Ok(versioned(version, &views(&app.store, vec![row]).await?.remove(0)));
    };
    checked(&labels)?;
    let mut tx = app.begin(&caller).await?;
    nodes::admin::set_labels(&mut tx, &row, &labels).await?;
    let after = nodes::list::get_in(&mut tx, NodeId(row.id)).await?;
    tx.commit().await?;
    Ok(versioned(after.version, &views(&app.store, vec![after.clone()]).await?.remove(0)))
}

fn checked(labels: &BTreeMap<String, String>) -> Result<()> {
    let mut faults = Faults::default();
    text::labels("/labels", labels, &mut faults);
    let mut fields = Fields::new();
    for fault in faults.0 {
        fields.add(fault.pointer, fault.code, fault.detail);
    }
    fields.done()
}
