//! GPUs that are not there, for trying Reeve and for tests: their UUIDs say so. They look as busy as the job on them says
//! by `REEVE_SIM_USE_PERMILLE` (thousandths), or as a training job usually does: nine tenths, with a pause of two minutes in
//! each half hour.

use super::source::{GpuSource, GpuUse, Held, SimulatedSpec};
use chrono::{DateTime, Utc};
use reeve_wire::join::GpuInfo;
use std::collections::BTreeMap;

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

    fn sample(&self, held: &BTreeMap<u32, Held>, now: DateTime<Utc>) -> anyhow::Result<Vec<GpuUse>> {
        Ok((0..self.spec.count).map(|index| self.used(index, held.get(&index), now)).collect())
    }
}

impl SimulatedGpus {
    fn used(&self, index: u32, held: Option<&Held>, now: DateTime<Utc>) -> GpuUse {
        let held = held.filter(|held| !held.members.is_empty());
        let compute = held.map_or(0, |held| held.simulated_permille.unwrap_or_else(|| usual(index, now)));
        let (idle_watts, most_watts) = (60, 400);
        let watts = idle_watts + (most_watts - idle_watts) * i64::from(compute) / 1_000;
        GpuUse {
            index,
            compute_permille: Some(compute),
            memory_used_mib: Some(if held.is_some() { self.spec.memory_mib * 7 / 10 } else { 4 }),
            power_milliwatts: Some(watts * 1_000),
            temperature_celsius: Some(32 + i32::try_from(compute / 25).unwrap_or(0)),
            pcie_kib_per_s: Some(i64::from(compute) * 1_024),
        }
    }
}

/// Nine tenths, give or take; two minutes of each half hour nothing, at another time on each GPU.
fn usual(index: u32, now: DateTime<Utc>) -> u32 {
    let seconds = now.timestamp() + i64::from(index) * 97;
    let wobble = u32::try_from(seconds.rem_euclid(60)).unwrap_or(0);
    if seconds.rem_euclid(1_800) < 120 { 0 } else { 870 + wobble }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reeve_wire::report::MemberKey;

    #[test]
    fn a_simulated_gpu_is_as_busy_as_its_job_says_and_idle_without_one() {
        let spec = SimulatedSpec { count: 3, model: "A100-80G".to_owned(), memory_mib: 81_920 };
        let gpus = SimulatedGpus::new("n0", spec);
        let key = MemberKey { job_id: uuid::Uuid::from_u128(1), run_number: 1, member: 0 };
        let on = |simulated_permille| Held { members: vec![key.clone()], simulated_permille };
        let held = BTreeMap::from([(1, on(Some(0))), (2, on(None))]);
        let at = DateTime::from_timestamp(1_000, 0).expect("a time");
        let used = gpus.sample(&held, at).expect("samples");
        let compute: Vec<u32> = used.iter().filter_map(|used| used.compute_permille).collect();
        assert_eq!((compute[0], compute[1]), (0, 0));
        assert!(compute[2] >= 870, "{compute:?}");
        assert_eq!(used[0].memory_used_mib, Some(4));
        assert_eq!(used[1].memory_used_mib, Some(57_344));
    }
}
