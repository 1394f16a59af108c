//! A judge that cannot find fault is worthless: valid states and plans are spoilt in each way that the
//! judge claims to detect, and it must say so.

use chrono::TimeDelta;
use reeve_core::eviction::EvictionCause;
use reeve_core::id::{JobId, MaintenanceWindowId, ReservationId, TeamId};
use reeve_core::node::NodeState;
use reeve_core::policy::{PreemptWithinTeam, ReclaimMode};
use reeve_core::priority::PriorityClass;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_core::reason::ReasonCode;
use reeve_core::scenario::{beginning, parse};
use reeve_core::schedule::check::{limits_exceeded, state_violations, violations};
use reeve_core::schedule::plan;
use reeve_core::schedule::plan::{DropReason, DroppedNomination, Plan, PoolMode, Start};
use reeve_core::schedule::snapshot::{Job, MaintenanceWindow, Nomination, Placement, Reservation, Snapshot};
use reeve_core::units::{Mib, MilliCpu, MilliGpu};

/// A running owner-to-be, borrowers, one that waits, an elastic service: everything has something to spoil.
const WORLD: &str = "name: a pool with a reclaim in it
policy: {min_runtime: 10m}
nodes:
  - {count: 2, gpus: 8, cpu: 64, memory_gib: 512, topology: {rack: r1}}
  - {name: spare, gpus: 8, state: cordoned, labels: {site: b}, topology: {rack: r2}}
pools: [{name: p}]
teams:
  a: {guaranteed: 8}
  b: {guaranteed: 4}
  c: {guaranteed: 4, lend_limit: 4}
jobs:
  b: {team: b, count: 3, gpus: 4, cpu: 4, memory_gib: 16, state: running}
  svc: {team: c, kind: inference, priority: high, min_replicas: 2, max_replicas: 4, gpus: 1, state: running}
  asks: {team: a, gpus: 8, cpu: 4}
";

fn world(text: &str) -> Snapshot {
    beginning(&parse(text).unwrap()[0]).unwrap()
}

fn base() -> (Snapshot, Plan) {
    let snapshot = world(WORLD);
    let plan = plan(&snapshot);
    (snapshot, plan)
}

/// A state in which the plan starts something.
fn starting() -> (Snapshot, Plan) {
    let snapshot = world(
        "name: starts
nodes: [{count: 2, gpus: 8, cpu: 64, memory_gib: 512}, {name: far, gpus: 8, labels: {site: b}}]
teams: {a: {guaranteed: 16, borrow_limit: 0}, b: {guaranteed: 8, lend_limit: 4}}
jobs:
  one: {team: a, gpus: 4, cpu: 8}
  two: {team: a, gpus: 2, priority: normal}
  gang: {team: b, gpus: 2, replicas: 2}
",
    );
    let plan = plan(&snapshot);
    (snapshot, plan)
}

fn job_id(snapshot: &Snapshot, name: &str) -> JobId {
    snapshot.jobs.iter().find(|job| job.name == name).unwrap().id
}

fn job<'a>(snapshot: &'a mut Snapshot, name: &str) -> &'a mut Job {
    snapshot.jobs.iter_mut().find(|job| job.name == name).unwrap()
}

fn team_id(snapshot: &Snapshot, slug: &str) -> TeamId {
    snapshot.teams.iter().find(|team| team.slug == slug).unwrap().id
}

type Spoil = fn(&mut Snapshot, &mut Plan);

fn check(world: fn() -> (Snapshot, Plan), cases: &[(&str, Spoil)]) {
    for (rule, spoil) in cases {
        let (mut snapshot, mut plan) = world();
        spoil(&mut snapshot, &mut plan);
        let found = violations(&snapshot, &plan);
        assert!(found.iter().any(|violation| violation.rule == *rule), "{rule} is not noticed: {found:?}");
    }
}

#[test]
fn the_unspoilt_plans_are_clean() {
    for (snapshot, plan) in [base(), starting()] {
        assert_eq!(violations(&snapshot, &plan), []);
        assert_eq!(state_violations(&snapshot), []);
        assert!(!plan.starts.is_empty() || !plan.reclaims.is_empty());
    }
    let (snapshot, plan) = base();
    assert_eq!(plan.reclaims.len(), 1, "{plan:#?}");
    assert!(plan.reclaims[0].evictions.len() >= 2, "{plan:#?}");
    drop(snapshot);
    let (_, plan) = starting();
    assert_eq!(plan.starts.len(), 3, "{plan:#?}");
}

#[test]
fn spoilt_states_are_noticed() {
    let cases: &[(&str, fn(&mut Snapshot))] = &[
        ("double_booked", |state| {
            let gpus = job(state, "b1").members[0].gpus.clone();
            job(state, "b2").members[0].gpus = gpus;
        }),
        ("double_booked", |state| job(state, "b1").shape.cpu = MilliCpu(65_000)),
        ("double_booked", |state| job(state, "b1").shape.memory = Mib(600 * 1_024)),
        ("not_what_was_asked", |state| {
            job(state, "b1").members[0].gpus.pop();
        }),
        ("not_what_was_asked", |state| {
            let twice = job(state, "b1").members[0].gpus[0];
            job(state, "b1").members[0].gpus[1] = twice;
        }),
        ("not_what_was_asked", |state| {
            let other = state.nodes.iter().find(|node| node.name == "spare").unwrap().id;
            job(state, "b1").members[0].node = other;
        }),
        ("not_what_was_asked", |state| job(state, "b1").members[0].gpus[0].milli = MilliGpu(500)),
        ("gang_not_whole", |state| job(state, "svc").min_replicas = 5),
        ("gang_too_large", |state| job(state, "svc").max_replicas = 3),
        ("member_twice", |state| job(state, "svc").members[1].index = 0),
        ("job_twice", |state| {
            let copy = job(state, "asks").clone();
            state.jobs.push(copy);
        }),
        ("gang_in_two_pools", |state| {
            let mut pool = state.pools[0].clone();
            pool.id = uuid::Uuid::from_u128(99).into();
            let node = job(state, "svc").members[1].node;
            let other = state.nodes.iter().find(|found| found.name == "spare").unwrap().id;
            assert_ne!(node, other);
            let gpu = state.nodes.iter().find(|found| found.id == other).unwrap().gpus[0].id;
            let member = &mut job(state, "svc").members[1];
            member.node = other;
            member.gpus[0].gpu = gpu;
            state.nodes.iter_mut().find(|found| found.id == other).unwrap().pool = pool.id;
            state.pools.push(pool);
        }),
        ("nomination_intruded", |state| nominate(state, "b1")),
        ("nominated_twice", |state| {
            nominate(state, "b1");
            nominate(state, "b2");
        }),
    ];
    for (rule, spoil) in cases {
        let (mut snapshot, _) = base();
        assert_eq!(state_violations(&snapshot), []);
        spoil(&mut snapshot);
        let found = state_violations(&snapshot);
        assert!(found.iter().any(|violation| violation.rule == *rule), "{rule} is not noticed: {found:?}");
    }
}

/// Promises the space of a job that stays to `asks`.
fn nominate(state: &mut Snapshot, over: &str) {
    let id = job_id(state, "asks");
    let member = job(state, over).members[0].clone();
    state.nominations.push(Nomination {
        job: id,
        reclaim: uuid::Uuid::from_u128(7).into(),
        members: vec![Placement { index: 0, node: member.node, gpus: member.gpus }],
        created_at: state.now,
        expires_at: state.now + TimeDelta::hours(1),
    });
}

#[test]
fn exceeded_limits_are_named() {
    let (mut snapshot, _) = base();
    assert_eq!(limits_exceeded(&snapshot), []);
    let b = team_id(&snapshot, "b");
    snapshot.quotas.iter_mut().filter(|quota| quota.team == b).for_each(|quota| {
        quota.borrow_limit = Some(MilliGpu::whole(7));
    });
    assert_eq!(limits_exceeded(&snapshot)[0].rule, "over_cap");
    let (mut snapshot, _) = base();
    for quota in &mut snapshot.quotas {
        quota.lend_limit = Some(MilliGpu::ZERO);
    }
    snapshot
        .nodes
        .iter_mut()
        .filter(|node| node.name == "spare")
        .for_each(|node| node.state = NodeState::Lost);
    assert_eq!(limits_exceeded(&snapshot)[0].rule, "over_lent");
}

#[test]
fn spoilt_starts_are_noticed() {
    check(
        starting,
        &[
            ("unknown_job", |_, plan| plan.starts[0].job = uuid::Uuid::from_u128(1).into()),
            ("unknown_gpu", |_, plan| plan.starts[0].members[0].node = uuid::Uuid::from_u128(1).into()),
            ("started_twice", |_, plan| plan.starts.push(plan.starts[0].clone())),
            ("start_of_wrong_state", |_, plan| plan.starts[0].grow = true),
            ("start_not_whole", |state, plan| {
                let gang = job_id(state, "gang");
                plan.starts.iter_mut().filter(|start| start.job == gang).for_each(|start| {
                    start.members.pop();
                });
            }),
            ("double_booked", |_, plan| {
                let gpus = plan.starts[0].members[0].gpus.clone();
                plan.starts[1].members[0].gpus = gpus;
            }),
            ("held_job_served", |state, plan| {
                let id = plan.starts[0].job;
                state.jobs.iter_mut().find(|job| job.id == id).unwrap().held = true;
            }),
            ("held_queue_served", |state, _| {
                state.queues.iter_mut().for_each(|queue| queue.state = QueueState::Held);
            }),
            ("wrong_node", |state, plan| {
                let node = plan.starts[0].members[0].node;
                state.nodes.iter_mut().find(|found| found.id == node).unwrap().state = NodeState::Cordoned;
            }),
            ("wrong_node", |state, _| {
                state.jobs.iter_mut().for_each(|job| {
                    job.labels.insert("site".into(), "nowhere".into());
                });
            }),
            ("wrong_node", |state, _| state.jobs.iter_mut().for_each(|job| job.rdma = true)),
            ("wrong_gpu", |state, _| {
                state.nodes.iter_mut().flat_map(|node| &mut node.gpus).for_each(|gpu| gpu.healthy = false);
            }),
            ("wrong_gpu", |state, _| {
                state.jobs.iter_mut().for_each(|job| job.gpu_model = Some("other".into()));
            }),
            ("topology_broken", |state, _| {
                state.jobs.iter_mut().for_each(|job| job.require_topology = Some("rack".into()));
            }),
            ("wrong_pool", |_, plan| plan.starts[0].pool = Some(uuid::Uuid::from_u128(1).into())),
            ("queue_limit_exceeded", |state, _| {
                state.queues.iter_mut().for_each(|queue| queue.max_running_jobs = Some(1));
            }),
            ("queue_limit_exceeded", |state, _| {
                state.queues.iter_mut().for_each(|queue| queue.max_running_jobs_per_user = Some(1));
            }),
            ("queue_limit_exceeded", |state, _| {
                state.queues.iter_mut().for_each(|queue| queue.max_running_gpus = Some(MilliGpu::whole(1)));
            }),
            ("over_cap", |state, _| {
                state.quotas.iter_mut().for_each(|quota| {
                    quota.guaranteed = MilliGpu::whole(3);
                    quota.borrow_limit = Some(MilliGpu::ZERO);
                });
            }),
            ("over_lent", |state, _| {
                state.quotas.iter_mut().for_each(|quota| {
                    quota.guaranteed = MilliGpu::whole(if quota.borrow_limit.is_some() { 0 } else { 24 });
                    quota.borrow_limit = None;
                    quota.lend_limit = Some(MilliGpu::ZERO);
                });
            }),
            ("never_evicted_on_loan", |state, _| {
                state.quotas.iter_mut().for_each(|quota| quota.guaranteed = MilliGpu::whole(2));
                state.jobs.iter_mut().for_each(|job| job.preemptible = false);
            }),
            ("head_overtaken", |state, plan| {
                state.queues.iter_mut().for_each(|queue| queue.order = QueueOrder::StrictFifo);
                wait_instead(state, plan, "two");
            }),
            ("twin_overtaken", |state, plan| {
                let shape = job(state, "one").shape;
                job(state, "two").shape = shape;
                let one = job_id(state, "one");
                let members = plan.starts.iter().find(|start| start.job == one).unwrap().members.clone();
                wait_instead(state, plan, "two");
                plan.starts.iter_mut().find(|start| start.job == one).unwrap().members = members;
            }),
        ],
    );
}

/// Takes a start out of the plan and gives a reason for waiting.
fn wait_instead(state: &Snapshot, plan: &mut Plan, name: &str) {
    let id = job_id(state, name);
    plan.starts.retain(|start| start.job != id);
    plan.waiting.push((id, explanation(ReasonCode::BehindOthers)));
}

fn why(plan: &mut Plan) -> &mut reeve_core::reason::Why {
    std::sync::Arc::make_mut(&mut plan.waiting[0].1.why)
}

fn explanation(code: ReasonCode) -> reeve_core::reason::Explanation {
    reeve_core::reason::Explanation {
        why: std::sync::Arc::new(reeve_core::reason::Why {
            main: reeve_core::reason::Obstacle {
                code,
                detail: None,
                numbers: std::collections::BTreeMap::new(),
            },
            others: Vec::new(),
            help: None,
        }),
        position: 1,
        expected_start: None,
    }
}

#[test]
fn spoilt_evictions_are_noticed() {
    check(
        base,
        &[
            ("evicted_twice", |_, plan| {
                let again = plan.reclaims[0].evictions[0].clone();
                plan.reclaims[0].evictions.push(again);
            }),
            ("no_such_member", |_, plan| plan.reclaims[0].evictions[0].members = vec![7]),
            ("leaving_already", |state, plan| {
                let id = plan.reclaims[0].evictions[0].job;
                let now = state.now;
                let victim = state.jobs.iter_mut().find(|job| job.id == id).unwrap();
                victim.members[0].leaving = Some(reeve_core::schedule::snapshot::Leaving {
                    leave_by: now,
                    cause: None,
                    evictor: None,
                });
            }),
            ("grace_cut_short", |_, plan| {
                plan.reclaims[0].evictions[0].leave_by -= TimeDelta::seconds(1);
            }),
            ("protected_victim", |state, _| {
                let now = state.now;
                for member in state.jobs.iter_mut().flat_map(|job| &mut job.members) {
                    member.started_at = now;
                }
            }),
            ("protected_victim", |state, plan| {
                let id =
                    plan.reclaims[0].evictions.iter().find(|eviction| !eviction.surplus_only).unwrap().job;
                state.jobs.iter_mut().find(|job| job.id == id).unwrap().preemptible = false;
            }),
            ("no_right_to_evict", |state, _| state.policy.reclaim = ReclaimMode::Off),
            ("no_right_to_evict", |state, _| {
                let a = team_id(state, "a");
                state.quotas.iter_mut().filter(|quota| quota.team == a).for_each(|quota| {
                    quota.guaranteed = MilliGpu::whole(7);
                });
            }),
            ("no_right_to_evict", |state, _| {
                let b = team_id(state, "b");
                state.quotas.iter_mut().filter(|quota| quota.team == b).for_each(|quota| {
                    quota.guaranteed = MilliGpu::whole(12);
                });
                // Enough GPUs, or the guarantees would be scaled down again.
                state.nodes.iter_mut().for_each(|node| node.state = NodeState::Ready);
            }),
            ("no_right_to_evict", |_, plan| {
                for eviction in &mut plan.reclaims[0].evictions {
                    eviction.cause = EvictionCause::Preemption;
                }
            }),
            ("no_right_to_evict", |state, plan| {
                state.policy.borrow_preemption_max_priority = None;
                for eviction in &mut plan.reclaims[0].evictions {
                    eviction.cause = EvictionCause::BorrowPreemption;
                }
            }),
            ("no_right_to_evict", |_, plan| {
                for eviction in &mut plan.reclaims[0].evictions {
                    eviction.cause = EvictionCause::Rebalance;
                }
            }),
            ("no_right_to_evict", |_, plan| {
                plan.reclaims[0].evictor = None;
                plan.reclaims[0].nomination.clear();
                plan.reclaims[0].evictions[0].cause = EvictionCause::Drain;
            }),
            ("no_right_to_evict", |_, plan| {
                plan.reclaims[0].evictor = None;
                plan.reclaims[0].nomination.clear();
                plan.reclaims[0].evictions[0].cause = EvictionCause::QuotaLowered;
            }),
            ("evictor_may_not_evict", |state, _| job(state, "asks").evict_others = false),
            ("nomination_not_whole", |_, plan| plan.reclaims[0].nomination.clear()),
            ("nomination_stillborn", |state, plan| plan.reclaims[0].expires_at = state.now),
            ("nomination_intruded", |_, plan| {
                plan.reclaims[0].evictions.remove(0);
            }),
            ("nomination_of_nobody", |_, plan| plan.reclaims[0].evictor = None),
            ("needless_victim", |_, plan| {
                // Everything is asked to leave, and the evictor stands where it was going to.
                let all = all_of_b(plan);
                plan.reclaims[0].evictions = all;
            }),
            ("false_record", |_, plan| plan.reclaims[0].evictions[0].record.rule.clear()),
            ("false_record", |_, plan| plan.reclaims[0].evictions[0].record.evictor = None),
            ("false_record", |_, plan| {
                plan.reclaims[0].evictions[0].record.victim_priority = PriorityClass::Critical.value();
            }),
            ("false_record", |_, plan| plan.reclaims[0].evictions[0].record.shares_after.clear()),
            ("dropped_nothing", |state, plan| {
                let job = job_id(state, "b1");
                plan.dropped.push(DroppedNomination { job, why: DropReason::TimedOut });
            }),
            ("surplus_below_minimum", |state, plan| {
                plan.reclaims[0].evictions[0].surplus_only = true;
                let id = plan.reclaims[0].evictions[0].job;
                let victim = state.jobs.iter_mut().find(|job| job.id == id).unwrap();
                victim.min_replicas = u32::try_from(victim.members.len()).unwrap();
            }),
            ("gang_torn", |_, plan| tear_a_gang(plan)),
        ],
    );
}

/// The plan's evictions and one of every other job it could have taken, by copying the first record.
fn all_of_b(plan: &Plan) -> Vec<reeve_core::schedule::plan::Eviction> {
    let (snapshot, _) = base();
    let mut evictions = plan.reclaims[0].evictions.clone();
    let template = evictions[0].clone();
    for job in snapshot.jobs.iter().filter(|job| !job.is_pending()) {
        if evictions.iter().all(|eviction| eviction.job != job.id) {
            let members = job.members.iter().map(|member| member.index).collect();
            evictions.push(reeve_core::schedule::plan::Eviction { job: job.id, members, ..template.clone() });
        }
    }
    evictions
}

/// Evicts one member of the service as if it were the whole.
fn tear_a_gang(plan: &mut Plan) {
    let (snapshot, _) = base();
    let mut eviction = plan.reclaims[0].evictions[0].clone();
    eviction.job = job_id(&snapshot, "svc");
    eviction.members = vec![0];
    eviction.surplus_only = false;
    plan.reclaims[0].evictions.push(eviction);
}

#[test]
fn base_inference_is_noticed_as_a_victim() {
    let (snapshot, mut plan) = base();
    let mut eviction = plan.reclaims[0].evictions[0].clone();
    eviction.job = job_id(&snapshot, "svc");
    eviction.members = vec![0, 1, 2, 3];
    eviction.surplus_only = false;
    plan.reclaims[0].evictions.push(eviction);
    let found = violations(&snapshot, &plan);
    assert!(found.iter().any(|violation| violation.rule == "protected_victim"), "{found:?}");
}

/// A promise made before counts as its team's use, also where its job starts in this very plan; where the plan puts
/// any other start first is its own choice.
#[test]
fn a_recall_beyond_the_guarantee_is_noticed_beside_a_kept_promise() {
    let mut snapshot = world(
        "name: promised
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 6}, {count: 1, gpus: 2}]
teams: {a: {guaranteed: 4}, b: {guaranteed: 4}}
jobs:
  b: {team: b, count: 2, gpus: 3, state: running, node: n1}
  promised: {team: a, gpus: 2, state: running, node: n2}
  asks: {team: a, gpus: 3}
",
    );
    let mut alone = snapshot.clone();
    alone.jobs.retain(|job| job.name != "promised");
    let mut spoilt = plan(&alone);
    assert_eq!(spoilt.reclaims.len(), 1);
    let member = job(&mut snapshot, "promised").members.remove(0);
    let place = Placement { index: 0, node: member.node, gpus: member.gpus };
    spoilt.starts.push(Start {
        job: job_id(&snapshot, "promised"),
        pool: Some(snapshot.pools[0].id),
        members: vec![place.clone()],
        grow: false,
    });
    let no_right = |snapshot: &Snapshot| {
        let found = violations(snapshot, &spoilt);
        found.iter().any(|violation| violation.rule == "no_right_to_evict")
    };
    assert!(!no_right(&snapshot));
    snapshot.nominations.push(Nomination {
        job: job_id(&snapshot, "promised"),
        reclaim: uuid::Uuid::from_u128(7).into(),
        members: vec![place],
        created_at: snapshot.now,
        expires_at: snapshot.now + TimeDelta::hours(1),
    });
    assert!(no_right(&snapshot));
}

#[test]
fn preemption_of_an_equal_is_noticed() {
    let snapshot = world(
        "name: own
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 2}]
teams: {a: {guaranteed: 2, borrow_limit: 0}}
jobs:
  lo: {team: a, gpus: 2, priority: low, state: running}
  hi: {team: a, gpus: 2, priority: high}
",
    );
    let plan = plan(&snapshot);
    assert_eq!(violations(&snapshot, &plan), []);
    let mut equal = snapshot.clone();
    job(&mut equal, "lo").priority = PriorityClass::High.value();
    let found = violations(&equal, &plan);
    assert!(found.iter().any(|violation| violation.rule == "no_right_to_evict"), "{found:?}");
    let mut off = snapshot;
    off.policy.preempt_within_team = PreemptWithinTeam::Off;
    let found = violations(&off, &plan);
    assert!(found.iter().any(|violation| violation.rule == "no_right_to_evict"), "{found:?}");
}

#[test]
fn an_expired_nomination_that_stays_is_noticed() {
    let (mut snapshot, plan) = base();
    nominate(&mut snapshot, "b1");
    snapshot.nominations[0].expires_at = snapshot.now;
    let mut kept = plan;
    kept.reclaims.clear();
    let found = violations(&snapshot, &kept);
    assert!(found.iter().any(|violation| violation.rule == "expired_nomination_kept"), "{found:?}");
}

#[test]
fn spoilt_answers_are_noticed() {
    check(
        base,
        &[
            ("no_reason", |_, plan| plan.waiting.clear()),
            ("two_reasons", |_, plan| plan.waiting.push(plan.waiting[0].clone())),
            ("reason_without_waiting", |state, plan| {
                plan.waiting.push((job_id(state, "b1"), explanation(ReasonCode::BehindOthers)));
            }),
            ("reasons_out_of_order", |_, plan| {
                why(plan).others.push(explanation(ReasonCode::Invalid).main.clone());
            }),
            ("false_reason", |_, plan| why(plan).main.code = ReasonCode::QueueHeld),
            ("loans_do_not_add_up", |_, plan| {
                plan.loans.pop();
            }),
            ("empty_loan", |_, plan| plan.loans[0].milli = MilliGpu::ZERO),
            ("lends_too_much", |state, plan| {
                let c = team_id(state, "c");
                plan.loans.iter_mut().for_each(|loan| loan.lender = Some(c));
            }),
            ("wrong_pool_mode", |state, plan| {
                plan.pool_modes.insert(state.pools[0].id, PoolMode::Overcommitted);
            }),
            ("due_in_the_past", |state, plan| plan.next_due = Some(state.now)),
        ],
    );
}

#[test]
fn a_start_that_runs_into_maintenance_or_a_reservation_is_noticed() {
    let window = |snapshot: &mut Snapshot, starts_at, ends_at| {
        let nodes = snapshot.nodes.iter().map(|node| node.id).collect();
        let id = MaintenanceWindowId(uuid::Uuid::from_u128(1));
        snapshot.maintenance_windows.push(MaintenanceWindow { id, nodes, starts_at, ends_at });
    };
    let (plain, made) = starting();
    let later = |hours: i64| plain.now + TimeDelta::hours(hours);
    for (hours, noticed) in [(1, true), (23, true), (25, false)] {
        let mut snapshot = plain.clone();
        window(&mut snapshot, later(hours), later(hours + 1));
        let found = violations(&snapshot, &made);
        let into = found.iter().any(|violation| violation.rule == "runs_into_maintenance");
        assert_eq!(into, noticed, "{hours} h ahead: {found:?}");
    }
    for (gpus, noticed) in [(24, true), (8, false)] {
        let mut snapshot = plain.clone();
        snapshot.reservations.push(Reservation {
            id: ReservationId(uuid::Uuid::from_u128(1)),
            pool: snapshot.pools[0].id,
            team: team_id(&snapshot, "a"),
            gpus,
            starts_at: later(1),
            ends_at: later(2),
        });
        let found = violations(&snapshot, &made);
        let intruded = found.iter().any(|violation| violation.rule == "reservation_intruded");
        assert_eq!(intruded, noticed, "{gpus} GPUs: {found:?}");
    }
}
