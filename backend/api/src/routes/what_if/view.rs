//! The answer as JSON: what becomes of the imagined jobs, and what differs from today.

use super::names::{Names, WhatIfJob};
use crate::refs::{JobRef, NodeRef, PoolRef, TeamRef};
use crate::routes::jobs::explain_view::{
    ExpectedStartView, HelpView, ObstacleView, expected_start_view, help_view, obstacle,
};
use crate::routes::sentence_view::SentenceView;
use chrono::{DateTime, Utc};
use reeve_core::access::Actor;
use reeve_core::id::JobId;
use reeve_core::reason::ExpectedStart;
use reeve_core::sentence::eviction::{Why, eviction};
use reeve_core::units::MilliGpu;
use reeve_core::what_if::{Difference, EvictedJob, LoanChange, ReasonChange, Settled, StartedJob};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// Entries of each list that are shown; its total is always told.
const MOST_SHOWN: usize = 200;

/// What would differ from today, once everybody who was asked to leave has left.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfView {
    /// The live state that was asked.
    as_of: DateTime<Utc>,
    /// False: it was still changing after as many plans as are tried.
    at_rest: bool,
    /// What becomes of each imagined job, in the question's order.
    submitted: Vec<OutcomeView>,
    /// Would run, and do not today.
    starts: Shown<WhatIfStart>,
    /// Would run today, and no longer.
    lost_starts: Shown<WhatIfStart>,
    evictions: Shown<WhatIfEviction>,
    /// Asked to leave today, and no longer.
    spared: Shown<WhatIfEviction>,
    loans: Shown<WhatIfLoan>,
    /// Wait for another reason, or start or cease to wait.
    reasons: Shown<WhatIfReason>,
}

/// The first of a list, and how many there are.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Shown<T> {
    total: usize,
    items: Vec<T>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OutcomeView {
    job: WhatIfJob,
    /// `starts`, `starts_after_evictions` or `waits`.
    outcome: &'static str,
    /// Where it starts.
    start: Option<WhatIfStart>,
    /// Why it waits.
    verdict: Option<ObstacleView>,
    help: Option<HelpView>,
    /// When it would start; null where others' work is not what it waits for.
    expected_start: Option<ExpectedStartView>,
    /// Its place in its queue, from 1.
    position: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfStart {
    job: WhatIfJob,
    gpus: f64,
    pool: Option<PoolRef>,
    nodes: Vec<NodeRef>,
    /// Nobody has to leave for it.
    at_once: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfEviction {
    job: WhatIfJob,
    evictor: Option<WhatIfJob>,
    cause: String,
    rule: String,
    /// Only surplus members: the job runs on.
    surplus_only: bool,
    leave_by: DateTime<Utc>,
    tier: u8,
    lost_gpu_secs: i64,
    /// It runs again once all has settled.
    runs_again: bool,
    /// Where, member by member, if it only moves.
    moves_to: Vec<NodeRef>,
    sentence: SentenceView,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfLoan {
    pool: Option<PoolRef>,
    borrower: Option<TeamRef>,
    /// Null = capacity that nobody's guarantee covers.
    lender: Option<TeamRef>,
    gpus_before: f64,
    gpus_after: f64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfReason {
    job: WhatIfJob,
    /// Null = it does not wait.
    before: Option<ObstacleView>,
    after: Option<ObstacleView>,
}

pub(crate) async fn view(
    store: &Store,
    actor: &Actor,
    as_of: DateTime<Utc>,
    submitted: &[JobId],
    difference: &Difference,
    then: &Settled,
) -> Result<WhatIfView, StoreError> {
    let names = Names::new(store, actor, &then.snapshot, submitted).await?;
    Ok(WhatIfView {
        as_of,
        at_rest: then.at_rest,
        submitted: submitted.iter().map(|&job| outcome(&names, job, difference, then)).collect(),
        starts: shown(&difference.starts, |start| started(&names, start)),
        lost_starts: shown(&difference.lost_starts, |start| started(&names, start)),
        evictions: shown(&difference.evictions, |evicted| evicted_view(&names, evicted)),
        spared: shown(&difference.spared, |evicted| evicted_view(&names, evicted)),
        loans: shown(&difference.loans, |loan| loan_view(&names, loan)),
        reasons: shown(&difference.reasons, |change| reason(&names, change)),
    })
}

fn shown<T, V>(all: &[T], view: impl Fn(&T) -> V) -> Shown<V> {
    Shown { total: all.len(), items: all.iter().take(MOST_SHOWN).map(view).collect() }
}

fn outcome(names: &Names<'_>, job: JobId, difference: &Difference, then: &Settled) -> OutcomeView {
    let start = difference.starts.iter().find(|start| start.job == job);
    let why = then.waiting.get(&job);
    OutcomeView {
        job: names.job(job),
        outcome: match start {
            Some(start) if start.at_once => "starts",
            Some(_) => "starts_after_evictions",
            None => "waits",
        },
        start: start.map(|start| started(names, start)),
        verdict: why.map(|why| obstacle(why.main.clone())),
        help: why.and_then(|why| why.help.clone()).map(help_view),
        expected_start: why.and_then(|why| why.expected_start).map(|start| expected(names, start)),
        position: why.map(|why| why.position),
    }
}

fn expected(names: &Names<'_>, start: ExpectedStart) -> ExpectedStartView {
    let ExpectedStart::TimeLimit { job, .. } = start else { return expected_start_view(start, None) };
    let basis = names.job(job);
    let named = basis.id.zip(basis.name).zip(basis.team);
    expected_start_view(start, named.map(|((id, name), team)| JobRef { id, name, team }))
}

fn started(names: &Names<'_>, start: &StartedJob) -> WhatIfStart {
    WhatIfStart {
        job: names.job(start.job),
        gpus: start.gpus.as_gpus(),
        pool: start.pool.and_then(|pool| names.pool(pool)),
        nodes: start.nodes.iter().filter_map(|&node| names.node(node)).collect(),
        at_once: start.at_once,
    }
}

fn evicted_view(names: &Names<'_>, evicted: &EvictedJob) -> WhatIfEviction {
    let (what, record) = (&evicted.eviction, &evicted.eviction.record);
    let evictor = evicted.evictor.map(|job| names.job(job));
    let slug = |team: Option<TeamRef>| team.map(|team| team.slug);
    let evictor_team = slug(record.evictor_team.and_then(|team| names.team(team)));
    let victim_team = slug(names.team(record.victim_team)).unwrap_or_default();
    let runner_up = record
        .runner_up
        .as_ref()
        .and_then(|runner_up| Some((names.job(runner_up.job).name?, runner_up.decided_by.as_str())));
    let why = Why {
        cause: what.cause,
        evictor_team: evictor_team.as_deref(),
        evictor_job: evictor.as_ref().and_then(|job| job.name.as_deref()),
        victim_team: &victim_team,
        tier: record.tier,
        lost_gpu_secs: record.lost_gpu_secs,
        candidates: record.candidates,
        runner_up: runner_up.as_ref().map(|(name, by)| (name.as_str(), *by)),
    };
    WhatIfEviction {
        sentence: eviction(&why).into(),
        job: names.job(what.job),
        cause: what.cause.to_string(),
        rule: record.rule.clone(),
        surplus_only: what.surplus_only,
        leave_by: what.leave_by,
        tier: record.tier,
        lost_gpu_secs: record.lost_gpu_secs,
        runs_again: evicted.runs_again,
        moves_to: record.moves_to.iter().filter_map(|member| names.node(member.node)).collect(),
        evictor,
    }
}

fn loan_view(names: &Names<'_>, loan: &LoanChange) -> WhatIfLoan {
    let gpus = MilliGpu::as_gpus;
    WhatIfLoan {
        pool: names.pool(loan.pool),
        borrower: names.team(loan.borrower),
        lender: loan.lender.and_then(|team| names.team(team)),
        gpus_before: gpus(loan.before),
        gpus_after: gpus(loan.after),
    }
}

fn reason(names: &Names<'_>, change: &ReasonChange) -> WhatIfReason {
    WhatIfReason {
        job: names.job(change.job),
        before: change.before.as_ref().map(|why| obstacle(why.main.clone())),
        after: change.after.as_ref().map(|why| obstacle(why.main.clone())),
    }
}
