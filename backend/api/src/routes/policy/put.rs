//! `PUT /policy`.

use super::view::PolicyView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_core::policy::Policy;
use reeve_store::{StoreError, policy, version};

const MOST_SECS: i64 = 30 * 86_400;

/// Puts a policy in force. What is left out of the document takes the product's default.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "put_policy", tag = "policy",
    request_body(content = Object, description = "The document, as `GET /policy` shows it"),
    responses((status = 200, body = PolicyView)))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    if_match: IfMatch,
    Json(document): Json<Policy>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::PolicyEdit, &Resource::Installation).await?;
    check(&document)?;
    let before = policy::in_force(&app.store).await?;
    if_match.require(before.version)?;
    let mut tx = app.begin(&caller).await?;
    match policy::put(&mut tx, &before, &document, caller.actor.id).await {
        Ok(_) => tx.commit().await?,
        Err(StoreError::Duplicate { .. }) => return Err(Problem::new(Code::StaleVersion)),
        Err(other) => return Err(other.into()),
    }
    let after = policy::in_force(&app.store).await?;
    let tag = [(header::ETAG, version::etag(after.version))];
    Ok((tag, axum::Json(PolicyView::from(after))))
}

fn check(document: &Policy) -> Result<()> {
    let mut fields = Fields::new();
    fields.range("/nomination_timeout_secs", document.nomination_timeout_secs, 1, MOST_SECS);
    for (kind, rules) in &document.kinds {
        fields.range(&format!("/kinds/{kind}/min_runtime_secs"), rules.min_runtime_secs, 0, MOST_SECS);
        fields.range(&format!("/kinds/{kind}/grace_secs"), rules.grace_secs, 0, MOST_SECS);
        if rules.default_priority > rules.ceiling {
            fields.add(
                format!("/kinds/{kind}/default_priority"),
                "above_ceiling",
                "above the kind's ceiling",
            );
        }
    }
    fields.done()
}
