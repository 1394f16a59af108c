//! When a message is sent again.

use chrono::{DateTime, TimeDelta, Utc};
use rand::Rng;

/// Seconds from one attempt to the next: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h.
const WEBHOOK_SECS: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// A mail server that is away comes back soon, and old news is none.
const MAIL_SECS: [i64; 5] = [60, 300, 1_800, 7_200, 21_600];
/// A tenth to either side, so that what failed together does not come back together.
const JITTER: f64 = 0.1;

/// After so many attempts, the next one; `None` = that was the last.
pub(super) fn next(
    mail: bool,
    attempts: i32,
    now: DateTime<Utc>,
    asked: Option<TimeDelta>,
) -> Option<DateTime<Utc>> {
    let schedule: &[i64] = if mail { &MAIL_SECS } else { &WEBHOOK_SECS };
    let place = usize::try_from(attempts).ok()?.checked_sub(1)?;
    let secs = *schedule.get(place)?;
    let factor = rand::rng().random_range(1.0 - JITTER..=1.0 + JITTER);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "at most a day")]
    let pause = TimeDelta::milliseconds((secs as f64 * 1_000.0 * factor) as i64);
    Some(now + asked.map_or(pause, |asked| pause.max(asked)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_attempts_in_the_stated_times_and_no_more() {
        let now = DateTime::from_timestamp(1_000_000, 0).expect("a moment");
        for (attempts, secs) in (1..).zip(WEBHOOK_SECS) {
            let pause = (next(false, attempts, now, None).expect("again") - now).num_milliseconds();
            assert!((secs * 900..=secs * 1_100).contains(&pause), "after {attempts}: {pause} ms");
        }
        assert_eq!(next(false, 10, now, None), None);
        assert_eq!(next(true, 6, now, None), None);
        // A receiver that asks for more time has it.
        let asked = next(false, 1, now, Some(TimeDelta::seconds(90))).expect("again");
        assert_eq!((asked - now).num_seconds(), 90);
    }
}
