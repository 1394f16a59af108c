//! What active escalations do to a plan: whom a raise reaches, against whom it counts, and who is not evicted.

use reeve_core::approval::{Raise, Scope};
use reeve_core::eviction::EvictionCause;
use reeve_core::id::JobId;
use reeve_core::priority::PriorityClass;
use reeve_core::scenario::{beginning, parse};
use reeve_core::schedule::check::violations;
use reeve_core::schedule::plan;
use reeve_core::schedule::snapshot::Snapshot;
use reeve_core::what_if::{Change, Difference, difference, imagine, settle};

fn world(text: &str) -> Snapshot {
    beginning(&parse(text).unwrap()[0]).unwrap()
}

fn job(snapshot: &Snapshot, name: &str) -> JobId {
    snapshot.jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("no job {name}")).id
}

fn raise(snapshot: &Snapshot, name: &str, level: PriorityClass, scope: Scope) -> Change {
    let job = snapshot.jobs.iter().find(|job| job.name == name).unwrap();
    Change::Raise(Raise { team: job.team, job: Some(job.id), queue: None, kinds: None, level, scope })
}

/// What changes, after every plan on the way was judged.
fn answer(snapshot: &Snapshot, change: Change) -> Difference {
    let imagined = imagine(snapshot, vec![change]).unwrap();
    let found = violations(&imagined, &plan(&imagined));
    assert!(found.is_empty(), "{found:?}");
    difference(&settle(snapshot.clone()), &settle(imagined))
}

fn started(snapshot: &Snapshot, difference: &Difference) -> Vec<String> {
    let name = |id: JobId| snapshot.jobs.iter().find(|job| job.id == id).unwrap().name.clone();
    difference.starts.iter().map(|start| name(start.job)).collect()
}

const LOANS: &str = "name: loans
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 8}]
teams: {owner: {guaranteed: 8}, b: {guaranteed: 0}, c: {guaranteed: 0}}
jobs:
  mine: {team: c, gpus: 4, priority: low, kind: batch, state: running}
  theirs: {team: b, gpus: 4, priority: low, kind: batch, state: running}
  asks: {team: c, gpus: 4, priority: low, kind: batch}
";

#[test]
fn a_raise_of_team_scope_takes_from_its_own_team_only() {
    let snapshot = world(LOANS);
    let found = answer(&snapshot, raise(&snapshot, "asks", PriorityClass::High, Scope::Team));
    assert_eq!(started(&snapshot, &found), ["asks"]);
    let evicted: Vec<_> = found.evictions.iter().map(|one| (one.eviction.job, one.eviction.cause)).collect();
    assert_eq!(evicted, [(job(&snapshot, "mine"), EvictionCause::Preemption)]);
    let record = &found.evictions[0].eviction.record;
    assert_eq!(record.evictor_priority, Some(PriorityClass::High.value()), "as it counts in the team");
}

#[test]
fn only_a_raise_of_platform_scope_takes_loans_of_others() {
    let snapshot = world(&LOANS.replace(
        "  mine: {team: c, gpus: 4, priority: low",
        "  mine: {team: c, gpus: 4, priority: critical",
    ));
    let found = answer(&snapshot, raise(&snapshot, "asks", PriorityClass::High, Scope::Team));
    assert_eq!(found, Difference::default(), "nothing of its own is lower, and others are not its team");
    let found = answer(&snapshot, raise(&snapshot, "asks", PriorityClass::High, Scope::Platform));
    assert_eq!(started(&snapshot, &found), ["asks"]);
    let evicted: Vec<_> = found.evictions.iter().map(|one| (one.eviction.job, one.eviction.cause)).collect();
    assert_eq!(evicted, [(job(&snapshot, "theirs"), EvictionCause::BorrowPreemption)]);
}

const LINE: &str = "name: line
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 4}]
teams: {a: {guaranteed: 0}, b: {guaranteed: 0}}
jobs:
  a1: {team: a, gpus: 4}
  b1: {team: b, gpus: 4}
  a2: {team: a, gpus: 4}
";

#[test]
fn a_raise_of_team_scope_takes_its_teams_place_in_line_and_no_other() {
    let snapshot = world(LINE);
    let first = |snapshot: &Snapshot| {
        let plan = plan(snapshot);
        let found = violations(snapshot, &plan);
        assert!(found.is_empty(), "{found:?}");
        plan.starts
            .first()
            .map(|start| snapshot.jobs.iter().find(|job| job.id == start.job).unwrap().name.clone())
    };
    assert_eq!(first(&snapshot).as_deref(), Some("a1"), "the oldest");
    let with = |name: &str, scope: Scope| {
        imagine(&snapshot, vec![raise(&snapshot, name, PriorityClass::High, scope)]).unwrap()
    };
    assert_eq!(first(&with("a2", Scope::Team)).as_deref(), Some("a2"), "in a1's place, not behind b1");
    assert_eq!(first(&with("b1", Scope::Team)).as_deref(), Some("a1"), "against others it counts as before");
    assert_eq!(first(&with("b1", Scope::Platform)).as_deref(), Some("b1"));
}

#[test]
fn a_raise_never_lowers_and_reaches_only_whom_it_names() {
    let snapshot = world(LINE);
    let team = snapshot.jobs.iter().find(|job| job.name == "a1").unwrap().team;
    let of_team = |level: PriorityClass| {
        let raise = Raise { team, job: None, queue: None, kinds: None, level, scope: Scope::Platform };
        imagine(&snapshot, vec![Change::Raise(raise)]).unwrap()
    };
    let raised = of_team(PriorityClass::Critical);
    for (job, before) in raised.jobs.iter().zip(&snapshot.jobs) {
        let wanted = if job.team == team { PriorityClass::Critical.value() } else { before.priority };
        assert_eq!(job.priority, wanted, "{}", job.name);
    }
    assert_eq!(of_team(PriorityClass::Scavenger), snapshot);
    let services = Raise {
        team,
        job: None,
        queue: None,
        kinds: Some(vec![reeve_core::kind::Kind::Inference]),
        level: PriorityClass::Critical,
        scope: Scope::Platform,
    };
    assert_eq!(imagine(&snapshot, vec![Change::Raise(services)]).unwrap(), snapshot, "there is no service");
}

#[test]
fn an_exception_keeps_a_loan_from_being_recalled() {
    let snapshot = world(
        "name: exception
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 8}]
teams: {owner: {guaranteed: 8}, b: {guaranteed: 0}}
jobs:
  kept: {team: b, gpus: 4, state: running}
  other: {team: b, gpus: 4, state: running}
  asks: {team: owner, gpus: 4}
",
    );
    for (kept, goes) in [("kept", "other"), ("other", "kept")] {
        let imagined = imagine(&snapshot, vec![Change::NeverEvict(job(&snapshot, kept))]).unwrap();
        let plan = plan(&imagined);
        let evicted: Vec<JobId> = plan
            .reclaims
            .iter()
            .flat_map(|reclaim| &reclaim.evictions)
            .map(|eviction| eviction.job)
            .collect();
        assert_eq!(evicted, [job(&snapshot, goes)], "{kept} has an exception");
        assert_eq!(violations(&imagined, &plan), []);
    }
}
