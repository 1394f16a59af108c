//! Who may do what: every operation by everybody, as `matrix.txt` says and no other way.
//!
//! The operations come from the OpenAPI document, the requests from the entries, the answers from the table. A new
//! operation needs one line there; the failing test prints it.

use crate::entries::{By, Entry};
use crate::{call, entry_of, operations};
use reeve_tests::TestApp;
use reeve_tests::app::text;
use reeve_tests::client::{Client, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("matrix.txt");

/// The columns, and who stands for each. Things are team A's, and jobs `a-member`'s.
const ACTORS: [(&str, &str); 12] = [
    ("nobody", "nobody"),
    ("viewer", "a-viewer"),
    ("owner", "a-member"),
    ("member", "a-second"),
    ("approver", "a-approver"),
    ("lead", "a-lead"),
    ("parent-lead", "lab-lead"),
    ("other-member", "b-member"),
    ("other-lead", "b-lead"),
    ("finance", "finance"),
    ("auditor", "auditor"),
    ("admin", "admin"),
];
/// An administrator's token that may only read.
const READER: &str = "admin-reads";

/// Operation to its line, blanks evened out.
fn table() -> BTreeMap<&'static str, String> {
    let lines = TABLE.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let operation = words.next().expect("an operation");
            (operation, words.collect::<Vec<_>>().join(" "))
        })
        .collect()
}

#[test]
fn the_table_has_every_operation_and_no_other() {
    let table = table();
    let operations: Vec<String> = operations().into_iter().map(|(id, _, _)| id).collect();
    let missing: Vec<&String> = operations.iter().filter(|id| !table.contains_key(id.as_str())).collect();
    let gone: Vec<_> = table.keys().filter(|id| !operations.iter().any(|known| known == *id)).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "tests/coverage/matrix.txt: add a line for {missing:?} (the test `everybody_may_do_what_the_table_says_and_\
         nothing_else` prints what each answers now: copy it if that is right), and remove {gone:?}"
    );
    let titles: Vec<&str> = ACTORS.iter().map(|(title, _)| *title).chain([READER]).collect();
    let header = TABLE.lines().find(|line| line.starts_with("# operation")).expect("a header");
    assert_eq!(header.split_whitespace().skip(2).collect::<Vec<_>>(), titles);
    assert_eq!(TABLE.lines().filter(|line| !line.starts_with('#')).count(), table.len(), "a line twice");
}

#[tokio::test]
async fn everybody_may_do_what_the_table_says_and_nothing_else() {
    let app = TestApp::start().await;
    let actors = actors(&app).await;
    let (table, mut wrong) = (table(), Vec::new());
    for (id, method, path) in operations() {
        let answers = match entry_of(&app, &id).await.by {
            By::AnybodyAtAll => "open".to_owned(),
            By::Node => "node".to_owned(),
            _ => observed(&app, &actors, &id, &method, &path).await,
        };
        if table.get(id.as_str()) != Some(&answers) {
            let expected = table.get(id.as_str()).map_or("nothing", String::as_str);
            wrong.push(format!("{}\n    the table says {expected}", line(&id, &answers)));
        }
    }
    assert!(wrong.is_empty(), "not as tests/coverage/matrix.txt says:\n{}", wrong.join("\n"));
}

async fn actors(app: &TestApp) -> Vec<(&'static str, Client)> {
    let mut actors: Vec<_> = ACTORS.iter().map(|(title, name)| (*title, app.user(name))).collect();
    let token = app.admin().post("/tokens", json!({"name": "reader", "scopes": ["read"]})).await.ok();
    actors.push((READER, app.with_token(text(&token["token"]))));
    actors
}

/// What everybody is answered, each with a request of their own.
async fn observed(
    app: &TestApp,
    actors: &[(&'static str, Client)],
    id: &str,
    method: &str,
    path: &str,
) -> String {
    let (mut answers, mut compared) = (Vec::new(), false);
    for (title, client) in actors {
        let entry = entry_of(app, id).await;
        let reply = call(client, method, path, &entry).await;
        answers.push(match reply.status {
            200..300 => "+".to_owned(),
            401 | 403 | 404 => reply.status.to_string(),
            _ => panic!("{id} by {title}: neither done nor refused: {reply}"),
        });
        if reply.status == 404 && !compared {
            compared = true;
            tells_nothing(client, method, path, entry, &reply).await;
        }
    }
    answers.join(" ")
}

/// What is hidden answers exactly as what does not exist.
async fn tells_nothing(client: &Client, method: &str, path: &str, mut entry: Entry, hidden: &Reply) {
    for (_, value) in &mut entry.path {
        *value = uuid::Uuid::from_u128(0x0dd).to_string();
    }
    let missing = call(client, method, path, &entry).await;
    let told = |reply: &Reply| {
        let mut problem: Value = reply.json();
        problem["instance"] = Value::Null;
        problem["request_id"] = Value::Null;
        (reply.status, problem)
    };
    assert_eq!(told(hidden), told(&missing), "{method} {path} tells what exists");
}

fn line(id: &str, answers: &str) -> String {
    let titles = ACTORS.iter().map(|(title, _)| *title).chain([READER]);
    let cells = answers.split(' ').zip(titles).map(|(answer, title)| format!("{answer:<0$}", title.len()));
    format!("{id:<30} {}", cells.collect::<Vec<_>>().join(" ")).trim_end().to_owned()
}
