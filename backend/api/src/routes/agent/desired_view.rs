//! What a node should run, from rows onto the wire.

use reeve_core::job::CheckpointMode;
use reeve_store::StoreError;
use reeve_store::nodes::desired::DesiredRow;
use reeve_store::row::{count, text_map, word};
use reeve_wire::desired::{DesiredMember, MemberSpec, Order};

/// Between TERM and KILL.
const KILL_AFTER_SECS: u32 = 30;

/// One member on the wire.
pub(super) fn member(row: DesiredRow) -> Result<DesiredMember, StoreError> {
    let checkpoint: CheckpointMode = word(&row.checkpoint)?;
    Ok(DesiredMember {
        job_id: row.job_id,
        run_number: count(row.run_number)?,
        member: count(row.member)?,
        order: order(&row, checkpoint),
        spec: MemberSpec {
            job_name: row.job_name,
            team: row.team,
            queue: row.queue,
            kind: row.kind,
            command: row.command,
            env: text_map(row.env)?,
            working_dir: row.working_dir,
            gpu_indices: row.gpu_indices.into_iter().map(count).collect::<Result<_, _>>()?,
            gpu_milli: row.gpu_milli,
            gpu_memory_mib: row.gpu_memory_mib,
            cpu_milli: row.cpu_milli,
            memory_mib: row.memory_mib,
            replicas: count(row.replicas)?,
            attempt: count(row.run_number)?,
            resume: row.resume,
            checkpoint,
            checkpoint_signal: row.checkpoint_signal,
            time_limit_secs: row.time_limit_secs,
        },
    })
}

fn order(row: &DesiredRow, checkpoint: CheckpointMode) -> Order {
    let cause = row.stop_cause.clone().unwrap_or_default();
    match (row.stop_order.as_deref(), row.leave_by) {
        (None, _) => Order::Run,
        (Some("leave"), Some(leave_by)) => Order::Leave {
            leave_by,
            checkpoint: checkpoint == CheckpointMode::OnSignal,
            cause,
            kill_after_secs: KILL_AFTER_SECS,
        },
        (Some(_), _) => Order::Stop { cause, kill_after_secs: KILL_AFTER_SECS },
    }
}
