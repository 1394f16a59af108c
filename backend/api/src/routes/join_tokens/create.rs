//! `POST /join-tokens`.

use super::view::JoinTokenView;
use crate::app::AppState;
use crate::auth::secret;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_store::join_tokens::{self, NewJoinToken};
use reeve_store::pools;
use reeve_wire::JOIN_TOKEN_PREFIX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const MAX_EXPIRES_IN_SECS: i64 = 30 * 86_400;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateJoinToken {
    /// Slug or id of the pool whose nodes it makes.
    pool: String,
    /// How many machines may join with it; 1 when left out.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 10000)]
    max_uses: i64,
    /// An hour when left out; at most 30 days.
    #[serde(default = "an_hour")]
    #[schema(minimum = 60, maximum = 2592000)]
    expires_in_secs: i64,
}

const fn one() -> i64 {
    1
}

const fn an_hour() -> i64 {
    3_600
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedJoinToken {
    /// Shown only here.
    token: String,
    #[serde(flatten)]
    view: JoinTokenView,
}

/// Makes a token with which machines join a pool.
#[utoipa::path(post, path = "/api/v1/join-tokens", operation_id = "create_join_token", tag = "nodes", request_body = CreateJoinToken,
    responses((status = 201, body = CreatedJoinToken), (status = 422, description = "bad field")))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<CreateJoinToken>,
) -> Result<Response> {
    app.allow(&caller, Action::JoinTokenCreate, &Resource::Installation).await?;
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let pool = checked(&app, &body).await?;
    let token = secret::mint(JOIN_TOKEN_PREFIX);
    let hash = secret::hash(JOIN_TOKEN_PREFIX, &token).unwrap_or_default();
    let mut tx = app.begin(&caller).await?;
    let new = NewJoinToken {
        hash,
        hint: secret::hint(JOIN_TOKEN_PREFIX, &token),
        pool,
        max_uses: i32::try_from(body.max_uses).unwrap_or(1),
        created_by: caller.actor.id,
        expires_at: tx.now() + TimeDelta::seconds(body.expires_in_secs),
    };
    let view = join_tokens::create(&mut tx, &new).await?.into();
    once.commit_secret(tx, StatusCode::CREATED, &CreatedJoinToken { token, view }).await
}

async fn checked(app: &AppState, body: &CreateJoinToken) -> Result<PoolId> {
    let mut fields = Fields::new();
    fields.range("/max_uses", body.max_uses, 1, 10_000);
    fields.range("/expires_in_secs", body.expires_in_secs, 60, MAX_EXPIRES_IN_SECS);
    let pool = match pools::find(&app.store, &body.pool).await {
        Ok(pool) => PoolId(pool.id),
        Err(reeve_store::StoreError::NotFound) => {
            fields.add("/pool", "unknown_pool", "there is no such pool: give a pool's slug or id");
            PoolId(uuid::Uuid::nil())
        }
        Err(other) => return Err(other.into()),
    };
    fields.done()?;
    Ok(pool)
}
