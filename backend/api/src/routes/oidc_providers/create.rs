//! `POST /oidc-providers`.

use super::body::{self, GroupRoleBody};
use super::view::{OidcProviderView, view};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use crate::routes::auth::oidc_browser::redirect_uri;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::oidc::{self, Provider};
use reeve_store::version;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateOidcProvider {
    #[schema(example = "company")]
    slug: String,
    /// On the button of the sign-in page.
    name: String,
    #[schema(example = "https://id.example")]
    issuer: String,
    client_id: String,
    /// None = a public client: PKCE alone.
    #[schema(format = Password)]
    client_secret: Option<String>,
    /// `openid`, `profile` and `email` when left out.
    scopes: Option<Vec<String>>,
    /// `preferred_username` when left out.
    username_claim: Option<String>,
    /// `groups` when left out; a JSON pointer when it begins with `/`.
    groups_claim: Option<String>,
    /// True when left out.
    create_users: Option<bool>,
    /// `enabled` when left out.
    state: Option<String>,
    #[serde(default)]
    group_roles: Vec<GroupRoleBody>,
}

/// Adds an identity provider (OpenID Connect).
#[utoipa::path(post, path = "/api/v1/oidc-providers", operation_id = "create_oidc_provider", tag = "identity",
    request_body = CreateOidcProvider, responses((status = 201, body = OidcProviderView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Keyed { body, once }: Keyed<CreateOidcProvider>,
) -> Result<Response> {
    app.allow(&caller, Action::OidcProviderEdit, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    let roles = body::group_roles(&app, &mut fields, &body.group_roles).await?;
    let new = provider(&app, body);
    body::check(&mut fields, &new);
    fields.done()?;
    let mut tx = app.begin(&caller).await?;
    let made = oidc::create(&mut tx, new).await?;
    oidc::set_group_roles(&mut tx, made.id, &roles).await?;
    let tag = [("etag", version::etag(made.version))];
    let roles = oidc::group_roles_in(&mut tx, made.id).await?;
    let view = view(made, &roles, &redirect_uri(&app, &headers));
    once.commit_with(tx, StatusCode::CREATED, &view, &tag).await
}

fn provider(app: &AppState, body: CreateOidcProvider) -> Provider {
    let now = app.clock.now();
    let usual = || ["openid", "profile", "email"].map(str::to_owned).to_vec();
    Provider {
        id: Uuid::nil(),
        slug: body.slug,
        name: body.name,
        issuer: body.issuer,
        client_id: body.client_id,
        client_secret: body.client_secret,
        scopes: body.scopes.unwrap_or_else(usual),
        username_claim: body.username_claim.unwrap_or_else(|| "preferred_username".to_owned()),
        groups_claim: body.groups_claim.unwrap_or_else(|| "groups".to_owned()),
        create_users: body.create_users.unwrap_or(true),
        state: body.state.unwrap_or_else(|| "enabled".to_owned()),
        version: 1,
        created_at: now,
        updated_at: now,
    }
}
