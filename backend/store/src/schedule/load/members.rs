//! Loads the members that hold something, by job: all, or those of the jobs that are named.

use crate::error::StoreError;
use crate::row::{count, optional_word};
use chrono::{DateTime, Utc};
use reeve_core::id::NodeId;
use reeve_core::schedule::snapshot::{GpuSlice, Leaving, Member};
use reeve_core::units::{Mib, MilliGpu};
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

struct SliceRow {
    run_id: Uuid,
    member: i32,
    gpu_id: Uuid,
    milli: i64,
    memory_mib: i64,
}

macro_rules! select_slices {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            SliceRow,
            "select h.run_id, h.member, h.gpu_id, h.milli, h.memory_mib from members m
             join member_gpus h on h.run_id = m.run_id and h.member = m.member
             join gpus g on g.id = h.gpu_id where m.released_at is null " + $rest
            $(, $argument)*
        )
    };
}

struct MemberRow {
    run_id: Uuid,
    member: i32,
    job_id: Uuid,
    node_id: Uuid,
    placed_at: DateTime<Utc>,
    stop_order: Option<String>,
    stop_cause: Option<String>,
    leave_by: Option<DateTime<Utc>>,
    evictor_job_id: Option<Uuid>,
}

macro_rules! select_members {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            MemberRow,
            r#"select m.run_id, m.member, m.job_id, m.node_id, m.placed_at, m.stop_order, m.stop_cause, m.leave_by,
                      c.evictor_job_id as "evictor_job_id?"
               from members m
               left join evictions e on e.job_id = m.job_id and e.run_number = m.run_number and e.outcome = 'leaving'
                    and m.member = any(e.members)
               left join reclaims c on c.id = e.reclaim_id and c.state = 'waiting'
               where m.released_at is null "# + $rest
            $(, $argument)*
        )
    };
}

pub(super) async fn load_members(
    connection: &mut PgConnection,
    of: Option<&[Uuid]>,
) -> Result<HashMap<Uuid, Vec<Member>>, StoreError> {
    let (held, rows) = match of {
        None => (
            select_slices!("order by h.run_id, h.member, g.index").fetch_all(&mut *connection).await?,
            select_members!("order by m.job_id, m.member, c.id").fetch_all(connection).await?,
        ),
        Some(jobs) => (
            select_slices!("and m.job_id = any($1) order by h.run_id, h.member, g.index", jobs)
                .fetch_all(&mut *connection)
                .await?,
            select_members!("and m.job_id = any($1) order by m.job_id, m.member, c.id", jobs)
                .fetch_all(connection)
                .await?,
        ),
    };
    let mut slices: HashMap<(Uuid, i32), Vec<GpuSlice>> = HashMap::new();
    for row in held {
        slices.entry((row.run_id, row.member)).or_default().push(GpuSlice {
            gpu: row.gpu_id.into(),
            milli: MilliGpu(row.milli),
            memory: Mib(row.memory_mib),
        });
    }
    let mut members: HashMap<Uuid, Vec<Member>> = HashMap::new();
    for row in rows {
        let of_job = members.entry(row.job_id).or_default();
        let index = count(row.member)?;
        // A member may be part of two evictions; one line of it is enough.
        if of_job.last().is_none_or(|last| last.index != index) {
            of_job.push(Member {
                index,
                node: NodeId(row.node_id),
                gpus: slices.remove(&(row.run_id, row.member)).unwrap_or_default(),
                started_at: row.placed_at,
                leaving: leaving(&row)?,
            });
        }
    }
    Ok(members)
}

fn leaving(row: &MemberRow) -> Result<Option<Leaving>, StoreError> {
    if row.stop_order.is_none() {
        return Ok(None);
    }
    Ok(Some(Leaving {
        leave_by: row.leave_by.unwrap_or(row.placed_at),
        // Causes that are no evictions (cancelled, a member failed, node lost) have no cause here.
        cause: optional_word(row.stop_cause.as_deref()).unwrap_or(None),
        evictor: row.evictor_job_id.map(Into::into),
    }))
}
