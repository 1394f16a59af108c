//! `PATCH /me`.

use super::view::MeView;
use crate::app::AppState;
use crate::extract::{Caller, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_store::users::{self, User};
use serde::Deserialize;
use utoipa::ToSchema;

/// What is left out stays; null clears.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditMe {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    display_name: Option<String>,
    /// Null = none.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>)]
    email: Option<Option<String>>,
    /// `en` or `zh-CN`; null = as the browser says.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>)]
    locale: Option<Option<String>>,
}

/// Changes the caller's own profile.
#[utoipa::path(patch, path = "/api/v1/me", operation_id = "edit_me", tag = "me", request_body = EditMe,
    responses((status = 200, body = MeView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<EditMe>,
) -> Result<axum::Json<MeView>> {
    app.allow(&caller, Action::ProfileEdit, &Resource::Account(caller.actor.id)).await?;
    check(&body)?;
    let mut tx = app.begin(&caller).await?;
    let before = users::lock(&mut tx, caller.actor.id).await?;
    let after = User {
        display_name: body.display_name.unwrap_or_else(|| before.display_name.clone()),
        email: body.email.unwrap_or_else(|| before.email.clone()),
        locale: body.locale.unwrap_or_else(|| before.locale.clone()),
        ..before.clone()
    };
    users::save(&mut tx, &before, after).await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(axum::Json(MeView::of(&app.store, &caller).await?))
}

fn check(body: &EditMe) -> Result<()> {
    let mut fields = Fields::new();
    fields.text("/display_name", body.display_name.as_deref().unwrap_or("-"), 1, 100);
    fields.text("/email", body.email.as_ref().and_then(Option::as_deref).unwrap_or("-"), 1, 254);
    if !matches!(body.locale.as_ref().and_then(Option::as_deref), None | Some("en" | "zh-CN")) {
        fields.add("/locale", "unknown_value", "en or zh-CN");
    }
    fields.done()
}
