//! The caller as JSON.

use crate::extract::{AuthKind, Caller};
use crate::refs::TeamRef;
use reeve_core::access::Scope;
use reeve_store::memberships::{self, Membership};
use reeve_store::{Store, StoreError, users};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MeView {
    id: Uuid,
    username: String,
    display_name: String,
    email: Option<String>,
    /// `en`, `zh-CN` or null: the browser's.
    locale: Option<String>,
    platform_roles: Vec<String>,
    memberships: Vec<MembershipView>,
    auth: AuthView,
}

/// A role where it was given; it counts for the teams below too.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MembershipView {
    pub(crate) team: TeamRef,
    pub(crate) role: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AuthView {
    /// `session`, `token` or `workload`.
    #[serde(rename = "type")]
    kind: &'static str,
    scopes: Vec<String>,
}

impl From<Membership> for MembershipView {
    fn from(row: Membership) -> Self {
        Self { team: TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name }, role: row.role }
    }
}

impl MeView {
    pub(crate) async fn of(store: &Store, caller: &Caller) -> Result<Self, StoreError> {
        let kind = match caller.kind {
            AuthKind::Session { .. } => "session",
            AuthKind::Token { .. } => "token",
            AuthKind::Workload { .. } => "workload",
        };
        let scopes = caller.actor.scopes.iter().map(ToString::to_string).collect();
        Self::load(store, caller.actor.id.0, AuthView { kind, scopes }).await
    }

    pub(crate) async fn of_session(store: &Store, user: Uuid) -> Result<Self, StoreError> {
        let scopes = Scope::ALL.iter().map(ToString::to_string).collect();
        Self::load(store, user, AuthView { kind: "session", scopes }).await
    }

    async fn load(store: &Store, user: Uuid, auth: AuthView) -> Result<Self, StoreError> {
        let row = users::find(store, &user.to_string()).await?;
        let roles = memberships::of_users(store, &[user]).await?;
        Ok(Self {
            id: row.id,
            username: row.username,
            display_name: row.display_name,
            email: row.email,
            locale: row.locale,
            platform_roles: row.platform_roles,
            memberships: roles.into_iter().map(MembershipView::from).collect(),
            auth,
        })
    }
}
