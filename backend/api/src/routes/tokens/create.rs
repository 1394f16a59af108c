//! `POST /tokens`.

use super::view::TokenView;
use crate::app::AppState;
use crate::auth::secret;
use crate::extract::{AuthKind, Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::{Action, Resource, Scope};
use reeve_core::id::TeamId;
use reeve_store::tokens::{self, NewApiToken};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

const LONGEST_SECS: i64 = 10 * 365 * 86_400;
/// Live tokens of one person.
const MOST_LIVE: i64 = 100;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateToken {
    name: String,
    /// Of `read`, `write`, `admin`.
    scopes: Vec<String>,
    /// Only these teams and those below; every team of the caller when left out.
    team_ids: Option<Vec<Uuid>>,
    /// No end when left out.
    expires_in_secs: Option<i64>,
}

/// The only time that the token itself is shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    #[schema(example = "reeve_pat_…")]
    token: String,
    #[serde(flatten)]
    view: TokenView,
}

/// Makes an API token. It is shown once.
#[utoipa::path(post, path = "/api/v1/tokens", operation_id = "create_token", tag = "tokens",
    request_body = CreateToken, responses((status = 201, body = CreatedToken)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreateToken>,
) -> Result<Response> {
    app.allow(&caller, Action::TokenCreate, &Resource::Account(caller.actor.id)).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let scopes = check(&caller, &body, app.clock.now())?;
    let token = secret::mint(secret::API_TOKEN);
    let hash = secret::hash(secret::API_TOKEN, &token).ok_or_else(|| Problem::new(Code::Internal))?;
    let mut tx = app.begin(&caller).await?;
    if tokens::count_live(&mut tx, caller.actor.id).await? >= MOST_LIVE {
        return Err(Problem::new(Code::TooMany)
            .param("most", MOST_LIVE)
            .detail("revoke tokens that nobody uses"));
    }
    let expires_at = body.expires_in_secs.map(|secs| tx.now() + TimeDelta::seconds(secs));
    let new = NewApiToken {
        user: caller.actor.id,
        name: body.name,
        hash,
        hint: secret::hint(secret::API_TOKEN, &token),
        scopes,
        team_ids: body.team_ids,
        expires_at,
    };
    let view = tokens::create(&mut tx, new).await?.into();
    // With an Idempotency-Key the token would lie readable among the stored replies: it is sent, not kept.
    once.commit_secret(tx, StatusCode::CREATED, &CreatedToken { token, view }).await
}

fn check(caller: &Caller, body: &CreateToken, now: DateTime<Utc>) -> Result<Vec<Scope>> {
    let mut fields = Fields::new();
    within_own(caller, body, now, &mut fields)?;
    fields.text("/name", &body.name, 1, 100);
    if let Some(secs) = body.expires_in_secs {
        fields.range("/expires_in_secs", secs, 60, LONGEST_SECS);
    }
    if body.scopes.is_empty() {
        fields.add("/scopes", "empty", "at least one of read, write, admin");
    }
    let mut scopes = Vec::new();
    for (index, text) in body.scopes.iter().take(16).enumerate() {
        let Some(scope) = fields.word::<Scope>(&format!("/scopes/{index}"), text) else { continue };
        if !caller.actor.scopes.contains(&scope) {
            fields.add(format!("/scopes/{index}"), "beyond_own", "a token can't hand on more than it has");
        }
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    for (index, team) in body.team_ids.iter().flatten().enumerate() {
        if !caller.actor.reads_team(TeamId(*team)) {
            fields.add(format!("/team_ids/{index}"), "unknown_team", "none of your teams");
        }
    }
    fields.done()?;
    Ok(scopes)
}

/// A token can't hand on what it does not have: neither a later end, nor teams beyond its own. A pipeline's access is for
/// its run, and leaves nothing behind.
fn within_own(caller: &Caller, body: &CreateToken, now: DateTime<Utc>, fields: &mut Fields) -> Result<()> {
    let (expires_at, team_ids) = match &caller.kind {
        AuthKind::Session { .. } => return Ok(()),
        AuthKind::Workload { .. } => {
            return Err(Problem::new(Code::Forbidden).detail("a workload exchanges its token again instead"));
        }
        AuthKind::Token { expires_at, team_ids, .. } => (expires_at, team_ids),
    };
    let longest = expires_at.map(|at| (at - now).num_seconds());
    if let Some(longest) = longest
        && body.expires_in_secs.is_none_or(|secs| secs > longest)
    {
        fields.add("/expires_in_secs", "beyond_own", format!("this token ends in {longest} s: no later"));
    }
    if team_ids.is_some() && body.team_ids.is_none() {
        fields.add("/team_ids", "beyond_own", "this token is limited to teams: name some of them");
    }
    Ok(())
}
