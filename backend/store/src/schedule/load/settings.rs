//! Loads what people set: policy, pools, teams, quotas and queues. Few rows that change seldom.

use crate::error::StoreError;
use crate::row::{count, word};
use reeve_core::policy::Policy;
use reeve_core::schedule::snapshot::{Pool, Queue, Quota, Team};
use reeve_core::units::MilliGpu;
use sqlx::PgConnection;

/// All of it.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    pub(crate) pools: Vec<Pool>,
    pub(crate) teams: Vec<Team>,
    pub(crate) quotas: Vec<Quota>,
    pub(crate) queues: Vec<Queue>,
}

pub(crate) async fn load_settings(connection: &mut PgConnection) -> Result<Settings, StoreError> {
    Ok(Settings {
        policy: load_policy(connection).await?,
        pools: load_pools(connection).await?,
        teams: load_teams(connection).await?,
        quotas: load_quotas(connection).await?,
        queues: load_queues(connection).await?,
    })
}

async fn load_policy(connection: &mut PgConnection) -> Result<Policy, StoreError> {
    let document = sqlx::query_scalar!("select document from policies order by version desc limit 1")
        .fetch_optional(connection)
        .await?;
    Ok(document.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

async fn load_pools(connection: &mut PgConnection) -> Result<Vec<Pool>, StoreError> {
    let rows = sqlx::query!("select id, slug from pools where state = 'active' order by id")
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().map(|row| Pool { id: row.id.into(), slug: row.slug }).collect())
}

async fn load_teams(connection: &mut PgConnection) -> Result<Vec<Team>, StoreError> {
    // A deleted team may still have jobs that are leaving.
    let rows =
        sqlx::query!("select id, slug, parent_id from teams order by id").fetch_all(connection).await?;
    Ok(rows
        .into_iter()
        .map(|row| Team { id: row.id.into(), slug: row.slug, parent: row.parent_id.map(Into::into) })
        .collect())
}

async fn load_quotas(connection: &mut PgConnection) -> Result<Vec<Quota>, StoreError> {
    let rows = sqlx::query!(
        "select q.team_id, q.pool_id, q.guaranteed_gpus, q.borrow_limit_gpus, q.lend_limit_gpus, q.weight, q.drain
         from quotas q join teams t on t.id = q.team_id and t.state = 'active'
         join pools p on p.id = q.pool_id and p.state = 'active' order by q.team_id, q.pool_id"
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let gpus = |gpus: i32| count::<u32>(gpus).map(MilliGpu::whole);
            Ok(Quota {
                team: row.team_id.into(),
                pool: row.pool_id.into(),
                guaranteed: gpus(row.guaranteed_gpus)?,
                borrow_limit: row.borrow_limit_gpus.map(gpus).transpose()?,
                lend_limit: row.lend_limit_gpus.map(gpus).transpose()?,
                weight: count(row.weight)?,
                drain: row.drain,
            })
        })
        .collect()
}

async fn load_queues(connection: &mut PgConnection) -> Result<Vec<Queue>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, slug, team_id, "order", state, max_running_jobs, max_running_jobs_per_user, max_running_gpus
           from queues order by id"#
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Queue {
                id: row.id.into(),
                slug: row.slug,
                team: row.team_id.into(),
                order: word(&row.order)?,
                state: word(&row.state)?,
                max_running_jobs: row.max_running_jobs.map(count).transpose()?,
                max_running_jobs_per_user: row.max_running_jobs_per_user.map(count).transpose()?,
                max_running_gpus: row
                    .max_running_gpus
                    .map(|gpus| count::<u32>(gpus).map(MilliGpu::whole))
                    .transpose()?,
            })
        })
        .collect()
}
