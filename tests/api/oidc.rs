//! Signing in through a real OpenID Connect provider, and pipelines that come with its tokens.

use reeve_core::clock::{Clock, SystemClock};
use reeve_tests::TestApp;
use reeve_tests::app::{items, job, text};
use reeve_tests::client::{Client, Reply};
use reeve_tests::provider::{CLIENT_SECRET, OidcProvider};
use serde_json::{Value, json};

/// A server whose clock agrees with the provider's.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    app.clock.advance(SystemClock.now() - app.clock.now());
    app.node.heartbeat().await;
    app
}

async fn add(app: &TestApp, provider: &OidcProvider, more: Value) -> Value {
    let mut body = json!({"slug": "company", "name": "Company", "issuer": provider.issuer, "client_id": "reeve",
        "client_secret": CLIENT_SECRET, "group_roles": [
            {"group": "vision", "team": "team-a", "role": "member"},
            {"group": "vision-leads", "team": "team-a", "role": "lead"},
            {"group": "reeve-admins", "platform_role": "admin"}]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    app.admin().post("/oidc-providers", body).await.ok()
}

/// What a browser holds: the cookies that replies have set.
#[derive(Default)]
struct Browser(Vec<(String, String)>);

impl Browser {
    fn keep(&mut self, reply: &Reply) {
        for set in reply.headers.get_all("set-cookie") {
            let pair = set.to_str().expect("ascii").split(';').next().expect("a pair");
            let (name, value) = pair.split_once('=').expect("a pair");
            self.0.retain(|(known, _)| known != name);
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    async fn get(&mut self, app: &TestApp, path: &str) -> Reply {
        let cookies: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let reply = app.stranger().get(path).header("cookie", &cookies.join("; ")).await;
        self.keep(&reply);
        reply
    }

    /// From our sign-in page to the provider; answers with where the provider sends it back, below our own origin.
    async fn leave(&mut self, app: &TestApp, provider: &OidcProvider, login: &str) -> String {
        let sent = self.get(app, "/auth/oidc/company/start?return_to=/jobs?mine=1").await;
        let place = sent.expect(303).header("location").to_owned();
        assert!(place.starts_with(&provider.issuer), "sent to {place}");
        let back = provider.sign_in(&place, login).await;
        back.strip_prefix("https://reeve.test").expect("our own address").to_owned()
    }

    async fn sign_in(&mut self, app: &TestApp, provider: &OidcProvider, login: &str) -> String {
        let back = self.leave(app, provider, login).await;
        self.get(app, &back).await.expect(303).header("location").to_owned()
    }

    async fn me(&mut self, app: &TestApp) -> Value {
        self.get(app, "/me").await.ok()
    }
}

#[tokio::test]
async fn a_person_comes_in_through_the_provider_with_what_their_groups_give() {
    let app = start().await;
    let provider = OidcProvider::start("k1").await;
    let made = add(&app, &provider, json!({})).await;
    assert_eq!((&made["has_client_secret"], made.get("client_secret")), (&json!(true), None));
    assert_eq!(made["redirect_uri"], reeve_tests::provider::CALLBACK);
    let checked = app.admin().post("/oidc-providers/company/check", json!({})).await.ok();
    assert_eq!((&checked["ok"], &checked["signing_keys"]), (&json!(true), &json!(1)), "{checked}");
    let buttons = app.stranger().get("/auth/oidc").await.ok();
    assert_eq!(buttons["items"], json!([{"slug": "company", "name": "Company"}]));

    let mut ada = Browser::default();
    assert_eq!(ada.sign_in(&app, &provider, "ada+vision+reeve-admins").await, "/jobs?mine=1");
    let me = ada.me(&app).await;
    assert_eq!((&me["username"], &me["email"]), (&json!("ada"), &json!("ada@company.example")));
    assert_eq!(me["platform_roles"], json!(["admin"]));
    assert_eq!(
        (&me["memberships"][0]["team"]["slug"], &me["memberships"][0]["role"]),
        (&json!("team-a"), &json!("member"))
    );
    let session = items(&ada.get(&app, "/sessions").await.ok());
    assert_eq!((&session[0]["method"], &session[0]["is_current"]), (&json!("oidc"), &json!(true)));

    // The next time she is in other groups. What was given by hand stays.
    app.admin().call("PUT", "/teams/team-b/members/ada/viewer").await.expect(204);
    let mut again = Browser::default();
    again.sign_in(&app, &provider, "ada+vision-leads").await;
    let me = again.me(&app).await;
    assert_eq!(me["platform_roles"], json!([]));
    let roles: Vec<(&str, &str)> = me["memberships"]
        .as_array()
        .expect("roles")
        .iter()
        .map(|one| (text(&one["team"]["slug"]), text(&one["role"])))
        .collect();
    assert_eq!(roles, [("team-a", "lead"), ("team-b", "viewer")]);

    // Without the provider its roles are gone, and those given by hand stay.
    app.admin().delete("/oidc-providers/company").await.expect(204);
    let me = again.me(&app).await;
    assert_eq!(me["memberships"].as_array().expect("roles").len(), 1);
    for action in ["user.identity_linked", "member.granted", "member.withdrawn", "oidc_provider.deleted"] {
        assert!(app.count_events(action).await > 0, "{action}");
    }
}

#[tokio::test]
async fn an_answer_counts_once_in_the_browser_that_asked_and_in_time() {
    let app = start().await;
    let provider = OidcProvider::start("k1").await;
    add(&app, &provider, json!({})).await;
    let mut ada = Browser::default();
    let back = ada.leave(&app, &provider, "ada").await;
    let mut thief = Browser::default();
    let refused = thief.get(&app, &back).await;
    assert_eq!(refused.expect(303).header("location"), "/?oidc_error=oidc_state");
    // Taken out by the attempt: whoever tries again begins anew.
    assert_eq!(ada.get(&app, &back).await.header("location"), "/?oidc_error=oidc_state");
    let back = ada.leave(&app, &provider, "ada").await;
    assert_eq!(ada.get(&app, &back).await.header("location"), "/jobs?mine=1");
    assert_eq!(ada.get(&app, &back).await.header("location"), "/?oidc_error=oidc_state", "a second time");
    let back = ada.leave(&app, &provider, "ada").await;
    app.advance_secs(601);
    assert_eq!(ada.get(&app, &back).await.header("location"), "/?oidc_error=oidc_state", "too late");
    app.advance_secs(-601);
    // Another provider's answer, and another code.
    let back = ada.leave(&app, &provider, "ada").await;
    let mixed = back.replace("iss=http%3A%2F%2F127", "iss=http%3A%2F%2F128");
    assert_eq!(ada.get(&app, &mixed).await.header("location"), "/jobs?mine=1&oidc_error=oidc_failed");
    let back = ada.leave(&app, &provider, "ada").await;
    let wrong = back.replace("code=", "code=x");
    assert_eq!(ada.get(&app, &wrong).await.header("location"), "/jobs?mine=1&oidc_error=oidc_failed");
    let back = ada.leave(&app, &provider, "ada").await;
    let state = back.split("state=").nth(1).expect("a state").split('&').next().expect("a state");
    let denied = format!("/auth/oidc/callback?error=access_denied&state={state}");
    assert_eq!(ada.get(&app, &denied).await.header("location"), "/jobs?mine=1&oidc_error=oidc_denied");
    assert!(app.count_events("session.sign_in").await >= 3, "refusals are told");
}

#[tokio::test]
async fn nobody_becomes_somebody_who_has_a_password_here() {
    let app = start().await;
    let provider = OidcProvider::start("k1").await;
    add(&app, &provider, json!({"create_users": false})).await;
    let place = async |login: &str| Browser::default().sign_in(&app, &provider, login).await;
    assert_eq!(place("a-lead").await, "/jobs?mine=1&oidc_error=oidc_name_taken");
    assert_eq!(place("unknown").await, "/jobs?mine=1&oidc_error=oidc_unknown_user");
    app.admin().post("/users", json!({"username": "grace", "display_name": "Grace"})).await.expect(201);
    assert_eq!(place("grace").await, "/jobs?mine=1");
    app.admin().patch("/users/grace", json!({"state": "disabled"})).await.expect(200);
    assert_eq!(place("grace").await, "/jobs?mine=1&oidc_error=oidc_disabled_user");
    app.admin().patch("/oidc-providers/company", json!({"state": "disabled"})).await.expect(200);
    app.stranger().get("/auth/oidc/company/start").await.refused(404, "not_found");
    assert_eq!(app.stranger().get("/auth/oidc").await.ok()["items"], json!([]));
}

#[tokio::test]
async fn keys_that_the_provider_changed_are_found() {
    let app = start().await;
    let mut provider = OidcProvider::start("k1").await;
    add(&app, &provider, json!({})).await;
    Browser::default().sign_in(&app, &provider, "ada").await;
    provider.rotate("k2").await;
    app.advance_secs(6);
    let mut ada = Browser::default();
    assert_eq!(ada.sign_in(&app, &provider, "ada").await, "/jobs?mine=1");
    assert_eq!(ada.me(&app).await["username"], "ada");
}

async fn add_rule(app: &TestApp, provider: &OidcProvider, more: Value) -> Value {
    let mut body = json!({"slug": "train-ci", "name": "Training pipeline", "issuer": provider.issuer,
        "audience": "reeve", "team": "team-a", "role": "member", "conditions": [
            {"claim": "repository", "equals": "org/train"}, {"claim": "ref", "matches": "refs/heads/*"}]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    app.admin().post("/workload-rules", body).await.ok()
}

fn claims(app: &TestApp, more: Value) -> Value {
    let now = app.clock.now().timestamp();
    let mut claims = json!({"aud": "reeve", "sub": "repo:org/train", "repository": "org/train",
        "ref": "refs/heads/main", "iat": now, "exp": now + 300});
    for (name, value) in more.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims
}

async fn exchange(app: &TestApp, token: &str) -> Reply {
    app.stranger().post("/auth/workload", json!({"token": token})).await
}

#[tokio::test]
async fn a_pipeline_works_by_its_rule_and_no_further() {
    let app = start().await;
    let provider = OidcProvider::start("k1").await;
    let rule = add_rule(&app, &provider, json!({"token_secs": 600})).await;
    let reply = exchange(&app, &provider.mint(&claims(&app, json!({}))).await).await.ok();
    assert_eq!((&reply["rule"], &reply["expires_in_secs"]), (&json!("train-ci"), &json!(600)));
    let pipeline = app.with_token(text(&reply["access_token"]));
    let made = pipeline.post("/jobs", job("team-a", json!({}))).await.ok();
    assert_eq!(made["user"]["username"], rule["service_user"]["username"], "{made}");
    pipeline.post(&format!("/jobs/{}/cancel", text(&made["id"])), json!({})).await.expect(200);
    pipeline.post("/jobs", job("team-b", json!({}))).await.refused(403, "forbidden");
    // Neither a token that outlives it, nor the account's own rights.
    pipeline.post("/tokens", json!({"name": "x", "scopes": ["read"]})).await.refused(403, "forbidden");
    app.admin().call("PUT", "/teams/team-b/members/workload.train-ci/lead").await.expect(204);
    app.advance_secs(5);
    pipeline.post("/jobs", job("team-b", json!({}))).await.refused(403, "forbidden");
    let edit = json!({"password": "correct-horse-battery"});
    let refused = app.admin().patch("/users/workload.train-ci", edit).await;
    refused.refused_field(422, "/password", "service_account");
    assert_eq!(pipeline.get("/me").await.ok()["auth"]["type"], "workload");
    // Its end, and a change of the rule.
    app.advance_secs(600);
    pipeline.get("/me").await.refused(401, "invalid_credential");
    let reply = exchange(&app, &provider.mint(&claims(&app, json!({}))).await).await.ok();
    let pipeline: Client = app.with_token(text(&reply["access_token"]));
    pipeline.get("/me").await.expect(200);
    app.admin().patch("/workload-rules/train-ci", json!({"role": "viewer"})).await.expect(200);
    pipeline.get("/me").await.refused(401, "invalid_credential");
    app.admin().delete("/workload-rules/train-ci").await.expect(204);
    let token = provider.mint(&claims(&app, json!({}))).await;
    exchange(&app, &token).await.refused(401, "workload_refused");
}

#[tokio::test]
async fn tokens_that_are_not_for_us_now_are_refused() {
    let app = start().await;
    let mut provider = OidcProvider::start("k1").await;
    add_rule(&app, &provider, json!({})).await;
    let now = app.clock.now().timestamp();
    for (what, more) in [
        ("another audience", json!({"aud": "else"})),
        ("expired", json!({"exp": now - 61})),
        ("not yet", json!({"nbf": now + 61})),
        ("from the future", json!({"iat": now + 61})),
        ("another repository", json!({"repository": "org/other"})),
        ("another ref", json!({"ref": "refs/tags/v1"})),
        ("no subject", json!({"sub": ""})),
    ] {
        let reply = exchange(&app, &provider.mint(&claims(&app, more)).await).await;
        let problem = reply.refused(401, "workload_refused");
        assert!(!text(&problem["detail"]).is_empty(), "{what}");
    }
    // Clocks may differ by a minute.
    let skewed = claims(&app, json!({"exp": now - 30, "iat": now + 30}));
    exchange(&app, &provider.mint(&skewed).await).await.expect(200);
    let good = claims(&app, json!({}));
    for body in [
        json!({"claims": good, "issuer": "http://127.0.0.1:9"}),
        json!({"claims": good, "key_id": "unknown"}),
    ] {
        exchange(&app, &provider.mint_as(body).await).await.refused(401, "workload_refused");
    }
    let token = provider.mint(&good).await;
    let parts: Vec<&str> = token.split('.').collect();
    // {"alg":"none"}, and {"alg":"HS256","kid":"k1"}.
    for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0"] {
        let forged = format!("{header}.{}.{}", parts[1], parts[2]);
        exchange(&app, &forged).await.refused(401, "workload_refused");
    }
    exchange(&app, &format!("{}.{}.AAAA", parts[0], parts[1])).await.refused(401, "workload_refused");
    exchange(&app, "nonsense").await.refused(401, "workload_refused");
    assert!(app.count_events("session.exchange").await > 0, "refusals are told");
    // Signed before the key was changed.
    provider.rotate("k2").await;
    app.advance_secs(6);
    exchange(&app, &provider.mint(&good).await).await.expect(200);
    exchange(&app, &token).await.refused(401, "workload_refused");
}

#[tokio::test]
async fn wrong_providers_and_rules_are_named_field_by_field() {
    let app = TestApp::start().await;
    let body = |more: Value| {
        let mut body = json!({"slug": "x", "name": "X", "issuer": "https://id.example", "client_id": "c"});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        app.admin().post("/oidc-providers", body)
    };
    for (more, place, code) in [
        (json!({"issuer": "http://id.example"}), "/issuer", "invalid_url"),
        (json!({"issuer": "https://169.254.169.254"}), "/issuer", "invalid_url"),
        (json!({"issuer": "nonsense"}), "/issuer", "invalid_url"),
        (json!({"scopes": ["email"]}), "/scopes", "invalid_scopes"),
        (json!({"group_roles": [{"group": "g", "team": "team-a"}]}), "/group_roles/0", "one_of"),
        (
            json!({"group_roles": [{"group": "g", "team": "no", "role": "lead"}]}),
            "/group_roles/0/team",
            "unknown_team",
        ),
        (
            json!({"group_roles": [{"group": "g", "platform_role": "god"}]}),
            "/group_roles/0/platform_role",
            "unknown_value",
        ),
    ] {
        body(more).await.refused_field(422, place, code);
    }
    let rule = |more: Value| {
        let mut body = json!({"slug": "x", "name": "X", "issuer": "https://ci.example", "audience": "reeve",
            "team": "team-a", "role": "member", "conditions": [{"claim": "c", "equals": "v"}]});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        app.admin().post("/workload-rules", body)
    };
    for (more, place, code) in [
        (json!({"conditions": []}), "/conditions", "invalid_length"),
        (json!({"conditions": [{"claim": "c"}]}), "/conditions/0", "one_of"),
        (json!({"token_secs": 7200}), "/token_secs", "out_of_range"),
        (json!({"role": "king"}), "/role", "unknown_value"),
        (json!({"team": "no"}), "/team", "unknown_team"),
    ] {
        rule(more).await.refused_field(422, place, code);
    }
}
