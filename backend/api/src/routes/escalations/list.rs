//! `GET /escalations`.

use super::load::views;
use super::view::EscalationView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::approval::{AsksFor, EscalationState};
use reeve_core::id::JobId;
use reeve_core::status::UnknownText;
use reeve_store::escalations::list as stored;
use reeve_store::jobs::admission;
use reeve_store::page::Page;
use reeve_store::teams;
use serde::Deserialize;
use std::str::FromStr;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EscalationFilter {
    /// Repeat for several.
    #[serde(default)]
    state: Vec<String>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    job: Option<Uuid>,
    /// `priority`, `quota`, `budget` or `never_evict`.
    asks_for: Option<String>,
    /// Only what the caller asked for.
    #[serde(default)]
    mine: bool,
}

/// Escalations of the caller's teams, their own, and those at which they have a seat, newest first.
#[utoipa::path(get, path = "/api/v1/escalations", operation_id = "list_escalations", tag = "approvals",
    params(EscalationFilter, ListParams), responses((status = 200, body = PageView<EscalationView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<EscalationFilter>,
) -> Result<Response> {
    app.allow(&caller, Action::EscalationRead, &Resource::Installation).await?;
    let asked = &list.filter;
    for state in &asked.state {
        word::<EscalationState>(state, "state")?;
    }
    if let Some(asks_for) = &asked.asks_for {
        word::<AsksFor>(asks_for, "asks_for")?;
    }
    let filter = stored::Filter {
        teams: match &asked.team {
            Some(team) => {
                let team = teams::find(&app.store, team).await?.id;
                Some(admission::subtree(&app.store, team).await?)
            }
            None => None,
        },
        states: (!asked.state.is_empty()).then(|| asked.state.clone()),
        asks_for: asked.asks_for.clone(),
        job: asked.job.map(JobId),
        requested_by: asked.mine.then_some(caller.actor.id),
    };
    let rows = stored::list(&app.store, &caller.actor, &filter, list.after()?, list.fetch()).await?;
    let page = list.cut(rows, |row| row.id);
    let items = views(&app, &caller, page.items).await?;
    Ok(list.reply(Page { items, next_cursor: page.next_cursor }))
}

fn word<T: FromStr<Err = UnknownText>>(text: &str, name: &str) -> Result<()> {
    let refused = |error: UnknownText| {
        Problem::new(Code::InvalidQuery).detail(error.to_string()).error(
            name,
            "unknown_value",
            error.to_string(),
        )
    };
    text.parse::<T>().map(|_| ()).map_err(refused)
}
