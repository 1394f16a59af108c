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
    assert_eq!(
        (&running["state"], &running["run_number"], &running["pool"]),
        (&json!("running"), &json!(1), &json!("h100"))
    );
    app.advance_secs(30);
    app.node.end(text(&job["id"]), 0).await;
    let ended = app.job(&job["id"]).await;
    assert_eq!(ended["state"], "succeeded");
    let runs = app.user("a-viewer").get(&format!("/jobs/{}/runs", text(&job["id"]))).await.ok();
    let runs = items(&runs);
    assert_eq!((runs.len(), &runs[0]["exit_code"]), (1, &json!(0)));
    assert_eq!(runs[0]["members"][0]["gpu_indices"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_running_job_is_cancelled_when_its_agent_confirms() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({"gpus": 4})).await;
    let path = format!("/jobs/{}", text(&job["id"]));
    app.schedule().await;
    app.node.run_all().await;
    let member = app.user("a-member");
    let leaving = member.post(&format!("{path}/cancel"), json!({"reason": "wrong data"})).await.ok();
    assert_eq!((&leaving["state"], &leaving["leave"]["cause"]), (&json!("leaving"), &json!("cancelled")));
    // Not free before the agent says so.
    assert_eq!(member.get("/pools/h100").await.ok()["capacity"]["free_gpus"], 4.0);
    app.advance_secs(3);
    app.node.obey().await;
    let ended = app.job(&job["id"]).await;
    assert_eq!((&ended["state"], &ended["leave"]), (&json!("cancelled"), &json!(null)));
    assert_eq!(member.get("/pools/h100").await.ok()["capacity"]["free_gpus"], 8.0);
    member.post(&format!("{path}/hold"), json!({})).await.refused(409, "job_is_final");
}

#[tokio::test]
async fn a_held_job_waits_until_it_is_released() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({"hold": true})).await;
    app.schedule().await;
    assert_eq!(app.job(&job["id"]).await["state"], "queued");
    app.user("a-member").post(&format!("/jobs/{}/release", text(&job["id"])), json!({})).await.expect(200);
    app.schedule().await;
    assert_eq!(app.job(&job["id"]).await["state"], "starting");
}

/// Team B runs eight on an idle pool, four of them on loan; A asks for its four back.
#[tokio::test]
async fn a_guarantee_is_taken_back_and_the_borrower_resumes() {
    let app = TestApp::start().await;
    let viewer = app.user("nobody");
    for index in 0..8 {
        app.advance_secs(1);
        let more = json!({"name": format!("b{index}"), "checkpoint": "on_signal", "kind": "batch"});
        app.submit("b-member", "team-b", more).await;
    }
    app.schedule().await;
    assert_eq!(app.node.run_all().await, 8);
    let matrix = viewer.get("/loans/matrix?pool=h100").await.ok();
    let cell = &matrix["cells"][0];
    assert_eq!(
        (&cell["lender"]["slug"], &cell["borrower"]["slug"], &cell["gpus"]),
        (&json!("team-a"), &json!("team-b"), &json!(4.0))
    );
    app.advance_secs(3_600);
    app.node.heartbeat().await;
    let asking = app.submit("a-member", "team-a", json!({"gpus": 4, "kind": "batch"})).await;
    app.schedule().await;
    let reclaims = items(&viewer.get("/reclaims?state=waiting").await.ok());
    assert_eq!((reclaims.len(), reclaims[0]["evictions"].as_array().map(Vec::len)), (1, Some(4)));
    for eviction in reclaims[0]["evictions"].as_array().expect("evictions") {
        let used = |shares: &serde_json::Value, team: &str| {
            let shares =
                shares.as_array().expect("shares").iter().find(|share| share["team"]["slug"] == team);
            shares.and_then(|share| share["used_gpus"].as_f64())
        };
        assert_eq!(used(&eviction["shares_before"], "team-b"), Some(8.0), "{eviction}");
        assert_eq!(used(&eviction["shares_after"], "team-b"), Some(4.0), "{eviction}");
        assert_eq!(eviction["why"]["evictor_team"]["slug"], "team-a");
        assert!(!text(&eviction["why"]["sentence"]["zh"]).is_ascii());
    }
    let explained = app.user("a-member").get(&format!("/jobs/{}/explain", text(&asking["id"]))).await.ok();
    assert_eq!(explained["verdict"]["code"], "waiting_for_evictions", "{explained}");
    app.advance_secs(5);
    app.node.obey().await;
    app.schedule().await;
    assert_eq!(app.node.run_all().await, 5);
    assert_eq!(app.job(&asking["id"]).await["state"], "running");
    let done = viewer.get(&format!("/reclaims/{}", text(&reclaims[0]["id"]))).await.ok();
    assert_eq!(done["state"], "done", "{done}");
    let waiting = items(&app.user("b-member").get("/jobs?state=queued").await.ok());
    assert_eq!(waiting.len(), 4);
    assert!(waiting.iter().all(|job| job["reason"]["code"].is_string() && job["eviction_count"] == 1));
    assert_eq!(viewer.get("/loans/matrix").await.ok()["cells"], json!([]));
    app.advance_secs(60);
    app.node.end(text(&asking["id"]), 0).await;
    app.schedule().await;
    app.node.run_all().await;
    let victim = app.job(&waiting[0]["id"]).await;
    assert_eq!((&victim["state"], &victim["run_number"]), (&json!("running"), &json!(2)), "{victim}");
    let runs = app.user("b-member").get(&format!("/jobs/{}/runs", text(&victim["id"]))).await.ok();
    assert!(items(&runs).iter().any(|run| run["number"] == 2 && run["resume"] == true), "{runs}");
}
