//! A job as JSON.

use crate::refs::{QueueRef, TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_core::reason::Explanation;
use reeve_core::units::MilliGpu;
use reeve_store::escalations::cover::{self, RaisedJob};
use reeve_store::jobs::row::JobRow;
use reeve_store::jobs::show;
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct JobView {
    pub id: Uuid,
    pub name: String,
    pub team: TeamRef,
    pub queue: QueueRef,
    pub user: UserRef,
    pub kind: String,
    pub priority_class: String,
    /// As what it counts while an escalation is active; null = as its own class.
    pub raised_to: Option<String>,
    /// When it falls back, without restarting.
    pub raised_until: Option<DateTime<Utc>>,
    pub escalation_id: Option<Uuid>,
    /// `queued`, `starting`, `running`, `leaving`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    pub held: bool,
    /// How much of what it holds its team borrows. Inside a team the guarantee goes to the higher class first,
    /// then to the earlier start.
    pub borrowed_gpus: f64,
    /// Asked by each member.
    pub gpus: i32,
    pub gpu_milli: Option<i64>,
    pub gpu_memory_mib: Option<i64>,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    /// Members it has now; while it holds nothing, the fewest it starts with.
    pub replicas: i64,
    pub min_replicas: i32,
    pub max_replicas: i32,
    /// GPUs of all those members.
    pub gpus_total: f64,
    /// Acceptable pools in the job's order; empty = any.
    pub pools: Vec<String>,
    /// Where it runs.
    pub pool: Option<String>,
    pub gpu_model: Option<String>,
    #[schema(value_type = BTreeMap<String, String>)]
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
    #[schema(value_type = BTreeMap<String, String>)]
    pub env: serde_json::Value,
    pub working_dir: Option<String>,
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: serde_json::Value,
    pub run_number: i32,
    pub failure_count: i32,
    pub eviction_count: i32,
    pub last_checkpoint_at: Option<DateTime<Utc>>,
    pub submitted_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    /// How it ended, in a word.
    pub end_cause: Option<String>,
    pub end_detail: Option<String>,
    pub reason: Option<ReasonView>,
    pub leave: Option<LeaveView>,
    pub version: i64,
    /// What its submitter should know; only in the reply to a submission.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningView>,
}

/// Why it waits.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ReasonView {
    pub code: String,
    pub detail: Option<String>,
    /// Numbers for a translated text.
    pub text_params: BTreeMap<String, i64>,
    pub position: u32,
    pub since: Option<DateTime<Utc>>,
}

/// Why it leaves, and until when it may take.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LeaveView {
    pub cause: String,
    pub leave_by: Option<DateTime<Utc>>,
    pub eviction_id: Option<Uuid>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WarningView {
    pub code: String,
    pub detail: String,
}

/// Jobs with their share of loans: one set look-up a page.
pub(crate) async fn views(store: &Store, jobs: Vec<JobRow>) -> Result<Vec<JobView>, StoreError> {
    let placed: Vec<Uuid> = jobs.iter().filter(|job| job.live_members > 0).map(|job| job.id).collect();
    let live = |job: &&JobRow| !matches!(job.state.as_str(), "succeeded" | "failed" | "cancelled");
    let live: Vec<Uuid> = jobs.iter().filter(live).map(|job| job.id).collect();
    let mut raised = if live.is_empty() { BTreeMap::new() } else { cover::raised(store, &live).await? };
    let borrowed = if placed.is_empty() { BTreeMap::new() } else { show::borrowed(store, &placed).await? };
    Ok(jobs
        .into_iter()
        .map(|job| {
            let borrowed = borrowed.get(&job.id).copied().unwrap_or(0);
            let raised = raised.remove(&job.id);
            view(job, MilliGpu(borrowed), raised)
        })
        .collect())
}

/// One job with its share of loans.
pub(crate) async fn one(store: &Store, job: JobRow) -> Result<JobView, StoreError> {
    Ok(views(store, vec![job]).await?.remove(0))
}

/// A job as JSON, given how much of it is borrowed, and what raises it.
fn view(job: JobRow, borrowed: MilliGpu, raised: Option<RaisedJob>) -> JobView {
    let replicas = if job.live_members > 0 { job.live_members } else { i64::from(job.min_replicas) };
    let each = i64::from(job.gpus) * job.gpu_milli.unwrap_or(1_000);
    let reason = reason(&job);
    let leave = job.leave_cause.map(|cause| LeaveView {
        cause,
        leave_by: job.leave_by,
        eviction_id: job.eviction_id,
    });
    JobView {
        id: job.id,
        name: job.name,
        team: TeamRef { id: job.team_id, slug: job.team_slug, name: job.team_name },
        queue: QueueRef { id: job.queue_id, slug: job.queue_slug },
        user: UserRef { id: job.user_id, username: job.username, display_name: job.display_name },
        kind: job.kind,
        priority_class: job.priority_class,
        raised_until: raised.as_ref().and_then(|raised| raised.until),
        escalation_id: raised.as_ref().map(|raised| raised.escalation_id),
        raised_to: raised.map(|raised| raised.level),
        state: job.state,
        held: job.held,
        borrowed_gpus: borrowed.as_gpus(),
        gpus: job.gpus,
        gpu_milli: job.gpu_milli,
        gpu_memory_mib: job.gpu_memory_mib,
        cpu_milli: job.cpu_milli,
        memory_mib: job.memory_mib,
        replicas,
        min_replicas: job.min_replicas,
        max_replicas: job.max_replicas,
        gpus_total: MilliGpu(each.saturating_mul(replicas)).as_gpus(),
        pools: job.pool_slugs,
        pool: job.live_pool,
        gpu_model: job.gpu_model,
        node_labels: job.node_labels,
        require_topology: job.require_topology,
        prefer_topology: job.prefer_topology,
        nvlink: job.nvlink,
        rdma: job.rdma,
        time_limit_secs: job.time_limit_secs,
        preemptible: job.preemptible,
        evict_others: job.evict_others,
        requeue: job.requeue,
        checkpoint: job.checkpoint,
        checkpoint_signal: job.checkpoint_signal,
        max_failures: job.max_failures,
        command: job.command,
        env: job.env,
        working_dir: job.working_dir,
        labels: job.labels,
        run_number: job.run_number,
        failure_count: job.failure_count,
        eviction_count: job.eviction_count,
        last_checkpoint_at: job.last_checkpoint_at,
        submitted_at: job.submitted_at,
        started_at: job.started_at,
        finished_at: job.finished_at,
        end_cause: job.end_cause,
        end_detail: job.end_detail,
        reason,
        leave,
        version: job.version,
        warnings: Vec::new(),
    }
}

fn reason(job: &JobRow) -> Option<ReasonView> {
    let code = job.reason_code.clone().filter(|_| job.state == "queued")?;
    let explanation: Option<Explanation> =
        job.reason.clone().and_then(|reason| serde_json::from_value(reason).ok());
    let (detail, text_params, position) = match explanation {
        Some(explanation) => {
            let position = explanation.position;
            let main = explanation.into_why().main;
            (main.detail, main.numbers, position)
        }
        None => (None, BTreeMap::new(), 0),
    };
    Some(ReasonView { code, detail, text_params, position, since: job.reason_at })
}
