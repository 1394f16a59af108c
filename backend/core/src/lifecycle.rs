//! How a run goes on from what its members have become: one pure decision, whoever reports.
//!
//! A gang is one thing: it starts when all its members run, and ends when all have ended. This module refuses to know
//! nodes, clocks and GPUs: it says what happened, the store gives things back.

use crate::eviction::{EvictionCause, EvictionOutcome};
use crate::job::{CheckpointMode, JobState, RunState};
use crate::text_enum;

text_enum! {
    /// Why a run was told to go, when it was no eviction.
    StopCause {
        /// Its user, or somebody with the right, cancelled it.
        Cancelled = "cancelled",
        /// One member failed: the rest of the gang is of no use.
        MemberFailed = "member_failed",
        /// A member's node was lost.
        NodeLost = "node_lost",
    }
}

/// Why a run is leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveCause {
    Evicted(EvictionCause),
    Stopped(StopCause),
}

impl std::str::FromStr for LeaveCause {
    type Err = crate::status::UnknownText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::Evicted).or_else(|_| text.parse().map(Self::Stopped))
    }
}

text_enum! {
    /// What a member's end means for its gang.
    EndKind {
        /// It finished its work.
        Success = "success",
        Failure = "failure",
        /// It went over its time limit: trying again would end the same.
        TimedOut = "timed_out",
        /// It went because it was asked to.
        Left = "left",
        /// It went with its node or its agent's lease, through no fault of its own.
        Lost = "lost",
    }
}

text_enum! {
    /// How a job's last run ended, in a word.
    EndCause {
        Succeeded = "succeeded",
        /// The command said that it failed.
        ExitCode = "exit_code",
        /// The command was killed, and not by the agent.
        Signal = "signal",
        /// The command could not be started: no such program or directory, no right.
        StartError = "start_error",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
        /// Told to leave, and not to run twice.
        Evicted = "evicted",
        /// Its node was lost, and it is not to run twice.
        NodeLost = "node_lost",
        /// Its GPUs computed nothing, and its idle rule stops such jobs.
        Idle = "idle",
    }
}

impl EndCause {
    /// What a member that failed by itself says of its gang.
    #[must_use]
    pub const fn of_failure(exit_code: Option<i32>, has_signal: bool) -> Self {
        match exit_code {
            Some(_) => Self::ExitCode,
            None if has_signal => Self::Signal,
            None => Self::StartError,
        }
    }
}

/// A member's end, as reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedEnd {
    /// Null for a signal.
    pub exit_code: Option<i32>,
    pub never_started: bool,
    pub lost: bool,
    pub timed_out: bool,
    /// It had been told to go before it ended.
    pub asked: bool,
    /// `true`: it was given time to leave, and that time was not over.
    pub within_grace: bool,
    pub checkpoint: CheckpointMode,
}

/// What a reported end means. A job that ends by itself during its grace has that end; one that saves on a signal
/// answers the signal by going, so whatever it says then is no end of its work.
#[must_use]
pub const fn end_kind(end: &ReportedEnd) -> EndKind {
    let by_itself = !end.asked
        || (end.within_grace
            && end.exit_code.is_some()
            && !matches!(end.checkpoint, CheckpointMode::OnSignal));
    match end.exit_code {
        _ if end.lost => EndKind::Lost,
        _ if end.timed_out => EndKind::TimedOut,
        _ if end.never_started && !end.asked => EndKind::Failure,
        _ if !by_itself => EndKind::Left,
        Some(0) => EndKind::Success,
        _ => EndKind::Failure,
    }
}

/// One member of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberFact {
    pub running: bool,
    /// `None` = not ended.
    pub end: Option<EndKind>,
    /// It was told to go.
    pub told: bool,
}

/// A run and the rules of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    pub state: RunState,
    pub leave: Option<LeaveCause>,
    pub members: Vec<MemberFact>,
    pub requeue: bool,
    pub failure_count: u32,
    pub max_failures: u32,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Nothing,
    /// All members run.
    Started,
    /// The rest of the gang is told to stop.
    StopRest(StopCause),
    /// All members have ended.
    Finished(Finish),
}

/// How a run ended, and what becomes of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish {
    pub run: RunState,
    /// `Queued`, `Succeeded`, `Failed` or `Cancelled`.
    pub job: JobState,
    /// `None`: a member failed, and how it ended says why ([`EndCause::of_failure`]).
    pub cause: Option<EndCause>,
    pub counts_as_failure: bool,
    /// What became of evictions that this run was leaving for.
    pub eviction: EvictionOutcome,
}

/// Decides how the run goes on.
#[must_use]
pub fn decide(run: &RunFacts) -> Step {
    // Surplus members that were told to go are not missed by a run that stays.
    let counted = || run.members.iter().filter(|member| run.leave.is_some() || !member.told);
    if run.members.iter().all(|member| member.end.is_some()) {
        let ends: Vec<EndKind> = counted().filter_map(|member| member.end).collect();
        return Step::Finished(finish(run, &ends));
    }
    if run.leave.is_none() {
        let ended = |kind| counted().any(|member| member.end == Some(kind));
        if ended(EndKind::Failure) || ended(EndKind::TimedOut) {
            return Step::StopRest(StopCause::MemberFailed);
        }
        if ended(EndKind::Lost) || ended(EndKind::Left) {
            return Step::StopRest(StopCause::NodeLost);
        }
    }
    let all_run = counted().all(|member| member.running || member.end == Some(EndKind::Success));
    if run.state == RunState::Starting && all_run { Step::Started } else { Step::Nothing }
}

fn finish(run: &RunFacts, ends: &[EndKind]) -> Finish {
    let any = |kind| ends.contains(&kind);
    if !ends.is_empty() && ends.iter().all(|end| *end == EndKind::Success) {
        return Finish {
            run: RunState::Succeeded,
            job: JobState::Succeeded,
            cause: Some(EndCause::Succeeded),
            counts_as_failure: false,
            eviction: EvictionOutcome::EndedItself,
        };
    }
    match run.leave {
        Some(LeaveCause::Stopped(StopCause::Cancelled)) => Finish {
            run: RunState::Cancelled,
            job: JobState::Cancelled,
            cause: Some(EndCause::Cancelled),
            counts_as_failure: false,
            eviction: EvictionOutcome::Cancelled,
        },
        _ if any(EndKind::TimedOut) => failed(JobState::Failed, Some(EndCause::TimedOut)),
        _ if any(EndKind::Failure) => {
            let again = run.failure_count < run.max_failures;
            failed(if again { JobState::Queued } else { JobState::Failed }, None)
        }
        // Back in line it would sit idle again.
        Some(LeaveCause::Evicted(EvictionCause::Idle)) => Finish {
            run: RunState::Evicted,
            job: JobState::Cancelled,
            cause: Some(EndCause::Idle),
            counts_as_failure: false,
            eviction: EvictionOutcome::Cancelled,
        },
        _ if any(EndKind::Lost) => again(run, RunState::Lost, EndCause::NodeLost, EvictionOutcome::NodeLost),
        // Whoever asked for a requeue by hand gets it, also of a job that is not requeued by itself.
        Some(LeaveCause::Evicted(EvictionCause::Operator)) => Finish {
            job: JobState::Queued,
            ..again(run, RunState::Evicted, EndCause::Evicted, EvictionOutcome::Requeued)
        },
        _ => again(run, RunState::Evicted, EndCause::Evicted, EvictionOutcome::Requeued),
    }
}

const fn failed(job: JobState, cause: Option<EndCause>) -> Finish {
    Finish {
        run: RunState::Failed,
        job,
        cause,
        counts_as_failure: true,
        eviction: EvictionOutcome::EndedItself,
    }
}

/// No fault of the job: it goes back in line, or is cancelled if it must not run twice.
const fn again(run: &RunFacts, state: RunState, cause: EndCause, outcome: EvictionOutcome) -> Finish {
    Finish {
        run: state,
        job: if run.requeue { JobState::Queued } else { JobState::Cancelled },
        cause: Some(cause),
        counts_as_failure: false,
        eviction: match (run.requeue, outcome) {
            (false, EvictionOutcome::Requeued) => EvictionOutcome::Cancelled,
            _ => outcome,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVICTED: Option<LeaveCause> = Some(LeaveCause::Evicted(EvictionCause::Reclaim));

    fn member(end: Option<EndKind>) -> MemberFact {
        MemberFact { running: end.is_none(), end, told: false }
    }

    fn run(leave: Option<LeaveCause>, ends: &[Option<EndKind>]) -> RunFacts {
        RunFacts {
            state: if leave.is_some() { RunState::Leaving } else { RunState::Running },
            leave,
            members: ends.iter().map(|&end| MemberFact { told: leave.is_some(), ..member(end) }).collect(),
            requeue: true,
            failure_count: 0,
            max_failures: 0,
        }
    }

    fn after(run: &RunFacts) -> (RunState, JobState) {
        match decide(run) {
            Step::Finished(finish) => (finish.run, finish.job),
            other => panic!("not finished: {other:?}"),
        }
    }

    #[test]
    fn a_gang_starts_when_its_last_member_runs() {
        let mut facts = run(None, &[None, None]);
        facts.state = RunState::Starting;
        facts.members[1].running = false;
        assert_eq!(decide(&facts), Step::Nothing);
        facts.members[1].running = true;
        assert_eq!(decide(&facts), Step::Started);
    }

    #[test]
    fn one_failure_stops_the_rest_and_fails_the_job() {
        let mut facts = run(None, &[Some(EndKind::Failure), None]);
        assert_eq!(decide(&facts), Step::StopRest(StopCause::MemberFailed));
        facts.leave = Some(LeaveCause::Stopped(StopCause::MemberFailed));
        facts.members[1].end = Some(EndKind::Left);
        assert_eq!(after(&facts), (RunState::Failed, JobState::Failed));
        facts.max_failures = 1;
        assert_eq!(after(&facts), (RunState::Failed, JobState::Queued));
        facts.failure_count = 1;
        assert_eq!(after(&facts), (RunState::Failed, JobState::Failed));
    }

    #[test]
    fn an_evicted_gang_is_requeued_or_cancelled_if_it_must_not_run_twice() {
        let mut facts = run(EVICTED, &[Some(EndKind::Left), Some(EndKind::Left)]);
        assert_eq!(after(&facts), (RunState::Evicted, JobState::Queued));
        facts.requeue = false;
        assert_eq!(after(&facts), (RunState::Evicted, JobState::Cancelled));
    }

    #[test]
    fn what_ends_by_itself_during_its_grace_keeps_that_end() {
        let success = run(EVICTED, &[Some(EndKind::Success), Some(EndKind::Success)]);
        assert_eq!(after(&success), (RunState::Succeeded, JobState::Succeeded));
        let failure = run(EVICTED, &[Some(EndKind::Failure), Some(EndKind::Left)]);
        assert_eq!(after(&failure), (RunState::Failed, JobState::Failed));
    }

    #[test]
    fn a_lost_node_requeues_the_whole_gang_and_is_no_failure() {
        let mut facts = run(None, &[Some(EndKind::Lost), None]);
        assert_eq!(decide(&facts), Step::StopRest(StopCause::NodeLost));
        facts.leave = Some(LeaveCause::Stopped(StopCause::NodeLost));
        assert_eq!(decide(&facts), Step::Nothing, "the survivor is still there");
        facts.members[1].end = Some(EndKind::Left);
        let Step::Finished(finish) = decide(&facts) else { panic!("all ended") };
        assert_eq!((finish.run, finish.job), (RunState::Lost, JobState::Queued));
        assert!(!finish.counts_as_failure);
    }

    #[test]
    fn surplus_members_that_leave_do_not_touch_the_run() {
        let mut facts = run(None, &[None, Some(EndKind::Left)]);
        facts.members[1].told = true;
        assert_eq!(decide(&facts), Step::Nothing);
        facts.members[0].end = Some(EndKind::Success);
        assert_eq!(after(&facts), (RunState::Succeeded, JobState::Succeeded));
    }

    #[test]
    fn ends_mean_what_they_are() {
        let end = ReportedEnd {
            exit_code: Some(0),
            never_started: false,
            lost: false,
            timed_out: false,
            asked: false,
            within_grace: false,
            checkpoint: CheckpointMode::OnSignal,
        };
        let asked = ReportedEnd { asked: true, within_grace: true, ..end };
        for (end, kind) in [
            (end, EndKind::Success),
            (ReportedEnd { exit_code: Some(1), ..end }, EndKind::Failure),
            (ReportedEnd { exit_code: None, ..end }, EndKind::Failure),
            (ReportedEnd { exit_code: None, never_started: true, ..end }, EndKind::Failure),
            (ReportedEnd { timed_out: true, ..end }, EndKind::TimedOut),
            (ReportedEnd { lost: true, ..end }, EndKind::Lost),
            (asked, EndKind::Left),
            (ReportedEnd { checkpoint: CheckpointMode::None, ..asked }, EndKind::Success),
            (ReportedEnd { checkpoint: CheckpointMode::None, within_grace: false, ..asked }, EndKind::Left),
            (ReportedEnd { checkpoint: CheckpointMode::None, exit_code: None, ..asked }, EndKind::Left),
        ] {
            assert_eq!(end_kind(&end), kind, "{end:?}");
        }
    }

    #[test]
    fn stopped_for_being_idle_it_does_not_come_back_but_its_own_end_counts() {
        let idle = Some(LeaveCause::Evicted(EvictionCause::Idle));
        let end = |ends: &[Option<EndKind>]| match decide(&run(idle, ends)) {
            Step::Finished(finish) => (finish.job, finish.cause),
            other => panic!("{other:?}"),
        };
        let (left, success) = (Some(EndKind::Left), Some(EndKind::Success));
        assert_eq!(end(&[left, left]), (JobState::Cancelled, Some(EndCause::Idle)));
        assert_eq!(end(&[left, Some(EndKind::Lost)]), (JobState::Cancelled, Some(EndCause::Idle)));
        assert_eq!(end(&[success, success]), (JobState::Succeeded, Some(EndCause::Succeeded)));
    }
}
