//! The tree of teams. A deleted team stays for history; its slug may be used again.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use serde_json::{Value, json};
use std::collections::HashMap;
use uuid::Uuid;

/// A team with its parent's names.
#[derive(Debug, Clone)]
pub struct Team {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub parent_id: Option<Uuid>,
    pub parent_slug: Option<String>,
    pub parent_name: Option<String>,
    pub state: String,
    pub version: i64,
    pub created_at: DateTime<Utc>,
}

impl Team {
    fn as_json(&self) -> Value {
        json!({"slug": self.slug, "name": self.name, "parent_id": self.parent_id})
    }
}

macro_rules! select_teams {
    ($rest:literal, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            Team,
            r#"select t.id, t.slug, t.name, t.parent_id, p.slug as "parent_slug?", p.name as "parent_name?", t.state,
                      t.version, t.created_at from teams t left join teams p on p.id = t.parent_id "# + $rest,
            $($argument),*
        )
    };
}

/// An active team by id or slug.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, id_or_slug: &str) -> Result<Team, StoreError> {
    Ok(select_teams!("where t.state = 'active' and (t.id::text = $1 or t.slug = $1)", id_or_slug)
        .fetch_one(store.pool())
        .await?)
}

/// An active team, locked. Locks in the transaction order team → job → gpu.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: TeamId) -> Result<Team, StoreError> {
    Ok(select_teams!("where t.state = 'active' and t.id = $1 for update of t", id.0)
        .fetch_one(tx.connection())
        .await?)
}

/// Active teams by slug, after one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(store: &Store, after: Option<String>, limit: i64) -> Result<Vec<Team>, StoreError> {
    Ok(select_teams!(
        "where t.state = 'active' and ($1::text is null or t.slug > $1) order by t.slug limit $2",
        after,
        limit
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
    parent: Option<TeamId>,
) -> Result<Team, StoreError> {
    let now = tx.now();
    let id = TeamId::mint(now);
    sqlx::query!(
        "insert into teams (id, slug, name, parent_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)",
        id.0,
        slug,
        name,
        parent.map(|parent| parent.0),
        now
    )
    .execute(tx.connection())
    .await?;
    let team = lock(tx, id).await?;
    tx.record(NewEvent::new("team.created", "team", id).team(id).after(team.as_json()));
    Ok(team)
}

/// Whether `ancestor` is `team` or above it. The whole tree is locked against other moves until the commit, so
/// that two moves at once cannot close a circle.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn is_below(tx: &mut WriteTx, team: TeamId, ancestor: TeamId) -> Result<bool, StoreError> {
    sqlx::query!("select pg_advisory_xact_lock(hashtext('reeve_team_tree')) is null as locked")
        .fetch_one(tx.connection())
        .await?;
    let below = sqlx::query_scalar!(
        r#"with recursive up as (
             select id, parent_id from teams where id = $1
             union
             select t.id, t.parent_id from teams t join up on t.id = up.parent_id
           ) select exists (select 1 from up where id = $2) as "below!""#,
        team.0,
        ancestor.0
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(below)
}

/// Renames or moves.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn save(
    tx: &mut WriteTx,
    before: &Team,
    name: &str,
    parent: Option<TeamId>,
) -> Result<Team, StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update teams set name = $3, parent_id = $4, version = version + 1, updated_at = $5
         where id = $1 and version = $2",
        before.id,
        before.version,
        name,
        parent.map(|parent| parent.0),
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let id = TeamId(before.id);
    let after = lock(tx, id).await?;
    let event = NewEvent::new("team.edited", "team", id).team(id);
    tx.record(event.before(before.as_json()).after(after.as_json()));
    tx.wake_schedule();
    Ok(after)
}

/// What keeps a team from being deleted: live jobs, active teams below.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn holds(tx: &mut WriteTx, id: TeamId) -> Result<(i64, i64), StoreError> {
    let row = sqlx::query!(
        r#"select (select count(*) from jobs where team_id = $1
                   and state in ('queued', 'starting', 'running', 'leaving')) as "jobs!",
                  (select count(*) from teams where parent_id = $1 and state = 'active') as "children!""#,
        id.0
    )
    .fetch_one(tx.connection())
    .await?;
    Ok((row.jobs, row.children))
}

/// Marks it deleted, with its quotas gone and its queues closed.
///
/// # Errors
/// [`StoreError::Conflict`] when it is not the version that was read.
pub async fn delete(tx: &mut WriteTx, team: &Team) -> Result<(), StoreError> {
    let now = tx.now();
    let done = sqlx::query!(
        "update teams set state = 'deleted', deleted_at = $3, updated_at = $3, version = version + 1
         where id = $1 and version = $2 and state = 'active'",
        team.id,
        team.version,
        now
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    sqlx::query!("delete from quotas where team_id = $1", team.id).execute(tx.connection()).await?;
    sqlx::query!("update queues set deleted_at = $2 where team_id = $1 and deleted_at is null", team.id, now)
        .execute(tx.connection())
        .await?;
    let id = TeamId(team.id);
    tx.record(NewEvent::new("team.deleted", "team", id).team(id).before(team.as_json()));
    tx.wake_schedule();
    Ok(())
}

/// Slugs of a team and of those above it, nearest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn chain(store: &Store, team: TeamId) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"with recursive up(id, parent_id, slug, depth) as (
             select id, parent_id, slug, 1 from teams where id = $1
             union all
             select t.id, t.parent_id, t.slug, up.depth + 1 from teams t join up on t.id = up.parent_id
             where up.depth < 100
           )
           select slug as "slug!" from up order by depth"#,
        team.0
    )
    .fetch_all(store.pool())
    .await?)
}

/// Every team's slug with those above it, nearest first, by team.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn above(store: &Store) -> Result<HashMap<TeamId, Vec<String>>, StoreError> {
    let rows = sqlx::query!(
        r#"with recursive up(of, id, parent_id, slug, depth) as (
             select id, id, parent_id, slug, 1 from teams
             union all
             select up.of, t.id, t.parent_id, t.slug, up.depth + 1 from teams t join up on t.id = up.parent_id
             where up.depth < 100
           )
           select of as "of!", array_agg(slug order by depth) as "slugs!" from up group by of"#
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(|row| (TeamId(row.of), row.slugs)).collect())
}

/// Those of the slugs that no active team has.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn unknown(store: &Store, slugs: &[String]) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select s.slug as "slug!" from unnest($1::text[]) as s(slug)
           where not exists (select 1 from teams t where t.slug = s.slug and t.state = 'active')"#,
        slugs
    )
    .fetch_all(store.pool())
    .await?)
}
