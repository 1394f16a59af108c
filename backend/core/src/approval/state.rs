//! The states of an escalation, and the one table that says which follows which.

use crate::text_enum;

text_enum! {
    /// Where an escalation stands (product rules, section 8).
    EscalationState {
        Requested = "requested",
        /// Waits for the people of a step.
        InReview = "in_review",
        /// Waits for its beginning.
        Approved = "approved",
        Active = "active",
        Expired = "expired",
        Revoked = "revoked",
        Denied = "denied",
        Withdrawn = "withdrawn",
        TimedOut = "timed_out",
    }
}

text_enum! {
    /// What was decided at a step.
    StepDecision {
        Approved = "approved",
        Denied = "denied",
    }
}

text_enum! {
    /// What the review of an emergency found.
    ReviewOutcome {
        Confirmed = "confirmed",
        /// It should not have been: what is still active of it ends.
        Objected = "objected",
    }
}

/// What may happen to an escalation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The policy asks for so many steps; none = it approves by itself.
    Route {
        steps: u32,
    },
    /// The policy refuses it.
    Refuse,
    /// An emergency: no step comes before.
    BreakGlass,
    /// The people of the current step agree.
    Approve,
    Deny,
    Withdraw,
    TimeOut,
    Activate,
    Expire,
    Revoke,
}

impl EscalationState {
    /// Nothing follows it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Requested | Self::InReview | Self::Approved | Self::Active => false,
            Self::Expired | Self::Revoked | Self::Denied | Self::Withdrawn | Self::TimedOut => true,
        }
    }

    /// What follows, with the step that waits then (0 = none); `None` where the act has no place.
    #[must_use]
    pub const fn after(self, act: Act, step: u32, steps: u32) -> Option<(Self, u32)> {
        let next = match (self, act) {
            (Self::Requested, Act::Route { steps: 0 }) => Self::Approved,
            (Self::Requested, Act::Route { .. }) => return Some((Self::InReview, 1)),
            (Self::Requested, Act::Refuse) | (Self::InReview, Act::Deny) => Self::Denied,
            (Self::InReview, Act::Approve) if step < steps => return Some((Self::InReview, step + 1)),
            (Self::InReview, Act::Approve) => Self::Approved,
            (Self::InReview | Self::Approved, Act::Withdraw) => Self::Withdrawn,
            (Self::InReview, Act::TimeOut) => Self::TimedOut,
            (Self::Approved, Act::Activate) | (Self::Requested, Act::BreakGlass) => Self::Active,
            // A job that ended before its raise began needs none any more.
            (Self::Approved | Self::Active, Act::Expire) => Self::Expired,
            (Self::Approved | Self::Active, Act::Revoke) => Self::Revoked,
            _ => return None,
        };
        Some((next, 0))
    }
}
