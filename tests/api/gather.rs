//! Submissions that come at the same time are kept together, and each has its own answer.

use futures::future::join_all;
use reeve_tests::TestApp;
use reeve_tests::app::{job, text};
use reeve_tests::client::{Call, Client, Reply};
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn all_at_once(calls: Vec<Call>) -> Vec<Reply> {
    join_all(calls.into_iter().map(|call| tokio::spawn(call.into_future())))
        .await
        .into_iter()
        .map(|reply| reply.expect("no panic"))
        .collect()
}

fn ids(replies: &[Reply]) -> BTreeSet<String> {
    replies.iter().map(|reply| text(&reply.expect(201).json()["id"]).to_owned()).collect()
}

/// What a row says of the jobs with this name.
async fn named(app: &TestApp, name: &str) -> usize {
    let page = app.admin().get("/jobs?limit=200").await.ok();
    page["items"].as_array().expect("items").iter().filter(|job| job["name"] == name).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_at_once_each_get_their_own_answer() {
    let app = TestApp::start().await;
    let (a, b) = (app.user("a-member"), app.user("b-member"));
    let post = |client: &Client, more: Value| client.post("/jobs", job("team-a", more));
    let mut calls = Vec::new();
    // In turns, so that those of every kind meet in one statement.
    for n in 0..8 {
        calls.push(post(&a, json!({"name": format!("keyed-{n}")})).key(&format!("keyed-{n}")));
        calls.push(post(&a, json!({"name": format!("plain-{n}"), "queue": "team-a-q"})));
        calls.push(post(&a, json!({"gpus": -1})).key(&format!("invalid-{n}")));
        calls.push(post(&a, json!({"name": "twin"})).key(&format!("twin-{}", n % 2)));
        calls.push(post(&a, json!({"name": format!("either-{n}")})).key(&format!("either-{}", n / 2)));
        calls.push(post(&b, json!({"name": "foreign"})).key(&format!("foreign-{n}")));
        calls.push(post(&a, json!({"queue": "team-b-q", "name": "elsewhere"})));
        calls.push(a.post("/jobs", json!({"name": "lost", "team": "no-such-team", "command": ["true"]})));
    }
    let replies = all_at_once(calls).await;
    let kind = |nth: usize| replies.iter().skip(nth).step_by(8).cloned().collect::<Vec<_>>();

    for (n, reply) in kind(0).iter().enumerate() {
        assert_eq!(reply.expect(201).json()["name"], format!("keyed-{n}"), "somebody else's answer");
    }
    for (n, reply) in kind(1).iter().enumerate() {
        assert_eq!(reply.expect(201).json()["name"], format!("plain-{n}"), "somebody else's answer");
    }
    for reply in kind(2) {
        reply.refused(422, "invalid_body");
    }
    assert_eq!(ids(&kind(3)).len(), 2, "one job for each of two keys");
    // Of two requests with one key, one is kept; the other is told that it is another request.
    for pair in kind(4).chunks(2) {
        let kept = pair.iter().filter(|reply| reply.status == 201).count();
        assert_eq!(kept, 1, "{pair:?}");
        pair.iter().find(|reply| reply.status != 201).expect("one").refused(422, "idempotency_mismatch");
    }
    for reply in kind(5) {
        reply.refused(403, "forbidden");
    }
    for reply in kind(6).iter().chain(&kind(7)) {
        reply.refused(422, "invalid_body");
    }
    let kept = 8 + 8 + 2 + 4;
    assert_eq!(app.count_rows("jobs").await, kept);
    assert_eq!(app.count_events("job.submitted").await, kept);
    assert_eq!(app.count_rows("idempotency_keys where key ~ '^(keyed|twin|either)-'").await, 8 + 2 + 4);
    assert_eq!(app.count_rows("idempotency_keys where key ~ '^(invalid|foreign)-'").await, 0);
    assert_eq!(named(&app, "twin").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_the_schema_refuses_harms_no_neighbour() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    app.sql("alter table jobs add constraint jobs_test_check check (name <> 'poison')").await;
    let calls = (0..32).map(|n| {
        let name = if n % 8 == 3 { "poison".to_owned() } else { format!("good-{n}") };
        member.post("/jobs", job("team-a", json!({"name": name}))).key(&format!("k-{n}"))
    });
    for (n, reply) in all_at_once(calls.collect()).await.iter().enumerate() {
        match n % 8 {
            3 => drop(reply.refused(422, "invalid_body")),
            _ => assert_eq!(reply.expect(201).json()["name"], format!("good-{n}")),
        }
    }
    assert_eq!((app.count_rows("jobs").await, app.count_events("job.submitted").await), (28, 28));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_queue_that_is_being_changed_holds_up_only_its_own() {
    let app = TestApp::start().await;
    let (a, b) = (app.user("a-member"), app.user("b-member"));
    // The names are known: what comes next goes together.
    a.post("/jobs", job("team-a", json!({}))).await.expect(201);
    b.post("/jobs", job("team-b", json!({}))).await.expect(201);
    let change = app
        .open_sql("update queues set state = 'draining', version = version + 1 where slug = 'team-b-q'")
        .await;
    let held_up: Vec<_> = (0..8)
        .map(|_| tokio::spawn(b.post("/jobs", job("team-b", json!({"queue": "team-b-q"}))).into_future()))
        .collect();
    let neighbours = (0..32).map(|n| a.post("/jobs", job("team-a", json!({}))).key(&format!("n-{n}")));
    for reply in all_at_once(neighbours.collect()).await {
        reply.expect(201);
    }
    assert!(held_up.iter().all(|reply| !reply.is_finished()), "nobody knows yet what the queue will be");
    change.commit().await;
    for reply in held_up {
        reply.await.expect("no panic").refused(422, "invalid_body");
    }
    assert_eq!(app.count_rows("jobs").await, 34);
}

#[tokio::test]
async fn what_another_server_changed_counts_at_once() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let other = Client { token: app.admin().token, ..app.another_server().await };
    let submit = async |more: Value| member.post("/jobs", job("team-a", more)).await;
    let (team, queue) = (other.get("/teams/team-a").await.ok(), other.get("/queues/team-a-q").await.ok());
    submit(json!({"queue": "team-a-q"})).await.expect(201);

    let version = |view: &Value| view["version"].as_i64().expect("a version");
    let renamed = other.patch("/teams/team-a", json!({"name": "Renamed"})).if_match(version(&team)).await;
    renamed.expect(200);
    assert_eq!(submit(json!({})).await.expect(201).json()["team"]["name"], "Renamed");

    let kinds = json!({"allowed_kinds": ["training"]});
    other.patch("/queues/team-a-q", kinds).if_match(version(&queue)).await.expect(200);
    submit(json!({"queue": "team-a-q", "kind": "training"})).await.expect(201);
    submit(json!({"queue": "team-a-q", "kind": "batch"})).await.refused(422, "invalid_body");

    let second = json!({"slug": "a-second", "name": "Second", "team": "team-a"});
    other.post("/queues", second).await.expect(201);
    assert_eq!(submit(json!({"kind": "batch"})).await.expect(201).json()["queue"]["slug"], "a-second");
    // The older one takes them again, and is the first again.
    let all = json!({"allowed_kinds": null});
    other.patch("/queues/team-a-q", all).if_match(version(&queue) + 1).await.expect(200);
    assert_eq!(submit(json!({"kind": "batch"})).await.expect(201).json()["queue"]["slug"], "team-a-q");

    other.post("/pools", json!({"slug": "fleeting", "name": "Fleeting"})).await.expect(201);
    submit(json!({"pools": ["fleeting"]})).await.expect(201);
    other.delete("/pools/fleeting").if_match(1).await.expect(204);
    submit(json!({"pools": ["fleeting"]})).await.refused(422, "invalid_body");

    let draining = json!({"state": "draining"});
    other.patch("/queues/team-a-q", draining).if_match(version(&queue) + 2).await.expect(200);
    submit(json!({"queue": "team-a-q"})).await.refused(422, "invalid_body");
}

#[tokio::test]
async fn a_policy_of_another_server_counts_at_once() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let other = Client { token: app.admin().token, ..app.another_server().await };
    let asked = json!({"kind": "batch", "priority": "normal"});
    member.post("/jobs", job("team-a", asked.clone())).await.expect(201);
    let policy = other.get("/policy").await.ok();
    let mut document = policy["document"].clone();
    document["kinds"]["batch"]["ceiling"] = json!("low");
    document["kinds"]["batch"]["default_priority"] = json!("low");
    let version = policy["version"].as_i64().expect("a version");
    other.put("/policy", document).if_match(version).await.expect(200);
    member.post("/jobs", job("team-a", asked)).await.refused(422, "priority_above_ceiling");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_that_go_away_take_nothing_with_them() {
    let app = TestApp::start().await;
    let member = app.user("a-member");
    let call = |n: usize| member.post("/jobs", job("team-a", json!({}))).key(&format!("k-{n}"));
    let calls: Vec<_> = (0..64).map(|n| tokio::spawn(call(n).into_future())).collect();
    for gone in calls.iter().step_by(2) {
        tokio::task::yield_now().await;
        gone.abort();
    }
    let mut answered = BTreeSet::new();
    for stayed in calls.into_iter().skip(1).step_by(2) {
        let reply = stayed.await.expect("no panic");
        answered.insert(text(&reply.expect(201).json()["id"]).to_owned());
    }
    assert_eq!(answered.len(), 32);
    // Those who come back with their key find their job, or it is made now: one each.
    let all: BTreeSet<String> = ids(&all_at_once((0..64).map(call).collect()).await);
    assert_eq!((all.len(), app.count_rows("jobs").await), (64, 64));
    assert!(all.is_superset(&answered));
    assert_eq!(app.count_events("job.submitted").await, 64);
}
