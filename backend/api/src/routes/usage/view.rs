//! Rows of use.

use super::amounts_view::UsageAmounts;
use crate::refs::{PoolRef, QueueRef, TeamRef};
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::money::bill::{Amounts, LineKey};
use reeve_core::text_enum;
use reeve_store::money::names::NameBook;
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;
use uuid::Uuid;

text_enum! {
    /// What rows of use are grouped by.
    UsageGroup {
        Day = "day",
        Team = "team",
        Pool = "pool",
        Kind = "kind",
        PriorityClass = "priority_class",
        Queue = "queue",
        Job = "job",
    }
}

/// A job in a row of use.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageJob {
    id: Uuid,
    name: Option<String>,
}

/// A row; what it is not grouped by is null. A team that is null is nobody: capacity that nobody was guaranteed, or that was out
/// of reach.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageRow {
    day: Option<NaiveDate>,
    team: Option<TeamRef>,
    pool: Option<PoolRef>,
    kind: Option<String>,
    priority_class: Option<String>,
    queue: Option<QueueRef>,
    job: Option<UsageJob>,
    #[serde(flatten)]
    amounts: UsageAmounts,
}

/// Use over a span of days.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    pub(super) from: NaiveDate,
    pub(super) to: NaiveDate,
    /// How far use is counted.
    pub(super) as_of: Option<DateTime<Utc>>,
    /// Before that it is final.
    pub(super) settled_until: Option<DateTime<Utc>>,
    /// Null while nothing has a price.
    pub(super) currency: Option<String>,
    pub(super) items: Vec<UsageRow>,
    pub(super) totals: UsageAmounts,
    /// There are more rows than are shown; `totals` counts them all.
    pub(super) truncated: bool,
}

/// A team's names.
pub(crate) fn team_ref(names: &NameBook, team: Option<reeve_core::id::TeamId>) -> Option<TeamRef> {
    let id = team?.0;
    Some(TeamRef { id, slug: names.slug(team)?, name: names.name(team)? })
}

pub(crate) fn pool_ref(names: &NameBook, pool: reeve_core::id::PoolId) -> PoolRef {
    PoolRef { id: pool.0, slug: names.pool(pool) }
}

pub(crate) fn queue_ref(names: &NameBook, queue: Option<reeve_core::id::QueueId>) -> Option<QueueRef> {
    Some(QueueRef { id: queue?.0, slug: names.queue(queue)? })
}

impl UsageRow {
    pub(super) fn new(
        groups: &[UsageGroup],
        key: &LineKey,
        amounts: &Amounts,
        names: &NameBook,
        jobs: &HashMap<Uuid, String>,
    ) -> Self {
        let by = |group| groups.contains(&group);
        let job = key.job.filter(|_| by(UsageGroup::Job));
        Self {
            day: by(UsageGroup::Day).then_some(key.day),
            team: if by(UsageGroup::Team) { team_ref(names, key.team) } else { None },
            pool: by(UsageGroup::Pool).then(|| pool_ref(names, key.pool)),
            kind: key.kind.filter(|_| by(UsageGroup::Kind)).map(|kind| kind.to_string()),
            priority_class: key
                .class
                .filter(|_| by(UsageGroup::PriorityClass))
                .map(|class| class.to_string()),
            queue: if by(UsageGroup::Queue) { queue_ref(names, key.queue) } else { None },
            job: job.map(|job| UsageJob { id: job.0, name: jobs.get(&job.0).cloned() }),
            amounts: amounts.into(),
        }
    }
}
