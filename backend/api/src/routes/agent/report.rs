//! `POST /agent/v1/report`: what is, and the heartbeat.

use super::credential::NodeCaller;
use crate::app::AppState;
use crate::extract::Json;
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use reeve_store::StoreError;
use reeve_store::report::receive::{MemberEnd, MemberReport, NodeReport, receive};
use reeve_wire::report::{MemberKey, MemberReport as WireMember, Report, Reported};

/// Most members in one report.
const MAX_MEMBERS: usize = 10_000;

/// Takes a report in and renews the lease. Repeats and late ones change nothing.
#[utoipa::path(post, path = "/agent/v1/report", operation_id = "agent_report", tag = "agent", request_body = Report,
    responses((status = 200, body = Reported), (status = 401, description = "not a node's credential"),
              (status = 409, description = "another instance holds the lease")))]
pub(crate) async fn report(
    State(app): State<AppState>,
    node: NodeCaller,
    Json(body): Json<Report>,
) -> Result<axum::Json<Reported>> {
    if body.members.len() > MAX_MEMBERS {
        let detail = format!("at most {MAX_MEMBERS} members");
        return Err(Problem::new(Code::InvalidBody).error("/members", "too_many", detail));
    }
    let context = node.context(&app);
    let (now, leases) = (context.now, app.settings.leases);
    let report = NodeReport {
        node: node.id,
        instance: body.instance_id,
        sequence: body.sequence,
        generation: body.generation,
        lease: leases.length(),
        clock_skew_ms: (body.sent_at - now).num_milliseconds(),
        members: body.members.into_iter().map(from_wire).collect::<Result<_>>()?,
    };
    let received = receive(&app.store, context, &report).await.map_err(refused)?;
    Ok(axum::Json(Reported {
        server_time: now,
        lease_secs: leases.lease_secs,
        lease_margin_secs: leases.margin_secs,
        settled: received.settled.into_iter().filter_map(key).collect(),
        generation: received.generation,
    }))
}

/// Its moments are by our clock already, as the agent reckons it: they are not moved by the skew of its own.
fn from_wire(member: WireMember) -> Result<MemberReport> {
    let small = |value: u32| {
        i32::try_from(value).map_err(|_| {
            Problem::new(Code::InvalidBody).error("/members", "out_of_range", "at most 2147483647")
        })
    };
    Ok(MemberReport {
        job_id: member.job_id,
        run_number: small(member.run_number)?,
        member: small(member.member)?,
        state: member.state,
        pid: member.pid,
        started_at: member.started_at,
        checkpointed_at: member.checkpointed_at,
        log_bytes: member.log_bytes,
        end: member.end.map(|end| MemberEnd {
            at: end.at,
            exit_code: end.exit_code,
            signal: end.signal,
            start_error: end.start_error,
            lease_lost: end.lease_lost,
            vanished: end.vanished,
            asked: end.asked,
            timed_out: end.timed_out,
        }),
    })
}

fn refused(error: StoreError) -> Problem {
    match error {
        StoreError::Conflict => Problem::new(Code::InstanceConflict)
            .detail("another agent runs under this node's identity: register again"),
        other => other.into(),
    }
}

fn key((job_id, run_number, member): (uuid::Uuid, i32, i32)) -> Option<MemberKey> {
    Some(MemberKey {
        job_id,
        run_number: u32::try_from(run_number).ok()?,
        member: u32::try_from(member).ok()?,
    })
}
