//! Rules by which a workload's token of another issuer is exchanged for access here.
//!
//! Each rule has a service account that owns what is done by it. This module refuses to judge a token.

use crate::connect::Store;
use crate::error::StoreError;
use crate::sessions;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{RowId, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

/// A rule, with its team's and account's names.
#[derive(Debug, Clone)]
pub struct WorkloadRule {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub issuer: String,
    pub audience: String,
    /// A list of [`reeve_core::identity::Condition`].
    pub conditions: Value,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub role: String,
    pub scopes: Vec<String>,
    pub token_secs: i32,
    pub state: String,
    pub service_user_id: Uuid,
    pub service_username: String,
    pub last_used_at: Option<DateTime<Utc>>,
    pub version: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// What an administrator says of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTerms {
    pub name: String,
    pub issuer: String,
    pub audience: String,
    pub conditions: Value,
    pub team_id: Uuid,
    pub role: String,
    pub scopes: Vec<String>,
    pub token_secs: i32,
    pub state: String,
}

impl WorkloadRule {
    #[must_use]
    pub fn terms(&self) -> RuleTerms {
        RuleTerms {
            name: self.name.clone(),
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            conditions: self.conditions.clone(),
            team_id: self.team_id,
            role: self.role.clone(),
            scopes: self.scopes.clone(),
            token_secs: self.token_secs,
            state: self.state.clone(),
        }
    }
}

impl RuleTerms {
    fn as_json(&self) -> Value {
        json!({
            "name": self.name, "issuer": self.issuer, "audience": self.audience, "conditions": self.conditions,
            "team_id": self.team_id, "role": self.role, "scopes": self.scopes, "token_secs": self.token_secs,
            "state": self.state,
        })
    }
}

macro_rules! select_rules {
    ($rest:literal $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            WorkloadRule,
            "select r.id, r.slug, r.name, r.issuer, r.audience, r.conditions, r.team_id, t.slug as team_slug, "
                + "t.name as team_name, r.role, r.scopes, r.token_secs, r.state, r.service_user_id, "
                + "u.username as service_username, r.last_used_at, r.version, r.created_at, r.updated_at "
                + "from workload_rules r join teams t on t.id = r.team_id join users u on u.id = r.service_user_id "
                + $rest
            $(, $argument)*
        )
    };
}

/// By slug, after one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<String>, limit: i64) -> Result<Vec<WorkloadRule>, StoreError> {
    Ok(select_rules!("where $1::text is null or r.slug > $1 order by r.slug limit $2", after, limit)
        .fetch_all(store.pool())
        .await?)
}

/// Those that may take a token of this issuer, in the order of their slugs.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_issuer(store: &Store, issuer: &str) -> Result<Vec<WorkloadRule>, StoreError> {
    Ok(select_rules!(
        "where r.issuer = $1 and r.state = 'enabled' and t.state = 'active' order by r.slug limit 500",
        issuer
    )
    .fetch_all(store.pool())
    .await?)
}

/// By id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id_or_slug: &str) -> Result<WorkloadRule, StoreError> {
    Ok(select_rules!("where r.id::text = $1 or r.slug = $1", id_or_slug).fetch_one(store.pool()).await?)
}

/// By id, locked.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: Uuid) -> Result<WorkloadRule, StoreError> {
    Ok(select_rules!("where r.id = $1 for update of r", id).fetch_one(tx.connection()).await?)
}

/// Makes a rule and its account, or takes over the account of a deleted rule of the same slug.
///
/// # Errors
/// [`StoreError::Duplicate`] when the slug is taken.
pub async fn create(tx: &mut WriteTx, slug: &str, terms: &RuleTerms) -> Result<WorkloadRule, StoreError> {
    let now = tx.now();
    let user = service_user(tx, slug, &terms.name).await?;
    let id = RowId::mint(now).0;
    sqlx::query!(
        "insert into workload_rules (id, slug, name, issuer, audience, conditions, team_id, role, scopes, token_secs,
                                     state, service_user_id, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)",
        id,
        slug,
        terms.name,
        terms.issuer,
        terms.audience,
        terms.conditions,
        terms.team_id,
        terms.role,
        &terms.scopes,
        terms.token_secs,
        terms.state,
        user,
        now
    )
    .execute(tx.connection())
    .await?;
    let event = NewEvent::new("workload_rule.created", "workload_rule", id).team(Some(terms.team_id.into()));
    tx.record(event.after(terms.as_json()));
    lock(tx, id).await
}

async fn service_user(tx: &mut WriteTx, slug: &str, name: &str) -> Result<Uuid, StoreError> {
    let now = tx.now();
    let username = format!("workload.{slug}");
    let known = sqlx::query_scalar!(
        "update users set state = 'active', updated_at = $2 where username = $1 and kind = 'service' returning id",
        username,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    if let Some(id) = known {
        return Ok(id);
    }
    let id = UserId::mint(now).0;
    sqlx::query!(
        "insert into users (id, username, display_name, kind, created_at, updated_at)
         values ($1, $2, $3, 'service', $4, $4)",
        id,
        username,
        name,
        now
    )
    .execute(tx.connection())
    .await?;
    let after = json!({"username": username, "display_name": name, "kind": "service"});
    tx.record(NewEvent::new("user.created", "user", id).after(after));
    Ok(id)
}

/// Writes edited terms back; sessions that the old ones let in end.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(
    tx: &mut WriteTx,
    before: &WorkloadRule,
    terms: &RuleTerms,
) -> Result<WorkloadRule, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update workload_rules set name = $3, issuer = $4, audience = $5, conditions = $6, team_id = $7, role = $8,
                scopes = $9, token_secs = $10, state = $11, version = version + 1, updated_at = $12
         where id = $1 and version = $2",
        before.id,
        before.version,
        terms.name,
        terms.issuer,
        terms.audience,
        terms.conditions,
        terms.team_id,
        terms.role,
        &terms.scopes,
        terms.token_secs,
        terms.state,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let event = NewEvent::new("workload_rule.edited", "workload_rule", before.id);
    let event = event.team(Some(terms.team_id.into())).before(before.terms().as_json());
    tx.record(event.after(terms.as_json()));
    sessions::revoke_of_rule(tx, before.id, "rule_changed").await?;
    lock(tx, before.id).await
}

/// Deletes a rule; its account stays, disabled, because jobs are its.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn delete(tx: &mut WriteTx, rule: &WorkloadRule) -> Result<(), StoreError> {
    let now = tx.now();
    sessions::revoke_of_rule(tx, rule.id, "rule_deleted").await?;
    sqlx::query!(
        "update users set state = 'disabled', updated_at = $2 where id = $1 and kind = 'service'",
        rule.service_user_id,
        now
    )
    .execute(tx.connection())
    .await?;
    let done =
        sqlx::query!("delete from workload_rules where id = $1", rule.id).execute(tx.connection()).await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    let event = NewEvent::new("workload_rule.deleted", "workload_rule", rule.id);
    tx.record(event.team(Some(rule.team_id.into())).before(rule.terms().as_json()));
    Ok(())
}

/// Notes that a rule let somebody in; at most once a minute.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn used(tx: &mut WriteTx, rule: Uuid) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "update workload_rules set last_used_at = $2
         where id = $1 and (last_used_at is null or last_used_at < $3)",
        rule,
        now,
        now - TimeDelta::minutes(1)
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
