//! Jobs: submitting good and bad ones, acting on them, reading about them.

use crate::agents::{node, report_all};
use crate::app::App;
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

fn job(change: Value) -> Value {
    let mut body = json!({"name": "train", "team": "red", "command": ["python", "train.py"]});
    for (key, value) in change.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

async fn submit(app: &App, change: Value) -> String {
    let reply = app.post(&app.admin, "/api/v1/jobs", job(change)).await.ok(201);
    reply["id"].as_str().expect("id").to_owned()
}

#[tokio::test]
async fn bad_submissions_name_every_field_and_leave_nothing() {
    let app = App::new().await;
    app.teams().await;
    for (change, pointer, code) in [
        (json!({"gpus": -1}), "/gpus", "out_of_range"),
        (json!({"gpus": 1_000_000_000}), "/gpus", "out_of_range"),
        (json!({"gpus": 1.5}), "/gpus", "not_a_whole_number"),
        (json!({"gpus": 18_446_744_073_709_551_615_u64}), "/gpus", "not_a_whole_number"),
        (json!({"gpus": 0}), "/gpus", "asks_for_nothing"),
        (json!({"team": "nobody"}), "/team", "unknown_team"),
        (json!({"queue": "nowhere"}), "/queue", "unknown_queue"),
        (json!({"queue": "blue-q"}), "/queue", "queue_of_other_team"),
        (json!({"pools": ["a100", "h900"]}), "/pools/1", "unknown_pool"),
        (json!({"kind": "game"}), "/kind", "unknown_kind"),
        (json!({"priority": "urgent"}), "/priority", "unknown_priority"),
        (json!({"require_topology": "rack"}), "/require_topology", "unknown_topology_level"),
        (json!({"command": []}), "/command", "empty"),
        (json!({"name": "x".repeat(10_000)}), "/name", "too_long"),
        (json!({"name": "a\u{7}b"}), "/name", "control_character"),
        (json!({"env": {"REEVE_X": "1"}}), "/env/REEVE_X", "reserved"),
        (json!({"gpuz": 1}), "/gpuz", "unknown_field"),
        (json!({"gpus": "8"}), "/gpus", "wrong_type"),
    ] {
        let faults = app.post(&app.admin, "/api/v1/jobs", job(change.clone())).await.faults("invalid_body");
        assert_eq!(faults, [(pointer.to_owned(), code.to_owned())], "{change}");
    }
    let faults = app
        .post(&app.admin, "/api/v1/jobs", job(json!({"priority": "critical"})))
        .await
        .faults("priority_above_ceiling");
    assert_eq!(faults[0].1, "priority_above_ceiling");
    let all = app.get(&app.admin, "/api/v1/jobs?count=true").await.ok(200);
    assert_eq!(all["items"], json!([]));
    assert_eq!(all["counts"]["queued"], 0);
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused() {
    let app = App::new().await;
    app.teams().await;
    let send = async |text: String| {
        let headers = [("content-type", "application/json")];
        app.send(Method::POST, &app.admin, "/api/v1/jobs", &headers, Body::from(text)).await
    };
    send("{\"name\": ".to_owned()).await.problem(400, "invalid_json");
    send("{\"name\": \"a\\u0000b\"}".to_owned()).await.problem(400, "invalid_json");
    send(job(json!({"name": "x".repeat(2 << 20)})).to_string()).await.problem(413, "payload_too_large");
    app.post("reeve_pat_wrong", "/api/v1/jobs", job(json!({}))).await.problem(401, "invalid_credential");
    app.post("", "/api/v1/jobs", job(json!({}))).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_submission_is_answered_whole_and_once() {
    let app = App::new().await;
    app.teams().await;
    let body = job(json!({"name": "训练 🚀", "gpus": 2, "labels": {"run": "7"}}));
    let key = [("idempotency-key", "k1")];
    let first = app.with(Method::POST, &app.admin, "/api/v1/jobs", &key, body.clone()).await.ok(201);
    let again = app.with(Method::POST, &app.admin, "/api/v1/jobs", &key, body).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok(201), first);
    let other = job(json!({"gpus": 3}));
    let mismatch = app.with(Method::POST, &app.admin, "/api/v1/jobs", &key, other).await;
    mismatch.problem(422, "idempotency_mismatch");
    let id = first["id"].as_str().expect("id");
    let mut shown = app.get(&app.admin, &format!("/api/v1/jobs/{id}")).await.ok(200);
    let mut answered = first.clone();
    answered.as_object_mut().expect("an object").remove("warnings");
    shown.as_object_mut().expect("an object").remove("warnings");
    assert_eq!(shown, answered, "the reply is the job as it stands");
    assert_eq!(first["warnings"][0]["code"], "never_fits", "there is no node yet");
}

#[tokio::test]
async fn a_batch_is_all_or_none() {
    let app = App::new().await;
    app.teams().await;
    let bad = json!({"jobs": [job(json!({})), job(json!({"gpus": -1})), job(json!({"team": "x"}))]});
    let faults = app.post(&app.admin, "/api/v1/jobs/batch", bad).await.faults("invalid_body");
    let pointers: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/jobs/1/gpus", "/jobs/2/team"]);
    assert_eq!(app.get(&app.admin, "/api/v1/jobs").await.ok(200)["items"], json!([]));
    app.post(&app.admin, "/api/v1/jobs/batch", json!({"jobs": []})).await.problem(422, "invalid_body");
    let many: Vec<Value> = (0..1_000).map(|n| job(json!({"name": format!("j{n}")}))).collect();
    let made = app.post(&app.admin, "/api/v1/jobs/batch", json!({"jobs": many})).await.ok(201);
    assert_eq!(made["items"].as_array().expect("items").len(), 1_000);
    let mut seen = std::collections::BTreeSet::new();
    let mut path = "/api/v1/jobs?limit=200&team=red".to_owned();
    loop {
        let page = app.get(&app.admin, &path).await.ok(200);
        for item in page["items"].as_array().expect("items") {
            assert!(seen.insert(item["id"].as_str().expect("id").to_owned()), "twice");
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/jobs?limit=200&team=red&cursor={cursor}");
    }
    assert_eq!(seen.len(), 1_000);
    let cursor = app.get(&app.admin, "/api/v1/jobs?limit=1").await.ok(200)["next_cursor"].clone();
    let other = format!("/api/v1/jobs?limit=1&state=failed&cursor={}", cursor.as_str().expect("a cursor"));
    app.get(&app.admin, &other).await.problem(400, "cursor_mismatch");
}

#[tokio::test]
async fn people_act_on_what_their_roles_allow_and_see_no_more() {
    let app = App::new().await;
    app.teams().await;
    let member = app.user("mia", "red", "member").await;
    let viewer = app.user("vic", "red", "viewer").await;
    let stranger = app.user("sam", "blue", "lead").await;
    let id = app.post(&member, "/api/v1/jobs", job(json!({}))).await.ok(201)["id"].clone();
    let path = format!("/api/v1/jobs/{}", id.as_str().expect("id"));
    app.post(&viewer, "/api/v1/jobs", job(json!({}))).await.problem(403, "forbidden");
    app.post(&stranger, "/api/v1/jobs", job(json!({}))).await.problem(403, "forbidden");
    app.get(&viewer, &path).await.ok(200);
    app.post(&viewer, &format!("{path}/cancel"), json!({})).await.problem(403, "forbidden");
    for below in ["", "/explain", "/runs", "/evictions", "/logs"] {
        app.get(&stranger, &format!("{path}{below}")).await.problem(404, "not_found");
    }
    for act in ["cancel", "hold", "release", "requeue"] {
        app.post(&stranger, &format!("{path}/{act}"), json!({})).await.problem(404, "not_found");
    }
    let listed = app.get(&stranger, "/api/v1/jobs?count=true&team=red").await.ok(200);
    assert_eq!((listed["items"].clone(), listed["counts"]["queued"].clone()), (json!([]), json!(0)));
    let line = app.get(&stranger, "/api/v1/queues/red-q/line").await.ok(200);
    assert_eq!(line["items"][0]["job"]["name"], "train", "the line is everybody's to see");
    app.post(&member, &format!("{path}/cancel"), json!({"reason": "typo"})).await.ok(200);
    app.get(&app.admin, "/api/v1/jobs/not-an-id").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_waiting_job_is_held_released_cancelled_and_requeued() {
    let app = App::new().await;
    app.teams().await;
    let id = submit(&app, json!({"hold": true})).await;
    let act = async |verb: &str| app.post(&app.admin, &format!("/api/v1/jobs/{id}/{verb}"), json!({})).await;
    assert_eq!(act("release").await.ok(200)["held"], false);
    assert_eq!(act("hold").await.ok(200)["held"], true);
    let ended = act("cancel").await.ok(200);
    assert_eq!(
        (ended["state"].as_str(), ended["end_cause"].as_str()),
        (Some("cancelled"), Some("cancelled"))
    );
    act("cancel").await.problem(409, "job_is_final");
    act("hold").await.problem(409, "job_is_final");
    assert_eq!(act("requeue").await.ok(200)["state"], "queued");
    act("requeue").await.problem(409, "job_not_requeueable");
}

#[tokio::test]
async fn a_running_job_is_told_to_stop_and_ends_when_its_agent_says_so() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let id = submit(&app, json!({"gpus": 2})).await;
    app.tick().await;
    let path = format!("/api/v1/jobs/{id}");
    assert_eq!(app.get(&app.admin, &path).await.ok(200)["state"], "starting");
    report_all(&app, &node, 1, "running", None).await;
    let shown = app.get(&app.admin, &path).await.ok(200);
    assert_eq!((shown["state"].as_str(), shown["gpus_total"].as_f64()), (Some("running"), Some(2.0)));
    app.post(&app.admin, &format!("{path}/hold"), json!({})).await.problem(409, "job_not_queued");
    let leaving = app.post(&app.admin, &format!("{path}/cancel"), json!({})).await.ok(200);
    assert_eq!(
        (leaving["state"].as_str(), leaving["leave"]["cause"].as_str()),
        (Some("leaving"), Some("cancelled"))
    );
    let now = reeve_core::clock::Clock::now(&app.clock);
    let end = json!({"at": now, "signal": "TERM", "asked": true});
    let desired = report_all(&app, &node, 2, "ended", Some(end)).await;
    assert_eq!(desired["members"][0]["order"]["order"], "stop");
    assert_eq!(app.get(&app.admin, &path).await.ok(200)["state"], "cancelled");
    let runs = app.get(&app.admin, &format!("{path}/runs")).await.ok(200);
    assert_eq!(runs["items"][0]["members"][0]["gpu_indices"].as_array().expect("indices").len(), 2);
    assert_eq!(runs["items"][0]["members"][0]["signal"], "TERM");
    let nodes = app.get(&app.admin, "/api/v1/nodes").await.ok(200);
    assert_eq!(nodes["items"][0]["gpus"][0]["free_milli"], 1_000, "given back");
}

#[tokio::test]
async fn a_running_job_is_requeued_after_its_grace_with_its_age_and_resumes() {
    let app = App::new().await;
    app.teams().await;
    let node = node(&app, "n1", 8).await;
    let id = submit(&app, json!({"checkpoint": "on_signal"})).await;
    app.tick().await;
    report_all(&app, &node, 1, "running", None).await;
    let path = format!("/api/v1/jobs/{id}");
    let submitted_at = app.get(&app.admin, &path).await.ok(200)["submitted_at"].clone();
    let told = app.post(&app.admin, &format!("{path}/requeue"), json!({"reason": "new image"})).await.ok(200);
    assert_eq!(
        (told["state"].as_str(), told["leave"]["cause"].as_str()),
        (Some("leaving"), Some("operator"))
    );
    let now = reeve_core::clock::Clock::now(&app.clock);
    let end = json!({"at": now, "exit_code": 0, "asked": true});
    let desired = report_all(&app, &node, 2, "ended", Some(end)).await;
    assert_eq!(desired["members"][0]["order"]["order"], "leave");
    assert_eq!(desired["members"][0]["order"]["checkpoint"], true);
    let waiting = app.get(&app.admin, &path).await.ok(200);
    assert_eq!(
        (waiting["state"].as_str(), &waiting["submitted_at"]),
        (Some("queued"), &submitted_at),
        "{waiting}"
    );
    app.tick().await;
    let again = app.get(&node.credential, "/agent/v1/desired").await.ok(200);
    let spec = &again["members"][0]["spec"];
    assert_eq!((spec["attempt"].as_i64(), spec["resume"].as_bool()), (Some(2), Some(true)), "{again}");
}

#[tokio::test]
async fn waiting_is_explained_with_numbers_evidence_and_both_languages() {
    let app = App::new().await;
    app.teams().await;
    node(&app, "n1", 8).await;
    let id = submit(&app, json!({"gpus": 9})).await;
    app.tick().await;
    let explained = app.get(&app.admin, &format!("/api/v1/jobs/{id}/explain")).await.ok(200);
    assert_eq!(explained["verdict"]["code"], "never_fits", "{explained}");
    assert!(explained["verdict"]["sentence"]["en"].as_str().expect("en").contains("asks 9"));
    assert!(explained["verdict"]["sentence"]["zh"].as_str().expect("zh").contains("申请 9"));
    assert_eq!(explained["help"]["action"], "ask_for_fewer_gpus");
    assert_eq!(explained["evidence"][0]["blocked_by"], "gpus");
    assert_eq!(explained["evidence"][0]["free_gpus"], 8);
    let listed = app.get(&app.admin, "/api/v1/jobs?reason=never_fits").await.ok(200);
    assert_eq!(listed["items"][0]["reason"]["code"], "never_fits");
    app.get(&app.admin, "/api/v1/jobs?reason=because").await.problem(400, "invalid_query");
    app.get(&app.admin, "/api/v1/jobs?statf=x").await.problem(400, "invalid_query");
}

#[tokio::test]
async fn a_team_or_queue_with_live_jobs_is_not_deleted() {
    let app = App::new().await;
    app.teams().await;
    let id = submit(&app, json!({})).await;
    let delete = async |path: &str, tag: &str| {
        app.send(Method::DELETE, &app.admin, path, &[("if-match", tag)], Body::empty()).await
    };
    delete("/api/v1/queues/red-q", "*").await.problem(409, "queue_has_jobs");
    delete("/api/v1/teams/red", "*").await.problem(409, "team_has_jobs");
    app.post(&app.admin, &format!("/api/v1/jobs/{id}/cancel"), json!({})).await.ok(200);
    delete("/api/v1/queues/red-q", "*").await.ok(204);
    let faults = app.post(&app.admin, "/api/v1/jobs", job(json!({}))).await.faults("invalid_body");
    assert_eq!(faults[0].1, "no_queue");
    assert_eq!(app.get(&app.admin, &format!("/api/v1/jobs/{id}")).await.ok(200)["queue"]["slug"], "red-q");
}
