//! What stands on the server now, in the document's words.

use super::document::{Key, Section};
use super::prices;
use crate::client::{Call, Client};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// More of one section than an installation has.
const MOST: usize = 100_000;

/// A thing that exists, and its version.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) fields: Map<String, Value>,
    pub(super) version: Value,
}

pub(super) type Live = BTreeMap<Key, Standing>;

/// Reads everything.
pub(super) async fn read(client: &Client) -> anyhow::Result<Live> {
    let mut live = Live::new();
    for (section, path) in [
        (Section::Pools, "/pools"),
        (Section::Teams, "/teams"),
        (Section::Queues, "/queues"),
        (Section::Quotas, "/quotas"),
        (Section::PriorityBudgets, "/priority-budgets"),
    ] {
        for item in client.all(Call::get(path), MOST).await? {
            live.insert((section, name(section, &item)), standing(section, &item));
        }
    }
    let policy = client.send(Call::get("/policy")).await?;
    let fields = policy["document"].as_object().cloned().unwrap_or_default();
    live.insert((Section::Policy, String::new()), Standing { fields, version: policy["version"].clone() });
    let book = client.send(Call::get("/prices")).await?;
    let fields = prices::comparable(&json!({"currency": book["currency"], "prices": book["prices"]}))?;
    live.insert((Section::Prices, String::new()), Standing { fields, version: book["version"].clone() });
    Ok(live)
}

fn name(section: Section, item: &Value) -> String {
    let slug = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    match section {
        Section::Quotas => format!("{}/{}", slug("/team/slug"), slug("/pool/slug")),
        Section::PriorityBudgets => slug("/team/slug"),
        _ => slug("/slug"),
    }
}

fn standing(section: Section, item: &Value) -> Standing {
    let field = |&name: &&str| {
        // Teams are named by their slugs.
        let value = match name {
            "parent" | "team" => item[name]["slug"].clone(),
            _ => item[name].clone(),
        };
        (name.to_owned(), value)
    };
    Standing { fields: section.fields().iter().map(field).collect(), version: item["version"].clone() }
}
