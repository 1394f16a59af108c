//! `GET /policy/effective`.

use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::routes::jobs::rules_view::RulesView;
use axum::Json;
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_core::kind::Kind;
use reeve_core::policy::Place;
use reeve_store::{policy, queues, teams};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceParams {
    /// A team's slug or id; left out with `queue` = the installation.
    team: Option<String>,
    /// A queue's slug or id: its team's rules hold beneath its own, and `team` is not looked at.
    queue: Option<String>,
}

/// The rules of every kind as they come out at a place.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EffectivePolicy {
    /// 0 = the product's defaults.
    policy_version: i64,
    kinds: Vec<RulesView>,
}

/// The rules that hold at a place, each with the queue, team or installation that it comes from.
#[utoipa::path(get, path = "/api/v1/policy/effective", operation_id = "show_effective_policy", tag = "policy", params(PlaceParams),
    responses((status = 200, body = EffectivePolicy), (status = 404, description = "no such team or queue")))]
pub(crate) async fn effective(
    State(app): State<AppState>,
    caller: Caller,
    Params(place): Params<PlaceParams>,
) -> Result<Json<EffectivePolicy>> {
    app.allow(&caller, Action::PolicyRead, &Resource::Installation).await?;
    let (queue, team) = match (&place.queue, &place.team) {
        (Some(queue), _) => {
            let queue = queues::find(&app.store, queue).await?;
            (Some(queue.slug), Some(queue.team_id))
        }
        (None, Some(team)) => (None, Some(teams::find(&app.store, team).await?.id)),
        (None, None) => (None, None),
    };
    let chain = match team {
        Some(team) => teams::chain(&app.store, TeamId(team)).await?,
        None => Vec::new(),
    };
    let teams: Vec<&str> = chain.iter().map(String::as_str).collect();
    let place = Place { queue: queue.as_deref(), teams: &teams };
    let in_force = policy::in_force(&app.store).await?;
    let rules =
        |&kind: &Kind| RulesView::new(kind, in_force.version, in_force.document.effective_rules(kind, place));
    Ok(Json(EffectivePolicy {
        policy_version: in_force.version,
        kinds: Kind::ALL.iter().map(rules).collect(),
    }))
}
