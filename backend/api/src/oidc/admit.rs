//! Who a provider's subject is here, and what their groups give them.
//!
//! A subject that is new becomes a new person, or one whom an administrator made without a password. It refuses to
//! become anybody who has one, or who is another of its subjects: a name at the provider proves nothing about an account
//! here.

use crate::problem::Result;
use reeve_core::access::{PlatformRole, Role};
use reeve_core::id::TeamId;
use reeve_core::identity::{Grant, grants_of, texts};
use reeve_store::oidc::Provider;
use reeve_store::oidc_sign_in::{self, Identity};
use reeve_store::users::{self, NewUser};
use reeve_store::{Store, StoreError, WriteTx, oidc, sessions};
use serde_json::Value;
use std::collections::BTreeSet;

/// Why somebody whom the provider knows does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    UnknownUser,
    NameTaken,
    DisabledUser,
}

impl Refusal {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::UnknownUser => "oidc_unknown_user",
            Self::NameTaken => "oidc_name_taken",
            Self::DisabledUser => "oidc_disabled_user",
        }
    }
}

/// The person, with the roles that their groups give now.
///
/// # Errors
/// As the store's.
pub(crate) async fn admit(
    store: &Store,
    tx: &mut WriteTx,
    provider: &Provider,
    claims: &Value,
) -> Result<std::result::Result<Identity, Refusal>> {
    let subject = claims["sub"].as_str().unwrap_or_default();
    let identity = match oidc_sign_in::identity(tx, provider.id, subject).await? {
        Some(known) => known,
        None => match newcomer(store, tx, provider, claims).await? {
            Ok(user) => {
                oidc_sign_in::link(tx, provider.id, subject, user).await?;
                let linked = oidc_sign_in::identity(tx, provider.id, subject).await?;
                linked.ok_or(StoreError::NotFound)?
            }
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    if !identity.active {
        return Ok(Err(Refusal::DisabledUser));
    }
    let mapping = oidc::grants(&oidc::group_roles(store, &[provider.id]).await?)?;
    let (mut teams, mut platform): (BTreeSet<(TeamId, Role)>, BTreeSet<PlatformRole>) = Default::default();
    for grant in grants_of(&groups(provider, claims), &mapping) {
        match grant {
            Grant::Team { team, role } => drop(teams.insert((team, role))),
            Grant::Platform(role) => drop(platform.insert(role)),
        }
    }
    oidc_sign_in::sync_team_roles(tx, provider.id, identity.user_id, &teams).await?;
    oidc_sign_in::sync_platform_roles(tx, provider.id, subject, &identity, &platform).await?;
    Ok(Ok(identity))
}

fn groups(provider: &Provider, claims: &Value) -> Vec<String> {
    let name = &provider.groups_claim;
    let found = if name.starts_with('/') { claims.pointer(name) } else { claims.get(name) };
    found.map(texts).unwrap_or_default()
}

async fn newcomer(
    store: &Store,
    tx: &mut WriteTx,
    provider: &Provider,
    claims: &Value,
) -> Result<std::result::Result<uuid::Uuid, Refusal>> {
    let username = username(provider, claims);
    if let Some(known) = sessions::credentials(store, &username).await? {
        let user = users::find(store, &known.user_id.to_string()).await?;
        let linked = oidc_sign_in::is_linked(tx, provider.id, user.id).await?;
        let free = known.password_hash.is_none() && user.kind == "person" && !linked;
        return Ok(if free { Ok(user.id) } else { Err(Refusal::NameTaken) });
    }
    if !provider.create_users {
        return Ok(Err(Refusal::UnknownUser));
    }
    let text = |name: &str| claims[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let display_name =
        text("name").unwrap_or(&username).chars().filter(|c| !c.is_control()).take(100).collect();
    let verified = claims["email_verified"].as_bool().unwrap_or(true);
    let email = text("email").filter(|email| verified && email.len() <= 254).map(str::to_owned);
    let new = NewUser { username, display_name, email, password_hash: None, platform_roles: Vec::new() };
    Ok(Ok(users::create(tx, new).await?.id))
}

/// The claim as a username of ours: lower case, without what comes after an `@`, other characters as hyphens.
fn username(provider: &Provider, claims: &Value) -> String {
    let said = claims[provider.username_claim.as_str()].as_str().unwrap_or_default();
    let plain: String = said
        .split('@')
        .next()
        .unwrap_or_default()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' })
        .take(63)
        .collect();
    let plain = plain.trim_matches(['-', '.', '_']);
    if plain.is_empty() || plain.parse::<uuid::Uuid>().is_ok() {
        let digest = super::code::digest(claims["sub"].as_str().unwrap_or_default());
        return format!("user-{}", hex::encode(&digest[..6]));
    }
    plain.to_owned()
}
