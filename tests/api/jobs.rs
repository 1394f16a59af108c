//! A job's life, from the submission to its end, through both protocols.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use serde_json::json;

#[tokio::test]
async fn a_job_is_submitted_placed_run_and_ended() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({"gpus": 2, "name": "train 🚀"})).await;
    assert_eq!(job["state"], "queued");
    app.schedule().await;
    assert_eq!(app.job(&job["id"]).await["state"], "starting");
    assert_eq!(app.node.run_all().await, 1);
    let running = app.job(&job["id"]).await;
    assert_eq!((&running["state"], &running["run_number"], &running["pool"]), (&json!("running"), &json!(1), &json!("h100")));
    app.advance_secs(30);
    app.node.end(text(&job["id"]), 0).await;
    let ended = app.job(&job["id"]).await;
    assert_eq!(ended["state"], "succeeded");
    let runs = app.user("a-viewer").get(&format!("/jobs/{}/runs", text(&job["id"]))).await.ok();
    let runs = items(&runs);
    assert_eq!((runs.len(), &runs[0]["exit_code"]), (1, &json!(0)));
    assert_eq!(runs[0]["members"][0]["gpu_indices"].as_array().map(Vec::len), Some(2));
}
