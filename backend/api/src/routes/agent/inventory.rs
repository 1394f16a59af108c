//! A machine's inventory from the wire into core's words.

use reeve_core::inventory::{Inventory, InventoryGpu};
use reeve_wire::join::{GpuInfo, Inventory as WireInventory};

/// The same inventory, not checked yet: see [`reeve_core::inventory::faults`].
pub(super) fn from_wire(wire: WireInventory) -> Inventory {
    Inventory {
        node_name: wire.node_name,
        agent_version: wire.agent_version,
        cpu_milli: wire.cpu_milli,
        memory_mib: wire.memory_mib,
        gpus: wire.gpus.into_iter().map(gpu).collect(),
        labels: wire.labels,
        topology: wire.topology,
        nvlink: wire.nvlink,
        rdma: wire.rdma,
        datasets: wire.datasets,
    }
}

fn gpu(gpu: GpuInfo) -> InventoryGpu {
    InventoryGpu {
        index: gpu.index,
        uuid: gpu.uuid,
        model: gpu.model,
        memory_mib: gpu.memory_mib,
        healthy: gpu.healthy,
        health_detail: gpu.health_detail,
    }
}
