//! Reservations and maintenance windows: what they keep clear of work, and what is refused by field.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::world::{NODE, POOL, beginning};
use serde_json::{Value, json};

/// The app's world is a minute old when it starts.
fn at(minutes: i64) -> DateTime<Utc> {
    beginning() + TimeDelta::minutes(1 + minutes)
}

fn with(mut body: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

fn reservation(more: &Value) -> Value {
    with(
        json!({"pool": POOL, "team": "team-a", "gpus": 6, "starts_at": at(60), "ends_at": at(120), "note": "exam"}),
        more,
    )
}

fn window(more: &Value) -> Value {
    with(json!({"nodes": [NODE], "starts_at": at(60), "ends_at": at(90), "note": "new fans"}), more)
}

#[tokio::test]
async fn a_reservation_is_made_listed_and_withdrawn() {
    let app = TestApp::start().await;
    let made = app.admin().post("/reservations", reservation(&json!({}))).key("once").await.ok();
    assert_eq!(
        (&made["gpus"], &made["team"]["slug"], &made["note"]),
        (&json!(6), &json!("team-a"), &json!("exam"))
    );
    assert_eq!(made["created_by"]["username"], "admin");
    let again = app.admin().post("/reservations", reservation(&json!({}))).key("once").await.ok();
    assert_eq!(again["id"], made["id"], "the same key makes nothing new");
    let later = json!({"team": "team-b", "starts_at": at(120), "ends_at": at(180)});
    let later = app.admin().post("/reservations", reservation(&later)).await.ok();
    let list = async |query: &str| -> Vec<Value> {
        let listed = items(&app.user("nobody").get(&format!("/reservations?{query}")).await.ok());
        listed.into_iter().map(|row| row["id"].clone()).collect()
    };
    assert_eq!(list("").await, [made["id"].clone(), later["id"].clone()], "sharing is everybody's to see");
    assert_eq!(list("team=team-b").await, [later["id"].clone()]);
    assert_eq!(list("team=lab&to=2026-03-02T11:00:00Z").await, [made["id"].clone()]);
    assert_eq!(list("from=2026-03-02T11:30:00Z").await, [later["id"].clone()]);
    assert_eq!(list(&format!("pool={POOL}&limit=1")).await, [made["id"].clone()]);
    let page = app.admin().get("/reservations?limit=1").await.ok();
    let cursor = text(&page["next_cursor"]).to_owned();
    assert_eq!(list(&format!("limit=1&cursor={cursor}")).await, [later["id"].clone()]);
    let path = format!("/reservations/{}", text(&made["id"]));
    app.user("lab-lead").delete(&path).await.refused(403, "forbidden");
    app.admin().delete(&path).await.expect(204);
    app.admin().delete(&path).await.refused(404, "not_found");
    assert_eq!(app.count_events("reservation.created").await, 2);
    assert_eq!(app.count_events("reservation.deleted").await, 1);
}

#[tokio::test]
async fn a_wrong_reservation_is_refused_by_field() {
    let app = TestApp::start().await;
    for (more, field, code) in [
        (json!({"pool": "nothing"}), "/pool", "unknown_pool"),
        (json!({"team": "nothing"}), "/team", "unknown_team"),
        (json!({"gpus": 0}), "/gpus", "out_of_range"),
        (json!({"gpus": 9}), "/gpus", "more_than_the_pool"),
        (json!({"starts_at": at(-10)}), "/starts_at", "in_the_past"),
        (json!({"starts_at": at(-20), "ends_at": at(-10)}), "/ends_at", "in_the_past"),
        (json!({"ends_at": at(60)}), "/ends_at", "not_after_start"),
        (json!({"ends_at": at(60 + 367 * 24 * 60)}), "/ends_at", "span_too_long"),
        (
            json!({"starts_at": at(367 * 24 * 60), "ends_at": at(368 * 24 * 60)}),
            "/starts_at",
            "too_far_ahead",
        ),
        (json!({"note": "x".repeat(501)}), "/note", "invalid_length"),
    ] {
        app.admin().post("/reservations", reservation(&more)).await.refused_field(422, field, code);
    }
    app.admin().post("/reservations", reservation(&json!({}))).await.expect(201);
    // Six of eight are reserved from 60 to 120: two are left there, all eight beside it.
    let overlapping = |gpus: i64| reservation(&json!({"gpus": gpus, "starts_at": at(30), "ends_at": at(61)}));
    app.admin().post("/reservations", overlapping(3)).await.refused_field(422, "/gpus", "reserved_already");
    app.admin().post("/reservations", overlapping(2)).await.expect(201);
    let beside = reservation(&json!({"gpus": 8, "starts_at": at(120), "ends_at": at(121)}));
    app.admin().post("/reservations", beside).await.expect(201);
    app.admin().get("/reservations?from=soon").await.refused_field(400, "from", "invalid_value");
    app.admin().get("/reservations?to=2026-03-01T00:00:00Z").await.refused_field(
        400,
        "from",
        "not_before_to",
    );
}

#[tokio::test]
async fn who_ends_before_a_reservation_begins_may_use_its_space() {
    let app = TestApp::start().await;
    app.admin().post("/reservations", reservation(&json!({"gpus": 8}))).await.expect(201);
    let long = app.submit("b-member", "team-b", json!({"time_limit_secs": 7_200})).await;
    let short = app.submit("b-member", "team-b", json!({"time_limit_secs": 3_600})).await;
    app.schedule().await;
    assert_eq!(app.job(&short["id"]).await["state"], "starting");
    let why = app.admin().get(&format!("/jobs/{}/explain", text(&long["id"]))).await.ok();
    assert_eq!(
        (&why["verdict"]["code"], &why["verdict"]["detail"]),
        (&json!("behind_others"), &json!("reserved_ahead"))
    );
    assert_eq!(why["verdict"]["numbers"]["planned_in_secs"], 3_600);
    assert_eq!(why["help"]["action"], "set_time_limit");
    for language in ["en", "zh"] {
        assert!(!text(&why["verdict"]["sentence"][language]).is_empty(), "{why}");
    }
    let own = app.submit("a-member", "team-a", json!({})).await;
    app.schedule().await;
    assert_eq!(app.job(&own["id"]).await["state"], "starting", "it is the team's own");
}

#[tokio::test]
async fn a_maintenance_window_is_made_listed_and_withdrawn() {
    let app = TestApp::start().await;
    let made = app.admin().post("/maintenance-windows", window(&json!({}))).await.ok();
    assert_eq!((&made["nodes"][0]["name"], &made["note"]), (&json!(NODE), &json!("new fans")));
    let all = json!({"nodes": [], "pool": POOL, "starts_at": at(100), "ends_at": at(110)});
    let all = app.admin().post("/maintenance-windows", window(&all)).await.ok();
    assert_eq!(all["nodes"], made["nodes"], "the pool has this one node");
    let listed = async |query: &str| {
        items(&app.user("nobody").get(&format!("/maintenance-windows?{query}")).await.ok()).len()
    };
    let queries =
        [("", 2), ("node=node-1", 2), ("to=2026-03-02T10:30:00Z", 1), ("from=2026-03-02T10:35:00Z", 1)];
    for (query, expected) in queries {
        assert_eq!(listed(query).await, expected, "{query}");
    }
    let path = format!("/maintenance-windows/{}", text(&made["id"]));
    app.user("lab-lead").delete(&path).await.refused(403, "forbidden");
    app.admin().delete(&path).await.expect(204);
    app.admin().delete(&path).await.refused(404, "not_found");
    assert_eq!(listed("").await, 1);
    assert_eq!(app.count_events("maintenance_window.created").await, 2);
    assert_eq!(app.count_events("maintenance_window.deleted").await, 1);
}

#[tokio::test]
async fn a_wrong_maintenance_window_is_refused_by_field() {
    let app = TestApp::start().await;
    for (more, field, code) in [
        (json!({"nodes": [NODE, "nothing"]}), "/nodes/1", "unknown_node"),
        (json!({"nodes": []}), "/nodes", "invalid_length"),
        (json!({"pool": POOL}), "/nodes", "nodes_and_pool"),
        (json!({"labels": {"rack": "r1"}}), "/labels", "labels_without_pool"),
        (json!({"nodes": [], "pool": "nothing"}), "/pool", "unknown_pool"),
        (json!({"nodes": [], "pool": POOL, "labels": {"rack": "none"}}), "/labels", "no_node"),
        (json!({"starts_at": at(-10)}), "/starts_at", "in_the_past"),
        (json!({"ends_at": at(30)}), "/ends_at", "not_after_start"),
    ] {
        app.admin().post("/maintenance-windows", window(&more)).await.refused_field(422, field, code);
    }
    assert_eq!(app.count_events("maintenance_window.created").await, 0);
}

#[tokio::test]
async fn a_window_drains_its_node_in_time_and_the_node_takes_work_again_by_itself() {
    let app = TestApp::start().await;
    let runs = app.submit("a-member", "team-a", json!({"gpus": 4, "checkpoint": "on_signal"})).await;
    app.schedule().await;
    app.node.run_all().await;
    app.admin().post("/maintenance-windows", window(&json!({}))).await.expect(201);
    // Free GPUs are there; who would run into the window waits, and is told until when it could run.
    let long = app.submit("a-second", "team-a", json!({"time_limit_secs": 3_601, "gpus": 2})).await;
    let short = app.submit("a-second", "team-a", json!({"time_limit_secs": 3_600})).await;
    app.schedule().await;
    assert_eq!(app.job(&short["id"]).await["state"], "starting");
    let why = app.admin().get(&format!("/jobs/{}/explain", text(&long["id"]))).await.ok();
    assert_eq!(
        (&why["verdict"]["code"], &why["verdict"]["detail"]),
        (&json!("fragmented"), &json!("maintenance_ahead"))
    );
    assert_eq!(why["verdict"]["numbers"]["planned_in_secs"], 3_600);
    assert_eq!(why["evidence"][0]["blocked_by"], "maintenance");
    app.node.run_all().await;
    app.admin().post(&format!("/jobs/{}/cancel", text(&long["id"])), json!({})).await.expect(200);

    app.advance_secs(3_599);
    app.node.end(text(&short["id"]), 0).await;
    app.schedule().await;
    assert_eq!(app.job(&runs["id"]).await["state"], "running", "a second is left");
    app.advance_secs(1);
    app.node.heartbeat().await;
    app.schedule().await;
    assert_eq!(app.job(&runs["id"]).await["state"], "leaving");
    app.node.obey().await;
    app.schedule().await;
    assert_eq!(app.job(&runs["id"]).await["state"], "queued", "the node takes no work");
    let evictions = items(&app.admin().get("/evictions").await.ok());
    assert_eq!((evictions.len(), &evictions[0]["cause"]), (1, &json!("drain")));
    let node = app.admin().get(&format!("/nodes/{NODE}")).await.ok();
    assert_eq!(node["state"], "ready", "nothing was stored that would have to be set back");

    app.advance_secs(1_799);
    app.node.heartbeat().await;
    app.schedule().await;
    assert_eq!(app.job(&runs["id"]).await["state"], "queued");
    app.advance_secs(1);
    app.schedule().await;
    assert_eq!(app.job(&runs["id"]).await["state"], "starting", "the window is over");
}
