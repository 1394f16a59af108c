//! Who may call what of audit and money.

use crate::entries::{By, Entry, fresh, not};
use reeve_core::clock::SharedClock;
use reeve_tests::TestApp;
use reeve_tests::app::text;
use serde_json::{Value, json};
use std::sync::Arc;

/// The request for an operation of audit or money.
pub(crate) async fn entry(app: &TestApp, id: &str) -> Option<Entry> {
    let overseen = || Entry::new(not("a-member", 403), app.user("a-lead"));
    let everybody = || Entry::new(By::AnybodySignedIn, app.user("nobody"));
    Some(match id {
        "list_audit" | "export_audit" | "show_audit_status" => overseen(),
        "show_audit_event" => {
            app.seal().await;
            Entry::new(not("a-member", 403), app.user("auditor")).at("position", "1")
        }
        "list_audit_checkpoints" | "list_audit_keys" => everybody(),
        "show_usage" => overseen().query("?from=2026-03-01&to=2026-04-01"),
        "list_statements" | "list_months" => overseen(),
        "show_statement" => {
            Entry::new(not("b-lead", 403), app.user("a-lead")).at("month", "2026-03").at("team", "team-a")
        }
        "show_prices" | "list_price_versions" | "list_budgets" | "list_operations" => everybody(),
        "put_prices" => {
            let tag = app.admin().get("/prices").await.expect(200).header("etag").to_owned();
            Entry::new(not("a-lead", 403), app.user("finance"))
                .body(json!({"currency": "CNY", "prices": []}))
                .tag(tag)
        }
        "close_month" | "reopen_month" | "correct_statement" => month(app, id).await,
        "create_budget" => {
            let body =
                json!({"team": fresh_team(app).await, "unit": "gpu_hours", "amount": "1", "action": "warn"});
            Entry::new(not("a-lead", 403), app.user("finance")).body(body)
        }
        "show_budget" => Entry::new(not("b-member", 403), app.user("a-member")).at("id", budget(app).await),
        "edit_budget" => Entry::new(not("a-lead", 403), app.user("lab-lead"))
            .at("id", budget(app).await)
            .body(json!({"note": fresh()}))
            .tag("\"1\""),
        "delete_budget" => {
            Entry::new(not("a-lead", 403), app.user("lab-lead")).at("id", budget(app).await).tag("\"1\"")
        }
        "create_operation" => Entry::new(not("a-member", 403), app.user("a-lead")).body(export()),
        "show_operation" | "fetch_operation_result" => {
            Entry::new(not("b-lead", 404), app.user("a-lead")).at("id", operation(app, id).await)
        }
        "cancel_operation" => Entry::new(not("b-lead", 404), app.user("a-lead"))
            .at("id", operation(app, id).await)
            .body(json!({})),
        _ => return None,
    })
}

fn export() -> Value {
    json!({"kind": "usage_export", "format": "csv", "month": "2026-03"})
}

async fn fresh_team(app: &TestApp) -> String {
    let slug = fresh();
    app.admin().post("/teams", json!({"slug": slug, "name": "X", "parent": "lab"})).await.expect(201);
    slug
}

/// A budget of team A's, in place of the one before.
async fn budget(app: &TestApp) -> String {
    let budgets = app.admin().get("/budgets?team=team-a").await.ok();
    for old in budgets["items"].as_array().expect("budgets") {
        let version = old["version"].as_i64().expect("a version");
        app.admin().delete(&format!("/budgets/{}", text(&old["id"]))).if_match(version).await.expect(204);
    }
    let body = json!({"team": "team-a", "unit": "gpu_hours", "amount": "1000000", "action": "warn"});
    text(&app.admin().post("/budgets", body).await.ok()["id"]).to_owned()
}

async fn make_exports(app: &TestApp) {
    let clock: SharedClock = Arc::new(app.clock.clone());
    while reeve_worker::export::step::step(app.store(), &clock).await.expect("made").is_some() {}
}

/// An operation of the lead of team A: one that waits, or one with a result.
async fn operation(app: &TestApp, id: &str) -> String {
    // Nobody may have many under way.
    make_exports(app).await;
    let asked = app.user("a-lead").post("/operations", export()).await.ok();
    if id == "fetch_operation_result" {
        make_exports(app).await;
    }
    text(&asked["id"]).to_owned()
}

/// A month that is over, each time another one: the clock stands still, so the ledger is said to be ahead.
async fn month(app: &TestApp, id: &str) -> Entry {
    app.sql(
        "insert into ledger_progress (pool_id, settled_until, derived_until)
         select id, '2090-01-01', '2090-01-01' from pools on conflict do nothing",
    )
    .await;
    let finance = app.user("finance");
    let known = app.count_rows("billing_months").await;
    let month = format!("{}-{:02}", 2027 + known / 12, known % 12 + 1);
    let digest = finance.get(&format!("/statements?month={month}")).await.ok()["digest"].clone();
    let close = json!({"digest": digest});
    let path = format!("/statements/{month}/close");
    let entry = Entry::new(not("a-lead", 403), finance.clone()).at("month", month);
    match id {
        "close_month" => entry.body(close),
        "reopen_month" => {
            finance.post(&path, close).await.expect(200);
            entry.body(json!({}))
        }
        _ => {
            finance.post(&path, close.clone()).await.expect(200);
            app.admin().post(&path, close).await.expect(200);
            entry.body(json!({"team": "team-a", "amount": "1", "reason": "x"}))
        }
    }
}
