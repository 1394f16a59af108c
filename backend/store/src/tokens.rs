//! API tokens. Only their hash is kept; the token itself is shown once, by whoever made it.

use crate::connect::Store;
use crate::error::StoreError;
use crate::sessions::CallerRow;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::Scope;
use reeve_core::id::{RowId, UserId};
use serde_json::json;
use uuid::Uuid;

/// A token without its secret.
#[derive(Debug, Clone)]
pub struct ApiToken {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub hint: String,
    pub scopes: Vec<String>,
    pub team_ids: Option<Vec<Uuid>>,
    pub created_at: DateTime<Utc>,
    pub expires_at: Option<DateTime<Utc>>,
    pub last_used_at: Option<DateTime<Utc>>,
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A token to be.
#[derive(Debug, Clone)]
pub struct NewApiToken {
    pub user: UserId,
    pub name: String,
    pub hash: Vec<u8>,
    pub hint: String,
    pub scopes: Vec<Scope>,
    pub team_ids: Option<Vec<Uuid>>,
    pub expires_at: Option<DateTime<Utc>>,
}

/// The person behind a live token, and what the token allows.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn caller(
    store: &Store,
    hash: &[u8],
    now: DateTime<Utc>,
) -> Result<Option<(CallerRow, ApiToken)>, StoreError> {
    let Some(token) = sqlx::query_as!(
        ApiToken,
        r#"select t.id, t.user_id, t.name, t.hint, t.scopes, t.team_ids, t.created_at, t.expires_at,
                  u.last_used_at as "last_used_at?", t.revoked_at
           from api_tokens t left join api_token_uses u on u.token_id = t.id
           where t.token_hash = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > $2)"#,
        hash,
        now
    )
    .fetch_optional(store.pool())
    .await?
    else {
        return Ok(None);
    };
    let user = sqlx::query_as!(
        CallerRow,
        "select id as user_id, username, display_name, platform_roles from users where id = $1 and state = 'active'",
        token.user_id
    )
    .fetch_optional(store.pool())
    .await?;
    Ok(user.map(|user| (user, token)))
}

/// Notes that a token was used; at most once a minute, and never in anybody's way.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn used(store: &Store, token: Uuid, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into api_token_uses (token_id, last_used_at)
         select $1, $2 where not exists (select from api_token_uses where token_id = $1 and last_used_at >= $3)
         on conflict (token_id) do update set last_used_at = $2 where api_token_uses.last_used_at < $3",
        token,
        now,
        now - TimeDelta::minutes(1)
    )
    .execute(store.pool())
    .await?;
    Ok(())
}

/// A person's tokens, newest first, after a key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    user: UserId,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<ApiToken>, StoreError> {
    Ok(sqlx::query_as!(
        ApiToken,
        r#"select t.id, t.user_id, t.name, t.hint, t.scopes, t.team_ids, t.created_at, t.expires_at,
                  u.last_used_at as "last_used_at?", t.revoked_at
           from api_tokens t left join api_token_uses u on u.token_id = t.id
           where t.user_id = $1 and ($2::uuid is null or t.id < $2) order by t.id desc limit $3"#,
        user.0,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// # Errors
/// [`StoreError::NotFound`].
pub async fn owner(store: &Store, token: Uuid) -> Result<UserId, StoreError> {
    let owner = sqlx::query_scalar!("select user_id from api_tokens where id = $1", token)
        .fetch_one(store.pool())
        .await?;
    Ok(UserId(owner))
}

/// How many tokens of a person could still be used.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count_live(tx: &mut WriteTx, user: UserId) -> Result<i64, StoreError> {
    let now = tx.now();
    let count = sqlx::query_scalar!(
        "select count(*) from api_tokens
         where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)",
        user.0,
        now
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(count.unwrap_or(0))
}

/// # Errors
/// [`StoreError::Unavailable`].
pub async fn create(tx: &mut WriteTx, new: NewApiToken) -> Result<ApiToken, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    let scopes: Vec<String> = new.scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
    sqlx::query!(
        "insert into api_tokens (id, user_id, name, token_hash, hint, scopes, team_ids, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        id,
        new.user.0,
        new.name,
        new.hash,
        new.hint,
        &scopes,
        new.team_ids.as_deref(),
        now,
        new.expires_at
    )
    .execute(tx.connection())
    .await?;
    let after =
        json!({"name": new.name, "scopes": scopes, "team_ids": new.team_ids, "expires_at": new.expires_at});
    tx.record(NewEvent::new("token.created", "token", id).after(after));
    Ok(ApiToken {
        id,
        user_id: new.user.0,
        name: new.name,
        hint: new.hint,
        scopes,
        team_ids: new.team_ids,
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    })
}

/// # Errors
/// [`StoreError::NotFound`] when it is revoked already or never was.
pub async fn revoke(tx: &mut WriteTx, token: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update api_tokens set revoked_at = $2 where id = $1 and revoked_at is null",
        token,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    tx.record(NewEvent::new("token.revoked", "token", token));
    Ok(())
}
