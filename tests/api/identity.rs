//! Sessions one by one, tokens that hand on no more than they have, and limits.

use futures::StreamExt;
use reeve_api::Settings;
use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::client::Client;
use reeve_tests::world::PASSWORD;
use serde_json::json;

async fn session(app: &TestApp, username: &str) -> Client {
    app.with_token(text(&app.sign_in(username).await.ok()["access_token"]))
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one() {
    let app = TestApp::start().await;
    let (one, two) = (session(&app, "a-member").await, session(&app, "a-member").await);
    let listed = items(&one.get("/sessions").await.ok());
    let other = listed.iter().find(|item| item["is_current"] == false && item["method"] == "password");
    let current: Vec<_> = listed.iter().filter(|item| item["is_current"] == true).collect();
    assert_eq!(current.len(), 1);
    // The newest is the other one.
    let other = text(&other.expect("the other")["id"]).to_owned();
    app.user("b-member").delete(&format!("/sessions/{other}")).await.refused(404, "not_found");
    app.user("b-member").get("/sessions?user=a-member").await.refused(404, "not_found");
    app.user("b-member").get("/sessions?user=not-there").await.refused(404, "not_found");
    assert!(!items(&app.admin().get("/sessions?user=a-member").await.ok()).is_empty());
    two.get("/me").await.expect(200);
    one.delete(&format!("/sessions/{other}")).await.expect(204);
    two.get("/me").await.refused(401, "invalid_credential");
    one.delete(&format!("/sessions/{other}")).await.refused(404, "not_found");
    let three = session(&app, "a-member").await;
    let revoked = one.post("/sessions/revoke-others", json!({})).await.ok();
    assert!(revoked["revoked"].as_i64().is_some_and(|count| count >= 1), "{revoked}");
    three.get("/me").await.refused(401, "invalid_credential");
    one.get("/me").await.expect(200);
    app.user("a-member").post("/sessions/revoke-others", json!({})).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_live_stream_ends_with_its_session_and_when_roles_change() {
    let app = TestApp::start().await;
    for change in [true, false] {
        let client = session(&app, "a-member").await;
        app.seal().await;
        let reply = client.get("/events").header("accept", "text/event-stream").response().await;
        let mut stream = reply.into_body().into_data_stream();
        let hello = stream.next().await.expect("a greeting").expect("bytes");
        assert!(String::from_utf8_lossy(&hello).contains("hello"));
        if change {
            client.call("POST", "/auth/sign-out").await.expect(204);
        } else {
            app.admin().call("PUT", "/teams/team-b/members/a-member/viewer").await.expect(204);
        }
        app.seal().await;
        let rest = tokio::time::timeout(std::time::Duration::from_secs(20), stream.collect::<Vec<_>>());
        rest.await.expect("the stream ends");
    }
}

#[tokio::test]
async fn another_server_forgets_a_session_within_five_seconds() {
    let app = TestApp::start().await;
    let session = session(&app, "a-member").await;
    let elsewhere = Client { token: session.token.clone(), ..app.another_server().await };
    elsewhere.get("/me").await.expect(200);
    session.call("POST", "/auth/sign-out").await.expect(204);
    app.advance_secs(5);
    elsewhere.get("/me").await.refused(401, "invalid_credential");
}

#[tokio::test]
async fn a_token_hands_on_no_more_than_it_has() {
    let app = TestApp::start().await;
    let lead = app.user("lab-lead");
    let teams = items(&lead.get("/teams").await.ok());
    let id = |slug: &str| teams.iter().find(|team| team["slug"] == slug).expect(slug)["id"].clone();
    let body = json!({"name": "limited", "scopes": ["read", "admin"], "team_ids": [id("team-a")], "expires_in_secs": 600});
    let limited = app.with_token(text(&lead.post("/tokens", body).await.ok()["token"]));
    let ask = |more: serde_json::Value| {
        let mut body =
            json!({"name": "more", "scopes": ["read"], "team_ids": [id("team-a")], "expires_in_secs": 60});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        limited.post("/tokens", body)
    };
    ask(json!({"scopes": ["write"]})).await.refused_field(422, "/scopes/0", "beyond_own");
    ask(json!({"team_ids": null})).await.refused_field(422, "/team_ids", "beyond_own");
    ask(json!({"team_ids": [id("team-b")]})).await.refused_field(422, "/team_ids/0", "unknown_team");
    ask(json!({"expires_in_secs": null})).await.refused_field(422, "/expires_in_secs", "beyond_own");
    ask(json!({"expires_in_secs": 601})).await.refused_field(422, "/expires_in_secs", "beyond_own");
    ask(json!({})).await.expect(201);
}

#[tokio::test]
async fn a_person_has_no_more_than_a_hundred_live_tokens() {
    let app = TestApp::start().await;
    let nobody = app.user("nobody");
    for number in 1..100 {
        nobody.post("/tokens", json!({"name": format!("t{number}"), "scopes": ["read"]})).await.expect(201);
    }
    let body = json!({"name": "one too many", "scopes": ["read"]});
    let refused = nobody.post("/tokens", body.clone()).await.refused(409, "too_many");
    assert_eq!(refused["params"]["most"], 100);
    let first = items(&nobody.get("/tokens").await.ok());
    nobody.delete(&format!("/tokens/{}", text(&first[0]["id"]))).await.expect(204);
    nobody.post("/tokens", body).await.expect(201);
}

#[tokio::test]
async fn limits_count_by_token_and_by_person() {
    let settings = Settings { requests_per_second: 1, request_burst: 20, ..Settings::default() };
    let app = TestApp::with(settings).await;
    let first = app.user("a-member");
    let made = first.post("/tokens", json!({"name": "second", "scopes": ["read"]})).await.ok();
    let second = app.with_token(text(&made["token"]));
    let reply = second.get("/me").await;
    assert_eq!(reply.expect(200).header("ratelimit-policy"), "\"token\";q=20;w=20");
    assert_eq!(reply.header("ratelimit"), "\"token\";r=19;t=1");
    let mut refused = None;
    for turn in 0..40 {
        let client = if turn % 2 == 0 { &first } else { &second };
        let reply = client.get("/me").await;
        if reply.status == 429 {
            refused = Some((turn, reply));
            break;
        }
    }
    // Twenty requests for one person, whichever token they come with.
    let (turn, reply) = refused.expect("a limit");
    assert!((17..=20).contains(&turn), "after {turn}");
    let problem = reply.refused(429, "rate_limited");
    assert_eq!(problem["params"]["limit"], "user");
    assert!(reply.header("retry-after").parse::<u64>().is_ok_and(|secs| secs >= 1));
    assert!(reply.header("ratelimit").starts_with("\"user\";r=0;t="));
    app.user("b-member").get("/me").await.expect(200);
}

#[tokio::test]
async fn brute_force_is_slowed_by_account_and_by_address() {
    let app = TestApp::start().await;
    let attempt = |username: &str, address: &str| {
        let body = json!({"username": username, "password": "wrong-wrong-wrong"});
        app.stranger().post("/auth/sign-in", body).from(address)
    };
    // One account from many places: after five it is locked, after some thirty in a minute nobody is even asked.
    let mut statuses = Vec::new();
    for number in 0..60 {
        statuses.push(attempt("a-member", &format!("198.51.100.{number}")).await.status);
        if statuses.last() == Some(&429) {
            break;
        }
    }
    assert!(statuses.len() > 30 && statuses.last() == Some(&429), "{statuses:?}");
    assert_eq!(app.count_events("session.sign_in").await, 5, "while it is locked, nothing more is counted");
    let right = json!({"username": "a-second", "password": PASSWORD});
    app.stranger().post("/auth/sign-in", right.clone()).from("203.0.113.5").await.expect(200);
    // Many accounts from one place.
    let mut refused = 0;
    for number in 0..240 {
        let status = attempt(&format!("nobody-{number}"), "203.0.113.7").await.status;
        refused += usize::from(status == 429);
    }
    assert!((1..=120).contains(&refused), "{refused} of 240");
    app.stranger()
        .post("/auth/sign-in", right.clone())
        .from("203.0.113.7")
        .await
        .refused(429, "rate_limited");
    app.stranger().post("/auth/sign-in", right).from("203.0.113.8").await.expect(200);
}
