//! What-if: the difference between today and a day with one thing changed.

use reeve_core::eviction::EvictionCause;
use reeve_core::id::{JobId, TeamId};
use reeve_core::node::NodeState;
use reeve_core::priority::PriorityClass;
use reeve_core::reason::ReasonCode;
use reeve_core::scenario::{beginning, parse};
use reeve_core::schedule::snapshot::Snapshot;
use reeve_core::units::MilliGpu;
use reeve_core::what_if::{Change, Difference, Unknown, difference, imagine, settle};

/// `b` has lent itself all of `a`'s guarantee; `a` waits for nothing yet.
const WORLD: &str = "name: one pool
policy: {min_runtime: 0s}
nodes: [{count: 2, gpus: 8}]
teams: {a: {guaranteed: 8}, b: {guaranteed: 8}}
jobs:
  own: {team: b, gpus: 8, priority: high, kind: inference, state: running}
  loan: {team: b, count: 2, gpus: 4, state: running}
  more: {team: b, gpus: 4}
  ask: {team: a, gpus: 8}
";

/// The world before `ask` was submitted, and the job.
fn world() -> (Snapshot, Change) {
    let mut snapshot = beginning(&parse(WORLD).unwrap()[0]).unwrap();
    let at = snapshot.jobs.iter().position(|job| job.name == "ask").unwrap();
    let ask = snapshot.jobs.remove(at);
    (snapshot, Change::Submit(Box::new(ask)))
}

fn job(snapshot: &Snapshot, name: &str) -> JobId {
    snapshot.jobs.iter().find(|job| job.name == name).unwrap().id
}

fn team(snapshot: &Snapshot, slug: &str) -> TeamId {
    snapshot.teams.iter().find(|team| team.slug == slug).unwrap().id
}

fn answer(snapshot: &Snapshot, changes: Vec<Change>) -> Difference {
    let then = settle(imagine(snapshot, changes).unwrap());
    let today = settle(snapshot.clone());
    assert!(then.at_rest && today.at_rest);
    difference(&today, &then)
}

#[test]
fn a_submission_shows_whom_it_would_evict_and_what_it_would_take_from_the_loans() {
    let (snapshot, ask) = world();
    let before = snapshot.clone();
    let found = answer(&snapshot, vec![ask]);
    assert_eq!(found.starts.len(), 1);
    assert!(!found.starts[0].at_once, "somebody must leave first");
    let evicted: Vec<JobId> = found.evictions.iter().map(|evicted| evicted.eviction.job).collect();
    assert_eq!(evicted, [job(&snapshot, "loan1"), job(&snapshot, "loan2")]);
    assert!(found.evictions.iter().all(|evicted| evicted.eviction.cause == EvictionCause::Reclaim));
    assert!(
        found
            .evictions
            .iter()
            .all(|evicted| evicted.evictor == Some(found.starts[0].job) && !evicted.runs_again)
    );
    assert_eq!(found.loans.len(), 1);
    assert_eq!((found.loans[0].before, found.loans[0].after), (MilliGpu(8_000), MilliGpu(0)));
    // The evicted wait now; the job that waits today for the same reason is no difference.
    let waits: Vec<JobId> = found.reasons.iter().map(|change| change.job).collect();
    assert!(evicted.iter().all(|job| waits.contains(job)), "{found:#?}");
    assert_eq!(snapshot, before, "nothing was written");
}

#[test]
fn a_quota_shows_who_could_start() {
    let (snapshot, _) = world();
    let mut quota = snapshot.quotas.iter().find(|quota| quota.team == team(&snapshot, "b")).unwrap().clone();
    quota.borrow_limit = Some(MilliGpu(0));
    // Nothing new: what runs above a lowered limit runs on.
    let found = answer(&snapshot, vec![Change::Quota(quota)]);
    assert!(found.evictions.is_empty() && found.starts.is_empty());
    let change =
        found.reasons.iter().find(|change| change.job == job(&snapshot, "more")).expect("another reason");
    assert_eq!(change.after.as_ref().unwrap().main.code, ReasonCode::NoQuota);
}

#[test]
fn a_lost_node_shows_what_stops_and_what_waits() {
    let (snapshot, _) = world();
    let node = snapshot.nodes.iter().find(|node| {
        snapshot
            .jobs
            .iter()
            .any(|job| job.name == "loan1" && job.members.iter().any(|member| member.node == node.id))
    });
    let change = Change::Node { node: node.unwrap().id, state: NodeState::Lost };
    let found = answer(&snapshot, vec![change]);
    let lost: Vec<JobId> = found.lost_starts.iter().map(|start| start.job).collect();
    assert_eq!(lost, [job(&snapshot, "loan1"), job(&snapshot, "loan2")]);
}

#[test]
fn a_priority_lets_a_job_pass_another_of_its_team() {
    let (snapshot, _) = world();
    let change = Change::Priority { job: job(&snapshot, "more"), priority: PriorityClass::High.value() };
    let found = answer(&snapshot, vec![change]);
    assert_eq!(found.starts.iter().map(|start| start.job).collect::<Vec<_>>(), [job(&snapshot, "more")]);
    assert_eq!(found.evictions.len(), 1);
    assert_eq!(found.evictions[0].eviction.cause, EvictionCause::Preemption);
}

#[test]
fn no_change_is_no_difference_and_what_is_unknown_is_said() {
    let (snapshot, _) = world();
    assert_eq!(answer(&snapshot, vec![]), Difference::default());
    let nobody = JobId(uuid::Uuid::from_u128(1));
    let change = Change::Priority { job: nobody, priority: PriorityClass::High.value() };
    assert_eq!(imagine(&snapshot, vec![change]), Err(Unknown::Job));
}
