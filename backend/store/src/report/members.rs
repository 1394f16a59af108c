//! Members against a report: which moved forward, which are gone, which nobody wants there any more.
//!
//! States only move forward, and a report is about its run's number only: a late one changes nothing.

use super::receive::{MemberReport, NodeReport};
use crate::error::StoreError;
use crate::row::word;
use chrono::{DateTime, Utc};
use reeve_core::job::{CheckpointMode, MemberState};
use reeve_core::lifecycle::{EndKind, ReportedEnd, end_kind};
use sqlx::PgConnection;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A member as the database has it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) run_id: Uuid,
    pub(super) state: MemberState,
    pub(super) stop_order: Option<String>,
    pub(super) leave_by: Option<DateTime<Utc>>,
    pub(super) placed_at: DateTime<Utc>,
    pub(super) started_at: Option<DateTime<Utc>>,
    pub(super) checkpointed_at: Option<DateTime<Utc>>,
    pub(super) checkpoint: CheckpointMode,
}

/// (job, run number, member): how reports name members.
pub(super) type Key = (Uuid, i32, i32);

/// A member's new facts.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    pub(super) key: Key,
    pub(super) run_id: Uuid,
    pub(super) state: MemberState,
    pub(super) pid: Option<i64>,
    pub(super) started_at: Option<DateTime<Utc>>,
    pub(super) checkpointed_at: Option<DateTime<Utc>>,
    pub(super) ended_at: Option<DateTime<Utc>>,
    pub(super) end_kind: Option<EndKind>,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<String>,
    pub(super) end_detail: Option<String>,
    pub(super) log_bytes: Option<i64>,
}

/// What a report comes to.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) moved: Vec<Moved>,
    /// Ends that are, or will be, on record: the agent may forget them.
    pub(super) settled: Vec<Key>,
    /// Processes that live although nobody wants them.
    pub(super) strays: i32,
}

/// The node's live members and those that the report names.
pub(super) async fn known(
    connection: &mut PgConnection,
    report: &NodeReport,
) -> Result<BTreeMap<Key, Known>, StoreError> {
    let jobs: BTreeSet<Uuid> = report.members.iter().map(|member| member.job_id).collect();
    let jobs: Vec<Uuid> = jobs.into_iter().collect();
    let rows = sqlx::query!(
        "select m.run_id, m.job_id, m.run_number, m.member, m.state, m.stop_order, m.leave_by, m.placed_at,
                m.started_at, m.checkpointed_at, j.checkpoint
         from members m join jobs j on j.id = m.job_id
         where m.node_id = $1 and (m.state <> 'ended' or m.job_id = any($2))",
        report.node.0,
        &jobs
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let known = Known {
                run_id: row.run_id,
                state: word(&row.state)?,
                stop_order: row.stop_order,
                leave_by: row.leave_by,
                placed_at: row.placed_at,
                started_at: row.started_at,
                checkpointed_at: row.checkpointed_at,
                checkpoint: word(&row.checkpoint)?,
            };
            Ok(((row.job_id, row.run_number, row.member), known))
        })
        .collect()
}

/// Holds a report against what is known.
pub(super) fn compare(
    report: &NodeReport,
    known: &BTreeMap<Key, Known>,
    generation: i64,
    now: DateTime<Utc>,
) -> Compared {
    let mut compared = Compared::default();
    let mut named = BTreeSet::new();
    for member in &report.members {
        let key = (member.job_id, member.run_number, member.member);
        named.insert(key);
        let ended = member.state == MemberState::Ended;
        match known.get(&key).filter(|known| known.state != MemberState::Ended) {
            Some(known) => {
                if let Some(moved) = forward(key, known, member, now) {
                    compared.moved.push(moved);
                }
                if ended {
                    compared.settled.push(key);
                }
            }
            None if ended => compared.settled.push(key),
            None => compared.strays += 1,
        }
    }
    for (key, known) in known.iter().filter(|(key, _)| !named.contains(key)) {
        if let Some(kind) = silence_means(known, report.generation >= generation) {
            compared.moved.push(gone(*key, known, kind, now));
        }
    }
    compared
}

/// A member that the agent does not speak of. One that it had confirmed before has vanished with the agent's memory;
/// one that was told to go before it was ever started never was.
fn silence_means(known: &Known, up_to_date: bool) -> Option<EndKind> {
    match known.state {
        MemberState::Ended => None,
        MemberState::Assigned => (known.stop_order.is_some() && up_to_date).then_some(EndKind::Left),
        MemberState::Starting | MemberState::Running | MemberState::Leaving => Some(EndKind::Lost),
    }
}

fn gone(key: Key, known: &Known, kind: EndKind, now: DateTime<Utc>) -> Moved {
    Moved {
        key,
        run_id: known.run_id,
        state: MemberState::Ended,
        pid: None,
        started_at: known.started_at,
        checkpointed_at: known.checkpointed_at,
        ended_at: Some(now),
        end_kind: Some(kind),
        exit_code: None,
        signal: None,
        end_detail: Some(if kind == EndKind::Lost { "vanished" } else { "never started" }.to_owned()),
        log_bytes: None,
    }
}

/// The member's new facts, if there are any. `leaving` is set when a member is told to go, so a report of `running`
/// after that is no step back worth telling.
fn forward(key: Key, known: &Known, member: &MemberReport, now: DateTime<Utc>) -> Option<Moved> {
    let state = member.state.max(known.state);
    let earliest = known.placed_at.min(now);
    let told = member.checkpointed_at.map(|at| at.clamp(earliest, now));
    let checkpointed_at = told.max(known.checkpointed_at);
    let end = member.end.as_ref();
    let ended = state == MemberState::Ended;
    let ended_at = ended.then(|| end.map_or(now, |end| end.at.clamp(earliest, now)));
    let started_at = known.started_at.or_else(|| started(known, member, ended_at.unwrap_or(now)));
    let news =
        state != known.state || checkpointed_at != known.checkpointed_at || started_at != known.started_at;
    if !news {
        return None;
    }
    let kind = ended.then(|| {
        end_kind(&ReportedEnd {
            exit_code: end.and_then(|end| end.exit_code),
            never_started: end.is_some_and(|end| end.start_error.is_some()),
            lost: end.is_none_or(|end| end.lease_lost || end.vanished),
            timed_out: end.is_some_and(|end| end.timed_out),
            asked: end.is_some_and(|end| end.asked) && known.stop_order.is_some(),
            within_grace: known.stop_order.as_deref() == Some("leave")
                && known.leave_by.is_some_and(|by| end.is_some_and(|end| end.at < by)),
            checkpoint: known.checkpoint,
        })
    });
    Some(Moved {
        key,
        run_id: known.run_id,
        state,
        pid: member.pid,
        started_at,
        checkpointed_at,
        ended_at,
        end_kind: kind,
        exit_code: end.and_then(|end| end.exit_code),
        signal: end.and_then(|end| end.signal.clone()),
        end_detail: end.and_then(detail),
        log_bytes: member.log_bytes,
    })
}

/// When its process started: not before it was placed and not after `latest`, whatever the agent's clock says. One that
/// had an end of its own has started, at that end at the latest; one that could not be started never has.
fn started(known: &Known, member: &MemberReport, latest: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let end = member.end.as_ref();
    if end.is_some_and(|end| end.start_error.is_some()) {
        return None;
    }
    let ran = end.is_some_and(|end| end.exit_code.is_some() || end.signal.is_some());
    let at = member.started_at.or(ran.then_some(latest))?;
    Some(at.clamp(known.placed_at.min(latest), latest))
}

fn detail(end: &super::receive::MemberEnd) -> Option<String> {
    if let Some(error) = &end.start_error {
        return Some(error.chars().take(2_000).collect());
    }
    [(end.lease_lost, "lease lost"), (end.vanished, "vanished"), (end.timed_out, "over its time limit")]
        .into_iter()
        .find_map(|(applies, text)| applies.then(|| text.to_owned()))
}

/// Writes the new facts; a member that moved on meanwhile is left alone.
///
/// A checkpoint is the answer to an eviction if it was not written before: within seconds, because the moment is the
/// agent's reckoning of our clock, and a busy machine's is late. One that counts is never shown as older than the notice.
pub(super) async fn write(connection: &mut PgConnection, moved: &[Moved]) -> Result<(), StoreError> {
    let rows: Vec<serde_json::Value> = moved
        .iter()
        .map(|moved| {
            serde_json::json!({
                "run_id": moved.run_id, "member": moved.key.2, "state": moved.state, "pid": moved.pid,
                "started_at": moved.started_at, "checkpointed_at": moved.checkpointed_at, "ended_at": moved.ended_at,
                "end_kind": moved.end_kind, "exit_code": moved.exit_code, "signal": moved.signal,
                "end_detail": moved.end_detail, "log_bytes": moved.log_bytes,
            })
        })
        .collect();
    sqlx::query!(
        "with moved as (
             update members m
             set state = case when n.state = 'running' and m.state = 'leaving' then m.state else n.state end, pid = coalesce(n.pid, m.pid), started_at = n.started_at,
                    checkpointed_at = n.checkpointed_at, ended_at = n.ended_at, end_kind = n.end_kind,
                    exit_code = n.exit_code, signal = n.signal, end_detail = n.end_detail,
                    log_bytes = coalesce(n.log_bytes, m.log_bytes)
             from jsonb_to_recordset($1::jsonb) as n(
                    run_id uuid, member integer, state text, pid bigint, started_at timestamptz,
                    checkpointed_at timestamptz, ended_at timestamptz, end_kind text, exit_code integer, signal text,
                    end_detail text, log_bytes bigint)
             where m.run_id = n.run_id and m.member = n.member and m.state <> 'ended'
             returning m.job_id, m.run_number, m.member, m.checkpointed_at
         ), saved as (
             update jobs j set last_checkpoint_at = greatest(j.last_checkpoint_at, c.at)
             from (select job_id, max(checkpointed_at) as at from moved group by job_id) c
             where j.id = c.job_id and c.at is not null
         )
         update evictions e set checkpointed_at = coalesce(e.checkpointed_at, greatest(n.checkpointed_at, e.notified_at)) from moved n
         where e.job_id = n.job_id and e.run_number = n.run_number and e.outcome = 'leaving'
           and n.checkpointed_at >= e.notified_at - interval '5 seconds'",
        serde_json::Value::Array(rows)
    )
    .execute(connection)
    .await?;
    Ok(())
}
