//! An identity provider as JSON. Its secret is never shown.

use crate::app::AppState;
use crate::problem::Result;
use crate::refs::TeamRef;
use crate::routes::auth::oidc_browser::redirect_uri;
use axum::http::HeaderMap;
use chrono::{DateTime, Utc};
use reeve_store::oidc::{self, GroupRole, Provider};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OidcProviderView {
    id: Uuid,
    slug: String,
    name: String,
    issuer: String,
    client_id: String,
    has_client_secret: bool,
    scopes: Vec<String>,
    username_claim: String,
    groups_claim: String,
    /// False: only people that an administrator has made may sign in.
    create_users: bool,
    /// `enabled` or `disabled`.
    state: String,
    group_roles: Vec<GroupRoleView>,
    /// To be registered at the provider.
    redirect_uri: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    version: i64,
}

/// What a group gives: a role in a team, or one in the whole installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct GroupRoleView {
    group: String,
    team: Option<TeamRef>,
    role: Option<String>,
    platform_role: Option<String>,
}

impl From<GroupRole> for GroupRoleView {
    fn from(row: GroupRole) -> Self {
        let team = match (row.team_id, row.team_slug, row.team_name) {
            (Some(id), Some(slug), Some(name)) => Some(TeamRef { id, slug, name }),
            _ => None,
        };
        Self { group: row.group_name, team, role: row.role, platform_role: row.platform_role }
    }
}

/// Providers with what their groups give.
pub(crate) async fn views(
    app: &AppState,
    headers: &HeaderMap,
    rows: Vec<Provider>,
) -> Result<Vec<OidcProviderView>> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let roles = oidc::group_roles(&app.store, &ids).await?;
    let redirect_uri = redirect_uri(app, headers);
    Ok(rows.into_iter().map(|row| view(row, &roles, &redirect_uri)).collect())
}

pub(crate) async fn one(app: &AppState, headers: &HeaderMap, row: Provider) -> Result<OidcProviderView> {
    let roles = oidc::group_roles(&app.store, &[row.id]).await?;
    Ok(view(row, &roles, &redirect_uri(app, headers)))
}

pub(crate) fn view(row: Provider, roles: &[GroupRole], redirect_uri: &str) -> OidcProviderView {
    let group_roles =
        roles.iter().filter(|role| role.provider_id == row.id).cloned().map(GroupRoleView::from).collect();
    OidcProviderView {
        id: row.id,
        slug: row.slug,
        name: row.name,
        issuer: row.issuer,
        client_id: row.client_id,
        has_client_secret: row.client_secret.is_some(),
        scopes: row.scopes,
        username_claim: row.username_claim,
        groups_claim: row.groups_claim,
        create_users: row.create_users,
        state: row.state,
        group_roles,
        redirect_uri: redirect_uri.to_owned(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        version: row.version,
    }
}
