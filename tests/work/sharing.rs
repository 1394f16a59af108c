//! Quotas, queues, nodes, loans and their recall.

use crate::agents::{node, report_all};
use crate::app::App;
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn a_guarantee_stays_inside_its_parents_and_needs_its_version() {
    let app = App::new().await;
    app.teams().await;
    let put = async |team: &str, headers: &[(&str, &str)], gpus: Value| {
        let path = format!("/api/v1/quotas/{team}/a100");
        app.with(Method::PUT, &app.admin, &path, headers, json!({"guaranteed_gpus": gpus})).await
    };
    put("red", &[], json!(4)).await.problem(428, "precondition_required");
    put("red", &[("if-match", "\"7\"")], json!(4)).await.problem(412, "stale_version");
    put("red", &[("if-none-match", "*")], json!(4)).await.problem(412, "stale_version");
    let above = put("red", &[("if-match", "\"1\"")], json!(9)).await.problem(422, "quota_above_parent");
    assert_eq!(
        (above["params"]["parent"].as_str(), above["params"]["left_gpus"].as_i64()),
        (Some("org"), Some(4))
    );
    put("red", &[("if-match", "\"1\"")], json!(5)).await.problem(422, "guarantee_sum_above_parent");
    put("org", &[("if-match", "\"1\"")], json!(7)).await.problem(422, "guarantee_below_children");
    put("red", &[("if-match", "\"1\"")], json!(-1)).await.faults("invalid_body");
    put("red", &[("if-match", "\"1\"")], json!(1.5)).await.faults("invalid_body");
    let lowered = put("red", &[("if-match", "\"1\"")], json!(3)).await;
    assert_eq!(lowered.header("etag"), "\"2\"");
    assert_eq!(lowered.ok(200)["guaranteed_gpus"], 3);
    put("nobody", &[("if-none-match", "*")], json!(1)).await.problem(404, "not_found");
    let lead = app.user("lea", "red", "lead").await;
    let path = "/api/v1/quotas/red/a100";
    let body = json!({"guaranteed_gpus": 4});
    app.with(Method::PUT, &lead, path, &[("if-match", "\"2\"")], body).await.problem(403, "forbidden");
    let delete = async |team: &str, tag: &str| {
        let path = format!("/api/v1/quotas/{team}/a100");
        app.send(Method::DELETE, &app.admin, &path, &[("if-match", tag)], Body::empty()).await
    };
    delete("org", "\"1\"").await.problem(409, "in_use");
    delete("red", "\"2\"").await.ok(204);
}

#[tokio::test]
async fn queues_are_made_changed_and_refused_by_field() {
    let app = App::new().await;
    app.teams().await;
    let bad = json!({"slug": "Bad Slug", "name": "", "team": "red", "order": "random", "allowed_kinds": ["game"],
                     "max_running_jobs": -1});
    let faults = app.post(&app.admin, "/api/v1/queues", bad).await.faults("invalid_body");
    let pointers: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/slug", "/name", "/order", "/allowed_kinds/0", "/max_running_jobs"]);
    let taken = json!({"slug": "red-q", "name": "x", "team": "red"});
    app.post(&app.admin, "/api/v1/queues", taken).await.problem(409, "already_exists");
    let patch = async |tag: &str, body: Value| {
        app.with(Method::PATCH, &app.admin, "/api/v1/queues/red-q", &[("if-match", tag)], body).await
    };
    let limited = patch("\"1\"", json!({"max_running_gpus": 2, "allowed_kinds": ["batch"]})).await.ok(200);
    assert_eq!((limited["max_running_gpus"].as_i64(), limited["version"].as_i64()), (Some(2), Some(2)));
    patch("\"1\"", json!({"state": "held"})).await.problem(412, "stale_version");
    let free = patch("\"2\"", json!({"max_running_gpus": null})).await.ok(200);
    assert_eq!(
        (free["max_running_gpus"].clone(), free["allowed_kinds"].clone()),
        (Value::Null, json!(["batch"]))
    );
    let body = json!({"name": "t", "team": "red", "queue": "red-q", "kind": "training", "command": ["x"]});
    let faults = app.post(&app.admin, "/api/v1/jobs", body).await.faults("invalid_body");
    assert_eq!(faults[0].1, "kind_not_allowed");
    let lead = app.user("lea", "blue", "lead").await;
    let foreign = json!({"slug": "mine", "name": "x", "team": "red"});
    app.post(&lead, "/api/v1/queues", foreign).await.problem(403, "forbidden");
}

#[tokio::test]
async fn nodes_are_cordoned_drained_and_removed_only_when_empty() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let act = async |verb: &str, tag: Option<&str>, body: Value| {
        let headers: Vec<(&str, &str)> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
        app.with(Method::POST, &app.admin, &format!("/api/v1/nodes/n1/{verb}"), &headers, body).await
    };
    act("cordon", None, json!({})).await.problem(428, "precondition_required");
    let cordoned = act("cordon", Some("\"1\""), json!({"note": "fan"})).await.ok(200);
    assert_eq!(
        (cordoned["state"].as_str(), cordoned["state_note"].as_str()),
        (Some("cordoned"), Some("fan"))
    );
    act("drain", Some("\"1\""), json!({})).await.problem(412, "stale_version");
    assert_eq!(act("uncordon", Some("\"2\""), json!({})).await.ok(200)["state"], "ready");
    let labels = json!({"labels": {"zone": "east"}});
    let edited =
        app.with(Method::PATCH, &app.admin, "/api/v1/nodes/n1", &[("if-match", "\"3\"")], labels).await;
    assert_eq!(edited.ok(200)["labels"]["zone"], "east");
    let body = json!({"name": "j", "team": "red", "command": ["x"]});
    let id = app.post(&app.admin, "/api/v1/jobs", body).await.ok(201)["id"].as_str().expect("id").to_owned();
    app.tick().await;
    report_all(&app, &node, 1, "running", None).await;
    let shown = app.get(&app.admin, "/api/v1/nodes/n1").await;
    let tag = shown.header("etag");
    let holder =
        shown.ok(200)["gpus"].as_array().expect("gpus").iter().any(|gpu| gpu["jobs"][0]["id"] == *id);
    assert!(holder, "the node says who holds its GPUs");
    let remove = async |tag: &str| {
        app.send(Method::DELETE, &app.admin, "/api/v1/nodes/n1", &[("if-match", tag)], Body::empty()).await
    };
    remove(&tag).await.problem(409, "node_not_empty");
    let now = reeve_core::clock::Clock::now(&app.clock);
    report_all(&app, &node, 2, "ended", Some(json!({"at": now, "exit_code": 0}))).await;
    assert_eq!(app.get(&app.admin, &format!("/api/v1/jobs/{id}")).await.ok(200)["state"], "succeeded");
    let tag = app.get(&app.admin, "/api/v1/nodes/n1").await.header("etag");
    remove(&tag).await.ok(204);
    app.get(&node.credential, "/agent/v1/desired").await.problem(401, "invalid_credential");
    let viewer = app.user("vic", "red", "lead").await;
    app.post(&viewer, "/api/v1/join-tokens", json!({"pool": "a100"})).await.problem(403, "forbidden");
}

#[tokio::test]
async fn a_loan_is_shown_recalled_and_answered_for() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let job = |team: &str, gpus: i64| json!({"name": team, "team": team, "gpus": gpus, "kind": "batch", "command": ["x"], "checkpoint": "on_signal"});
    for _ in 0..8 {
        app.post(&app.admin, "/api/v1/jobs", job("blue", 1)).await.ok(201);
    }
    app.tick().await;
    report_all(&app, &node, 1, "running", None).await;
    app.tick().await;
    let quotas = app.get(&app.admin, "/api/v1/quotas?pool=a100&team=blue").await.ok(200);
    let figures = &quotas["items"][0]["use"];
    assert_eq!(
        (figures["used_gpus"].as_f64(), figures["borrowed_gpus"].as_f64()),
        (Some(8.0), Some(4.0)),
        "{quotas}"
    );
    let org = app.get(&app.admin, "/api/v1/quotas?team=org").await.ok(200);
    assert_eq!(
        org["items"][0]["use"]["borrowed_gpus"], 0.0,
        "a loan between its teams is none of the parent's"
    );
    let red = app.get(&app.admin, "/api/v1/quotas?team=red").await.ok(200);
    assert_eq!(red["items"][0]["use"]["lent_gpus"], 4.0);
    let matrix = app.get(&app.admin, "/api/v1/loans/matrix?pool=a100").await.ok(200);
    assert_eq!(matrix["cells"][0]["lender"]["slug"], "red");
    assert_eq!(matrix["cells"][0]["gpus"], 4.0);
    let listed = app.get(&app.admin, "/api/v1/jobs?state=running&state=starting").await.ok(200);
    let borrowed: f64 = listed["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|job| job["borrowed_gpus"].as_f64())
        .sum();
    assert_eq!(borrowed, 4.0);
    app.clock.advance(chrono::TimeDelta::minutes(11));
    report_all(&app, &node, 2, "running", None).await;
    let asking = app.post(&app.admin, "/api/v1/jobs", job("red", 4)).await.ok(201)["id"].clone();
    app.tick().await;
    let reclaims = app.get(&app.admin, "/api/v1/reclaims?state=waiting").await.ok(200);
    let reclaim = &reclaims["items"][0];
    assert_eq!((reclaim["gpus"].as_f64(), &reclaim["evictor_job"]["id"]), (Some(4.0), &asking), "{reclaims}");
    assert_eq!(reclaim["evictions"].as_array().expect("evictions").len(), 4);
    let id = reclaim["evictions"][0]["id"].as_str().expect("id");
    let eviction = app.get(&app.admin, &format!("/api/v1/evictions/{id}")).await.ok(200);
    assert_eq!(eviction["why"]["evictor_team"]["slug"], "red");
    assert!(eviction["why"]["rule"].as_str().expect("a rule").starts_with("2.3"), "{eviction}");
    assert!(eviction["why"]["sentence"]["en"].as_str().expect("en").contains("red"));
    let blue = |shares: &Value| {
        let shares = shares.as_array().expect("shares");
        shares.iter().find(|share| share["team"]["slug"] == "blue").map(|share| share["used_gpus"].clone())
    };
    assert_eq!(blue(&eviction["shares_before"]), Some(json!(8.0)));
    assert_eq!(blue(&eviction["shares_after"]), Some(json!(4.0)));
    let asking = asking.as_str().expect("id");
    let explained = app.get(&app.admin, &format!("/api/v1/jobs/{asking}/explain")).await.ok(200);
    assert_eq!(explained["verdict"]["code"], "waiting_for_evictions", "{explained}");
    assert_eq!(explained["evictions_awaited"].as_array().expect("awaited").len(), 4);
    let victim = eviction["job"]["id"].as_str().expect("id");
    let own = app.get(&app.admin, &format!("/api/v1/jobs/{victim}/evictions")).await.ok(200);
    assert_eq!(own["items"][0]["id"], id);
    let desired = app.get(&node.credential, "/agent/v1/desired").await.ok(200);
    let told = desired["members"].as_array().expect("members");
    assert_eq!(told.iter().filter(|member| member["order"]["order"] == "leave").count(), 4);
}
