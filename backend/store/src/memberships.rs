//! Who has which role where.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::word;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::access::Role;
use reeve_core::id::{TeamId, UserId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A role of a person, with the team's names.
#[derive(Debug, Clone)]
pub struct Membership {
    pub user_id: Uuid,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub role: String,
}

/// A role in a team, with the person's names.
#[derive(Debug, Clone)]
pub struct Member {
    pub user_id: Uuid,
    pub username: String,
    pub display_name: String,
    pub role: String,
    pub created_at: DateTime<Utc>,
}

/// A person's roles, spread over the subtree below each team where one was given.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn spread(store: &Store, user: UserId) -> Result<BTreeMap<TeamId, BTreeSet<Role>>, StoreError> {
    let rows = sqlx::query!(
        r#"with recursive below as (
             select m.team_id, m.role from memberships m join teams t on t.id = m.team_id
             where m.user_id = $1 and t.state = 'active'
             union
             select t.id, b.role from teams t join below b on t.parent_id = b.team_id where t.state = 'active'
           ) select team_id as "team_id!", role as "role!" from below"#,
        user.0
    )
    .fetch_all(store.pool())
    .await?;
    let mut roles: BTreeMap<TeamId, BTreeSet<Role>> = BTreeMap::new();
    for row in rows {
        roles.entry(TeamId(row.team_id)).or_default().insert(word(&row.role)?);
    }
    Ok(roles)
}

/// These teams and all below them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn subtrees(store: &Store, teams: &[Uuid]) -> Result<BTreeSet<TeamId>, StoreError> {
    let ids = sqlx::query_scalar!(
        r#"with recursive below as (
             select id from teams where id = any($1)
             union
             select t.id from teams t join below b on t.parent_id = b.id
           ) select id as "id!" from below"#,
        teams
    )
    .fetch_all(store.pool())
    .await?;
    Ok(ids.into_iter().map(TeamId).collect())
}

/// The roles as they were given, of several people at once.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_users(store: &Store, users: &[Uuid]) -> Result<Vec<Membership>, StoreError> {
    Ok(sqlx::query_as!(
        Membership,
        "select m.user_id, m.team_id, t.slug as team_slug, t.name as team_name, m.role
         from memberships m join teams t on t.id = m.team_id
         where m.user_id = any($1) and t.state = 'active' order by t.slug, m.role",
        users
    )
    .fetch_all(store.pool())
    .await?)
}

/// A team's members by username and role, after a key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_team(
    store: &Store,
    team: TeamId,
    after: Option<(String, String)>,
    limit: i64,
) -> Result<Vec<Member>, StoreError> {
    let (username, role) = after.unzip();
    Ok(sqlx::query_as!(
        Member,
        "select m.user_id, u.username, u.display_name, m.role, m.created_at
         from memberships m join users u on u.id = m.user_id
         where m.team_id = $1 and ($2::text is null or (u.username, m.role) > ($2, $3::text))
         order by u.username, m.role limit $4",
        team.0,
        username,
        role,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// Gives a role; one that the person has stays.
///
/// # Errors
/// [`StoreError::Reference`] when there is no such person or team.
pub async fn grant(tx: &mut WriteTx, team: TeamId, user: Uuid, role: Role) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "insert into memberships (user_id, team_id, role, created_at) values ($1, $2, $3, $4)
         on conflict do nothing",
        user,
        team.0,
        role.as_str(),
        now
    )
    .execute(tx.connection())
    .await?;
    tx.record(NewEvent::new("member.granted", "user", user).team(team).after(json!({"role": role})));
    Ok(())
}

/// # Errors
/// [`StoreError::NotFound`] when the person does not have it.
pub async fn withdraw(tx: &mut WriteTx, team: TeamId, user: Uuid, role: Role) -> Result<(), StoreError> {
    let done = sqlx::query!(
        "delete from memberships where user_id = $1 and team_id = $2 and role = $3",
        user,
        team.0,
        role.as_str()
    )
    .execute(tx.connection())
    .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::NotFound);
    }
    tx.record(NewEvent::new("member.withdrawn", "user", user).team(team).before(json!({"role": role})));
    Ok(())
}
