//! `GET /jobs/{id}/use`.

use super::load::load;
use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::Result;
use crate::routes::sentence_view::SentenceView;
use crate::routes::time_past::{bucket_secs, span};
use axum::Json;
use axum::extract::{Path, State};
use chrono::{DateTime, Utc};
use reeve_core::access::Action;
use reeve_core::right_size::{Advice, Profile, advise};
use reeve_core::sentence::right_size::advice as sentence;
use reeve_store::gpu_use::figures::{self, Computed};
use reeve_store::gpu_use::read::{self, JobPoint, JobUse};
use reeve_store::jobs::row::JobRow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UseQuery {
    /// Left out = 24 hours before `to`; a span of at most 31 days.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Left out = now.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
}

/// How a job's GPUs were used. Shares of compute are thousandths; memory and power are one GPU's.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobUseView {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    /// The length of a point.
    bucket_secs: i64,
    /// What each member asked for.
    gpus_asked: i32,
    gpu_memory_mib_asked: Option<i64>,
    figures: UseFigures,
    /// GPUs that its newest run holds or held, and how many of them have computed.
    gpus_held: i64,
    gpus_computed: i64,
    /// What to ask for instead; nothing when it fits, or when too little was seen.
    advice: Vec<AdviceView>,
    points: Vec<JobUsePoint>,
}

/// One piece of advice: its action (`ask_for_fewer_gpus`, `ask_for_share`, `ask_for_less_memory` or `feed_it_faster`), the
/// numbers it rests on, and the same as a sentence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdviceView {
    action: String,
    numbers: BTreeMap<String, i64>,
    sentence: SentenceView,
}

/// Of the minutes in which samples came, weighed alike; absent when none told it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UseFigures {
    minutes: i64,
    first_at: Option<DateTime<Utc>>,
    last_at: Option<DateTime<Utc>>,
    /// The last minute in which any of the job's GPUs computed, as its idle rule counts it.
    last_busy_at: Option<DateTime<Utc>>,
    compute_permille_p50: Option<i64>,
    compute_permille_p95: Option<i64>,
    compute_permille_max: Option<i64>,
    memory_used_mib_p50: Option<i64>,
    memory_used_mib_p95: Option<i64>,
    memory_used_mib_max: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobUsePoint {
    at: DateTime<Utc>,
    samples: i64,
    compute_permille_mean: Option<i64>,
    compute_permille_max: i64,
    memory_used_mib_max: i64,
    power_milliwatts_mean: i64,
}

/// A job's use over time, at most about 500 points, with its figures over the span. A stretch without points is one without
/// samples: nothing is known of it.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/use", operation_id = "show_job_use", tag = "jobs", params(("id" = String, Path), UseQuery),
    responses((status = 200, body = JobUseView), (status = 404, description = "no such job")))]
pub(crate) async fn used(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Params(query): Params<UseQuery>,
) -> Result<Json<JobUseView>> {
    let job = load(&app, &caller, &id, Action::JobRead).await?;
    let (from, to) = span(query.from.as_deref(), query.to.as_deref(), app.clock.now())?;
    let bucket = bucket_secs(from, to, 60);
    let used = read::job_use(&app.store, job.job_id(), from, to).await?;
    let points = read::job_points(&app.store, job.job_id(), from, to, bucket).await?;
    let computed = figures::computed(&app.store, job.id, from, to).await?;
    let stretch = Stretch { from, to, bucket_secs: bucket, points };
    Ok(Json(view(&job, &used, computed, stretch)))
}

/// What is asked for, and its points.
struct Stretch {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    bucket_secs: i64,
    points: Vec<JobPoint>,
}

fn view(job: &JobRow, used: &JobUse, computed: Computed, stretch: Stretch) -> JobUseView {
    let profile = Profile {
        minutes: used.minutes,
        gpus: computed.gpus,
        computed: computed.computed,
        shared: job.gpu_milli.is_some(),
        compute_permille_p50: used.compute_permille_p50,
        compute_permille_p95: used.compute_permille_p95,
        memory_used_mib_max: used.memory_used_mib_max,
        memory_mib: computed.memory_mib,
    };
    JobUseView {
        from: stretch.from,
        to: stretch.to,
        bucket_secs: stretch.bucket_secs,
        points: stretch.points.into_iter().map(point).collect(),
        gpus_asked: job.gpus,
        gpu_memory_mib_asked: job.gpu_memory_mib,
        gpus_held: computed.gpus,
        gpus_computed: computed.computed,
        advice: advise(&profile).iter().map(advice_view).collect(),
        figures: UseFigures {
            minutes: used.minutes,
            first_at: used.first_at,
            last_at: used.last_at,
            last_busy_at: used.last_busy_at,
            compute_permille_p50: used.compute_permille_p50,
            compute_permille_p95: used.compute_permille_p95,
            compute_permille_max: used.compute_permille_max,
            memory_used_mib_p50: used.memory_used_mib_p50,
            memory_used_mib_p95: used.memory_used_mib_p95,
            memory_used_mib_max: used.memory_used_mib_max,
        },
    }
}

fn advice_view(advice: &Advice) -> AdviceView {
    let parts = serde_json::to_value(advice).unwrap_or_default();
    let numbers = parts.as_object().into_iter().flatten();
    AdviceView {
        action: parts["action"].as_str().unwrap_or_default().to_owned(),
        numbers: numbers.filter_map(|(name, value)| Some((name.clone(), value.as_i64()?))).collect(),
        sentence: sentence(advice).into(),
    }
}

fn point(row: JobPoint) -> JobUsePoint {
    JobUsePoint {
        at: row.at,
        samples: row.samples,
        compute_permille_mean: row.compute_permille_mean,
        compute_permille_max: row.compute_permille_max,
        memory_used_mib_max: row.memory_used_mib_max,
        power_milliwatts_mean: row.power_milliwatts_mean,
    }
}
