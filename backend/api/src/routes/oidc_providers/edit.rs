//! `PATCH /oidc-providers/{provider}`.

use super::body::{self, GroupRoleBody};
use super::view::{OidcProviderView, one};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json, clearable, not_null};
use crate::problem::{Fields, Result};
use crate::reply::versioned;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_store::oidc::{self, Provider};
use serde::Deserialize;
use utoipa::ToSchema;

/// What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditOidcProvider {
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    slug: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    name: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    issuer: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    client_id: Option<String>,
    /// Null = a public client: PKCE alone.
    #[serde(default, deserialize_with = "clearable")]
    #[schema(value_type = Option<String>, format = Password)]
    client_secret: Option<Option<String>>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<String>)]
    scopes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    username_claim: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    groups_claim: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = bool)]
    create_users: Option<bool>,
    /// `enabled` or `disabled`.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = String)]
    state: Option<String>,
    /// Replaces all of them. People have what it gives from their next sign-in on.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<GroupRoleBody>)]
    group_roles: Option<Vec<GroupRoleBody>>,
}

/// Changes an identity provider.
#[utoipa::path(patch, path = "/api/v1/oidc-providers/{provider}", operation_id = "edit_oidc_provider", tag = "identity",
    params(("provider" = String, Path, description = "Id or slug")),
    request_body = EditOidcProvider, responses((status = 200, body = OidcProviderView)))]
pub(crate) async fn edit(
    State(app): State<AppState>,
    caller: Caller,
    Path(provider): Path<String>,
    if_match: IfMatch,
    headers: HeaderMap,
    Json(body): Json<EditOidcProvider>,
) -> Result<Response> {
    app.allow(&caller, Action::OidcProviderEdit, &Resource::Installation).await?;
    let id = oidc::find(&app.store, &provider).await?.id;
    let mut fields = Fields::new();
    let roles = match &body.group_roles {
        Some(bodies) => Some(body::group_roles(&app, &mut fields, bodies).await?),
        None => None,
    };
    let mut tx = app.begin(&caller).await?;
    let before = oidc::lock(&mut tx, id).await?;
    if_match.check(before.version)?;
    let after = changed(&before, body);
    body::check(&mut fields, &after);
    fields.done()?;
    let saved = oidc::save(&mut tx, &before, after).await?;
    if let Some(roles) = roles {
        oidc::set_group_roles(&mut tx, id, &roles).await?;
    }
    tx.commit().await?;
    let version = saved.version;
    Ok(versioned(version, &one(&app, &headers, saved).await?))
}

fn changed(before: &Provider, body: EditOidcProvider) -> Provider {
    let before = before.clone();
    Provider {
        slug: body.slug.unwrap_or(before.slug),
        name: body.name.unwrap_or(before.name),
        issuer: body.issuer.unwrap_or(before.issuer),
        client_id: body.client_id.unwrap_or(before.client_id),
        client_secret: body.client_secret.unwrap_or(before.client_secret),
        scopes: body.scopes.unwrap_or(before.scopes),
        username_claim: body.username_claim.unwrap_or(before.username_claim),
        groups_claim: body.groups_claim.unwrap_or(before.groups_claim),
        create_users: body.create_users.unwrap_or(before.create_users),
        state: body.state.unwrap_or(before.state),
        ..before
    }
}
