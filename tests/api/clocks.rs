//! What agents say of times is by the server's clock, whatever their own shows.

use chrono::TimeDelta;
use reeve_core::clock::Clock as _;
use reeve_tests::TestApp;
use serde_json::json;

#[tokio::test]
async fn an_agent_whose_clock_is_hours_off_tells_true_times() {
    let app = TestApp::start().await;
    let id = app.submit("a-member", "team-a", json!({"checkpoint": "periodic"})).await["id"].clone();
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(600);
    let saved = app.clock.now();
    app.advance_secs(60);
    for hours_off in [-3, 3] {
        let mut report = app.node.next_report();
        report.sent_at += TimeDelta::hours(hours_off);
        report.members[0].checkpointed_at = Some(saved);
        let report = serde_json::to_value(report).expect("JSON");
        app.node.client.post("/agent/v1/report", report).await.expect(200);
        let job = app.job(&id).await;
        assert_eq!(job["last_checkpoint_at"], json!(saved), "the agent's clock is {hours_off} h off");
        let node = app.admin().get("/nodes").await.ok()["items"][0].clone();
        assert_eq!(node["clock_skew_ms"], hours_off * 3_600_000, "and it is shown");
    }

    // A checkpoint of the future would make a job look as if it had nothing to lose.
    let mut report = app.node.next_report();
    report.members[0].checkpointed_at = Some(saved + TimeDelta::hours(5));
    let report = serde_json::to_value(report).expect("JSON");
    app.node.client.post("/agent/v1/report", report).await.expect(200);
    let job = app.job(&id).await;
    assert_eq!(job["last_checkpoint_at"], json!(app.clock.now()));
}
