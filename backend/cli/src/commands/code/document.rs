//! The document: sections of named things, each a mapping of fields.

use super::prices;
use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// In the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Pools,
    Teams,
    Queues,
    Quotas,
    PriorityBudgets,
    Policy,
    Prices,
}

impl Section {
    pub(super) const ALL: [Self; 7] = [
        Self::Pools,
        Self::Teams,
        Self::Queues,
        Self::Quotas,
        Self::PriorityBudgets,
        Self::Policy,
        Self::Prices,
    ];

    /// One thing without a name, which is put as a whole and never removed.
    pub(super) const fn is_one(self) -> bool {
        matches!(self, Self::Policy | Self::Prices)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pools => "pools",
            Self::Teams => "teams",
            Self::Queues => "queues",
            Self::Quotas => "quotas",
            Self::PriorityBudgets => "priority_budgets",
            Self::Policy => "policy",
            Self::Prices => "prices",
        }
    }

    /// Fields that its things have.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Pools => &["name", "gpu_model"],
            Self::Teams => &["name", "parent"],
            Self::Queues => &[
                "team",
                "name",
                "order",
                "state",
                "allowed_kinds",
                "max_running_jobs",
                "max_running_jobs_per_user",
                "max_running_gpus",
            ],
            Self::Quotas => &["guaranteed_gpus", "borrow_limit_gpus", "lend_limit_gpus", "weight", "drain"],
            Self::PriorityBudgets => &["gpu_hours"],
            // Documents of their own.
            Self::Policy | Self::Prices => &[],
        }
    }
}

/// A section and a name in it: a slug, `team/pool` for a quota, nothing for the policy and the prices.
pub(super) type Key = (Section, String);

/// A document as it was read.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) things: BTreeMap<Key, Map<String, Value>>,
    /// Sections that it has, though they may be empty.
    pub(super) sections: BTreeSet<Section>,
}

/// Reads a file of YAML or JSON; `-` is standard input.
pub(super) fn read(file: &Path) -> anyhow::Result<Document> {
    let name = file.display().to_string();
    let text = if name == "-" {
        std::io::read_to_string(std::io::stdin()).context("standard input")?
    } else {
        std::fs::read_to_string(file).with_context(|| name.clone())?
    };
    // JSON is YAML.
    let value: Value = serde_yaml_ng::from_str(&text).with_context(|| name.clone())?;
    parse(value).with_context(|| name)
}

/// The document in a value.
pub(super) fn parse(value: Value) -> anyhow::Result<Document> {
    let Value::Object(sections) = value else { bail!("a mapping of sections is wanted") };
    let mut document = Document::default();
    for (name, content) in sections {
        let Some(section) = Section::ALL.into_iter().find(|section| section.name() == name) else {
            let known = Section::ALL.map(Section::name).join(", ");
            bail!("{name}: no such section; there are {known}");
        };
        document.sections.insert(section);
        let Value::Object(content) = content else { bail!("{name}: a mapping is wanted") };
        if section == Section::Prices {
            let book = prices::comparable(&Value::Object(content))?;
            document.things.insert((section, String::new()), book);
            continue;
        }
        if section == Section::Policy {
            let policy: reeve_core::policy::Policy =
                serde_json::from_value(Value::Object(content)).context("policy")?;
            // What is left out takes the product's default, as the server does it.
            let Value::Object(whole) = serde_json::to_value(policy)? else { bail!("policy") };
            document.things.insert((section, String::new()), whole);
            continue;
        }
        for (key, fields) in content {
            let Value::Object(fields) = fields else { bail!("{name}.{key}: a mapping of fields is wanted") };
            for field in fields.keys() {
                ensure!(
                    section.fields().contains(&field.as_str()),
                    "{name}.{key}.{field}: no such field; there are {}",
                    section.fields().join(", ")
                );
            }
            ensure!(
                section != Section::Quotas || key.split('/').count() == 2,
                "{name}.{key}: a quota is named team/pool"
            );
            document.things.insert((section, key), fields);
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_read_and_what_is_no_part_of_it_is_named() {
        let good =
            parse(json!({"teams": {"a": {"name": "A", "parent": null}}, "policy": {"reclaim": "off"}}));
        let good = good.expect("a document");
        assert_eq!(good.things[&(Section::Teams, "a".to_owned())]["name"], "A");
        assert_eq!(good.things[&(Section::Policy, String::new())]["nomination_timeout_secs"], 900);
        for (wrong, wanted) in [
            (json!({"team": {}}), "no such section"),
            (json!({"teams": {"a": {"nam": "A"}}}), "teams.a.nam"),
            (json!({"quotas": {"a": {"guaranteed_gpus": 1}}}), "team/pool"),
            (json!({"policy": {"reclaim": "sometimes"}}), "policy"),
            (json!([]), "mapping"),
        ] {
            let error = format!("{:#}", parse(wrong.clone()).expect_err("wrong"));
            assert!(error.contains(wanted), "{wrong}: {error}");
        }
    }
}
