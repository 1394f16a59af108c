//! `PATCH /users/{id}`.

use super::create::platform_roles;
use super::view::{UserView, one};
use crate::app::AppState;
use crate::auth::password;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, PlatformRole, Resource};
use reeve_core::id::UserId;
use reeve_store::users::{self, User};
use reeve_store::{sessions, version};
use serde::Deserialize;
use utoipa::ToSchema;

/// What is left out stays; null clears.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditUser {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    display_name: Option<String>,
    /// Null = none.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>)]
    email: Option<Option<String>>,
    /// `active` or `disabled`; disabling ends every session.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    state: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<String>)]
    platform_roles: Option<Vec<String>>,
    /// A new one; ends every session.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String, format = Password)]
    password: Option<String>,
}

/// Changes a person.
#[utoipa::path(patch, path = "/api/v1/users/{id}", operation_id = "edit_user", tag = "users",
    params(("id" = String, Path, description = "Id or username")),
    request_body = EditUser, responses((status = 200, body = UserView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    if_match: IfMatch,
    Json(body): Json<EditUser>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::UserEdit, &Resource::Installation).await?;
    let known = users::find(&app.store, &id).await?;
    let id = UserId(known.id);
    let roles = check(&caller, &known, &body)?;
    let hash = match body.password.clone() {
        Some(password) => Some(app.passwords.hash(password).await?),
        None => None,
    };
    let mut tx = app.begin(&caller).await?;
    let before = users::lock(&mut tx, id).await?;
    if_match.check(before.version)?;
    let after = users::save(&mut tx, &before, changed(&before, body, roles)).await?;
    if let Some(hash) = &hash {
        users::set_password(&mut tx, id, hash).await?;
    }
    if hash.is_some() || after.state == "disabled" {
        sessions::revoke_of_user(&mut tx, id, None, "changed_by_admin").await?;
    }
    tx.commit().await?;
    app.callers.forget();
    let tag = [(header::ETAG, version::etag(after.version))];
    Ok((tag, axum::Json(one(&app.store, after).await?)))
}

fn changed(before: &User, body: EditUser, roles: Option<Vec<PlatformRole>>) -> User {
    let roles = roles.map(|roles| roles.iter().map(ToString::to_string).collect());
    User {
        display_name: body.display_name.unwrap_or_else(|| before.display_name.clone()),
        email: body.email.unwrap_or_else(|| before.email.clone()),
        state: body.state.unwrap_or_else(|| before.state.clone()),
        platform_roles: roles.unwrap_or_else(|| before.platform_roles.clone()),
        ..before.clone()
    }
}

fn check(caller: &Caller, known: &User, body: &EditUser) -> Result<Option<Vec<PlatformRole>>> {
    let mut fields = Fields::new();
    // What it may do is its rule's to say, and it comes in by nothing else.
    if known.kind == "service" {
        for (place, given) in
            [("/password", body.password.is_some()), ("/platform_roles", body.platform_roles.is_some())]
        {
            if given {
                fields.add(place, "service_account", "edit the workload rule instead");
            }
        }
    }
    fields.text("/display_name", body.display_name.as_deref().unwrap_or("-"), 1, 100);
    fields.text("/email", body.email.as_ref().and_then(Option::as_deref).unwrap_or("-"), 1, 254);
    if !matches!(body.state.as_deref(), None | Some("active" | "disabled")) {
        fields.add("/state", "unknown_value", "active or disabled");
    }
    if let Some(password) = &body.password {
        fields.text("/password", password, password::LEAST, password::MOST);
    }
    let roles = body.platform_roles.as_ref().map(|texts| platform_roles(&mut fields, texts));
    // The last administrator would lock everybody out: nobody takes it from themselves.
    if known.id == caller.actor.id.0 {
        if body.state.as_deref() == Some("disabled") {
            fields.add("/state", "own_account", "nobody disables themselves");
        }
        if roles.as_ref().is_some_and(|roles| !roles.contains(&PlatformRole::Admin)) {
            fields.add("/platform_roles", "own_account", "nobody takes admin from themselves");
        }
    }
    fields.done()?;
    Ok(roles)
}
