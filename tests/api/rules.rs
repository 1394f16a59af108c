//! Rules by place: a queue's own, its team's, those above, the installation's; and what keeps wrong ones out.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use serde_json::{Value, json};

async fn put(app: &TestApp, change: Value) -> reeve_tests::client::Reply {
    let policy = app.admin().get("/policy").await.ok();
    let mut document = policy["document"].clone();
    for (key, value) in change.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    app.admin().put("/policy", document).if_match(policy["version"].as_i64().unwrap_or_default()).await
}

#[tokio::test]
async fn a_job_tells_its_rules_and_where_each_comes_from() {
    let app = TestApp::start().await;
    let night = json!({"from": "20:00", "until": "08:00", "zone": "Asia/Shanghai"});
    let rules = json!({
        "team_rules": {
            "lab": {"batch": {"min_runtime_secs": 900, "time_window": night}},
            "team-a": {"batch": {"grace_secs": 30}},
        },
        "queue_rules": {"team-a-q": {"batch": {"time_window": null}}},
    });
    put(&app, rules).await.expect(200);
    let job = app.submit("a-member", "team-a", json!({"kind": "batch"})).await;
    let view = app.user("a-viewer").get(&format!("/jobs/{}/rules", text(&job["id"]))).await.ok();
    let rule = |name: &str| -> (Value, String) {
        let rules = view["rules"].as_array().expect("a list");
        let rule = rules.iter().find(|rule| rule["name"] == name).expect(name);
        (rule["value"].clone(), format!("{} {}", text(&rule["level"]), rule["slug"].as_str().unwrap_or("-")))
    };
    assert_eq!(rule("grace_secs"), (json!(30), "team team-a".into()));
    assert_eq!(rule("min_runtime_secs"), (json!(900), "team lab".into()));
    assert_eq!(rule("time_window"), (Value::Null, "queue team-a-q".into()));
    assert_eq!(rule("may_borrow"), (json!(true), "installation -".into()));
    assert_eq!(view["policy_version"], 1);
}

#[tokio::test]
async fn a_submission_gets_the_class_and_the_ceiling_of_its_place() {
    let app = TestApp::start().await;
    let rules = json!({
        "team_rules": {"lab": {"batch": {"default_priority": "scavenger", "ceiling": "scavenger"}}},
        "queue_rules": {"team-a-q": {"batch": {"ceiling": "high"}}},
    });
    put(&app, rules).await.expect(200);
    let by_default = app.submit("a-member", "team-a", json!({"kind": "batch"})).await;
    assert_eq!(by_default["priority_class"], "scavenger", "the team above says so");
    let high = app.submit("a-member", "team-a", json!({"kind": "batch", "priority": "high"})).await;
    assert_eq!(high["priority_class"], "high", "its queue lets it");
    let body = |class: &str| json!({"name": "x", "team": "team-a", "kind": "batch", "gpus": 1, "command": ["true"], "priority": class});
    let reply = app.user("a-member").post("/jobs", body("critical")).await;
    let refused = reply.refused(422, "priority_above_ceiling");
    assert!(text(&refused["detail"]).contains("of queue team-a-q, which is high"), "{refused}");
    put(&app, json!({"queue_rules": {}})).await.expect(200);
    let reply = app.user("a-member").post("/jobs", body("low")).await;
    let refused = reply.refused(422, "priority_above_ceiling");
    assert!(text(&refused["detail"]).contains("of team lab, which is scavenger"), "{refused}");
}

#[tokio::test]
async fn a_job_waits_for_its_time_window_and_starts_when_it_opens() {
    let app = TestApp::start().await;
    let now = app.state.clock.now().format("%H:%M").to_string();
    let later = (app.state.clock.now() + chrono::TimeDelta::hours(2)).format("%H:%M").to_string();
    let window = json!({"from": later, "until": now});
    put(&app, json!({"team_rules": {"team-a": {"batch": {"time_window": window}}}})).await.expect(200);
    let job = app.submit("a-member", "team-a", json!({"kind": "batch"})).await;
    app.schedule().await;
    let waiting = app.job(&job["id"]).await;
    assert_eq!(waiting["reason"]["code"], "outside_time_window", "{waiting}");
    let explained = app.user("a-member").get(&format!("/jobs/{}/explain", text(&job["id"]))).await.ok();
    assert_eq!(explained["help"]["action"], "wait_for_window", "{explained}");
    app.advance_secs(2 * 3600);
    app.schedule().await;
    assert_eq!(app.job(&job["id"]).await["state"], "starting");
}

#[tokio::test]
async fn rules_that_hold_for_nobody_or_contradict_themselves_are_refused() {
    let app = TestApp::start().await;
    for (change, pointer, code) in [
        (
            json!({"team_rules": {"nobody": {"batch": {"grace_secs": 1}}}}),
            "/team_rules/nobody",
            "unknown_team",
        ),
        (
            json!({"queue_rules": {"no-q": {"batch": {"grace_secs": 1}}}}),
            "/queue_rules/no-q",
            "unknown_queue",
        ),
        (
            json!({"team_rules": {"team-a": {"batch": {"grace_secs": -1}}}}),
            "/team_rules/team-a/batch/grace_secs",
            "out_of_range",
        ),
        (
            json!({"team_rules": {"team-a": {"training": {"ceiling": "low"}}}}),
            "/team_rules/team-a/training/ceiling",
            "above_ceiling",
        ),
    ] {
        put(&app, change).await.refused_field(422, pointer, code);
    }
    let wrong =
        json!({"team_rules": {"team-a": {"batch": {"time_window": {"from": "25:00", "until": "01:00"}}}}});
    let problem = put(&app, wrong).await;
    assert_eq!(problem.status, 422, "{problem}");
    assert!(problem.to_string().contains("HH:MM"), "{problem}");
    let events = app.admin().get("/policy").await.ok();
    assert_eq!(events["version"], 0, "nothing was kept");
    assert!(items(&app.admin().get("/jobs").await.ok()).is_empty());
}

#[tokio::test]
async fn versions_are_kept_with_their_authors_and_an_older_one_can_come_back() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let none = app.user("nobody").get("/policy/versions").await.ok();
    assert_eq!((items(&none).len(), &none["next_cursor"]), (0, &json!(null)));
    let first = admin.get("/policy").await.ok()["document"].clone();
    for (version, grace) in [(0, 77), (1, 88), (2, 99)] {
        let mut document = first.clone();
        document["kinds"]["batch"]["grace_secs"] = json!(grace);
        document["team_rules"] = json!({"lab": {"batch": {"min_runtime_secs": 5}}});
        document["queue_rules"] = json!({"team-a-q": {"batch": {"grace_secs": 7}}});
        admin.put("/policy", document).if_match(version).await.expect(200);
    }
    let page = admin.get("/policy/versions?limit=2").await.ok();
    let listed: Vec<i64> = items(&page).iter().filter_map(|one| one["version"].as_i64()).collect();
    assert_eq!(listed, [3, 2]);
    assert_eq!(page["items"][0]["created_by"]["username"], "admin");
    let cursor = page["next_cursor"].as_str().expect("there is more");
    let rest = admin.get(&format!("/policy/versions?limit=2&cursor={cursor}")).await.ok();
    let oldest = &rest["items"][0];
    assert_eq!(
        (&oldest["version"], &oldest["document"]["kinds"]["batch"]["grace_secs"]),
        (&json!(1), &json!(77))
    );
    let back = admin.put("/policy", oldest["document"].clone()).if_match(3).await.ok();
    assert_eq!(
        (&back["version"], &back["document"]["kinds"]["batch"]["grace_secs"]),
        (&json!(4), &json!(77))
    );
    assert_eq!(app.count_events("policy.applied").await, 4);

    let rule = async |query: &str, name: &str| -> Value {
        let shown = app.user("nobody").get(&format!("/policy/effective{query}")).await.ok();
        assert_eq!(shown["policy_version"], 4);
        let kinds = shown["kinds"].as_array().expect("kinds").clone();
        let batch = kinds.iter().find(|one| one["kind"] == "batch").expect("batch");
        batch["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .find(|rule| rule["name"] == name)
            .expect(name)
            .clone()
    };
    let grace = rule("", "grace_secs").await;
    assert_eq!((&grace["value"], &grace["level"]), (&json!(77), &json!("installation")));
    let run = rule("?team=team-a", "min_runtime_secs").await;
    assert_eq!((&run["value"], &run["level"], &run["slug"]), (&json!(5), &json!("team"), &json!("lab")));
    let grace = rule("?queue=team-a-q", "grace_secs").await;
    assert_eq!((&grace["value"], &grace["slug"]), (&json!(7), &json!("team-a-q")));
    app.admin().get("/policy/effective?team=nowhere").await.refused(404, "not_found");
}
