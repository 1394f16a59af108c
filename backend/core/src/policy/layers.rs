//! Rules by place: a queue's own value wins over its team's, a team's over those above it, and all of them over
//! the installation's. Each value can say where it comes from.
//!
//! Overrides never add up: the nearest value replaces the others whole.

use super::Policy;
use super::idle_rules::{EffectiveIdle, IdleOverrides};
use super::kind_rules::KindRules;
use super::window::TimeWindow;
use crate::idle::IdleRule;
use crate::kind::Kind;
use crate::priority::PriorityClass;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// What a team or a queue has of its own for one kind. What is left out is inherited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleOverrides {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_priority: Option<PriorityClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<PriorityClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_runtime_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_borrow: Option<bool>,
    /// `null` lifts an inherited window.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub time_window: Option<Option<TimeWindow>>,
    #[serde(skip_serializing_if = "IdleOverrides::is_empty")]
    pub idle: IdleOverrides,
}

impl RuleOverrides {
    /// Puts what is given over `rules`.
    pub fn put_over(&self, rules: &mut KindRules) {
        let Self { default_priority, ceiling, min_runtime_secs, grace_secs, may_borrow, time_window, idle } =
            self.clone();
        rules.default_priority = default_priority.unwrap_or(rules.default_priority);
        rules.ceiling = ceiling.unwrap_or(rules.ceiling);
        rules.min_runtime_secs = min_runtime_secs.unwrap_or(rules.min_runtime_secs);
        rules.grace_secs = grace_secs.unwrap_or(rules.grace_secs);
        rules.may_borrow = may_borrow.unwrap_or(rules.may_borrow);
        if let Some(window) = time_window {
            rules.time_window = window;
        }
        idle.put_over(&mut rules.idle);
    }
}

/// A field that is there counts as given, `null` too.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Overrides of one team or queue, by kind.
pub type KindOverrides = BTreeMap<Kind, RuleOverrides>;

/// Where a job stands: its queue, then its team and the teams above it, nearest first. All by slug.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub queue: Option<&'a str>,
    pub teams: &'a [&'a str],
}

/// Which layer a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "level", content = "slug", rename_all = "snake_case")]
pub enum Origin {
    Queue(String),
    Team(String),
    Installation,
}

/// A value and its layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ruled<T> {
    pub value: T,
    pub from: Origin,
}

/// A job's rules, each with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectiveRules {
    pub default_priority: Ruled<PriorityClass>,
    pub ceiling: Ruled<PriorityClass>,
    pub min_runtime_secs: Ruled<i64>,
    pub grace_secs: Ruled<i64>,
    pub may_borrow: Ruled<bool>,
    pub time_window: Ruled<Option<TimeWindow>>,
    pub idle: EffectiveIdle,
}

impl From<EffectiveRules> for KindRules {
    fn from(rules: EffectiveRules) -> Self {
        Self {
            default_priority: rules.default_priority.value,
            ceiling: rules.ceiling.value,
            min_runtime_secs: rules.min_runtime_secs.value,
            grace_secs: rules.grace_secs.value,
            may_borrow: rules.may_borrow.value,
            time_window: rules.time_window.value,
            idle: IdleOverrides::all_of(IdleRule::from(&rules.idle)),
        }
    }
}

impl Policy {
    /// The rules of a kind at a place.
    #[must_use]
    pub fn rules_at(&self, kind: Kind, place: Place<'_>) -> KindRules {
        if self.team_rules.is_empty() && self.queue_rules.is_empty() {
            return self.rules(kind);
        }
        self.effective_rules(kind, place).into()
    }

    /// The same, with each value's origin.
    #[must_use]
    pub fn effective_rules(&self, kind: Kind, place: Place<'_>) -> EffectiveRules {
        let layers = self.layers(kind, place);
        let base = self.rules(kind);
        EffectiveRules {
            default_priority: nearest(&layers, |own| own.default_priority, base.default_priority),
            ceiling: nearest(&layers, |own| own.ceiling, base.ceiling),
            min_runtime_secs: nearest(&layers, |own| own.min_runtime_secs, base.min_runtime_secs),
            grace_secs: nearest(&layers, |own| own.grace_secs, base.grace_secs),
            may_borrow: nearest(&layers, |own| own.may_borrow, base.may_borrow),
            time_window: nearest(&layers, |own| own.time_window.clone(), base.time_window),
            idle: EffectiveIdle::new(&layers, base.idle, kind),
        }
    }

    /// What is set on the way up, nearest first.
    fn layers(&self, kind: Kind, place: Place<'_>) -> Vec<(Origin, &RuleOverrides)> {
        let queue = place
            .queue
            .and_then(|slug| Some((Origin::Queue(slug.to_owned()), self.queue_rules.get(slug)?.get(&kind)?)));
        let teams = place.teams.iter().filter_map(|&slug| {
            Some((Origin::Team(slug.to_owned()), self.team_rules.get(slug)?.get(&kind)?))
        });
        queue.into_iter().chain(teams).collect()
    }
}

fn nearest<T>(
    layers: &[(Origin, &RuleOverrides)],
    own: impl Fn(&RuleOverrides) -> Option<T>,
    base: T,
) -> Ruled<T> {
    let found = layers.iter().find_map(|(from, rules)| Some((own(rules)?, from.clone())));
    let (value, from) = found.unwrap_or((base, Origin::Installation));
    Ruled { value, from }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        serde_json::from_value(serde_json::json!({
            "team_rules": {
                "research": {"batch": {"grace_secs": 300, "min_runtime_secs": 900,
                    "time_window": {"from": "20:00", "until": "08:00"}}},
                "speech": {"batch": {"grace_secs": 30}},
            },
            "queue_rules": {"speech-urgent": {"batch": {"time_window": null, "ceiling": "high"}}},
        }))
        .expect("a policy")
    }

    #[test]
    fn the_nearest_value_wins_and_says_where_it_comes_from() {
        let policy = policy();
        let place = Place { queue: Some("speech-urgent"), teams: &["speech", "research"] };
        let rules = policy.effective_rules(Kind::Batch, place);
        let team = |slug: &str| Origin::Team(slug.to_owned());
        assert_eq!((rules.grace_secs.value, &rules.grace_secs.from), (30, &team("speech")));
        assert_eq!((rules.min_runtime_secs.value, &rules.min_runtime_secs.from), (900, &team("research")));
        assert_eq!(rules.may_borrow.from, Origin::Installation);
        // Null lifts what is inherited; left out inherits.
        assert_eq!(
            (&rules.time_window.value, &rules.time_window.from),
            (&None, &Origin::Queue("speech-urgent".into()))
        );
        let other = policy.effective_rules(Kind::Batch, Place { queue: Some("speech"), ..place });
        assert!(other.time_window.value.is_some());
        assert_eq!(policy.rules_at(Kind::Training, place), KindRules::default_for(Kind::Training));
        assert_eq!(policy.rules_at(Kind::Batch, place), rules.into());
    }

    #[test]
    fn a_lifted_window_survives_being_stored() {
        let stored = serde_json::to_value(policy()).expect("JSON");
        assert_eq!(serde_json::from_value::<Policy>(stored).expect("a policy"), policy());
    }
}
