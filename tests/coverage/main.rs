//! Every operation of the OpenAPI document: it asks who calls, refuses who may not, and a change leaves an event.
//!
//! A new operation without an entry in [`entries`] fails here; an entry without an operation too.
#![allow(
    clippy::too_many_lines,
    clippy::enum_variant_names,
    reason = "tables of operations are as long as the API"
)]

mod approvals;
mod books;
mod document;
mod entries;
mod identity_entries;
mod matrix;

use entries::{By, Entry};
use reeve_tests::TestApp;
use reeve_tests::client::{Call, Client};
use serde_json::Value;
use std::collections::BTreeSet;

/// Operation id, method and path of every operation.
fn operations() -> Vec<(String, String, String)> {
    let document = reeve_api::openapi::document();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an operation id").to_owned();
            found.push((id, method.to_uppercase(), path.clone()));
        }
    }
    found
}

fn call(client: &Client, method: &str, template: &str, entry: &Entry) -> Call {
    let mut path = template.to_owned();
    for (name, value) in &entry.path {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    assert!(!path.contains('{'), "{path} is not filled in");
    path.push_str(entry.query);
    let mut call = client.call(method, &path);
    if let Some(body) = &entry.body {
        call = call.json(body);
    }
    match &entry.if_match {
        Some(tag) if tag == "*" => call.header("if-none-match", "*"),
        Some(tag) => call.header("if-match", tag),
        None => call,
    }
}

async fn entry_of(app: &TestApp, id: &str) -> Entry {
    entries::entry(app, id)
        .await
        .unwrap_or_else(|| panic!("{id} has no entry: say who may call it, and who not"))
}

#[test]
fn operation_ids_are_unique() {
    let all = operations();
    let distinct: BTreeSet<&String> = all.iter().map(|(id, _, _)| id).collect();
    assert_eq!(distinct.len(), all.len());
    assert!(all.len() > 60, "only {} operations: the document is not whole", all.len());
}

#[tokio::test]
async fn every_operation_asks_who_calls() {
    let app = TestApp::start().await;
    for (id, method, path) in operations() {
        let entry = entry_of(&app, &id).await;
        let reply = call(&app.stranger(), &method, &path, &entry).await;
        match entry.by {
            By::AnybodyAtAll => assert!(!reply.text().contains("\"unauthenticated\""), "{id}: {reply}"),
            _ => drop(reply.refused(401, "unauthenticated")),
        }
        let wrong = call(&app.with_token("reeve_pat_wrong"), &method, &path, &entry).await;
        if !matches!(entry.by, By::AnybodyAtAll) {
            wrong.refused(401, "invalid_credential");
        }
    }
}

#[tokio::test]
async fn every_operation_refuses_who_may_not() {
    let app = TestApp::start().await;
    for (id, method, path) in operations() {
        let entry = entry_of(&app, &id).await;
        let refused = match entry.by {
            By::AnybodyAtAll => continue,
            By::AnybodySignedIn => {
                let reply = call(&app.user("nobody"), &method, &path, &entry).await;
                assert!(!matches!(reply.status, 401 | 403), "{id} is open to everybody signed in: {reply}");
                continue;
            }
            By::Node => {
                call(&app.admin(), &method, &path, &entry).await.refused(401, "invalid_credential");
                continue;
            }
            By::NotBy { who, status } => (app.user(who), status),
            By::SessionOnly => (app.user("a-member"), 403),
        };
        let reply = call(&refused.0, &method, &path, &entry).await;
        let code = if refused.1 == 403 { "forbidden" } else { "not_found" };
        assert_eq!((reply.status, &reply.json()["code"]), (refused.1, &Value::from(code)), "{id}: {reply}");
        // Whom it refuses could be refused for anything: whoever may gets through.
        let reply = call(&entry.allowed, &method, &path, &entry).await;
        assert!(reply.status < 300, "{id}: {reply}");
    }
}

#[tokio::test]
async fn every_change_leaves_an_event() {
    let app = TestApp::start().await;
    for (id, method, path) in operations().into_iter().filter(|(_, method, _)| method != "GET") {
        let entry = entry_of(&app, &id).await;
        let before = app.count_events("").await;
        let reply = call(&entry.allowed, &method, &path, &entry).await;
        assert!(reply.status < 300 || entry.answers == Some(reply.status), "{id}: {reply}");
        let made = app.count_events("").await - before;
        if entry.quiet {
            assert_eq!(made, 0, "{id} is said to change nothing that people see");
        } else {
            assert!(made > 0, "{id} left no event");
        }
    }
}

#[tokio::test]
async fn reads_leave_no_event() {
    let app = TestApp::start().await;
    for (id, method, path) in operations().into_iter().filter(|(_, method, _)| method == "GET") {
        let entry = entry_of(&app, &id).await;
        let before = app.count_events("").await;
        let reply = call(&entry.allowed, &method, &path, &entry).await;
        let expected = reply.status < 300 || reply.status == 404 || entry.answers == Some(reply.status);
        assert!(expected, "{id}: {reply}");
        assert_eq!(app.count_events("").await, before, "{id} wrote an event");
    }
}
