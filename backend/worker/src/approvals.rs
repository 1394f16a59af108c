//! What time does to escalations: they begin, end and time out, and reviews of emergencies are asked for when they are
//! due. It decides nothing for people, and stops no job.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_store::escalations::due;
use reeve_store::{Actor, Store, StoreError, WriteContext, policy};

/// Escalations a step.
const BATCH: i64 = 200;
const DAY_SECS: i64 = 86_400;

/// What a step did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    pub moved: usize,
    /// The batch was full: there may be more.
    pub again: bool,
}

/// Moves on those for which the time has come, each in a transaction of its own: one that cannot be moved holds up none of
/// the others.
///
/// # Errors
/// [`StoreError::Unavailable`]; the last of those of single ones.
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Moved, StoreError> {
    let chase_every = chase_every(store).await?;
    let due = due::list(store, now, chase_every, BATCH).await?;
    let again = i64::try_from(due.len()).unwrap_or(BATCH) >= BATCH;
    let context = WriteContext { actor: Actor::system("approvals"), request_id: None, now };
    let (mut moved, mut failed) = (0, None);
    for id in due {
        match due::step(store, &context, id, chase_every).await {
            Ok(true) => moved += 1,
            Ok(false) => {}
            Err(error) => failed = Some(error),
        }
    }
    metrics::counter!("reeve_escalations_moved_total").increment(moved as u64);
    match failed {
        Some(error) => Err(error),
        None => Ok(Moved { moved, again: again && moved > 0 }),
    }
}

async fn chase_every(store: &Store) -> Result<TimeDelta, StoreError> {
    let policy = policy::in_force(store).await?.document;
    let secs = policy.approvals.break_glass.map_or(DAY_SECS, |glass| glass.chase_every_secs);
    Ok(TimeDelta::seconds(secs.max(1)))
}
