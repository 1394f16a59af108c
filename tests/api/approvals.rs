//! Escalations from the request to the end: who decides, who does not, and what each refusal says and leaves.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::client::Reply;
use serde_json::{Value, json};

fn with(mut body: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

/// Two steps: a lead or approver of the team, then an administrator.
async fn ask(app: &TestApp, who: &str, job: &Value, more: Value) -> Reply {
    let body = json!({"asks_for": "priority", "job": job["id"], "level": "critical", "scope": "platform",
        "duration_secs": 7_200, "reason": "the paper is due"});
    app.user(who).post("/escalations", with(body, &more)).await
}

async fn act(app: &TestApp, who: &str, escalation: &Value, verb: &str, body: Value) -> Reply {
    let id = text(&escalation["id"]);
    let tag = app.admin().get(&format!("/escalations/{id}")).await.header("etag").to_owned();
    app.user(who).post(&format!("/escalations/{id}/{verb}"), body).header("if-match", &tag).await
}

async fn show(app: &TestApp, escalation: &Value) -> Value {
    app.admin().get(&format!("/escalations/{}", text(&escalation["id"]))).await.ok()
}

/// The rules by which attempts on it were refused, oldest first.
async fn refusals(app: &TestApp, escalation: &Value) -> Vec<String> {
    app.seal().await;
    let page =
        app.admin().get(&format!("/events?subject_id={}&limit=200", text(&escalation["id"]))).await.ok();
    let mut denied: Vec<String> = items(&page)
        .iter()
        .filter(|event| event["allowed"] == false)
        .map(|event| text(&event["rule"]).to_owned())
        .collect();
    denied.reverse();
    denied
}

async fn actions(app: &TestApp, escalation: &Value) -> Vec<String> {
    app.seal().await;
    let page =
        app.admin().get(&format!("/events?subject_id={}&limit=200", text(&escalation["id"]))).await.ok();
    let done = items(&page).into_iter().filter(|event| event["allowed"] == true);
    let mut actions: Vec<String> = done.map(|event| text(&event["action"]).to_owned()).collect();
    actions.reverse();
    actions
}

async fn tick(app: &TestApp) -> usize {
    reeve_worker::approvals::step(app.store(), reeve_core::clock::Clock::now(&app.clock))
        .await
        .expect("moved")
        .moved
}

#[tokio::test]
async fn a_request_goes_its_way_and_ends_by_itself() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    let made = ask(&app, "a-member", &job, json!({})).await;
    made.expect(201);
    let asked = made.json();
    assert_eq!(
        (&asked["state"], &asked["step"], &asked["rule"]),
        (&json!("in_review"), &json!(1), &json!("beyond_the_team"))
    );
    assert_eq!(asked["steps"][0]["any_of"][0]["role"], "lead");
    assert_eq!(asked["steps"][1]["any_of"][0]["platform_role"], "admin");
    assert_eq!(asked["my"]["approve"], "escalation_own_request");
    assert!(asked["my"]["withdraw"].is_null());
    let inbox = |page: Value| -> Vec<Value> {
        items(&page).into_iter().map(|row| row["escalation"]["id"].clone()).collect()
    };
    assert_eq!(inbox(app.user("a-lead").get("/approvals").await.ok()), [asked["id"].clone()]);
    assert_eq!(inbox(app.admin().get("/approvals").await.ok()), Vec::<Value>::new(), "its step has not come");
    let once = act(&app, "a-lead", &asked, "approve", json!({"comment": "go"})).await.ok();
    assert_eq!((&once["state"], &once["step"]), (&json!("in_review"), &json!(2)));
    assert_eq!(inbox(app.admin().get("/approvals").await.ok()), [asked["id"].clone()]);
    let smaller = json!({"level": "high", "duration_secs": 3_600, "comment": "an hour is enough"});
    let active = act(&app, "admin", &asked, "approve", smaller).await.ok();
    assert_eq!(active["state"], "active");
    assert_eq!(
        (&active["asked"]["level"], &active["granted"]["level"]),
        (&json!("critical"), &json!("high"))
    );
    let raised = app.job(&job["id"]).await;
    assert_eq!((&raised["priority_class"], &raised["raised_to"]), (&json!("normal"), &json!("high")));
    assert_eq!(raised["raised_until"], active["expires_at"]);
    app.advance_secs(3_599);
    assert_eq!(tick(&app).await, 0);
    app.advance_secs(1);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(tick(&app).await, 0, "whoever comes second finds nothing to do");
    let over = show(&app, &asked).await;
    assert_eq!((&over["state"], &over["ended_at"]), (&json!("expired"), &active["expires_at"]));
    assert_eq!(app.job(&job["id"]).await["raised_to"], Value::Null);
    assert_eq!(
        actions(&app, &asked).await,
        [
            "escalation.requested",
            "escalation.in_review",
            "escalation.step_approved",
            "escalation.approved",
            "escalation.activated",
            "escalation.expired"
        ]
    );
    assert_eq!(inbox(app.admin().get("/approvals").await.ok()), Vec::<Value>::new());
    let mine = app.user("a-member").get("/escalations?mine=true&state=expired").await.ok();
    assert_eq!(items(&mine).len(), 1);
}

#[tokio::test]
async fn what_may_not_be_is_refused_with_its_reason_and_written_down() {
    let app = TestApp::start().await;
    let job = app.submit("lab-lead", "team-a", json!({})).await;
    // The administrator stands at the second step; lab-lead at the first, and asked for it.
    let asked = ask(&app, "lab-lead", &job, json!({})).await.ok();
    act(&app, "lab-lead", &asked, "approve", json!({})).await.refused(403, "escalation_own_request");
    act(&app, "a-member", &asked, "approve", json!({})).await.refused(403, "escalation_not_approver");
    act(&app, "admin", &asked, "approve", json!({})).await.refused(403, "escalation_not_approver");
    let larger = act(&app, "a-lead", &asked, "approve", json!({"duration_secs": 7_201})).await;
    larger.refused_field(422, "/duration_secs", "larger");
    app.user("a-lead")
        .post(&format!("/escalations/{}/approve", text(&asked["id"])), json!({}))
        .await
        .refused(428, "precondition_required");
    // A role that was taken away counts no more, whatever was remembered of it.
    app.admin().delete("/teams/team-a/members/a-approver/approver").await.expect(204);
    act(&app, "a-approver", &asked, "approve", json!({})).await.refused(404, "not_found");
    app.admin().call("PUT", "/teams/team-a/members/a-approver/viewer").await.expect(204);
    act(&app, "a-approver", &asked, "approve", json!({})).await.refused(403, "escalation_not_approver");
    act(&app, "a-lead", &asked, "approve", json!({})).await.expect(200);
    // The administrator made a-lead an administrator too: still one person, and two steps need two.
    let lead = app.admin().get("/users/a-lead").await;
    app.admin()
        .patch("/users/a-lead", json!({"platform_roles": ["admin"]}))
        .header("if-match", lead.header("etag"))
        .await
        .expect(200);
    act(&app, "a-lead", &asked, "approve", json!({})).await.refused(403, "escalation_same_person");
    act(&app, "a-lead", &asked, "delegate", json!({"to": "nobody"}))
        .await
        .refused(403, "escalation_same_person");
    act(&app, "admin", &asked, "delegate", json!({"to": "a-lead"}))
        .await
        .refused(403, "escalation_same_person");
    act(&app, "admin", &asked, "approve", json!({})).await.expect(200);
    act(&app, "admin", &asked, "approve", json!({})).await.refused(409, "escalation_state");
    act(&app, "lab-lead", &asked, "withdraw", json!({})).await.refused(409, "escalation_state");
    act(&app, "a-member", &asked, "revoke", json!({"comment": "no"}))
        .await
        .refused(403, "escalation_not_yours");
    app.advance_secs(7_200);
    assert_eq!(tick(&app).await, 1);
    let late = act(&app, "admin", &asked, "approve", json!({})).await.refused(409, "escalation_state");
    assert_eq!(late["params"]["state"], "expired");
    let expected = [
        "escalation_own_request",
        "escalation_not_approver",
        "escalation_not_approver",
        "escalation_larger",
        "precondition_required",
        "escalation_not_approver",
        "escalation_same_person",
        "escalation_same_person",
        "escalation_same_person",
        "escalation_state",
        "escalation_state",
        "escalation_not_yours",
        "escalation_state",
    ];
    assert_eq!(refusals(&app, &asked).await, expected);
    // The one who could not know of it is written down as well, without naming it.
    assert_eq!(app.count_events("escalation.decide").await, 1);
}

#[tokio::test]
async fn of_two_approvers_at_once_one_decides() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    let asked = ask(&app, "a-member", &job, json!({"level": "high", "scope": "team"})).await;
    let (id, tag) = (text(&asked.json()["id"]).to_owned(), asked.header("etag").to_owned());
    let path = format!("/escalations/{id}/approve");
    let approve = |who: &str| app.user(who).post(&path, json!({})).header("if-match", &tag);
    let (one, two) = tokio::join!(approve("a-lead").into_future(), approve("a-approver").into_future());
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one} {two}");
    assert_eq!(app.count_events("escalation.approved").await, 1);
    assert_eq!(refusals(&app, &asked.json()).await, ["escalation_state"]);
    // With another step to come, what was seen is not what is there any more.
    let job = app.submit("a-member", "team-a", json!({})).await;
    let asked = ask(&app, "a-member", &job, json!({})).await;
    let tag = asked.header("etag").to_owned();
    act(&app, "a-lead", &asked.json(), "approve", json!({})).await.expect(200);
    let path = format!("/escalations/{}/approve", text(&asked.json()["id"]));
    app.admin().post(&path, json!({})).header("if-match", &tag).await.refused(412, "stale_version");
    assert_eq!(refusals(&app, &asked.json()).await, ["stale_version"]);
}

#[tokio::test]
async fn a_replayed_approval_does_nothing_twice() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    let asked = ask(&app, "a-member", &job, json!({})).await;
    let path = format!("/escalations/{}/approve", text(&asked.json()["id"]));
    let approve = |key: &str| {
        app.user("a-lead").post(&path, json!({})).header("if-match", asked.header("etag")).key(key)
    };
    let once = approve("k1").await;
    let again = approve("k1").await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, "true"));
    assert_eq!(once.body, again.body);
    approve("k2").await.refused(403, "escalation_same_person");
    app.user("a-lead")
        .post(&path, json!({"comment": "other"}))
        .header("if-match", asked.header("etag"))
        .key("k1")
        .await
        .refused(422, "idempotency_mismatch");
    assert_eq!(app.count_events("escalation.step_approved").await, 1);
}

#[tokio::test]
async fn a_step_is_handed_over_for_as_long_as_its_lender_has_it() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    let asked = ask(&app, "a-member", &job, json!({"level": "high", "scope": "team"})).await.ok();
    act(&app, "other-member", &asked, "approve", json!({})).await.refused(404, "not_found");
    act(&app, "a-approver", &asked, "delegate", json!({"to": "a-member"}))
        .await
        .refused(403, "escalation_own_request");
    act(&app, "a-approver", &asked, "delegate", json!({"to": "nobody-at-all"})).await.refused_field(
        422,
        "/to",
        "unknown_user",
    );
    let handed =
        act(&app, "a-approver", &asked, "delegate", json!({"to": "other-member", "comment": "away"}))
            .await
            .ok();
    assert_eq!(handed["steps"][0]["delegations"][0]["to"]["username"], "other-member");
    assert_eq!(items(&app.user("a-approver").get("/approvals").await.ok()).len(), 0, "handed over");
    assert_eq!(items(&app.user("other-member").get("/approvals").await.ok()).len(), 1);
    app.admin().delete("/teams/team-a/members/a-approver/approver").await.expect(204);
    act(&app, "other-member", &asked, "approve", json!({})).await.refused(404, "not_found");
    app.admin().call("PUT", "/teams/team-a/members/a-approver/approver").await.expect(204);
    let active = act(&app, "other-member", &asked, "approve", json!({})).await.ok();
    assert_eq!(
        (&active["state"], &active["steps"][0]["decided_by"]["username"]),
        (&json!("active"), &json!("other-member"))
    );
}

#[tokio::test]
async fn denied_withdrawn_timed_out_and_revoked() {
    let app = TestApp::start().await;
    let ask_anew = async || {
        let job = app.submit("a-member", "team-a", json!({})).await;
        ask(&app, "a-member", &job, json!({"level": "high", "scope": "team"})).await.ok()
    };
    let denied = ask_anew().await;
    act(&app, "a-lead", &denied, "deny", json!({})).await.refused(422, "invalid_body");
    act(&app, "a-lead", &denied, "deny", json!({"comment": "not this week"})).await.expect(200);
    let denied = show(&app, &denied).await;
    assert_eq!((&denied["state"], &denied["end_note"]), (&json!("denied"), &json!("not this week")));
    assert_eq!(denied["steps"][0]["decision"], "denied");
    let withdrawn = ask_anew().await;
    act(&app, "a-lead", &withdrawn, "withdraw", json!({})).await.refused(403, "escalation_not_yours");
    act(&app, "a-member", &withdrawn, "withdraw", json!({})).await.expect(200);
    assert_eq!(show(&app, &withdrawn).await["state"], "withdrawn");
    let revoked = ask_anew().await;
    act(&app, "a-lead", &revoked, "revoke", json!({"comment": "x"})).await.refused(409, "escalation_state");
    act(&app, "a-lead", &revoked, "approve", json!({})).await.expect(200);
    let over = act(&app, "a-approver", &revoked, "revoke", json!({"comment": "others need it"})).await.ok();
    assert_eq!((&over["state"], &over["ended_by"]["username"]), (&json!("revoked"), &json!("a-approver")));
    let late = ask_anew().await;
    app.advance_secs(3 * 86_400);
    assert_eq!(tick(&app).await, 1);
    let late = show(&app, &late).await;
    assert_eq!((&late["state"], &late["end_note"]), (&json!("timed_out"), &json!("nobody decided in time")));
    let gone = ask_anew().await;
    app.admin().post(&format!("/jobs/{}/cancel", text(&gone["job"]["id"])), json!({})).await.expect(200);
    assert_eq!(tick(&app).await, 1);
    assert_eq!(show(&app, &gone).await["end_note"], "the job has ended");
}

#[tokio::test]
async fn a_wrong_request_is_refused_by_field() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    for (more, pointer, code) in [
        (json!({"asks_for": "sunshine"}), "/asks_for", "unknown_value"),
        (json!({"level": null}), "/level", "missing"),
        (json!({"level": "highest"}), "/level", "unknown_value"),
        (json!({"scope": "world"}), "/scope", "unknown_value"),
        (json!({"team": "team-a"}), "/team", "not_for_this"),
        (json!({"queue": "team-a-q"}), "/queue", "not_for_this"),
        (json!({"gpu_hours": 3}), "/gpu_hours", "not_for_this"),
        (json!({"duration_secs": null}), "/duration_secs", "missing"),
        (json!({"duration_secs": 59}), "/duration_secs", "out_of_range"),
        (json!({"duration_secs": 31 * 86_400}), "/duration_secs", "out_of_range"),
        (json!({"reason": " "}), "/reason", "blank"),
        (json!({"starts_at": "2026-03-02T09:00:30Z"}), "/starts_at", "in_the_past"),
    ] {
        ask(&app, "a-member", &job, more).await.refused_field(422, pointer, code);
    }
    ask(&app, "a-member", &job, json!({"level": "normal"})).await.refused(422, "escalation_needless");
    ask(&app, "b-member", &job, json!({})).await.refused(404, "not_found");
    ask(&app, "a-viewer", &job, json!({})).await.refused(403, "forbidden");
    ask(&app, "a-member", &job, json!({})).await.expect(201);
    ask(&app, "a-second", &job, json!({})).await.refused(409, "escalation_open");
    ask(&app, "a-member", &job, json!({"break_glass": true})).await.refused(403, "break_glass_refused");
}
