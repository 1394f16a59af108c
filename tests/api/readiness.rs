//! Whether a server can serve, and what several servers on one database agree on.

use reeve_api::Settings;
use reeve_core::clock::Clock;
use reeve_store::beat::{SCHEDULE, Tick, beat};
use reeve_tests::TestApp;
use reeve_tests::world::PASSWORD;
use serde_json::{Value, json};
use std::time::Duration;

async fn refused_for(app: &TestApp, check: &str) -> Value {
    let problem = app.stranger().get("/readyz").await.refused(503, "not_ready");
    assert_eq!(problem["params"]["failing"], json!([check]), "{problem}");
    assert_eq!(problem["errors"][0]["pointer"], check, "{problem}");
    problem
}

#[tokio::test]
async fn readiness_names_the_check_that_fails() {
    let silence = Settings { scheduler_silence: Duration::from_secs(60), ..Settings::default() };
    let app = TestApp::with(silence).await;
    let never = refused_for(&app, "scheduler").await;
    assert_eq!(never["detail"], "there was no scheduling tick yet");

    let tick = Tick { tick_ms: 12, pending_jobs: 3 };
    beat(app.store(), SCHEDULE, app.clock.now(), Some(tick)).await.expect("beats");
    app.advance_secs(60);
    let ready = app.stranger().get("/readyz").await.ok();
    assert_eq!(ready["status"], "ready");
    let names: Vec<&str> = ready["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(|check| check["name"].as_str())
        .collect();
    assert_eq!(names, ["database", "migrations", "scheduler"]);
    let seen = app.admin().get("/overview").await.ok()["scheduler"].clone();
    assert_eq!(
        (&seen["tick_ms"], &seen["pending_jobs"], &seen["silent"]),
        (&json!(12), &json!(3), &json!(false))
    );

    app.advance_secs(1);
    let silent = refused_for(&app, "scheduler").await;
    assert_eq!(silent["detail"], "no scheduling tick for 61 s");
    assert_eq!(app.admin().get("/overview").await.ok()["scheduler"]["silent"], true);
    // A beat of a server whose clock is behind takes nothing back.
    beat(app.store(), SCHEDULE, app.clock.now(), Some(tick)).await.expect("beats");
    let behind = app.clock.now() - chrono::TimeDelta::hours(1);
    beat(app.store(), SCHEDULE, behind, Some(tick)).await.expect("beats");
    app.stranger().get("/readyz").await.expect(200);

    app.sql("update _sqlx_migrations set version = version + 1000 where version = 1").await;
    let schema = refused_for(&app, "migrations").await;
    assert!(schema["detail"].as_str().expect("text").contains("1001"), "{schema}");
    app.sql("update _sqlx_migrations set version = version - 1000 where version = 1001").await;
    app.store().close().await;
    refused_for(&app, "database").await;
    app.stranger().get("/healthz").await.expect(200);
    app.stranger().get("/metrics").await.expect(200);
}

#[tokio::test]
async fn servers_that_start_at_once_make_one_signing_key_and_take_each_others_tokens() {
    let app = TestApp::start().await;
    app.sql("delete from signing_keys").await;
    let mut servers = Vec::new();
    for _ in 0..6 {
        servers.push(app.another_server().await);
    }
    // A token that names no key makes each look for the keys, all in the same moment.
    let unsigned = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.e30.AA";
    let looks = servers.iter().map(|server| async {
        let asking = reeve_tests::client::Client { token: Some(unsigned.to_owned()), ..server.clone() };
        asking.get("/me").await.refused(401, "invalid_credential");
    });
    futures::future::join_all(looks).await;
    let body = json!({"username": "a-member", "password": PASSWORD});
    let signed_in =
        servers.iter().map(|server| async { server.post("/auth/sign-in", body.clone()).await.ok() });
    let signed_in = futures::future::join_all(signed_in).await;
    assert_eq!(app.count_rows("signing_keys").await, 1);
    for (at, session) in signed_in.iter().enumerate() {
        let mut other = servers[(at + 1) % servers.len()].clone();
        other.token = session["access_token"].as_str().map(str::to_owned);
        assert_eq!(other.get("/me").await.ok()["username"], "a-member");
    }
}
