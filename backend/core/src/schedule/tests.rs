//! Whole plans on small stories. The scenario files hold the many; these need no file.

use super::plan;
use super::plan::{Plan, Start};
use super::snapshot::*;
use crate::id::*;
use crate::job::{CheckpointMode, GpuAsk, Shape};
use crate::kind::Kind;
use crate::node::NodeState;
use crate::policy::Policy;
use crate::priority::Priority;
use crate::queue::{QueueOrder, QueueState};
use crate::reason::ReasonCode;
use crate::units::{Mib, MilliCpu, MilliGpu};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;
use uuid::Uuid;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).unwrap()
}

/// Everybody may be asked to leave at once, within a minute.
fn policy() -> Policy {
    let mut policy = Policy::default();
    for rules in policy.kinds.values_mut() {
        rules.min_runtime_secs = 0;
        rules.grace_secs = 60;
    }
    policy
}

/// One pool of nodes with 8 GPUs; teams 1, 2, … with these guarantees.
fn cluster(nodes: u128, guarantees: &[u32]) -> Snapshot {
    let teams: Vec<u128> = (1..=guarantees.len() as u128).collect();
    Snapshot {
        now: now(),
        policy: policy(),
        pools: vec![Pool { id: PoolId(id(1)), slug: "p".into() }],
        nodes: (1..=nodes)
            .map(|n| Node {
                id: NodeId(id(n)),
                name: format!("n{n}"),
                pool: PoolId(id(1)),
                state: NodeState::Ready,
                cpu: MilliCpu(64_000),
                memory: Mib(512_000),
                gpus: (0..8)
                    .map(|index| Gpu {
                        id: GpuId(id(n * 100 + u128::from(index))),
                        index,
                        model: "A100".into(),
                        memory: Mib(81_920),
                        healthy: true,
                    })
                    .collect(),
                labels: BTreeMap::new(),
                topology: BTreeMap::new(),
                nvlink: vec![],
                rdma: false,
                datasets: vec![],
            })
            .collect(),
        teams: teams
            .iter()
            .map(|&t| Team { id: TeamId(id(t)), slug: format!("t{t}"), parent: None })
            .collect(),
        quotas: teams
            .iter()
            .zip(guarantees)
            .map(|(&t, &g)| Quota {
                team: TeamId(id(t)),
                pool: PoolId(id(1)),
                guaranteed: MilliGpu::whole(g),
                borrow_limit: None,
                lend_limit: None,
                weight: 1,
                drain: false,
            })
            .collect(),
        queues: teams
            .iter()
            .map(|&t| Queue {
                id: QueueId(id(t)),
                slug: format!("q{t}"),
                team: TeamId(id(t)),
                order: QueueOrder::FifoWithBackfill,
                state: QueueState::Open,
                max_running_jobs: None,
                max_running_jobs_per_user: None,
                max_running_gpus: None,
            })
            .collect(),
        jobs: vec![],
        nominations: vec![],
        rebalance_evictions_last_hour: vec![],
        consolidation_moves_last_hour: vec![],
        reservations: Vec::new(),
        maintenance_windows: Vec::new(),
    }
}

fn submit(snapshot: &mut Snapshot, team: u128, gpus: u32, change: impl FnOnce(&mut Job)) -> JobId {
    let n = snapshot.jobs.len() as u128 + 1;
    let mut job = Job {
        id: JobId(id(n)),
        name: format!("j{n}"),
        team: TeamId(id(team)),
        queue: QueueId(id(team)),
        user: UserId(id(1)),
        kind: Kind::Batch,
        priority: Priority(300),
        team_priority: None,
        submitted_at: now() - TimeDelta::seconds(10_000 - i64::try_from(n).unwrap()),
        shape: Shape { gpus: GpuAsk::Whole { gpus }, cpu: MilliCpu(0), memory: Mib(0) },
        min_replicas: 1,
        max_replicas: 1,
        pools: vec![],
        gpu_model: None,
        labels: BTreeMap::new(),
        require_topology: None,
        prefer_topology: None,
        nvlink: crate::job::NvLink::Preferred,
        rdma: false,
        time_limit_secs: None,
        preemptible: true,
        idle: false,
        never_evict: false,
        evict_others: true,
        requeue: true,
        checkpoint: CheckpointMode::None,
        last_checkpoint_at: None,
        run_number: 0,
        evictions_in_last_day: 0,
        held: false,
        members: vec![],
    };
    change(&mut job);
    let id = job.id;
    snapshot.jobs.push(job);
    id
}

/// What the store and the agents do with a plan.
fn apply(snapshot: &mut Snapshot, plan: &Plan) {
    snapshot.nominations.retain(|n| !plan.dropped.iter().any(|d| d.job == n.job));
    for reclaim in &plan.reclaims {
        for eviction in &reclaim.evictions {
            let job = snapshot.jobs.iter_mut().find(|job| job.id == eviction.job).unwrap();
            for member in job.members.iter_mut().filter(|m| eviction.members.contains(&m.index)) {
                member.leaving = Some(Leaving {
                    leave_by: eviction.leave_by,
                    cause: Some(eviction.cause),
                    evictor: reclaim.evictor,
                });
            }
        }
        if let Some(job) = reclaim.evictor {
            snapshot.nominations.push(Nomination {
                job,
                reclaim: ReclaimId(id(1)),
                members: reclaim.nomination.clone(),
                created_at: snapshot.now,
                expires_at: reclaim.expires_at,
            });
        }
    }
    for Start { job, members, .. } in &plan.starts {
        snapshot.nominations.retain(|n| n.job != *job);
        let started_at = snapshot.now;
        let job = snapshot.jobs.iter_mut().find(|other| other.id == *job).unwrap();
        job.members.extend(members.iter().map(|p| Member {
            index: p.index,
            node: p.node,
            gpus: p.gpus.clone(),
            started_at,
            leaving: None,
        }));
    }
}

fn step(snapshot: &mut Snapshot) -> Plan {
    let first = plan(snapshot);
    apply(snapshot, &first);
    let again = plan(snapshot);
    assert_eq!(
        (again.starts.len(), again.reclaims.len(), again.dropped.len()),
        (0, 0, 0),
        "plan again is empty: {again:#?}"
    );
    first
}

fn vacate(snapshot: &mut Snapshot) {
    for job in &mut snapshot.jobs {
        job.members.retain(|member| member.leaving.is_none());
    }
}

fn reason(plan: &Plan, job: JobId) -> ReasonCode {
    plan.waiting
        .iter()
        .find(|(id, _)| *id == job)
        .unwrap_or_else(|| panic!("no reason for {job}"))
        .1
        .main
        .code
}

#[test]
fn the_owner_gets_its_loan_back_and_the_victims_wait() {
    let mut s = cluster(1, &[4, 4]);
    for _ in 0..8 {
        submit(&mut s, 2, 1, |_| {});
    }
    let first = step(&mut s);
    assert_eq!(first.starts.len(), 8);
    assert_eq!(first.loans.len(), 1);
    assert_eq!(first.loans[0].milli, MilliGpu(4_000));
    let owner = submit(&mut s, 1, 4, |_| {});
    let asked = step(&mut s);
    assert_eq!(asked.reclaims.len(), 1);
    assert_eq!(asked.reclaims[0].evictions.len(), 4);
    assert_eq!(asked.reclaims[0].nomination.len(), 1);
    assert_eq!(reason(&asked, owner), ReasonCode::WaitingForEvictions);
    // One leaves early: nobody slips in.
    let left = s.jobs.iter_mut().find(|job| job.members.iter().any(|m| m.leaving.is_some())).unwrap();
    left.members.clear();
    let between = step(&mut s);
    assert!(between.starts.is_empty(), "{between:#?}");
    vacate(&mut s);
    let done = step(&mut s);
    assert_eq!(done.starts.len(), 1);
    assert_eq!(done.starts[0].job, owner);
    assert!(done.loans.is_empty());
    assert_eq!(done.waiting.len(), 4);
    assert_eq!(done.waiting[0].1.main.code, ReasonCode::NoQuota);
}

#[test]
fn a_higher_class_takes_its_own_teams_place_in_one_plan() {
    let mut s = cluster(1, &[4]);
    submit(&mut s, 1, 4, |job| job.priority = Priority(100));
    let high = submit(&mut s, 1, 8, |job| job.priority = Priority(700));
    let first = step(&mut s);
    assert_eq!(first.starts.iter().map(|start| start.job).collect::<Vec<_>>(), [high]);
    assert!(first.reclaims.is_empty());
}

#[test]
fn a_gang_starts_whole_or_not_at_all() {
    let mut s = cluster(2, &[16]);
    let gang = submit(&mut s, 1, 8, |job| (job.min_replicas, job.max_replicas) = (3, 3));
    let small = submit(&mut s, 1, 8, |_| {});
    let first = step(&mut s);
    assert_eq!(first.starts.iter().map(|start| start.job).collect::<Vec<_>>(), [small]);
    assert_eq!(reason(&first, gang), ReasonCode::NeverFits);
}

#[test]
fn shares_fill_a_card_before_they_break_another() {
    let mut s = cluster(1, &[8]);
    for _ in 0..4 {
        submit(&mut s, 1, 0, |job| {
            job.shape.gpus = GpuAsk::Share { devices: 1, milli: MilliGpu(500), memory: Mib(40_960) };
        });
    }
    let whole = submit(&mut s, 1, 6, |_| {});
    let first = step(&mut s);
    assert_eq!(first.starts.len(), 5);
    let start = first.starts.iter().find(|start| start.job == whole).unwrap();
    assert_eq!(start.members[0].gpus.len(), 6);
}

#[test]
fn memory_bounds_shares_as_milli_does() {
    let mut s = cluster(1, &[8]);
    s.nodes[0].gpus.truncate(1);
    for _ in 0..3 {
        submit(&mut s, 1, 0, |job| {
            job.shape.gpus = GpuAsk::Share { devices: 1, milli: MilliGpu(100), memory: Mib(30_000) };
        });
    }
    let first = step(&mut s);
    assert_eq!(first.starts.len(), 2);
    assert_eq!(first.waiting.len(), 1);
}

#[test]
fn whole_gpus_stay_in_one_nvlink_domain() {
    let mut s = cluster(1, &[8]);
    s.nodes[0].nvlink = vec![vec![0, 2, 4, 6], vec![1, 3, 5, 7]];
    submit(&mut s, 1, 1, |_| {});
    submit(&mut s, 1, 4, |_| {});
    let first = step(&mut s);
    let four = &first.starts.iter().find(|start| start.members[0].gpus.len() == 4).unwrap().members[0];
    let indices: Vec<u128> = four.gpus.iter().map(|slice| slice.gpu.0.as_u128() - 100).collect();
    assert_eq!(indices, [1, 3, 5, 7], "the other domain is already cut");
}

#[test]
fn the_base_of_inference_is_no_victim_and_its_surplus_goes_first() {
    let mut s = cluster(1, &[4, 4]);
    let service = submit(&mut s, 2, 1, |job| {
        job.kind = Kind::Inference;
        (job.min_replicas, job.max_replicas) = (2, 8);
    });
    let grown = step(&mut s);
    assert_eq!(grown.starts[0].members.len(), 8, "nothing pending needs the space");
    let owner = submit(&mut s, 1, 4, |_| {});
    let asked = step(&mut s);
    let eviction = &asked.reclaims[0].evictions[0];
    assert_eq!((eviction.job, eviction.surplus_only, eviction.members.len()), (service, true, 4));
    assert!(eviction.members.iter().all(|&member| member >= 2));
    vacate(&mut s);
    assert_eq!(step(&mut s).starts[0].job, owner);
}

#[test]
fn a_minimum_run_time_is_waited_for() {
    let mut s = cluster(1, &[4, 4]);
    submit(&mut s, 2, 8, |_| {});
    step(&mut s);
    for rules in s.policy.kinds.values_mut() {
        rules.min_runtime_secs = 600;
    }
    let owner = submit(&mut s, 1, 4, |_| {});
    let early = step(&mut s);
    assert!(early.reclaims.is_empty());
    assert_eq!(reason(&early, owner), ReasonCode::WaitingForEvictions);
    assert_eq!(early.next_due, Some(now() + TimeDelta::seconds(600)));
    s.now += TimeDelta::seconds(600);
    assert_eq!(step(&mut s).reclaims[0].evictions.len(), 1);
}

#[test]
fn the_least_work_is_lost() {
    let mut s = cluster(1, &[4, 4]);
    let mut jobs = Vec::new();
    for minutes in [50, 1] {
        jobs.push(submit(&mut s, 2, 4, |job| {
            job.checkpoint = CheckpointMode::Periodic;
            job.last_checkpoint_at = Some(now() + TimeDelta::minutes(60 - minutes));
        }));
    }
    step(&mut s);
    s.now += TimeDelta::minutes(60);
    submit(&mut s, 1, 4, |_| {});
    let asked = step(&mut s);
    let evictions = &asked.reclaims[0].evictions;
    assert_eq!(evictions.iter().map(|eviction| eviction.job).collect::<Vec<_>>(), [jobs[1]]);
    assert_eq!(evictions[0].record.lost_gpu_secs, 4 * 60);
    assert_eq!(evictions[0].record.runner_up.as_ref().unwrap().decided_by, "lost_work");
}

#[test]
fn a_draining_node_empties_one_gang_at_a_time() {
    let mut s = cluster(2, &[16]);
    for _ in 0..2 {
        submit(&mut s, 1, 4, |_| {});
    }
    step(&mut s);
    s.nodes[0].state = NodeState::Draining;
    for _ in 0..2 {
        let asked = step(&mut s);
        assert_eq!(asked.reclaims.len(), 1);
        assert_eq!(asked.reclaims[0].evictor, None);
        vacate(&mut s);
    }
    let last = step(&mut s);
    assert!(last.reclaims.is_empty());
    assert!(s.jobs.iter().all(|job| job.members.iter().all(|member| member.node == NodeId(id(2)))));
}

#[test]
fn the_same_input_gives_the_same_plan() {
    let mut s = cluster(3, &[8, 8, 0]);
    for team in [3, 1, 2, 3, 1, 3, 2, 3, 3] {
        submit(&mut s, team, 4, |_| {});
    }
    let mut shuffled = s.clone();
    shuffled.jobs.reverse();
    shuffled.teams.reverse();
    shuffled.nodes.reverse();
    assert_eq!(plan(&s), plan(&shuffled));
}
