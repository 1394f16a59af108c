//! A job's rules as JSON.

use reeve_core::kind::Kind;
use reeve_core::policy::{EffectiveRules, Origin, Ruled};
use serde::Serialize;
use utoipa::ToSchema;

/// Rules of the job's kind, as they hold where the job stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesView {
    kind: String,
    /// The policy's version; 0 = the product's defaults.
    policy_version: i64,
    rules: Vec<RuleView>,
}

/// One rule: its value, and where it is set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RuleView {
    /// As in the policy document: `grace_secs`, `time_window`, …; with `idle_` before what stands in `idle`.
    name: &'static str,
    #[schema(value_type = serde_json::Value)]
    value: serde_json::Value,
    /// `queue`, `team` or `installation`.
    level: &'static str,
    /// The queue's or team's slug.
    slug: Option<String>,
}

impl RulesView {
    pub(crate) fn new(kind: Kind, policy_version: i64, rules: EffectiveRules) -> Self {
        let rules = vec![
            rule("default_priority", rules.default_priority),
            rule("ceiling", rules.ceiling),
            rule("min_runtime_secs", rules.min_runtime_secs),
            rule("grace_secs", rules.grace_secs),
            rule("may_borrow", rules.may_borrow),
            rule("time_window", rules.time_window),
            rule("idle_action", rules.idle.action),
            rule("idle_window_secs", rules.idle.window_secs),
            rule("idle_most_window_secs", rules.idle.most_window_secs),
            rule("idle_busy_above_permille", rules.idle.busy_above_permille),
            rule("idle_coverage_permille", rules.idle.coverage_permille),
            rule("idle_initial_grace_secs", rules.idle.initial_grace_secs),
            rule("idle_grace_secs", rules.idle.grace_secs),
            rule("idle_most_snooze_secs", rules.idle.most_snooze_secs),
        ];
        Self { kind: kind.to_string(), policy_version, rules }
    }
}

fn rule<T: Serialize>(name: &'static str, ruled: Ruled<T>) -> RuleView {
    let (level, slug) = match ruled.from {
        Origin::Queue(slug) => ("queue", Some(slug)),
        Origin::Team(slug) => ("team", Some(slug)),
        Origin::Installation => ("installation", None),
    };
    RuleView { name, value: serde_json::to_value(ruled.value).unwrap_or_default(), level, slug }
}
