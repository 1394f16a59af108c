//! Makes the ledger, hour after hour, from what was recorded.
//!
//! An hour is final [`LAG`] after its end, when nobody can still be writing about it; until then it is made anew at each step. What
//! is told later still marks the hour (a trigger does), and it is made anew from there. A closed month is left as it is, and
//! an event says that something was told too late for it.

use super::inputs::{Window, load};
use super::write;
use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{Actor, NewEvent, WriteContext, write_events};
use chrono::{DateTime, NaiveDate, SubsecRound, TimeDelta, Utc};
use reeve_core::money::ledger::settle;
use reeve_core::money::month::Month;
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

/// After an hour's end; longer than any statement may take.
pub const LAG: TimeDelta = TimeDelta::minutes(5);
/// Days of a pool that one step makes.
const MOST_DAYS: usize = 8;
/// The advisory lock: one at a time, over all servers.
const LOCK: i64 = 0x7265_6576_6500_0002;

/// What a step did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Derived {
    pub hours: usize,
    /// There is more, or another server is at it.
    pub again: bool,
}

/// Makes what is new since the last step, up to `now`.
///
/// # Errors
/// [`StoreError::Unavailable`]; a day is made whole or not at all.
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Derived, StoreError> {
    let now = now.trunc_subsecs(3);
    let mut done = Derived::default();
    for pool in pools(store).await? {
        let mut more = true;
        for _ in 0..MOST_DAYS {
            let mut tx = store.pool().begin().await?;
            let Some(progress) = lock(&mut tx, pool).await? else { break };
            let made = one_day(&mut tx, pool, progress, now).await?;
            tx.commit().await?;
            done.hours += made.hours;
            more = made.again;
            if !more {
                break;
            }
        }
        done.again |= more;
    }
    Ok(done)
}

/// Pools with a ledger; one that has begun to be recorded gets one.
async fn pools(store: &Store) -> Result<Vec<Uuid>, StoreError> {
    sqlx::query!(
        "insert into ledger_progress (pool_id, settled_until, derived_until)
         select f.pool_id, date_trunc('hour', min(f.at), 'UTC'), date_trunc('hour', min(f.at), 'UTC') from (
             select pool_id, min(started_at) as at from capacity_intervals group by 1
             union all select pool_id, min(started_at) from usage_intervals group by 1
         ) f where not exists (select from ledger_progress p where p.pool_id = f.pool_id)
         group by 1 on conflict do nothing"
    )
    .execute(store.pool())
    .await?;
    Ok(sqlx::query_scalar!("select pool_id from ledger_progress order by pool_id")
        .fetch_all(store.pool())
        .await?)
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    settled_until: DateTime<Utc>,
    redo_from: Option<DateTime<Utc>>,
}

/// The pool's progress, locked; none = another server is at it.
async fn lock(connection: &mut PgConnection, pool: Uuid) -> Result<Option<Progress>, StoreError> {
    let locked = sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock($1) as "locked!""#, LOCK)
        .fetch_one(&mut *connection)
        .await?;
    if !locked {
        return Ok(None);
    }
    let progress = sqlx::query_as!(
        Progress,
        "select settled_until, redo_from from ledger_progress where pool_id = $1 for update",
        pool
    );
    Ok(progress.fetch_optional(connection).await?)
}

/// Makes the hours of the first day that is due.
async fn one_day(
    connection: &mut PgConnection,
    pool: Uuid,
    progress: Progress,
    now: DateTime<Utc>,
) -> Result<Derived, StoreError> {
    let mut hour = progress.redo_from.map_or(progress.settled_until, |redo| redo.min(progress.settled_until));
    if hour >= now {
        return Ok(Derived::default());
    }
    if let Some(open) = after_closed(connection, hour).await? {
        told_late(connection, pool, hour, now).await?;
        keep(connection, pool, open, open.min(now), progress).await?;
        return Ok(Derived { hours: 0, again: true });
    }
    let day = hour.date_naive();
    let (mut hours, mut settled, mut derived) = (0, hour, hour);
    while hour < now && hour.date_naive() == day {
        let window = Window { from: hour, to: (hour + TimeDelta::hours(1)).min(now) };
        let inputs = load(connection, pool, window).await?;
        write::hour(connection, pool, hour, &settle(window.span(), &inputs)).await?;
        hour += TimeDelta::hours(1);
        if hour + LAG <= now {
            settled = hour;
        }
        derived = window.to;
        hours += 1;
    }
    write::day(connection, pool, day).await?;
    keep(connection, pool, settled, derived, progress).await?;
    // The next day may have begun while the last hours of this one are not final: it is made by the same step.
    if hour < now && settled < hour {
        hours += provisional(connection, pool, hour, now).await?;
        return Ok(Derived { hours, again: false });
    }
    Ok(Derived { hours, again: hour < now })
}

/// The first hours of a day whose day before is not final yet.
async fn provisional(
    connection: &mut PgConnection,
    pool: Uuid,
    from: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    let (mut hour, mut hours) = (from, 0);
    while hour < now {
        let window = Window { from: hour, to: (hour + TimeDelta::hours(1)).min(now) };
        let inputs = load(connection, pool, window).await?;
        write::hour(connection, pool, hour, &settle(window.span(), &inputs)).await?;
        hour += TimeDelta::hours(1);
        hours += 1;
    }
    write::day(connection, pool, from.date_naive()).await?;
    sqlx::query!("update ledger_progress set derived_until = $2 where pool_id = $1", pool, now)
        .execute(connection)
        .await?;
    Ok(hours)
}

/// Up to `settled` everything is final now.
async fn keep(
    connection: &mut PgConnection,
    pool: Uuid,
    settled: DateTime<Utc>,
    derived: DateTime<Utc>,
    before: Progress,
) -> Result<(), StoreError> {
    // A redo goes on until it meets what was never undone.
    let redo = before.redo_from.and(Some(settled)).filter(|at| *at < before.settled_until);
    sqlx::query!(
        "update ledger_progress set settled_until = greatest(settled_until, $2),
                derived_until = greatest(derived_until, $3), redo_from = $4 where pool_id = $1",
        pool,
        settled,
        derived,
        redo
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Where the months that are closed end, if this hour lies in one.
async fn after_closed(
    connection: &mut PgConnection,
    hour: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let closed: Vec<NaiveDate> = sqlx::query_scalar!(
        "select month from billing_months where state = 'closed' and month >= $1 order by month",
        Month::of(hour.date_naive()).first_day()
    )
    .fetch_all(connection)
    .await?;
    let mut month = Month::of(hour.date_naive());
    while closed.contains(&month.first_day()) {
        month = month.next();
    }
    Ok((month != Month::of(hour.date_naive())).then(|| month.begins_at()))
}

async fn told_late(
    connection: &mut PgConnection,
    pool: Uuid,
    hour: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let event = NewEvent::new("ledger.told_late", "pool", pool)
        .detail(json!({"hour": hour, "month": Month::of(hour.date_naive()).to_string()}));
    let context = WriteContext { actor: Actor::system("ledger"), request_id: None, now };
    write_events(connection, &context, &[event]).await
}

/// How far every pool's ledger is made: final, and provisionally; none = there is none yet.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn progress(store: &Store) -> Result<Option<(DateTime<Utc>, DateTime<Utc>)>, StoreError> {
    let row = sqlx::query!(
        "select min(least(settled_until, redo_from)) as settled, min(derived_until) as derived from ledger_progress"
    )
    .fetch_one(store.pool())
    .await?;
    Ok(row.settled.zip(row.derived))
}
