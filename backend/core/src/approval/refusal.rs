//! Why an act on an escalation is refused: a rule each, with the code that audit and interface name it by.

use super::state::EscalationState;

/// Why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("whoever asked for it neither approves, denies, delegates nor reviews it: somebody else has to")]
    OwnRequest,
    #[error("you approved an earlier step: each step needs another person")]
    SamePerson,
    #[error("you are not among those who decide this now")]
    NotApprover,
    #[error("this is for whoever asked for it, or for those who may decide about it")]
    NotYours,
    #[error("it is {0}: that is no longer possible")]
    State(EscalationState),
    #[error("{field} is more than what is asked for or was granted so far: grant at most that")]
    Larger { field: &'static str },
    #[error("{field} was not asked for")]
    NotAskedFor { field: &'static str },
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OwnRequest => "escalation_own_request",
            Self::SamePerson => "escalation_same_person",
            Self::NotApprover => "escalation_not_approver",
            Self::NotYours => "escalation_not_yours",
            Self::State(_) => "escalation_state",
            Self::Larger { .. } | Self::NotAskedFor { .. } => "escalation_larger",
        }
    }
}
