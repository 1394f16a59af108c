//! NVIDIA GPUs by the driver's own library, loaded when the agent runs: it builds, and starts, without it.
//!
//! It reports each GPU whole: MIG instances and NVLink domains are not looked for.

use super::source::{GpuSource, GpuUse, Held};
use anyhow::Context;
use chrono::{DateTime, Utc};
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{PcieUtilCounter, TemperatureSensor};
use reeve_wire::join::GpuInfo;
use std::collections::BTreeMap;

pub(crate) struct NvmlGpus(Nvml);

impl std::fmt::Debug for NvmlGpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NvmlGpus")
    }
}

impl NvmlGpus {
    pub(crate) fn load() -> anyhow::Result<Self> {
        // The library's usual name first; distributions without development packages have only the second.
        Nvml::init()
            .or_else(|_| Nvml::builder().lib_path("libnvidia-ml.so.1".as_ref()).init())
            .map(Self)
            .map_err(|error| {
                anyhow::anyhow!(
                    "the NVIDIA driver's library (libnvidia-ml.so.1) cannot be used: {error}; install the driver, \
                     or give --gpus none or --gpus simulated:8xA100-80G"
                )
            })
    }

    /// What is not supported by a model is left out.
    fn used(&self, index: u32) -> Option<GpuUse> {
        let device = self.0.device_by_index(index).ok()?;
        let pcie = |counter| device.pcie_throughput(counter).ok().map(i64::from);
        Some(GpuUse {
            index,
            compute_permille: device.utilization_rates().ok().map(|rates| rates.gpu.min(100) * 10),
            memory_used_mib: device
                .memory_info()
                .ok()
                .map(|memory| i64::try_from(memory.used / (1024 * 1024)).unwrap_or(i64::MAX)),
            power_milliwatts: device.power_usage().ok().map(i64::from),
            temperature_celsius: device
                .temperature(TemperatureSensor::Gpu)
                .ok()
                .and_then(|celsius| i32::try_from(celsius).ok()),
            pcie_kib_per_s: pcie(PcieUtilCounter::Send)
                .zip(pcie(PcieUtilCounter::Receive))
                .map(|(a, b)| a + b),
        })
    }

    fn gpu(&self, index: u32) -> anyhow::Result<GpuInfo> {
        let device = self.0.device_by_index(index)?;
        let memory = device.memory_info()?;
        // A card with uncorrectable memory errors still computes, wrongly.
        let sick = device
            .total_ecc_errors(
                nvml_wrapper::enum_wrappers::device::MemoryError::Uncorrected,
                nvml_wrapper::enum_wrappers::device::EccCounter::Volatile,
            )
            .ok()
            .filter(|errors| *errors > 0)
            .map(|errors| format!("{errors} uncorrectable memory errors since the driver was loaded"));
        Ok(GpuInfo {
            index,
            uuid: device.uuid()?,
            model: device.name()?,
            memory_mib: i64::try_from(memory.total / (1024 * 1024)).unwrap_or(i64::MAX),
            healthy: sick.is_none(),
            health_detail: sick,
        })
    }
}

impl GpuSource for NvmlGpus {
    fn discover(&self) -> anyhow::Result<Vec<GpuInfo>> {
        let count = self.0.device_count().context("NVML does not say how many GPUs there are")?;
        (0..count).map(|index| self.gpu(index).with_context(|| format!("GPU {index}"))).collect()
    }

    fn sample(&self, _: &BTreeMap<u32, Held>, _: DateTime<Utc>) -> anyhow::Result<Vec<GpuUse>> {
        let count = self.0.device_count().context("NVML does not say how many GPUs there are")?;
        // A card that has fallen off the bus tells nothing: its neighbours do.
        Ok((0..count).filter_map(|index| self.used(index)).collect())
    }
}
