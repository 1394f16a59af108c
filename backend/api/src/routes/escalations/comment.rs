//! `POST /escalations/{id}/comments`.

use super::body::prose;
use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use crate::refs::UserRef;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use reeve_core::access::Action;
use reeve_store::escalations::comments::{self, Comment};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddComment {
    #[schema(min_length = 1, max_length = 2000)]
    text: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommentView {
    id: Uuid,
    user: UserRef,
    text: String,
    created_at: DateTime<Utc>,
}

impl From<Comment> for CommentView {
    fn from(row: Comment) -> Self {
        let user = UserRef { id: row.user_id, username: row.username, display_name: row.display_name };
        Self { id: row.id, user, text: row.text, created_at: row.created_at }
    }
}

/// Says something about it, at any time.
#[utoipa::path(post, path = "/api/v1/escalations/{id}/comments", operation_id = "comment_escalation", tag = "approvals",
    params(("id" = String, Path)), request_body = AddComment,
    responses((status = 201, body = CommentView), (status = 404, description = "no such escalation")))]
pub(crate) async fn comment(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    keyed: Keyed<AddComment>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let mut fields = Fields::new();
    prose(&mut fields, "/text", &body.text, 1);
    fields.done()?;
    let loaded = load(&app, &caller, caller.actor.clone(), &id, Action::EscalationComment).await?;
    let mut tx = app.begin(&caller).await?;
    let view: CommentView = comments::add(&mut tx, &loaded.row, caller.actor.id, &body.text).await?.into();
    once.commit(tx, StatusCode::CREATED, &view).await
}
