//! Quotas by (team, pool), their place in the tree, and what is used of them.
//!
//! This module refuses to judge a request against a quota: the planner does, on its snapshot.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::quota::{ParentQuota, Standing};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

pub use crate::quota_use::{Use, use_by_team};

/// A quota with the names of what it joins.
#[derive(Debug, Clone)]
pub struct Quota {
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub parent_id: Option<Uuid>,
    pub parent_slug: Option<String>,
    pub parent_name: Option<String>,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub guaranteed_gpus: i32,
    pub borrow_limit_gpus: Option<i32>,
    pub lend_limit_gpus: Option<i32>,
    pub weight: i32,
    pub drain: bool,
    pub version: i64,
    pub updated_at: DateTime<Utc>,
}

/// The editable part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaTerms {
    pub guaranteed_gpus: i32,
    pub borrow_limit_gpus: Option<i32>,
    pub lend_limit_gpus: Option<i32>,
    pub weight: i32,
    pub drain: bool,
}

impl QuotaTerms {
    fn as_json(self) -> Value {
        json!({
            "guaranteed_gpus": self.guaranteed_gpus,
            "borrow_limit_gpus": self.borrow_limit_gpus,
            "lend_limit_gpus": self.lend_limit_gpus,
            "weight": self.weight,
            "drain": self.drain,
        })
    }
}

macro_rules! select_quotas {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Quota,
            r#"select q.team_id, t.slug as team_slug, t.name as team_name,
                      u.id as "parent_id?", u.slug as "parent_slug?", u.name as "parent_name?",
                      q.pool_id, p.slug as pool_slug, q.guaranteed_gpus, q.borrow_limit_gpus, q.lend_limit_gpus,
                      q.weight, q.drain, q.version, q.updated_at
               from quotas q
               join teams t on t.id = q.team_id and t.state = 'active'
               left join teams u on u.id = t.parent_id
               join pools p on p.id = q.pool_id and p.state = 'active' "# + $rest
            $(, $argument)*
        )
    };
}

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub team: Option<TeamId>,
    pub pool: Option<PoolId>,
    /// Only these teams; `None` = all.
    pub teams: Option<Vec<Uuid>>,
}

/// Quotas by pool and team slug: after a key, at most `limit`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<(String, String)>,
    limit: i64,
) -> Result<Vec<Quota>, StoreError> {
    let (pool_slug, team_slug) = after.unzip();
    Ok(select_quotas!(
        "where ($1::uuid is null or q.team_id = $1) and ($2::uuid is null or q.pool_id = $2)
           and ($3::uuid[] is null or q.team_id = any($3))
           and ($4::text is null or (p.slug, t.slug) > ($4, $5))
         order by p.slug, t.slug limit $6",
        filter.team.map(|id| id.0),
        filter.pool.map(|id| id.0),
        filter.teams.as_deref(),
        pool_slug,
        team_slug,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// One quota.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn get(store: &Store, team: TeamId, pool: PoolId) -> Result<Quota, StoreError> {
    Ok(select_quotas!("where q.team_id = $1 and q.pool_id = $2", team.0, pool.0)
        .fetch_one(store.pool())
        .await?)
}

/// One quota, locked until the transaction ends. `None` when there is none yet.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn lock(tx: &mut WriteTx, team: TeamId, pool: PoolId) -> Result<Option<Quota>, StoreError> {
    Ok(select_quotas!("where q.team_id = $1 and q.pool_id = $2 for update of q", team.0, pool.0)
        .fetch_optional(tx.connection())
        .await?)
}

/// Where (team, pool) stands in the tree. The levels above and beside are locked, so that two siblings cannot
/// share out the same rest at once.
///
/// # Errors
/// [`StoreError::NotFound`] when the team is gone.
pub async fn standing(tx: &mut WriteTx, team: TeamId, pool: PoolId) -> Result<Standing, StoreError> {
    let own = sqlx::query!("select parent_id from teams where id = $1 and state = 'active'", team.0)
        .fetch_one(tx.connection())
        .await?;
    // Locked by the tree's edge: the parent's row stands for "who shares out its guarantee".
    sqlx::query!(
        "select id from teams where id = $1 or id = $2 order by id for update",
        team.0,
        own.parent_id
    )
    .fetch_all(tx.connection())
    .await?;
    let row = sqlx::query!(
        r#"select u.slug as "parent_slug?",
                  coalesce((select guaranteed_gpus from quotas where team_id = u.id and pool_id = $2), 0)::bigint
                    as "parent_gpus!",
                  coalesce((select sum(q.guaranteed_gpus) from quotas q join teams s on s.id = q.team_id
                            where s.parent_id = u.id and s.id <> t.id and s.state = 'active' and q.pool_id = $2), 0)
                    as "sibling_gpus!",
                  coalesce((select sum(q.guaranteed_gpus) from quotas q join teams c on c.id = q.team_id
                            where c.parent_id = t.id and c.state = 'active' and q.pool_id = $2), 0)
                    as "child_gpus!"
           from teams t left join teams u on u.id = t.parent_id
           where t.id = $1"#,
        team.0,
        pool.0
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(Standing {
        parent: row.parent_slug.map(|slug| ParentQuota {
            slug,
            guaranteed_gpus: row.parent_gpus,
            siblings_guaranteed_gpus: row.sibling_gpus,
        }),
        children_guaranteed_gpus: row.child_gpus,
    })
}

/// Sets a quota that is new (`before` none) or was seen as `before`.
///
/// # Errors
/// [`StoreError::Duplicate`] when somebody else created it, [`StoreError::Conflict`] when it changed meanwhile.
pub async fn put(
    tx: &mut WriteTx,
    team: TeamId,
    pool: PoolId,
    before: Option<&Quota>,
    terms: QuotaTerms,
) -> Result<Quota, StoreError> {
    let now = tx.now();
    match before {
        None => {
            sqlx::query!(
                "insert into quotas (team_id, pool_id, guaranteed_gpus, borrow_limit_gpus, lend_limit_gpus, weight,
                                     drain, updated_at)
                 values ($1, $2, $3, $4, $5, $6, $7, $8)",
                team.0,
                pool.0,
                terms.guaranteed_gpus,
                terms.borrow_limit_gpus,
                terms.lend_limit_gpus,
                terms.weight,
                terms.drain,
                now
            )
            .execute(tx.connection())
            .await?;
        }
        Some(before) => {
            let done = sqlx::query!(
                "update quotas set guaranteed_gpus = $3, borrow_limit_gpus = $4, lend_limit_gpus = $5, weight = $6,
                                   drain = $7, version = version + 1, updated_at = $8
                 where team_id = $1 and pool_id = $2 and version = $9",
                team.0,
                pool.0,
                terms.guaranteed_gpus,
                terms.borrow_limit_gpus,
                terms.lend_limit_gpus,
                terms.weight,
                terms.drain,
                now,
                before.version
            )
            .execute(tx.connection())
            .await?;
            if done.rows_affected() != 1 {
                return Err(StoreError::Conflict);
            }
        }
    }
    let quota = select_quotas!("where q.team_id = $1 and q.pool_id = $2", team.0, pool.0)
        .fetch_one(tx.connection())
        .await?;
    let mut event = NewEvent::new("quota.set", "quota", team.0)
        .team(team)
        .after(terms.as_json())
        .detail(json!({"team": quota.team_slug, "pool": quota.pool_slug}));
    if let Some(before) = before {
        event = event.before(terms_of(before).as_json());
    }
    tx.record(event);
    tx.wake_schedule();
    Ok(quota)
}

/// Takes a quota away: the team is then guaranteed nothing in the pool.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn delete(tx: &mut WriteTx, quota: &Quota) -> Result<(), StoreError> {
    let done = sqlx::query!(
        "delete from quotas where team_id = $1 and pool_id = $2 and version = $3",
        quota.team_id,
        quota.pool_id,
        quota.version
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    tx.record(
        NewEvent::new("quota.deleted", "quota", quota.team_id)
            .team(TeamId(quota.team_id))
            .before(terms_of(quota).as_json())
            .detail(json!({"team": quota.team_slug, "pool": quota.pool_slug})),
    );
    tx.wake_schedule();
    Ok(())
}

pub(crate) fn terms_of(quota: &Quota) -> QuotaTerms {
    QuotaTerms {
        guaranteed_gpus: quota.guaranteed_gpus,
        borrow_limit_gpus: quota.borrow_limit_gpus,
        lend_limit_gpus: quota.lend_limit_gpus,
        weight: quota.weight,
        drain: quota.drain,
    }
}
