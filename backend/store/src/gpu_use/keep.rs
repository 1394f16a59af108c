//! For how long samples are kept, and the days' partitions that hold them.
//!
//! A day goes as a whole: nothing is deleted row by row but the hours, of which there are few.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Days, NaiveDate, Utc};

/// Samples, and minutes of jobs.
pub const SAMPLE_DAYS: u64 = 7;
pub const MINUTE_DAYS: u64 = 35;
/// Hours of jobs and GPUs: thirteen months.
pub const HOUR_DAYS: u64 = 400;
/// Days that are made ready: a server that is away for two still finds its day.
const DAYS_AHEAD: u64 = 2;

/// Makes the days ready that samples may come for, and drops the days that are over.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn days(store: &Store, now: DateTime<Utc>) -> Result<(), StoreError> {
    for (table, kept) in [("gpu_samples", SAMPLE_DAYS), ("job_use_minutes", MINUTE_DAYS)] {
        let today = now.date_naive();
        sqlx::query_scalar!(
            "select keep_days($1, $2, $3, $4)",
            table,
            before(today, kept),
            today.checked_add_days(Days::new(DAYS_AHEAD)).unwrap_or(today),
            before(today, kept)
        )
        .fetch_one(store.pool())
        .await?;
    }
    Ok(())
}

/// Deletes one batch of hours of each sort that nobody may ask for any more; answers how many of the fuller one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn hours(store: &Store, now: DateTime<Utc>, batch: i64) -> Result<u64, StoreError> {
    let oldest = before(now.date_naive(), HOUR_DAYS).and_time(chrono::NaiveTime::MIN).and_utc();
    let deleted = sqlx::query!(
        "delete from gpu_use_hours where ctid = any(array(
             select ctid from gpu_use_hours where hour < $1 order by hour limit $2))",
        oldest,
        batch
    )
    .execute(store.pool())
    .await?
    .rows_affected();
    let of_jobs = sqlx::query!(
        "delete from job_use_hours where ctid = any(array(
             select ctid from job_use_hours where hour < $1 order by hour limit $2))",
        oldest,
        batch
    )
    .execute(store.pool())
    .await?
    .rows_affected();
    Ok(deleted.max(of_jobs))
}

fn before(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(day)
}
