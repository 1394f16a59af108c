//! What needs somebody: found from the same figures that the page shows.

use crate::routes::pools::view::PoolView;
use crate::routes::quotas::view::QuotaView;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// A thing to look at, with where to look.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Need {
    /// `reclaim_due`, `waiting_below_guarantee`, `over_guarantee_drain`, `pool_overcommitted`, `nodes_lost`.
    #[serde(rename = "type")]
    kind: &'static str,
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
            needs.push(need("reclaim_due", params, "/reclaims?state=waiting".to_owned()));
        } else if quota.in_use.seconds_waiting_below_guarantee > 0 {
            needs.push(need("waiting_below_guarantee", params, link));
        } else if quota.drain {
            needs.push(need("over_guarantee_drain", params, link));
        }
    }
    for pool in pools {
        let params = json!({"pool": pool.slug, "lost": pool.nodes.lost, "guaranteed": pool.guaranteed_gpus});
        if pool.mode == "overcommitted" {
            needs.push(need("pool_overcommitted", params.clone(), format!("/nodes?pool={}", pool.slug)));
        }
        if pool.nodes.lost > 0 {
            needs.push(need("nodes_lost", params, format!("/nodes?pool={}&state=lost", pool.slug)));
        }
    }
    needs
}

fn need(kind: &'static str, params: Value, link: String) -> Need {
    let params = params.as_object().cloned().unwrap_or_default();
    Need { kind, text_key: format!("needs.{kind}"), params, link }
}
