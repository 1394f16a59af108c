//! What submissions stand on: whatever they name, and which policy is in force, in one round trip. It refuses to judge: what is missing is simply not there.

use crate::connect::Store;
use crate::error::StoreError;
use crate::queues::Queue;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A team that may be submitted to, or not any more.
#[derive(Debug, Clone, Deserialize)]
pub struct TeamRow {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub parent_id: Option<Uuid>,
    pub version: i64,
    /// Its slug, and those of the teams above it, nearest first.
    pub path: Vec<String>,
}

/// What submissions name, each once.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// Slugs or ids.
    pub teams: Vec<String>,
    pub queues: Vec<String>,
    /// Some job asks for a topology level.
    pub levels: bool,
}

/// What is there of it.
#[derive(Debug, Clone)]
pub struct Found {
    /// 0 = the product's defaults.
    pub policy_version: i64,
    /// Active ones.
    pub teams: Vec<TeamRow>,
    /// Open, held and draining queues of these teams, the oldest of a team first, and those that were named.
    pub queues: Vec<Queue>,
    /// All active pools.
    pub pools: BTreeSet<Uuid>,
    /// The topology levels that nodes name; empty when nobody asked.
    pub levels: BTreeSet<String>,
    /// What is active for whole teams.
    pub raises: Vec<TeamRaise>,
}

/// An active escalation of a team: its jobs may be submitted up to its level.
#[derive(Debug, Clone, Deserialize)]
pub struct TeamRaise {
    pub escalation_id: Uuid,
    pub team_slug: String,
    pub queue_id: Option<Uuid>,
    pub kinds: Option<Vec<String>>,
    pub level: String,
    pub scope: String,
    pub expires_at: DateTime<Utc>,
}

struct Row {
    policy_version: i64,
    teams: Value,
    queues: Value,
    pools: Vec<Uuid>,
    levels: Vec<String>,
    raises: Value,
}

/// Looks everything up at once.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn look_up(store: &Store, named: &Named) -> Result<Found, StoreError> {
    let ids = |names: &[String]| names.iter().filter_map(|name| name.parse().ok()).collect::<Vec<Uuid>>();
    let row = sqlx::query_as!(
        Row,
        r#"with recursive named as (
             select id, slug, name, parent_id, version from teams
             where state = 'active' and (slug = any($1) or id = any($2))
           ), up(team, slug, parent_id, depth) as (
             select id, slug, parent_id, 0 from named
             union all
             select up.team, t.slug, t.parent_id, up.depth + 1 from up join teams t on t.id = up.parent_id
           )
           select coalesce((select max(version) from policies), 0) as "policy_version!",
                  coalesce((select jsonb_agg(to_jsonb(n) || jsonb_build_object('path',
                                  (select jsonb_agg(up.slug order by up.depth) from up where up.team = n.id)))
                            from named n), '[]') as "teams!",
                  coalesce((select jsonb_agg(to_jsonb(q) || jsonb_build_object('team_slug', t.slug, 'team_name', t.name)
                                             order by q.created_at, q.id)
                            from queues q join teams t on t.id = q.team_id
                            where q.deleted_at is null and (q.slug = any($3) or q.id = any($4)
                                  or q.team_id in (select id from named))), '[]') as "queues!",
                  coalesce((select array_agg(id) from pools where state = 'active'), '{}') as "pools!",
                  coalesce((select array_agg(distinct level) from nodes, jsonb_object_keys(topology) as level
                            where $5 and state <> 'removed'), '{}') as "levels!",
                  coalesce((select jsonb_agg(jsonb_build_object('escalation_id', e.id, 'team_slug', t.slug,
                                    'queue_id', e.queue_id, 'kinds', e.kinds, 'level', e.granted ->> 'level', 'scope', e.scope,
                                    'expires_at', e.expires_at))
                            from escalations e join teams t on t.id = e.team_id
                            where e.state = 'active' and e.asks_for = 'priority' and e.job_id is null), '[]')
                    as "raises!""#,
        &named.teams,
        &ids(&named.teams),
        &named.queues,
        &ids(&named.queues),
        named.levels
    )
    .fetch_one(store.pool())
    .await?;
    Ok(Found {
        policy_version: row.policy_version,
        teams: serde_json::from_value(row.teams)?,
        queues: serde_json::from_value(row.queues)?,
        pools: row.pools.into_iter().collect(),
        levels: row.levels.into_iter().collect(),
        raises: serde_json::from_value(row.raises)?,
    })
}

/// A team and everything below it, active or not.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn subtree(store: &Store, team: Uuid) -> Result<Vec<Uuid>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"with recursive tree(id) as (
             select $1::uuid
             union
             select t.id from teams t join tree on t.parent_id = tree.id
           )
           select id as "id!" from tree"#,
        team
    )
    .fetch_all(store.pool())
    .await?)
}

/// A user's id by id or name.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn user_id(store: &Store, name: &str) -> Result<Uuid, StoreError> {
    let id: Option<Uuid> = name.parse().ok();
    Ok(sqlx::query_scalar!("select id from users where username = $1 or id = $2", name, id)
        .fetch_one(store.pool())
        .await?)
}

/// An active pool's id and slug by id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn pool(store: &Store, name: &str) -> Result<(Uuid, String), StoreError> {
    let id: Option<Uuid> = name.parse().ok();
    let row = sqlx::query!(
        "select id, slug from pools where state = 'active' and (slug = $1 or id = $2)",
        name,
        id
    )
    .fetch_one(store.pool())
    .await?;
    Ok((row.id, row.slug))
}
