//! Which scope of a token an action needs. It refuses to know who asks: that is [`super::may`]'s.

use super::{Action, Scope};

/// The token scope that an action needs.
#[must_use]
#[expect(
    clippy::too_many_lines,
    reason = "one table of all actions, which the compiler checks for completeness"
)]
pub const fn scope_for(action: Action) -> Scope {
    use Action as A;
    match action {
        A::ProfileRead
        | A::TokenRead
        | A::SessionRead
        | A::OidcProviderRead
        | A::WorkloadRuleRead
        | A::WebhookRead
        | A::UserRead
        | A::TeamRead
        | A::MemberRead
        | A::PoolRead
        | A::NodeRead
        | A::JoinTokenRead
        | A::QuotaRead
        | A::QueueRead
        | A::JobRead
        | A::LoanRead
        | A::ReclaimRead
        | A::EvictionRead
        | A::PolicyRead
        | A::ReservationRead
        | A::MaintenanceWindowRead
        | A::EscalationRead
        | A::PriorityBudgetRead
        | A::OverviewRead
        | A::EventRead
        | A::WhatIf
        | A::AuditRead
        | A::UsageRead
        | A::StatementRead
        | A::PriceRead
        | A::BudgetRead
        | A::OperationRead => Scope::Read,
        A::OperationCreate
        | A::OperationCancel
        | A::EscalationRequest
        | A::EscalationComment
        | A::EscalationWithdraw
        | A::ProfileEdit
        | A::JobSubmit
        | A::JobCancel
        | A::JobHold
        | A::JobRelease
        | A::JobRequeue => Scope::Write,
        A::TokenCreate
        | A::TokenRevoke
        | A::SessionRevoke
        | A::OidcProviderEdit
        | A::WorkloadRuleEdit
        | A::WebhookCreate
        | A::WebhookEdit
        | A::NotificationEdit
        | A::UserCreate
        | A::UserEdit
        | A::TeamCreate
        | A::TeamEdit
        | A::TeamDelete
        | A::MemberEdit
        | A::PoolCreate
        | A::PoolEdit
        | A::PoolDelete
        | A::NodeEdit
        | A::NodeRemove
        | A::NodeCordon
        | A::NodeDrain
        | A::JoinTokenCreate
        | A::JoinTokenRevoke
        | A::QuotaEdit
        | A::QueueCreate
        | A::QueueEdit
        | A::QueueDelete
        | A::ReservationCreate
        | A::ReservationDelete
        | A::MaintenanceWindowCreate
        | A::MaintenanceWindowDelete
        | A::EscalationDecide
        | A::EscalationRevoke
        | A::EscalationReview
        | A::PriorityBudgetEdit
        | A::StatementClose
        | A::PriceEdit
        | A::BudgetEdit
        | A::PolicyEdit => Scope::Admin,
    }
}
