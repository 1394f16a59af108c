//! `POST /reservations`.

use super::view::ReservationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Fields, Result};
use crate::routes::time_ahead;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::id::{PoolId, TeamId, UserId};
use reeve_store::reservations::{self, NewReservation};
use reeve_store::{StoreError, WriteTx, pools, teams};
use serde::Deserialize;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateReservation {
    /// Slug or id.
    pool: String,
    /// Slug or id of the team that they serve, with everything below it.
    team: String,
    /// Whole GPUs.
    #[schema(minimum = 1)]
    gpus: i32,
    /// From now to 366 days ahead.
    starts_at: DateTime<Utc>,
    /// At most 366 days after `starts_at`.
    ends_at: DateTime<Utc>,
    #[serde(default)]
    #[schema(max_length = 500)]
    note: String,
}

/// Keeps GPUs of a pool for a team from one moment to another. Jobs of others that would not have ended before do not
/// start on them. It gives space, not quota, and evicts nobody.
#[utoipa::path(post, path = "/api/v1/reservations", operation_id = "create_reservation", tag = "calendar",
    request_body = CreateReservation,
    responses((status = 201, body = ReservationView), (status = 422, description = "bad field")))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<CreateReservation>,
) -> Result<Response> {
    app.allow(&caller, Action::ReservationCreate, &Resource::Installation).await?;
    let Keyed { body, once } = keyed;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let new = checked(&app, body, caller.actor.id).await?;
    let mut tx = app.begin(&caller).await?;
    fits(&mut tx, &new).await?;
    let view: ReservationView = reservations::create(&mut tx, &new).await?.into();
    once.commit(tx, StatusCode::CREATED, &view).await
}

async fn checked(app: &AppState, body: CreateReservation, created_by: UserId) -> Result<NewReservation> {
    let mut fields = Fields::new();
    let pool = pools::find(&app.store, &body.pool).await.map(|pool| PoolId(pool.id));
    let team = teams::find(&app.store, &body.team).await.map(|team| TeamId(team.id));
    let pool = known(pool, &mut fields, "/pool", "unknown_pool")?;
    let team = known(team, &mut fields, "/team", "unknown_team")?;
    fields.range("/gpus", body.gpus.into(), 1, i32::MAX.into());
    fields.text("/note", &body.note, 0, 500);
    time_ahead::check(&mut fields, body.starts_at, body.ends_at, app.clock.now());
    fields.done()?;
    let (starts_at, ends_at) = (body.starts_at, body.ends_at);
    Ok(NewReservation {
        pool: pool.unwrap_or(PoolId(uuid::Uuid::nil())),
        team: team.unwrap_or(TeamId(uuid::Uuid::nil())),
        gpus: body.gpus,
        starts_at,
        ends_at,
        note: body.note,
        created_by,
    })
}

/// What was found; a name that nothing has is a wrong field.
fn known<T>(found: Result<T, StoreError>, fields: &mut Fields, at: &str, code: &str) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound) => {
            fields.add(at, code, "there is nothing of this name: give a slug or id");
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}

/// All that is reserved at one moment is at most what the pool has.
async fn fits(tx: &mut WriteTx, new: &NewReservation) -> Result<()> {
    let (gpus, reserved) = reservations::reserved_of(tx, new.pool, new.starts_at, new.ends_at).await?;
    let mut fields = Fields::new();
    if i64::from(new.gpus) > gpus {
        fields.add("/gpus", "more_than_the_pool", format!("the pool has {gpus} GPUs: ask for at most these"));
    } else if i64::from(new.gpus) + reserved > gpus {
        let left = gpus - reserved;
        let detail = format!(
            "{reserved} of the pool's {gpus} GPUs are reserved at some moment of this span: ask for at most {left}, or \
             for another time"
        );
        fields.add("/gpus", "reserved_already", detail);
    }
    fields.done()
}
