//! `POST /agent/v1/samples`: how a node's GPUs are used.

use super::credential::NodeCaller;
use crate::app::AppState;
use crate::extract::Json;
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use chrono::SubsecRound;
use reeve_store::gpu_use::receive::{Runs, Sample, receive};
use reeve_wire::samples::{GpuSample, MOST_SAMPLES, Samples, SamplesKept};

/// Keeps each sample once. Those of unknown GPUs, too old ones and those of the future are dropped and counted.
#[utoipa::path(post, path = "/agent/v1/samples", operation_id = "agent_samples", tag = "agent", request_body = Samples,
    responses((status = 200, body = SamplesKept), (status = 401, description = "not a node's credential"),
              (status = 422, description = "too many samples, or a value that no device has")))]
pub(crate) async fn samples(
    State(app): State<AppState>,
    node: NodeCaller,
    Json(body): Json<Samples>,
) -> Result<axum::Json<SamplesKept>> {
    if body.samples.len() > MOST_SAMPLES {
        let detail = format!("at most {MOST_SAMPLES} samples at once");
        return Err(Problem::new(Code::InvalidBody).error("/samples", "too_many", detail));
    }
    let now = app.clock.now();
    let told = body.samples.len() as u64;
    let samples: Vec<Sample> = body
        .samples
        .into_iter()
        .enumerate()
        .map(|(nth, sample)| from_wire(nth, sample))
        .collect::<Result<_>>()?;
    let kept = receive(&app.store, node.id, &samples, now).await?;
    metrics::counter!("reeve_gpu_samples_total").increment(kept);
    Ok(axum::Json(SamplesKept { kept, dropped: told - kept }))
}

fn from_wire(nth: usize, sample: GpuSample) -> Result<Sample> {
    let wrong = |field: &str, remedy: &str| {
        Problem::new(Code::InvalidBody).error(format!("/samples/{nth}/{field}"), "out_of_range", remedy)
    };
    let amount = |field: &str, value: Option<i64>| match value {
        Some(value) if !(0..=1 << 50).contains(&value) => Err(wrong(field, "0 to 2^50")),
        value => Ok(value),
    };
    if sample.compute_permille.is_some_and(|permille| permille > 1_000) {
        return Err(wrong("compute_permille", "thousandths: 0 to 1000"));
    }
    if sample.index > 4_096 {
        return Err(wrong("index", "0 to 4096"));
    }
    if sample.temperature_celsius.is_some_and(|celsius| !(-100..=300).contains(&celsius)) {
        return Err(wrong("temperature_celsius", "-100 to 300"));
    }
    Ok(Sample {
        at: sample.at.trunc_subsecs(6),
        index: sample.index,
        compute_permille: sample.compute_permille,
        memory_used_mib: amount("memory_used_mib", sample.memory_used_mib)?,
        power_milliwatts: amount("power_milliwatts", sample.power_milliwatts)?,
        temperature_celsius: sample.temperature_celsius,
        pcie_kib_per_s: amount("pcie_kib_per_s", sample.pcie_kib_per_s)?,
        members: sample
            .members
            .into_iter()
            .map(|key| Runs {
                job_id: key.job_id,
                run_number: key.run_number.into(),
                member: key.member.into(),
            })
            .collect(),
    })
}
