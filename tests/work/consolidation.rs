//! Jobs that move to make room: from the plan to both running.

use crate::agents::{Node, node, report_all};
use crate::app::App;
use axum::http::Method;
use serde_json::{Value, json};

fn job(name: &str, gpus: i64) -> Value {
    json!({"name": name, "team": "red", "gpus": gpus, "kind": "batch", "command": ["x"], "checkpoint": "on_signal"})
}

async fn submit(app: &App, name: &str, gpus: i64) -> String {
    let made = app.post(&app.admin, "/api/v1/jobs", job(name, gpus)).await.ok(201);
    app.tick().await;
    made["id"].as_str().expect("id").to_owned()
}

async fn cordon(app: &App, verb: &str) {
    let tag = app.get(&app.admin, "/api/v1/nodes/n1").await.header("etag");
    let path = format!("/api/v1/nodes/n1/{verb}");
    app.with(Method::POST, &app.admin, &path, &[("if-match", &tag)], json!({})).await.ok(200);
}

async fn set_consolidation(app: &App, mode: Value) -> crate::app::Reply {
    let shown = app.get(&app.admin, "/api/v1/policy").await;
    let tag = shown.header("etag");
    let mut document = shown.ok(200)["document"].clone();
    assert_eq!(document["consolidation"], json!({"mode": "off"}), "off unless wanted");
    document["consolidation"] = mode;
    app.with(Method::PUT, &app.admin, "/api/v1/policy", &[("if-match", &tag)], document).await
}

/// Two nodes of four GPUs with a job of one GPU on each, older than any minimum run time.
async fn scattered(app: &App) -> ([Node; 2], [String; 2]) {
    app.teams().await;
    let n1 = node(app, "n1", 4).await;
    let x = submit(app, "x", 1).await;
    report_all(app, &n1, 1, "running", None).await;
    cordon(app, "cordon").await;
    let n2 = node(app, "n2", 4).await;
    let y = submit(app, "y", 1).await;
    report_all(app, &n2, 1, "running", None).await;
    cordon(app, "uncordon").await;
    app.clock.advance(chrono::TimeDelta::minutes(11));
    report_all(app, &n1, 2, "running", None).await;
    report_all(app, &n2, 2, "running", None).await;
    ([n1, n2], [x, y])
}

async fn state(app: &App, id: &str) -> Value {
    app.get(&app.admin, &format!("/api/v1/jobs/{id}")).await.ok(200)["state"].clone()
}

#[tokio::test]
async fn a_move_ends_with_both_running() {
    let app = App::new().await;
    let (nodes, placed) = scattered(&app).await;
    set_consolidation(&app, json!({"mode": "on", "max_moves_per_hour": 1})).await.ok(200);
    let big = submit(&app, "big", 4).await;

    let evictions = app.get(&app.admin, "/api/v1/evictions?cause=consolidation").await.ok(200);
    assert_eq!(evictions["items"].as_array().expect("items").len(), 1, "{evictions}");
    let eviction = &evictions["items"][0];
    let mover = eviction["job"]["id"].as_str().expect("id").to_owned();
    let from = placed.iter().position(|id| *id == mover).expect("one of the two");
    let home = ["n2", "n1"][from];
    assert_eq!(eviction["why"]["evictor_job"]["id"], big.as_str());
    assert!(eviction["why"]["rule"].as_str().expect("rule").starts_with("5.10"), "{eviction}");
    assert_eq!(eviction["why"]["moves_to"][0]["name"], home);
    assert!(eviction["why"]["sentence"]["en"].as_str().expect("en").contains("runs again"), "{eviction}");
    let explained = app.get(&app.admin, &format!("/api/v1/jobs/{big}/explain")).await.ok(200);
    assert_eq!(explained["verdict"]["code"], "waiting_for_evictions", "{explained}");
    assert_eq!(explained["evictions_awaited"][0]["job"]["id"], mover.as_str(), "{explained}");

    // The same plan again, and a job that would like the home: nobody gets it.
    let late = submit(&app, "late", 3).await;
    assert_eq!(state(&app, &late).await, "queued");
    assert_eq!(state(&app, &mover).await, "leaving");
    let now = reeve_core::clock::Clock::now(&app.clock);
    let end = json!({"at": now, "exit_code": 0, "asked": true});
    report_all(&app, &nodes[from], 3, "ended", Some(end)).await;
    assert_eq!(state(&app, &mover).await, "queued");
    app.tick().await;
    for node in &nodes {
        report_all(&app, node, 4, "running", None).await;
    }
    for id in [&placed[0], &placed[1], &big] {
        assert_eq!(state(&app, id).await, "running");
    }
    let runs = app.get(&app.admin, &format!("/api/v1/jobs/{mover}")).await.ok(200);
    assert_eq!(runs["run_number"], 2, "{runs}");
    let waiting = app.get(&app.admin, "/api/v1/reclaims?state=waiting").await.ok(200);
    assert_eq!(waiting["items"], json!([]), "no promise is left");
    app.tick().await;
    let evictions = app.get(&app.admin, "/api/v1/evictions?cause=consolidation").await.ok(200);
    assert_eq!(evictions["items"].as_array().expect("items").len(), 1, "nobody moves twice");
}

#[tokio::test]
async fn nobody_moves_unless_the_policy_says_so() {
    let app = App::new().await;
    let (_nodes, placed) = scattered(&app).await;
    let big = submit(&app, "big", 4).await;
    let explained = app.get(&app.admin, &format!("/api/v1/jobs/{big}/explain")).await.ok(200);
    assert_eq!(explained["verdict"]["code"], "fragmented", "{explained}");
    for id in &placed {
        assert_eq!(state(&app, id).await, "running");
    }
    set_consolidation(&app, json!({"mode": "sometimes"})).await.faults("invalid_body");
    set_consolidation(&app, json!({"mode": "on", "max_moves_per_hour": -1})).await.faults("invalid_body");
    set_consolidation(&app, json!({"mode": "on", "max_moves_per_hour": 0})).await.ok(200);
    app.tick().await;
    let evictions = app.get(&app.admin, "/api/v1/evictions?cause=consolidation").await.ok(200);
    assert_eq!(evictions["items"], json!([]));
}
