//! Sign-ins through a provider: those that are under way, who a subject is here, and the roles that groups give.
//!
//! This module refuses to decide which groups give what ([`reeve_core::identity`]), and to take back what was given by
//! hand.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::word;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::access::{PlatformRole, Role};
use reeve_core::id::TeamId;
use reeve_core::identity::platform_roles_after;
use serde_json::json;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A sign-in that left for its provider.
#[derive(Clone)]
pub struct Flow {
    pub provider_id: Uuid,
    pub browser_hash: Vec<u8>,
    pub nonce: String,
    pub pkce_verifier: String,
    pub return_to: String,
    pub expires_at: DateTime<Utc>,
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("provider_id", &self.provider_id).finish_non_exhaustive()
    }
}

/// Keeps a sign-in until it comes back. It changes nothing that people see: no event.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn begin(store: &Store, state_hash: &[u8], flow: &Flow) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into oidc_flows (state_hash, browser_hash, provider_id, nonce, pkce_verifier, return_to, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        state_hash,
        flow.browser_hash,
        flow.provider_id,
        flow.nonce,
        flow.pkce_verifier,
        flow.return_to,
        flow.expires_at
    )
    .execute(store.pool())
    .await?;
    Ok(())
}

/// Takes a sign-in out, so that it counts once.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn take(store: &Store, state_hash: &[u8], now: DateTime<Utc>) -> Result<Option<Flow>, StoreError> {
    Ok(sqlx::query_as!(
        Flow,
        "delete from oidc_flows where state_hash = $1 and expires_at > $2
         returning provider_id, browser_hash, nonce, pkce_verifier, return_to, expires_at",
        state_hash,
        now
    )
    .fetch_optional(store.pool())
    .await?)
}

/// Forgets sign-ins that never came back.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn expire(store: &Store, now: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    let done = sqlx::query!(
        "delete from oidc_flows where state_hash in (select state_hash from oidc_flows where expires_at < $1 limit $2)",
        now,
        limit
    )
    .execute(store.pool())
    .await?;
    Ok(done.rows_affected())
}

/// Who a subject is.
#[derive(Debug, Clone)]
pub struct Identity {
    pub user_id: Uuid,
    pub username: String,
    pub active: bool,
    pub platform_roles: Vec<String>,
    pub given: Vec<String>,
}

/// Who a provider's subject is here, locked.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn identity(
    tx: &mut WriteTx,
    provider: Uuid,
    subject: &str,
) -> Result<Option<Identity>, StoreError> {
    Ok(sqlx::query_as!(
        Identity,
        r#"select u.id as user_id, u.username, u.state = 'active' as "active!", u.platform_roles,
                  i.platform_roles as given
           from oidc_identities i join users u on u.id = i.user_id
           where i.provider_id = $1 and i.subject = $2 for update"#,
        provider,
        subject
    )
    .fetch_optional(tx.connection())
    .await?)
}

/// Whether a person is one of the provider's subjects already.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn is_linked(tx: &mut WriteTx, provider: Uuid, user: Uuid) -> Result<bool, StoreError> {
    let linked = sqlx::query_scalar!(
        r#"select exists (select from oidc_identities where provider_id = $1 and user_id = $2) as "linked!""#,
        provider,
        user
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(linked)
}

/// From now on this subject is this person.
///
/// # Errors
/// [`StoreError::Duplicate`] when two sign-ins of one subject run at once.
pub async fn link(tx: &mut WriteTx, provider: Uuid, subject: &str, user: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "insert into oidc_identities (provider_id, subject, user_id, created_at, last_sign_in_at)
         values ($1, $2, $3, $4, $4)",
        provider,
        subject,
        user,
        now
    )
    .execute(tx.connection())
    .await?;
    let detail = json!({"provider_id": provider, "subject": subject});
    tx.record(NewEvent::new("user.identity_linked", "user", user).detail(detail));
    Ok(())
}

/// Roles in teams as the groups give them: new ones are given, those that the groups gave and give no more are taken.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn sync_team_roles(
    tx: &mut WriteTx,
    provider: Uuid,
    user: Uuid,
    wanted: &BTreeSet<(TeamId, Role)>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let teams: Vec<Uuid> = wanted.iter().map(|(team, _)| team.0).collect();
    let roles: Vec<String> = wanted.iter().map(|(_, role)| role.as_str().to_owned()).collect();
    let taken = sqlx::query!(
        "delete from memberships m where m.user_id = $1 and m.oidc_provider_id = $2
           and not exists (select from unnest($3::uuid[], $4::text[]) as w(team_id, role)
                           where w.team_id = m.team_id and w.role = m.role)
         returning m.team_id, m.role",
        user,
        provider,
        &teams,
        &roles
    )
    .fetch_all(tx.connection())
    .await?;
    for row in taken {
        let event = NewEvent::new("member.withdrawn", "user", user).team(Some(row.team_id.into()));
        tx.record(event.before(json!({"role": row.role})).rule("oidc_groups"));
    }
    let given = sqlx::query!(
        r#"insert into memberships (user_id, team_id, role, created_at, oidc_provider_id)
           select $1, w.team_id, w.role, $5, $2 from unnest($3::uuid[], $4::text[]) as w(team_id, role)
           join teams t on t.id = w.team_id and t.state = 'active'
           on conflict do nothing returning team_id, role"#,
        user,
        provider,
        &teams,
        &roles,
        now
    )
    .fetch_all(tx.connection())
    .await?;
    for row in given {
        let event = NewEvent::new("member.granted", "user", user).team(Some(row.team_id.into()));
        tx.record(event.after(json!({"role": row.role})).rule("oidc_groups"));
    }
    Ok(())
}

/// Platform roles as the groups give them; those given by hand stay.
///
/// # Errors
/// [`StoreError::Unreadable`] for a role that this version does not know.
pub async fn sync_platform_roles(
    tx: &mut WriteTx,
    provider: Uuid,
    subject: &str,
    identity: &Identity,
    mapped: &BTreeSet<PlatformRole>,
) -> Result<(), StoreError> {
    let now = tx.now();
    let words = |texts: &[String]| texts.iter().map(|text| word(text)).collect::<Result<BTreeSet<_>, _>>();
    let current: BTreeSet<PlatformRole> = words(&identity.platform_roles)?;
    let (after, given) = platform_roles_after(&current, &words(&identity.given)?, mapped);
    let texts = |roles: &BTreeSet<PlatformRole>| roles.iter().map(ToString::to_string).collect::<Vec<_>>();
    sqlx::query!(
        "update oidc_identities set platform_roles = $3, last_sign_in_at = $4 where provider_id = $1 and subject = $2",
        provider,
        subject,
        &texts(&given),
        now
    )
    .execute(tx.connection())
    .await?;
    if after == current {
        return Ok(());
    }
    sqlx::query!(
        "update users set platform_roles = $2, version = version + 1, updated_at = $3 where id = $1",
        identity.user_id,
        &texts(&after),
        now
    )
    .execute(tx.connection())
    .await?;
    let event = NewEvent::new("user.edited", "user", identity.user_id).rule("oidc_groups");
    tx.record(event.before(json!({"platform_roles": current})).after(json!({"platform_roles": after})));
    Ok(())
}
