//! Bad input: a clear typed answer each, and nothing half done.

use axum::body::Body;
use reeve_tests::TestApp;
use reeve_tests::app::{job, text};
use reeve_tests::client::Reply;
use reeve_tests::world::POOL;
use serde_json::{Value, json};

async fn submit(app: &TestApp, more: Value) -> Reply {
    app.user("a-member").post("/jobs", job("team-a", more)).await
}

/// A submission as text, so that numbers stand as they are written.
async fn submit_text(app: &TestApp, field: &str, value: &str) -> Reply {
    let body = format!(r#"{{"name":"x","team":"team-a","command":["true"],"{field}":{value}}}"#);
    app.user("a-member").call("POST", "/jobs").body("application/json", body).await
}

#[tokio::test]
async fn submissions_that_cannot_be_name_the_field() {
    let app = TestApp::start().await;
    for value in ["-1", "1000000000", "1.5", "18446744073709551616", "1e300"] {
        let reply = submit_text(&app, "gpus", value).await;
        reply.refused(422, "invalid_body");
        assert_eq!(reply.json()["errors"][0]["pointer"], "/gpus", "{reply}");
    }
    submit(&app, json!({"gpus": 0})).await.refused_field(422, "/gpus", "asks_for_nothing");
    submit(&app, json!({"gpus": "two"})).await.refused_field(422, "/gpus", "wrong_type");
    submit(&app, json!({"gpuz": 1})).await.refused_field(422, "/gpuz", "unknown_field");
    submit(&app, json!({"name": "x".repeat(10_240)})).await.refused_field(422, "/name", "too_long");
    submit(&app, json!({"name": "a\u{0}b"})).await.refused_field(400, "/name", "nul_character");
    submit(&app, json!({"name": "a\u{1b}[2J"})).await.refused_field(422, "/name", "control_character");
    submit(&app, json!({"team": "nowhere"})).await.refused_field(422, "/team", "unknown_team");
    submit(&app, json!({"queue": "team-b-q"})).await.refused(422, "invalid_body");
    submit(&app, json!({"pools": ["nowhere"]})).await.refused_field(422, "/pools/0", "unknown_pool");
    submit(&app, json!({"priority": "critical"})).await.refused(422, "priority_above_ceiling");
    submit(&app, json!({"command": []})).await.refused_field(422, "/command", "empty");
    submit(&app, json!({"env": {"REEVE_JOB_ID": "1"}})).await.refused(422, "invalid_body");
    app.user("a-member").post("/jobs", json!({"name": "x"})).await.refused_field(422, "", "missing");
    assert_eq!(app.count_rows("jobs").await, 0);
    assert_eq!(app.count_events("job.submitted").await, 0);
    let kept = submit(&app, json!({"name": "训练 🚀 ’"})).await.ok();
    assert_eq!(app.job(&kept["id"]).await["name"], "训练 🚀 ’");
}

#[tokio::test]
async fn bodies_that_cannot_be_read_say_where() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let send = |kind: &'static str, body: Body| member.call("POST", "/jobs").body(kind, body);
    for broken in ["{\"name\": ", "", "nonsense", "{\"name\":\"a\",\"name\":\"b\"}", "[1,2"] {
        let reply = send("application/json", broken.into()).await;
        if broken.is_empty() {
            // No body is `{}`: then fields are missing.
            reply.refused(422, "invalid_body");
        } else {
            reply.refused(400, "invalid_json");
        }
    }
    send("application/json", Body::from(vec![0xff, 0xfe, 0x22])).await.refused(400, "invalid_json");
    send("application/json", "[".repeat(100_000).into()).await.refused_field(
        400,
        &"/0".repeat(65),
        "too_deep",
    );
    send("text/plain", "{}".into()).await.refused(415, "unsupported_media_type");
    let big = format!("{{\"name\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
    send("application/json", big.into()).await.refused(413, "payload_too_large");
    assert_eq!(app.count_rows("jobs").await, 0);
}

#[tokio::test]
async fn addresses_that_do_not_exist_are_problems_too() {
    let app = TestApp::start().await;
    let admin = app.admin();
    admin.get("/nonsense").await.refused(404, "not_found");
    admin.get("/jobs/not-an-id").await.refused(404, "not_found");
    admin.get("/jobs/00000000-0000-0000-0000-000000000001").await.refused(404, "not_found");
    admin.get("/teams/%00").await.refused(404, "not_found");
    admin.get("/teams/%F0%9F%9A%80").await.refused(404, "not_found");
    admin.get("/teams/%FF").await.refused(404, "not_found");
    admin.delete("/tokens/not-an-id").await.refused(404, "not_found");
    admin.call("DELETE", "/me").await.refused(405, "method_not_allowed");
    admin.get("/jobs?sate=queued").await.refused_field(400, "sate", "unknown_parameter");
    admin.get("/loans?to=").await.refused_field(400, "to", "empty");
    admin.get("/jobs?state=nonsense").await.refused_field(400, "state", "unknown_value");
    admin.get("/jobs?limit=0").await.refused_field(400, "limit", "out_of_range");
    admin.get("/jobs?limit=201").await.refused_field(400, "limit", "out_of_range");
    admin.get("/jobs?name_contains=%00").await.refused_field(400, "name_contains", "nul_character");
    let help = app.stranger().get("/problems/not_found").await;
    assert!(help.expect(200).text().contains("Not found"));
}

#[tokio::test]
async fn what_belongs_to_others_is_hidden_or_forbidden() {
    let app = TestApp::start().await;
    let job_of_a = app.submit("a-member", "team-a", json!({})).await;
    let id = text(&job_of_a["id"]);
    for (who, status) in
        [("b-member", 404), ("nobody", 404), ("a-viewer", 200), ("finance", 200), ("lab-lead", 200)]
    {
        app.user(who).get(&format!("/jobs/{id}")).await.expect(status);
    }
    for (who, status) in
        [("b-member", 404), ("a-viewer", 403), ("a-second", 403), ("a-approver", 403), ("auditor", 403)]
    {
        app.user(who).post(&format!("/jobs/{id}/cancel"), json!({})).await.expect(status);
    }
    let theirs = app.user("b-member").get("/jobs?count=true").await.ok();
    assert_eq!(theirs["items"], json!([]));
    app.user("b-member").post("/jobs", job("team-a", json!({}))).await.refused(403, "forbidden");
    app.user("a-viewer").post("/jobs", job("team-a", json!({}))).await.refused(403, "forbidden");
    assert_eq!(app.job(&job_of_a["id"]).await["state"], "queued");
    app.user("a-lead").post(&format!("/jobs/{id}/cancel"), json!({})).await.expect(200);
}

#[tokio::test]
async fn quotas_stay_below_their_parents() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let quota = |guaranteed: i64| json!({"guaranteed_gpus": guaranteed});
    let path = format!("/quotas/team-a/{POOL}");
    let above = admin.put(&path, quota(9)).if_match(1).await.refused(422, "quota_above_parent");
    assert_eq!(above["params"]["parent_guaranteed_gpus"], 8);
    admin.put(&path, quota(5)).if_match(1).await.refused(422, "guarantee_sum_above_parent");
    let below = admin.put(&format!("/quotas/lab/{POOL}"), quota(7)).if_match(1).await;
    below.refused(422, "guarantee_below_children");
    admin.put(&path, quota(-1)).if_match(1).await.refused_field(422, "/guaranteed_gpus", "out_of_range");
    admin.put(&path, json!({"guaranteed_gpus": 4.5})).if_match(1).await.refused(422, "invalid_body");
    admin.delete(&format!("/quotas/lab/{POOL}")).if_match(1).await.refused(409, "in_use");
    // Whoever leads the parent hands out its guarantee; nobody raises their own.
    app.user("a-lead").put(&path, quota(3)).if_match(1).await.refused(403, "forbidden");
    let lower = app.user("lab-lead").put(&path, quota(3)).if_match(1).await.ok();
    assert_eq!(lower["guaranteed_gpus"], 3);
}

#[tokio::test]
async fn teams_make_no_circles_and_keep_live_jobs() {
    let app = TestApp::start().await;
    let admin = app.admin();
    admin.patch("/teams/lab", json!({"parent": "team-a"})).await.refused(422, "parent_cycle");
    admin.patch("/teams/lab", json!({"parent": "lab"})).await.refused(422, "parent_cycle");
    admin.delete("/teams/lab").await.refused(409, "team_has_children");
    // Its four guaranteed GPUs would go along.
    admin.patch("/teams/team-a", json!({"parent": "other"})).await.refused(422, "quota_above_parent");
    assert_eq!(admin.get("/teams/team-a").await.ok()["parent"]["slug"], "lab");
    let long = json!({"slug": "x", "name": "x".repeat(10_240)});
    admin.post("/teams", long).await.refused_field(422, "/name", "invalid_length");
    admin.post("/teams", json!({"slug": "A B", "name": "x"})).await.refused_field(
        422,
        "/slug",
        "invalid_slug",
    );
    admin.post("/teams", json!({"slug": "team-a", "name": "x"})).await.refused(409, "already_exists");
    let job = app.submit("a-member", "team-a", json!({})).await;
    app.schedule().await;
    app.node.run_all().await;
    let held = admin.delete("/teams/team-a").await.refused(409, "team_has_jobs");
    assert_eq!(held["params"]["jobs"], 1);
    app.node.end(text(&job["id"]), 0).await;
    admin.delete("/teams/team-a").await.expect(204);
    admin.get("/teams/team-a").await.refused(404, "not_found");
    app.user("a-member").post("/jobs", reeve_tests::app::job("team-a", json!({}))).await.expect(422);
    assert_eq!(app.job(&job["id"]).await["state"], "succeeded");
}

#[tokio::test]
async fn a_gang_that_never_fits_is_taken_with_a_warning_and_says_why_it_waits() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({"gpus": 9})).await;
    assert!(job["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{job}");
    app.schedule().await;
    let explained = app.user("a-member").get(&format!("/jobs/{}/explain", text(&job["id"]))).await.ok();
    assert_eq!(explained["verdict"]["code"], "never_fits", "{explained}");
    let sentence = &explained["verdict"]["sentence"];
    assert!(!text(&sentence["en"]).is_empty() && !text(&sentence["zh"]).is_ascii(), "{explained}");
    assert_eq!(explained["help"]["action"], "ask_for_fewer_gpus", "{explained}");
    assert_eq!(app.job(&job["id"]).await["reason"]["code"], "never_fits");
}
