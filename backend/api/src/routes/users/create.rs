//! `POST /users`.

use super::view::{UserView, view};
use crate::app::AppState;
use crate::auth::password;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::{Action, PlatformRole, Resource};
use reeve_store::users::{self, NewUser};
use reeve_store::version;
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateUser {
    #[schema(example = "ada")]
    username: String,
    display_name: String,
    email: Option<String>,
    /// 10 to 200 characters; without one the person cannot sign in with a password.
    #[schema(format = Password)]
    password: Option<String>,
    /// Of `admin`, `finance`, `auditor`.
    #[serde(default)]
    platform_roles: Vec<String>,
}

/// Makes a person.
#[utoipa::path(post, path = "/api/v1/users", operation_id = "create_user", tag = "users",
    request_body = CreateUser, responses((status = 201, body = UserView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreateUser>,
) -> Result<Response> {
    app.allow(&caller, Action::UserCreate, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let platform_roles = check(&body)?;
    let password_hash = match body.password {
        Some(password) => Some(app.passwords.hash(password).await?),
        None => None,
    };
    let mut tx = app.begin(&caller).await?;
    let new = NewUser {
        username: body.username,
        display_name: body.display_name,
        email: body.email,
        password_hash,
        platform_roles,
    };
    let user = users::create(&mut tx, new).await?;
    let tag = [("etag", version::etag(user.version))];
    once.commit_with(tx, StatusCode::CREATED, &view(user, Vec::new()), &tag).await
}

fn check(body: &CreateUser) -> Result<Vec<PlatformRole>> {
    let mut fields = Fields::new();
    fields.username("/username", &body.username);
    fields.text("/display_name", &body.display_name, 1, 100);
    fields.text("/email", body.email.as_deref().unwrap_or("-"), 1, 254);
    if let Some(password) = &body.password {
        fields.text("/password", password, password::LEAST, password::MOST);
    }
    let roles = platform_roles(&mut fields, &body.platform_roles);
    fields.done()?;
    Ok(roles)
}

pub(crate) fn platform_roles(fields: &mut Fields, texts: &[String]) -> Vec<PlatformRole> {
    let mut roles: Vec<PlatformRole> = texts
        .iter()
        .take(16)
        .enumerate()
        .filter_map(|(index, text)| fields.word(&format!("/platform_roles/{index}"), text))
        .collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}
