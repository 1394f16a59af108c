//! A server of a hundred lines: it speaks the wire's types, remembers what it hears, and desires what a test says.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use reeve_wire::desired::{Desired, DesiredMember, Order};
use reeve_wire::join::{Join, Joined, Register, Registered};
use reeve_wire::report::{LogStored, MemberKey, MemberReport, Report, Reported};
use reeve_wire::samples::{GpuSample, Samples, SamplesKept};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use uuid::Uuid;

pub(crate) const JOIN_TOKEN: &str = "reeve_join_test";
const CREDENTIAL: &str = "reeve_node_test-credential";

#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) generation: i64,
    /// The first node's, and (for many nodes) by credential.
    pub(crate) desired: Vec<DesiredMember>,
    pub(crate) reports: BTreeMap<MemberKey, MemberReport>,
    pub(crate) report_count: usize,
    pub(crate) registered: Vec<Register>,
    pub(crate) joined: BTreeSet<String>,
    pub(crate) logs: BTreeMap<MemberKey, Vec<u8>>,
    pub(crate) lease_secs: u32,
    /// Answer ends with "recorded", and drop them from what is desired.
    pub(crate) settle: bool,
    /// Answer this instead of what is desired, once.
    pub(crate) desired_once: Option<Desired>,
    /// Refuse reports and registrations: another instance took over.
    pub(crate) taken_over: bool,
    pub(crate) last_generation_reported: i64,
    pub(crate) samples: Vec<GpuSample>,
}

pub(crate) type Shared = Arc<Mutex<Heard>>;

/// The server and everything it has heard; dropping it closes every connection.
pub(crate) struct FakeServer {
    pub(crate) heard: Shared,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl FakeServer {
    pub(crate) fn start() -> Self {
        let heard = Heard { lease_secs: 60, settle: true, ..Heard::default() };
        let mut server = Self {
            heard: Arc::new(Mutex::new(heard)),
            address: "127.0.0.1:0".parse().unwrap(),
            runtime: None,
        };
        server.up();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Cuts every connection and refuses new ones.
    pub(crate) fn down(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
    }

    pub(crate) fn up(&mut self) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(async {
            let mut tries = 0;
            loop {
                match tokio::net::TcpListener::bind(self.address).await {
                    Ok(listener) => return listener,
                    Err(error) if tries > 100 => panic!("{error}"),
                    Err(_) => tries += 1,
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        self.address = listener.local_addr().unwrap();
        let router = router(self.heard.clone());
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        self.runtime = Some(runtime);
    }

    /// Changes what is desired, under a new generation.
    pub(crate) fn desire(&self, change: impl FnOnce(&mut Vec<DesiredMember>)) {
        let mut heard = self.heard.lock().unwrap();
        change(&mut heard.desired);
        heard.generation += 1;
    }

    /// The last that was reported of a member.
    pub(crate) fn member(&self, key: &MemberKey) -> Option<MemberReport> {
        self.heard.lock().unwrap().reports.get(key).cloned()
    }

    pub(crate) fn log(&self, key: &MemberKey) -> Vec<u8> {
        self.heard.lock().unwrap().logs.get(key).cloned().unwrap_or_default()
    }

    pub(crate) fn order(&self, key: &MemberKey, order: Order) {
        self.desire(|desired| {
            for member in desired.iter_mut().filter(|member| member.job_id == key.job_id) {
                member.order = order.clone();
            }
        });
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.down();
    }
}

fn router(heard: Shared) -> Router {
    Router::new()
        .route("/agent/v1/join", post(join))
        .route("/agent/v1/register", post(register))
        .route("/agent/v1/desired", get(desired))
        .route("/agent/v1/report", post(report))
        .route("/agent/v1/samples", post(samples))
        .route("/agent/v1/logs/{job}/{run}/{member}", put(store_log))
        .with_state(heard)
}

type Refusal = (StatusCode, Json<serde_json::Value>);

fn problem(status: StatusCode, detail: &str) -> Refusal {
    (status, Json(json!({"title": "refused", "detail": detail})))
}

fn check_credential(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if given.starts_with(&format!("Bearer {CREDENTIAL}")) {
        Ok(())
    } else {
        Err(problem(StatusCode::UNAUTHORIZED, "who are you?"))
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's server has a real clock")]
fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

async fn join(State(heard): State<Shared>, Json(join): Json<Join>) -> Response {
    if join.join_token != JOIN_TOKEN {
        return problem(StatusCode::UNAUTHORIZED, "this join token is not valid").into_response();
    }
    let mut heard = heard.lock().unwrap();
    if !heard.joined.insert(join.inventory.node_name.clone()) {
        return problem(StatusCode::CONFLICT, "a node of this name exists").into_response();
    }
    let node_id = Uuid::from_u128(rand::random());
    let credential = format!("{CREDENTIAL}-{}", join.inventory.node_name);
    Json(Joined { node_id, credential, pool: "test".into() }).into_response()
}

async fn register(
    State(heard): State<Shared>,
    headers: HeaderMap,
    Json(register): Json<Register>,
) -> Result<Response, Refusal> {
    check_credential(&headers)?;
    let mut heard = heard.lock().unwrap();
    if heard.taken_over {
        return Err(problem(StatusCode::CONFLICT, "another agent holds this node's lease"));
    }
    heard.registered.push(register);
    let registered = Registered {
        node_id: Uuid::nil(),
        server_version: "test".into(),
        server_time: now(),
        lease_secs: heard.lease_secs,
        lease_margin_secs: 30,
        heartbeat_secs: 1,
        log_limit_bytes: 64 * 1024 * 1024,
    };
    Ok(Json(registered).into_response())
}

#[derive(serde::Deserialize)]
struct Poll {
    generation: i64,
    wait_secs: u64,
}

async fn desired(
    State(heard): State<Shared>,
    headers: HeaderMap,
    Query(poll): Query<Poll>,
) -> Result<Response, Refusal> {
    check_credential(&headers)?;
    for _ in 0..poll.wait_secs * 50 {
        {
            let mut heard = heard.lock().unwrap();
            if let Some(desired) = heard.desired_once.take() {
                return Ok(Json(desired).into_response());
            }
            if heard.generation != poll.generation {
                let desired = Desired { generation: heard.generation, members: heard.desired.clone() };
                return Ok(Json(desired).into_response());
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(Json(Desired { generation: poll.generation, members: Vec::new() }).into_response())
}

async fn report(
    State(heard): State<Shared>,
    headers: HeaderMap,
    Json(report): Json<Report>,
) -> Result<Response, Refusal> {
    check_credential(&headers)?;
    let mut heard = heard.lock().unwrap();
    if heard.taken_over {
        return Err(problem(StatusCode::CONFLICT, "another instance took over"));
    }
    heard.report_count += 1;
    heard.last_generation_reported = report.generation;
    let mut settled = Vec::new();
    for member in report.members {
        let key = MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member };
        if member.end.is_some() && heard.settle {
            settled.push(key.clone());
            heard.desired.retain(|desired| desired.job_id != key.job_id || desired.member != key.member);
        }
        heard.reports.insert(key, member);
    }
    if !settled.is_empty() {
        heard.generation += 1;
    }
    let reported = Reported {
        server_time: now(),
        lease_secs: heard.lease_secs,
        lease_margin_secs: 30,
        settled,
        generation: heard.generation,
    };
    Ok(Json(reported).into_response())
}

async fn samples(
    State(heard): State<Shared>,
    headers: HeaderMap,
    Json(samples): Json<Samples>,
) -> Result<Response, Refusal> {
    check_credential(&headers)?;
    let kept = samples.samples.len() as u64;
    heard.lock().unwrap().samples.extend(samples.samples);
    Ok(Json(SamplesKept { kept, dropped: 0 }).into_response())
}

#[derive(serde::Deserialize)]
struct Offset {
    offset: usize,
}

async fn store_log(
    State(heard): State<Shared>,
    headers: HeaderMap,
    Path((job_id, run_number, member)): Path<(Uuid, u32, u32)>,
    Query(Offset { offset }): Query<Offset>,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    check_credential(&headers)?;
    assert!(bytes.len() <= 256 * 1024, "a chunk of {} bytes", bytes.len());
    let mut heard = heard.lock().unwrap();
    let log = heard.logs.entry(MemberKey { job_id, run_number, member }).or_default();
    if offset == log.len() {
        log.extend_from_slice(&bytes);
    } else if offset < log.len() && offset + bytes.len() > log.len() {
        let known = log.len() - offset;
        log.extend_from_slice(&bytes[known..]);
    } else {
        assert!(offset <= log.len(), "a gap: {offset} after {}", log.len());
    }
    Ok(Json(LogStored { next_offset: i64::try_from(log.len()).unwrap() }).into_response())
}
