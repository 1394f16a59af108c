//! Callers seen in the last seconds, so that a burst of requests asks the database once. Short enough that a
//! revocation counts within five seconds on every server; on this one it counts at once.

use crate::extract::AuthKind;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::access::Actor;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

const FRESH_SECS: i64 = 3;
const MOST: usize = 10_000;

/// A caller as the database last described them.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) actor: Actor,
    pub(crate) username: String,
    pub(crate) display_name: String,
    pub(crate) kind: AuthKind,
}

/// By credential, with the moment of the look.
type Seen = HashMap<Vec<u8>, (DateTime<Utc>, Known)>;

#[derive(Debug, Default)]
pub(crate) struct Callers(Mutex<Seen>);

impl Callers {
    pub(crate) fn get(&self, key: &[u8], now: DateTime<Utc>) -> Option<Known> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, known) = map.get(key)?;
        let age = now - *at;
        (TimeDelta::zero() <= age && age < TimeDelta::seconds(FRESH_SECS)).then(|| known.clone())
    }

    pub(crate) fn put(&self, key: Vec<u8>, now: DateTime<Utc>, known: Known) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= MOST {
            map.clear();
        }
        map.insert(key, (now, known));
    }

    /// After any change of people, roles, sessions or tokens.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
