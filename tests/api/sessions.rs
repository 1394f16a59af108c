//! Signing in, staying in, being put out.

use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::world::PASSWORD;
use serde_json::json;

#[tokio::test]
async fn a_session_begins_is_refreshed_and_ends() {
    let app = TestApp::start().await;
    let signed_in = app.sign_in("a-member").await.ok();
    assert_eq!(signed_in["user"]["memberships"][0]["team"]["slug"], "team-a");
    let session = app.with_token(text(&signed_in["access_token"]));
    let me = session.get("/me").await.ok();
    assert_eq!((&me["username"], &me["auth"]["type"]), (&json!("a-member"), &json!("session")));
    app.advance_secs(15 * 60 + 1);
    session.get("/me").await.refused(401, "invalid_credential");
    let body = json!({"refresh_token": signed_in["refresh_token"]});
    let refreshed = app.stranger().post("/auth/refresh", body).await.ok();
    assert_ne!(refreshed["refresh_token"], signed_in["refresh_token"]);
    let session = app.with_token(text(&refreshed["access_token"]));
    session.get("/me").await.expect(200);
    session.call("POST", "/auth/sign-out").await.expect(204);
    session.get("/me").await.refused(401, "invalid_credential");
    let body = json!({"refresh_token": refreshed["refresh_token"]});
    app.stranger().post("/auth/refresh", body).await.refused(401, "invalid_credential");
}

#[tokio::test]
async fn a_refresh_token_used_twice_ends_the_session() {
    let app = TestApp::start().await;
    let first = app.sign_in("a-member").await.ok();
    let old = json!({"refresh_token": first["refresh_token"]});
    let second = app.stranger().post("/auth/refresh", old.clone()).await.ok();
    app.stranger().post("/auth/refresh", old).await.refused(401, "refresh_reused");
    app.with_token(text(&second["access_token"])).get("/me").await.refused(401, "invalid_credential");
    let new = json!({"refresh_token": second["refresh_token"]});
    app.stranger().post("/auth/refresh", new).await.refused(401, "invalid_credential");
}

#[tokio::test]
async fn wrong_credentials_are_refused_alike() {
    let app = TestApp::start().await;
    for (username, password) in [("a-member", "wrong"), ("not-there", PASSWORD), ("", ""), ("😀", "x")] {
        let body = json!({"username": username, "password": password});
        app.stranger().post("/auth/sign-in", body).await.refused(401, "sign_in_failed");
    }
    app.stranger().get("/me").await.refused(401, "unauthenticated");
    for token in ["nonsense", "reeve_pat_AAAA", "a.b.c", "reeve_node_x", "é"] {
        app.with_token(token).get("/me").await.refused(401, "invalid_credential");
    }
    let basic = app.stranger().get("/me").header("authorization", "Basic YTpi").await;
    basic.refused(401, "invalid_credential");
    assert!(basic.header("www-authenticate").starts_with("Bearer"));
}

#[tokio::test]
async fn failures_pause_an_account_and_time_opens_it() {
    let app = TestApp::start().await;
    let wrong = json!({"username": "a-member", "password": "wrong-wrong"});
    for _ in 0..5 {
        app.stranger().post("/auth/sign-in", wrong.clone()).await.refused(401, "sign_in_failed");
    }
    app.sign_in("a-member").await.refused(401, "sign_in_failed");
    app.sign_in("a-second").await.expect(200);
    app.advance_secs(31);
    app.sign_in("a-member").await.expect(200);
}

#[tokio::test]
async fn a_disabled_person_is_out_at_once() {
    let app = TestApp::start().await;
    let signed_in = app.sign_in("a-member").await.ok();
    let session = app.with_token(text(&signed_in["access_token"]));
    session.get("/me").await.expect(200);
    app.admin().patch("/users/a-member", json!({"state": "disabled"})).await.expect(200);
    session.get("/me").await.expect(401);
    app.user("a-member").get("/me").await.expect(401);
    app.sign_in("a-member").await.refused(401, "sign_in_failed");
    app.admin().patch("/users/admin", json!({"state": "disabled"})).await.refused_field(
        422,
        "/state",
        "own_account",
    );
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let app = TestApp::start().await;
    let (one, two) = (app.sign_in("a-member").await.ok(), app.sign_in("a-member").await.ok());
    let (one, two) = (app.with_token(text(&one["access_token"])), app.with_token(text(&two["access_token"])));
    let body = |current: &str, new: &str| json!({"current_password": current, "new_password": new});
    let wrong = one.post("/me/password", body("nonsense", "another-horse-battery")).await;
    wrong.refused_field(422, "/current_password", "wrong_password");
    one.post("/me/password", body(PASSWORD, "short")).await.refused_field(
        422,
        "/new_password",
        "invalid_length",
    );
    one.post("/me/password", body(PASSWORD, "another-horse-battery")).await.expect(204);
    one.get("/me").await.expect(200);
    two.get("/me").await.expect(401);
    app.sign_in("a-member").await.refused(401, "sign_in_failed");
}

#[tokio::test]
async fn api_tokens_reach_as_far_as_they_say() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let created =
        member.post("/tokens", json!({"name": "ci", "scopes": ["read"], "expires_in_secs": 3600})).await.ok();
    assert!(text(&created["token"]).starts_with("reeve_pat_"));
    let token = app.with_token(text(&created["token"]));
    token.get("/jobs").await.expect(200);
    token.post("/jobs", reeve_tests::app::job("team-a", json!({}))).await.refused(403, "forbidden");
    token.post("/tokens", json!({"name": "more", "scopes": ["write"]})).await.expect(403);
    let listed = member.get("/tokens").await.ok();
    let listed = items(&listed);
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|token| token.get("token").is_none()), "secrets are shown once");
    let id = text(&created["id"]);
    app.user("b-member").delete(&format!("/tokens/{id}")).await.refused(404, "not_found");
    member.delete(&format!("/tokens/{id}")).await.expect(204);
    token.get("/jobs").await.refused(401, "invalid_credential");
    let short =
        member.post("/tokens", json!({"name": "s", "scopes": ["read"], "expires_in_secs": 60})).await.ok();
    app.advance_secs(61);
    app.with_token(text(&short["token"])).get("/me").await.refused(401, "invalid_credential");
    let limited = app.user("lab-lead");
    let teams = items(&limited.get("/teams").await.ok());
    let team_a = teams.iter().find(|team| team["slug"] == "team-a").expect("team a");
    let body = json!({"name": "a", "scopes": ["read", "write"], "team_ids": [team_a["id"]]});
    let token = app.with_token(text(&limited.post("/tokens", body).await.ok()["token"]));
    token.post("/jobs", reeve_tests::app::job("team-a", json!({}))).await.expect(201);
    token.post("/jobs", reeve_tests::app::job("team-b", json!({}))).await.refused(403, "forbidden");
}

#[tokio::test]
async fn browser_sessions_come_only_from_our_own_pages() {
    let app = TestApp::start().await;
    let body = json!({"username": "a-member", "password": PASSWORD});
    let reply = app.stranger().post("/auth/sign-in?session=cookie", body).await;
    reply.expect(200);
    let cookies: Vec<String> = reply
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|value| value.to_str().expect("ascii").to_owned())
        .collect();
    assert_eq!(cookies.len(), 2);
    for cookie in &cookies {
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Secure"));
    }
    let cookie: Vec<&str> = cookies.iter().filter_map(|cookie| cookie.split(';').next()).collect();
    let cookie = cookie.join("; ");
    let with = |method: &'static str, path: &'static str| {
        app.stranger().call(method, path).header("cookie", &cookie)
    };
    with("GET", "/me").await.expect(200);
    let edit = json!({"locale": "zh-CN"});
    with("PATCH", "/me").json(&edit).await.refused(403, "foreign_origin");
    let foreign = with("PATCH", "/me").json(&edit).header("origin", "https://evil.test").await;
    foreign.refused(403, "foreign_origin");
    let own = with("PATCH", "/me").json(&edit).header("origin", "https://reeve.test").await;
    assert_eq!(own.ok()["locale"], "zh-CN");
    let refreshed = with("POST", "/auth/refresh").header("origin", "https://reeve.test").await;
    refreshed.expect(200);
    assert_eq!(refreshed.headers.get_all("set-cookie").iter().count(), 2);
}
