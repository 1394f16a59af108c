//! "Needs you": each kind when its time has come, with what its text says, and not before.

use reeve_tests::TestApp;
use reeve_tests::world::{NODE, POOL};
use serde_json::{Value, json};

/// What somebody is shown.
async fn needs(app: &TestApp, who: &str) -> Vec<Value> {
    app.user(who).get("/overview").await.ok()["needs_me"].as_array().expect("a list").clone()
}

async fn kinds(app: &TestApp, who: &str) -> Vec<String> {
    let kinds = needs(app, who).await;
    kinds.iter().map(|need| need["type"].as_str().expect("a type").to_owned()).collect()
}

#[track_caller]
fn check(need: &Value, kind: &str, params: &Value, link: &str) {
    assert_eq!(need["type"], kind, "{need}");
    assert_eq!(need["text_key"], format!("needs.{kind}"), "{need}");
    assert_eq!(&need["params"], params, "{need}");
    assert_eq!(need["link"], link, "{need}");
}

/// Team B runs on all eight GPUs, four of them team A's, whose 4-GPU job waits.
async fn lent_out(kind: &str) -> TestApp {
    let app = TestApp::start().await;
    for _ in 0..8 {
        app.submit("b-member", "team-b", json!({"kind": kind, "priority": "low"})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(10);
    app.submit("a-member", "team-a", json!({"gpus": 4})).await;
    app.schedule().await;
    app
}

fn of_a(secs: i64) -> Value {
    json!({"team": "Team team-a", "team_slug": "team-a", "pool": POOL, "gpus": 4.0, "secs": secs, "lent": 4.0,
        "guaranteed": 4, "used": 0.0, "over": 0.0})
}

#[tokio::test]
async fn a_team_whose_guarantee_is_out_on_loans_that_may_not_be_recalled_yet_waits_below_it() {
    let app = lent_out("training").await;
    assert_eq!(kinds(&app, "a-lead").await, Vec::<String>::new(), "nobody has waited yet");
    app.advance_secs(30);
    app.node.heartbeat().await;
    let shown = needs(&app, "a-lead").await;
    assert_eq!(shown.len(), 1, "{shown:?}");
    check(&shown[0], "waiting_below_guarantee", &of_a(30), "/queues?team=team-a");
    assert_eq!(kinds(&app, "b-lead").await, Vec::<String>::new(), "it is not team B's to see to");
}

#[tokio::test]
async fn a_team_for_whom_loans_are_recalled_sees_that_they_are() {
    let app = lent_out("experiment").await;
    app.advance_secs(400);
    app.node.heartbeat().await;
    app.schedule().await;
    let shown = needs(&app, "a-lead").await;
    check(&shown[0], "reclaim_due", &of_a(400), "/reclaims?state=waiting");
    assert_eq!(shown.len(), 1, "{shown:?}");
    app.node.obey().await;
    app.schedule().await;
    assert_eq!(kinds(&app, "a-lead").await, Vec::<String>::new(), "it has what it asked for");
}

#[tokio::test]
async fn a_lowered_quota_that_drains_is_told_while_work_is_above_it() {
    let app = TestApp::start().await;
    let drain = async |guaranteed: i64, version: i64| {
        let body = json!({"guaranteed_gpus": guaranteed, "drain": true});
        app.admin().put(&format!("/quotas/team-b/{POOL}"), body).if_match(version).await.expect(200);
    };
    for _ in 0..4 {
        app.submit("b-member", "team-b", json!({})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    drain(4, 1).await;
    assert_eq!(kinds(&app, "b-lead").await, Vec::<String>::new(), "nothing is above the guarantee");
    drain(1, 2).await;
    let params = json!({"team": "Team team-b", "team_slug": "team-b", "pool": POOL, "gpus": 0.0, "secs": 0, "lent": 0.0,
        "guaranteed": 1, "used": 4.0, "over": 3.0});
    check(&needs(&app, "b-lead").await[0], "over_guarantee_drain", &params, "/queues?team=team-b");
}

#[tokio::test]
async fn guarantees_above_what_the_pool_has_are_told_to_all() {
    let app = TestApp::start().await;
    app.schedule().await;
    assert_eq!(kinds(&app, "nobody").await, Vec::<String>::new());
    let quota = json!({"guaranteed_gpus": 4});
    app.admin().put(&format!("/quotas/other/{POOL}"), quota).if_match(1).await.expect(200);
    app.schedule().await;
    let params = json!({"pool": POOL, "lost": 0, "guaranteed": 12, "usable": 8.0, "gpus": 8.0});
    check(&needs(&app, "nobody").await[0], "pool_overcommitted", &params, "/nodes?pool=h100");
}

#[tokio::test]
async fn lost_nodes_are_told_to_all() {
    let app = TestApp::start().await;
    app.advance_secs(600);
    assert_eq!(app.reap().await, 1, "{NODE} is silent");
    let params = json!({"pool": POOL, "lost": 1, "guaranteed": 8, "usable": 0.0, "gpus": 8.0});
    check(&needs(&app, "nobody").await[0], "nodes_lost", &params, "/nodes?pool=h100&state=lost");
}
