//! How much a submission asks for: GPUs, cpu, memory, members.

use super::fault::Faults;
use super::raw::RawJob;
use crate::job::{GpuAsk, Shape};
use crate::units::{Mib, MilliCpu, MilliGpu};

/// Most GPUs one member may ask for.
pub const MAX_GPUS: i64 = 1_024;
/// Most members of a gang.
pub const MAX_REPLICAS: i64 = 10_000;
const MAX_CPU_MILLI: i64 = 10_000_000;
const MAX_MEMORY_MIB: i64 = 1 << 30;
const MAX_GPU_MEMORY_MIB: i64 = 1 << 22;

/// The fewest and most members of the gang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replicas {
    pub min: u32,
    pub max: u32,
}

/// What each member asks for. Faults are noted; the result is then not used.
pub fn shape(raw: &RawJob, faults: &mut Faults) -> Shape {
    let cpu = faults.optional("/cpu_milli", raw.cpu_milli.as_ref(), 0, MAX_CPU_MILLI).unwrap_or(0);
    let memory = faults.optional("/memory_mib", raw.memory_mib.as_ref(), 0, MAX_MEMORY_MIB).unwrap_or(0);
    Shape { gpus: gpu_ask(raw, cpu, faults), cpu: MilliCpu(cpu), memory: Mib(memory) }
}

fn gpu_ask(raw: &RawJob, cpu: i64, faults: &mut Faults) -> GpuAsk {
    let gpus = match &raw.gpus {
        None => Some(1),
        Some(number) => faults.whole("/gpus", number, 0, MAX_GPUS),
    };
    let milli = faults.optional("/gpu_milli", raw.gpu_milli.as_ref(), 1, 1_000);
    let memory = faults.optional("/gpu_memory_mib", raw.gpu_memory_mib.as_ref(), 0, MAX_GPU_MEMORY_MIB);
    let Some(devices) = gpus.and_then(|gpus| u32::try_from(gpus).ok()) else { return GpuAsk::None };
    if devices == 0 {
        no_gpus(raw, cpu, faults);
        return GpuAsk::None;
    }
    match milli {
        Some(milli) if milli < 1_000 => {
            GpuAsk::Share { devices, milli: MilliGpu(milli), memory: Mib(memory.unwrap_or(0)) }
        }
        _ => {
            if raw.gpu_memory_mib.is_some() {
                faults.add(
                    "/gpu_memory_mib",
                    "needs_a_share",
                    "gpu_memory_mib belongs to a share of a GPU: give gpu_milli below 1000 as well, or leave it \
                     out (a whole GPU brings all its memory; gpu_model picks cards of a size)",
                );
            }
            GpuAsk::Whole { gpus: devices }
        }
    }
}

fn no_gpus(raw: &RawJob, cpu: i64, faults: &mut Faults) {
    if cpu == 0 && raw.cpu_milli.as_ref().is_none_or(|number| number.as_i64() == Some(0)) {
        faults.add(
            "/gpus",
            "asks_for_nothing",
            "gpus 0 makes a CPU-only job, which must say how much it needs: give cpu_milli above 0, or ask for \
             gpus of at least 1",
        );
    }
    for (pointer, given) in
        [("/gpu_milli", raw.gpu_milli.is_some()), ("/gpu_memory_mib", raw.gpu_memory_mib.is_some())]
    {
        if given {
            faults.add(
                pointer,
                "needs_gpus",
                "a CPU-only job (gpus 0) has no share of a GPU: leave this out",
            );
        }
    }
}

/// How many members: `replicas` alone fixes both ends; `min_replicas` and `max_replicas` make it elastic.
pub fn replicas(raw: &RawJob, faults: &mut Faults) -> Replicas {
    let given = faults.optional("/replicas", raw.replicas.as_ref(), 1, MAX_REPLICAS);
    let min = faults.optional("/min_replicas", raw.min_replicas.as_ref(), 1, MAX_REPLICAS);
    let max = faults.optional("/max_replicas", raw.max_replicas.as_ref(), 1, MAX_REPLICAS);
    let least = min.or(given).unwrap_or(1);
    let most = max.or(given).unwrap_or(least);
    if most < least {
        faults.add(
            "/max_replicas",
            "below_minimum",
            format!("at most {most} members are fewer than at least {least}: raise max_replicas or lower min_replicas"),
        );
    } else if let Some(given) = given.filter(|given| !(least..=most).contains(given)) {
        faults.add(
            "/replicas",
            "outside_range",
            format!("replicas {given} lies outside min_replicas..max_replicas ({least}..{most}): leave replicas out"),
        );
    }
    let clamp = |value: i64| u32::try_from(value).unwrap_or(1);
    Replicas { min: clamp(least), max: clamp(most) }
}
