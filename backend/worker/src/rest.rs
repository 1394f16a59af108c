//! How long the scheduling loop rests after a tick, so that those who submit keep most of the machine.

use std::time::Duration;

/// A wake that comes this long after a rest comes alone: its tick rests as after a pause.
const ALONE: Duration = Duration::from_millis(5);
/// The rest of a tick that decided nothing, however short it was, once many of them followed each other.
const LONGEST_OF_SHORT: Duration = Duration::from_millis(50);
/// However long the line is, a place that opens up is used this soon.
const LONGEST: Duration = Duration::from_secs(2);

/// Ticks that decided nothing, one right after the other.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    in_vain: u32,
}

impl Rest {
    /// Wakes that come while a tick rests are one. A tick that decided something rests shortly, since more may be decided.
    /// One that decided nothing has looked at the whole line in vain: it rests for three times as long as that took, and
    /// when others before it were woken at once for nothing too, twice as long as they did. `waited` is how long after
    /// the last rest the tick was woken.
    pub(crate) fn after(&mut self, took: Duration, quiet: bool, waited: Duration) -> Duration {
        if !quiet {
            self.in_vain = 0;
            return took.min(LONGEST_OF_SHORT);
        }
        self.in_vain = if waited < ALONE { self.in_vain.saturating_add(1) } else { 0 };
        let thrice = took * 3;
        let grown = thrice.saturating_mul(1 << self.in_vain.min(10)).min(LONGEST_OF_SHORT);
        thrice.max(grown).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn rests_longer_the_more_ticks_were_woken_for_nothing() {
        let mut rest = Rest::default();
        let rests: Vec<Duration> = (0..5).map(|_| rest.after(ms(2), true, Duration::ZERO)).collect();
        assert_eq!(rests, [ms(12), ms(24), ms(48), ms(50), ms(50)]);
    }

    #[test]
    fn a_wake_after_a_pause_or_a_decision_begins_anew() {
        let mut rest = Rest::default();
        for _ in 0..5 {
            rest.after(ms(2), true, Duration::ZERO);
        }
        assert_eq!(rest.after(ms(2), true, ms(5)), ms(6));
        assert_eq!(rest.after(ms(2), true, Duration::ZERO), ms(12));
        assert_eq!(rest.after(ms(200), false, Duration::ZERO), ms(50));
        assert_eq!(rest.after(ms(2), true, Duration::ZERO), ms(12));
    }

    #[test]
    fn a_long_line_rests_by_its_length_up_to_two_seconds() {
        let mut rest = Rest::default();
        assert_eq!(rest.after(ms(100), true, Duration::ZERO), ms(300));
        assert_eq!(rest.after(ms(5000), true, Duration::ZERO), LONGEST);
    }
}
