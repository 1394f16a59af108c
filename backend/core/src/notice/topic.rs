//! What may be told, and to whom by default.

use crate::access::Role;
use crate::text_enum;

text_enum! {
    /// A kind of news.
    Topic {
        JobEnded = "job_ended",
        JobEvicted = "job_evicted",
        ApprovalRequested = "approval_requested",
        ApprovalDecided = "approval_decided",
        Budget = "budget",
        Idle = "idle",
        Quota = "quota",
        Node = "node",
        Security = "security",
    }
}

text_enum! {
    /// How much of it somebody wants.
    Setting {
        Off = "off",
        /// What concerns them: their jobs and requests, what waits for their decision, what they are responsible for.
        Own = "own",
        /// Everything of it in their teams.
        Team = "team",
    }
}

/// How near somebody is to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It is about them.
    Own,
    /// It is about a team of theirs.
    Team,
    /// Neither.
    Far,
}

impl Topic {
    /// Without a word of anybody.
    #[must_use]
    pub const fn default_setting(self) -> Setting {
        match self {
            Self::JobEnded => Setting::Off,
            _ => Setting::Own,
        }
    }

    /// Whether somebody with this role in the event's team is responsible for it, so that it is their own.
    #[must_use]
    pub const fn is_own_of(self, role: Role) -> bool {
        match self {
            Self::ApprovalRequested => matches!(role, Role::Lead | Role::Approver),
            Self::Budget | Self::Quota => matches!(role, Role::Lead),
            Self::JobEnded
            | Self::JobEvicted
            | Self::ApprovalDecided
            | Self::Idle
            | Self::Node
            | Self::Security => false,
        }
    }

    /// Whether it is every administrator's own.
    #[must_use]
    pub const fn is_own_of_admins(self) -> bool {
        matches!(self, Self::Node)
    }

    /// Whether it is told to nobody but the person it is about.
    #[must_use]
    pub const fn is_personal(self) -> bool {
        matches!(self, Self::Security)
    }
}

impl Setting {
    #[must_use]
    pub const fn wants(self, reach: Reach) -> bool {
        match self {
            Self::Off => false,
            Self::Own => matches!(reach, Reach::Own),
            Self::Team => matches!(reach, Reach::Own | Reach::Team),
        }
    }
}
