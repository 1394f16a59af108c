//! What is known of every job that runs on GPUs, in one statement, and the coverage of those that look idle, in another.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::{optional_word, word};
use crate::write_tx::WriteTx;
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, TeamId};
use reeve_core::idle::{Notice, NoticeState, Pauses, SAMPLE_EVERY_SECS};
use reeve_core::kind::Kind;
use uuid::Uuid;

/// Seconds between two samples of a GPU that count apart.
pub const SLOT_SECS: i64 = SAMPLE_EVERY_SECS as i64;

/// A running job, how it used its GPUs, and the notice that it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    pub job: JobId,
    pub run_id: Uuid,
    pub run_number: i32,
    pub team: TeamId,
    pub queue_slug: String,
    pub kind: Kind,
    pub preemptible: bool,
    pub started_at: DateTime<Utc>,
    pub gpus: i64,
    pub gpu_milli: i64,
    pub pauses: Pauses,
    /// What has counted as computing so far; `None` = no sample has come yet.
    pub busy_above_permille: Option<i16>,
    pub notice: Option<(Uuid, Notice)>,
}

struct Row {
    job_id: Uuid,
    run_id: Uuid,
    run_number: i32,
    team_id: Uuid,
    queue_slug: String,
    kind: String,
    preemptible: bool,
    started_at: DateTime<Utc>,
    gpus: i64,
    gpu_milli: i64,
    busy_above_permille: Option<i16>,
    last_busy_at: Option<DateTime<Utc>>,
    longest_pause_secs: i64,
    notice_id: Option<Uuid>,
    state: Option<String>,
    notified_at: Option<DateTime<Utc>>,
    act_at: Option<DateTime<Utc>>,
    snoozed_secs: Option<i64>,
}

/// Every job that runs on GPUs and was not told to go, by id.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn running(tx: &mut WriteTx) -> Result<Vec<Running>, StoreError> {
    let rows = sqlx::query_as!(
        Row,
        r#"with held as (
               select r.id as run_id, count(o.gpu_id) as gpus, sum(o.milli)::bigint as gpu_milli
               from runs r join members m on m.run_id = r.id and m.released_at is null
               join member_gpus o on o.run_id = m.run_id and o.member = m.member
               where r.ended_at is null and r.state = 'running' group by r.id
           ), longest as (
               select p.job_id, max(p.longest_pause_secs) as secs from run_pauses p
               where p.job_id in (select r.job_id from runs r where r.ended_at is null) group by p.job_id
           )
           select j.id as job_id, r.id as run_id, r.number as run_number, j.team_id, q.slug as queue_slug, j.kind,
                  j.preemptible, coalesce(r.started_at, r.placed_at) as "started_at!", h.gpus as "gpus!",
                  h.gpu_milli as "gpu_milli!", p.busy_above_permille as "busy_above_permille?", p.last_busy_at as "last_busy_at?",
                  coalesce(l.secs, 0) as "longest_pause_secs!", n.id as "notice_id?", n.state as "state?",
                  n.notified_at as "notified_at?", n.act_at as "act_at?", n.snoozed_secs as "snoozed_secs?"
           from held h join runs r on r.id = h.run_id join jobs j on j.id = r.job_id and j.state = 'running'
           join queues q on q.id = j.queue_id
           left join run_pauses p on p.job_id = j.id and p.run_number = r.number
           left join longest l on l.job_id = j.id
           left join idle_notices n on n.job_id = j.id and n.closed_at is null
           order by j.id"#
    )
    .fetch_all(tx.connection())
    .await?;
    rows.into_iter().map(from_row).collect()
}

fn from_row(row: Row) -> Result<Running, StoreError> {
    let state: Option<NoticeState> = optional_word(row.state.as_deref())?;
    let notice = match (row.notice_id, state, row.notified_at, row.act_at) {
        (Some(id), Some(state), Some(notified_at), Some(act_at)) => {
            Some((id, Notice { state, notified_at, act_at, snoozed_secs: row.snoozed_secs.unwrap_or(0) }))
        }
        _ => None,
    };
    Ok(Running {
        job: row.job_id.into(),
        run_id: row.run_id,
        run_number: row.run_number,
        team: row.team_id.into(),
        queue_slug: row.queue_slug,
        kind: word(&row.kind)?,
        preemptible: row.preemptible,
        started_at: row.started_at,
        gpus: row.gpus,
        gpu_milli: row.gpu_milli,
        pauses: Pauses { last_busy_at: row.last_busy_at, longest_secs: row.longest_pause_secs },
        busy_above_permille: row.busy_above_permille,
        notice,
    })
}

/// A run and the beginning of the window that ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub run_id: Uuid,
    pub from: DateTime<Utc>,
}

/// How many samples of each run's GPUs came since its window began, in the order in which they are asked for. Several
/// of one GPU within [`SLOT_SECS`] count once: an agent that looks more often than it must does not make up for silence.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn coverage(tx: &mut WriteTx, asked: &[Asked], now: DateTime<Utc>) -> Result<Vec<i64>, StoreError> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let runs: Vec<Uuid> = asked.iter().map(|asked| asked.run_id).collect();
    let froms: Vec<DateTime<Utc>> = asked.iter().map(|asked| asked.from).collect();
    let rows = sqlx::query_scalar!(
        r#"select coalesce(s.samples, 0) as "samples!"
           from unnest($1::uuid[], $2::timestamptz[]) with ordinality as a(run_id, begins, nth)
           left join lateral (
               select count(distinct (s.gpu_id, floor(extract(epoch from s.at) / $4::bigint))) as samples
               from members m join member_gpus o on o.run_id = m.run_id and o.member = m.member
               join gpu_samples s on s.gpu_id = o.gpu_id and s.at > a.begins and s.at <= $3
               where m.run_id = a.run_id and m.released_at is null and s.compute_permille is not null) s on true
           order by a.nth"#,
        &runs,
        &froms,
        now,
        SLOT_SECS
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows)
}

/// From now on, so much counts as computing for these runs.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn set_thresholds(
    store: &Store,
    jobs: &[Uuid],
    runs: &[i32],
    permilles: &[i16],
) -> Result<(), StoreError> {
    sqlx::query!(
        "update run_pauses p set busy_above_permille = n.permille
         from unnest($1::uuid[], $2::integer[], $3::smallint[]) as n(job, run, permille)
         where p.job_id = n.job and p.run_number = n.run",
        jobs,
        runs,
        permilles
    )
    .execute(store.pool())
    .await?;
    Ok(())
}
