//! What a machine says it has when it joins or registers, checked before anything is kept.
//!
//! This module refuses to trust an agent: every number is bounded and every text is plain.

use crate::job_spec::Fault;
use std::collections::{BTreeMap, BTreeSet};

const MAX_GPUS: usize = 256;
const MAX_ENTRIES: usize = 64;
const MAX_CPU_MILLI: i64 = 10_000_000;
const MAX_MEMORY_MIB: i64 = 1 << 34;

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    pub node_name: String,
    pub agent_version: String,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub gpus: Vec<InventoryGpu>,
    pub labels: BTreeMap<String, String>,
    pub topology: BTreeMap<String, String>,
    pub nvlink: Vec<Vec<u32>>,
    pub rdma: bool,
    pub datasets: Vec<String>,
}

/// One of its GPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryGpu {
    pub index: u32,
    pub uuid: String,
    pub model: String,
    pub memory_mib: i64,
    pub healthy: bool,
    pub health_detail: Option<String>,
}

/// Everything that is wrong with an inventory; pointers are relative to it.
#[must_use]
pub fn faults(inventory: &Inventory) -> Vec<Fault> {
    let mut found = Vec::new();
    if !is_node_name(&inventory.node_name) {
        found.push(Fault::new(
            "/node_name",
            "bad_name",
            "a node's name has 1 to 63 lower-case letters, digits, '-' or '.', and starts and ends with a letter or digit",
        ));
    }
    plain("/agent_version", &inventory.agent_version, &mut found);
    bounded("/cpu_milli", inventory.cpu_milli, MAX_CPU_MILLI, &mut found);
    bounded("/memory_mib", inventory.memory_mib, MAX_MEMORY_MIB, &mut found);
    gpus(&inventory.gpus, &mut found);
    for (pointer, map) in [("/labels", &inventory.labels), ("/topology", &inventory.topology)] {
        if map.len() > MAX_ENTRIES {
            found.push(Fault::new(pointer, "too_many", format!("at most {MAX_ENTRIES} entries")));
        }
        for text in map.iter().take(MAX_ENTRIES).flat_map(|(key, value)| [key, value]) {
            plain(pointer, text, &mut found);
        }
    }
    if inventory.datasets.len() > 1_000 {
        found.push(Fault::new("/datasets", "too_many", "at most 1000 data sets"));
    }
    for dataset in inventory.datasets.iter().take(1_000) {
        plain("/datasets", dataset, &mut found);
    }
    found
}

fn gpus(gpus: &[InventoryGpu], found: &mut Vec<Fault>) {
    if gpus.len() > MAX_GPUS {
        found.push(Fault::new("/gpus", "too_many", format!("at most {MAX_GPUS} GPUs a node")));
        return;
    }
    let mut indices = BTreeSet::new();
    let mut uuids = BTreeSet::new();
    for (at, gpu) in gpus.iter().enumerate() {
        if !indices.insert(gpu.index) || !uuids.insert(&gpu.uuid) || gpu.index > 4_095 {
            found.push(Fault::new(
                format!("/gpus/{at}"),
                "duplicate",
                "each GPU has an index (at most 4095) and a UUID of its own",
            ));
        }
        plain(&format!("/gpus/{at}/uuid"), &gpu.uuid, found);
        plain(&format!("/gpus/{at}/model"), &gpu.model, found);
        if !(1..=1 << 22).contains(&gpu.memory_mib) {
            found.push(Fault::new(
                format!("/gpus/{at}/memory_mib"),
                "out_of_range",
                "a GPU has 1 to 4194304 MiB",
            ));
        }
    }
}

fn bounded(pointer: &str, value: i64, most: i64, found: &mut Vec<Fault>) {
    if !(0..=most).contains(&value) {
        found.push(Fault::new(pointer, "out_of_range", format!("give a whole number from 0 to {most}")));
    }
}

fn plain(pointer: &str, text: &str, found: &mut Vec<Fault>) {
    if text.is_empty() || text.chars().count() > 253 || text.chars().any(char::is_control) {
        found.push(Fault::new(pointer, "bad_value", "give 1 to 253 characters without control characters"));
    }
}

fn is_node_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=63).contains(&name.len())
        && name.chars().all(|c| inner(c) || c == '-' || c == '.')
        && name.starts_with(inner)
        && name.ends_with(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Inventory {
        Inventory {
            node_name: "gpu-1.rack".to_owned(),
            agent_version: "0.1.0".to_owned(),
            cpu_milli: 64_000,
            memory_mib: 512_000,
            gpus: vec![InventoryGpu {
                index: 0,
                uuid: "GPU-1".to_owned(),
                model: "A100-80G".to_owned(),
                memory_mib: 81_920,
                healthy: true,
                health_detail: None,
            }],
            labels: BTreeMap::new(),
            topology: BTreeMap::new(),
            nvlink: Vec::new(),
            rdma: false,
            datasets: Vec::new(),
        }
    }

    #[test]
    fn a_plain_machine_has_no_faults() {
        assert_eq!(faults(&good()), []);
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        let pointer = |change: fn(&mut Inventory)| {
            let mut inventory = good();
            change(&mut inventory);
            faults(&inventory).first().map(|fault| fault.pointer.clone())
        };
        assert_eq!(pointer(|i| i.node_name = "Bad_Name".into()).as_deref(), Some("/node_name"));
        assert_eq!(pointer(|i| i.cpu_milli = -1).as_deref(), Some("/cpu_milli"));
        assert_eq!(pointer(|i| i.gpus.push(i.gpus[0].clone())).as_deref(), Some("/gpus/1"));
        assert_eq!(pointer(|i| i.gpus[0].memory_mib = 0).as_deref(), Some("/gpus/0/memory_mib"));
        assert_eq!(pointer(|i| i.gpus[0].model = "a\0".into()).as_deref(), Some("/gpus/0/model"));
    }
}
