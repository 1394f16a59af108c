//! The idle rule by place: what an installation, a team or a queue says of it, value by value.

use super::Policy;
use super::layers::{Origin, Place, RuleOverrides, Ruled};
use crate::idle::{IdleAction, IdleRule};
use crate::kind::Kind;
use serde::{Deserialize, Serialize};

/// What a place says. What is left out is inherited; from the installation, the product's default for the kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdleOverrides {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<IdleAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_above_permille: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_window_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_permille: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_grace_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_snooze_secs: Option<i64>,
}

impl IdleOverrides {
    /// Says all of a rule.
    #[must_use]
    pub const fn all_of(rule: IdleRule) -> Self {
        Self {
            action: Some(rule.action),
            busy_above_permille: Some(rule.busy_above_permille),
            window_secs: Some(rule.window_secs),
            most_window_secs: Some(rule.most_window_secs),
            coverage_permille: Some(rule.coverage_permille),
            initial_grace_secs: Some(rule.initial_grace_secs),
            grace_secs: Some(rule.grace_secs),
            most_snooze_secs: Some(rule.most_snooze_secs),
        }
    }

    /// Puts what is said here over what is said there.
    pub(super) fn put_over(&self, other: &mut Self) {
        *other = Self {
            action: self.action.or(other.action),
            busy_above_permille: self.busy_above_permille.or(other.busy_above_permille),
            window_secs: self.window_secs.or(other.window_secs),
            most_window_secs: self.most_window_secs.or(other.most_window_secs),
            coverage_permille: self.coverage_permille.or(other.coverage_permille),
            initial_grace_secs: self.initial_grace_secs.or(other.initial_grace_secs),
            grace_secs: self.grace_secs.or(other.grace_secs),
            most_snooze_secs: self.most_snooze_secs.or(other.most_snooze_secs),
        };
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The rule at a place, each value with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectiveIdle {
    pub action: Ruled<IdleAction>,
    pub busy_above_permille: Ruled<u32>,
    pub window_secs: Ruled<i64>,
    pub most_window_secs: Ruled<i64>,
    pub coverage_permille: Ruled<u32>,
    pub initial_grace_secs: Ruled<i64>,
    pub grace_secs: Ruled<i64>,
    pub most_snooze_secs: Ruled<i64>,
}

impl From<&EffectiveIdle> for IdleRule {
    fn from(rule: &EffectiveIdle) -> Self {
        Self {
            action: rule.action.value,
            busy_above_permille: rule.busy_above_permille.value,
            window_secs: rule.window_secs.value,
            most_window_secs: rule.most_window_secs.value,
            coverage_permille: rule.coverage_permille.value,
            initial_grace_secs: rule.initial_grace_secs.value,
            grace_secs: rule.grace_secs.value,
            most_snooze_secs: rule.most_snooze_secs.value,
        }
    }
}

impl EffectiveIdle {
    /// Over the installation's rule of the kind; nearest first.
    pub(super) fn new(layers: &[(Origin, &RuleOverrides)], installation: IdleOverrides, kind: Kind) -> Self {
        let base = IdleRule::default_for(kind);
        macro_rules! nearest {
            ($name:ident) => {
                layers
                    .iter()
                    .find_map(|(from, own)| Some(Ruled { value: own.idle.$name?, from: from.clone() }))
                    .unwrap_or(Ruled {
                        value: installation.$name.unwrap_or(base.$name),
                        from: Origin::Installation,
                    })
            };
        }
        Self {
            action: nearest!(action),
            busy_above_permille: nearest!(busy_above_permille),
            window_secs: nearest!(window_secs),
            most_window_secs: nearest!(most_window_secs),
            coverage_permille: nearest!(coverage_permille),
            initial_grace_secs: nearest!(initial_grace_secs),
            grace_secs: nearest!(grace_secs),
            most_snooze_secs: nearest!(most_snooze_secs),
        }
    }
}

impl Policy {
    /// When jobs of a kind count as idle at a place, and what follows.
    #[must_use]
    pub fn idle_rule_at(&self, kind: Kind, place: Place<'_>) -> IdleRule {
        IdleRule::from(&self.effective_rules(kind, place).idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_set_on_a_team_holds_for_jobs_that_say_nothing() {
        // Row R-69.
        let policy: Policy = serde_json::from_value(serde_json::json!({
            "kinds": {"training": {"default_priority": "normal", "ceiling": "normal", "min_runtime_secs": 0,
                "grace_secs": 0, "may_borrow": true, "idle": {"grace_secs": 600}}},
            "team_rules": {"research": {"training": {"idle": {"action": "stop", "window_secs": 1800}}}},
            "queue_rules": {"night": {"training": {"idle": {"window_secs": 7200}}}},
        }))
        .expect("a policy");
        let place = Place { queue: Some("night"), teams: &["speech", "research"] };
        let rule = policy.idle_rule_at(Kind::Training, place);
        assert_eq!((rule.action, rule.window_secs, rule.grace_secs), (IdleAction::Stop, 7_200, 600));
        let effective = policy.effective_rules(Kind::Training, place).idle;
        assert_eq!(effective.action.from, Origin::Team("research".to_owned()));
        assert_eq!(effective.window_secs.from, Origin::Queue("night".to_owned()));
        assert_eq!(effective.coverage_permille.from, Origin::Installation);
        let elsewhere = Place { queue: None, teams: &["other"] };
        assert_eq!(policy.idle_rule_at(Kind::Training, elsewhere).action, IdleAction::Off);
        assert_eq!(
            Policy::default().idle_rule_at(Kind::Batch, elsewhere),
            IdleRule::default_for(Kind::Batch)
        );
        // A document of before this rule is still read.
        let stored = serde_json::to_value(&policy).expect("JSON");
        assert_eq!(serde_json::from_value::<Policy>(stored).expect("a policy"), policy);
    }
}
