//! Use by day, summed by what was asked for: the days' own sums, added up.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::NaiveDate;
use reeve_core::id::{JobId, PoolId, QueueId, TeamId};
use reeve_core::money::bill::LineKey;
use uuid::Uuid;

/// Which days' lines.
#[derive(Debug, Clone)]
pub struct UsageFilter {
    pub from: NaiveDate,
    /// Exclusive.
    pub to: NaiveDate,
    /// Lines on these teams' bills; `None` = all, nobody's included.
    pub teams: Option<Vec<TeamId>>,
    pub pool: Option<PoolId>,
    pub kind: Option<String>,
    /// Lines a job; otherwise all jobs of a key together.
    pub by_job: bool,
    /// Lines a queue.
    pub by_queue: bool,
}

/// A line and its quantity in millionths of a GPU-hour.
pub type Quantity = (LineKey, i64);

struct Row {
    day: NaiveDate,
    pool_id: Uuid,
    share: String,
    team_id: Option<Uuid>,
    lender_team_id: Option<Uuid>,
    job_id: Option<Uuid>,
    queue_id: Option<Uuid>,
    kind: Option<String>,
    priority_class: Option<String>,
    hours: i64,
}

impl TryFrom<Row> for LineKey {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            day: row.day,
            pool: PoolId(row.pool_id),
            team: row.team_id.map(TeamId),
            share: row.share.parse()?,
            queue: row.queue_id.map(QueueId),
            job: row.job_id.map(JobId),
            kind: row.kind.map(|kind| kind.parse()).transpose()?,
            class: row.priority_class.map(|class| class.parse()).transpose()?,
            counterparty: row.lender_team_id.map(TeamId),
        })
    }
}

/// The lines in order of their keys.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn lines(store: &Store, filter: &UsageFilter) -> Result<Vec<Quantity>, StoreError> {
    let teams: Option<Vec<Uuid>> =
        filter.teams.as_ref().map(|teams| teams.iter().map(|team| team.0).collect());
    let rows = sqlx::query_as!(
        Row,
        r#"select day, pool_id, share, team_id, lender_team_id,
                  case when $6 then job_id end as job_id, case when $7 then queue_id end as queue_id, kind,
                  priority_class, sum(gpu_micro_hours)::bigint as "hours!"
           from usage_days
           where day >= $1 and day < $2 and ($3::uuid[] is null or team_id = any($3))
             and ($4::uuid is null or pool_id = $4) and ($5::text is null or kind = $5)
           group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 4, 3, 5, 6, 7, 8, 9"#,
        filter.from,
        filter.to,
        teams.as_deref(),
        filter.pool.map(|pool| pool.0),
        filter.kind,
        filter.by_job,
        filter.by_queue
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(quantity).collect()
}

fn quantity(row: Row) -> Result<Quantity, StoreError> {
    let hours = row.hours;
    Ok((LineKey::try_from(row)?, hours))
}

/// What these teams lent: others' loan lines whose lender is one of them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn lent_by(store: &Store, filter: &UsageFilter) -> Result<Vec<Quantity>, StoreError> {
    let teams: Option<Vec<Uuid>> =
        filter.teams.as_ref().map(|teams| teams.iter().map(|team| team.0).collect());
    let rows = sqlx::query_as!(
        Row,
        r#"select day, pool_id, share, team_id, lender_team_id, null::uuid as job_id, null::uuid as queue_id, kind,
                  priority_class, sum(gpu_micro_hours)::bigint as "hours!"
           from usage_days
           where day >= $1 and day < $2 and share = 'loan' and lender_team_id is not null
             and ($3::uuid[] is null or lender_team_id = any($3)) and ($4::uuid is null or pool_id = $4)
             and ($5::text is null or kind = $5)
           group by 1, 2, 3, 4, 5, 8, 9 order by 1, 2, 4, 3, 5, 8, 9"#,
        filter.from,
        filter.to,
        teams.as_deref(),
        filter.pool.map(|pool| pool.0),
        filter.kind
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(quantity).collect()
}

/// A job's line of a day.
#[derive(Debug, Clone)]
pub struct JobLine {
    pub id: i64,
    pub key: LineKey,
    pub micro_hours: i64,
    pub job_name: Option<String>,
}

/// Lines of a span a job, page by page: for exports of any length.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn page(
    store: &Store,
    filter: &UsageFilter,
    after: (NaiveDate, i64),
    limit: i64,
) -> Result<Vec<JobLine>, StoreError> {
    let teams: Option<Vec<Uuid>> =
        filter.teams.as_ref().map(|teams| teams.iter().map(|team| team.0).collect());
    let rows = sqlx::query!(
        r#"select u.id, u.day, u.pool_id, u.share, u.team_id, u.lender_team_id, u.job_id, u.queue_id, u.kind,
                u.priority_class, u.gpu_micro_hours, j.name as "job_name?"
         from usage_days u left join jobs j on j.id = u.job_id
         where u.day >= $1 and u.day < $2 and ($3::uuid[] is null or u.team_id = any($3))
           and ($4::uuid is null or u.pool_id = $4) and ($5::text is null or u.kind = $5)
           and (u.day, u.id) > ($6, $7) order by u.day, u.id limit $8"#,
        filter.from,
        filter.to,
        teams.as_deref(),
        filter.pool.map(|pool| pool.0),
        filter.kind,
        after.0,
        after.1,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter()
        .map(|row| {
            let key = LineKey::try_from(Row {
                day: row.day,
                pool_id: row.pool_id,
                share: row.share,
                team_id: row.team_id,
                lender_team_id: row.lender_team_id,
                job_id: row.job_id,
                queue_id: row.queue_id,
                kind: row.kind,
                priority_class: row.priority_class,
                hours: row.gpu_micro_hours,
            })?;
            Ok(JobLine { id: row.id, key, micro_hours: row.gpu_micro_hours, job_name: row.job_name })
        })
        .collect()
}

/// How many lines [`page`] will give.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count(store: &Store, filter: &UsageFilter) -> Result<i64, StoreError> {
    let teams: Option<Vec<Uuid>> =
        filter.teams.as_ref().map(|teams| teams.iter().map(|team| team.0).collect());
    Ok(sqlx::query_scalar!(
        r#"select count(*) as "count!" from usage_days
           where day >= $1 and day < $2 and ($3::uuid[] is null or team_id = any($3))
             and ($4::uuid is null or pool_id = $4) and ($5::text is null or kind = $5)"#,
        filter.from,
        filter.to,
        teams.as_deref(),
        filter.pool.map(|pool| pool.0),
        filter.kind
    )
    .fetch_one(store.pool())
    .await?)
}
