//! The requests of who somebody is, and of who is told what.

use crate::entries::{By, Entry, fresh, not};
use reeve_tests::TestApp;
use reeve_tests::app::text;
use serde_json::{Value, json};

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:9";

pub(crate) async fn identity(app: &TestApp, id: &str) -> Option<Entry> {
    let admin = || app.admin();
    let by_admin = || Entry::new(not("lab-lead", 403), admin());
    Some(match id {
        "list_sign_in_providers" => Entry::new(By::AnybodyAtAll, app.stranger()),
        "start_oidc_sign_in" => {
            let provider = provider(app).await;
            Entry::new(By::AnybodyAtAll, app.stranger()).at("provider", text(&provider["slug"])).answers(303)
        }
        "finish_oidc_sign_in" => {
            Entry::new(By::AnybodyAtAll, app.stranger()).query("?state=x&code=y").answers(303)
        }
        // A rule's issuer that does not answer: refused, and told so in the audit log.
        "exchange_workload_token" => {
            rule(app).await;
            Entry::new(By::AnybodyAtAll, app.stranger()).body(json!({"token": unsigned()})).answers(401)
        }
        "list_sessions" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "revoke_session" => {
            let (_, session) = signed_in(app, "a-member").await;
            Entry::new(not("b-member", 404), app.user("a-member")).at("id", session)
        }
        "revoke_other_sessions" => {
            let (token, _) = signed_in(app, "auditor").await;
            Entry::new(By::SessionOnly, app.with_token(&token)).body(json!({}))
        }
        "list_oidc_providers" | "list_workload_rules" => by_admin(),
        "create_oidc_provider" => by_admin().body(provider_body()),
        "show_oidc_provider" | "delete_oidc_provider" => {
            by_admin().at("provider", text(&provider(app).await["slug"]))
        }
        "edit_oidc_provider" => {
            by_admin().at("provider", text(&provider(app).await["slug"])).body(json!({"name": fresh()}))
        }
        "check_oidc_provider" => {
            by_admin().at("provider", text(&provider(app).await["slug"])).body(json!({}))
        }
        "create_workload_rule" => by_admin().body(rule_body()),
        "show_workload_rule" | "delete_workload_rule" => {
            by_admin().at("rule", text(&rule(app).await["slug"]))
        }
        "edit_workload_rule" => {
            by_admin().at("rule", text(&rule(app).await["slug"])).body(json!({"name": fresh()}))
        }
        "list_webhooks" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "create_webhook" => Entry::new(not("b-lead", 403), app.user("a-lead")).body(webhook_body()),
        "show_webhook" | "delete_webhook" | "list_deliveries" => by_lead(app).at("id", webhook(app).await),
        "edit_webhook" => by_lead(app).at("id", webhook(app).await).body(json!({"name": fresh()})),
        "test_webhook" | "rotate_webhook_secret" => by_lead(app).at("id", webhook(app).await).body(json!({})),
        "show_delivery" | "resend_delivery" => {
            let id = webhook(app).await;
            let made = app.user("a-lead").post(&format!("/webhooks/{id}/test"), json!({})).await.ok();
            by_lead(app).at("id", id).at("delivery", text(&made["id"])).body(json!({}))
        }
        "show_my_notifications" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "put_my_notifications" => Entry::new(By::AnybodySignedIn, app.user("nobody")).body(wish()),
        "show_team_notifications" => {
            Entry::new(not("b-lead", 403), app.user("a-viewer")).at("team", "team-a")
        }
        "put_team_notifications" => {
            Entry::new(not("a-member", 403), app.user("a-lead")).at("team", "team-a").body(wish())
        }
        _ => return None,
    })
}

fn by_lead(app: &TestApp) -> Entry {
    Entry::new(not("b-lead", 404), app.user("a-lead"))
}

fn webhook_body() -> Value {
    json!({"name": "X", "team": "team-a", "url": "https://receiver.example/hook", "event_types": ["none.such"]})
}

async fn webhook(app: &TestApp) -> String {
    text(&app.user("a-lead").post("/webhooks", webhook_body()).await.ok()["id"]).to_owned()
}

fn wish() -> Value {
    json!({"settings": [{"topic": "job_ended", "setting": "own"}]})
}

fn provider_body() -> Value {
    json!({"slug": fresh(), "name": "X", "issuer": NOWHERE, "client_id": "reeve"})
}

async fn provider(app: &TestApp) -> Value {
    app.admin().post("/oidc-providers", provider_body()).await.ok()
}

fn rule_body() -> Value {
    json!({"slug": fresh(), "name": "X", "issuer": NOWHERE, "audience": "reeve", "team": "team-a", "role": "member",
        "conditions": [{"claim": "repository", "equals": "org/train"}]})
}

async fn rule(app: &TestApp) -> Value {
    app.admin().post("/workload-rules", rule_body()).await.ok()
}

/// `{"alg":"RS256","kid":"k"}` and `{"iss":"http://127.0.0.1:9","aud":"reeve","sub":"x","exp":9999999999}`.
fn unsigned() -> &'static str {
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.\
     eyJpc3MiOiJodHRwOi8vMTI3LjAuMC4xOjkiLCJhdWQiOiJyZWV2ZSIsInN1YiI6IngiLCJleHAiOjk5OTk5OTk5OTl9.AAAA"
}

/// A new session's access token, and its id.
async fn signed_in(app: &TestApp, username: &str) -> (String, String) {
    let reply = app.sign_in(username).await.ok();
    let token = text(&reply["access_token"]).to_owned();
    let sessions = app.with_token(&token).get("/sessions").await.ok();
    let items = reeve_tests::app::items(&sessions);
    let current = items.iter().find(|session| session["is_current"] == true).expect("this session");
    (token, text(&current["id"]).to_owned())
}
