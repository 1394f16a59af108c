//! Runs after their members moved: start, stop the rest, or end, as [`reeve_core::lifecycle`] decides.
//!
//! Jobs are locked in id order before anything is read, so that two nodes' reports about one gang come one after the
//! other. What is confirmed gone is given back here and nowhere else.

use super::members::{self, Moved};
use crate::error::StoreError;
use crate::release;
use crate::row::{count, optional_word, word};
use crate::schedule::apply::bump;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::{NodeId, TeamId};
use reeve_core::job::{JobState, MemberState};
use reeve_core::lifecycle::{
    EndCause, EndKind, Finish, LeaveCause, MemberFact, RunFacts, Step, StopCause, decide,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// What the rest of a gang is told after one member failed or was lost: no checkpoint is of use.
const STOP: &str = "stop";

struct Run {
    job: Uuid,
    team: TeamId,
    number: i32,
    facts: RunFacts,
    /// How its members ended, as far as they have.
    ends: Vec<End>,
    /// It is not on record yet that it started, although every member has: one that ends at once is seen at its end first.
    starts: bool,
}

/// How a member ended.
#[derive(Debug, Clone)]
struct End {
    kind: EndKind,
    at: Option<DateTime<Utc>>,
    exit_code: Option<i32>,
    signal: Option<String>,
    detail: Option<String>,
}

impl Run {
    /// The end that is told of the whole: of the first that failed, or ran out of time, by itself; else the last one.
    fn told(&self) -> Option<&End> {
        let by_itself = |end: &&End| matches!(end.kind, EndKind::Failure | EndKind::TimedOut);
        let first = self.ends.iter().filter(by_itself).min_by_key(|end| end.at);
        first.or_else(|| self.ends.iter().max_by_key(|end| end.at))
    }
}

/// Writes what members have become, and lets their runs go on.
pub(super) async fn advance(tx: &mut WriteTx, node: NodeId, moved: &[Moved]) -> Result<(), StoreError> {
    let jobs: BTreeSet<Uuid> = moved.iter().map(|moved| moved.key.0).collect();
    let jobs: Vec<Uuid> = jobs.into_iter().collect();
    sqlx::query!("select id from jobs where id = any($1) order by id for update", &jobs)
        .fetch_all(tx.connection())
        .await?;
    members::write(tx.connection(), moved).await?;
    let run_ids: BTreeSet<Uuid> = moved.iter().map(|moved| moved.run_id).collect();
    let run_ids: Vec<Uuid> = run_ids.into_iter().collect();
    let runs = load(tx, &run_ids).await?;
    for moved in moved {
        let team = runs.get(&moved.run_id).map(|run| run.team);
        tx.record(NewEvent::new("member.reported", "job", moved.key.0).team(team).after(json!({
            "run_number": moved.key.1, "member": moved.key.2, "node_id": node, "state": moved.state,
            "checkpointed_at": moved.checkpointed_at, "end_kind": moved.end_kind, "exit_code": moved.exit_code,
            "signal": moved.signal, "end_detail": moved.end_detail,
        })));
    }
    for (&id, run) in &runs {
        let step = decide(&run.facts);
        if run.starts || step == Step::Started {
            started(tx, id, run).await?;
        }
        match step {
            Step::Nothing | Step::Started => {}
            Step::StopRest(cause) => stop_rest(tx, id, run, cause).await?,
            Step::Finished(finish) => finished(tx, id, run, finish).await?,
        }
    }
    if moved.iter().any(|moved| moved.state == MemberState::Ended) {
        let now = tx.now();
        release::release_ended(tx.connection(), &run_ids, now).await?;
        release::settle_evictions(tx.connection(), &jobs, now).await?;
        tx.wake_schedule();
    }
    Ok(())
}

/// Live runs with all their members.
async fn load(tx: &mut WriteTx, ids: &[Uuid]) -> Result<BTreeMap<Uuid, Run>, StoreError> {
    let rows = sqlx::query!(
        r#"select r.id, r.job_id, r.number, r.state, r.leave_cause, r.started_at, j.team_id, j.requeue,
                  j.failure_count, j.max_failures, m.state as member_state, m.started_at as member_started_at,
                  m.end_kind, m.stop_order, m.ended_at, m.exit_code, m.signal, m.end_detail
           from runs r join jobs j on j.id = r.job_id join members m on m.run_id = r.id
           where r.id = any($1) and r.ended_at is null order by r.id, m.member"#,
        ids
    )
    .fetch_all(tx.connection())
    .await?;
    let mut runs: BTreeMap<Uuid, Run> = BTreeMap::new();
    for row in rows {
        let state: MemberState = word(&row.member_state)?;
        let member = MemberFact {
            running: matches!(state, MemberState::Running | MemberState::Leaving),
            end: optional_word(row.end_kind.as_deref())?,
            told: row.stop_order.is_some(),
        };
        let member_started = row.member_started_at.is_some();
        let end = member.end.map(|kind| End {
            kind,
            at: row.ended_at,
            exit_code: row.exit_code,
            signal: row.signal,
            detail: row.end_detail,
        });
        if let Some(run) = runs.get_mut(&row.id) {
            run.ends.extend(end);
            run.facts.members.push(member);
            run.starts &= member_started;
            continue;
        }
        let starts = row.started_at.is_none() && member_started;
        let facts = RunFacts {
            state: word(&row.state)?,
            leave: row.leave_cause.as_deref().map(word::<LeaveCause>).transpose()?,
            members: vec![member],
            requeue: row.requeue,
            failure_count: count(row.failure_count)?,
            max_failures: count(row.max_failures)?,
        };
        let ends = Vec::from_iter(end);
        let run = Run { job: row.job_id, team: row.team_id.into(), number: row.number, facts, ends, starts };
        runs.insert(row.id, run);
    }
    Ok(runs)
}

/// All members have started: so has the gang, with the last of them. One that is leaving already goes on leaving.
async fn started(tx: &mut WriteTx, id: Uuid, run: &Run) -> Result<(), StoreError> {
    let now = tx.now();
    let started = sqlx::query!(
        r#"with run as (
             update runs r set state = case r.state when 'starting' then 'running' else r.state end,
                    started_at = coalesce(greatest((select max(m.started_at) from members m where m.run_id = r.id),
                                                   r.placed_at), $3)
             where r.id = $1 and r.started_at is null returning r.started_at
           )
           update jobs j set state = case j.state when 'starting' then 'running' else j.state end,
                  started_at = coalesce(j.started_at, run.started_at), version = j.version + 1, updated_at = $3
           from run where j.id = $2 returning j.state, run.started_at as "started_at!""#,
        id,
        run.job,
        now
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(started) = started else { return Ok(()) };
    tx.record(NewEvent::new("job.started", "job", run.job).team(run.team).after(json!({
        "state": started.state, "run_number": run.number, "started_at": started.started_at,
    })));
    Ok(())
}

/// The rest of the gang is told to stop; the job leaves until the last is confirmed gone.
async fn stop_rest(tx: &mut WriteTx, id: Uuid, run: &Run, cause: StopCause) -> Result<(), StoreError> {
    let now = tx.now();
    sqlx::query!(
        "with run as (update runs set state = 'leaving', leave_cause = $3, leave_by = $4 where id = $1)
         update jobs set state = 'leaving', version = version + 1, updated_at = $4 where id = $2",
        id,
        run.job,
        cause.as_str(),
        now
    )
    .execute(tx.connection())
    .await?;
    let nodes = sqlx::query_scalar!(
        "update members set stop_order = $2, stop_cause = $3, leave_by = $4,
                state = case state when 'running' then 'leaving' else state end
         where run_id = $1 and state <> 'ended' returning node_id",
        id,
        STOP,
        cause.as_str(),
        now
    )
    .fetch_all(tx.connection())
    .await?;
    bump(tx.connection(), &nodes).await?;
    tx.wake_nodes(nodes.into_iter().map(NodeId));
    tx.record(
        NewEvent::new("job.stopping", "job", run.job)
            .team(run.team)
            .after(json!({"state": "leaving", "cause": cause, "run_number": run.number})),
    );
    Ok(())
}

async fn finished(tx: &mut WriteTx, id: Uuid, run: &Run, finish: Finish) -> Result<(), StoreError> {
    let now = tx.now();
    let told = run.told();
    let (exit_code, signal) = told.map_or((None, None), |end| (end.exit_code, end.signal.clone()));
    let detail = told.and_then(|end| end.detail.clone());
    let cause = finish.cause.unwrap_or_else(|| EndCause::of_failure(exit_code, signal.is_some()));
    sqlx::query!(
        "update runs set state = $2, ended_at = greatest($3, placed_at), exit_code = $4, signal = $5,
                end_detail = coalesce(end_detail, $6)
         where id = $1 and ended_at is null",
        id,
        finish.run.as_str(),
        now,
        exit_code,
        signal,
        detail
    )
    .execute(tx.connection())
    .await?;
    let is_final = finish.job.is_final();
    let evicted = finish.run == reeve_core::job::RunState::Evicted;
    sqlx::query!(
        "update jobs set state = $2, finished_at = case when $3 then $4::timestamptz end,
                end_cause = case when $3 then $5 end, end_detail = case when $3 then $6 end,
                failure_count = failure_count + $7, eviction_count = eviction_count + $8,
                version = version + 1, updated_at = $4
         where id = $1",
        run.job,
        finish.job.as_str(),
        is_final,
        now,
        cause.as_str(),
        detail,
        i32::from(finish.counts_as_failure),
        i32::from(evicted)
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "update evictions set outcome = $3, vacated_at = $4 where job_id = $1 and run_number = $2 and outcome = 'leaving'",
        run.job,
        run.number,
        finish.eviction.as_str(),
        now
    )
    .execute(tx.connection())
    .await?;
    let action = match finish.job {
        JobState::Succeeded => "job.succeeded",
        JobState::Failed => "job.failed",
        JobState::Cancelled => "job.cancelled",
        _ => "job.requeued",
    };
    tx.record(NewEvent::new(action, "job", run.job).team(run.team).after(json!({
        "state": finish.job, "run_state": finish.run, "run_number": run.number, "cause": cause,
        "exit_code": exit_code, "signal": signal,
    })));
    tx.wake_schedule();
    Ok(())
}
