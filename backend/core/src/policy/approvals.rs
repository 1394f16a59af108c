//! Who approves what: rules in their order, the first that speaks of a request decides. What ships is the product's.
//!
//! It only says who decides; whether somebody is one of them is [`crate::access`]'s and [`crate::approval`]'s.

use crate::access::{PlatformRole, Role};
use crate::approval::{AsksFor, BudgetStanding, Scope};
use crate::priority::PriorityClass;
use serde::{Deserialize, Serialize};

/// The policy's part on approvals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalPolicy {
    pub rules: Vec<ApprovalRule>,
    /// The steps of a request of which no rule speaks.
    pub otherwise: Vec<StepRule>,
    /// A request that nobody has decided for so long is over.
    pub time_out_secs: i64,
    /// Longest that anything may be asked for.
    pub longest_secs: i64,
    /// `None` = nobody activates anything without approval.
    pub break_glass: Option<BreakGlass>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    pub name: String,
    /// All that is given must hold; empty = always.
    #[serde(default)]
    pub when: Condition,
    pub then: Verdict,
}

/// Of which requests a rule speaks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_for: Option<Vec<AsksFor>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_at_least: Option<PriorityClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_at_most: Option<PriorityClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_than_secs: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_hours_at_most: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Vec<BudgetStanding>>,
    /// By slug, with all teams below them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teams: Option<Vec<String>>,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    AutoApprove,
    Refuse { because: String },
    Steps(Vec<StepRule>),
}

/// One step: any one of these decides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRule {
    pub any_of: Vec<Approver>,
}

/// Whoever has a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Approver {
    Platform(PlatformApprover),
    InTeam(TeamApprover),
}

/// In the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlatformApprover {
    pub platform_role: PlatformRole,
}

/// In a team, or in one above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamApprover {
    pub role: Role,
    /// By slug; left out = the team that the request is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

/// Who may activate at once, and who looks at it afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakGlass {
    pub any_of: Vec<Approver>,
    pub reviewers: Vec<Approver>,
    pub longest_secs: i64,
    pub review_within_secs: i64,
    /// A review that is due is asked for again as often.
    pub chase_every_secs: i64,
}

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

fn in_team(role: Role) -> Approver {
    Approver::InTeam(TeamApprover { role, team: None })
}

const fn platform(platform_role: PlatformRole) -> Approver {
    Approver::Platform(PlatformApprover { platform_role })
}

fn step(any_of: &[Approver]) -> StepRule {
    StepRule { any_of: any_of.to_vec() }
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        let admin = step(&[platform(PlatformRole::Admin)]);
        Self {
            rules: default_rules(&admin),
            otherwise: vec![admin],
            time_out_secs: 3 * DAY,
            longest_secs: 30 * DAY,
            break_glass: Some(BreakGlass {
                any_of: vec![in_team(Role::Approver), platform(PlatformRole::Admin)],
                reviewers: vec![platform(PlatformRole::Admin), platform(PlatformRole::Auditor)],
                longest_secs: 4 * HOUR,
                review_within_secs: DAY,
                chase_every_secs: DAY,
            }),
        }
    }
}

fn default_rules(admin: &StepRule) -> Vec<ApprovalRule> {
    let rule =
        |name: &str, when: Condition, then: Verdict| ApprovalRule { name: name.to_owned(), when, then };
    let asks = |what: AsksFor| Condition { asks_for: Some(vec![what]), ..Condition::default() };
    let of_team = step(&[in_team(Role::Lead), in_team(Role::Approver)]);
    let inside = Condition {
        scope: Some(Scope::Team),
        level_at_most: Some(PriorityClass::High),
        ..asks(AsksFor::Priority)
    };
    let small = Condition {
        at_most_secs: Some(HOUR),
        gpu_hours_at_most: Some(8),
        budget: Some(vec![BudgetStanding::Within]),
        ..inside.clone()
    };
    let affordable =
        Condition { budget: Some(vec![BudgetStanding::Within, BudgetStanding::Unset]), ..inside };
    let for_long = Condition {
        level_at_least: Some(PriorityClass::Critical),
        longer_than_secs: Some(7 * DAY),
        ..asks(AsksFor::Priority)
    };
    let money = step(&[platform(PlatformRole::Finance), platform(PlatformRole::Admin)]);
    let because = "critical for more than seven days is a matter of quota: ask for a quota change".to_owned();
    vec![
        rule("critical_for_long", for_long, Verdict::Refuse { because }),
        rule("small_and_short", small, Verdict::AutoApprove),
        rule("inside_the_team", affordable, Verdict::Steps(vec![of_team.clone()])),
        rule(
            "beyond_the_team",
            asks(AsksFor::Priority),
            Verdict::Steps(vec![of_team.clone(), admin.clone()]),
        ),
        rule("quota", asks(AsksFor::Quota), Verdict::Steps(vec![of_team, admin.clone()])),
        rule("budget", asks(AsksFor::Budget), Verdict::Steps(vec![money])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_reads_as_people_write_it() {
        let text = r#"{"rules": [{"name": "night", "when": {"asks_for": ["priority"], "scope": "platform"},
            "then": {"steps": [{"any_of": [{"role": "lead"}, {"role": "approver", "team": "council"}]},
                               {"any_of": [{"platform_role": "admin"}]}]}}], "break_glass": null}"#;
        let policy: ApprovalPolicy = serde_json::from_str(text).expect("a policy");
        let Verdict::Steps(steps) = &policy.rules[0].then else { panic!("{policy:?}") };
        assert_eq!(
            steps[0].any_of[1],
            Approver::InTeam(TeamApprover { role: Role::Approver, team: Some("council".to_owned()) })
        );
        assert_eq!(policy.break_glass, None);
        assert_eq!(policy.time_out_secs, ApprovalPolicy::default().time_out_secs);
        let whole = serde_json::to_value(ApprovalPolicy::default()).expect("JSON");
        assert_eq!(
            serde_json::from_value::<ApprovalPolicy>(whole).expect("a policy"),
            ApprovalPolicy::default()
        );
        for wrong in [
            r#"{"otherwise": [{"any_of": [{"role": "boss"}]}]}"#,
            r#"{"otherwise": [{"any_of": [{"platform_role": "admin", "team": "x"}]}]}"#,
        ] {
            serde_json::from_str::<ApprovalPolicy>(wrong).expect_err(wrong);
        }
    }
}
