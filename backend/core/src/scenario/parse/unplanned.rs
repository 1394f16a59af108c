//! Keys of the format whose machinery the planner does not have yet: understood, and said so.

use super::super::yaml::{Node, Value};

/// One note for each such key that asks for something.
pub(super) fn notes(document: &Node) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, false, &mut found);
    found
}

fn walk(node: &Node, in_jobs: bool, found: &mut Vec<String>) {
    match &node.value {
        Value::Text { .. } => {}
        Value::List(items) => items.iter().for_each(|item| walk(item, in_jobs, found)),
        Value::Map(entries) => {
            for (key, value) in entries {
                if key.text == "datasets" && in_jobs {
                    found.push(format!(
                        "{}: `{}` does not influence this version's planner",
                        key.at, key.text
                    ));
                }
                walk(value, in_jobs || matches!(key.text.as_str(), "jobs" | "submit"), found);
            }
        }
    }
}
