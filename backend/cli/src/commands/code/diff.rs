//! What has to change so that the server is as the document says.

use super::change::{Change, What};
use super::document::{Document, Section};
use super::live::Live;
use serde_json::{Map, Value};

/// Every change, in the order in which they are made. `prune`: what the document's sections do not name goes.
pub(super) fn diff(document: &Document, live: &Live, prune: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    for (key, wanted) in &document.things {
        let what = match live.get(key) {
            None => What::Add { fields: wanted.clone() },
            Some(standing) => {
                let differing = wanted
                    .iter()
                    .filter(|(name, value)| standing.fields.get(*name).unwrap_or(&Value::Null) != *value);
                let fields: Map<String, Value> =
                    differing.map(|(name, value)| (name.clone(), value.clone())).collect();
                // A field that only the server has is a default that the document's policy does not write out.
                let gone =
                    key.0 == Section::Policy && standing.fields.keys().any(|name| !wanted.contains_key(name));
                if fields.is_empty() && !gone {
                    continue;
                }
                What::Edit { fields, before: standing.clone() }
            }
        };
        changes.push(Change { key: key.clone(), what, wanted: wanted.clone() });
    }
    if prune {
        let extra = live.iter().rev().filter(|(key, _)| {
            !key.0.is_one() && document.sections.contains(&key.0) && !document.things.contains_key(*key)
        });
        changes.extend(extra.map(|(key, standing)| Change {
            key: key.clone(),
            what: What::Remove { before: standing.clone() },
            wanted: Map::new(),
        }));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::super::live::Standing;
    use super::*;
    use serde_json::json;

    fn live() -> Live {
        let standing =
            |fields: Value| Standing { fields: fields.as_object().unwrap().clone(), version: json!(3) };
        Live::from([
            ((Section::Teams, "a".to_owned()), standing(json!({"name": "A", "parent": null}))),
            ((Section::Teams, "b".to_owned()), standing(json!({"name": "B", "parent": "a"}))),
            (
                (Section::Quotas, "a/h100".to_owned()),
                standing(
                    json!({"guaranteed_gpus": 4, "borrow_limit_gpus": null, "lend_limit_gpus": null, "weight": 1, "drain": false}),
                ),
            ),
        ])
    }

    fn lines(document: Value, prune: bool) -> Vec<String> {
        let document = parse(document).expect("a document");
        diff(&document, &live(), prune).iter().flat_map(Change::lines).collect()
    }

    #[test]
    fn only_what_differs_is_changed() {
        assert_eq!(
            lines(
                json!({"teams": {"a": {"name": "A"}}, "quotas": {"a/h100": {"guaranteed_gpus": 4}}}),
                false
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            lines(
                json!({"teams": {"a": {"name": "Alpha"}, "c": {"name": "C"}}, "quotas": {"a/h100": {"guaranteed_gpus": 6, "weight": 1}}}),
                false
            ),
            [
                "~ teams a: name \"A\" → \"Alpha\"",
                "+ teams c: {\"name\":\"C\"}",
                "~ quotas a/h100: guaranteed_gpus 4 → 6"
            ]
        );
        assert_eq!(
            lines(json!({"teams": {"a": {}}}), true),
            ["- teams b"],
            "other sections are not its business"
        );
    }
}
