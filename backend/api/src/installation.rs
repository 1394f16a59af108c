//! What changes seldom and every submission needs: the policy in force and what each pool offers at most.
//!
//! The policy is kept by its version, which each submission reads anew. What pools offer only makes warnings, and is kept
//! for seconds, unless this server has just been told of a node or a pool comes or goes. Nothing that decides is
//! kept here: names, rights and states are read each time.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::policy::Policy;
use reeve_store::reach::{self, Reach};
use reeve_store::{Store, StoreError, policy};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

const FRESH_SECS: i64 = 5;

#[derive(Debug, Default)]
struct Kept {
    policy: Option<(i64, Arc<Policy>)>,
    reaches: Option<(DateTime<Utc>, Arc<Vec<Reach>>)>,
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

    /// After a node came, went, or told of other GPUs.
    pub(crate) fn forget_reaches(&self) {
        self.kept().reaches = None;
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
