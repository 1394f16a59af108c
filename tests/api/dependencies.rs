//! Jobs that wait for the end of others.

use reeve_tests::app::TestApp;
use serde_json::{Value, json};

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

async fn after(app: &TestApp, others: &[(&Value, &str)]) -> Value {
    let on: Vec<Value> =
        others.iter().map(|(job, condition)| json!({"job": job["id"], "condition": condition})).collect();
    app.submit("a-member", "team-a", json!({"depends_on": on})).await
}

async fn state(app: &TestApp, job: &Value) -> String {
    text(&app.job(&job["id"]).await["state"]).to_owned()
}

/// Ends a running job by its exit code, and lets the planner look.
async fn end(app: &TestApp, job: &Value, exit_code: i32) {
    app.node.end(text(&job["id"]), exit_code).await;
    app.schedule().await;
}

#[tokio::test]
async fn a_job_starts_when_all_that_it_waits_for_has_ended_as_wanted() {
    let app = TestApp::start().await;
    let first = app.submit("a-member", "team-a", json!({})).await;
    let second = app.submit("a-member", "team-a", json!({})).await;
    let both = after(&app, &[(&first, "ok"), (&second, "any")]).await;
    let repair = after(&app, &[(&second, "failed")]).await;
    app.submit("a-member", "team-a", json!({"hold": true})).await;
    app.schedule().await;
    app.node.run_all().await;
    assert_eq!(state(&app, &both).await, "queued");
    let said = app.user("a-member").get(&format!("/jobs/{}/explain", text(&both["id"]))).await.ok();
    assert_eq!(said["verdict"]["code"], "waiting_for_jobs");
    assert_eq!(said["verdict"]["numbers"]["jobs"], 2);
    assert_eq!(said["position"], Value::Null, "it stands in no line yet");
    app.advance_secs(90);
    let quotas = app.admin().get("/quotas?team=team-a").await.ok();
    let waited = quotas["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|one| &one["use"]["seconds_waiting_below_guarantee"]);
    assert!(
        waited.clone().count() > 0 && waited.clone().all(|secs| *secs == 0),
        "nobody is kept from its guarantee: {quotas}"
    );
    let queue = format!("/queues/{}/line", text(&both["queue"]["id"]));
    let line = app.user("a-member").get(&queue).await.ok();
    let last = line["items"].as_array().expect("items").last().expect("somebody").clone();
    assert!(
        [&both["id"], &repair["id"]].contains(&&last["job"]["id"]),
        "who is in no line stands behind: {line}"
    );

    end(&app, &first, 0).await;
    assert_eq!(state(&app, &both).await, "queued", "one of two");
    end(&app, &second, 1).await;
    assert_eq!(state(&app, &both).await, "starting");
    assert_eq!(state(&app, &repair).await, "starting");
    let path = format!("/jobs/{}/dependencies", text(&both["id"]));
    let on = app.user("a-member").get(&path).await.ok();
    let mut seen: Vec<(&str, &Value)> = on["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|one| (text(&one["condition"]), &one["met"]))
        .collect();
    // Two ids of one moment come in either order.
    seen.sort_by_key(|(condition, _)| *condition);
    assert_eq!(seen, [("any", &json!(true)), ("ok", &json!(true))]);
    let path = format!("/jobs/{}/dependents", text(&second["id"]));
    assert_eq!(app.user("a-member").get(&path).await.ok()["items"].as_array().expect("items").len(), 2);
    assert_eq!(app.count_events("job.dependencies_met").await, 2);
}

#[tokio::test]
async fn a_condition_that_can_never_be_met_cancels_all_behind_it() {
    let app = TestApp::start().await;
    let first = app.submit("a-member", "team-a", json!({})).await;
    let second = after(&app, &[(&first, "ok")]).await;
    let third = after(&app, &[(&second, "ok")]).await;
    let last = after(&app, &[(&third, "any")]).await;
    app.schedule().await;
    app.node.run_all().await;
    end(&app, &first, 7).await;
    for lost in [&second, &third] {
        let job = app.job(&lost["id"]).await;
        assert_eq!((text(&job["state"]), text(&job["end_cause"])), ("cancelled", "dependency_never_met"));
    }
    let told = app.job(&second["id"]).await["end_detail"].clone();
    assert!(text(&told).contains(text(&first["id"])) && text(&told).contains("failed"), "{told}");
    assert_eq!(state(&app, &last).await, "starting", "it takes any end");
}

#[tokio::test]
async fn ends_before_the_submission_count_and_a_wait_can_be_cancelled_or_held() {
    let app = TestApp::start().await;
    let first = app.submit("a-member", "team-a", json!({})).await;
    app.schedule().await;
    app.node.run_all().await;
    end(&app, &first, 0).await;
    let late = after(&app, &[(&first, "ok")]).await;
    app.schedule().await;
    assert_eq!(state(&app, &late).await, "starting");

    let other = app.submit("a-member", "team-a", json!({})).await;
    let given_up = after(&app, &[(&other, "ok")]).await;
    let held =
        app.submit("a-member", "team-a", json!({"hold": true, "depends_on": [{"job": other["id"]}]})).await;
    let path = format!("/jobs/{}/cancel", text(&given_up["id"]));
    app.user("a-member").post(&path, json!({})).await.expect(200);
    app.schedule().await;
    app.node.run_all().await;
    end(&app, &other, 0).await;
    assert_eq!(state(&app, &given_up).await, "cancelled");
    assert_eq!(state(&app, &held).await, "queued", "free to go, and held");
    let held = app.job(&held["id"]).await;
    assert_eq!((&held["held"], &held["reason"]["code"]), (&json!(true), &json!("queue_held")));
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_refused_by_its_place() {
    let app = TestApp::start().await;
    let first = app.submit("a-member", "team-a", json!({})).await;
    app.user("a-member").post(&format!("/jobs/{}/cancel", text(&first["id"])), json!({})).await.expect(200);
    let nobodys = "00000000-0000-7000-8000-00000000abcd";
    let submit = async |on: Value| {
        let job = json!({"name": "x", "team": "team-a", "command": ["true"], "depends_on": on});
        app.user("a-member").post("/jobs", job).await
    };
    let on = |condition: &str| json!({"job": first["id"], "condition": condition});
    for (on, pointer, code) in [
        (json!([{"job": nobodys}]), "/depends_on/0/job", "unknown_job"),
        (json!([{"job": "soon"}]), "/depends_on/0/job", "unknown_job"),
        (json!([on("ok")]), "/depends_on/0/condition", "never_met"),
        (json!([on("sometimes")]), "/depends_on/0/condition", "unknown_condition"),
        (json!([on("any"), on("any")]), "/depends_on/1", "duplicate"),
    ] {
        submit(on).await.refused_field(422, pointer, code);
    }
    let imagined = json!({"changes": [{"submit": {"name": "x", "team": "team-a", "command": ["true"],
        "depends_on": [{"job": first["id"], "condition": "any"}]}}]});
    let reply = app.user("a-member").post("/what-if", imagined).await;
    reply.refused_field(422, "/changes/0/submit/depends_on", "cannot_be_imagined");
    // In a batch, beside one that is right: nothing is kept.
    let before = app.count_rows("jobs").await;
    let jobs = json!({"jobs": [
        {"name": "a", "team": "team-a", "command": ["true"], "depends_on": [{"job": first["id"], "condition": "any"}]},
        {"name": "b", "team": "team-a", "command": ["true"], "depends_on": [{"job": nobodys}]},
    ]});
    let reply = app.user("a-member").post("/jobs/batch", jobs).await;
    reply.refused_field(422, "/jobs/1/depends_on/0/job", "unknown_job");
    assert_eq!(app.count_rows("jobs").await, before);
}
