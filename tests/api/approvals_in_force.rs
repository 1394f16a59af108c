//! What an escalation does while it is active, and what is left of it afterwards.

use reeve_core::clock::Clock;
use reeve_tests::TestApp;
use reeve_tests::app::{items, job, text};
use reeve_tests::client::Reply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn ask(app: &TestApp, who: &str, body: Value) -> Reply {
    app.user(who).post("/escalations", body).await
}

fn raise(job: &Value, level: &str, scope: &str, secs: i64) -> Value {
    json!({"asks_for": "priority", "job": job["id"], "level": level, "scope": scope, "duration_secs": secs,
        "reason": "the paper is due"})
}

async fn approve(app: &TestApp, who: &str, escalation: &Value) -> Reply {
    let path = format!("/escalations/{}", text(&escalation["id"]));
    let tag = app.admin().get(&path).await.header("etag").to_owned();
    app.user(who).post(&format!("{path}/approve"), json!({})).header("if-match", &tag).await
}

async fn show(app: &TestApp, escalation: &Value) -> Value {
    app.admin().get(&format!("/escalations/{}", text(&escalation["id"]))).await.ok()
}

async fn tick(app: &TestApp) -> usize {
    reeve_worker::approvals::step(app.store(), app.clock.now()).await.expect("moved").moved
}

fn evicted(evictions: &Value) -> BTreeSet<String> {
    items(evictions).iter().map(|eviction| text(&eviction["job"]["id"]).to_owned()).collect()
}

/// Team a runs eight one-GPU jobs, half of them on b's idle guarantee, long enough to be evictable.
async fn full() -> TestApp {
    let app = TestApp::start().await;
    for number in 0..8 {
        app.submit("a-member", "team-a", json!({"name": format!("a{number}")})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(3_600);
    app
}

#[tokio::test]
async fn whom_the_preview_names_is_who_leaves_and_the_end_takes_nothing() {
    let app = full().await;
    let urgent = app.submit("a-member", "team-a", json!({"name": "urgent", "gpus": 4})).await;
    app.schedule().await;
    assert_eq!(app.count_rows("evictions").await, 0, "equal never preempts equal");
    let wanted = raise(&urgent, "high", "team", 3_600);
    let before = app.admin().get("/events?limit=200").await.ok();
    let said = app.user("a-member").post("/escalations/preview", wanted.clone()).await.ok();
    assert_eq!(
        (&said["route"]["outcome"], &said["route"]["rule"]),
        (&json!("steps"), &json!("inside_the_team"))
    );
    assert_eq!(said["cost"]["gpu_hours"], 4.0, "{said}");
    assert_eq!(said["what_if"]["starts"]["items"][0]["job"]["name"], "urgent");
    let foretold = evicted(&said["what_if"]["evictions"]);
    assert_eq!(foretold.len(), 4);
    assert_eq!(app.admin().get("/events?limit=200").await.ok(), before, "a preview writes nothing");
    let asked = ask(&app, "a-member", wanted).await.ok();
    let again = app.user("a-lead").get(&format!("/escalations/{}/preview", text(&asked["id"]))).await.ok();
    assert_eq!(evicted(&again["what_if"]["evictions"]), foretold);
    approve(&app, "a-lead", &asked).await.expect(200);
    app.schedule().await;
    assert_eq!(evicted(&app.admin().get("/evictions?limit=50").await.ok()), foretold);
    app.node.obey().await;
    app.schedule().await;
    app.node.run_all().await;
    let running = app.job(&urgent["id"]).await;
    assert_eq!((&running["state"], &running["raised_to"]), (&json!("running"), &json!("high")));
    let gone = app.user("a-lead").get(&format!("/escalations/{}/preview", text(&asked["id"]))).await.ok();
    assert_eq!(gone["what_if"], Value::Null, "it is in force already");
    app.advance_secs(3_600);
    app.schedule().await;
    assert_eq!(tick(&app).await, 1);
    for _ in 0..3 {
        app.schedule().await;
    }
    let after = app.job(&urgent["id"]).await;
    assert_eq!(
        (&after["state"], &after["run_number"], &after["raised_to"]),
        (&json!("running"), &json!(1), &Value::Null)
    );
    assert_eq!(
        evicted(&app.admin().get("/evictions?limit=50").await.ok()),
        foretold,
        "the end evicts nobody"
    );
}

#[tokio::test]
async fn a_teams_escalation_lets_its_jobs_be_submitted_above_the_ceiling() {
    let app = TestApp::start().await;
    let critical = || job("team-a", json!({"priority": "critical"}));
    let refused = app.user("a-member").post("/jobs", critical()).await.refused(422, "priority_above_ceiling");
    assert!(text(&refused["detail"]).contains("/api/v1/escalations"), "{refused}");
    let wanted = json!({"asks_for": "priority", "team": "team-a", "queue": "team-a-q", "kinds": ["training"],
        "level": "critical", "scope": "platform", "duration_secs": 3_600, "reason": "release night"});
    let asked = ask(&app, "a-member", wanted).await.ok();
    approve(&app, "a-lead", &asked).await.expect(200);
    app.user("a-member").post("/jobs", critical()).await.refused(422, "priority_above_ceiling");
    approve(&app, "admin", &asked).await.expect(200);
    let taken = app.user("a-member").post("/jobs", critical()).await.expect(201).json();
    assert_eq!((&taken["priority_class"], &taken["raised_to"]), (&json!("normal"), &json!("critical")));
    assert_eq!(taken["warnings"][0]["code"], "raised_for_a_time");
    assert_eq!(app.job(&taken["id"]).await["escalation_id"], asked["id"]);
    // Neither other kinds nor other teams.
    let batch = job("team-a", json!({"priority": "critical", "kind": "batch"}));
    app.user("a-member").post("/jobs", batch).await.refused(422, "priority_above_ceiling");
    let other = job("team-b", json!({"priority": "critical"}));
    app.user("b-member").post("/jobs", other).await.refused(422, "priority_above_ceiling");
    let path = format!("/escalations/{}/revoke", text(&asked["id"]));
    app.user("a-lead").post(&path, json!({"comment": "done early"})).await.expect(200);
    app.advance_secs(6);
    app.user("a-member").post("/jobs", critical()).await.refused(422, "priority_above_ceiling");
    assert_eq!(app.job(&taken["id"]).await["raised_to"], Value::Null);
}

#[tokio::test]
async fn a_quota_is_changed_for_a_time_and_put_back() {
    let app = TestApp::start().await;
    let wanted = |gpus: i64| {
        json!({"asks_for": "quota", "team": "team-a", "pool": "h100", "guaranteed_gpus": gpus,
            "duration_secs": 86_400, "reason": "two more people"})
    };
    let quota = async |team: &str| -> Value {
        let page = app.admin().get(&format!("/quotas?team={team}&pool=h100")).await.ok();
        items(&page)[0]["guaranteed_gpus"].clone()
    };
    ask(&app, "a-lead", wanted(4)).await.refused(422, "escalation_needless");
    let asked = ask(&app, "a-member", wanted(6)).await.ok();
    approve(&app, "a-lead", &asked).await.expect(200);
    // The tree has no room for it: nothing happens, and it can be approved once there is.
    let refused = approve(&app, "admin", &asked).await.refused(422, "guarantee_sum_above_parent");
    assert_eq!(refused["params"]["left_gpus"], 4, "{refused}");
    assert_eq!(
        (show(&app, &asked).await["state"].clone(), quota("team-a").await),
        (json!("in_review"), json!(4))
    );
    let b =
        app.admin().put("/quotas/team-b/h100", json!({"guaranteed_gpus": 2})).header("if-match", "*").await;
    b.expect(200);
    approve(&app, "admin", &asked).await.expect(200);
    assert_eq!(
        (show(&app, &asked).await["state"].clone(), quota("team-a").await),
        (json!("active"), json!(6))
    );
    app.advance_secs(86_400);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(
        (show(&app, &asked).await["state"].clone(), quota("team-a").await),
        (json!("expired"), json!(4))
    );
    // What somebody changed meanwhile stays.
    let asked = ask(&app, "a-member", wanted(5)).await.ok();
    approve(&app, "a-lead", &asked).await.expect(200);
    approve(&app, "admin", &asked).await.expect(200);
    let set = json!({"guaranteed_gpus": 6});
    app.admin().put("/quotas/team-a/h100", set).header("if-match", "*").await.expect(200);
    let path = format!("/escalations/{}/revoke", text(&asked["id"]));
    app.admin().post(&path, json!({"comment": "no more"})).await.expect(200);
    assert_eq!(quota("team-a").await, json!(6));
}

#[tokio::test]
async fn the_budget_decides_who_decides_and_the_ledger_fills_it() {
    let app = TestApp::start().await;
    let budget =
        async || -> Value { items(&app.user("a-viewer").get("/priority-budgets").await.ok()).remove(0) };
    let path = "/priority-budgets/team-a";
    app.user("a-lead")
        .put(path, json!({"gpu_hours": 10}))
        .header("if-none-match", "*")
        .await
        .refused(403, "forbidden");
    app.user("finance").put(path, json!({"gpu_hours": 10})).await.refused(428, "precondition_required");
    app.user("finance").put(path, json!({"gpu_hours": 10})).header("if-none-match", "*").await.expect(201);
    let one = app.submit("a-member", "team-a", json!({"gpus": 2})).await;
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(600);
    let small = ask(&app, "a-member", raise(&one, "high", "team", 3_600)).await.ok();
    assert_eq!((&small["state"], &small["rule"]), (&json!("active"), &json!("small_and_short")), "{small}");
    assert_eq!(budget().await["committed_gpu_hours"], 2.0);
    app.advance_secs(1_800);
    let half = budget().await;
    assert_eq!((&half["used_gpu_hours"], &half["committed_gpu_hours"]), (&json!(1.0), &json!(1.0)), "{half}");
    // Late: it ends at its time all the same.
    app.advance_secs(2_700);
    assert_eq!(tick(&app).await, 1);
    let whole = budget().await;
    assert_eq!(
        (&whole["used_gpu_hours"], &whole["remaining_gpu_hours"]),
        (&json!(2.0), &json!(8.0)),
        "{whole}"
    );
    assert_eq!(
        app.count_rows("usage_intervals where priority_class = 'high' and ended_at is not null").await,
        1
    );
    assert_eq!(app.count_rows("usage_intervals where priority_class = 'normal'").await, 2);
    // Five hours of two GPUs are more than what is left: the platform has to agree, until there is an exception.
    let over =
        app.user("a-member").post("/escalations/preview", raise(&one, "high", "team", 18_000)).await.ok();
    assert_eq!(
        (&over["cost"]["standing"], &over["route"]["rule"]),
        (&json!("over"), &json!("beyond_the_team"))
    );
    let exception = json!({"asks_for": "budget", "team": "team-a", "gpu_hours": 5, "duration_secs": 86_400,
        "reason": "the end of the quarter"});
    let exception = ask(&app, "a-lead", exception).await.ok();
    approve(&app, "finance", &exception).await.expect(200);
    assert_eq!(budget().await["remaining_gpu_hours"], 13.0);
    let within =
        app.user("a-member").post("/escalations/preview", raise(&one, "high", "team", 18_000)).await.ok();
    assert_eq!(
        (&within["cost"]["standing"], &within["route"]["rule"]),
        (&json!("within"), &json!("inside_the_team"))
    );
}

#[tokio::test]
async fn an_emergency_is_active_at_once_and_its_review_is_chased() {
    let app = TestApp::start().await;
    let one = app.submit("a-member", "team-a", json!({})).await;
    let mut emergency = raise(&one, "critical", "platform", 4 * 3_600);
    emergency["break_glass"] = json!(true);
    ask(&app, "a-lead", emergency.clone()).await.refused(403, "break_glass_refused");
    assert_eq!(app.count_events("escalation.break_glass").await, 1);
    let mut long = emergency.clone();
    long["duration_secs"] = json!(4 * 3_600 + 1);
    ask(&app, "a-approver", long).await.refused_field(422, "/duration_secs", "out_of_range");
    let active = ask(&app, "a-approver", emergency).await.ok();
    assert_eq!((&active["state"], &active["break_glass"]), (&json!("active"), &json!(true)));
    assert_eq!(app.job(&one["id"]).await["raised_to"], "critical");
    let inbox = items(&app.admin().get("/approvals").await.ok());
    assert_eq!((inbox.len(), &inbox[0]["waits_for"]), (1, &json!("review")));
    let path = format!("/escalations/{}/review", text(&active["id"]));
    let confirmed = json!({"outcome": "confirmed", "comment": "rightly so"});
    app.user("a-approver").post(&path, confirmed.clone()).await.refused(403, "escalation_own_request");
    app.user("a-lead").post(&path, confirmed.clone()).await.refused(403, "escalation_not_approver");
    app.advance_secs(86_400);
    // Its end and its review fall due: one look each.
    assert_eq!(tick(&app).await, 1);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(tick(&app).await, 0, "asked for once a day");
    app.advance_secs(86_400);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(app.count_events("escalation.review_overdue").await, 2);
    let reviewed = app.user("auditor").post(&path, confirmed.clone()).await.ok();
    assert_eq!(
        (&reviewed["review"]["outcome"], &reviewed["state"]),
        (&json!("confirmed"), &json!("expired"))
    );
    app.admin().post(&path, confirmed).await.refused(409, "escalation_state");
    let two = app.submit("a-member", "team-a", json!({})).await;
    let mut emergency = raise(&two, "critical", "platform", 3_600);
    emergency["break_glass"] = json!(true);
    let active = ask(&app, "a-approver", emergency).await.ok();
    let path = format!("/escalations/{}/review", text(&active["id"]));
    let objected =
        app.admin().post(&path, json!({"outcome": "objected", "comment": "it was none"})).await.ok();
    assert_eq!((&objected["state"], &objected["review"]["outcome"]), (&json!("revoked"), &json!("objected")));
    assert_eq!(app.job(&two["id"]).await["raised_to"], Value::Null);
}

#[tokio::test]
async fn a_renewal_goes_on_where_the_first_ends() {
    let app = TestApp::start().await;
    let one = app.submit("a-member", "team-a", json!({})).await;
    let first = ask(&app, "a-member", raise(&one, "high", "team", 3_600)).await.ok();
    let path = format!("/escalations/{}/renew", text(&first["id"]));
    let longer = json!({"duration_secs": 1_800, "reason": "not done yet"});
    app.user("a-member").post(&path, longer.clone()).await.refused(409, "escalation_state");
    approve(&app, "a-lead", &first).await.expect(200);
    app.user("a-viewer").post(&path, longer.clone()).await.refused(403, "escalation_not_yours");
    let second = app.user("a-member").post(&path, longer).await.expect(201).json();
    assert_eq!((&second["renews"], &second["state"]), (&first["id"], &json!("in_review")));
    approve(&app, "a-approver", &second).await.expect(200);
    let (first, waits) = (show(&app, &first).await, show(&app, &second).await);
    assert_eq!((&waits["state"], &waits["starts_at"]), (&json!("approved"), &first["expires_at"]));
    app.advance_secs(3_600);
    // Two servers look at once: each is moved once.
    let (one_server, another) = tokio::join!(tick(&app), tick(&app));
    assert_eq!(one_server + another, 2);
    assert_eq!(show(&app, &first).await["state"], "expired");
    let goes_on = show(&app, &second).await;
    assert_eq!((&goes_on["state"], &goes_on["activated_at"]), (&json!("active"), &first["expires_at"]));
    assert_eq!(app.job(&one["id"]).await["raised_to"], "high");
    app.advance_secs(1_800);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(app.job(&one["id"]).await["raised_to"], Value::Null);
}

#[tokio::test]
async fn an_exception_keeps_a_job_on_its_loan() {
    let app = full().await;
    // The owner would take four; all but one of those on loan may go, and any three with one of the others.
    let first = items(&app.admin().get("/jobs?limit=50&name_contains=a7").await.ok()).remove(0);
    let wanted = json!({"asks_for": "never_evict", "job": first["id"], "duration_secs": 86_400,
        "reason": "it cannot be resumed"});
    let asked = ask(&app, "a-member", wanted).await.ok();
    assert_eq!(asked["rule"], "otherwise");
    approve(&app, "a-lead", &asked).await.refused(403, "escalation_not_approver");
    approve(&app, "admin", &asked).await.expect(200);
    app.submit("b-member", "team-b", json!({"gpus": 4})).await;
    app.schedule().await;
    let leaving = evicted(&app.admin().get("/evictions?limit=50").await.ok());
    assert_eq!(leaving.len(), 4);
    assert!(!leaving.contains(text(&first["id"])), "it has an exception");
}

#[tokio::test]
async fn the_policy_says_who_decides_and_is_checked() {
    let app = TestApp::start().await;
    let read = app.admin().get("/policy").await;
    let put = async |approvals: Value| -> Reply {
        let mut document = app.admin().get("/policy").await.ok()["document"].clone();
        document["approvals"] = approvals;
        let tag = app.admin().get("/policy").await.header("etag").to_owned();
        app.admin().put("/policy", document).header("if-match", &tag).await
    };
    assert!(read.ok()["document"]["approvals"]["rules"].is_array());
    for (approvals, pointer, code) in [
        (json!({"otherwise": []}), "/approvals/otherwise", "out_of_range"),
        (json!({"otherwise": [{"any_of": []}]}), "/approvals/otherwise/0/any_of", "missing"),
        (json!({"time_out_secs": 1}), "/approvals/time_out_secs", "out_of_range"),
        (
            json!({"otherwise": [{"any_of": [{"role": "approver", "team": "nobody-here"}]}]}),
            "/approvals/otherwise/0/any_of",
            "unknown_team",
        ),
        (
            json!({"rules": [{"name": "x", "then": "auto_approve"}, {"name": "x", "then": "auto_approve"}]}),
            "/approvals/rules/1/name",
            "not_unique",
        ),
    ] {
        put(approvals).await.refused_field(422, pointer, code);
    }
    let council = json!({"rules": [{"name": "never", "when": {"level_at_least": "critical"}, "then": {"refuse": {"because": "we have none"}}}],
        "otherwise": [{"any_of": [{"role": "member", "team": "other"}]}], "break_glass": null});
    put(council).await.expect(200);
    let one = app.submit("a-member", "team-a", json!({})).await;
    let denied = ask(&app, "a-member", raise(&one, "critical", "team", 600)).await.ok();
    assert_eq!(
        (&denied["state"], &denied["rule"], &denied["end_note"]),
        (&json!("denied"), &json!("never"), &json!("we have none"))
    );
    let asked = ask(&app, "a-member", raise(&one, "high", "team", 600)).await.ok();
    approve(&app, "a-lead", &asked).await.refused(403, "escalation_not_approver");
    let active = approve(&app, "other-member", &asked).await.ok();
    assert_eq!(active["state"], "active");
    let mut emergency = raise(&one, "critical", "team", 600);
    emergency["break_glass"] = json!(true);
    ask(&app, "admin", emergency).await.refused(403, "break_glass_refused");
}
