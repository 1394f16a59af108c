//! Short references inside views: enough to name a thing and link to it.

use reeve_core::access::{Action, Actor, Resource, Verdict, may};
use reeve_core::id::{TeamId, UserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TeamRef {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PoolRef {
    pub id: Uuid,
    pub slug: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueueRef {
    pub id: Uuid,
    pub slug: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NodeRef {
    pub id: Uuid,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UserRef {
    pub id: Uuid,
    pub username: String,
    pub display_name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobRef {
    pub id: Uuid,
    pub name: String,
    pub team: TeamRef,
}

/// A job in a picture of all teams' work: one that the caller may not read keeps its team, and loses its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MaskedJobRef {
    /// Null for one that the caller may not read.
    pub id: Option<Uuid>,
    /// Null for one that the caller may not read.
    pub name: Option<String>,
    pub team: TeamRef,
}

impl MaskedJobRef {
    /// The job as `actor` may see it.
    #[must_use]
    pub fn new(actor: &Actor, owner: UserId, job: JobRef) -> Self {
        let resource = Resource::Job { team: TeamId(job.team.id), owner };
        let readable = may(actor, Action::JobRead, &resource) == Verdict::Allowed;
        Self { id: readable.then_some(job.id), name: readable.then_some(job.name), team: job.team }
    }
}
