//! What an administrator says about a provider, checked.

use crate::app::AppState;
use crate::oidc::issuer_url;
use crate::problem::{Fields, Result};
use reeve_core::access::{PlatformRole, Role};
use reeve_core::id::TeamId;
use reeve_core::identity::Grant;
use reeve_store::oidc::{Enabled, Provider};
use reeve_store::{StoreError, teams};
use serde::Deserialize;
use utoipa::ToSchema;

const MOST_GROUP_ROLES: usize = 500;

/// What a group gives: `team` and `role`, or `platform_role`.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupRoleBody {
    /// As the provider calls it.
    group: String,
    /// Slug or id.
    team: Option<String>,
    /// `viewer`, `member`, `lead` or `approver`.
    role: Option<String>,
    /// `admin`, `finance` or `auditor`.
    platform_role: Option<String>,
}

/// Checks the whole, whether new or edited.
pub(super) fn check(fields: &mut Fields, provider: &Provider) {
    fields.slug("/slug", &provider.slug);
    fields.text("/name", &provider.name, 1, 100);
    if let Err(why) = issuer_url(&provider.issuer) {
        fields.add("/issuer", "invalid_url", why);
    }
    fields.text("/issuer", &provider.issuer, 1, 500);
    fields.text("/client_id", &provider.client_id, 1, 500);
    if let Some(secret) = &provider.client_secret {
        fields.text("/client_secret", secret, 1, 1_000);
    }
    fields.text("/username_claim", &provider.username_claim, 1, 200);
    fields.text("/groups_claim", &provider.groups_claim, 1, 200);
    if !provider.scopes.iter().any(|scope| scope == "openid") || provider.scopes.len() > 20 {
        fields.add("/scopes", "invalid_scopes", "at most 20, and `openid` among them");
    }
    let plain =
        |scope: &String| (1..=100).contains(&scope.len()) && scope.bytes().all(|b| b.is_ascii_graphic());
    for (at, _) in provider.scopes.iter().enumerate().filter(|(_, scope)| !plain(scope)) {
        fields.add(format!("/scopes/{at}"), "invalid_scope", "1 to 100 ASCII characters without spaces");
    }
    fields.word::<Enabled>("/state", &provider.state);
}

/// What the groups give, with the teams looked up.
pub(super) async fn group_roles(
    app: &AppState,
    fields: &mut Fields,
    bodies: &[GroupRoleBody],
) -> Result<Vec<(String, Grant)>> {
    if bodies.len() > MOST_GROUP_ROLES {
        fields.add("/group_roles", "too_many", format!("at most {MOST_GROUP_ROLES}"));
        return Ok(Vec::new());
    }
    let mut roles: Vec<(String, Grant)> = Vec::new();
    for (at, body) in bodies.iter().enumerate() {
        fields.text(&format!("/group_roles/{at}/group"), &body.group, 1, 200);
        let Some(grant) = grant(app, fields, at, body).await? else { continue };
        let one = (body.group.clone(), grant);
        if !roles.contains(&one) {
            roles.push(one);
        }
    }
    Ok(roles)
}

async fn grant(
    app: &AppState,
    fields: &mut Fields,
    at: usize,
    body: &GroupRoleBody,
) -> Result<Option<Grant>> {
    match (&body.team, &body.role, &body.platform_role) {
        (Some(team), Some(role), None) => {
            let role: Option<Role> = fields.word(&format!("/group_roles/{at}/role"), role);
            match teams::find(&app.store, team).await {
                Ok(team) => Ok(role.map(|role| Grant::Team { team: TeamId(team.id), role })),
                Err(StoreError::NotFound) => {
                    fields.add(format!("/group_roles/{at}/team"), "unknown_team", "there is no such team");
                    Ok(None)
                }
                Err(other) => Err(other.into()),
            }
        }
        (None, None, Some(role)) => {
            let role: Option<PlatformRole> = fields.word(&format!("/group_roles/{at}/platform_role"), role);
            Ok(role.map(Grant::Platform))
        }
        _ => {
            fields.add(
                format!("/group_roles/{at}"),
                "one_of",
                "either `team` and `role`, or `platform_role`",
            );
            Ok(None)
        }
    }
}
