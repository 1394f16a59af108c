//! `PUT /quotas/{team}/{pool}`: sets what a team is guaranteed in a pool.

use super::view::{QuotaView, view};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, Precondition};
use crate::problem::{Code, Fields, Problem, Result};
use crate::reply::versioned_with;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::quota::{GuaranteeFault, check_guarantee};
use reeve_store::quotas::{self, Quota, QuotaTerms};
use reeve_store::{pools, teams};
use serde::Deserialize;
use utoipa::ToSchema;

const MOST: i64 = 1_000_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutQuota {
    #[schema(minimum = 0, maximum = 1000000)]
    guaranteed_gpus: i64,
    /// Most above guaranteed; null or left out = no limit.
    borrow_limit_gpus: Option<i64>,
    /// Most of the guarantee that others may use while it is idle; null or left out = all.
    lend_limit_gpus: Option<i64>,
    /// Share of what is left over; 1 when left out.
    weight: Option<i64>,
    /// Work above a lowered quota leaves, gradually; otherwise nothing new starts above it.
    #[serde(default)]
    drain: bool,
}

/// Sets a quota: with `If-None-Match: *` a new one, with `If-Match` the one that was read.
#[utoipa::path(put, path = "/api/v1/quotas/{team}/{pool}", operation_id = "put_quota", tag = "quotas",
    params(("team" = String, Path), ("pool" = String, Path)), request_body = PutQuota,
    responses((status = 200, body = QuotaView), (status = 201, body = QuotaView),
              (status = 412, description = "changed since it was read, or exists already"),
              (status = 422, description = "above the parent, or a bad field"),
              (status = 428, description = "neither If-Match nor If-None-Match")))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    Path((team, pool)): Path<(String, String)>,
    if_match: IfMatch,
    Json(body): Json<PutQuota>,
) -> Result<Response> {
    let team = teams::find(&app.store, &team).await?;
    let (id, parent) = (TeamId(team.id), team.parent_id.map(TeamId));
    app.allow(&caller, Action::QuotaEdit, &Resource::Quota { team: id, parent }).await?;
    let pool = PoolId(pools::find(&app.store, &pool).await?.id);
    let terms = checked(&body)?;
    let mut tx = app.begin(&caller).await?;
    let standing = quotas::standing(&mut tx, id, pool).await?;
    let before = quotas::lock(&mut tx, id, pool).await?;
    expect(if_match, before.as_ref())?;
    check_guarantee(body.guaranteed_gpus, &standing).map_err(above)?;
    let after = quotas::put(&mut tx, id, pool, before.as_ref(), terms).await?;
    tx.commit().await?;
    let figures = quotas::use_by_team(&app.store, Some(pool)).await?.remove(&(id, pool)).unwrap_or_default();
    let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok(versioned_with(status, after.version, &view(after, &figures, app.clock.now())))
}

fn checked(body: &PutQuota) -> Result<QuotaTerms> {
    let mut fields = Fields::new();
    fields.range("/guaranteed_gpus", body.guaranteed_gpus, 0, MOST);
    let optional = [
        ("/borrow_limit_gpus", body.borrow_limit_gpus),
        ("/lend_limit_gpus", body.lend_limit_gpus),
        ("/weight", body.weight),
    ];
    for (pointer, value) in optional {
        if let Some(value) = value {
            fields.range(pointer, value, 0, MOST);
        }
    }
    fields.done()?;
    let small = |value: i64| i32::try_from(value).unwrap_or(0);
    Ok(QuotaTerms {
        guaranteed_gpus: small(body.guaranteed_gpus),
        borrow_limit_gpus: body.borrow_limit_gpus.map(small),
        lend_limit_gpus: body.lend_limit_gpus.map(small),
        weight: small(body.weight.unwrap_or(1)),
        drain: body.drain,
    })
}

/// 428 without a condition, 412 when the quota is not as the caller believes.
pub(super) fn expect(if_match: IfMatch, before: Option<&Quota>) -> Result<()> {
    match (if_match.0, before) {
        (Precondition::Absent, None) => Err(Problem::new(Code::PreconditionRequired)
            .detail("this quota does not exist yet: send If-None-Match: * to create it")),
        (Precondition::MustNotExist, None) => Ok(()),
        (_, None) => Err(Problem::new(Code::StaleVersion).detail("there is no such quota any more")),
        (_, Some(quota)) => if_match.require(quota.version),
    }
}

/// A guarantee that does not fit, as a problem.
pub(crate) fn above(fault: GuaranteeFault) -> Problem {
    let code = match &fault {
        GuaranteeFault::AboveParent { .. } => Code::QuotaAboveParent,
        GuaranteeFault::SumAboveParent { .. } => Code::GuaranteeSumAboveParent,
        GuaranteeFault::BelowChildren { .. } => Code::GuaranteeBelowChildren,
    };
    let detail = fault.to_string();
    let problem = Problem::new(code).error("/guaranteed_gpus", fault.code(), detail.clone()).detail(detail);
    match fault {
        GuaranteeFault::AboveParent { parent, guaranteed_gpus, left_gpus, .. }
        | GuaranteeFault::SumAboveParent { parent, guaranteed_gpus, left_gpus, .. } => problem
            .param("parent", parent)
            .param("parent_guaranteed_gpus", guaranteed_gpus)
            .param("left_gpus", left_gpus),
        GuaranteeFault::BelowChildren { children_gpus, .. } => problem.param("children_gpus", children_gpus),
    }
}
