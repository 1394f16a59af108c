//! The area of the last hours: each moment as it was then, not as it is now.

use chrono::{DateTime, Utc};
use reeve_tests::TestApp;
use reeve_tests::world::{POOL, inventory};
use serde_json::{Value, json};

const HOUR_SECS: i64 = 3_600;

/// Own, borrowed, idle and down GPUs so many seconds before now.
fn at(points: &[Value], secs_ago: i64) -> [f64; 4] {
    let moment =
        |point: &Value| point["at"].as_str().expect("a time").parse::<DateTime<Utc>>().expect("a time");
    let last = moment(points.last().expect("points"));
    let point =
        points.iter().rev().find(|point| (last - moment(point)).num_seconds() >= secs_ago).expect("a moment");
    ["own_gpus", "borrowed_gpus", "idle_gpus", "down_gpus"].map(|name| point[name].as_f64().expect("GPUs"))
}

async fn points(app: &TestApp, hours: i64) -> Vec<Value> {
    let history = app.admin().get(&format!("/overview/history?pool={POOL}&hours={hours}")).await.ok();
    history["points"].as_array().expect("points").clone()
}

#[tokio::test]
async fn capacity_that_came_and_went_is_true_for_each_moment() {
    let app = TestApp::start().await;
    app.schedule().await;
    // 60 minutes ago: eight GPUs, nothing runs. 50: team B uses six, two of them team A's.
    app.advance_secs(600);
    for _ in 0..6 {
        app.submit("b-member", "team-b", json!({})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    // 40: four GPUs more.
    app.advance_secs(600);
    let token = app.admin().post("/join-tokens", json!({"pool": POOL})).await.ok();
    let body = json!({"join_token": token["token"], "inventory": inventory("node-2", 4)});
    let joined = app.stranger().post("/agent/v1/join", body).await.ok();
    let second = app.with_token(joined["credential"].as_str().expect("a credential"));
    let now = reeve_core::clock::Clock::now(&app.clock);
    let instance = uuid::Uuid::from_u128(7);
    let body = json!({"instance_id": instance, "inventory": inventory("node-2", 4), "sent_at": now});
    second.post("/agent/v1/register", body).await.expect(200);
    app.schedule().await;
    // 20: these are lost.
    app.advance_secs(1_200);
    app.node.heartbeat().await;
    assert_eq!(app.reap().await, 1);
    app.schedule().await;
    // 10: and removed.
    app.advance_secs(600);
    app.node.heartbeat().await;
    let version = app.admin().get("/nodes/node-2").await.ok()["version"].as_i64().expect("a version");
    app.admin().delete("/nodes/node-2").if_match(version).await.expect(204);
    app.schedule().await;
    app.advance_secs(600);
    app.node.heartbeat().await;

    let points = points(&app, 2).await;
    assert_eq!(points.len(), 145);
    for (secs_ago, expected) in [
        (HOUR_SECS + 60, [0.0, 0.0, 0.0, 0.0]),
        (HOUR_SECS - 60, [0.0, 0.0, 8.0, 0.0]),
        (45 * 60, [4.0, 2.0, 2.0, 0.0]),
        (30 * 60, [4.0, 2.0, 6.0, 0.0]),
        (15 * 60, [4.0, 2.0, 2.0, 4.0]),
        (5 * 60, [4.0, 2.0, 2.0, 0.0]),
        (0, [4.0, 2.0, 2.0, 0.0]),
    ] {
        assert_eq!(at(&points, secs_ago), expected, "{secs_ago} s ago");
    }
}

#[tokio::test]
async fn a_month_has_as_many_points_and_other_windows_are_refused() {
    let app = TestApp::start().await;
    app.schedule().await;
    app.advance_secs(1);
    let month = points(&app, 744).await;
    assert_eq!((month.len(), at(&month, 0)), (145, [0.0, 0.0, 8.0, 0.0]));
    assert_eq!(at(&month, 3_600), [0.0; 4], "nothing was there");
    for hours in ["0", "745", "-1", "x"] {
        app.admin().get(&format!("/overview/history?hours={hours}")).await.refused(400, "invalid_query");
    }
    app.admin().get("/overview/history?pool=nowhere").await.refused(404, "not_found");
}
