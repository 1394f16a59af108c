//! The same request again: the same reply, one effect.

use futures::future::join_all;
use reeve_tests::TestApp;
use reeve_tests::app::{job, text};
use serde_json::json;

#[tokio::test]
async fn a_repeated_request_gets_the_stored_reply() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let body = job("team-a", json!({"name": "once"}));
    let first = member.post("/jobs", body.clone()).key("k-1").await;
    let again = member.post("/jobs", body.clone()).key("k-1").await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    let other = job("team-a", json!({"name": "twice"}));
    member.post("/jobs", other).key("k-1").await.refused(422, "idempotency_mismatch");
    // Keys belong to their caller.
    app.user("a-second").post("/jobs", body.clone()).key("k-1").await.expect(201);
    assert_eq!(app.count_rows("jobs").await, 2);
    // A refused request may be corrected and sent again.
    member.post("/jobs", job("team-a", json!({"gpus": -1}))).key("k-2").await.expect(422);
    member.post("/jobs", body.clone()).key("k-2").await.expect(201);
    member.post("/jobs", body.clone()).header("idempotency-key", "").await.refused(400, "invalid_header");
    member.post("/jobs", body).key(&"k".repeat(256)).await.refused(400, "invalid_header");
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_make_one_job() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let body = job("team-a", json!({}));
    let replies =
        join_all((0..20).map(|_| member.post("/jobs", body.clone()).key("at-once").into_future())).await;
    let ids: std::collections::BTreeSet<String> = replies
        .iter()
        .filter(|reply| reply.status != 409)
        .map(|reply| text(&reply.expect(201).json()["id"]).to_owned())
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(app.count_rows("jobs").await, 1);
    assert_eq!(app.count_events("job.submitted").await, 1);
}

#[tokio::test]
async fn acts_and_creations_are_repeated_safely() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let body = json!({"slug": "new", "name": "New"});
    let first = admin.post("/teams", body.clone()).key("team").await;
    let again = admin.post("/teams", body).key("team").await;
    assert_eq!(first.expect(201).body, again.expect(201).body);
    assert_eq!(first.header("etag"), again.header("etag"));
    let job = app.submit("a-member", "team-a", json!({})).await;
    let path = format!("/jobs/{}/cancel", text(&job["id"]));
    let member = app.user("a-member");
    member.post(&path, json!({})).key("cancel").await.expect(200);
    assert_eq!(
        member.post(&path, json!({})).key("cancel").await.expect(200).header("idempotency-replayed"),
        "true"
    );
    member.post(&path, json!({})).key("cancel-2").await.refused(409, "job_is_final");
    assert_eq!(app.count_events("job.cancelled").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_sent_once_and_never_kept() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let body = json!({"name": "ci", "scopes": ["read"]});
    let replies =
        join_all((0..8).map(|_| admin.post("/tokens", body.clone()).key("secret").into_future())).await;
    let made: Vec<String> = replies
        .iter()
        .filter(|reply| reply.status == 201)
        .map(|reply| text(&reply.json()["token"]).to_owned())
        .collect();
    assert_eq!(made.len(), 1, "one made, the others are told: {replies:?}");
    app.with_token(&made[0]).get("/me").await.expect(200);
    let again = admin.post("/tokens", body).key("secret").await;
    again.refused(409, "secret_not_kept");
    assert!(!again.text().contains("reeve_pat_"));
}
