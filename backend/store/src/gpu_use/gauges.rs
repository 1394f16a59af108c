//! How every GPU is used now, for a monitoring system.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};

/// Most GPUs that a scrape tells of.
pub const MOST_GPUS: i64 = 10_000;

/// A GPU's newest sample. What its device does not tell is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuGauge {
    pub pool: String,
    pub node: String,
    pub index: i32,
    pub uuid: String,
    pub model: String,
    pub memory_mib: i64,
    pub compute_permille: Option<i16>,
    pub memory_used_mib: Option<i64>,
    pub power_milliwatts: Option<i64>,
    pub temperature_celsius: Option<i16>,
}

/// The newest sample of each GPU that has one since `since`, the first [`MOST_GPUS`] by pool, node and index.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn read(store: &Store, since: DateTime<Utc>) -> Result<Vec<GpuGauge>, StoreError> {
    Ok(sqlx::query_as!(
        GpuGauge,
        "select p.slug as pool, n.name as node, g.index, g.uuid, g.model, g.memory_mib, s.compute_permille,
                s.memory_used_mib, s.power_milliwatts, s.temperature_celsius
         from nodes n join pools p on p.id = n.pool_id join gpus g on g.node_id = n.id
         cross join lateral (
             select compute_permille, memory_used_mib, power_milliwatts, temperature_celsius from gpu_samples
             where gpu_id = g.id and at >= $1 order by at desc limit 1) s
         where n.state <> 'removed' order by p.slug, n.name, g.index limit $2",
        since,
        MOST_GPUS
    )
    .fetch_all(store.pool())
    .await?)
}
