//! The clock, injected everywhere: time is an argument, and only [`SystemClock`] reads the real one.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use std::sync::{Arc, Mutex};

/// Something that tells the time. Two implementations exist: the machine's and a test's.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Now, truncated to microseconds: PostgreSQL's `timestamptz` keeps no more, and a value that
    /// comes back different from what was written breaks every comparison.
    fn now(&self) -> DateTime<Utc>;
}

/// A clock shared between threads.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the real clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug, Clone)]
pub struct MockClock(Arc<Mutex<DateTime<Utc>>>);

impl MockClock {
    #[must_use]
    pub fn at(now: DateTime<Utc>) -> Self {
        Self(Arc::new(Mutex::new(now.trunc_subsecs(6))))
    }

    pub fn advance(&self, by: TimeDelta) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += by;
    }

    pub fn set(&self, now: DateTime<Utc>) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = now.trunc_subsecs(6);
    }
}

impl Clock for MockClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
