//! People.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::access::PlatformRole;
use reeve_core::id::UserId;
use serde_json::{Value, json};
use uuid::Uuid;

/// A person, without the password's hash.
#[derive(Debug, Clone)]
pub struct User {
    pub id: Uuid,
    pub username: String,
    pub display_name: String,
    pub email: Option<String>,
    pub locale: Option<String>,
    pub state: String,
    /// `person`, or `service` for a workload rule's account.
    pub kind: String,
    pub platform_roles: Vec<String>,
    pub version: i64,
    pub created_at: DateTime<Utc>,
}

/// A person to be.
#[derive(Debug, Clone)]
pub struct NewUser {
    pub username: String,
    pub display_name: String,
    pub email: Option<String>,
    /// argon2id in PHC form.
    pub password_hash: Option<String>,
    pub platform_roles: Vec<PlatformRole>,
}

impl User {
    fn as_json(&self) -> Value {
        json!({
            "username": self.username,
            "display_name": self.display_name,
            "email": self.email,
            "locale": self.locale,
            "state": self.state,
            "platform_roles": self.platform_roles,
        })
    }
}

macro_rules! select_users {
    ($rest:literal, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            User,
            "select id, username, display_name, email, locale, state, kind, platform_roles, version, created_at from users "
                + $rest,
            $($argument),*
        )
    };
}

/// By id or username.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id_or_name: &str) -> Result<User, StoreError> {
    Ok(select_users!("where id::text = $1 or username = $1", id_or_name).fetch_one(store.pool()).await?)
}

/// By id, locked.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: UserId) -> Result<User, StoreError> {
    Ok(select_users!("where id = $1 for update", id.0).fetch_one(tx.connection()).await?)
}

/// By username, after one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<String>, limit: i64) -> Result<Vec<User>, StoreError> {
    Ok(select_users!("where $1::text is null or username > $1 order by username limit $2", after, limit)
        .fetch_all(store.pool())
        .await?)
}

/// Whether anybody exists: the first administrator is made only while nobody does.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn any(store: &Store) -> Result<bool, StoreError> {
    let any = sqlx::query_scalar!(r#"select exists (select 1 from users) as "any!""#)
        .fetch_one(store.pool())
        .await?;
    Ok(any)
}

/// # Errors
/// [`StoreError::Duplicate`] when the username is taken.
pub async fn create(tx: &mut WriteTx, new: NewUser) -> Result<User, StoreError> {
    let now = tx.now();
    let roles: Vec<String> = new.platform_roles.iter().map(|role| role.as_str().to_owned()).collect();
    let user = select_users!("where id = $1", insert(tx, &new, &roles, now).await?)
        .fetch_one(tx.connection())
        .await?;
    tx.record(NewEvent::new("user.created", "user", user.id).after(user.as_json()));
    Ok(user)
}

async fn insert(
    tx: &mut WriteTx,
    new: &NewUser,
    roles: &[String],
    now: DateTime<Utc>,
) -> Result<Uuid, StoreError> {
    let id = UserId::mint(now).0;
    sqlx::query!(
        "insert into users (id, username, display_name, email, password_hash, platform_roles, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $7)",
        id,
        new.username,
        new.display_name,
        new.email,
        new.password_hash,
        roles,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(id)
}

/// Writes an edited person back.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(tx: &mut WriteTx, before: &User, after: User) -> Result<User, StoreError> {
    let now = tx.now();
    let saved = sqlx::query_scalar!(
        "update users set display_name = $3, email = $4, locale = $5, state = $6, platform_roles = $7,
                version = version + 1, updated_at = $8
         where id = $1 and version = $2 returning version",
        before.id,
        before.version,
        after.display_name,
        after.email,
        after.locale,
        after.state,
        &after.platform_roles,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    let version = saved.ok_or(StoreError::Conflict)?;
    let event = NewEvent::new("user.edited", "user", before.id);
    tx.record(event.before(before.as_json()).after(after.as_json()));
    Ok(User { version, ..after })
}

/// # Errors
/// [`StoreError::NotFound`].
pub async fn set_password(tx: &mut WriteTx, user: UserId, hash: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update users set password_hash = $2, failed_sign_ins = 0, locked_until = null, updated_at = $3 where id = $1",
        user.0,
        hash,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    tx.record(NewEvent::new("user.password_set", "user", user));
    Ok(())
}
