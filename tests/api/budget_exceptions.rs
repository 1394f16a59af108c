//! More than a budget allows: asked for by one person, granted by another, for a time.

use crate::money_tools::{ledger, put_prices};
use reeve_core::clock::Clock;
use reeve_tests::TestApp;
use reeve_tests::app::{items, job, text};
use reeve_tests::client::Reply;
use serde_json::{Value, json};

/// Team B has used twelve GPU-hours, six of which a budget of `team` allows.
async fn exceeded(team: &str, unit: &str, action: &str) -> (TestApp, Value) {
    let app = TestApp::start().await;
    put_prices(&app).await;
    for _ in 0..6 {
        app.submit("b-member", "team-b", json!({})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.advance_secs(7_200);
    let body = json!({"team": team, "unit": unit, "amount": "6", "action": action});
    let budget = app.user("finance").post("/budgets", body).await.ok();
    ledger(&app).await;
    app.advance_secs(6);
    (app, budget)
}

fn exception(budget: &Value, amount: &str) -> Value {
    json!({"asks_for": "budget", "team": "team-b", "budget": budget["id"], "amount": amount,
        "duration_secs": 3_600, "reason": "exam week"})
}

async fn submission(app: &TestApp) -> Reply {
    app.user("b-member").post("/jobs", job("team-b", json!({}))).await
}

async fn approve(app: &TestApp, who: &str, escalation: &Value, less: Value) -> Reply {
    let path = format!("/escalations/{}", text(&escalation["id"]));
    let tag = app.admin().get(&path).await.header("etag").to_owned();
    app.user(who).post(&format!("{path}/approve"), less).header("if-match", &tag).await
}

async fn shown(app: &TestApp, budget: &Value) -> Value {
    app.user("finance").get(&format!("/budgets/{}", text(&budget["id"]))).await.ok()
}

#[tokio::test]
async fn an_exception_is_asked_for_granted_by_another_person_and_revoked() {
    let (app, budget) = exceeded("team-b", "gpu_hours", "approval").await;
    let refused = submission(&app).await.refused(422, "budget_needs_approval");
    let detail = text(&refused["detail"]);
    assert!(detail.contains("POST /api/v1/escalations") && detail.contains(text(&budget["id"])), "{detail}");
    assert_eq!(refused["params"]["budget"], budget["id"]);
    let asker = app.user("b-member");
    let before = asker.post("/escalations/preview", exception(&budget, "50.5")).await.ok();
    let states = |preview: &Value| {
        ["before", "after"].map(|side| {
            let budget = &preview["budget"][side];
            (text(&budget["extra"]).to_owned(), text(&budget["state"]).to_owned())
        })
    };
    let expected = [("0", "exceeded"), ("50.5", "ok")].map(|(extra, state)| (extra.into(), state.into()));
    assert_eq!((states(&before), &before["route"]["rule"]), (expected.clone(), &json!("budget")));
    let asked = asker.post("/escalations", exception(&budget, "50.5")).await.ok();
    assert_eq!(
        (&asked["state"], &asked["asked"]["amount"], &asked["budget"]["id"], &asked["budget"]["unit"]),
        (&json!("in_review"), &json!("50.5"), &budget["id"], &json!("gpu_hours"))
    );
    let path = format!("/escalations/{}", text(&asked["id"]));
    assert_eq!(states(&app.user("finance").get(&format!("{path}/preview")).await.ok()), expected);
    asker.post("/escalations", exception(&budget, "1")).await.refused(409, "escalation_open");
    submission(&app).await.refused(422, "budget_needs_approval");
    approve(&app, "b-member", &asked, json!({})).await.refused(403, "escalation_own_request");
    approve(&app, "b-lead", &asked, json!({})).await.refused(403, "escalation_not_approver");
    for (amount, code) in [("0", "out_of_range"), ("-1", "out_of_range"), ("x", "invalid_decimal")] {
        let less = json!({"amount": amount});
        approve(&app, "finance", &asked, less).await.refused_field(422, "/amount", code);
    }
    approve(&app, "finance", &asked, json!({"amount": "50.6"})).await.refused(422, "escalation_larger");
    approve(&app, "finance", &asked, json!({"gpu_hours": 1})).await.refused(422, "escalation_larger");
    submission(&app).await.refused(422, "budget_needs_approval");

    let granted = approve(&app, "finance", &asked, json!({"amount": "20"})).await.ok();
    assert_eq!((&granted["state"], &granted["granted"]["amount"]), (&json!("active"), &json!("20")));
    submission(&app).await.expect(201);
    let with = shown(&app, &budget).await;
    assert_eq!(
        (&with["extra"], &with["state"], &with["amount"]),
        (&json!("20"), &json!("ok"), &json!("6")),
        "{with}"
    );
    assert_eq!(with["extra_until"], granted["expires_at"]);
    assert_eq!(app.count_events("budget.exception_granted").await, 1);
    let longer = json!({"duration_secs": 600, "reason": "not done"});
    let renewed = asker.post(&format!("{path}/renew"), longer).await.ok();
    assert_eq!(
        (&renewed["asked"]["amount"], &renewed["budget"]["id"], &renewed["starts_at"]),
        (&json!("20"), &budget["id"], &granted["expires_at"])
    );
    asker.post(&format!("{path}/revoke"), json!({"comment": "done early"})).await.expect(200);
    submission(&app).await.refused(422, "budget_needs_approval");
    let without = shown(&app, &budget).await;
    assert_eq!((&without["extra"], &without["extra_until"]), (&json!("0"), &Value::Null));
    assert_eq!(app.count_events("budget.exception_revoked").await, 1);
    assert_eq!(app.count_events("escalation.revoked").await, 1);
}

#[tokio::test]
async fn an_exception_ends_by_itself_whether_or_not_the_loop_has_come_to_it() {
    let (app, budget) = exceeded("team-b", "money", "block").await;
    submission(&app).await.refused(422, "budget_exhausted");
    let hours = json!({"gpu_hours": 100});
    app.admin().put("/priority-budgets/team-b", hours).header("if-none-match", "*").await.ok();
    let asked = app.user("b-member").post("/escalations", exception(&budget, "1000")).await.ok();
    approve(&app, "admin", &asked, json!({})).await.expect(200);
    submission(&app).await.expect(201);
    let high = items(&app.admin().get("/priority-budgets?team=team-b").await.ok());
    assert_eq!(high[0]["exception_gpu_hours"], 0, "another budget's exception");
    app.advance_secs(3_600);
    submission(&app).await.refused(422, "budget_exhausted");
    reeve_worker::approvals::step(app.store(), app.clock.now()).await.expect("moved");
    let path = format!("/escalations/{}", text(&asked["id"]));
    assert_eq!(app.admin().get(&path).await.ok()["state"], "expired");
    assert_eq!(app.count_events("budget.exception_revoked").await, 0, "it was over by itself");
    submission(&app).await.refused(422, "budget_exhausted");

    // What is asked of a budget that goes away has nothing to exceed.
    let again = app.user("b-member").post("/escalations", exception(&budget, "1")).await.ok();
    let finance = app.user("finance");
    finance.delete(&format!("/budgets/{}", text(&budget["id"]))).if_match(1).await.expect(204);
    approve(&app, "finance", &again, json!({})).await.refused(409, "budget_gone");
    let open = app.admin().get(&format!("/escalations/{}", text(&again["id"]))).await.ok();
    assert_eq!(
        (&open["state"], &open["budget"]["id"], &open["budget"]["unit"]),
        (&json!("in_review"), &budget["id"], &Value::Null)
    );
}

#[tokio::test]
async fn a_budget_above_is_exceeded_by_the_people_of_its_own_team() {
    let (app, budget) = exceeded("lab", "gpu_hours", "approval").await;
    submission(&app).await.refused(422, "budget_needs_approval");
    let asked = app.user("b-member").post("/escalations", exception(&budget, "100")).await.ok();
    assert_eq!(asked["team"]["slug"], "lab");
    let path = format!("/escalations/{}", text(&asked["id"]));
    app.user("b-member").get(&path).await.expect(200);
    app.user("a-member").get(&path).await.refused(404, "not_found");
    approve(&app, "b-lead", &asked, json!({})).await.refused(404, "not_found");
    approve(&app, "finance", &asked, json!({})).await.expect(200);
    submission(&app).await.expect(201);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_by_its_field_and_tells_nothing_of_others() {
    let (app, budget) = exceeded("team-b", "gpu_hours", "approval").await;
    let unknown = "0190a000-0000-7000-8000-000000000000";
    for (field, value, pointer, code) in [
        ("budget", json!(unknown), "/budget", "unknown_reference"),
        ("amount", json!("0"), "/amount", "out_of_range"),
        ("amount", json!("-5"), "/amount", "out_of_range"),
        ("amount", json!("1000000000.000001"), "/amount", "out_of_range"),
        ("amount", json!("99999999999999999999999"), "/amount", "invalid_decimal"),
        ("amount", json!("0.0000001"), "/amount", "invalid_decimal"),
        ("amount", Value::Null, "/amount", "missing"),
        ("gpu_hours", json!(5), "/gpu_hours", "not_for_this"),
        ("duration_secs", Value::Null, "/duration_secs", "missing"),
        ("asks_for", json!("quota"), "/budget", "not_for_this"),
    ] {
        let mut body = exception(&budget, "5");
        body[field] = value;
        app.user("b-member").post("/escalations", body).await.refused_field(422, pointer, code);
    }
    let mut hours = exception(&budget, "5");
    hours["budget"] = Value::Null;
    app.user("b-member").post("/escalations", hours).await.refused_field(422, "/amount", "not_for_this");

    // Another team's budget is as unknown as one that nobody has; another team's name is refused before that.
    let said = async |team: &str, budget: &Value| -> (u16, Value) {
        let mut body = exception(&json!({"id": budget}), "5");
        body["team"] = json!(team);
        let reply = app.user("a-member").post("/escalations", body).await;
        let mut problem = reply.json();
        for changing in ["request_id", "instance"] {
            problem.as_object_mut().expect("a problem").remove(changing);
        }
        (reply.status, problem)
    };
    for team in ["team-a", "team-b"] {
        let (theirs, nobodys) = (said(team, &budget["id"]).await, said(team, &json!(unknown)).await);
        assert_eq!(theirs, nobodys, "{team}");
        assert!(theirs.0 >= 400, "{theirs:?}");
    }
    assert_eq!(app.count_rows("escalations").await, 0);
    assert_eq!(app.count_rows("budget_exceptions").await, 0);
}
