//! Pools, with what they hold now.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::PoolId;
use serde_json::{Value, json};
use uuid::Uuid;

/// A pool.
#[derive(Debug, Clone)]
pub struct Pool {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub gpu_model: Option<String>,
    pub mode: String,
    pub state: String,
    pub version: i64,
    pub created_at: DateTime<Utc>,
}

/// A pool's figures, in milli-GPU where they are amounts.
#[derive(Debug, Clone, Default)]
pub struct PoolFigures {
    pub pool_id: Uuid,
    /// Of nodes that are not removed.
    pub gpu_milli: i64,
    /// Healthy ones of nodes that are ready.
    pub usable_milli: i64,
    pub free_milli: i64,
    /// Held by members that were told to go.
    pub leaving_milli: i64,
    pub ready_nodes: i64,
    pub cordoned_nodes: i64,
    pub draining_nodes: i64,
    pub lost_nodes: i64,
    /// Of the teams at the top: children's guarantees lie inside.
    pub guaranteed_gpus: i64,
    /// Jobs that would take this pool.
    pub pending_jobs: i64,
    pub pending_milli: i64,
}

impl Pool {
    fn as_json(&self) -> Value {
        json!({"slug": self.slug, "name": self.name, "gpu_model": self.gpu_model})
    }
}

macro_rules! select_pools {
    ($rest:literal, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            Pool,
            "select id, slug, name, gpu_model, mode, state, version, created_at from pools " + $rest,
            $($argument),*
        )
    };
}

/// An active pool by id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id_or_slug: &str) -> Result<Pool, StoreError> {
    Ok(select_pools!("where state = 'active' and (id::text = $1 or slug = $1)", id_or_slug)
        .fetch_one(store.pool())
        .await?)
}

/// An active pool, locked.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: PoolId) -> Result<Pool, StoreError> {
    Ok(select_pools!("where state = 'active' and id = $1 for update", id.0)
        .fetch_one(tx.connection())
        .await?)
}

/// Active pools by slug, after one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<String>, limit: i64) -> Result<Vec<Pool>, StoreError> {
    Ok(select_pools!(
        "where state = 'active' and ($1::text is null or slug > $1) order by slug limit $2",
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// The figures of several pools in one look.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn figures(store: &Store, pools: &[Uuid]) -> Result<Vec<PoolFigures>, StoreError> {
    Ok(sqlx::query_as!(
        PoolFigures,
        r#"select p.id as pool_id,
             coalesce(c.gpu_milli, 0)::bigint as "gpu_milli!", coalesce(c.usable_milli, 0)::bigint as "usable_milli!",
             coalesce(c.free_milli, 0)::bigint as "free_milli!", coalesce(l.leaving_milli, 0)::bigint as "leaving_milli!",
             coalesce(n.ready, 0) as "ready_nodes!", coalesce(n.cordoned, 0) as "cordoned_nodes!",
             coalesce(n.draining, 0) as "draining_nodes!", coalesce(n.lost, 0) as "lost_nodes!",
             coalesce(q.guaranteed, 0)::bigint as "guaranteed_gpus!",
             coalesce(j.jobs, 0) as "pending_jobs!", coalesce(j.milli, 0)::bigint as "pending_milli!"
           from pools p
           left join lateral (
             select count(*) * 1000 as gpu_milli,
                    count(*) filter (where g.health = 'healthy' and n.state = 'ready') * 1000 as usable_milli,
                    sum(g.free_milli) filter (where g.health = 'healthy' and n.state = 'ready') as free_milli
             from gpus g join nodes n on n.id = g.node_id where n.pool_id = p.id and n.state <> 'removed'
           ) c on true
           left join lateral (
             select sum(mg.milli) as leaving_milli
             from members m join member_gpus mg on mg.run_id = m.run_id and mg.member = m.member
             join nodes n on n.id = m.node_id
             where n.pool_id = p.id and m.state <> 'ended' and m.stop_order is not null
           ) l on true
           left join lateral (
             select count(*) filter (where state = 'ready') as ready,
                    count(*) filter (where state = 'cordoned') as cordoned,
                    count(*) filter (where state = 'draining') as draining,
                    count(*) filter (where state = 'lost') as lost
             from nodes where pool_id = p.id
           ) n on true
           left join lateral (
             select sum(q.guaranteed_gpus) as guaranteed from quotas q join teams t on t.id = q.team_id
             where q.pool_id = p.id and t.state = 'active' and not exists (
               select 1 from quotas above where above.pool_id = p.id and above.team_id = t.parent_id)
           ) q on true
           left join lateral (
             select count(*) as jobs, sum(min_replicas::bigint * gpus * coalesce(gpu_milli, 1000)) as milli
             from jobs where state = 'queued' and (pool_ids = '{}' or p.id = any(pool_ids))
               and (jobs.gpu_model is null or jobs.gpu_model = p.gpu_model)
           ) j on true
           where p.id = any($1)"#,
        pools
    )
    .fetch_all(store.pool())
    .await?)
}

/// # Errors
/// [`StoreError::Duplicate`] when the slug is taken.
pub async fn create(
    tx: &mut WriteTx,
    slug: &str,
    name: &str,
    gpu_model: Option<&str>,
) -> Result<Pool, StoreError> {
    let now = tx.now();
    let id = PoolId::mint(now);
    sqlx::query!(
        "insert into pools (id, slug, name, gpu_model, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)",
        id.0,
        slug,
        name,
        gpu_model,
        now
    )
    .execute(tx.connection())
    .await?;
    let pool = lock(tx, id).await?;
    tx.record(NewEvent::new("pool.created", "pool", id).after(pool.as_json()));
    Ok(pool)
}

/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(
    tx: &mut WriteTx,
    before: &Pool,
    name: &str,
    gpu_model: Option<&str>,
) -> Result<Pool, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update pools set name = $3, gpu_model = $4, version = version + 1, updated_at = $5
         where id = $1 and version = $2",
        before.id,
        before.version,
        name,
        gpu_model,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let after = lock(tx, PoolId(before.id)).await?;
    let event = NewEvent::new("pool.edited", "pool", before.id);
    tx.record(event.before(before.as_json()).after(after.as_json()));
    tx.wake_schedule();
    Ok(after)
}

/// Nodes that still belong to it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn node_count(tx: &mut WriteTx, id: PoolId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select count(*) as "nodes!" from nodes where pool_id = $1 and state <> 'removed'"#,
        id.0
    )
    .fetch_one(tx.connection())
    .await?)
}

/// Marks it deleted, with its quotas gone.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn delete(tx: &mut WriteTx, pool: &Pool) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update pools set state = 'deleted', updated_at = $3, version = version + 1
         where id = $1 and version = $2 and state = 'active'",
        pool.id,
        pool.version,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    sqlx::query!("delete from quotas where pool_id = $1", pool.id).execute(tx.connection()).await?;
    tx.record(NewEvent::new("pool.deleted", "pool", pool.id).before(pool.as_json()));
    tx.wake_schedule();
    Ok(())
}
