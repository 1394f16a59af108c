//! What is wrong with the policy's part on approvals.

use crate::problem::Fields;
use reeve_core::policy::{ApprovalPolicy, Approver, StepRule, Verdict};
use std::collections::BTreeSet;

const MOST_SECS: i64 = 366 * 86_400;
const MOST_RULES: usize = 100;
const MOST_STEPS: usize = 10;

/// Notes every fault of it.
pub(super) fn check(fields: &mut Fields, approvals: &ApprovalPolicy) {
    fields.range("/approvals/time_out_secs", approvals.time_out_secs, 60, MOST_SECS);
    fields.range("/approvals/longest_secs", approvals.longest_secs, 60, MOST_SECS);
    if approvals.rules.len() > MOST_RULES {
        fields.add("/approvals/rules", "too_many", format!("at most {MOST_RULES} rules"));
    }
    let mut names = BTreeSet::new();
    for (index, rule) in approvals.rules.iter().enumerate() {
        let at = format!("/approvals/rules/{index}");
        fields.text(&format!("{at}/name"), &rule.name, 1, 100);
        if !names.insert(&rule.name) {
            fields.add(format!("{at}/name"), "not_unique", "another rule has this name");
        }
        match &rule.then {
            Verdict::AutoApprove => {}
            Verdict::Refuse { because } => {
                fields.text(&format!("{at}/then/refuse/because"), because, 1, 500);
            }
            Verdict::Steps(steps) => self::steps(fields, &format!("{at}/then/steps"), steps),
        }
    }
    steps(fields, "/approvals/otherwise", &approvals.otherwise);
    if let Some(glass) = &approvals.break_glass {
        let at = "/approvals/break_glass";
        fields.range(&format!("{at}/longest_secs"), glass.longest_secs, 60, MOST_SECS);
        fields.range(&format!("{at}/review_within_secs"), glass.review_within_secs, 60, MOST_SECS);
        fields.range(&format!("{at}/chase_every_secs"), glass.chase_every_secs, 60, MOST_SECS);
        any_of(fields, &format!("{at}/any_of"), &glass.any_of);
        any_of(fields, &format!("{at}/reviewers"), &glass.reviewers);
    }
}

fn steps(fields: &mut Fields, at: &str, steps: &[StepRule]) {
    if steps.is_empty() || steps.len() > MOST_STEPS {
        fields.add(at, "out_of_range", format!("1 to {MOST_STEPS} steps; to need none, say auto_approve"));
    }
    for (index, step) in steps.iter().enumerate() {
        any_of(fields, &format!("{at}/{index}/any_of"), &step.any_of);
    }
}

fn any_of(fields: &mut Fields, at: &str, approvers: &[Approver]) {
    if approvers.is_empty() {
        fields.add(at, "missing", "name at least one role, or nobody could ever decide");
    }
}

/// Teams that its rules and steps name.
pub(super) fn teams(approvals: &ApprovalPolicy) -> Vec<(String, String)> {
    let mut named = Vec::new();
    let mut of_steps = |at: String, steps: &[StepRule]| {
        for (index, step) in steps.iter().enumerate() {
            for approver in &step.any_of {
                if let Approver::InTeam(in_team) = approver {
                    named.extend(in_team.team.clone().map(|team| (format!("{at}/{index}/any_of"), team)));
                }
            }
        }
    };
    for (index, rule) in approvals.rules.iter().enumerate() {
        if let Verdict::Steps(steps) = &rule.then {
            of_steps(format!("/approvals/rules/{index}/then/steps"), steps);
        }
    }
    of_steps("/approvals/otherwise".to_owned(), &approvals.otherwise);
    for (index, rule) in approvals.rules.iter().enumerate() {
        let teams = rule.when.teams.iter().flatten().cloned();
        named.extend(teams.map(|team| (format!("/approvals/rules/{index}/when/teams"), team)));
    }
    named
}
