//! Declares nodes lost whose lease is over. It never touches a node whose agent still has time to stop its jobs, nor
//! one that could not be heard because nobody was here to hear it.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::NodeId;
use reeve_store::{Actor, Store, StoreError, WriteContext};

/// Longest between two looks of a reaper that was here all the time.
const LONGEST_REST: TimeDelta = TimeDelta::seconds(15);

/// Since when agents can be heard. After the server or the database was away, every lease is over, and what the agents
/// have to tell (jobs that ended well meanwhile) is still on its way: they get a margin to come back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hearing {
    since: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
}

impl Hearing {
    /// Notes a look at `now`, and says whether silence means something yet. A process that was stopped, or a machine
    /// asleep, has heard nobody either.
    #[must_use]
    pub fn long_enough(&mut self, now: DateTime<Utc>, margin: TimeDelta) -> bool {
        let was_here = self.last.is_some_and(|last| last <= now && now - last <= LONGEST_REST);
        self.last = Some(now);
        if !was_here {
            self.since = Some(now);
        }
        self.since.is_some_and(|since| now - since >= margin)
    }

    /// The database could not be asked: agents were answered with 503.
    pub fn interrupt(&mut self) {
        *self = Self::default();
    }
}

/// One look at all leases.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>, margin: TimeDelta) -> Result<Vec<NodeId>, StoreError> {
    let context = WriteContext { actor: Actor::system("reaper"), request_id: None, now };
    let lost = reeve_store::report::lost::reap(store, &context, margin).await?;
    metrics::counter!("reeve_nodes_lost_total").increment(lost.len() as u64);
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_from_when_it_could_be_heard() {
        let start: DateTime<Utc> = "2026-01-02T03:04:05Z".parse().expect("a time");
        let at = |secs| start + TimeDelta::seconds(secs);
        let margin = TimeDelta::seconds(30);
        let mut hearing = Hearing::default();
        let first = (0..).step_by(2).find(|secs| hearing.long_enough(at(*secs), margin));
        assert_eq!(first, Some(30), "a margin after the start");
        assert!(!hearing.long_enough(at(600), margin), "it was asleep");
        let again = (602..).step_by(2).find(|secs| hearing.long_enough(at(*secs), margin));
        assert_eq!(again, Some(630));
        hearing.interrupt();
        assert!(!hearing.long_enough(at(632), margin), "nobody could be heard");
        let back = (634..).step_by(2).find(|secs| hearing.long_enough(at(*secs), margin));
        assert_eq!(back, Some(662));
        assert!(!hearing.long_enough(at(100), margin), "the clock was set back");
    }
}
