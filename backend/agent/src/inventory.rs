//! What the node has, as it is told to the server.
//!
//! Refuses to report more than the owner allows: `--cpu` and `--memory-mib` set what jobs may have.

use crate::gpus::GpuSource;
use reeve_wire::PROTOCOL_VERSION;
use reeve_wire::join::Inventory;
use std::collections::BTreeMap;

/// What the owner says of the node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) topology: BTreeMap<String, String>,
    /// Cores and memory for jobs; `None` = all there is.
    pub(crate) cpu: Option<u32>,
    pub(crate) memory_mib: Option<u32>,
    pub(crate) rdma: bool,
}

/// Looks at the machine.
pub(crate) fn take(
    node_name: &str,
    description: &Description,
    gpus: &dyn GpuSource,
) -> anyhow::Result<Inventory> {
    let cores = description.cpu.map_or_else(
        || std::thread::available_parallelism().map_or(1, |count| i64::try_from(count.get()).unwrap_or(1)),
        i64::from,
    );
    let memory_mib = description.memory_mib.map_or_else(machine_memory_mib, i64::from);
    Ok(Inventory {
        node_name: node_name.to_owned(),
        protocol_version: PROTOCOL_VERSION,
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        cpu_milli: cores * 1_000,
        memory_mib,
        gpus: gpus.discover()?,
        labels: description.labels.clone(),
        topology: description.topology.clone(),
        nvlink: Vec::new(),
        rdma: description.rdma,
        datasets: Vec::new(),
    })
}

fn machine_memory_mib() -> i64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    i64::try_from(system.total_memory() / (1024 * 1024)).unwrap_or(i64::MAX)
}

/// A node's name as the server takes it: lower-case letters, digits, `-` and `.`, at most 63 characters.
pub(crate) fn parse_node_name(text: &str) -> Result<String, String> {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let inside = |c: char| edge(c) || c == '-' || c == '.';
    if (1..=63).contains(&text.len())
        && text.chars().all(inside)
        && text.starts_with(edge)
        && text.ends_with(edge)
    {
        Ok(text.to_owned())
    } else {
        Err("a name has 1 to 63 lower-case letters, digits, - and ., and begins and ends with a letter or digit".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_server_takes() {
        for good in ["n1", "gpu-07.rack2", "a", &"x".repeat(63)] {
            assert_eq!(parse_node_name(good).as_deref(), Ok(good));
        }
        for bad in ["", "N1", "-a", "a-", "a_b", "a b", "é", &"x".repeat(64)] {
            assert!(parse_node_name(bad).is_err(), "{bad}");
        }
    }
}
