//! Reservations: GPUs of a pool that serve a team from one moment to another.
//!
//! This module refuses to choose GPUs and to judge whether a reservation fits the pool: it tells what is reserved.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, ReservationId, TeamId, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

/// A reservation with the names of what it joins.
#[derive(Debug, Clone)]
pub struct Reservation {
    pub id: Uuid,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub gpus: i32,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub created_by: Uuid,
    pub username: String,
    pub display_name: String,
    pub created_at: DateTime<Utc>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct NewReservation {
    pub pool: PoolId,
    pub team: TeamId,
    pub gpus: i32,
    pub starts_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    pub note: String,
    pub created_by: UserId,
}

/// What a list may be narrowed to.
#[derive(Debug, Clone)]
pub struct Filter {
    pub pool: Option<PoolId>,
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    /// Those that end after this.
    pub from: DateTime<Utc>,
    /// Those that begin before this.
    pub to: Option<DateTime<Utc>>,
}

/// Where a page goes on: the last row's beginning, and its id.
pub type Key = (DateTime<Utc>, Uuid);

macro_rules! select_reservations {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Reservation,
            "select r.id, r.pool_id, p.slug as pool_slug, r.team_id, t.slug as team_slug, t.name as team_name, r.gpus,
                    r.starts_at, r.ends_at, r.note, r.created_by, u.username, u.display_name, r.created_at
             from reservations r join pools p on p.id = r.pool_id join teams t on t.id = r.team_id
             join users u on u.id = r.created_by " + $rest
            $(, $argument)*
        )
    };
}

/// The first to begin first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<Key>,
    limit: i64,
) -> Result<Vec<Reservation>, StoreError> {
    let (after_at, after_id) = after.unzip();
    Ok(select_reservations!(
        "where r.ends_at > $1 and ($2::timestamptz is null or r.starts_at < $2)
           and ($3::uuid is null or r.pool_id = $3) and ($4::uuid[] is null or r.team_id = any($4))
           and ($5::timestamptz is null or (r.starts_at, r.id) > ($5, $6))
         order by r.starts_at, r.id limit $7",
        filter.from,
        filter.to,
        filter.pool.map(|id| id.0),
        filter.teams.as_deref(),
        after_at,
        after_id,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// How many GPUs a pool has, and the most of them that are reserved at one moment of a span. The pool stays locked until
/// the transaction ends, so that two reservations cannot take the same rest.
///
/// # Errors
/// [`StoreError::NotFound`] when the pool is gone.
pub async fn reserved_of(
    tx: &mut WriteTx,
    pool: PoolId,
    starts_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
) -> Result<(i64, i64), StoreError> {
    sqlx::query_scalar!("select id from pools where id = $1 and state = 'active' for update", pool.0)
        .fetch_one(tx.connection())
        .await?;
    let row = sqlx::query!(
        r#"select (select count(*) from gpus g join nodes n on n.id = g.node_id
                   where n.pool_id = $1 and n.state <> 'removed') as "gpus!",
                  coalesce((select max(at.reserved) from (
                      select (select sum(r.gpus) from reservations r
                              where r.pool_id = $1 and r.starts_at <= m.moment and r.ends_at > m.moment) as reserved
                      from (select $2::timestamptz as moment
                            union select starts_at from reservations
                            where pool_id = $1 and starts_at > $2 and starts_at < $3) m) at), 0)::bigint as "reserved!""#,
        pool.0,
        starts_at,
        ends_at
    )
    .fetch_one(tx.connection())
    .await?;
    Ok((row.gpus, row.reserved))
}

/// Keeps a new reservation.
///
/// # Errors
/// [`StoreError::Reference`] when pool or team is gone.
pub async fn create(tx: &mut WriteTx, new: &NewReservation) -> Result<Reservation, StoreError> {
    let (id, now) = (ReservationId::mint(tx.now()), tx.now());
    sqlx::query!(
        "insert into reservations (id, pool_id, team_id, gpus, starts_at, ends_at, note, created_by, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        id.0,
        new.pool.0,
        new.team.0,
        new.gpus,
        new.starts_at,
        new.ends_at,
        new.note,
        new.created_by.0,
        now
    )
    .execute(tx.connection())
    .await?;
    let made = select_reservations!("where r.id = $1", id.0).fetch_one(tx.connection()).await?;
    tx.record(
        NewEvent::new("reservation.created", "reservation", id.0)
            .team(TeamId(made.team_id))
            .after(as_json(&made)),
    );
    tx.wake_schedule();
    Ok(made)
}

/// Withdraws a reservation, whether it has begun or not.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn delete(tx: &mut WriteTx, id: ReservationId) -> Result<(), StoreError> {
    let gone =
        select_reservations!("where r.id = $1 for update of r", id.0).fetch_one(tx.connection()).await?;
    sqlx::query!("delete from reservations where id = $1", id.0).execute(tx.connection()).await?;
    tx.record(
        NewEvent::new("reservation.deleted", "reservation", id.0)
            .team(TeamId(gone.team_id))
            .before(as_json(&gone)),
    );
    tx.wake_schedule();
    Ok(())
}

fn as_json(row: &Reservation) -> Value {
    json!({
        "pool": row.pool_slug,
        "team": row.team_slug,
        "gpus": row.gpus,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "note": row.note,
    })
}
