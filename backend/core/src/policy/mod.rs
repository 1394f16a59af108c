//! The planner's policy: rules that an installation may edit. Defaults are the product's.
//!
//! One document holds them all, teams' and queues' own rules too: a change is one version, with its author, to be
//! compared and taken back as a whole.

mod approvals;
mod document;
mod idle_rules;
mod kind_rules;
mod layers;
mod window;

pub use approvals::{
    ApprovalPolicy, ApprovalRule, Approver, BreakGlass, Condition, PlatformApprover, StepRule, TeamApprover,
    Verdict,
};
pub use document::{
    Backfill, Consolidation, Placement, Policy, PreemptWithinTeam, Rebalance, ReclaimMode, SurplusOrder,
};
pub use idle_rules::{EffectiveIdle, IdleOverrides};
pub use kind_rules::KindRules;
pub use layers::{EffectiveRules, KindOverrides, Origin, Place, RuleOverrides, Ruled};
pub use window::{Day, TimeWindow};
