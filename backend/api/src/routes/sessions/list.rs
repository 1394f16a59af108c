//! `GET /sessions`.

use super::view::SessionView;
use crate::app::AppState;
use crate::extract::{AuthKind, Caller, List, ListParams, PageView};
use crate::problem::{Problem, Result};
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::UserId;
use reeve_store::{StoreError, sessions, users};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfUser {
    /// Somebody else's, by id or username: for administrators.
    pub(crate) user: Option<String>,
}

impl OfUser {
    /// Whose: the caller's own when nobody is named. Somebody who does not exist is as hidden as anybody else's.
    pub(crate) async fn whose(&self, app: &AppState, caller: &Caller) -> Result<UserId> {
        match &self.user {
            None => Ok(caller.actor.id),
            Some(name) if *name == caller.username => Ok(caller.actor.id),
            Some(name) => match users::find(&app.store, name).await {
                Ok(user) => Ok(UserId(user.id)),
                Err(StoreError::NotFound) => Err(Problem::not_found()),
                Err(other) => Err(other.into()),
            },
        }
    }
}

/// Lists where the caller is signed in, newest first.
#[utoipa::path(get, path = "/api/v1/sessions", operation_id = "list_sessions", tag = "auth", params(OfUser, ListParams),
    responses((status = 200, body = PageView<SessionView>)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    list: List<OfUser>,
) -> Result<Response> {
    let user = list.filter.whose(&app, &caller).await?;
    app.allow(&caller, Action::SessionRead, &Resource::Account(user)).await?;
    let rows = sessions::list(&app.store, user, app.clock.now(), list.after()?, list.fetch()).await?;
    let current = match caller.kind {
        AuthKind::Session { id } | AuthKind::Workload { id, .. } => Some(id),
        AuthKind::Token { .. } => None,
    };
    Ok(list.reply(list.cut(rows, |session| session.id).map(|row| SessionView::new(row, current))))
}
