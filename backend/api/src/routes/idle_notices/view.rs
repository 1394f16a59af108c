//! A notice that a job's GPUs compute nothing, as JSON.

use crate::refs::{JobRef, TeamRef, UserRef};
use crate::routes::sentence_view::SentenceView;
use chrono::{DateTime, Utc};
use reeve_core::sentence::idle::{IdleFacts, idle};
use reeve_core::units::MilliGpu;
use reeve_store::StoreError;
use reeve_store::idle::list::Notice;
use reeve_store::row::word;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The evidence, and what follows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct IdleView {
    pub id: Uuid,
    /// `notified`, `reclaimable`, `stopped` or `closed`.
    pub state: String,
    /// What its rule does when its time is over: `notify`, `reclaimable` or `stop`.
    pub action: String,
    /// It is told and left: what is kept warm, and what is never evicted.
    pub protected: bool,
    /// None of its GPUs has computed since.
    pub idle_since: DateTime<Utc>,
    /// How long such a job may pause.
    pub window_secs: i64,
    /// Samples within that time, when it was told: so many came of so many.
    pub samples: i64,
    pub expected: i64,
    /// A GPU at or below this (thousandths) does not compute.
    pub busy_above_permille: i32,
    pub gpus: f64,
    pub notified_at: DateTime<Utc>,
    /// Nothing happens to it before.
    pub act_at: DateTime<Utc>,
    pub snoozed_secs: i64,
    pub snoozed_by: Option<String>,
    pub acted_at: Option<DateTime<Utc>>,
    pub closed_at: Option<DateTime<Utc>>,
    /// `computes`, `ended` or `rule_off`.
    pub close_reason: Option<String>,
    pub sentence: SentenceView,
}

/// The same with the job.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct IdleNoticeView {
    pub job: JobRef,
    pub kind: String,
    pub run_number: i32,
    pub user: UserRef,
    pub pool: Option<String>,
    #[serde(flatten)]
    pub idle: IdleView,
}

pub(crate) fn idle_view(notice: &Notice, now: DateTime<Utc>) -> Result<IdleView, StoreError> {
    let facts = IdleFacts {
        state: word(&notice.state)?,
        action: word(&notice.action)?,
        protected: notice.protected,
        idle_since: notice.idle_since,
        window_secs: notice.window_secs,
        samples: notice.samples,
        expected: notice.expected,
        act_at: notice.act_at,
        now: notice.closed_at.unwrap_or(now),
    };
    Ok(IdleView {
        id: notice.id,
        state: notice.state.clone(),
        action: notice.action.clone(),
        protected: notice.protected,
        idle_since: notice.idle_since,
        window_secs: notice.window_secs,
        samples: notice.samples,
        expected: notice.expected,
        busy_above_permille: notice.busy_above_permille,
        gpus: MilliGpu(notice.gpu_milli).as_gpus(),
        notified_at: notice.notified_at,
        act_at: notice.act_at,
        snoozed_secs: notice.snoozed_secs,
        snoozed_by: notice.snoozed_by.clone(),
        acted_at: notice.acted_at,
        closed_at: notice.closed_at,
        close_reason: notice.close_reason.clone(),
        sentence: idle(&facts).into(),
    })
}

pub(crate) fn notice_view(notice: Notice, now: DateTime<Utc>) -> Result<IdleNoticeView, StoreError> {
    let idle = idle_view(&notice, now)?;
    Ok(IdleNoticeView {
        job: JobRef {
            id: notice.job_id,
            name: notice.job_name,
            team: TeamRef { id: notice.team_id, slug: notice.team_slug, name: notice.team_name },
        },
        kind: notice.kind,
        run_number: notice.run_number,
        user: UserRef { id: notice.user_id, username: notice.username, display_name: notice.display_name },
        pool: notice.pool_slug,
        idle,
    })
}
