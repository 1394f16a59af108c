//! `GET /events`: a page, or with `Accept: text/event-stream` a stream that goes on.

use super::stream;
use super::topic::Topic;
use super::view::EventView;
use crate::app::AppState;
use crate::extract::{Caller, List, ListParams, PageView};
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::status::UnknownText;
use reeve_store::event::{self, EventFilter};
use reeve_store::page::Page;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsFilter {
    /// Topics, separated by commas: jobs, loans, reclaims, quotas, nodes, pools, queues, teams, policy, approvals. All when left out.
    topics: Option<String>,
    /// Only events about this object.
    subject_id: Option<Uuid>,
    /// Only events of this actor.
    actor_id: Option<Uuid>,
    /// Only this action, for example `job.submitted`.
    action: Option<String>,
}

/// Events, newest first; or live, when a stream of events is asked for.
///
/// A stream sends `event: change` with `{type, id, action, team_id}`; its `id` is the event's position. It resumes after
/// `Last-Event-ID`, and says `event: resync` when too much was missed: then read again what you show.
#[utoipa::path(get, path = "/api/v1/events", operation_id = "list_events", tag = "events", params(EventsFilter, ListParams),
    responses((status = 200, body = PageView<EventView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    list: List<EventsFilter>,
) -> Result<Response> {
    // Anybody may ask; what they hear is what their teams do, and what everybody shares.
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let topics = topics(list.filter.topics.as_deref())?;
    if wants_stream(&headers) {
        return Ok(stream::open(app, caller, &headers, topics).await?.into_response());
    }
    let filter = EventFilter {
        subject_types: topics
            .iter()
            .flat_map(|topic| topic.subjects())
            .map(|&kind| kind.to_owned())
            .collect(),
        subject_id: list.filter.subject_id,
        team_ids: match caller.actor.readable() {
            Readable::Everything => None,
            Readable::Teams(teams) => Some(teams),
        },
        actor_id: list.filter.actor_id,
        actions: list.filter.action.iter().cloned().collect(),
    };
    let rows = event::before(&app.store, list.after()?, &filter, list.fetch()).await?;
    let page = list.cut(rows, |event| event.position);
    // People and sign-ins belong to no team: only those who read everything see them.
    let items = page.items.into_iter().filter(|event| super::topic::may_hear(&caller.actor, &event.event));
    Ok(list.reply(Page { items: items.map(EventView::from).collect(), next_cursor: page.next_cursor }))
}

fn wants_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"))
}

fn topics(text: Option<&str>) -> Result<Vec<Topic>> {
    text.into_iter()
        .flat_map(|text| text.split(','))
        .map(|word| {
            word.trim().parse().map_err(|error: UnknownText| {
                Problem::new(Code::InvalidQuery).detail(format!("topics: {error}")).error(
                    "topics",
                    "unknown_value",
                    error.to_string(),
                )
            })
        })
        .collect()
}
