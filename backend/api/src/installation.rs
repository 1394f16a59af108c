//! What changes seldom and every submission needs: what it names, the policy in force, and what each pool offers at most.
//!
//! Names are kept with the versions of their rows, and the policy by its own: the statement that keeps a job compares
//! them with what is true at that moment, and whoever finds them changed looks again. What pools offer only makes
//! warnings, and is kept for seconds, unless this server has just been told of a node, or a pool comes or goes. Nothing
//! decides by what is kept here alone, and nothing of rights is.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::policy::Policy;
use reeve_store::jobs::admission::Found;
use reeve_store::reach::{self, Reach};
use reeve_store::{Store, StoreError, policy};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

const FRESH_SECS: i64 = 5;
/// Most pairs of names kept.
const MOST_NAMES: usize = 1_000;

/// A team and a queue, as a submission names them.
type Names = (String, Option<String>);

#[derive(Debug, Default)]
struct Kept {
    policy: Option<(i64, Arc<Policy>)>,
    reaches: Option<(DateTime<Utc>, Arc<Vec<Reach>>)>,
    names: HashMap<Names, (DateTime<Utc>, Arc<Found>)>,
}

/// The last look at them.
#[derive(Debug, Default)]
pub(crate) struct Installation(Mutex<Kept>);

impl Installation {
    /// The policy with this version.
    pub(crate) async fn policy(&self, store: &Store, version: i64) -> Result<Arc<Policy>, StoreError> {
        if let Some((kept, policy)) = &self.kept().policy
            && *kept == version
        {
            return Ok(Arc::clone(policy));
        }
        let read = policy::in_force(store).await?;
        let policy = Arc::new(read.document);
        self.kept().policy = Some((read.version, Arc::clone(&policy)));
        Ok(policy)
    }

    /// What each of these pools offers.
    pub(crate) async fn reaches(
        &self,
        store: &Store,
        pools: &BTreeSet<Uuid>,
        now: DateTime<Utc>,
    ) -> Result<Arc<Vec<Reach>>, StoreError> {
        if let Some((at, reaches)) = &self.kept().reaches
            && (now - *at).abs() < TimeDelta::seconds(FRESH_SECS)
            && reaches.len() == pools.len()
            && reaches.iter().all(|reach| pools.contains(&reach.pool_id))
        {
            return Ok(Arc::clone(reaches));
        }
        let reaches = Arc::new(reach::pools(store).await?);
        self.kept().reaches = Some((now, Arc::clone(&reaches)));
        Ok(reaches)
    }

    /// What these names meant at the last look.
    pub(crate) fn names(&self, team: &str, queue: Option<&str>, now: DateTime<Utc>) -> Option<Arc<Found>> {
        let names = (team.to_owned(), queue.map(str::to_owned));
        let kept = self.kept();
        let (at, found) = kept.names.get(&names)?;
        ((now - *at).abs() < TimeDelta::seconds(FRESH_SECS)).then(|| Arc::clone(found))
    }

    /// What these names mean now.
    pub(crate) fn learn(&self, team: &str, queue: Option<&str>, found: &Arc<Found>, now: DateTime<Utc>) {
        let mut kept = self.kept();
        if kept.names.len() >= MOST_NAMES {
            kept.names.clear();
        }
        kept.names.insert((team.to_owned(), queue.map(str::to_owned)), (now, Arc::clone(found)));
    }

    /// After a pool came or went.
    pub(crate) fn forget_pools(&self) {
        let mut kept = self.kept();
        kept.names.clear();
        kept.reaches = None;
    }

    /// After a node came, went, or told of other GPUs.
    pub(crate) fn forget_reaches(&self) {
        self.kept().reaches = None;
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
