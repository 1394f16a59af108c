//! What a submission's names stand for: teams, queues, pools, looked up for a whole batch at once.

use crate::connect::Store;
use crate::error::StoreError;
use uuid::Uuid;

/// A team that may be submitted to, or not any more.
#[derive(Debug, Clone)]
pub struct TeamRow {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub parent_id: Option<Uuid>,
}

/// Active teams by slug or id.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn teams(store: &Store, names: &[String]) -> Result<Vec<TeamRow>, StoreError> {
    let ids: Vec<Uuid> = names.iter().filter_map(|name| name.parse().ok()).collect();
    Ok(sqlx::query_as!(
        TeamRow,
        "select id, slug, name, parent_id from teams
         where state = 'active' and (slug = any($1) or id = any($2))",
        names,
        &ids
    )
    .fetch_all(store.pool())
    .await?)
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
