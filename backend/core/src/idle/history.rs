//! How long jobs pause amid their work: a job's own pauses, and the longest of each job of its like.
//!
//! Only a pause that ended counts: the job computed again, so it was healthy. It refuses to keep lengths themselves: classes
//! that grow by half are as exact as a window needs to be, add up, and stay small.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// A pause shorter than this is part of computing.
const SHORTEST_SECS: i64 = 60;
/// Classes: the last one holds everything longer than about nine days.
const CLASSES: usize = 24;
/// Fewer ended jobs say nothing of their like.
const FEWEST_JOBS: u64 = 20;
/// The usual longest pause is that of 99 of 100 jobs.
const USUAL_PERCENT: u64 = 99;

/// What is known of a running job's pauses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    pub last_busy_at: Option<DateTime<Utc>>,
    /// The longest pause that ended, in seconds.
    pub longest_secs: i64,
}

impl Pauses {
    /// The job was seen computing at `at`. What comes late, out of order, changes nothing that is known.
    #[must_use]
    pub fn busy(self, at: DateTime<Utc>) -> Self {
        let paused = self.last_busy_at.map_or(0, |last| (at - last).num_seconds());
        Self {
            last_busy_at: self.last_busy_at.max(Some(at)),
            longest_secs: self.longest_secs.max(if paused >= SHORTEST_SECS { paused } else { 0 }),
        }
    }
}

/// The longest pause of each ended job of one team, image and kind, by class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsualPauses(Vec<u64>);

impl UsualPauses {
    /// As it was kept. What has the wrong length is cut or filled up.
    #[must_use]
    pub fn from_counts(mut counts: Vec<u64>) -> Self {
        counts.resize(CLASSES, 0);
        Self(counts)
    }

    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// A job of this like has ended, whose longest pause was so long.
    pub fn add(&mut self, longest_secs: i64) {
        self.0.resize(CLASSES, 0);
        let class = (0..CLASSES).find(|&class| longest_secs <= bound(class)).unwrap_or(CLASSES - 1);
        self.0[class] = self.0[class].saturating_add(1);
    }

    /// The bound below which the longest pause of 99 of 100 such jobs lies; `None` = too few have ended.
    #[must_use]
    pub fn usual(&self) -> Option<TimeDelta> {
        let jobs: u64 = self.0.iter().sum();
        if jobs < FEWEST_JOBS {
            return None;
        }
        let mut seen = 0;
        let class = self.0.iter().position(|count| {
            seen += count;
            seen * 100 >= jobs * USUAL_PERCENT
        });
        class.map(|class| TimeDelta::seconds(bound(class)))
    }
}

/// The longest pause of a class: 60 s, 90 s, 135 s, …
fn bound(class: usize) -> i64 {
    (0..class).fold(SHORTEST_SECS, |bound, _| bound + bound / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(secs, 0).expect("a time")
    }

    #[test]
    fn only_a_pause_that_ended_counts_and_late_samples_change_nothing() {
        let pauses = Pauses::default().busy(at(0)).busy(at(30)).busy(at(330));
        assert_eq!(pauses, Pauses { last_busy_at: Some(at(330)), longest_secs: 300 });
        assert_eq!(pauses.busy(at(100)), pauses);
    }

    #[test]
    fn few_jobs_say_nothing_and_one_strange_one_of_many_neither() {
        let mut like = UsualPauses::default();
        for _ in 0..19 {
            like.add(600);
        }
        assert_eq!(like.usual(), None);
        for _ in 0..90 {
            like.add(600);
        }
        like.add(100_000);
        let usual = like.usual().expect("enough jobs").num_seconds();
        assert!((600..=900).contains(&usual), "{usual}");
        let kept = UsualPauses::from_counts(like.counts().to_vec());
        assert_eq!(kept, like);
    }

    #[test]
    fn classes_reach_beyond_a_week() {
        assert!(bound(CLASSES - 1) > 7 * 86_400, "{}", bound(CLASSES - 1));
        let mut like = UsualPauses::from_counts(vec![]);
        like.add(i64::MAX);
        like.add(0);
        assert_eq!(like.counts().iter().sum::<u64>(), 2);
    }
}
