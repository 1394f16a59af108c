//! `DELETE /quotas/{team}/{pool}`.

use super::put::expect;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch};
use crate::problem::{Code, Problem, Result};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId};
use reeve_store::{pools, quotas, teams};

/// Takes a quota away: the team is then guaranteed nothing in the pool, and borrows without limit.
#[utoipa::path(delete, path = "/api/v1/quotas/{team}/{pool}", operation_id = "delete_quota", tag = "quotas",
    params(("team" = String, Path), ("pool" = String, Path)),
    responses((status = 204, description = "deleted"), (status = 409, description = "children are guaranteed part of it"),
              (status = 412, description = "changed since it was read"), (status = 428, description = "If-Match is missing")))]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path((team, pool)): Path<(String, String)>,
    if_match: IfMatch,
) -> Result<StatusCode> {
    let team = teams::find(&app.store, &team).await?;
    let (id, parent) = (TeamId(team.id), team.parent_id.map(TeamId));
    app.allow(&caller, Action::QuotaEdit, &Resource::Quota { team: id, parent }).await?;
    let pool = PoolId(pools::find(&app.store, &pool).await?.id);
    let mut tx = app.begin(&caller).await?;
    let standing = quotas::standing(&mut tx, id, pool).await?;
    let before = quotas::lock(&mut tx, id, pool).await?.ok_or_else(Problem::not_found)?;
    expect(if_match, Some(&before))?;
    if standing.children_guaranteed_gpus > 0 {
        return Err(Problem::new(Code::InUse)
            .detail(format!(
                "teams below are guaranteed {} GPUs of it: take theirs away first",
                standing.children_guaranteed_gpus
            ))
            .param("children_gpus", standing.children_guaranteed_gpus));
    }
    quotas::delete(&mut tx, &before).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
