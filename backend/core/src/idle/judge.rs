//! Is it idle? The evidence of one running job, weighed by its kind's rule.

use super::history::{Pauses, UsualPauses};
use super::rule::IdleRule;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// Seconds between two samples of a GPU, at most: what is expected of an agent.
pub const SAMPLE_EVERY_SECS: u32 = 15;

/// How a running job's GPUs were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    pub started_at: DateTime<Utc>,
    pub pauses: Pauses,
}

/// Samples of all of the job's GPUs within the window that ends now: those that came, of those that were to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub samples: u64,
    pub expected: u64,
}

impl Coverage {
    /// Of so many GPUs over a window: one sample of each for each [`SAMPLE_EVERY_SECS`], at least one.
    #[must_use]
    pub fn of_window(gpus: i64, window: TimeDelta, samples: i64) -> Self {
        let slots = window.num_seconds() / i64::from(SAMPLE_EVERY_SECS);
        let expected = u64::try_from(gpus.saturating_mul(slots.max(1))).unwrap_or(0);
        Self { samples: u64::try_from(samples).unwrap_or(0).min(expected), expected }
    }

    fn reaches(self, permille: u32) -> bool {
        self.expected > 0
            && u128::from(self.samples) * 1000 >= u128::from(self.expected) * u128::from(permille)
    }
}

/// What the evidence says, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// So young that it may still be loading.
    Starting { until: DateTime<Utc> },
    /// It computed within the window.
    InUse { last_busy_at: Option<DateTime<Utc>>, window_secs: i64 },
    /// Nothing was seen computing, but too little was seen at all.
    Unknown { coverage: Coverage },
    /// None of its GPUs has computed since.
    Idle { since: DateTime<Utc>, window_secs: i64, coverage: Coverage },
}

/// How long a job of this sort must have computed nothing: the rule's window, or longer if the job itself or its like
/// normally pause so long: twice that, for the pause that is longer than any before it. `likes`: from
/// those most like it to the least; the first of which enough have ended tells. Of whose like nothing is known, it has the
/// longest window: who knows nothing takes nothing early.
#[must_use]
pub fn window(rule: &IdleRule, own: &Pauses, likes: &[&UsualPauses]) -> TimeDelta {
    let usual = likes.iter().find_map(|like| like.usual());
    let usual = usual.map_or(rule.most_window_secs, |usual| usual.num_seconds()).max(own.longest_secs);
    let widened = usual.saturating_mul(2).min(rule.most_window_secs);
    TimeDelta::seconds(widened.max(rule.window_secs))
}

/// Judges a job at `now`; `coverage` is that of the [`window`].
#[must_use]
pub fn judge(
    rule: &IdleRule,
    used: &Use,
    window: TimeDelta,
    coverage: Coverage,
    now: DateTime<Utc>,
) -> Verdict {
    let from = used.started_at + rule.initial_grace();
    if now < from {
        return Verdict::Starting { until: from };
    }
    // What it does not do while it may still be loading is not held against it.
    let since = used.pauses.last_busy_at.map_or(from, |busy| busy.max(from));
    if now - since < window {
        return Verdict::InUse { last_busy_at: used.pauses.last_busy_at, window_secs: window.num_seconds() };
    }
    if !coverage.reaches(rule.coverage_permille) {
        return Verdict::Unknown { coverage };
    }
    Verdict::Idle {
        since: used.pauses.last_busy_at.map_or(used.started_at, |busy| busy.max(used.started_at)),
        window_secs: window.num_seconds(),
        coverage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    const FULL: Coverage = Coverage { samples: 240, expected: 240 };

    fn at(mins: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(mins * 60, 0).expect("a time")
    }

    fn used(last_busy: Option<i64>) -> Use {
        Use { started_at: at(0), pauses: Pauses { last_busy_at: last_busy.map(at), longest_secs: 0 } }
    }

    fn training() -> (IdleRule, TimeDelta) {
        let rule = IdleRule::default_for(Kind::Training);
        (rule, TimeDelta::seconds(rule.window_secs))
    }

    #[test]
    fn idle_means_a_whole_window_without_computing() {
        let (rule, window) = training();
        let judged = |now| judge(&rule, &used(Some(100)), window, FULL, at(now));
        assert!(matches!(judged(159), Verdict::InUse { window_secs: 3600, .. }));
        assert_eq!(judged(160), Verdict::Idle { since: at(100), window_secs: 3600, coverage: FULL });
    }

    #[test]
    fn loading_is_not_idling_and_never_beginning_is() {
        let (rule, window) = training();
        let judged = |now| judge(&rule, &used(None), window, FULL, at(now));
        assert_eq!(judged(29), Verdict::Starting { until: at(30) });
        assert!(matches!(judged(89), Verdict::InUse { last_busy_at: None, .. }));
        assert!(matches!(judged(90), Verdict::Idle { since, .. } if since == at(0)));
    }

    #[test]
    fn a_gap_in_the_samples_proves_nothing() {
        // Row R-65: a window of ten minutes of which nine were not seen.
        let (rule, _) = training();
        let rule = IdleRule { window_secs: 600, ..rule };
        let gap = Coverage { samples: 4, expected: 40 };
        let ten = TimeDelta::seconds(600);
        assert_eq!(judge(&rule, &used(Some(60)), ten, gap, at(80)), Verdict::Unknown { coverage: gap });
        let nothing = Coverage { samples: 0, expected: 0 };
        assert!(matches!(judge(&rule, &used(Some(60)), ten, nothing, at(80)), Verdict::Unknown { .. }));
        let enough = Coverage { samples: 32, expected: 40 };
        assert!(matches!(judge(&rule, &used(Some(60)), ten, enough, at(80)), Verdict::Idle { .. }));
    }

    #[test]
    fn pauses_that_are_usual_widen_the_window_up_to_a_bound() {
        let (rule, _) = training();
        let own = |secs| Pauses { last_busy_at: None, longest_secs: secs };
        let like = |secs| {
            let mut like = UsualPauses::default();
            (0..20).for_each(|_| like.add(secs));
            like
        };
        let (short, long, none) = (like(100), like(7_000), UsualPauses::default());
        assert_eq!(window(&rule, &own(1_000), &[&short]).num_seconds(), 3_600);
        assert_eq!(window(&rule, &own(4_000), &[&short]).num_seconds(), 8_000);
        assert_eq!(window(&rule, &own(400_000), &[&short]).num_seconds(), 28_800);
        let widened = window(&rule, &own(0), &[&none, &long, &short]).num_seconds();
        assert!((14_000..=21_000).contains(&widened), "{widened}");
        // Nothing is known of its like.
        assert_eq!(window(&rule, &own(0), &[&none]).num_seconds(), 28_800);
    }
}
