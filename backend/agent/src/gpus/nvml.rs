//! NVIDIA GPUs by the driver's own library, loaded when the agent runs: it builds, and starts, without it.
//!
//! It reports each GPU whole: MIG instances and NVLink domains are not looked for.

use super::source::GpuSource;
use anyhow::Context;
use nvml_wrapper::Nvml;
use reeve_wire::join::GpuInfo;

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
}
