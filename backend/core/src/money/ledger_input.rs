//! What the ledger is made from: intervals of holding, of loans, of capacity and of guarantees, in one pool.
//!
//! Times are whole milliseconds, cut off below, so that neighbours share their border and nothing is counted twice.

use crate::id::{JobId, QueueId, TeamId};
use crate::kind::Kind;
use crate::priority::PriorityClass;
use uuid::Uuid;

/// Milliseconds since 1970.
pub type Ms = i64;

/// From `from`, before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Ms,
    pub to: Ms,
}

impl Span {
    #[must_use]
    pub const fn millis(self) -> i64 {
        if self.to > self.from { self.to - self.from } else { 0 }
    }
}

/// A job's work, as a line of the ledger names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work {
    pub run: Uuid,
    pub job: JobId,
    pub team: TeamId,
    pub queue: QueueId,
    pub kind: Kind,
    pub class: PriorityClass,
}

/// A run held so much of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub work: Work,
    /// Work that may not be evicted is inside its team's guarantee before all other.
    pub preemptible: bool,
    pub milli: i64,
    /// When the run began to hold anything: who came later is on the loan first.
    pub since: Ms,
    pub span: Span,
}

/// `borrower` was over its guarantee by so much, at `lender`'s cost; `None` = capacity that nobody was guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lent {
    pub borrower: TeamId,
    pub lender: Option<TeamId>,
    pub milli: i64,
    pub span: Span,
}

/// What the pool had; `down` of it was out of reach and held by nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    pub milli: i64,
    pub down_milli: i64,
    pub span: Span,
}

/// What a team was guaranteed itself: less what it guarantees its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    pub team: TeamId,
    pub milli: i64,
    pub span: Span,
}

/// Everything about one pool that overlaps a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    pub held: Vec<Held>,
    pub lent: Vec<Lent>,
    pub capacity: Vec<Capacity>,
    pub guarantees: Vec<Guarantee>,
}
