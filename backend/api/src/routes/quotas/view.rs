//! A quota with what is used of it, as JSON.

use crate::refs::{PoolRef, TeamRef};
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, TeamId};
use reeve_core::units::MilliGpu;
use reeve_store::quota_use::Use;
use reeve_store::quotas::Quota;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct QuotaView {
    pub team: TeamRef,
    pub parent: Option<TeamRef>,
    pub pool: PoolRef,
    pub guaranteed_gpus: i32,
    /// Most above guaranteed; null = no limit.
    pub borrow_limit_gpus: Option<i32>,
    /// Most of the guarantee that others may use while it is idle; null = all.
    pub lend_limit_gpus: Option<i32>,
    pub weight: i32,
    pub drain: bool,
    pub version: i64,
    /// Everything below the team included.
    #[serde(rename = "use")]
    pub in_use: QuotaUseView,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct QuotaUseView {
    pub used_gpus: f64,
    pub guaranteed_used_gpus: f64,
    pub borrowed_gpus: f64,
    pub lent_gpus: f64,
    pub pending_gpus: f64,
    pub pending_jobs: i64,
    pub leaving_gpus: f64,
    /// How long somebody has waited although the guarantee is not used up.
    pub seconds_waiting_below_guarantee: i64,
    /// Loans are being recalled for this team.
    pub reclaim_due: bool,
}

/// Quotas with their use.
pub(crate) fn views(
    quotas: Vec<Quota>,
    mut uses: BTreeMap<(TeamId, PoolId), Use>,
    now: DateTime<Utc>,
) -> Vec<QuotaView> {
    quotas
        .into_iter()
        .map(|quota| {
            let figures = uses.remove(&(TeamId(quota.team_id), PoolId(quota.pool_id))).unwrap_or_default();
            view(quota, &figures, now)
        })
        .collect()
}

/// One quota with its use.
pub(crate) fn view(quota: Quota, figures: &Use, now: DateTime<Utc>) -> QuotaView {
    let parent = match (quota.parent_id, quota.parent_slug, quota.parent_name) {
        (Some(id), Some(slug), Some(name)) => Some(TeamRef { id, slug, name }),
        _ => None,
    };
    QuotaView {
        in_use: use_view(figures, i64::from(quota.guaranteed_gpus), now),
        team: TeamRef { id: quota.team_id, slug: quota.team_slug, name: quota.team_name },
        parent,
        pool: PoolRef { id: quota.pool_id, slug: quota.pool_slug },
        guaranteed_gpus: quota.guaranteed_gpus,
        borrow_limit_gpus: quota.borrow_limit_gpus,
        lend_limit_gpus: quota.lend_limit_gpus,
        weight: quota.weight,
        drain: quota.drain,
        version: quota.version,
    }
}

fn use_view(figures: &Use, guaranteed_gpus: i64, now: DateTime<Utc>) -> QuotaUseView {
    let gpus = |milli: i64| MilliGpu(milli).as_gpus();
    QuotaUseView {
        used_gpus: gpus(figures.used_milli),
        guaranteed_used_gpus: gpus(figures.guaranteed_used_milli()),
        borrowed_gpus: gpus(figures.borrowed_milli),
        lent_gpus: gpus(figures.lent_milli),
        pending_gpus: gpus(figures.pending_milli),
        pending_jobs: figures.pending_jobs,
        leaving_gpus: gpus(figures.leaving_milli),
        seconds_waiting_below_guarantee: figures.seconds_waiting_below_guarantee(guaranteed_gpus, now),
        reclaim_due: figures.reclaim_due,
    }
}
