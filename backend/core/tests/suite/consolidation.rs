//! Moves: what the judge notices of a plan in which somebody moves, and what a what-if says of it.

use reeve_core::eviction::EvictionCause;
use reeve_core::id::JobId;
use reeve_core::policy::{Consolidation, Policy};
use reeve_core::priority::PriorityClass;
use reeve_core::scenario::{Cluster, beginning, parse};
use reeve_core::schedule::check::{state_violations, violations};
use reeve_core::schedule::plan;
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::{Job, Snapshot};
use reeve_core::what_if::{Change, difference, imagine, settle};

const WORLD: &str = "name: scattered
policy: {grace: 1m, min_runtime: 30m, consolidation: {max_moves_per_hour: 2}}
nodes: [{count: 3, gpus: 4}]
teams: {a: {guaranteed: 12}}
jobs:
  x: {team: a, gpus: 2, state: running, node: n1, started: -2h, checkpoint: on_signal}
  y: {team: a, gpus: 2, state: running, node: n2, started: -3h}
  z: {team: a, gpus: 2, state: running, node: n3, started: -4h}
  big: {team: a, gpus: 4}
";

fn world() -> (Snapshot, Plan) {
    let snapshot = beginning(&parse(WORLD).unwrap()[0]).unwrap();
    let plan = plan(&snapshot);
    (snapshot, plan)
}

fn job<'a>(snapshot: &'a mut Snapshot, name: &str) -> &'a mut Job {
    snapshot.jobs.iter_mut().find(|job| job.name == name).unwrap()
}

fn id(snapshot: &Snapshot, name: &str) -> JobId {
    snapshot.jobs.iter().find(|job| job.name == name).unwrap().id
}

#[test]
fn a_plan_with_a_move_promises_both_places() {
    let (snapshot, plan) = world();
    assert_eq!(violations(&snapshot, &plan), []);
    let [asks, moves] = plan.reclaims.as_slice() else { panic!("{plan:#?}") };
    assert_eq!((asks.evictor, moves.evictor), (Some(id(&snapshot, "big")), Some(id(&snapshot, "x"))));
    let [eviction] = asks.evictions.as_slice() else { panic!("{plan:#?}") };
    assert_eq!((eviction.job, eviction.cause), (id(&snapshot, "x"), EvictionCause::Consolidation));
    assert_eq!(eviction.record.moves_to, moves.nomination);
    assert!(moves.evictions.is_empty());
    let team = &eviction.record.shares_after[0];
    assert_eq!(team.used.as_gpus(), 10.0, "the mover's share is not lost");
}

#[test]
fn spoilt_moves_are_noticed() {
    type Spoil = fn(&mut Snapshot, &mut Plan);
    let cases: &[(&str, Spoil)] = &[
        ("no_right_to_evict", |state, _| state.policy.consolidation = Consolidation::Off),
        ("no_right_to_evict", |_, plan| plan.reclaims.truncate(1)),
        ("no_right_to_evict", |state, _| job(state, "x").requeue = false),
        ("no_right_to_evict", |state, _| job(state, "x").held = true),
        ("no_right_to_evict", |state, plan| {
            let high = PriorityClass::High.value();
            job(state, "x").priority = high;
            plan.reclaims[0].evictions[0].record.victim_priority = high;
        }),
        ("no_right_to_evict", |_, plan| {
            plan.reclaims[0].evictions[0].record.moves_to.clear();
        }),
        ("no_right_to_evict", |_, plan| plan.reclaims[0].evictor = None),
        ("nomination_not_whole", |_, plan| plan.reclaims[1].nomination.clear()),
        ("nomination_intruded", |state, plan| {
            // The home is taken by one who stays.
            let gpus = job(state, "z").members[0].gpus.clone();
            let node = job(state, "z").members[0].node;
            for member in &mut plan.reclaims[1].nomination {
                (member.node, member.gpus) = (node, gpus.clone());
            }
        }),
        ("evictor_not_pending", |state, plan| {
            let mut home = plan.reclaims[1].clone();
            home.evictor = Some(id(state, "y"));
            plan.reclaims.push(home);
        }),
        ("needless_victim", |state, plan| {
            // The asker takes only what was free beside it.
            let held = job(state, "x").members[0].gpus.clone();
            plan.reclaims[0].nomination[0].gpus.retain(|slice| held.iter().all(|own| own.gpu != slice.gpu));
        }),
        ("protected_victim", |state, _| job(state, "x").preemptible = false),
        ("protected_victim", |state, _| job(state, "x").never_evict = true),
        ("protected_victim", |state, _| job(state, "x").members[0].started_at = state_now()),
        ("false_record", |_, plan| {
            "2.8 surplus is shared out more evenly"
                .clone_into(&mut plan.reclaims[0].evictions[0].record.rule);
        }),
        ("consolidation_cap_exceeded", |state, _| {
            state.consolidation_moves_last_hour = vec![state.now; 2];
        }),
    ];
    for (rule, spoil) in cases {
        let (mut snapshot, mut plan) = world();
        spoil(&mut snapshot, &mut plan);
        let found = violations(&snapshot, &plan);
        assert!(found.iter().any(|violation| violation.rule == *rule), "{rule} is not noticed: {found:?}");
    }
}

fn state_now() -> chrono::DateTime<chrono::Utc> {
    world().0.now
}

#[test]
fn a_promise_to_who_moves_is_kept_while_it_leaves_and_intruders_are_noticed() {
    let (snapshot, plan) = world();
    let mut cluster = Cluster::new(snapshot);
    cluster.apply(&plan).unwrap();
    assert_eq!(state_violations(&cluster.snapshot), []);
    assert!(reeve_core::schedule::plan(&cluster.snapshot).reclaims.is_empty());
    let mut intruded = cluster.snapshot.clone();
    let home = plan.reclaims[1].nomination[0].clone();
    let y = job(&mut intruded, "y");
    (y.members[0].node, y.members[0].gpus) = (home.node, home.gpus);
    let found = state_violations(&intruded);
    assert!(found.iter().any(|violation| violation.rule == "nomination_intruded"), "{found:?}");
    // Cancelled while it leaves: its home is nobody's, and the asker still starts.
    let x = id(&cluster.snapshot, "x");
    job(&mut cluster.snapshot, "x").members[0].leaving.as_mut().unwrap().cause = None;
    let next = reeve_core::schedule::plan(&cluster.snapshot);
    assert_eq!(next.dropped.iter().map(|dropped| dropped.job).collect::<Vec<_>>(), [x]);
}

#[test]
fn a_what_if_on_the_policy_shows_who_would_move() {
    let (mut snapshot, _) = world();
    let on = snapshot.policy.clone();
    snapshot.policy = Policy { consolidation: Consolidation::Off, ..on.clone() };
    let then = settle(imagine(&snapshot, vec![Change::Policy(Box::new(on))]).unwrap());
    let found = difference(&settle(snapshot.clone()), &then);
    assert_eq!(found.starts.iter().map(|start| start.job).collect::<Vec<_>>(), [id(&snapshot, "big")]);
    let [evicted] = found.evictions.as_slice() else { panic!("{found:#?}") };
    assert_eq!(evicted.eviction.cause, EvictionCause::Consolidation);
    assert!(evicted.runs_again && !evicted.eviction.record.moves_to.is_empty());
}
