//! The timeline: what ran and runs where, and what is planned.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::world::{NODE, POOL};
use serde_json::{Value, json};

/// Names of the runs' jobs, as they come.
async fn runs(app: &TestApp, who: &str, query: &str) -> Vec<Value> {
    items(&app.user(who).get(&format!("/runs?{query}")).await.ok())
        .iter()
        .map(|run| run["job"]["name"].clone())
        .collect()
}

/// Two jobs one after the other, an hour each, a minute between them; now it is a minute after the second.
async fn two_in_a_row() -> TestApp {
    let app = TestApp::start().await;
    for (name, user, team) in [("first", "a-member", "team-a"), ("second", "b-member", "team-b")] {
        let job = app.submit(user, team, json!({"name": name, "gpus": 2, "kind": "batch"})).await;
        app.schedule().await;
        app.node.run_all().await;
        app.advance_secs(3_600);
        app.node.end(text(&job["id"]), 0).await;
        app.advance_secs(60);
    }
    app
}

#[tokio::test]
async fn a_run_is_told_where_it_overlaps_the_span() {
    let app = two_in_a_row().await;
    // The world begins at 09:00 and its app at 09:01: first 09:01 to 10:01, second 10:02 to 11:02.
    let day = "2026-03-02T";
    for (from, to, expected) in [
        ("09:00:00Z", "12:00:00Z", vec!["second", "first"]),
        ("10:01:30Z", "12:00:00Z", vec!["second"]),
        ("09:00:00Z", "10:01:30Z", vec!["first"]),
        ("09:30:00Z", "09:31:00Z", vec!["first"]),
        ("11:02:30Z", "12:00:00Z", vec![]),
        ("08:00:00Z", "09:01:00Z", vec![]),
    ] {
        assert_eq!(
            runs(&app, "admin", &format!("from={day}{from}&to={day}{to}")).await,
            expected,
            "{from}–{to}"
        );
    }
    assert_eq!(runs(&app, "admin", "").await, ["second", "first"], "the last day is what is usually asked");
    for (query, expected) in [
        ("team=lab", 2),
        ("team=team-a", 1),
        ("queue=team-b-q", 1),
        ("kind=batch", 2),
        ("kind=training", 0),
        ("user=a-member", 1),
        (&format!("pool={POOL}"), 2),
    ] {
        assert_eq!(runs(&app, "admin", query).await.len(), expected, "{query}");
    }
    let page = app.admin().get("/runs?limit=1").await.ok();
    let cursor = text(&page["next_cursor"]);
    assert_eq!(runs(&app, "admin", &format!("limit=1&cursor={cursor}")).await, ["first"]);
    app.admin().get("/runs?limit=1001").await.refused_field(400, "limit", "out_of_range");
}

#[tokio::test]
async fn a_run_says_where_its_members_were_and_hides_a_foreign_jobs_name() {
    let app = two_in_a_row().await;
    let seen = items(&app.user("a-member").get("/runs").await.ok());
    let (second, first) = (&seen[0], &seen[1]);
    assert_eq!((&second["job"]["name"], &second["job"]["id"]), (&Value::Null, &Value::Null), "{second}");
    assert_eq!(second["job"]["team"]["slug"], "team-b", "whose it was is everybody's to see");
    assert_eq!((&first["job"]["name"], &first["state"]), (&json!("first"), &json!("succeeded")));
    let member = &first["members"][0];
    assert_eq!((&member["node"]["name"], &member["gpu_indices"]), (&json!(NODE), &json!([0, 1])), "{first}");
    assert_eq!(
        (text(&member["placed_at"]), text(&member["released_at"])),
        ("2026-03-02T09:01:00Z", "2026-03-02T10:01:00Z")
    );
    assert_eq!((&first["borrowed_gpus"], &first["limit_at"]), (&Value::Null, &Value::Null), "it has ended");
    let of_other = items(&app.user("other-member").get("/runs").await.ok());
    assert!(of_other.iter().all(|run| run["job"]["name"].is_null()), "{of_other:?}");
}

#[tokio::test]
async fn an_evicted_run_leads_to_its_eviction() {
    let app = TestApp::start().await;
    for _ in 0..8 {
        let job = json!({"kind": "experiment", "checkpoint": "on_signal", "time_limit_secs": 7_200});
        app.submit("b-member", "team-b", job).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(3_600);
    app.node.heartbeat().await;
    let live = items(&app.admin().get("/runs").await.ok());
    let borrowed: f64 = live.iter().filter_map(|run| run["borrowed_gpus"].as_f64()).sum();
    assert!((borrowed - 4.0).abs() < f64::EPSILON, "four of eight are borrowed: {live:?}");
    assert_eq!(live[0]["limit_at"], "2026-03-02T11:01:00Z");
    app.submit("a-member", "team-a", json!({"gpus": 4, "time_limit_secs": 600})).await;
    app.schedule().await;
    // What is promised is a planned start, on the GPUs that are vacated for it.
    let planned = items(&app.user("a-member").get(&format!("/planned-starts?pool={POOL}")).await.ok());
    assert_eq!(planned.len(), 1, "{planned:?}");
    let (start, member) = (&planned[0], &planned[0]["members"][0]);
    assert_eq!(
        (text(&start["starts_at"]), text(&start["ends_by"])),
        ("2026-03-02T10:02:00Z", "2026-03-02T10:12:00Z")
    );
    assert_eq!(member["gpu_indices"].as_array().map(Vec::len), Some(4), "{start}");
    app.admin().get(&format!("/reclaims/{}", text(&start["reclaim_id"]))).await.expect(200);
    app.node.obey().await;
    let runs = items(&app.admin().get("/runs?team=team-b").await.ok());
    let evicted: Vec<&Value> = runs.iter().filter(|run| run["state"] == "evicted").collect();
    assert_eq!(evicted.len(), 4, "{runs:?}");
    let eviction = &evicted[0]["evictions"][0];
    assert_eq!((&eviction["cause"], &eviction["outcome"]), (&json!("reclaim"), &json!("requeued")));
    app.admin().get(&format!("/evictions/{}", text(&eviction["id"]))).await.expect(200);
}

#[tokio::test]
async fn a_planned_start_is_told_with_its_place_and_its_basis() {
    let app = TestApp::start().await;
    app.submit("a-member", "team-a", json!({"name": "holder", "gpus": 8, "time_limit_secs": 7_200})).await;
    app.schedule().await;
    app.node.run_all().await;
    let waiting = json!({"name": "waiter", "gpus": 4, "evict_others": false, "time_limit_secs": 600});
    let waiting = app.submit("a-second", "team-a", waiting).await;
    app.schedule().await;
    let planned = items(&app.user("a-member").get("/planned-starts").await.ok());
    assert_eq!(planned.len(), 1, "{planned:?}");
    let start = &planned[0];
    assert_eq!(
        (&start["job"]["name"], text(&start["starts_at"])),
        (&json!("waiter"), "2026-03-02T11:01:00Z")
    );
    assert!(text(&start["sentence"]["en"]).contains("holder"), "{start}");
    assert_eq!((&start["members"][0]["node"]["name"], &start["reclaim_id"]), (&json!(NODE), &Value::Null));
    assert_eq!(start["members"][0]["gpu_indices"].as_array().map(Vec::len), Some(4), "{start}");
    // Somebody of another team sees that a start is planned, not whose job it rests on.
    let foreign = items(&app.user("other-member").get("/planned-starts").await.ok());
    assert_eq!(
        (&foreign[0]["job"]["name"], &foreign[0]["job"]["team"]["slug"]),
        (&Value::Null, &json!("team-a"))
    );
    assert!(!foreign[0]["sentence"].to_string().contains("holder"), "{foreign:?}");
    let none = app.admin().get("/planned-starts?team=team-b").await.ok();
    assert_eq!(items(&none).len(), 0);
    app.user("a-second").post(&format!("/jobs/{}/cancel", text(&waiting["id"])), json!({})).await.expect(200);
    assert_eq!(items(&app.admin().get("/planned-starts").await.ok()).len(), 0, "nobody waits any more");
    app.schedule().await;
    assert_eq!(app.count_rows("planned_starts").await, 0);
}

#[tokio::test]
async fn a_wrong_span_or_word_names_its_field_and_the_remedy() {
    let app = TestApp::start().await;
    for (query, field, code) in [
        ("from=yesterday", "from", "invalid_value"),
        ("to=2026-03-02T09:00:00+08:00", "to", "invalid_value"),
        ("from=2026-03-02T09:00:00Z&to=2026-03-02T09:00:00Z", "from", "not_before_to"),
        ("from=2026-01-01T00:00:00Z&to=2026-03-02T09:00:00Z", "from", "span_too_long"),
        ("kind=game", "kind", "unknown_value"),
        ("span=1h", "span", "unknown_parameter"),
    ] {
        app.user("nobody").get(&format!("/runs?{query}")).await.refused_field(400, field, code);
    }
    app.user("nobody").get("/planned-starts?kind=game").await.refused_field(400, "kind", "unknown_value");
    app.user("nobody").get("/runs?pool=nowhere").await.refused(404, "not_found");
}
