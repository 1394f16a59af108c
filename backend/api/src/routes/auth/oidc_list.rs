//! `GET /auth/oidc`.

use crate::app::AppState;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use reeve_store::oidc;
use serde::Serialize;
use utoipa::ToSchema;

/// Ways to sign in besides a password.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignInProviders {
    items: Vec<SignInProvider>,
}

/// A button.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignInProvider {
    slug: String,
    name: String,
}

/// Lists the identity providers that people may sign in with.
#[utoipa::path(get, path = "/api/v1/auth/oidc", operation_id = "list_sign_in_providers", tag = "auth",
    responses((status = 200, body = SignInProviders)))]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Json<SignInProviders>> {
    let rows = oidc::enabled(&app.store).await?;
    let items = rows.into_iter().map(|row| SignInProvider { slug: row.slug, name: row.name }).collect();
    Ok(Json(SignInProviders { items }))
}
