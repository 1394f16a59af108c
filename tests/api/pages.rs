//! Versions and pages.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::world::{NODE, POOL};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[tokio::test]
async fn versions_keep_changes_from_being_lost() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let path = format!("/quotas/team-a/{POOL}");
    let quota = json!({"guaranteed_gpus": 3});
    admin.put(&path, quota.clone()).await.refused(428, "precondition_required");
    admin.put(&path, quota.clone()).if_match(7).await.refused(412, "stale_version");
    admin.put(&path, quota.clone()).header("if-none-match", "*").await.refused(412, "stale_version");
    let changed = admin.put(&path, quota.clone()).if_match(1).await;
    assert_eq!((changed.expect(200).header("etag"), &changed.json()["version"]), ("\"2\"", &json!(2)));
    admin.put(&path, quota).if_match(1).await.refused(412, "stale_version");
    admin.delete(&path).await.refused(428, "precondition_required");

    let node = format!("/nodes/{NODE}");
    let labels = json!({"labels": {"zone": "z1"}});
    admin.patch(&node, labels.clone()).await.refused(428, "precondition_required");
    let version = admin.get(&node).await.ok()["version"].as_i64().expect("a version");
    admin.patch(&node, labels.clone()).if_match(version + 1).await.refused(412, "stale_version");
    let changed = admin.patch(&node, labels).if_match(version).await.ok();
    assert_eq!((&changed["labels"]["zone"], &changed["version"]), (&json!("z1"), &json!(version + 1)));
    admin.post(&format!("{node}/cordon"), json!({})).await.refused(428, "precondition_required");
    admin.delete(&node).await.refused(428, "precondition_required");

    let policy = admin.get("/policy").await.ok();
    admin.put("/policy", policy["document"].clone()).await.refused(428, "precondition_required");
    let version = policy["version"].as_i64().expect("a version");
    admin.put("/policy", policy["document"].clone()).if_match(version).await.expect(200);
    admin.put("/policy", policy["document"].clone()).if_match(version).await.refused(412, "stale_version");

    for path in ["/teams/team-a", "/pools/h100", "/queues/team-a-q"] {
        let name = json!({"name": "New name"});
        let tag = admin.get(path).await.header("etag").to_owned();
        assert!(tag.starts_with('"'), "{path} has no ETag");
        admin.patch(path, name.clone()).header("if-match", "\"99\"").await.refused(412, "stale_version");
        let changed = admin.patch(path, name).header("if-match", &tag).await;
        assert_eq!(changed.ok()["name"], "New name");
        assert_ne!(changed.header("etag"), tag);
    }
}

#[tokio::test]
async fn pages_join_to_the_whole_without_gaps() {
    let app = TestApp::start().await;
    let admin = app.admin();
    for index in 0..7 {
        app.advance_secs(1);
        app.submit("a-member", "team-a", json!({"name": format!("job {index}")})).await;
        admin.post("/teams", json!({"slug": format!("t{index}"), "name": "T"})).await.expect(201);
        admin.post("/pools", json!({"slug": format!("p{index}"), "name": "P"})).await.expect(201);
        admin.post("/join-tokens", json!({"pool": POOL})).await.expect(201);
    }
    app.schedule().await;
    for path in [
        "/jobs",
        "/teams",
        "/pools",
        "/users",
        "/quotas",
        "/queues",
        "/tokens",
        "/join-tokens",
        "/nodes",
        "/queues/team-a-q/line",
        "/teams/team-a/members",
        "/loans",
        "/reclaims",
        "/evictions",
    ] {
        let all = items(&admin.get(&format!("{path}?limit=200")).await.ok());
        let mut joined: Vec<Value> = Vec::new();
        let mut next = format!("{path}?limit=2");
        loop {
            let reply = admin.get(&next).await;
            let page = reply.ok();
            let part = items(&page);
            assert!(part.len() <= 2, "{path}");
            joined.extend(part);
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            assert!(reply.header("link").contains("rel=\"next\""), "{path} has no Link");
            next = format!("{path}?limit=2&cursor={cursor}");
        }
        assert_eq!(joined, all, "{path}");
        let distinct: BTreeSet<String> = joined.iter().map(Value::to_string).collect();
        assert_eq!(distinct.len(), joined.len(), "{path} repeats rows");
    }
}

#[tokio::test]
async fn a_cursor_keeps_to_its_filter() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        app.advance_secs(1);
        app.submit("a-member", "team-a", json!({})).await;
    }
    let member = app.user("a-member");
    let page = member.get("/jobs?limit=1&state=queued").await.ok();
    let cursor = text(&page["next_cursor"]);
    member.get(&format!("/jobs?limit=2&state=queued&cursor={cursor}")).await.expect(200);
    member.get(&format!("/jobs?state=running&cursor={cursor}")).await.refused(400, "cursor_mismatch");
    member.get(&format!("/queues?cursor={cursor}")).await.refused(400, "cursor_mismatch");
    member.get("/jobs?cursor=nonsense").await.refused(400, "cursor_mismatch");
}

#[tokio::test]
async fn lists_obey_their_filters() {
    let app = TestApp::start().await;
    app.submit("a-member", "team-a", json!({"name": "Alpha 100%", "kind": "batch"})).await;
    app.submit("a-second", "team-a", json!({"name": "beta", "labels": {"run": "7", "part": "a=b"}})).await;
    app.submit("b-member", "team-b", json!({"name": "gamma"})).await;
    let names = async |query: &str| -> Vec<String> {
        let page = app.admin().get(&format!("/jobs?{query}")).await.ok();
        items(&page).iter().map(|job| text(&job["name"]).to_owned()).collect()
    };
    assert_eq!(names("team=lab").await.len(), 3);
    assert_eq!(names("team=team-b").await, ["gamma"]);
    assert_eq!(names("kind=batch").await, ["Alpha 100%"]);
    assert_eq!(names("user=a-second").await, ["beta"]);
    assert_eq!(names("queue=team-b-q").await, ["gamma"]);
    assert_eq!(names("name_contains=ALPHA").await, ["Alpha 100%"]);
    assert_eq!(names("name_contains=%25").await, ["Alpha 100%"], "a percent sign is a percent sign");
    assert_eq!(names("label=run%3D7&label=part%3Da%3Db").await, ["beta"]);
    assert_eq!(names("label=run%3D7&label=part%3Dc").await.len(), 0);
    app.admin().get("/jobs?label=run").await.refused_field(400, "label", "wrong_format");
    assert_eq!(names("state=queued&state=running").await.len(), 3);
    assert_eq!(names("state=running").await.len(), 0);
    let counted = app.admin().get("/jobs?count=true&limit=1").await.ok();
    assert_eq!(counted["counts"]["queued"], 3);
    let labelled = app.admin().get("/jobs?count=true&limit=1&label=run%3D7").await.ok();
    assert_eq!(labelled["counts"]["queued"], 1);
}

#[tokio::test]
async fn a_batch_is_taken_whole_or_not_at_all() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let good = |name: &str| reeve_tests::app::job("team-a", json!({"name": name}));
    let batch = json!({"jobs": [good("one"), good("two"), good("three")]});
    let made = member.post("/jobs/batch", batch).key("batch").await.ok();
    let made = items(&made);
    assert_eq!(made.iter().map(|item| text(&item["name"])).collect::<Vec<_>>(), ["one", "two", "three"]);
    let mut bad = good("four");
    bad["gpus"] = json!(-1);
    let mut worse = good("five");
    worse["queue"] = json!("nowhere");
    let refused = member.post("/jobs/batch", json!({"jobs": [good("ok"), bad, worse]})).await;
    refused.refused_field(422, "/jobs/1/gpus", "out_of_range");
    refused.refused_field(422, "/jobs/2/queue", "unknown_queue");
    let mut typo = good("six");
    typo["gpuz"] = json!(1);
    let refused = member.post("/jobs/batch", json!({"jobs": [good("ok"), typo]})).await;
    refused.refused_field(422, "/jobs/1/gpuz", "unknown_field");
    let foreign = reeve_tests::app::job("team-b", json!({}));
    member.post("/jobs/batch", json!({"jobs": [good("ok"), foreign]})).await.refused(403, "forbidden");
    member.post("/jobs/batch", json!({"jobs": []})).await.refused_field(422, "/jobs", "out_of_range");
    let many: Vec<Value> = (0..1_001).map(|_| good("x")).collect();
    member.post("/jobs/batch", json!({"jobs": many})).await.refused_field(422, "/jobs", "out_of_range");
    assert_eq!(app.count_rows("jobs").await, 3);
    assert_eq!(app.count_events("job.submitted").await, 3);
}
