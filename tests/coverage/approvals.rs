//! Who may call what of approvals.

use crate::entries::{By, Entry, not, submitted};
use reeve_tests::TestApp;
use reeve_tests::app::text;
use serde_json::{Value, json};

/// What a member of team-a asks for, for a job of their own.
async fn body(app: &TestApp) -> Value {
    json!({"asks_for": "priority", "job": submitted(app).await, "level": "high", "duration_secs": 3_600,
        "reason": "the deadline"})
}

/// An open request of a-member: its id and its tag. A lead or an approver of team-a decides it.
async fn open(app: &TestApp) -> (String, String) {
    let made = app.user("a-member").post("/escalations", body(app).await).await;
    made.expect(201);
    (text(&made.json()["id"]).to_owned(), made.header("etag").to_owned())
}

async fn active(app: &TestApp) -> String {
    let (id, tag) = open(app).await;
    let path = format!("/escalations/{id}/approve");
    app.user("a-lead").post(&path, json!({})).header("if-match", &tag).await.expect(200);
    id
}

pub(crate) async fn entry(app: &TestApp, id: &str) -> Option<Entry> {
    let member = || Entry::new(not("b-member", 404), app.user("a-member"));
    let lead = || Entry::new(not("b-member", 404), app.user("a-lead"));
    let finance = || Entry::new(not("lab-lead", 403), app.user("finance")).at("team", "team-a");
    Some(match id {
        "list_escalations" | "list_approvals" | "list_priority_budgets" => {
            Entry::new(By::AnybodySignedIn, app.user("nobody"))
        }
        "request_escalation" => Entry::new(not("b-member", 404), app.user("a-member")).body(body(app).await),
        "preview_escalation_request" => member().body(body(app).await).quiet(),
        "show_escalation" | "preview_escalation" | "list_escalation_comments" => {
            Entry::new(not("b-member", 404), app.user("a-viewer")).at("id", open(app).await.0)
        }
        "comment_escalation" => member().at("id", open(app).await.0).body(json!({"text": "soon, please"})),
        "approve_escalation" | "deny_escalation" => {
            let (escalation, tag) = open(app).await;
            lead().at("id", escalation).tag(tag).body(json!({"comment": "as said"}))
        }
        "withdraw_escalation" => member().at("id", open(app).await.0).body(json!({})),
        "delegate_escalation" => lead().at("id", open(app).await.0).body(json!({"to": "a-second"})),
        "revoke_escalation" => lead().at("id", active(app).await).body(json!({"comment": "no longer"})),
        "renew_escalation" => {
            member().at("id", active(app).await).body(json!({"duration_secs": 600, "reason": "not done"}))
        }
        "review_escalation" => {
            let mut emergency = body(app).await;
            emergency["break_glass"] = json!(true);
            let made = app.user("a-approver").post("/escalations", emergency).await.ok();
            Entry::new(not("b-member", 404), app.admin())
                .at("id", text(&made["id"]))
                .body(json!({"outcome": "confirmed", "comment": "rightly so"}))
        }
        "put_priority_budget" => {
            let tag = budget(app).await;
            finance().body(json!({"gpu_hours": 200})).tag(tag)
        }
        "delete_priority_budget" => {
            let tag = budget(app).await;
            finance().tag(tag)
        }
        _ => return None,
    })
}

/// The tag of team-a's budget, which is made where there is none.
async fn budget(app: &TestApp) -> String {
    let path = "/priority-budgets/team-a";
    let body = json!({"gpu_hours": 100});
    let made = app.admin().put(path, body.clone()).header("if-none-match", "*").await;
    if made.status == 201 {
        return made.header("etag").to_owned();
    }
    app.admin().put(path, body).header("if-match", "*").await.expect(200).header("etag").to_owned()
}
