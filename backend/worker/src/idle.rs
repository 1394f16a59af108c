//! Looks for running jobs whose GPUs compute nothing, and does what their rules say: tells, waits, acts, and takes it back.
//!
//! One look judges all jobs, on two statements, whatever their number; one server at a time looks. It refuses to judge by
//! itself: [`reeve_core::idle`] does.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::TeamId;
use reeve_core::idle::{
    Coverage, IdleAction, IdleRule, Step, Use, UsualPauses, Verdict, judge, next, window,
};
use reeve_core::kind::Kind;
use reeve_core::policy::{Place, Policy};
use reeve_store::idle::evidence::{self, Asked, Running};
use reeve_store::idle::history::{self, Histories};
use reeve_store::idle::notices::{self, CloseReason, Evidence};
use reeve_store::{Actor, Store, StoreError, WriteContext, WriteTx, policy, teams};
use std::collections::{BTreeMap, HashMap};

/// Ended jobs that a step learns from.
const LEARN: i64 = 1_000;
/// Jobs that a step stops: the rest is stopped by the next ones.
const MOST_STOPS: usize = 100;

/// What a step did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looked {
    pub running: usize,
    pub notified: usize,
    pub flagged: usize,
    pub stopped: usize,
    pub over: usize,
    /// Ended jobs that it learnt from.
    pub learnt: usize,
    /// There is more to do at once.
    pub again: bool,
}

/// One look at all running jobs.
///
/// # Errors
/// [`StoreError::Unavailable`], or [`StoreError::Conflict`] when a job moved meanwhile: nothing was done, and the next look
/// sees it as it is.
pub async fn step(store: &Store, now: DateTime<Utc>) -> Result<Looked, StoreError> {
    let learnt = history::learn(store, LEARN).await?;
    let rules = Rules { policy: policy::in_force(store).await?.document, above: teams::above(store).await? };
    let histories = history::load(store).await?;
    let context = WriteContext { actor: Actor::system("idle"), request_id: None, now };
    let Some(mut tx) = notices::begin(store, context).await? else { return Ok(Looked::default()) };
    let mut looked = look(store, &mut tx, &rules, &histories, now).await?;
    looked.learnt = learnt;
    looked.again |= learnt >= usize::try_from(LEARN).unwrap_or(usize::MAX);
    if looked.notified + looked.flagged + looked.stopped + looked.over > 0 {
        tx.commit().await?;
    } else {
        tx.rollback().await?;
    }
    Ok(looked)
}

/// The policy, and where in the tree each team stands.
struct Rules {
    policy: Policy,
    /// A team's slug and those above it, nearest first.
    above: HashMap<TeamId, Vec<String>>,
}

impl Rules {
    fn of(
        &self,
        job: &Running,
        known: &mut BTreeMap<(Kind, TeamId, String), (IdleRule, i64)>,
    ) -> (IdleRule, i64) {
        let key = (job.kind, job.team, job.queue_slug.clone());
        *known.entry(key).or_insert_with(|| {
            let teams: Vec<&str> =
                self.above.get(&job.team).into_iter().flatten().map(String::as_str).collect();
            let rules =
                self.policy.effective_rules(job.kind, Place { queue: Some(&job.queue_slug), teams: &teams });
            (IdleRule::from(&rules.idle), rules.grace_secs.value)
        })
    }
}

/// A job with its rule and how long it must have computed nothing.
struct Case {
    job: Running,
    rule: IdleRule,
    /// To save its work when it is told to go.
    grace_secs: i64,
    window: TimeDelta,
}

impl Case {
    fn used(&self) -> Use {
        Use { started_at: self.job.started_at, pauses: self.job.pauses }
    }

    /// What is kept warm, and what is never evicted, is told and left.
    fn protected(&self) -> bool {
        self.job.kind == Kind::Inference || !self.job.preemptible
    }

    /// What would be said if every sample had come.
    fn at_best(&self, now: DateTime<Utc>) -> Verdict {
        judge(&self.rule, &self.used(), self.window, Coverage { samples: 1, expected: 1 }, now)
    }

    fn next(&self, verdict: &Verdict, now: DateTime<Utc>) -> Step {
        let notice = self.job.notice.as_ref().map(|(_, notice)| notice);
        next(&self.rule, notice, verdict, self.protected(), now)
    }
}

async fn look(
    store: &Store,
    tx: &mut WriteTx,
    rules: &Rules,
    histories: &Histories,
    now: DateTime<Utc>,
) -> Result<Looked, StoreError> {
    let mut looked = Looked { over: notices::close_ended(tx).await?, ..Looked::default() };
    let running = evidence::running(tx).await?;
    looked.running = running.len();
    let mut known = BTreeMap::new();
    let cases: Vec<Case> = running
        .into_iter()
        .map(|job| {
            let (rule, grace_secs) = rules.of(&job, &mut known);
            let window = window_of(&job, &rule, histories);
            Case { job, rule, grace_secs, window }
        })
        .collect();
    set_thresholds(store, &cases).await?;
    // Only where it matters is it counted what was seen.
    let (counted, told): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(|case| {
        let verdict = case.at_best(now);
        matches!(verdict, Verdict::Idle { .. }) && case.next(&verdict, now) != Step::Nothing
    });
    for case in &told {
        act(tx, case, &case.at_best(now), now, &mut looked).await?;
    }
    let asked: Vec<Asked> =
        counted.iter().map(|case| Asked { run_id: case.job.run_id, from: now - case.window }).collect();
    let samples = evidence::coverage(tx, &asked, now).await?;
    for (case, samples) in counted.iter().zip(samples) {
        let coverage = Coverage::of_window(case.job.gpus, case.window, samples);
        let verdict = judge(&case.rule, &case.used(), case.window, coverage, now);
        act(tx, case, &verdict, now, &mut looked).await?;
    }
    Ok(looked)
}

fn window_of(job: &Running, rule: &IdleRule, histories: &Histories) -> TimeDelta {
    let whose = [Some(job.team), None];
    let likes: Vec<&UsualPauses> =
        whose.iter().filter_map(|&team| histories.get(&(team, job.kind))).collect();
    window(rule, &job.pauses, &likes)
}

/// Samples are marked as they come, by what the job's rule calls computing.
async fn set_thresholds(store: &Store, cases: &[Case]) -> Result<(), StoreError> {
    let (mut jobs, mut runs, mut permilles) = (Vec::new(), Vec::new(), Vec::new());
    for case in cases {
        let wanted = i16::try_from(case.rule.busy_above_permille).unwrap_or(i16::MAX);
        if case.job.busy_above_permille.is_some_and(|permille| permille != wanted) {
            jobs.push(case.job.job.0);
            runs.push(case.job.run_number);
            permilles.push(wanted);
        }
    }
    if jobs.is_empty() {
        return Ok(());
    }
    evidence::set_thresholds(store, &jobs, &runs, &permilles).await
}

async fn act(
    tx: &mut WriteTx,
    case: &Case,
    verdict: &Verdict,
    now: DateTime<Utc>,
    looked: &mut Looked,
) -> Result<(), StoreError> {
    let (step, notice) = (case.next(verdict, now), case.job.notice.as_ref().map(|(id, _)| *id));
    match (step, notice, verdict) {
        (Step::Notify { act_at }, None, Verdict::Idle { since, window_secs, coverage }) => {
            let evidence = Evidence {
                idle_since: *since,
                window_secs: *window_secs,
                coverage: *coverage,
                busy_above_permille: case.rule.busy_above_permille,
                action: case.rule.action,
                protected: case.protected(),
                act_at,
            };
            notices::notify(tx, &case.job, &evidence).await?;
            looked.notified += 1;
        }
        (Step::MakeReclaimable, Some(id), _) => {
            notices::make_reclaimable(tx, &case.job, id).await?;
            looked.flagged += 1;
        }
        (Step::Stop, Some(_), _) if looked.stopped >= MOST_STOPS => looked.again = true,
        (Step::Stop, Some(id), _) => {
            notices::stop(tx, &case.job, id, TimeDelta::seconds(case.grace_secs)).await?;
            looked.stopped += 1;
        }
        (Step::Rearm, Some(id), _) => {
            let why = match case.rule.action {
                IdleAction::Off => CloseReason::RuleOff,
                _ => CloseReason::Computes,
            };
            notices::rearm(tx, &case.job, id, why).await?;
            looked.over += 1;
        }
        _ => {}
    }
    Ok(())
}
