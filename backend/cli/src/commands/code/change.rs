//! One change, in words and as requests.

use super::document::{Key, Section};
use super::live::Standing;
use super::prices;
use crate::client::Call;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(super) enum What {
    Add { fields: Map<String, Value> },
    Edit { fields: Map<String, Value>, before: Standing },
    Remove { before: Standing },
}

#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) key: Key,
    pub(super) what: What,
    /// All that the document says of it.
    pub(super) wanted: Map<String, Value>,
}

impl Change {
    fn title(&self) -> String {
        format!("{} {}", self.key.0.name(), self.key.1).trim_end().to_owned()
    }

    /// A line for each field that changes.
    pub(super) fn lines(&self) -> Vec<String> {
        let title = self.title();
        match &self.what {
            What::Add { fields } => vec![format!("+ {title}: {}", Value::Object(fields.clone()))],
            What::Remove { .. } => vec![format!("- {title}")],
            What::Edit { fields, before } => {
                let mut lines = Vec::new();
                for (name, after) in fields {
                    leaves(name, before.fields.get(name).unwrap_or(&Value::Null), after, &mut lines);
                }
                if self.key.0 == Section::Policy {
                    for (name, was) in
                        before.fields.iter().filter(|(name, _)| !self.wanted.contains_key(*name))
                    {
                        leaves(name, was, &Value::Null, &mut lines);
                    }
                }
                lines.into_iter().map(|line| format!("~ {title}: {line}")).collect()
            }
        }
    }

    /// The request that makes it true.
    pub(super) fn call(&self) -> Call {
        let (section, name) = (self.key.0, self.key.1.as_str());
        let path = match section {
            Section::PriorityBudgets => format!("/priority-budgets/{name}"),
            one if one.is_one() => format!("/{}", one.name()),
            _ => format!("/{}/{name}", section.name()),
        };
        let tag = |before: &Standing| format!("\"{}\"", before.version);
        let whole = matches!(section, Section::Quotas | Section::PriorityBudgets | Section::Policy);
        match &self.what {
            What::Add { fields } if whole => {
                Call::put(path, Value::Object(fields.clone())).header("If-None-Match", "*")
            }
            What::Add { fields } => {
                let mut body = fields.clone();
                body.insert("slug".to_owned(), Value::String(name.to_owned()));
                Call::post(format!("/{}", section.name()), Value::Object(body))
            }
            What::Edit { before, .. } if section == Section::Policy => {
                Call::put(path, Value::Object(self.wanted.clone())).header("If-Match", tag(before))
            }
            What::Edit { before, .. } if section == Section::Prices => {
                Call::put(path, prices::listed(&self.wanted)).header("If-Match", tag(before))
            }
            What::Edit { fields, before } if whole => {
                let mut body = before.fields.clone();
                body.extend(fields.clone());
                Call::put(path, Value::Object(body)).header("If-Match", tag(before))
            }
            What::Edit { fields, before } => {
                Call::patch(path, Value::Object(fields.clone())).header("If-Match", tag(before))
            }
            What::Remove { before } => Call::delete(path).header("If-Match", tag(before)),
        }
    }
}

/// The leaves that differ, each by its path.
fn leaves(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    if before == after {
        return;
    }
    if let (Value::Object(was), Value::Object(is)) = (before, after) {
        let names: std::collections::BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        for name in names {
            let of = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or(Value::Null);
            leaves(&format!("{path}.{name}"), &of(was), &of(is), lines);
        }
        return;
    }
    lines.push(format!("{path} {before} → {after}"));
}
