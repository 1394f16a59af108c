//! What needs somebody: found from the same figures that the page shows. A team's row needs one thing at most, the most
//! urgent; nothing here says who should do it.

use crate::routes::pools::view::PoolView;
use crate::routes::quotas::view::QuotaView;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

reeve_core::text_enum! {
    /// What may need somebody.
    NeedKind {
        /// An owner waits while others use its guarantee.
        ReclaimDue = "reclaim_due",
        /// A team waits for what its guarantee covers.
        WaitingBelowGuarantee = "waiting_below_guarantee",
        /// Work above a lowered quota is being drained.
        OverGuaranteeDrain = "over_guarantee_drain",
        /// Guarantees add up to more than the pool has.
        PoolOvercommitted = "pool_overcommitted",
        /// Nodes that no longer report.
        NodesLost = "nodes_lost",
    }
}

/// A thing to look at, with where to look.
///
/// `params` of the first three: `team` (name), `team_slug`, `pool` (slug), `gpus` that wait, `secs` waited below the
/// guarantee, `lent`, `guaranteed`, `used` and `over` (used above guaranteed), all GPUs. Of the last two: `pool` (slug),
/// `lost` nodes, `guaranteed` GPUs in sum, `usable` ones (healthy, on ready nodes) and all `gpus`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Need {
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: NeedKind,
    /// The console's text.
    text_key: String,
    #[schema(value_type = Object)]
    params: Map<String, Value>,
    link: String,
}

pub(super) fn needs(pools: &[PoolView], teams: &[QuotaView]) -> Vec<Need> {
    let mut needs = Vec::new();
    for quota in teams {
        let Some(kind) = of_quota(quota) else { continue };
        // A parent needs the same because a team below it does: that one is told.
        if teams.iter().any(|below| is_below(below, quota) && of_quota(below) == Some(kind)) {
            continue;
        }
        let params = json!({
            "team": quota.team.name, "team_slug": quota.team.slug, "pool": quota.pool.slug,
            "gpus": quota.in_use.pending_gpus,
            "secs": quota.in_use.seconds_waiting_below_guarantee, "lent": quota.in_use.lent_gpus,
            "guaranteed": quota.guaranteed_gpus, "used": quota.in_use.used_gpus, "over": over_gpus(quota),
        });
        let link = match kind {
            NeedKind::ReclaimDue => "/reclaims?state=waiting".to_owned(),
            _ => format!("/queues?team={}", quota.team.slug),
        };
        needs.push(need(kind, params, link));
    }
    for pool in pools {
        let params = json!({
            "pool": pool.slug, "lost": pool.nodes.lost, "guaranteed": pool.guaranteed_gpus,
            "usable": pool.capacity.usable_gpus, "gpus": pool.capacity.gpus,
        });
        if pool.mode == "overcommitted" {
            needs.push(need(
                NeedKind::PoolOvercommitted,
                params.clone(),
                format!("/nodes?pool={}", pool.slug),
            ));
        }
        if pool.nodes.lost > 0 {
            needs.push(need(NeedKind::NodesLost, params, format!("/nodes?pool={}&state=lost", pool.slug)));
        }
    }
    needs
}

fn of_quota(quota: &QuotaView) -> Option<NeedKind> {
    if quota.in_use.reclaim_due {
        Some(NeedKind::ReclaimDue)
    } else if quota.in_use.seconds_waiting_below_guarantee > 0 {
        Some(NeedKind::WaitingBelowGuarantee)
    } else {
        (quota.drain && over_gpus(quota) > 0.0).then_some(NeedKind::OverGuaranteeDrain)
    }
}

fn over_gpus(quota: &QuotaView) -> f64 {
    (quota.in_use.used_gpus - f64::from(quota.guaranteed_gpus)).max(0.0)
}

fn is_below(quota: &QuotaView, above: &QuotaView) -> bool {
    quota.pool.id == above.pool.id && quota.parent.as_ref().is_some_and(|parent| parent.id == above.team.id)
}

fn need(kind: NeedKind, params: Value, link: String) -> Need {
    let params = params.as_object().cloned().unwrap_or_default();
    Need { kind, text_key: format!("needs.{kind}"), params, link }
}
