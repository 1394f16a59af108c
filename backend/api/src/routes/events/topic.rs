//! Topics that can be listened to, and who may hear what.

use reeve_core::access::{Actor, Readable};
use reeve_core::text_enum;
use reeve_store::event::EventBody;

text_enum! {
    /// A group of subjects.
    Topic {
        Jobs = "jobs",
        Loans = "loans",
        Reclaims = "reclaims",
        Quotas = "quotas",
        Nodes = "nodes",
        Pools = "pools",
        Queues = "queues",
        Teams = "teams",
        Policy = "policy",
        Approvals = "approvals",
    }
}

impl Topic {
    /// The subject types of events in this topic.
    pub(super) const fn subjects(self) -> &'static [&'static str] {
        match self {
            Self::Jobs => &["job", "run"],
            Self::Loans => &["loan"],
            Self::Reclaims => &["reclaim", "eviction"],
            Self::Quotas => &["quota", "reservation"],
            Self::Nodes => &["node", "gpu", "maintenance_window"],
            Self::Pools => &["pool"],
            Self::Queues => &["queue"],
            Self::Teams => &["team"],
            Self::Policy => &["policy"],
            Self::Approvals => &["escalation", "priority_budget"],
        }
    }
}

/// Sharing is visible to everybody who signs in; jobs and people only to those who may read them.
pub(super) fn may_hear(actor: &Actor, event: &EventBody) -> bool {
    const OPEN: [&str; 11] = [
        "loan",
        "reclaim",
        "eviction",
        "quota",
        "reservation",
        "node",
        "gpu",
        "maintenance_window",
        "pool",
        "queue",
        "policy",
    ];
    match actor.readable() {
        Readable::Everything => true,
        Readable::Teams(_) if !event.allowed => false,
        Readable::Teams(teams) => {
            OPEN.contains(&event.subject_type.as_str())
                || event.subject_type == "team"
                || event.team_id.is_some_and(|team| teams.contains(&team))
        }
    }
}
