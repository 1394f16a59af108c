//! GPUs that are not there, for trying Reeve and for tests: their UUIDs say so.

use super::source::{GpuSource, SimulatedSpec};
use reeve_wire::join::GpuInfo;

#[derive(Debug)]
pub(crate) struct SimulatedGpus {
    node_name: String,
    spec: SimulatedSpec,
}

impl SimulatedGpus {
    pub(crate) fn new(node_name: &str, spec: SimulatedSpec) -> Self {
        Self { node_name: node_name.to_owned(), spec }
    }
}

impl GpuSource for SimulatedGpus {
    fn discover(&self) -> anyhow::Result<Vec<GpuInfo>> {
        Ok((0..self.spec.count)
            .map(|index| GpuInfo {
                index,
                uuid: format!("GPU-SIMULATED-{}-{index}", self.node_name),
                model: self.spec.model.clone(),
                memory_mib: self.spec.memory_mib,
                healthy: true,
                health_detail: None,
            })
            .collect())
    }
}
