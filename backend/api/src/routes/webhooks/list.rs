//! `GET /webhooks`.

use super::load::resource;
use super::view::WebhookView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::Result;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Role};
use reeve_store::{teams, webhooks};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfTeam {
    /// Slug or id: only this team's own.
    team: Option<String>,
}

/// Lists webhooks, newest first: those of the teams that the caller leads, or all for those who read everything.
#[utoipa::path(get, path = "/api/v1/webhooks", operation_id = "list_webhooks", tag = "webhooks",
    params(OfTeam, ListParams), responses((status = 200, body = PageView<WebhookView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<OfTeam>,
) -> Result<Response> {
    let teams: Option<Vec<Uuid>> = match &list.filter.team {
        Some(team) => {
            let team = teams::find(&app.store, team).await?.id;
            app.allow(&caller, Action::WebhookRead, &resource(Some(team))).await?;
            Some(vec![team])
        }
        None if caller.actor.reads_everything() => None,
        None => {
            let leads = caller.actor.roles.iter().filter(|(_, roles)| roles.contains(&Role::Lead));
            Some(leads.map(|(team, _)| team.0).collect())
        }
    };
    let rows = webhooks::list(&app.store, teams.as_deref(), list.after()?, list.fetch()).await?;
    Ok(list.reply(list.cut(rows, |webhook| webhook.id).map(WebhookView::from)))
}
