//! What happens when, on the virtual clock.
//!
//! Events of one moment are handed out in a fixed order: who leaves, before who comes. Nothing here acts.

use crate::workload::Micros;
use reeve_core::node::NodeState;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One thing that happens. Order is that of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A run has done its work. An older run's end changes nothing.
    End { task: usize, run: u32 },
    /// The task leaves, whatever has become of it.
    Withdraw { task: usize },
    /// Its leaving members are gone.
    Vacate { task: usize, run: u32 },
    /// It saves its work by itself.
    Checkpoint { task: usize, run: u32 },
    /// A node fails, or is back.
    Node { node: usize, lost: bool },
    /// It is submitted.
    Arrive { task: usize },
}

/// What the events of one moment mean for a plan, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Nothing,
    /// Running jobs ended: it matters only to those who wait.
    Freed,
    /// Anything else.
    Other,
}

impl Event {
    pub(crate) const fn state_of_node(lost: bool) -> NodeState {
        if lost { NodeState::Lost } else { NodeState::Ready }
    }
}

/// Events to come, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(Micros, Event)>>,
}

impl Queue {
    pub(crate) fn add(&mut self, at: Micros, event: Event) {
        self.heap.push(Reverse((at, event)));
    }

    pub(crate) fn next_at(&self) -> Option<Micros> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The next event of exactly this moment.
    pub(crate) fn pop_at(&mut self, now: Micros) -> Option<Event> {
        let due = self.next_at() == Some(now);
        due.then(|| self.heap.pop()).flatten().map(|Reverse((_, event))| event)
    }
}
