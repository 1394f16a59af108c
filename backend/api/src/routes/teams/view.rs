//! A team as JSON.

use crate::extract::Caller;
use crate::refs::TeamRef;
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use reeve_store::teams::Team;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TeamView {
    id: Uuid,
    slug: String,
    name: String,
    parent: Option<TeamRef>,
    state: String,
    version: i64,
    created_at: DateTime<Utc>,
    /// The caller's roles here, those given above included.
    my_roles: Vec<String>,
}

impl TeamView {
    pub(crate) fn new(team: Team, caller: &Caller) -> Self {
        let roles = caller.actor.roles.get(&TeamId(team.id));
        let parent = team.parent_id.map(|id| TeamRef {
            id,
            slug: team.parent_slug.unwrap_or_default(),
            name: team.parent_name.unwrap_or_default(),
        });
        Self {
            id: team.id,
            slug: team.slug,
            name: team.name,
            parent,
            state: team.state,
            version: team.version,
            created_at: team.created_at,
            my_roles: roles.into_iter().flatten().map(ToString::to_string).collect(),
        }
    }
}
