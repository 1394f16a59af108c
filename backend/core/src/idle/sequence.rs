//! From a notice to the act: notify, let a grace pass, act; and begin anew when the job computes again.

use super::judge::Verdict;
use super::rule::{IdleAction, IdleRule};
use crate::text_enum;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

text_enum! {
    /// How far a notice has come.
    NoticeState {
        /// Its owner has been told; its grace runs.
        Notified = "notified",
        /// It is the first to leave when GPUs are needed.
        Reclaimable = "reclaimable",
        /// It was made to leave.
        Stopped = "stopped",
        /// It computed again, or ended by itself.
        Closed = "closed",
    }
}

/// An open notice of a running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub state: NoticeState,
    pub notified_at: DateTime<Utc>,
    /// Nothing happens to the job before.
    pub act_at: DateTime<Utc>,
    /// By how much its owner has put that off so far.
    pub snoozed_secs: i64,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Nothing,
    /// Tell its owner, with the evidence.
    Notify {
        act_at: DateTime<Utc>,
    },
    MakeReclaimable,
    Stop,
    /// It computes again, or nobody looks any more: the notice is closed, and the next one begins from the start.
    Rearm,
}

/// The step that follows. `protected`: what an inference job keeps warm is never taken, however idle it is.
#[must_use]
pub fn next(
    rule: &IdleRule,
    notice: Option<&Notice>,
    verdict: &Verdict,
    protected: bool,
    now: DateTime<Utc>,
) -> Step {
    if rule.action == IdleAction::Off {
        return if notice.is_some() { Step::Rearm } else { Step::Nothing };
    }
    match (verdict, notice) {
        (Verdict::InUse { .. } | Verdict::Starting { .. }, Some(_)) => Step::Rearm,
        (Verdict::Idle { .. }, None) => Step::Notify { act_at: now + rule.grace() },
        (Verdict::Idle { .. }, Some(notice))
            if notice.state == NoticeState::Notified && notice.act_at <= now && !protected =>
        {
            match rule.action {
                IdleAction::Off | IdleAction::Notify => Step::Nothing,
                IdleAction::Reclaimable => Step::MakeReclaimable,
                IdleAction::Stop => Step::Stop,
            }
        }
        // What is not known neither begins a notice nor ends one, and nobody is acted upon unseen.
        _ => Step::Nothing,
    }
}

/// The notice with its act put off by `more`.
///
/// # Errors
/// How much may still be put off, when it is less than that, or the act has happened.
pub fn snooze(
    rule: &IdleRule,
    notice: &Notice,
    more: TimeDelta,
    now: DateTime<Utc>,
) -> Result<Notice, TimeDelta> {
    let left = match notice.state {
        NoticeState::Notified => rule.most_snooze() - TimeDelta::seconds(notice.snoozed_secs),
        NoticeState::Reclaimable | NoticeState::Stopped | NoticeState::Closed => TimeDelta::zero(),
    };
    if more > left || more <= TimeDelta::zero() {
        return Err(left.max(TimeDelta::zero()));
    }
    Ok(Notice {
        act_at: notice.act_at.max(now) + more,
        snoozed_secs: notice.snoozed_secs + more.num_seconds(),
        ..*notice
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge::Coverage;
    use super::*;
    use crate::kind::Kind;

    fn at(mins: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(mins * 60, 0).expect("a time")
    }

    /// A kind's rule, in force.
    fn on(kind: Kind) -> IdleRule {
        IdleRule { action: IdleAction::Reclaimable, ..IdleRule::default_for(kind) }
    }

    const COVERAGE: Coverage = Coverage { samples: 10, expected: 10 };

    fn idle() -> Verdict {
        Verdict::Idle { since: at(0), window_secs: 3600, coverage: COVERAGE }
    }

    fn busy() -> Verdict {
        Verdict::InUse { last_busy_at: Some(at(100)), window_secs: 3600 }
    }

    fn notice(state: NoticeState) -> Notice {
        Notice { state, notified_at: at(100), act_at: at(130), snoozed_secs: 0 }
    }

    #[test]
    fn told_then_spared_for_its_grace_then_taken() {
        // Row R-66.
        let rule = on(Kind::Training);
        assert_eq!(next(&rule, None, &idle(), false, at(100)), Step::Notify { act_at: at(130) });
        let told = notice(NoticeState::Notified);
        assert_eq!(next(&rule, Some(&told), &idle(), false, at(129)), Step::Nothing);
        assert_eq!(next(&rule, Some(&told), &idle(), false, at(130)), Step::MakeReclaimable);
        let stop = IdleRule { action: IdleAction::Stop, ..rule };
        assert_eq!(next(&stop, Some(&told), &idle(), false, at(130)), Step::Stop);
        let tell = IdleRule { action: IdleAction::Notify, ..rule };
        assert_eq!(next(&tell, Some(&told), &idle(), false, at(130)), Step::Nothing);
    }

    #[test]
    fn a_job_that_computes_again_is_spared_at_every_step() {
        let rule = on(Kind::Training);
        for state in [NoticeState::Notified, NoticeState::Reclaimable] {
            assert_eq!(next(&rule, Some(&notice(state)), &busy(), false, at(200)), Step::Rearm);
        }
        assert_eq!(next(&rule, None, &busy(), false, at(200)), Step::Nothing);
    }

    #[test]
    fn nobody_is_acted_upon_unseen() {
        let rule = on(Kind::Training);
        let unknown = Verdict::Unknown { coverage: Coverage { samples: 0, expected: 10 } };
        assert_eq!(next(&rule, None, &unknown, false, at(200)), Step::Nothing);
        assert_eq!(
            next(&rule, Some(&notice(NoticeState::Notified)), &unknown, false, at(200)),
            Step::Nothing
        );
    }

    #[test]
    fn what_is_kept_warm_is_told_and_left() {
        // Row R-70.
        let rule = on(Kind::Inference);
        assert!(matches!(next(&rule, None, &idle(), true, at(100)), Step::Notify { .. }));
        assert_eq!(next(&rule, Some(&notice(NoticeState::Notified)), &idle(), true, at(500)), Step::Nothing);
    }

    #[test]
    fn an_owner_may_put_it_off_but_not_for_ever() {
        let rule = IdleRule { most_snooze_secs: 3_600, ..on(Kind::Training) };
        let hour = TimeDelta::hours(1);
        let told = notice(NoticeState::Notified);
        let later = snooze(&rule, &told, TimeDelta::minutes(40), at(110)).expect("allowed");
        assert_eq!((later.act_at, later.snoozed_secs), (at(170), 2_400));
        assert_eq!(snooze(&rule, &later, hour, at(120)), Err(TimeDelta::minutes(20)));
        assert_eq!(snooze(&rule, &told, TimeDelta::zero(), at(110)), Err(hour));
        let taken = notice(NoticeState::Reclaimable);
        assert_eq!(snooze(&rule, &taken, TimeDelta::minutes(1), at(110)), Err(TimeDelta::zero()));
        // Put off after its time was over: counted from now.
        let late = snooze(&rule, &told, TimeDelta::minutes(10), at(150)).expect("allowed");
        assert_eq!(late.act_at, at(160));
    }

    #[test]
    fn where_nobody_looks_nothing_begins_and_what_began_ends() {
        let off = IdleRule::default_for(Kind::Training);
        assert_eq!(next(&off, None, &idle(), false, at(200)), Step::Nothing);
        assert_eq!(next(&off, Some(&notice(NoticeState::Reclaimable)), &idle(), false, at(200)), Step::Rearm);
    }
}
