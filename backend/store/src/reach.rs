//! The biggest that each pool offers: a fact for admitting a submission. It says nothing of what is free.

use crate::connect::Store;
use crate::error::StoreError;
use reeve_core::job_spec::admit::PoolReach;
use uuid::Uuid;

/// A pool's reach with its id.
#[derive(Debug, Clone)]
pub struct Reach {
    pub pool_id: Uuid,
    pub reach: PoolReach,
}

/// Every active pool's reach, over nodes that are not removed.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn pools(store: &Store) -> Result<Vec<Reach>, StoreError> {
    let rows = sqlx::query!(
        r#"select p.id, p.slug,
                  coalesce(array_agg(distinct m.model) filter (where m.model is not null), '{}') as "models!",
                  coalesce(sum(m.gpus), 0)::bigint as "gpus!", coalesce(max(m.gpus), 0)::bigint as "most_gpus!",
                  coalesce(max(m.cpu_milli), 0) as "most_cpu!", coalesce(max(m.memory_mib), 0) as "most_memory!",
                  coalesce(max(m.gpu_memory_mib), 0) as "most_gpu_memory!"
           from pools p
           left join lateral (
             select n.id, n.cpu_milli, n.memory_mib, min(g.model) as model, count(g.id) as gpus,
                    max(g.memory_mib) as gpu_memory_mib
             from nodes n left join gpus g on g.node_id = n.id
             where n.pool_id = p.id and n.state <> 'removed'
             group by n.id
           ) m on true
           where p.state = 'active' group by p.id order by p.slug"#
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Reach {
            pool_id: row.id,
            reach: PoolReach {
                slug: row.slug,
                models: row.models.into_iter().collect(),
                gpus: row.gpus,
                most_gpus_a_node: row.most_gpus,
                most_cpu_milli: row.most_cpu,
                most_memory_mib: row.most_memory,
                most_gpu_memory_mib: row.most_gpu_memory,
            },
        })
        .collect())
}
