//! A small cluster with teams, agents that say what a test makes them say, and jobs.

use crate::base::{Base, context, now, secs};
use chrono::{DateTime, Utc};
use reeve_core::id::{JobId, NodeId, PoolId, QueueId, TeamId, UserId};
use reeve_core::job::{CheckpointMode, MemberState};
use reeve_core::kind::Kind;
use reeve_core::priority::PriorityClass;
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::Snapshot;
use reeve_core::schedule::{check, plan};
use reeve_store::report::receive::{MemberEnd, MemberReport, NodeReport, Received, receive};
use reeve_store::schedule::apply::Applied;
use reeve_store::schedule::explanations::Freshness;
use reeve_store::schedule::tick::{Outcome, TickSession};
use reeve_store::submit::{NewJob, insert_batch};
use reeve_store::{Store, StoreError};
use uuid::Uuid;

/// Seconds that a report keeps a node.
pub(crate) const LEASE_SECS: i64 = 3_600;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Team {
    pub(crate) id: TeamId,
    pub(crate) queue: QueueId,
    pub(crate) user: UserId,
}

/// One pool's nodes, and teams with a guarantee each.
pub(crate) struct World {
    pub(crate) teams: Vec<Team>,
    pub(crate) agents: Vec<Agent>,
}

impl World {
    /// `gpus[i]` GPUs on node i; `guaranteed[i]` GPUs for team i.
    pub(crate) async fn new(base: &mut Base, gpus: &[u32], guaranteed: &[u32]) -> Self {
        let pool = PoolId::mint(now());
        base.run(&format!(
            "insert into pools (id, slug, name, created_at, updated_at) values ('{pool}', 'p', 'p', now(), now())"
        ))
        .await;
        let mut teams = Vec::new();
        for (at, gpus) in guaranteed.iter().enumerate() {
            teams.push(add_team(base, pool, at, *gpus).await);
        }
        let mut agents = Vec::new();
        for (at, gpus) in gpus.iter().enumerate() {
            agents.push(add_node(base, pool, at, *gpus).await);
        }
        Self { teams, agents }
    }

    pub(crate) fn job(&self, team: usize, gpus: u32) -> NewJob {
        let Team { id, queue, user } = self.teams[team];
        NewJob {
            id: JobId::mint(now()),
            team_id: id,
            queue_id: queue,
            user_id: user,
            name: "j".to_owned(),
            kind: Kind::Batch,
            priority_class: PriorityClass::Low,
            held: false,
            gpus,
            gpu_milli: None,
            gpu_memory_mib: None,
            cpu_milli: 100,
            memory_mib: 100,
            min_replicas: 1,
            max_replicas: 1,
            pool_ids: Vec::new(),
            gpu_model: None,
            node_labels: std::collections::BTreeMap::default(),
            require_topology: None,
            prefer_topology: None,
            nvlink: reeve_core::job::NvLink::Preferred,
            rdma: false,
            time_limit_secs: None,
            preemptible: true,
            evict_others: true,
            requeue: true,
            checkpoint: CheckpointMode::OnSignal,
            checkpoint_signal: "USR1".to_owned(),
            max_failures: 0,
            command: vec!["true".to_owned()],
            env: std::collections::BTreeMap::default(),
            working_dir: None,
            labels: std::collections::BTreeMap::default(),
            depends_on: Vec::new(),
            submitted_at: now(),
        }
    }

    /// A gang of `replicas` members with `gpus` each.
    pub(crate) fn gang(&self, team: usize, replicas: u32, gpus: u32) -> NewJob {
        NewJob { min_replicas: replicas, max_replicas: replicas, ..self.job(team, gpus) }
    }
}

async fn add_team(base: &mut Base, pool: PoolId, at: usize, guaranteed: u32) -> Team {
    let team = Team { id: TeamId::mint(now()), queue: QueueId::mint(now()), user: UserId::mint(now()) };
    base.run(&format!(
        "insert into teams (id, slug, name, created_at, updated_at) values ('{0}', 't{at}', 't', now(), now());
         insert into queues (id, team_id, slug, name, created_at, updated_at)
         values ('{1}', '{0}', 'q{at}', 'q', now(), now());
         insert into users (id, username, display_name, created_at, updated_at)
         values ('{2}', 'u{at}', 'u', now(), now());
         insert into quotas (team_id, pool_id, guaranteed_gpus, updated_at)
         values ('{0}', '{pool}', {guaranteed}, now())",
        team.id, team.queue, team.user
    ))
    .await;
    team
}

async fn add_node(base: &mut Base, pool: PoolId, at: usize, gpus: u32) -> Agent {
    let node = NodeId::mint(now());
    base.run(&format!(
        "insert into nodes (id, pool_id, name, state, cpu_milli, memory_mib, free_cpu_milli, free_memory_mib,
                            agent_version, created_at, updated_at)
         values ('{node}', '{pool}', 'n{at}', 'ready', 64000, 64000, 64000, 64000, '0', now(), now());
         insert into node_generations (node_id) values ('{node}');
         insert into node_leases (node_id, instance_id, last_seen_at, lease_until)
         values ('{node}', '{node}', '{0}', '{1}');
         insert into gpus (id, node_id, index, uuid, model, memory_mib, free_milli, free_memory_mib, health)
         select gen_random_uuid(), '{node}', i, 'GPU-{at}-' || i, 'A100', 80000, 1000, 80000, 'healthy'
         from generate_series(0, {gpus} - 1) i",
        now(),
        now() + secs(LEASE_SECS)
    ))
    .await;
    Agent { node, sequence: 0 }
}

/// A node's agent, whose every word is a test's.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) node: NodeId,
    pub(crate) sequence: i64,
}

impl Agent {
    /// A report of an agent that has acted on everything wanted so far.
    pub(crate) async fn report(
        &mut self,
        base: &Base,
        at: DateTime<Utc>,
        members: Vec<MemberReport>,
    ) -> Result<Received, StoreError> {
        self.sequence += 1;
        let generation =
            reeve_store::nodes::desired::generation(&base.store, self.node).await.expect("a node");
        self.send(base, at, self.sequence, generation, members).await
    }

    pub(crate) async fn send(
        &self,
        base: &Base,
        at: DateTime<Utc>,
        sequence: i64,
        generation: i64,
        members: Vec<MemberReport>,
    ) -> Result<Received, StoreError> {
        let report = NodeReport {
            node: self.node,
            instance: self.node.0,
            sequence,
            generation,
            lease: secs(LEASE_SECS),
            clock_skew_ms: 0,
            members,
        };
        receive(&base.store, context(at), &report).await
    }

    /// Everything wanted here is reported as `said` makes of it.
    pub(crate) async fn all(
        &mut self,
        base: &Base,
        at: DateTime<Utc>,
        said: fn(MemberReport) -> MemberReport,
    ) -> Received {
        let members = self.wanted(base).await.into_iter().map(said).collect();
        self.report(base, at, members).await.expect("received")
    }

    /// Everything wanted here, as running.
    pub(crate) async fn wanted(&self, base: &Base) -> Vec<MemberReport> {
        let rows = reeve_store::nodes::desired::members(&base.store, self.node).await.expect("reads");
        rows.into_iter().map(|row| member(row.job_id, row.run_number, row.member)).collect()
    }
}

/// A member that runs.
pub(crate) fn member(job_id: Uuid, run_number: i32, member: i32) -> MemberReport {
    MemberReport {
        job_id,
        run_number,
        member,
        state: MemberState::Running,
        pid: Some(4_711),
        started_at: Some(now()),
        checkpointed_at: None,
        log_bytes: None,
        end: None,
    }
}

pub(crate) fn running(member: MemberReport) -> MemberReport {
    member
}

fn ended(member: MemberReport, exit_code: i32, asked: bool) -> MemberReport {
    let end = MemberEnd {
        at: now() + secs(1),
        exit_code: Some(exit_code),
        signal: None,
        start_error: None,
        lease_lost: false,
        vanished: false,
        asked,
        timed_out: false,
    };
    MemberReport { state: MemberState::Ended, end: Some(end), ..member }
}

pub(crate) fn succeeded(member: MemberReport) -> MemberReport {
    ended(member, 0, false)
}

pub(crate) fn failed(member: MemberReport) -> MemberReport {
    ended(member, 1, false)
}

/// It was asked to go, saved its work and went.
pub(crate) fn left(member: MemberReport) -> MemberReport {
    ended(MemberReport { checkpointed_at: Some(now() + secs(86_400)), ..member }, 0, true)
}

pub(crate) async fn submit(base: &Base, jobs: &[NewJob]) {
    insert_batch(&base.store, &context(now()), jobs, None).await.expect("inserts");
}

/// One tick, whose plan the judge approves of; `None` = another is at it.
pub(crate) async fn try_tick(store: &Store, at: DateTime<Utc>) -> Option<Outcome> {
    tick_with(store, at, |snapshot, plan| assert_eq!(check::violations(snapshot, plan), Vec::new())).await
}

async fn tick_with(store: &Store, at: DateTime<Utc>, judge: fn(&Snapshot, &Plan)) -> Option<Outcome> {
    let mut session = TickSession::open(store).await.expect("opens");
    let outcome = tick_in(&mut session, at, judge).await;
    session.close().await;
    outcome
}

/// One tick of a session that keeps what it knows, whatever the plan: what the store makes of it is looked at
/// afterwards.
pub(crate) async fn tick_unjudged(session: &mut TickSession, at: DateTime<Utc>) -> Option<Outcome> {
    tick_in(session, at, |_, _| {}).await
}

async fn tick_in(
    session: &mut TickSession,
    at: DateTime<Utc>,
    judge: fn(&Snapshot, &Plan),
) -> Option<Outcome> {
    let tick = session.begin(at).await.expect("begins")?;
    let decided = plan(&tick.loaded().snapshot);
    judge(&tick.loaded().snapshot, &decided);
    Some(tick.apply(&decided, Freshness::Numbers).await.expect("applies"))
}

/// A tick that nobody disturbs.
pub(crate) async fn tick(base: &Base, at: DateTime<Utc>) -> Applied {
    match try_tick(&base.store, at).await {
        Some(Outcome::Applied(applied)) => applied,
        other => panic!("an undisturbed tick was not applied: {other:?}"),
    }
}
