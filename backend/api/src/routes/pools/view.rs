//! A pool as JSON.

use reeve_core::units::MilliGpu;
use reeve_store::pools::{Pool, PoolFigures, figures};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PoolView {
    pub(crate) id: Uuid,
    #[schema(example = "h100-80g")]
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) gpu_model: Option<String>,
    /// `normal` or `overcommitted`.
    pub(crate) mode: String,
    pub(crate) state: String,
    pub(crate) version: i64,
    pub(crate) capacity: PoolCapacity,
    pub(crate) nodes: PoolNodes,
    pub(crate) guaranteed_gpus: i64,
    pub(crate) pending_jobs: i64,
    pub(crate) pending_gpus: f64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PoolCapacity {
    pub(crate) gpus: f64,
    /// Healthy, on nodes that are ready.
    pub(crate) usable_gpus: f64,
    pub(crate) allocated_gpus: f64,
    pub(crate) free_gpus: f64,
    pub(crate) leaving_gpus: f64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PoolNodes {
    pub(crate) ready: i64,
    pub(crate) cordoned: i64,
    pub(crate) draining: i64,
    pub(crate) lost: i64,
}

pub(crate) async fn views(store: &Store, pools: Vec<Pool>) -> Result<Vec<PoolView>, StoreError> {
    let ids: Vec<Uuid> = pools.iter().map(|pool| pool.id).collect();
    let mut by_pool: BTreeMap<Uuid, PoolFigures> =
        figures(store, &ids).await?.into_iter().map(|figures| (figures.pool_id, figures)).collect();
    Ok(pools
        .into_iter()
        .map(|pool| {
            let figures = by_pool.remove(&pool.id).unwrap_or_default();
            view(pool, &figures)
        })
        .collect())
}

pub(crate) async fn one(store: &Store, pool: Pool) -> Result<PoolView, StoreError> {
    let figures = figures(store, &[pool.id]).await?.pop().unwrap_or_default();
    Ok(view(pool, &figures))
}

pub(crate) fn view(pool: Pool, figures: &PoolFigures) -> PoolView {
    PoolView {
        id: pool.id,
        slug: pool.slug,
        name: pool.name,
        gpu_model: pool.gpu_model,
        mode: pool.mode,
        state: pool.state,
        version: pool.version,
        capacity: PoolCapacity {
            gpus: MilliGpu(figures.gpu_milli).as_gpus(),
            usable_gpus: MilliGpu(figures.usable_milli).as_gpus(),
            allocated_gpus: MilliGpu(figures.usable_milli - figures.free_milli).as_gpus(),
            free_gpus: MilliGpu(figures.free_milli).as_gpus(),
            leaving_gpus: MilliGpu(figures.leaving_milli).as_gpus(),
        },
        nodes: PoolNodes {
            ready: figures.ready_nodes,
            cordoned: figures.cordoned_nodes,
            draining: figures.draining_nodes,
            lost: figures.lost_nodes,
        },
        guaranteed_gpus: figures.guaranteed_gpus,
        pending_jobs: figures.pending_jobs,
        pending_gpus: MilliGpu(figures.pending_milli).as_gpus(),
    }
}
