//! A job with the names of what it joins: one column list for every query of it.

use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, TeamId, UserId};
use reeve_core::job::JobState;
use uuid::Uuid;

/// A job as people see it.
#[derive(Debug, Clone)]
pub struct JobRow {
    pub id: Uuid,
    pub name: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub queue_id: Uuid,
    pub queue_slug: String,
    pub user_id: Uuid,
    pub username: String,
    pub display_name: String,
    pub kind: String,
    pub priority_class: String,
    pub state: String,
    pub held: bool,
    pub gpus: i32,
    pub gpu_milli: Option<i64>,
    pub gpu_memory_mib: Option<i64>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub min_replicas: i32,
    pub max_replicas: i32,
    pub pool_slugs: Vec<String>,
    pub gpu_model: Option<String>,
    pub node_labels: serde_json::Value,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    pub nvlink: String,
    pub rdma: bool,
    pub time_limit_secs: Option<i64>,
    pub preemptible: bool,
    pub evict_others: bool,
    pub requeue: bool,
    pub checkpoint: String,
    pub checkpoint_signal: String,
    pub max_failures: i32,
    pub command: Vec<String>,
    pub env: serde_json::Value,
    pub working_dir: Option<String>,
    pub labels: serde_json::Value,
    pub run_number: i32,
    pub failure_count: i32,
    pub eviction_count: i32,
    pub last_checkpoint_at: Option<DateTime<Utc>>,
    pub submitted_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    pub end_cause: Option<String>,
    pub end_detail: Option<String>,
    pub reason_code: Option<String>,
    pub reason: Option<serde_json::Value>,
    pub reason_at: Option<DateTime<Utc>>,
    pub version: i64,
    /// Of the live run, if any.
    pub live_pool: Option<String>,
    pub live_members: i64,
    pub leave_cause: Option<String>,
    pub leave_by: Option<DateTime<Utc>>,
    pub eviction_id: Option<Uuid>,
}

impl JobRow {
    #[must_use]
    pub const fn job_id(&self) -> JobId {
        JobId(self.id)
    }

    #[must_use]
    pub const fn team(&self) -> TeamId {
        TeamId(self.team_id)
    }

    #[must_use]
    pub const fn owner(&self) -> UserId {
        UserId(self.user_id)
    }

    /// # Errors
    /// [`StoreError::Unreadable`] for a word that this version does not know.
    pub fn state(&self) -> Result<JobState, StoreError> {
        Ok(self.state.parse()?)
    }
}

macro_rules! select_jobs {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            $crate::jobs::row::JobRow,
            r#"select j.id, j.name, j.team_id, t.slug as team_slug, t.name as team_name, j.queue_id,
                      q.slug as queue_slug, j.user_id, u.username, u.display_name, j.kind, j.priority_class, j.state,
                      j.held, j.gpus, j.gpu_milli, j.gpu_memory_mib, j.cpu_milli, j.memory_mib, j.min_replicas,
                      j.max_replicas,
                      array(select p.slug from unnest(j.pool_ids) with ordinality as o(id, n)
                            join pools p on p.id = o.id order by o.n) as "pool_slugs!",
                      j.gpu_model, j.node_labels, j.require_topology, j.prefer_topology, j.nvlink, j.rdma, j.time_limit_secs,
                      j.preemptible, j.evict_others, j.requeue, j.checkpoint, j.checkpoint_signal, j.max_failures,
                      j.command, j.env, j.working_dir, j.labels, j.run_number, j.failure_count, j.eviction_count,
                      j.last_checkpoint_at, j.submitted_at, j.started_at, j.finished_at, j.end_cause, j.end_detail,
                      j.reason_code, j.reason, j.reason_at, j.version, lp.slug as "live_pool?",
                      (select count(*) from members m where m.run_id = r.id and m.state <> 'ended')
                        as "live_members!",
                      r.leave_cause as "leave_cause?", r.leave_by as "leave_by?",
                      (select e.id from evictions e where e.job_id = j.id and e.outcome = 'leaving'
                       order by e.id desc limit 1) as "eviction_id?"
               from jobs j join teams t on t.id = j.team_id join queues q on q.id = j.queue_id
               join users u on u.id = j.user_id
               left join runs r on r.job_id = j.id and r.ended_at is null
               left join pools lp on lp.id = r.pool_id "# + $rest
            $(, $argument)*
        )
    };
}
pub(crate) use select_jobs;
