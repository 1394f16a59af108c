//! What-if: an answer that comes true, and nothing written for it.

use reeve_tests::TestApp;
use reeve_tests::app::{items, job, text};
use serde_json::{Value, json};

/// Team b runs eight one-GPU jobs on a pool of eight in which a and b are guaranteed four each.
async fn lent() -> TestApp {
    let app = TestApp::start().await;
    for number in 0..8 {
        let name = format!("b{number}");
        app.submit("b-member", "team-b", json!({"name": name, "kind": "experiment"})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(3600);
    app
}

async fn ask(app: &TestApp, user: &str, changes: Value) -> reeve_tests::client::Reply {
    app.user(user).post("/what-if", json!({"changes": changes})).await
}

#[tokio::test]
async fn what_is_answered_is_what_then_happens() {
    let app = lent().await;
    let wanted = job("team-a", json!({"name": "train", "gpus": 4}));
    let before = app.admin().get("/jobs?limit=200").await.ok();
    let events = app.admin().get("/events?limit=200").await.ok();
    let said = ask(&app, "a-member", json!([{"submit": wanted}])).await.ok();
    assert_eq!(said["submitted"][0]["outcome"], "starts_after_evictions", "{said}");
    assert_eq!(said["submitted"][0]["job"]["imagined"], true);
    assert_eq!(said["evictions"]["total"], 4, "{said}");
    // Names of another team's jobs are hidden, the team is not.
    let first = &said["evictions"]["items"][0];
    assert_eq!((&first["job"]["name"], &first["job"]["team"]["slug"]), (&Value::Null, &json!("team-b")));
    assert!(text(&first["sentence"]["zh"]).contains("team-b"), "{first}");
    // Nothing was written, and nobody was told to leave.
    assert_eq!(app.admin().get("/jobs?limit=200").await.ok(), before);
    assert_eq!(app.admin().get("/events?limit=200").await.ok(), events);

    let as_admin = ask(&app, "admin", json!([{"submit": wanted}])).await.ok();
    let mut foretold: Vec<String> =
        items(&as_admin["evictions"]).iter().map(|evicted| text(&evicted["job"]["id"]).to_owned()).collect();
    foretold.sort();
    let submitted = app.user("a-member").post("/jobs", wanted).await.expect(201).json();
    app.schedule().await;
    let reclaims = app.admin().get("/evictions?limit=50").await.ok();
    let mut evicted: Vec<String> =
        items(&reclaims).iter().map(|eviction| text(&eviction["job"]["id"]).to_owned()).collect();
    evicted.sort();
    assert_eq!(evicted, foretold);
    assert_eq!(app.job(&submitted["id"]).await["reason"]["code"], "waiting_for_evictions");
}

#[tokio::test]
async fn an_imagined_job_that_waits_is_told_when_it_would_start_and_what_would_help() {
    let app = TestApp::start().await;
    app.submit("a-member", "team-a", json!({"name": "holder", "gpus": 8, "time_limit_secs": 7_200})).await;
    app.schedule().await;
    app.node.run_all().await;
    let wanted = job("team-a", json!({"gpus": 4, "evict_others": false}));
    let said = ask(&app, "a-member", json!([{"submit": wanted}])).await.ok();
    let outcome = &said["submitted"][0];
    assert_eq!((&outcome["outcome"], &outcome["position"]), (&json!("waits"), &json!(1)), "{said}");
    let start = &outcome["expected_start"];
    assert_eq!(
        (text(&start["at"]), &start["basis"]),
        ("2026-03-02T11:01:00Z", &json!("time_limit")),
        "{said}"
    );
    assert_eq!(start["job"]["name"], "holder");
    assert_eq!(app.count_rows("planned_starts").await, 0, "nothing is written");
}

#[tokio::test]
async fn quotas_policies_and_nodes_can_be_imagined() {
    let app = lent().await;
    let quota =
        json!([{"quota": {"team": "team-b", "pool": "h100", "guaranteed_gpus": 4, "borrow_limit_gpus": 0}}]);
    let said = ask(&app, "b-member", quota).await.ok();
    assert_eq!((&said["evictions"]["total"], &said["at_rest"]), (&json!(0), &json!(true)), "{said}");
    let nodes = app.admin().get("/nodes").await.ok();
    let node = text(&items(&nodes)[0]["name"]).to_owned();
    let lost = ask(&app, "admin", json!([{"node": {"node": node, "state": "lost"}}])).await.ok();
    assert_eq!(lost["lost_starts"]["total"], 8, "{lost}");
    let mut document = app.admin().get("/policy").await.ok()["document"].clone();
    document["reclaim"] = json!("off");
    let changes = json!([{"policy": document}, {"submit": job("team-a", json!({"gpus": 4}))}]);
    let off = ask(&app, "a-member", changes).await.ok();
    assert_eq!(
        (&off["submitted"][0]["outcome"], &off["evictions"]["total"]),
        (&json!("waits"), &json!(0)),
        "{off}"
    );
    assert_eq!(app.admin().get("/policy").await.ok()["version"], 0);
}

#[tokio::test]
async fn a_wrong_question_names_its_field() {
    let app = lent().await;
    let wrong = job("team-a", json!({"gpus": -1}));
    ask(&app, "a-member", json!([{"submit": wrong}])).await.refused_field(
        422,
        "/changes/0/submit/gpus",
        "out_of_range",
    );
    ask(&app, "a-member", json!([])).await.refused_field(422, "/changes", "out_of_range");
    let other = json!([{"submit": job("team-b", json!({}))}]);
    ask(&app, "a-member", other).await.refused(403, "forbidden");
    let nobody = json!([{"priority": {"job": uuid::Uuid::nil(), "priority": "high"}}]);
    ask(&app, "a-member", nobody).await.refused(404, "not_found");
    let class = app.submit("a-member", "team-a", json!({})).await;
    let change = json!([{"priority": {"job": class["id"], "priority": "urgent"}}]);
    ask(&app, "a-member", change).await.refused_field(
        422,
        "/changes/0/priority/priority",
        "unknown_priority",
    );
    let state = json!([{"node": {"node": "nope", "state": "removed"}}]);
    ask(&app, "a-member", state).await.refused_field(422, "/changes/0/node/state", "unknown_value");
    for (change, pointer) in [
        (json!({"quota": {"team": "nobody", "pool": "h100", "guaranteed_gpus": 1}}), "/changes/0/quota/team"),
        (json!({"quota": {"team": "team-a", "pool": "nope", "guaranteed_gpus": 1}}), "/changes/0/quota/pool"),
        (json!({"node": {"node": "nope", "state": "lost"}}), "/changes/0/node/node"),
    ] {
        ask(&app, "a-member", json!([change])).await.refused_field(422, pointer, "unknown_reference");
    }
    let policy = json!([{"policy": {"nomination_timeout_secs": -5}}]);
    ask(&app, "a-member", policy).await.refused_field(
        422,
        "/changes/0/policy/nomination_timeout_secs",
        "out_of_range",
    );
}
