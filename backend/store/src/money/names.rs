//! Names by id, deleted ones included: a bill speaks of what was.

use crate::connect::Store;
use crate::error::StoreError;
use reeve_core::id::{PoolId, QueueId, TeamId};
use std::collections::HashMap;
use uuid::Uuid;

/// Names of pools, teams and queues.
#[derive(Debug, Clone, Default)]
pub struct NameBook {
    pools: HashMap<Uuid, String>,
    /// Slug and name.
    teams: HashMap<Uuid, (String, String)>,
    queues: HashMap<Uuid, String>,
}

impl NameBook {
    /// Every one of them.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        let pools = sqlx::query!("select id, slug from pools").fetch_all(store.pool()).await?;
        let teams = sqlx::query!("select id, slug, name from teams").fetch_all(store.pool()).await?;
        let queues = sqlx::query!("select id, slug from queues").fetch_all(store.pool()).await?;
        Ok(Self {
            pools: pools.into_iter().map(|row| (row.id, row.slug)).collect(),
            teams: teams.into_iter().map(|row| (row.id, (row.slug, row.name))).collect(),
            queues: queues.into_iter().map(|row| (row.id, row.slug)).collect(),
        })
    }

    #[must_use]
    pub fn pool(&self, pool: PoolId) -> String {
        self.pools.get(&pool.0).cloned().unwrap_or_else(|| pool.to_string())
    }

    /// A team's slug; none for nobody.
    #[must_use]
    pub fn slug(&self, team: Option<TeamId>) -> Option<String> {
        let team = team?;
        Some(self.teams.get(&team.0).map_or_else(|| team.to_string(), |(slug, _)| slug.clone()))
    }

    /// A team's name; none for nobody.
    #[must_use]
    pub fn name(&self, team: Option<TeamId>) -> Option<String> {
        let team = team?;
        Some(self.teams.get(&team.0).map_or_else(|| team.to_string(), |(_, name)| name.clone()))
    }

    #[must_use]
    pub fn queue(&self, queue: Option<QueueId>) -> Option<String> {
        let queue = queue?;
        Some(self.queues.get(&queue.0).cloned().unwrap_or_else(|| queue.to_string()))
    }
}

/// Names of these jobs.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn jobs(store: &Store, ids: &[Uuid]) -> Result<HashMap<Uuid, String>, StoreError> {
    let rows =
        sqlx::query!("select id, name from jobs where id = any($1)", ids).fetch_all(store.pool()).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}
