//! Agents: joining, registering, reporting, desired state, logs.

use crate::app::App;
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) fn inventory(name: &str, gpus: u32) -> Value {
    let gpus: Vec<Value> = (0..gpus)
        .map(|index| {
            json!({"index": index, "uuid": format!("GPU-{name}-{index}"), "model": "A100-80G",
                   "memory_mib": 81_920, "healthy": true})
        })
        .collect();
    json!({"node_name": name, "protocol_version": 1, "agent_version": "0.1.0", "cpu_milli": 64_000,
           "memory_mib": 512_000, "gpus": gpus})
}

async fn join_token(app: &App) -> String {
    let reply = app.post(&app.admin, "/api/v1/join-tokens", json!({"pool": "a100"})).await.ok(201);
    reply["token"].as_str().expect("a token").to_owned()
}

/// A node that has joined and registered.
pub(crate) struct Node {
    pub(crate) credential: String,
    pub(crate) instance: Uuid,
}

pub(crate) async fn node(app: &App, name: &str, gpus: u32) -> Node {
    let token = join_token(app).await;
    let body = json!({"join_token": token, "inventory": inventory(name, gpus)});
    let joined = app.post("", "/agent/v1/join", body).await.ok(201);
    let node = Node {
        credential: joined["credential"].as_str().expect("a credential").to_owned(),
        instance: Uuid::from_u128(rand::random()),
    };
    register(app, &node, name, gpus).await.ok(200);
    node
}

async fn register(app: &App, node: &Node, name: &str, gpus: u32) -> crate::app::Reply {
    let now = reeve_core::clock::Clock::now(&app.clock);
    let body = json!({"instance_id": node.instance, "inventory": inventory(name, gpus), "sent_at": now});
    app.post(&node.credential, "/agent/v1/register", body).await
}

/// Reports every desired member as `state`.
pub(crate) async fn report_all(
    app: &App,
    node: &Node,
    sequence: i64,
    state: &str,
    end: Option<Value>,
) -> Value {
    let desired = app.get(&node.credential, "/agent/v1/desired").await.ok(200);
    let now = reeve_core::clock::Clock::now(&app.clock);
    let members: Vec<Value> = desired["members"]
        .as_array()
        .expect("members")
        .iter()
        .map(|member| {
            json!({"job_id": member["job_id"], "run_number": member["run_number"], "member": member["member"],
                   "state": state, "pid": 42, "started_at": now, "end": end})
        })
        .collect();
    let body = json!({"instance_id": node.instance, "sequence": sequence, "generation": desired["generation"],
                      "sent_at": now, "members": members});
    app.post(&node.credential, "/agent/v1/report", body).await.ok(200);
    desired
}

#[tokio::test]
async fn a_join_token_lets_in_as_often_as_it_says_and_a_wrong_one_never() {
    let app = App::new().await;
    app.teams().await;
    let token = join_token(&app).await;
    let body = |token: &str, name: &str| json!({"join_token": token, "inventory": inventory(name, 8)});
    app.post("", "/agent/v1/join", body("reeve_join_nonsense", "n1"))
        .await
        .problem(401, "join_token_refused");
    app.post("", "/agent/v1/join", body(&token, "Bad Name")).await.problem(422, "invalid_body");
    app.post("", "/agent/v1/join", body(&token, "n1")).await.ok(201);
    let used = app.post("", "/agent/v1/join", body(&token, "n2")).await.problem(401, "join_token_refused");
    assert!(used["detail"].as_str().expect("text").contains("used"), "{used}");
    let second = join_token(&app).await;
    app.post("", "/agent/v1/join", body(&second, "n1")).await.problem(409, "already_exists");
    app.clock.advance(chrono::TimeDelta::hours(2));
    let late = app.post("", "/agent/v1/join", body(&second, "n3")).await.problem(401, "join_token_refused");
    assert!(late["detail"].as_str().expect("text").contains("expired"), "{late}");
}

#[tokio::test]
async fn another_protocol_is_refused_with_both_versions() {
    let app = App::new().await;
    app.teams().await;
    let mut inventory = inventory("n1", 1);
    inventory["protocol_version"] = json!(9);
    let body = json!({"join_token": join_token(&app).await, "inventory": inventory});
    let problem = app.post("", "/agent/v1/join", body).await.problem(422, "protocol_mismatch");
    let detail = problem["detail"].as_str().expect("text");
    assert!(detail.contains('9') && detail.contains('1'), "{detail}");
}

#[tokio::test]
async fn credentials_open_only_their_own_side() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    app.get(&node.credential, "/api/v1/jobs").await.problem(401, "invalid_credential");
    app.get(&app.admin, "/agent/v1/desired").await.problem(401, "invalid_credential");
    app.get("", "/agent/v1/desired").await.problem(401, "unauthenticated");
    app.get("reeve_node_wrong", "/agent/v1/desired").await.problem(401, "invalid_credential");
}

#[tokio::test]
async fn a_second_agent_under_one_identity_is_refused_while_the_lease_runs() {
    let app = App::new().await;
    app.teams().await;
    let first = node(&app, "n1", 8).await;
    let second = Node { credential: first.credential.clone(), instance: Uuid::from_u128(rand::random()) };
    register(&app, &second, "n1", 8).await.problem(409, "instance_conflict");
    app.clock.advance(chrono::TimeDelta::seconds(61));
    register(&app, &second, "n1", 8).await.ok(200);
}

#[tokio::test]
async fn a_waiting_poll_is_woken_by_a_placement() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let before = app.get(&node.credential, "/agent/v1/desired").await.ok(200);
    assert_eq!(before["members"], json!([]));
    let path = format!("/agent/v1/desired?generation={}&wait_secs=20", before["generation"]);
    let began = std::time::Instant::now();
    let (after, ()) = tokio::join!(app.get(&node.credential, &path), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let body = json!({"name": "j", "team": "red", "command": ["sleep", "1"]});
        app.post(&app.admin, "/api/v1/jobs", body).await.ok(201);
        app.tick().await;
    });
    let after = after.ok(200);
    assert_eq!(after["members"].as_array().expect("members").len(), 1, "{after}");
    assert_eq!(after["members"][0]["order"]["order"], "run");
    assert_eq!(after["members"][0]["spec"]["gpu_indices"].as_array().expect("indices").len(), 1);
    assert!(began.elapsed().as_secs() < 15, "the poll ran into its time");
}

#[tokio::test]
async fn logs_are_kept_by_offset_and_read_by_tail_stretch_and_download() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let body = json!({"name": "j", "team": "red", "command": ["x"]});
    let id = app.post(&app.admin, "/api/v1/jobs", body).await.ok(201)["id"].as_str().expect("id").to_owned();
    let logs = format!("/api/v1/jobs/{id}/logs");
    let none = app.get(&app.admin, &logs).await;
    assert_eq!((none.status.as_u16(), none.bytes.len()), (200, 0), "a job that never ran has an empty log");
    app.tick().await;
    report_all(&app, &node, 1, "running", None).await;
    let put = async |offset: i64, text: &str| {
        let path = format!("/agent/v1/logs/{id}/1/0?offset={offset}");
        app.send(Method::PUT, &node.credential, &path, &[], Body::from(text.to_owned())).await
    };
    assert_eq!(put(0, "hello ").await.ok(200)["next_offset"], 6);
    assert_eq!(put(0, "hello ").await.ok(200)["next_offset"], 6, "a repeat changes nothing");
    assert_eq!(put(3, "lo world").await.ok(200)["next_offset"], 11, "what is known is skipped");
    let tail = app.get(&app.admin, &format!("{logs}?tail_bytes=5")).await;
    assert_eq!((tail.header("reeve-log-start"), tail.header("reeve-log-next")), ("6".into(), "11".into()));
    assert_eq!(tail.header("reeve-log-complete"), "false");
    assert_eq!(tail.bytes, b"world");
    let part = app.get(&app.admin, &format!("{logs}?offset=2&limit_bytes=4")).await;
    assert_eq!((part.bytes.as_slice(), part.header("reeve-log-next").as_str()), (&b"llo "[..], "6"));
    let whole = app.get(&app.admin, &format!("{logs}?download=true")).await;
    assert!(whole.header("content-disposition").starts_with("attachment"));
    assert_eq!(whole.bytes, b"hello world");
    app.get(&app.admin, &format!("{logs}?offset=1&tail_bytes=1")).await.problem(400, "invalid_query");
    app.get(&app.admin, &format!("{logs}?member=7")).await.problem(404, "not_found");
    let big = "x".repeat(256 * 1024 + 1);
    put(11, &big).await.problem(413, "payload_too_large");
    let other = format!("/agent/v1/logs/{}/1/0?offset=0", Uuid::nil());
    app.send(Method::PUT, &node.credential, &other, &[], Body::from("x")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_log_beyond_its_limit_loses_its_beginning_and_says_so() {
    use reeve_store::logs::{LogKey, append};
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let body = json!({"name": "j", "team": "red", "command": ["x"]});
    let id = app.post(&app.admin, "/api/v1/jobs", body).await.ok(201)["id"].as_str().expect("id").to_owned();
    app.tick().await;
    report_all(&app, &node, 1, "running", None).await;
    let key = LogKey { job: id.parse().expect("an id"), run: 1, member: 0 };
    let now = reeve_core::clock::Clock::now(&app.clock);
    for (offset, text) in [(0, "aaaaaaaaaa"), (10, "bbbbbbbbbb"), (20, "cccccccccc"), (50, "dddd")] {
        append(&app.store, key, offset, text.as_bytes(), 40, now).await.expect("kept");
    }
    let whole = app.get(&app.admin, &format!("/api/v1/jobs/{id}/logs?offset=0")).await;
    assert_eq!((whole.header("reeve-log-start"), whole.header("reeve-log-next")), ("10".into(), "54".into()));
    assert_eq!(
        String::from_utf8_lossy(&whole.bytes),
        "bbbbbbbbbbccccccccccdddd",
        "oldest gone, over the gap"
    );
}
