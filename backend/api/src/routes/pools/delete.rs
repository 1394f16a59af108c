//! `DELETE /pools/{pool}`.

use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_store::pools;

/// Deletes a pool that has no nodes.
#[utoipa::path(delete, path = "/api/v1/pools/{pool}", operation_id = "delete_pool", tag = "pools",
    params(("pool" = String, Path, description = "Id or slug")), responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(pool): Path<String>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    app.allow(&caller, Action::PoolDelete, &Resource::Installation).await?;
    let id = PoolId(pools::find(&app.store, &pool).await?.id);
    let mut tx = app.begin(&caller).await?;
    let pool = pools::lock(&mut tx, id).await?;
    if_match.check(pool.version)?;
    let nodes = pools::node_count(&mut tx, id).await?;
    if nodes > 0 {
        return Err(Problem::new(Code::InUse)
            .detail(format!("{nodes} nodes belong to it"))
            .param("nodes", nodes));
    }
    pools::delete(&mut tx, &pool).await?;
    tx.commit().await?;
    app.installation.forget_pools();
    Ok(StatusCode::NO_CONTENT)
}
