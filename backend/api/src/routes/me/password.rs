//! `POST /me/password`.

use crate::app::AppState;
use crate::auth::password;
use crate::extract::{Address, AuthKind, Caller, Json};
use crate::problem::{Fields, Result};
use axum::extract::State;
use axum::http::StatusCode;
use reeve_core::access::{Action, Resource};
use reeve_store::{sessions, users};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetPassword {
    #[schema(format = Password)]
    current_password: String,
    /// 10 to 200 characters.
    #[schema(format = Password)]
    new_password: String,
}

/// Sets a new password and ends the caller's other sessions.
#[utoipa::path(post, path = "/api/v1/me/password", operation_id = "set_my_password", tag = "me",
    request_body = SetPassword, responses((status = 204)))]
pub(crate) async fn set_password(
    State(app): State<AppState>,
    caller: Caller,
    Address(address): Address,
    Json(body): Json<SetPassword>,
) -> Result<StatusCode> {
    app.allow(&caller, Action::ProfileEdit, &Resource::Account(caller.actor.id)).await?;
    let mut fields = Fields::new();
    fields.text("/new_password", &body.new_password, password::LEAST, password::MOST);
    fields.done()?;
    app.rate_limit.sign_in(&caller.username, address)?;
    let known = sessions::credentials(&app.store, &caller.username).await?;
    let hash = known.and_then(|known| known.password_hash);
    if !app.passwords.verify(body.current_password, hash).await? {
        let mut fields = Fields::new();
        fields.add("/current_password", "wrong_password", "this is not your password");
        fields.done()?;
    }
    let hash = app.passwords.hash(body.new_password).await?;
    let keep = match caller.kind {
        AuthKind::Session { id } => Some(id),
        AuthKind::Token { .. } | AuthKind::Workload { .. } => None,
    };
    let mut tx = app.begin(&caller).await?;
    users::set_password(&mut tx, caller.actor.id, &hash).await?;
    sessions::revoke_of_user(&mut tx, caller.actor.id, keep, "password_set").await?;
    tx.commit().await?;
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
