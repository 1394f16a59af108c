//! What the agent asks of a source of GPUs, and the option that chooses one.

use super::{NvmlGpus, SimulatedGpus};
use chrono::{DateTime, Utc};
use reeve_wire::join::GpuInfo;
use reeve_wire::report::MemberKey;
use std::collections::BTreeMap;
use std::str::FromStr;

pub(crate) trait GpuSource: Send + Sync {
    /// Every GPU of the node, in the order of its index.
    fn discover(&self) -> anyhow::Result<Vec<GpuInfo>>;

    /// How each is used now. A device that does not tell is left out; `held` says who runs on which.
    fn sample(&self, held: &BTreeMap<u32, Held>, now: DateTime<Utc>) -> anyhow::Result<Vec<GpuUse>>;
}

/// Who runs on a GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) members: Vec<MemberKey>,
    /// How busy the job says that a simulated GPU should look, in thousandths.
    pub(crate) simulated_permille: Option<u32>,
}

/// One GPU's use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GpuUse {
    pub(crate) index: u32,
    pub(crate) compute_permille: Option<u32>,
    pub(crate) memory_used_mib: Option<i64>,
    pub(crate) power_milliwatts: Option<i64>,
    pub(crate) temperature_celsius: Option<i32>,
    pub(crate) pcie_kib_per_s: Option<i64>,
}

/// A node without GPUs.
#[derive(Debug)]
pub(crate) struct NoGpus;

impl GpuSource for NoGpus {
    fn discover(&self) -> anyhow::Result<Vec<GpuInfo>> {
        Ok(Vec::new())
    }

    fn sample(&self, _: &BTreeMap<u32, Held>, _: DateTime<Utc>) -> anyhow::Result<Vec<GpuUse>> {
        Ok(Vec::new())
    }
}

/// `simulated:8xA100-80G`, `nvml` or `none`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GpuSpec {
    Simulated(SimulatedSpec),
    Nvml,
    None,
}

/// `8xA100-80G`: how many, and a model whose name ends in its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimulatedSpec {
    pub(crate) count: u32,
    pub(crate) model: String,
    pub(crate) memory_mib: i64,
}

impl GpuSpec {
    /// The source for a node of this name.
    pub(crate) fn source(&self, node_name: &str) -> anyhow::Result<Box<dyn GpuSource>> {
        Ok(match self {
            Self::Simulated(spec) => Box::new(SimulatedGpus::new(node_name, spec.clone())),
            Self::Nvml => Box::new(NvmlGpus::load()?),
            Self::None => Box::new(NoGpus),
        })
    }
}

impl FromStr for GpuSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("simulated", spec)) => spec.parse().map(Self::Simulated),
            None if text == "nvml" => Ok(Self::Nvml),
            None if text == "none" => Ok(Self::None),
            _ => Err("expected simulated:8xA100-80G, nvml or none".to_owned()),
        }
    }
}

impl FromStr for SimulatedSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: u32 = 64;
        let shape =
            || format!("{text:?}: expected a number of GPUs and a model with its memory, like 8xA100-80G");
        let (count, model) = text.split_once('x').ok_or_else(shape)?;
        let count: u32 = count.parse().map_err(|_| shape())?;
        if !(1..=MOST).contains(&count) {
            return Err(format!("{count} GPUs: expected 1 to {MOST}"));
        }
        let (_, memory) = model.rsplit_once('-').ok_or_else(shape)?;
        let gib: i64 = memory
            .strip_suffix("GB")
            .or_else(|| memory.strip_suffix('G'))
            .and_then(|digits| digits.parse().ok())
            .filter(|gib| (1..=4096).contains(gib))
            .ok_or_else(shape)?;
        Ok(Self { count, model: model.to_owned(), memory_mib: gib * 1024 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_number_model_and_memory() {
        let spec: GpuSpec = "simulated:8xA100-80G".parse().unwrap();
        let expected = SimulatedSpec { count: 8, model: "A100-80G".into(), memory_mib: 81_920 };
        assert_eq!(spec, GpuSpec::Simulated(expected));
        assert_eq!("nvml".parse(), Ok(GpuSpec::Nvml));
        assert_eq!("none".parse(), Ok(GpuSpec::None));
        for bad in [
            "",
            "simulated",
            "simulated:",
            "simulated:8",
            "simulated:0xA100-80G",
            "simulated:-1xA100-80G",
            "simulated:65xA100-80G",
            "simulated:8xA100",
            "simulated:8xA100-0G",
            "simulated:8xA100-xG",
            "cuda",
        ] {
            assert!(bad.parse::<GpuSpec>().is_err(), "{bad}");
        }
    }
}
