//! Everything at once, for a while: submissions, two schedulers, agents, cancels and lost nodes, with the checker after
//! every round. What a round does is drawn from its seed; in which order the database gets it is not.

use crate::base::{Base, context, now, secs};
use crate::world::{LEASE_SECS, World, submit, tick_unjudged};
use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use reeve_core::id::{JobId, NodeId};
use reeve_core::job::{CheckpointMode, MemberState};
use reeve_core::priority::PriorityClass;
use reeve_store::jobs::act::{LeaveOrder, cancel_queued, leave, lock};
use reeve_store::jobs::show::get_in;
use reeve_store::nodes::desired;
use reeve_store::report::lost::reap;
use reeve_store::report::receive::{MemberEnd, MemberReport, NodeReport, receive};
use reeve_store::schedule::tick::TickSession;
use reeve_store::submit::NewJob;
use reeve_store::{Store, StoreError};
use std::collections::BTreeMap;
use uuid::Uuid;

const ROUNDS: i64 = 40;

/// A small generator of numbers: the same seed, the same storm.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A faithful agent with processes that do as they like.
struct Agent {
    node: NodeId,
    sequence: i64,
    silent_rounds: u32,
    processes: BTreeMap<(Uuid, i32, i32), Process>,
}

#[derive(Clone)]
struct Process {
    leaving: bool,
    end: Option<MemberEnd>,
}

impl Agent {
    /// Looks at what is wanted, acts, and reports everything that it has.
    async fn act(&mut self, store: &Store, at: DateTime<Utc>, mut dice: Dice, calm: bool) {
        if self.silent_rounds > 0 {
            self.silent_rounds -= 1;
            return;
        }
        let generation = desired::generation(store, self.node).await.expect("a node");
        let wanted = desired::members(store, self.node).await.expect("reads");
        let wanted: BTreeMap<_, _> = wanted
            .into_iter()
            .map(|row| ((row.job_id, row.run_number, row.member), row.stop_order.is_some()))
            .collect();
        for (key, stopping) in &wanted {
            if !stopping {
                self.processes.entry(*key).or_insert(Process { leaving: false, end: None });
            }
        }
        for (key, process) in &mut self.processes {
            let told = wanted.get(key).is_none_or(|stopping| *stopping);
            process.go_on(told, at, &mut dice, calm);
        }
        self.sequence += 1;
        let report = NodeReport {
            node: self.node,
            instance: self.node.0,
            sequence: self.sequence,
            generation,
            lease: secs(LEASE_SECS),
            clock_skew_ms: 0,
            members: self.processes.iter().map(|(key, process)| process.report(*key, at)).collect(),
        };
        match receive(store, context(at), &report).await {
            Ok(received) => {
                for key in received.settled {
                    self.processes.remove(&key);
                }
            }
            Err(error) => assert!(error.is_transient(), "{error:?}"),
        }
    }
}

impl Process {
    /// One told to go says first that it is leaving, and has gone a round later, or never says a word.
    fn go_on(&mut self, told: bool, at: DateTime<Utc>, dice: &mut Dice, calm: bool) {
        if self.end.is_some() {
            return;
        }
        if told && (self.leaving || dice.one_in(3)) {
            self.end = Some(end(at, 0, true));
        } else if calm || dice.one_in(6) {
            self.end = Some(end(at, i32::from(!calm && dice.one_in(3)), told));
        }
        self.leaving = told;
    }

    fn report(&self, (job_id, run_number, member): (Uuid, i32, i32), at: DateTime<Utc>) -> MemberReport {
        let state = match (&self.end, self.leaving) {
            (Some(_), _) => MemberState::Ended,
            (None, true) => MemberState::Leaving,
            (None, false) => MemberState::Running,
        };
        MemberReport {
            job_id,
            run_number,
            member,
            state,
            pid: Some(1),
            started_at: Some(at),
            checkpointed_at: self.leaving.then_some(at),
            log_bytes: None,
            end: self.end.clone(),
        }
    }
}

fn end(at: DateTime<Utc>, exit_code: i32, asked: bool) -> MemberEnd {
    MemberEnd {
        at,
        exit_code: Some(exit_code),
        signal: None,
        start_error: None,
        lease_lost: false,
        vanished: false,
        asked,
        timed_out: false,
    }
}

fn any_job(world: &World, dice: &mut Dice, at: DateTime<Utc>) -> NewJob {
    let team = usize::try_from(dice.below(3)).expect("small");
    let class = PriorityClass::ALL[usize::try_from(dice.below(4)).expect("small")];
    let fresh = NewJob {
        id: JobId::mint(at),
        submitted_at: at,
        priority_class: class,
        max_failures: dice.below(3),
        requeue: !dice.one_in(5),
        checkpoint: CheckpointMode::ALL[usize::try_from(dice.below(3)).expect("small")],
        ..world.job(team, 1 + dice.below(4))
    };
    match dice.below(5) {
        0 => NewJob { min_replicas: 2, max_replicas: 2, gpus: 1 + dice.below(3), ..fresh },
        1 => NewJob { max_replicas: 3, gpus: 1, ..fresh },
        2 => NewJob { gpus: 1, gpu_milli: Some(500), gpu_memory_mib: Some(30_000), ..fresh },
        3 => NewJob { gpus: 0, ..fresh },
        _ => fresh,
    }
}

/// As the API does it: whatever state the job is in by then.
async fn cancel(store: &Store, job: Option<Uuid>, at: DateTime<Utc>) -> Result<(), StoreError> {
    let Some(job) = job else { return Ok(()) };
    let mut tx = store.begin(context(at)).await?;
    lock(&mut tx, job.into()).await?;
    let row = get_in(&mut tx, job.into()).await?;
    match row.state.as_str() {
        "queued" => cancel_queued(&mut tx, &row, None).await?,
        "starting" | "running" | "leaving" => {
            let order = LeaveOrder {
                cause: "cancelled",
                stop_order: "leave",
                leave_by: at + secs(60),
                action: "job.cancelling",
                why: None,
            };
            leave(&mut tx, &row, &order).await?;
        }
        _ => return tx.rollback().await,
    }
    tx.commit().await
}

/// A node falls silent, and its lease is made to be over.
async fn cut_off(base: &mut Base, agent: &mut Agent, at: DateTime<Utc>, rounds: u32) {
    agent.silent_rounds = rounds;
    base.run(&format!(
        "update node_leases set lease_until = '{}' where node_id = '{}'",
        at - secs(60),
        agent.node
    ))
    .await;
}

/// Two servers' schedulers, each with what it keeps of the world from one tick to the next.
type Schedulers = [TickSession; 2];

async fn round(
    base: &mut Base,
    others: &Store,
    [ours, theirs]: &mut Schedulers,
    agents: &mut [Agent],
    at: DateTime<Utc>,
    dice: &mut Dice,
    calm: bool,
) {
    let live = "select id from jobs where state not in ('succeeded', 'failed', 'cancelled') order by random() limit 1";
    let victim = base.ask(live).await.parse().ok().filter(|_| !calm && dice.one_in(3));
    let store = base.store.clone();
    let acting = agents.iter_mut().map(|agent| {
        let seed = Dice(u64::from(dice.below(u32::MAX)));
        agent.act(&store, at, seed, calm)
    });
    let acting: Vec<_> = acting.collect();
    let (margin, reaper) = (TimeDelta::seconds(30), context(at));
    let (_, _, _, cancelled, reaped) = tokio::join!(
        join_all(acting),
        tick_unjudged(ours, at),
        tick_unjudged(theirs, at),
        cancel(others, victim, at),
        reap(others, &reaper, margin)
    );
    for error in [cancelled.err(), reaped.err()].into_iter().flatten() {
        assert!(error.is_transient(), "{error:?}");
    }
}

async fn storm(seed: u64) -> String {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[4, 4, 4, 4], &[8, 8, 0]).await;
    let others = base.another_store().await;
    let mut schedulers = [
        TickSession::open(&base.store).await.expect("opens"),
        TickSession::open(&others).await.expect("opens"),
    ];
    let mut dice = Dice(seed);
    let mut agents: Vec<Agent> = world
        .agents
        .iter()
        .map(|agent| Agent { node: agent.node, sequence: 0, silent_rounds: 0, processes: BTreeMap::new() })
        .collect();
    let mut at = now();
    for nth in 0..ROUNDS {
        at += secs(i64::from(10 + dice.below(600)));
        let jobs: Vec<NewJob> = (0..dice.below(4)).map(|_| any_job(&world, &mut dice, at)).collect();
        if !jobs.is_empty() {
            submit(&base, &jobs).await;
        }
        if dice.one_in(8) {
            let (which, rounds) = (usize::try_from(dice.below(4)).expect("small"), 1 + dice.below(4));
            cut_off(&mut base, &mut agents[which], at, rounds).await;
        }
        round(&mut base, &others, &mut schedulers, &mut agents, at, &mut dice, false).await;
        assert_eq!(base.found().await, Vec::<String>::new(), "seed {seed}, round {nth}");
    }
    calm_down(&mut base, &others, &mut schedulers, &mut agents, at, &mut dice).await;
    assert_eq!(everything_ended(&mut base).await, "0 0 0 16000 1280000", "seed {seed}");
    let seen = base.ask("select distinct action from events").await;
    for scheduler in schedulers {
        scheduler.close().await;
    }
    others.close().await;
    base.end().await;
    seen
}

/// The storm is over: everything ends, and everything is given back.
async fn calm_down(
    base: &mut Base,
    others: &Store,
    schedulers: &mut Schedulers,
    agents: &mut [Agent],
    mut at: DateTime<Utc>,
    dice: &mut Dice,
) {
    for _ in 0..400 {
        if everything_ended(base).await.starts_with("0 ") {
            break;
        }
        at += secs(60);
        round(base, others, schedulers, agents, at, dice, true).await;
    }
    base.sound().await;
}

/// Live jobs, live runs, evictions under way, free GPUs.
async fn everything_ended(base: &mut Base) -> String {
    base.ask(
        "select (select count(*) from jobs where state not in ('succeeded', 'failed', 'cancelled')) as jobs,
                (select count(*) from runs where ended_at is null) as runs,
                (select count(*) from evictions where outcome = 'leaving') as evictions,
                sum(free_milli) as milli, sum(free_memory_mib) as memory from gpus",
    )
    .await
}

/// A storm without these is none.
const SEEN: [&str; 9] = [
    "job.placed",
    "job.evicted",
    "job.requeued",
    "job.succeeded",
    "job.failed",
    "job.cancelled",
    "job.stopping",
    "node.lost",
    "node.returned",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_storm_leaves_nothing_wrong() {
    let mut seen = String::new();
    for seed in 1..=3 {
        seen.push_str(&storm(seed).await);
    }
    for action in SEEN {
        assert!(seen.contains(action), "{action} never happened: {seen}");
    }
}
