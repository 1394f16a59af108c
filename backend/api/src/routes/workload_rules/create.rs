//! `POST /workload-rules`.

use super::body;
use super::view::{ConditionView, WorkloadRuleView};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::version;
use reeve_store::workload_rules::{self, RuleTerms};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateWorkloadRule {
    /// At most 50 characters: the service account is called `workload.<slug>`.
    #[schema(example = "train-ci")]
    slug: String,
    name: String,
    #[schema(example = "https://token.actions.githubusercontent.com")]
    issuer: String,
    #[schema(example = "reeve")]
    audience: String,
    /// At least one; all must hold.
    conditions: Vec<ConditionView>,
    /// Slug or id.
    team: String,
    /// `viewer`, `member`, `lead` or `approver`.
    role: String,
    /// Of `read`, `write`, `admin`; `read` and `write` when left out.
    scopes: Option<Vec<String>>,
    /// 60 to 3600; 900 when left out.
    token_secs: Option<i32>,
    /// `enabled` when left out.
    state: Option<String>,
}

/// Makes a rule by which a pipeline's own OIDC token is exchanged for access.
#[utoipa::path(post, path = "/api/v1/workload-rules", operation_id = "create_workload_rule", tag = "identity",
    request_body = CreateWorkloadRule, responses((status = 201, body = WorkloadRuleView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreateWorkloadRule>,
) -> Result<Response> {
    app.allow(&caller, Action::WorkloadRuleEdit, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    fields.slug("/slug", &body.slug);
    fields.text("/slug", &body.slug, 1, 50);
    let slug = body.slug.clone();
    let terms = terms(&app, &mut fields, body).await?;
    body::check(&mut fields, &terms);
    fields.done()?;
    let mut tx = app.begin(&caller).await?;
    let rule = workload_rules::create(&mut tx, &slug, &terms).await?;
    let tag = [("etag", version::etag(rule.version))];
    once.commit_with(tx, StatusCode::CREATED, &WorkloadRuleView::from(rule), &tag).await
}

async fn terms(app: &AppState, fields: &mut Fields, body: CreateWorkloadRule) -> Result<RuleTerms> {
    Ok(RuleTerms {
        conditions: body::conditions(fields, &body.conditions),
        team_id: body::team(app, fields, &body.team).await?,
        name: body.name,
        issuer: body.issuer,
        audience: body.audience,
        role: body.role,
        scopes: body.scopes.unwrap_or_else(|| vec!["read".to_owned(), "write".to_owned()]),
        token_secs: body.token_secs.unwrap_or(900),
        state: body.state.unwrap_or_else(|| "enabled".to_owned()),
    })
}
