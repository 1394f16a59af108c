//! Which way a request takes: the first rule of the policy that speaks of it.

use super::terms::{AsksFor, Scope};
use crate::policy::{ApprovalPolicy, ApprovalRule, StepRule, Verdict};
use crate::priority::PriorityClass;
use crate::text_enum;

text_enum! {
    /// Whether the team's high-priority budget covers what a request may cost.
    BudgetStanding {
        Within = "within",
        Over = "over",
        /// The team has none.
        Unset = "unset",
    }
}

/// A request as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub asks_for: AsksFor,
    pub level: Option<PriorityClass>,
    pub scope: Option<Scope>,
    /// `None` = for good.
    pub duration_secs: Option<i64>,
    /// What it may cost at most, rounded up.
    pub gpu_hours: i64,
    pub budget: BudgetStanding,
    /// The team and those above it, by slug.
    pub teams: &'a [&'a str],
}

/// The way, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route<'a> {
    AutoApprove { rule: &'a str },
    Refuse { rule: &'a str, because: &'a str },
    Steps { rule: &'a str, steps: &'a [StepRule] },
}

/// The rule's name where none of the list speaks of the request.
const OTHERWISE: &str = "otherwise";

impl ApprovalPolicy {
    /// The way of a request.
    #[must_use]
    pub fn route(&self, question: &Question<'_>) -> Route<'_> {
        let Some(ApprovalRule { name: rule, then, .. }) =
            self.rules.iter().find(|rule| speaks(rule, question))
        else {
            return Route::Steps { rule: OTHERWISE, steps: &self.otherwise };
        };
        match then {
            Verdict::AutoApprove => Route::AutoApprove { rule },
            Verdict::Refuse { because } => Route::Refuse { rule, because },
            Verdict::Steps(steps) => Route::Steps { rule, steps },
        }
    }
}

fn speaks(rule: &ApprovalRule, question: &Question<'_>) -> bool {
    let when = &rule.when;
    let secs = question.duration_secs.unwrap_or(i64::MAX);
    when.asks_for.as_ref().is_none_or(|these| these.contains(&question.asks_for))
        && when.level_at_least.is_none_or(|least| question.level >= Some(least))
        && when.level_at_most.is_none_or(|most| question.level <= Some(most))
        && when.scope.is_none_or(|scope| question.scope == Some(scope))
        && when.at_most_secs.is_none_or(|most| secs <= most)
        && when.longer_than_secs.is_none_or(|least| secs > least)
        && when.gpu_hours_at_most.is_none_or(|most| question.gpu_hours <= most)
        && when.budget.as_ref().is_none_or(|these| these.contains(&question.budget))
        && when
            .teams
            .as_ref()
            .is_none_or(|these| these.iter().any(|team| question.teams.contains(&team.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question<'static> {
        Question {
            asks_for: AsksFor::Priority,
            level: Some(PriorityClass::High),
            scope: Some(Scope::Team),
            duration_secs: Some(3_600),
            gpu_hours: 4,
            budget: BudgetStanding::Within,
            teams: &["team-a", "lab"],
        }
    }

    fn rule_of(question: &Question<'_>) -> (String, usize) {
        match ApprovalPolicy::default().route(question) {
            Route::AutoApprove { rule } => (rule.to_owned(), 0),
            Route::Refuse { rule, .. } => (rule.to_owned(), 99),
            Route::Steps { rule, steps } => (rule.to_owned(), steps.len()),
        }
    }

    #[test]
    fn the_defaults_ask_for_more_the_more_is_asked() {
        let asked = question();
        for (question, rule, steps) in [
            (asked, "small_and_short", 0),
            (Question { budget: BudgetStanding::Unset, ..asked }, "inside_the_team", 1),
            (Question { duration_secs: Some(7_200), ..asked }, "inside_the_team", 1),
            (Question { gpu_hours: 9, ..asked }, "inside_the_team", 1),
            (Question { budget: BudgetStanding::Over, ..asked }, "beyond_the_team", 2),
            (Question { level: Some(PriorityClass::Critical), ..asked }, "beyond_the_team", 2),
            (Question { scope: Some(Scope::Platform), ..asked }, "beyond_the_team", 2),
            (
                Question { level: Some(PriorityClass::Critical), duration_secs: Some(8 * 86_400), ..asked },
                "critical_for_long",
                99,
            ),
            (Question { asks_for: AsksFor::Quota, level: None, duration_secs: None, ..asked }, "quota", 2),
            (Question { asks_for: AsksFor::Budget, level: None, ..asked }, "budget", 1),
            (Question { asks_for: AsksFor::NeverEvict, level: None, ..asked }, "otherwise", 1),
        ] {
            assert_eq!(rule_of(&question), (rule.to_owned(), steps), "{question:?}");
        }
    }

    #[test]
    fn a_rule_for_a_team_holds_below_it_too() {
        let text = r#"{"rules": [{"name": "lab", "when": {"teams": ["lab"]}, "then": "auto_approve"}]}"#;
        let policy: ApprovalPolicy = serde_json::from_str(text).expect("a policy");
        assert_eq!(policy.route(&question()), Route::AutoApprove { rule: "lab" });
        let elsewhere = Question { teams: &["other"], ..question() };
        assert!(matches!(policy.route(&elsewhere), Route::Steps { rule: OTHERWISE, .. }));
    }
}
