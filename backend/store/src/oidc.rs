//! Identity providers, what their groups give, and who came in through them.
//!
//! A client's secret is handed out only to whoever talks to the provider. This module refuses to talk to anybody, and
//! to judge a token.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::word;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::RowId;
use reeve_core::identity::Grant;
use reeve_core::text_enum;
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

text_enum! {
    /// Whether something may be used.
    Enabled {
        Enabled = "enabled",
        Disabled = "disabled",
    }
}

/// A provider.
#[derive(Clone)]
pub struct Provider {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<String>,
    pub scopes: Vec<String>,
    pub username_claim: String,
    pub groups_claim: String,
    pub create_users: bool,
    pub state: String,
    pub version: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("slug", &self.slug)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl Provider {
    fn as_json(&self) -> Value {
        json!({
            "slug": self.slug, "name": self.name, "issuer": self.issuer, "client_id": self.client_id,
            "has_client_secret": self.client_secret.is_some(), "scopes": self.scopes,
            "username_claim": self.username_claim, "groups_claim": self.groups_claim,
            "create_users": self.create_users, "state": self.state,
        })
    }
}

/// What a group gives, with the team's names.
#[derive(Debug, Clone)]
pub struct GroupRole {
    pub provider_id: Uuid,
    pub group_name: String,
    pub team_id: Option<Uuid>,
    pub team_slug: Option<String>,
    pub team_name: Option<String>,
    pub role: Option<String>,
    pub platform_role: Option<String>,
}

macro_rules! select_providers {
    ($rest:literal $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Provider,
            "select id, slug, name, issuer, client_id, client_secret, scopes, username_claim, groups_claim, "
                + "create_users, state, version, created_at, updated_at from oidc_providers " + $rest
            $(, $argument)*
        )
    };
}

/// By slug, after one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<String>, limit: i64) -> Result<Vec<Provider>, StoreError> {
    Ok(select_providers!("where $1::text is null or slug > $1 order by slug limit $2", after, limit)
        .fetch_all(store.pool())
        .await?)
}

/// Those that may be used, by name: a button each.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn enabled(store: &Store) -> Result<Vec<Provider>, StoreError> {
    Ok(select_providers!("where state = 'enabled' order by name, slug limit 50")
        .fetch_all(store.pool())
        .await?)
}

/// By id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id_or_slug: &str) -> Result<Provider, StoreError> {
    Ok(select_providers!("where id::text = $1 or slug = $1", id_or_slug).fetch_one(store.pool()).await?)
}

/// By id, locked.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: Uuid) -> Result<Provider, StoreError> {
    Ok(select_providers!("where id = $1 for update", id).fetch_one(tx.connection()).await?)
}

/// What the groups of these providers give.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn group_roles(store: &Store, providers: &[Uuid]) -> Result<Vec<GroupRole>, StoreError> {
    let mut connection = store.pool().acquire().await?;
    read_group_roles(&mut connection, providers).await
}

/// The same for one provider in the transaction that set them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn group_roles_in(tx: &mut WriteTx, provider: Uuid) -> Result<Vec<GroupRole>, StoreError> {
    read_group_roles(tx.connection(), &[provider]).await
}

async fn read_group_roles(
    connection: &mut PgConnection,
    providers: &[Uuid],
) -> Result<Vec<GroupRole>, StoreError> {
    Ok(sqlx::query_as!(
        GroupRole,
        r#"select g.provider_id, g.group_name, g.team_id, t.slug as "team_slug?", t.name as "team_name?", g.role,
                  g.platform_role
           from oidc_group_roles g left join teams t on t.id = g.team_id
           where g.provider_id = any($1) and (g.team_id is null or t.state = 'active')
           order by g.group_name, t.slug, g.role, g.platform_role"#,
        providers
    )
    .fetch_all(connection)
    .await?)
}

/// The same as grants.
///
/// # Errors
/// [`StoreError::Unreadable`].
pub fn grants(rows: &[GroupRole]) -> Result<Vec<(String, Grant)>, StoreError> {
    rows.iter()
        .map(|row| {
            let grant = match (row.team_id, &row.role, &row.platform_role) {
                (Some(team), Some(role), _) => Grant::Team { team: team.into(), role: word(role)? },
                (_, _, Some(role)) => Grant::Platform(word(role)?),
                _ => return Err(StoreError::Unreadable("a group's role without a role".to_owned())),
            };
            Ok((row.group_name.clone(), grant))
        })
        .collect()
}

/// Writes a new provider; its id and times are made here.
///
/// # Errors
/// [`StoreError::Duplicate`] when the slug is taken.
pub async fn create(tx: &mut WriteTx, new: Provider) -> Result<Provider, StoreError> {
    let now = tx.now();
    let made = Provider { id: RowId::mint(now).0, version: 1, created_at: now, updated_at: now, ..new };
    sqlx::query!(
        "insert into oidc_providers (id, slug, name, issuer, client_id, client_secret, scopes, username_claim,
                                     groups_claim, create_users, state, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
        made.id,
        made.slug,
        made.name,
        made.issuer,
        made.client_id,
        made.client_secret,
        &made.scopes,
        made.username_claim,
        made.groups_claim,
        made.create_users,
        made.state,
        now
    )
    .execute(tx.connection())
    .await?;
    tx.record(NewEvent::new("oidc_provider.created", "oidc_provider", made.id).after(made.as_json()));
    Ok(made)
}

/// Writes an edited provider back.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(tx: &mut WriteTx, before: &Provider, after: Provider) -> Result<Provider, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update oidc_providers set slug = $3, name = $4, issuer = $5, client_id = $6, client_secret = $7, scopes = $8,
                username_claim = $9, groups_claim = $10, create_users = $11, state = $12, version = version + 1,
                updated_at = $13
         where id = $1 and version = $2",
        before.id,
        before.version,
        after.slug,
        after.name,
        after.issuer,
        after.client_id,
        after.client_secret,
        &after.scopes,
        after.username_claim,
        after.groups_claim,
        after.create_users,
        after.state,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let mut event = NewEvent::new("oidc_provider.edited", "oidc_provider", before.id);
    event = event.before(before.as_json()).after(after.as_json());
    if before.client_secret != after.client_secret {
        event = event.detail(json!({"client_secret": "changed"}));
    }
    tx.record(event);
    Ok(Provider { version: before.version + 1, updated_at: now, ..after })
}

/// Replaces what the groups give.
///
/// # Errors
/// [`StoreError::Duplicate`] when one stands there twice; [`StoreError::Reference`] for a team that is gone.
pub async fn set_group_roles(
    tx: &mut WriteTx,
    provider: Uuid,
    roles: &[(String, Grant)],
) -> Result<(), StoreError> {
    sqlx::query!("delete from oidc_group_roles where provider_id = $1", provider)
        .execute(tx.connection())
        .await?;
    for (group, grant) in roles {
        let (team, role, platform) = match grant {
            Grant::Team { team, role } => (Some(team.0), Some(role.as_str()), None),
            Grant::Platform(role) => (None, None, Some(role.as_str())),
        };
        sqlx::query!(
            "insert into oidc_group_roles (provider_id, group_name, team_id, role, platform_role)
             values ($1, $2, $3, $4, $5)",
            provider,
            group,
            team,
            role,
            platform
        )
        .execute(tx.connection())
        .await?;
    }
    let after: Vec<Value> = roles
        .iter()
        .map(|(group, grant)| match grant {
            Grant::Team { team, role } => json!({"group": group, "team_id": team, "role": role}),
            Grant::Platform(role) => json!({"group": group, "platform_role": role}),
        })
        .collect();
    let event = NewEvent::new("oidc_provider.group_roles_set", "oidc_provider", provider);
    tx.record(event.after(json!({"group_roles": after})));
    Ok(())
}

/// Deletes a provider with what came from it: identities, and the roles that its groups gave.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn delete(tx: &mut WriteTx, provider: &Provider) -> Result<(), StoreError> {
    let gone = sqlx::query!(
        "delete from memberships where oidc_provider_id = $1 returning team_id, user_id, role",
        provider.id
    )
    .fetch_all(tx.connection())
    .await?;
    for row in gone {
        let event = NewEvent::new("member.withdrawn", "user", row.user_id).team(Some(row.team_id.into()));
        tx.record(event.before(json!({"role": row.role})).rule("provider_deleted"));
    }
    let held = sqlx::query!(
        "update users u set platform_roles = array(select unnest(u.platform_roles) except select unnest(i.platform_roles)),
                version = u.version + 1
         from oidc_identities i where i.provider_id = $1 and i.user_id = u.id and i.platform_roles <> '{}'
         returning u.id, u.platform_roles",
        provider.id
    )
    .fetch_all(tx.connection())
    .await?;
    for row in held {
        let event = NewEvent::new("user.edited", "user", row.id);
        tx.record(event.after(json!({"platform_roles": row.platform_roles})).rule("provider_deleted"));
    }
    let done = sqlx::query!("delete from oidc_providers where id = $1", provider.id)
        .execute(tx.connection())
        .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    tx.record(
        NewEvent::new("oidc_provider.deleted", "oidc_provider", provider.id).before(provider.as_json()),
    );
    Ok(())
}
