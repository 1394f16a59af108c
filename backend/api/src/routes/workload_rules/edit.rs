//! `PATCH /workload-rules/{rule}`.

use super::body;
use super::view::{ConditionView, WorkloadRuleView};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, not_null};
use crate::problem::{Fields, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::workload_rules::{self, RuleTerms};
use serde::Deserialize;
use utoipa::ToSchema;

/// What is left out stays. Whoever came in by the rule as it was is out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditWorkloadRule {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    issuer: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    audience: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<ConditionView>)]
    conditions: Option<Vec<ConditionView>>,
    /// Slug or id.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    team: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    role: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<String>)]
    scopes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = i32)]
    token_secs: Option<i32>,
    /// `enabled` or `disabled`.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    state: Option<String>,
}

/// Changes a workload rule.
#[utoipa::path(patch, path = "/api/v1/workload-rules/{rule}", operation_id = "edit_workload_rule", tag = "identity",
    params(("rule" = String, Path, description = "Id or slug")),
    request_body = EditWorkloadRule, responses((status = 200, body = WorkloadRuleView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(rule): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditWorkloadRule>,
) -> Result<Response> {
    app.allow(&caller, Action::WorkloadRuleEdit, &Resource::Installation).await?;
    let known = workload_rules::find(&app.store, &rule).await?;
    let mut fields = Fields::new();
    let team = match &body.team {
        Some(team) => Some(body::team(&app, &mut fields, team).await?),
        None => None,
    };
    let mut tx = app.begin(&caller).await?;
    let before = workload_rules::lock(&mut tx, known.id).await?;
    if_match.check(before.version)?;
    let conditions = body.conditions.as_deref().map(|all| body::conditions(&mut fields, all));
    let kept = before.terms();
    let terms = RuleTerms {
        name: body.name.unwrap_or(kept.name),
        issuer: body.issuer.unwrap_or(kept.issuer),
        audience: body.audience.unwrap_or(kept.audience),
        conditions: conditions.unwrap_or(kept.conditions),
        team_id: team.unwrap_or(kept.team_id),
        role: body.role.unwrap_or(kept.role),
        scopes: body.scopes.unwrap_or(kept.scopes),
        token_secs: body.token_secs.unwrap_or(kept.token_secs),
        state: body.state.unwrap_or(kept.state),
    };
    body::check(&mut fields, &terms);
    fields.done()?;
    let saved = workload_rules::save(&mut tx, &before, &terms).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(versioned(saved.version, &WorkloadRuleView::from(saved)))
}
