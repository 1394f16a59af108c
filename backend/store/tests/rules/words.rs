//! Every text column with a CHECK knows exactly the words of its enum: neither may drift.

use crate::base::Base;
use reeve_core::access::{PlatformRole, Role, Scope};
use reeve_core::approval::{self, AsksFor, EscalationState, ReviewOutcome, StepDecision};
use reeve_core::dependency::DependencyCondition;
use reeve_core::eviction::{EvictionCause, EvictionOutcome, ReclaimState};
use reeve_core::idle::{IdleAction, NoticeState};
use reeve_core::job::{CheckpointMode, JobState, MemberState, NvLink, RunState};
use reeve_core::kind::Kind;
use reeve_core::lifecycle::EndKind;
use reeve_core::money::budget::{BudgetAction, BudgetUnit};
use reeve_core::money::ledger::Share;
use reeve_core::node::{GpuHealth, NodeState};
use reeve_core::notice::{Setting, Topic};
use reeve_core::priority::PriorityClass;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_core::reason::ReasonCode;
use reeve_core::schedule::plan::PoolMode;
use reeve_store::deliveries::DeliveryState;
use reeve_store::idle::notices::CloseReason;
use reeve_store::money::months::MonthState;
use reeve_store::oidc::Enabled;
use reeve_store::operations::OperationState;
use reeve_store::schedule::changes::Subject;
use reeve_store::sessions::SignInMethod;
use reeve_store::webhooks::{DisabledReason, WebhookKind};
use reeve_store::write_tx::ActorType;
use sqlx::Row;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! words {
    ($enum:ident) => {
        $enum::ALL.iter().map(|word| word.as_str()).collect::<BTreeSet<&str>>()
    };
}

#[expect(clippy::too_many_lines, reason = "one line an enum")]
#[tokio::test]
async fn every_check_of_words_is_its_enum() {
    let mut base = Base::new().await;
    let fixed = |words: &'static [&'static str]| words.iter().copied().collect::<BTreeSet<&str>>();
    let expected = BTreeMap::from([
        ("teams_state_check", fixed(&["active", "deleted"])),
        ("users_locale_check", fixed(&["en", "zh-CN"])),
        ("users_state_check", fixed(&["active", "disabled"])),
        ("users_kind_check", fixed(&["person", "service"])),
        ("sessions_method_check", words!(SignInMethod)),
        ("oidc_providers_state_check", words!(Enabled)),
        ("oidc_group_roles_role_check", words!(Role)),
        ("oidc_group_roles_platform_role_check", words!(PlatformRole)),
        ("oidc_identities_platform_roles_check", words!(PlatformRole)),
        ("workload_rules_role_check", words!(Role)),
        ("workload_rules_scopes_check", words!(Scope)),
        ("workload_rules_state_check", words!(Enabled)),
        ("webhooks_kind_check", words!(WebhookKind)),
        ("webhooks_locale_check", fixed(&["en", "zh-CN"])),
        ("webhooks_state_check", words!(Enabled)),
        ("webhooks_disabled_reason_check", words!(DisabledReason)),
        ("deliveries_state_check", words!(DeliveryState)),
        ("notification_settings_topic_check", words!(Topic)),
        ("notification_settings_setting_check", words!(Setting)),
        ("users_platform_roles_check", words!(PlatformRole)),
        ("memberships_role_check", words!(Role)),
        ("api_tokens_scopes_check", words!(Scope)),
        ("planner_changes_subject_check", words!(Subject)),
        ("idle_notices_state_check", words!(NoticeState)),
        ("idle_notices_action_check", words!(IdleAction)),
        ("idle_notices_close_reason_check", words!(CloseReason)),
        ("usual_pauses_kind_check", words!(Kind)),
        ("pools_mode_check", words!(PoolMode)),
        ("pools_state_check", fixed(&["active", "deleted"])),
        ("nodes_state_check", words!(NodeState)),
        ("nodes_state_before_lost_check", fixed(&["ready", "cordoned", "draining"])),
        ("gpus_health_check", words!(GpuHealth)),
        ("queues_order_check", words!(QueueOrder)),
        ("queues_state_check", words!(QueueState)),
        ("queues_allowed_kinds_check", words!(Kind)),
        ("jobs_kind_check", words!(Kind)),
        ("jobs_priority_class_check", words!(PriorityClass)),
        ("jobs_state_check", words!(JobState)),
        ("jobs_checkpoint_check", words!(CheckpointMode)),
        ("jobs_reason_code_check", words!(ReasonCode)),
        ("jobs_nvlink_check", words!(NvLink)),
        ("runs_state_check", words!(RunState)),
        ("members_state_check", words!(MemberState)),
        ("members_stop_order_check", fixed(&["leave", "stop"])),
        ("job_dependencies_condition_check", words!(DependencyCondition)),
        ("members_end_kind_check", words!(EndKind)),
        ("reclaims_state_check", words!(ReclaimState)),
        ("evictions_cause_check", words!(EvictionCause)),
        ("evictions_outcome_check", words!(EvictionOutcome)),
        ("events_actor_type_check", words!(ActorType)),
        ("ledger_entries_share_check", words!(Share)),
        ("usage_days_share_check", words!(Share)),
        ("billing_months_state_check", words!(MonthState)),
        ("budgets_priority_class_check", words!(PriorityClass)),
        ("budgets_unit_check", words!(BudgetUnit)),
        ("budgets_action_check", words!(BudgetAction)),
        ("budget_use_told_check", fixed(&["near", "exceeded"])),
        ("operations_state_check", words!(OperationState)),
        ("escalations_asks_for_check", words!(AsksFor)),
        ("escalations_state_check", words!(EscalationState)),
        ("escalations_kinds_check", words!(Kind)),
        ("escalations_scope_check", approval::Scope::ALL.iter().map(|word| word.as_str()).collect()),
        ("escalations_review_outcome_check", words!(ReviewOutcome)),
        ("escalation_steps_decision_check", words!(StepDecision)),
        ("escalation_seats_role_check", words!(Role)),
        ("escalation_seats_platform_role_check", words!(PlatformRole)),
    ]);
    let rows = sqlx::query(
        "select conname, pg_get_constraintdef(oid) from pg_constraint
                            where contype = 'c' and connamespace = 'public'::regnamespace",
    )
    .fetch_all(&mut base.sql)
    .await
    .expect("reads");
    let checks: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let of_words: BTreeMap<&str, BTreeSet<&str>> = checks
        .iter()
        .filter(|(_, definition)| definition.contains("ARRAY["))
        .map(|(name, definition)| (name.as_str(), definition.split('\'').skip(1).step_by(2).collect()))
        .collect();
    assert_eq!(of_words, expected);
    base.end().await;
}
