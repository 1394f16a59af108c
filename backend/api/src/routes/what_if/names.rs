//! Names for what the answer speaks of. A job that the caller may not read keeps its team, and loses its name.

use crate::refs::{NodeRef, PoolRef, TeamRef};
use reeve_core::access::{Action, Actor, Resource, Verdict, may};
use reeve_core::id::{JobId, NodeId, PoolId, TeamId};
use reeve_core::schedule::snapshot::{Job, Snapshot};
use reeve_store::evictions::names as team_names;
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// A job of the answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WhatIfJob {
    /// Null for an imagined job, and for one that the caller may not read.
    pub(super) id: Option<Uuid>,
    /// Null for one that the caller may not read.
    pub(super) name: Option<String>,
    pub(super) team: Option<TeamRef>,
    /// It exists only in the question.
    pub(super) imagined: bool,
}

pub(super) struct Names<'a> {
    actor: &'a Actor,
    jobs: BTreeMap<JobId, &'a Job>,
    nodes: BTreeMap<NodeId, &'a str>,
    pools: BTreeMap<PoolId, &'a str>,
    teams: BTreeMap<TeamId, TeamRef>,
    submitted: &'a [JobId],
}

impl<'a> Names<'a> {
    pub(super) async fn new(
        store: &Store,
        actor: &'a Actor,
        snapshot: &'a Snapshot,
        submitted: &'a [JobId],
    ) -> Result<Self, StoreError> {
        let ids: Vec<Uuid> = snapshot.teams.iter().map(|team| team.id.0).collect();
        let teams = team_names(store, &[], &ids).await?.teams;
        let team = |name: reeve_store::evictions::TeamName| TeamRef {
            id: name.id,
            slug: name.slug,
            name: name.name,
        };
        Ok(Self {
            actor,
            jobs: snapshot.jobs.iter().map(|job| (job.id, job)).collect(),
            nodes: snapshot.nodes.iter().map(|node| (node.id, node.name.as_str())).collect(),
            pools: snapshot.pools.iter().map(|pool| (pool.id, pool.slug.as_str())).collect(),
            teams: teams.into_values().map(|name| (TeamId(name.id), team(name))).collect(),
            submitted,
        })
    }

    pub(super) fn job(&self, id: JobId) -> WhatIfJob {
        let Some(job) = self.jobs.get(&id) else {
            return WhatIfJob { id: None, name: None, team: None, imagined: false };
        };
        let imagined = self.submitted.contains(&id);
        let resource = Resource::Job { team: job.team, owner: job.user };
        let readable = imagined || may(self.actor, Action::JobRead, &resource) == Verdict::Allowed;
        WhatIfJob {
            id: (readable && !imagined).then_some(id.0),
            name: readable.then(|| job.name.clone()),
            team: self.team(job.team),
            imagined,
        }
    }

    pub(super) fn team(&self, id: TeamId) -> Option<TeamRef> {
        self.teams.get(&id).cloned()
    }

    pub(super) fn pool(&self, id: PoolId) -> Option<PoolRef> {
        self.pools.get(&id).map(|&slug| PoolRef { id: id.0, slug: slug.to_owned() })
    }

    pub(super) fn node(&self, id: NodeId) -> Option<NodeRef> {
        self.nodes.get(&id).map(|&name| NodeRef { id: id.0, name: name.to_owned() })
    }
}
