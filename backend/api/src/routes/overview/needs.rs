//! What needs somebody: found from the same figures that the page shows.

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
        /// A lowered quota is being drained.
        OverGuaranteeDrain = "over_guarantee_drain",
        /// Guarantees add up to more than the pool has.
        PoolOvercommitted = "pool_overcommitted",
        /// Nodes that no longer report.
        NodesLost = "nodes_lost",
    }
}

/// A thing to look at, with where to look.
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
        let (team, pool) = (&quota.team.slug, &quota.pool.slug);
        let params = json!({
            "team": quota.team.name, "pool": pool, "gpus": quota.in_use.pending_gpus,
            "secs": quota.in_use.seconds_waiting_below_guarantee, "lent": quota.in_use.lent_gpus,
        });
        let link = format!("/queues?team={team}");
        if quota.in_use.reclaim_due {
            needs.push(need(NeedKind::ReclaimDue, params, "/reclaims?state=waiting".to_owned()));
        } else if quota.in_use.seconds_waiting_below_guarantee > 0 {
            needs.push(need(NeedKind::WaitingBelowGuarantee, params, link));
        } else if quota.drain {
            needs.push(need(NeedKind::OverGuaranteeDrain, params, link));
        }
    }
    for pool in pools {
        let params = json!({"pool": pool.slug, "lost": pool.nodes.lost, "guaranteed": pool.guaranteed_gpus});
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

fn need(kind: NeedKind, params: Value, link: String) -> Need {
    let params = params.as_object().cloned().unwrap_or_default();
    Need { kind, text_key: format!("needs.{kind}"), params, link }
}
