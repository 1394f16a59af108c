//! A server of our own with one pool, one team and one node of eight GPUs, all made through the store.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::clock::{Clock, MockClock};
use reeve_core::id::{JobId, NodeId, PoolId, QueueId, TeamId, UserId};
use reeve_core::inventory::{Inventory, InventoryGpu};
use reeve_core::job::CheckpointMode;
use reeve_core::kind::Kind;
use reeve_core::priority::PriorityClass;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_store::idempotency::{IdempotencyKey, StoredReply};
use reeve_store::join_tokens::NewJoinToken;
use reeve_store::nodes::enrol;
use reeve_store::private_postgres::PrivatePostgres;
use reeve_store::queues::QueueTerms;
use reeve_store::quotas::QuotaTerms;
use reeve_store::submit::{NewJob, insert_batch};
use reeve_store::users::NewUser;
use reeve_store::{Actor, ConnectOptions, Store, WriteContext, WriteTx};
use std::collections::BTreeMap;

/// How long a node is good for without a report.
pub(crate) const LEASE_SECS: i64 = 60;

pub(crate) struct Base {
    pub(crate) store: Store,
    pub(crate) clock: MockClock,
    pub(crate) team: TeamId,
    pub(crate) queue: QueueId,
    pub(crate) user: UserId,
    pub(crate) node: NodeId,
    // The last field: the server outlives its connections.
    server: PrivatePostgres,
}

impl Base {
    pub(crate) async fn new() -> Self {
        let server = PrivatePostgres::throwaway().expect("a PostgreSQL of our own");
        let store = Store::connect(&ConnectOptions::new(&server.url())).await.expect("connects");
        reeve_store::migrate::migrate(&store).await.expect("migrates");
        let clock = MockClock::at(DateTime::from_timestamp(1_800_000_000, 0).expect("a moment"));
        let mut tx = store.begin(context(clock.now())).await.expect("begins");
        let (team, queue, user, pool) = people(&mut tx).await;
        let node = node(&mut tx, pool, user).await;
        tx.commit().await.expect("commits");
        Self { store, clock, team, queue, user, node, server }
    }

    /// Another server on the same database.
    pub(crate) async fn another_store(&self) -> Store {
        Store::connect(&ConnectOptions::new(&self.server.url())).await.expect("connects")
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Puts a job of `gpus` GPUs in line; the reply is kept under `key`.
    pub(crate) async fn submit(&self, gpus: u32, key: &str) -> JobId {
        let job = self.job(gpus);
        let (key, reply) =
            (self.key(key), StoredReply { status: 201, headers: serde_json::json!({}), body: Vec::new() });
        let context = context(self.now());
        insert_batch(&self.store, &context, std::slice::from_ref(&job), Some((&key, &reply)))
            .await
            .expect("inserts");
        job.id
    }

    pub(crate) fn key(&self, key: &str) -> IdempotencyKey {
        IdempotencyKey { caller: self.user.0, key: key.to_owned(), request_hash: vec![1] }
    }

    pub(crate) async fn state(&self, job: JobId) -> String {
        reeve_store::jobs::show::get(&self.store, job).await.expect("a job").state
    }

    /// The last line of every test.
    pub(crate) async fn end(self) {
        let found = reeve_store::audit_state::check_database(&self.store, self.now()).await.expect("checks");
        assert_eq!(found, Vec::<String>::new());
        self.store.close().await;
    }

    fn job(&self, gpus: u32) -> NewJob {
        NewJob {
            id: JobId::mint(self.now()),
            team_id: self.team,
            queue_id: self.queue,
            user_id: self.user,
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
            node_labels: BTreeMap::default(),
            require_topology: None,
            prefer_topology: None,
            nvlink: reeve_core::job::NvLink::Preferred,
            rdma: false,
            time_limit_secs: None,
            preemptible: true,
            evict_others: true,
            requeue: true,
            checkpoint: CheckpointMode::None,
            checkpoint_signal: "USR1".to_owned(),
            max_failures: 0,
            command: vec!["true".to_owned()],
            env: BTreeMap::default(),
            working_dir: None,
            labels: BTreeMap::default(),
            depends_on: Vec::new(),
            submitted_at: self.now(),
        }
    }
}

pub(crate) fn context(now: DateTime<Utc>) -> WriteContext {
    WriteContext { actor: Actor::system("test"), request_id: None, now }
}

async fn people(tx: &mut WriteTx) -> (TeamId, QueueId, UserId, PoolId) {
    let user = NewUser {
        username: "u".to_owned(),
        display_name: "U".to_owned(),
        email: None,
        password_hash: None,
        platform_roles: Vec::new(),
    };
    let user = reeve_store::users::create(tx, user).await.expect("a user");
    let team = reeve_store::teams::create(tx, "t", "T", None).await.expect("a team");
    let pool = reeve_store::pools::create(tx, "p", "P", None).await.expect("a pool");
    let quota = QuotaTerms {
        guaranteed_gpus: 8,
        borrow_limit_gpus: None,
        lend_limit_gpus: None,
        weight: 1,
        drain: false,
    };
    reeve_store::quotas::put(tx, team.id.into(), pool.id.into(), None, quota).await.expect("a quota");
    let terms = QueueTerms {
        name: "Q".to_owned(),
        order: QueueOrder::FifoWithBackfill,
        state: QueueState::Open,
        allowed_kinds: None,
        max_running_jobs: None,
        max_running_jobs_per_user: None,
        max_running_gpus: None,
    };
    let queue = reeve_store::queues::create(tx, team.id.into(), "q", &terms).await.expect("a queue");
    (team.id.into(), queue.id.into(), user.id.into(), pool.id.into())
}

async fn node(tx: &mut WriteTx, pool: PoolId, user: UserId) -> NodeId {
    let token = NewJoinToken {
        hash: vec![7],
        hint: "t".to_owned(),
        pool,
        max_uses: 1,
        created_by: user,
        expires_at: tx.now() + TimeDelta::hours(1),
    };
    reeve_store::join_tokens::create(tx, &token).await.expect("a join token");
    let admitted = enrol::spend_token(tx, &[7]).await.expect("answers").expect("admitted");
    let gpus = (0..8).map(|index| InventoryGpu {
        index,
        uuid: format!("GPU-{index}"),
        model: "A100".to_owned(),
        memory_mib: 80_000,
        healthy: true,
        health_detail: None,
    });
    let inventory = Inventory {
        node_name: "n".to_owned(),
        agent_version: "0".to_owned(),
        cpu_milli: 64_000,
        memory_mib: 64_000,
        gpus: gpus.collect(),
        labels: BTreeMap::default(),
        topology: BTreeMap::default(),
        nvlink: Vec::new(),
        rdma: false,
        datasets: Vec::new(),
    };
    enrol::join(tx, &admitted, &inventory, &[8], TimeDelta::seconds(LEASE_SECS)).await.expect("joins")
}
