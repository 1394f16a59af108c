//! Sign-ins, their refresh tokens, and the keys that sign access tokens.
//!
//! Only hashes of refresh tokens are kept. This module refuses to judge a password or a signature.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{RowId, UserId};
use reeve_core::text_enum;
use serde_json::json;
use uuid::Uuid;

/// A person as a caller: who, and in which platform roles.
#[derive(Debug, Clone)]
pub struct CallerRow {
    pub user_id: Uuid,
    pub username: String,
    pub display_name: String,
    pub platform_roles: Vec<String>,
}

/// A live session's person. What a workload may do is its rule's to say, not its account's.
#[derive(Debug, Clone)]
pub struct SessionCaller {
    pub row: CallerRow,
    pub workload: Option<WorkloadGrant>,
}

/// What a workload's session may do.
#[derive(Debug, Clone)]
pub struct WorkloadGrant {
    pub rule: String,
    /// Who it says that it is, at its issuer.
    pub subject: String,
    pub team_id: Uuid,
    pub role: String,
    pub scopes: Vec<String>,
}

/// A live sign-in, as its owner sees it.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: Uuid,
    pub user_id: Uuid,
    pub method: String,
    pub user_agent: Option<String>,
    pub address: Option<String>,
    pub created_at: DateTime<Utc>,
    pub last_used_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

text_enum! {
    /// How somebody signed in.
    SignInMethod {
        Password = "password",
        Oidc = "oidc",
        Workload = "workload",
    }
}

/// A session to be.
#[derive(Debug, Clone)]
pub struct NewSession<'a> {
    pub user: Uuid,
    pub method: SignInMethod,
    pub address: Option<String>,
    pub user_agent: Option<&'a str>,
    pub expires_at: DateTime<Utc>,
    /// The rule of a workload, and its subject.
    pub workload: Option<(Uuid, &'a str)>,
}

/// What signing in needs to know.
#[derive(Debug, Clone)]
pub struct Credentials {
    pub user_id: Uuid,
    pub username: String,
    pub active: bool,
    pub password_hash: Option<String>,
    pub failed_sign_ins: i32,
    pub locked_until: Option<DateTime<Utc>>,
}

/// A refresh token with its session.
#[derive(Debug, Clone)]
pub struct RefreshToken {
    pub session_id: Uuid,
    pub user_id: Uuid,
    pub username: String,
    pub spent: bool,
    /// Session and token are alive, and the person is active.
    pub valid: bool,
}

/// A key pair in PEM.
#[derive(Clone)]
pub struct SigningKey {
    pub id: Uuid,
    pub private_pem: String,
    pub public_pem: String,
    pub retired: bool,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The person of a live session; `None` when it is revoked, over, or the person is disabled.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn caller(
    store: &Store,
    session: Uuid,
    now: DateTime<Utc>,
) -> Result<Option<SessionCaller>, StoreError> {
    let found = sqlx::query!(
        r#"select u.id as user_id, u.username, u.display_name, u.platform_roles, s.workload_subject,
                  r.slug as "rule?", r.team_id as "team_id?", r.role as "role?", r.scopes as "scopes?"
           from sessions s join users u on u.id = s.user_id
           left join workload_rules r on r.id = s.workload_rule_id
           where s.id = $1 and s.revoked_at is null and s.expires_at > $2 and u.state = 'active'
             and (s.workload_rule_id is null or r.state = 'enabled')"#,
        session,
        now
    )
    .fetch_optional(store.pool())
    .await?;
    Ok(found.map(|found| SessionCaller {
        row: CallerRow {
            user_id: found.user_id,
            username: found.username,
            display_name: found.display_name,
            platform_roles: found.platform_roles,
        },
        workload: match (found.rule, found.team_id, found.role, found.scopes) {
            (Some(rule), Some(team_id), Some(role), Some(scopes)) => Some(WorkloadGrant {
                rule,
                subject: found.workload_subject.unwrap_or_default(),
                team_id,
                role,
                scopes,
            }),
            _ => None,
        },
    }))
}

/// A person's live sessions, newest first, after a key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    user: UserId,
    now: DateTime<Utc>,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Session>, StoreError> {
    Ok(sqlx::query_as!(
        Session,
        "select id, user_id, method, user_agent, address, created_at, last_used_at, expires_at from sessions
         where user_id = $1 and revoked_at is null and expires_at > $2 and ($3::uuid is null or id < $3)
         order by id desc limit $4",
        user.0,
        now,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Whose a live session is.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn owner(store: &Store, session: Uuid, now: DateTime<Utc>) -> Result<UserId, StoreError> {
    let owner = sqlx::query_scalar!(
        "select user_id from sessions where id = $1 and revoked_at is null and expires_at > $2",
        session,
        now
    )
    .fetch_one(store.pool())
    .await?;
    Ok(UserId(owner))
}

/// # Errors
/// [`StoreError::Unavailable`].
pub async fn credentials(store: &Store, username: &str) -> Result<Option<Credentials>, StoreError> {
    Ok(sqlx::query_as!(
        Credentials,
        r#"select id as user_id, username, state = 'active' as "active!", password_hash, failed_sign_ins, locked_until
           from users where username = $1"#,
        username
    )
    .fetch_optional(store.pool())
    .await?)
}

/// Counts a failure and sets the pause after it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn sign_in_failed(
    tx: &mut WriteTx,
    user: Uuid,
    locked_until: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update users set failed_sign_ins = failed_sign_ins + 1, locked_until = $2 where id = $1",
        user,
        locked_until
    )
    .execute(tx.connection())
    .await?;
    let detail = json!({"locked": locked_until.is_some(), "locked_until": locked_until});
    tx.record(NewEvent::new("session.sign_in", "user", user).denied("wrong_password").detail(detail));
    Ok(())
}

/// Begins a session and forgets earlier failures.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn create(tx: &mut WriteTx, new: NewSession<'_>) -> Result<Uuid, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    let (rule, subject) = new.workload.unzip();
    sqlx::query!(
        "update users set failed_sign_ins = 0, locked_until = null
         where id = $1 and (failed_sign_ins > 0 or locked_until is not null)",
        new.user
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "insert into sessions (id, user_id, method, address, user_agent, created_at, last_used_at, expires_at,
                               workload_rule_id, workload_subject)
         values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)",
        id,
        new.user,
        new.method.as_str(),
        new.address,
        new.user_agent,
        now,
        new.expires_at,
        rule,
        subject
    )
    .execute(tx.connection())
    .await?;
    let detail =
        json!({"user_id": new.user, "method": new.method, "address": new.address, "workload": subject});
    tx.record(NewEvent::new("session.created", "session", id).detail(detail));
    Ok(id)
}

/// # Errors
/// [`StoreError::Unavailable`].
pub async fn add_refresh_token(
    tx: &mut WriteTx,
    session: Uuid,
    hash: &[u8],
    expires_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "insert into refresh_tokens (token_hash, session_id, created_at, expires_at) values ($1, $2, $3, $4)",
        hash,
        session,
        now,
        expires_at
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A refresh token, locked until the end of the transaction.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn refresh_token(tx: &mut WriteTx, hash: &[u8]) -> Result<Option<RefreshToken>, StoreError> {
    let now = tx.now();
    Ok(sqlx::query_as!(
        RefreshToken,
        r#"select r.session_id, s.user_id, u.username, r.spent_at is not null as "spent!",
                  (r.expires_at > $2 and s.expires_at > $2 and s.revoked_at is null and u.state = 'active') as "valid!"
           from refresh_tokens r join sessions s on s.id = r.session_id join users u on u.id = s.user_id
           where r.token_hash = $1 for update of r"#,
        hash,
        now
    )
    .fetch_optional(tx.connection())
    .await?)
}

/// # Errors
/// [`StoreError::Conflict`] when it is spent already.
pub async fn spend_refresh_token(tx: &mut WriteTx, hash: &[u8], session: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update refresh_tokens set spent_at = $2 where token_hash = $1 and spent_at is null",
        hash,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    sqlx::query!("update sessions set last_used_at = $2 where id = $1", session, now)
        .execute(tx.connection())
        .await?;
    tx.record(NewEvent::new("session.refreshed", "session", session));
    Ok(())
}

/// Ends a session; one that is over already stays as it is.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn revoke(tx: &mut WriteTx, session: Uuid, reason: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let user = sqlx::query_scalar!(
        "update sessions set revoked_at = $2, revoked_reason = $3 where id = $1 and revoked_at is null returning user_id",
        session,
        now,
        reason
    )
    .fetch_optional(tx.connection())
    .await?;
    let event = NewEvent::new("session.revoked", "session", session).rule(reason);
    tx.record(event.detail(json!({"user_id": user})));
    Ok(())
}

/// Ends a person's sessions, all but one; says how many.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn revoke_of_user(
    tx: &mut WriteTx,
    user: UserId,
    except: Option<Uuid>,
    reason: &str,
) -> Result<usize, StoreError> {
    let now = tx.now();
    let ended = sqlx::query_scalar!(
        "update sessions set revoked_at = $2, revoked_reason = $3
         where user_id = $1 and revoked_at is null and ($4::uuid is null or id <> $4) returning id",
        user.0,
        now,
        reason,
        except
    )
    .fetch_all(tx.connection())
    .await?;
    for session in &ended {
        tx.record(NewEvent::new("session.revoked", "session", *session).rule(reason));
    }
    Ok(ended.len())
}

/// Ends the sessions of a workload rule: what it allows has changed.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn revoke_of_rule(tx: &mut WriteTx, rule: Uuid, reason: &str) -> Result<usize, StoreError> {
    let now = tx.now();
    let ended = sqlx::query_scalar!(
        "update sessions set revoked_at = $2, revoked_reason = $3
         where workload_rule_id = $1 and revoked_at is null and expires_at > $2 returning id",
        rule,
        now,
        reason
    )
    .fetch_all(tx.connection())
    .await?;
    for session in &ended {
        tx.record(NewEvent::new("session.revoked", "session", *session).rule(reason));
    }
    Ok(ended.len())
}

/// All keys, newest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn signing_keys(store: &Store) -> Result<Vec<SigningKey>, StoreError> {
    Ok(sqlx::query_as!(
        SigningKey,
        r#"select id, private_pem, public_pem, retired_at is not null as "retired!"
           from signing_keys order by created_at desc, id desc limit 16"#
    )
    .fetch_all(store.pool())
    .await?)
}

const KEY_LOCK: i64 = 0x7265_6576_6500_0003;

/// Adds a key pair unless there is one in use; `false` = there is, and nothing was done. Servers that start at once
/// line up here, so that they end with one key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn add_first_signing_key(
    tx: &mut WriteTx,
    private_pem: &str,
    public_pem: &str,
) -> Result<bool, StoreError> {
    let now = tx.now();
    let id = RowId::mint(now).0;
    // The lock is taken by a statement of its own: the next one's snapshot must be younger than the lock.
    sqlx::query!("select pg_advisory_xact_lock($1)", KEY_LOCK).fetch_one(tx.connection()).await?;
    let added = sqlx::query!(
        "insert into signing_keys (id, private_pem, public_pem, created_at)
         select $1, $2, $3, $4 where not exists (select from signing_keys where retired_at is null)",
        id,
        private_pem,
        public_pem,
        now
    )
    .execute(tx.connection())
    .await?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    tx.record(NewEvent::new("signing_key.created", "signing_key", id));
    Ok(true)
}

/// Deletes sessions that nobody could use since `before`, and refresh tokens that ended before it; at most `limit` of each
/// a call. Answers how many sessions and tokens went, without those that went with their session.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn expire(store: &Store, before: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    // Housekeeping of what gives no access any more: no event.
    let sessions = sqlx::query!(
        "delete from sessions where id in (select id from sessions where expires_at < $1 limit $2)",
        before,
        limit
    )
    .execute(store.pool())
    .await?;
    let tokens = sqlx::query!(
        "delete from refresh_tokens where token_hash in
           (select token_hash from refresh_tokens where expires_at < $1 limit $2)",
        before,
        limit
    )
    .execute(store.pool())
    .await?;
    Ok(sessions.rows_affected() + tokens.rows_affected())
}
