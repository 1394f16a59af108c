//! How GPUs are used, under the names of NVIDIA's DCGM exporter: dashboards made for that one show these.
//!
//! It refuses to name the job on a GPU: who may read metrics may not know that.

use metrics::{Label, describe_gauge, gauge, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;
use reeve_store::gpu_use::gauges::GpuGauge;

const HELP: [(&str, &str); 5] = [
    ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %)"),
    ("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB)"),
    ("DCGM_FI_DEV_FB_TOTAL", "Framebuffer memory (in MiB)"),
    ("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)"),
    ("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C)"),
];

/// The text of the newest samples.
pub(super) fn render(gpus: &[GpuGauge]) -> String {
    if gpus.is_empty() {
        return String::new();
    }
    let recorder = PrometheusBuilder::new().build_recorder();
    with_local_recorder(&recorder, || {
        for (name, help) in HELP {
            describe_gauge!(name, help);
        }
        for gpu in gpus {
            let labels = vec![
                Label::new("gpu", gpu.index.to_string()),
                Label::new("UUID", gpu.uuid.clone()),
                Label::new("modelName", gpu.model.clone()),
                Label::new("Hostname", gpu.node.clone()),
                Label::new("pool", gpu.pool.clone()),
            ];
            if let Some(permille) = gpu.compute_permille {
                gauge!("DCGM_FI_DEV_GPU_UTIL", labels.clone()).set(f64::from(permille) / 10.0);
            }
            if let Some(mib) = gpu.memory_used_mib {
                gauge!("DCGM_FI_DEV_FB_USED", labels.clone()).set(number(mib));
            }
            if let Some(milliwatts) = gpu.power_milliwatts {
                gauge!("DCGM_FI_DEV_POWER_USAGE", labels.clone()).set(number(milliwatts) / 1_000.0);
            }
            if let Some(celsius) = gpu.temperature_celsius {
                gauge!("DCGM_FI_DEV_GPU_TEMP", labels.clone()).set(f64::from(celsius));
            }
            gauge!("DCGM_FI_DEV_FB_TOTAL", labels).set(number(gpu.memory_mib));
        }
    });
    recorder.handle().render()
}

#[expect(clippy::cast_precision_loss, reason = "a scrape's numbers are floats")]
const fn number(amount: i64) -> f64 {
    amount as f64
}
