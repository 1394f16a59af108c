//! The live stream: Server-Sent Events over the sealed log.
//!
//! Memory is bounded: a listener holds one batch, and the server waits for it. Rights are those at the opening: a stream
//! ends when the log tells of a change of them, and after an hour; who may still listen opens it again.

use super::topic::{Topic, may_hear};
use super::view::Change;
use crate::app::AppState;
use crate::extract::{AuthKind, Caller};
use crate::problem::Result;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use reeve_store::event::{self, EventBody};
use std::convert::Infallible;
use std::time::Duration;

/// A listener that missed more than this reads everything again.
const MOST_MISSED: i64 = 10_000;
const HEARTBEAT: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_secs(3_600);
/// When the database is away, ask again no sooner.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn open(
    app: AppState,
    caller: Caller,
    headers: &HeaderMap,
    topics: Vec<Topic>,
) -> Result<Sse<impl Stream<Item = std::result::Result<Event, Infallible>> + use<>>> {
    let last = event::last_position(&app.store).await?;
    let seen = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<i64>().ok());
    let (position, resync) = match seen {
        // From another database, or too long ago.
        Some(seen) if seen > last || last - seen > MOST_MISSED => (last, true),
        Some(seen) => (seen, false),
        None => (last, false),
    };
    let stream = changes(app, caller, topics, position, resync);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("alive")))
}

fn changes(
    app: AppState,
    caller: Caller,
    topics: Vec<Topic>,
    mut position: i64,
    resync: bool,
) -> impl Stream<Item = std::result::Result<Event, Infallible>> {
    async_stream::stream! {
        let mut sealed = app.store.signals().events();
        let end = tokio::time::sleep(LONGEST);
        tokio::pin!(end);
        // Headers and a position at once: a listener knows that it listens, and where it would resume.
        let hello = Event::default().id(position.to_string());
        yield Ok(if resync { hello.event("resync").data("{}") } else { hello.event("hello").data("{}") });
        loop {
            sealed.mark_unchanged();
            match app.feed.after(&app.store, position).await {
                Ok(events) if !events.is_empty() => {
                    for event in &events {
                        position = event.position;
                        if changes_rights(&caller, &event.event) {
                            return;
                        }
                        let wanted = topics.is_empty()
                            || topics.iter().any(|topic| topic.subjects().contains(&event.event.subject_type.as_str()));
                        if wanted && may_hear(&caller.actor, &event.event) {
                            let data = serde_json::to_string(&Change::from(event.as_ref())).unwrap_or_default();
                            yield Ok(Event::default().id(position.to_string()).event("change").data(data));
                        }
                    }
                    continue;
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a stream of events waits for the database");
                    tokio::time::sleep(PAUSE).await;
                }
            }
            tokio::select! {
                changed = sealed.changed() => if changed.is_err() { return },
                // A signal may be lost with a connection: look anyway.
                () = tokio::time::sleep(HEARTBEAT) => {}
                () = &mut end => return,
                () = app.shutdown.cancelled() => return,
            }
        }
    }
}

/// Whether the credential has ended, or the person's roles have changed.
fn changes_rights(caller: &Caller, event: &EventBody) -> bool {
    let (id, action) = (event.subject_id, event.action.as_str());
    if !event.allowed {
        return false;
    }
    match (event.subject_type.as_str(), &caller.kind) {
        ("session", AuthKind::Session { id: own } | AuthKind::Workload { id: own, .. }) => {
            action == "session.revoked" && id == Some(*own)
        }
        ("token", AuthKind::Token { id: own, .. }) => action == "token.revoked" && id == Some(*own),
        ("user", _) => {
            let roles = action.starts_with("member.") || action.starts_with("user.");
            roles && id == Some(caller.actor.id.0)
        }
        _ => false,
    }
}
