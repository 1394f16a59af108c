//! Several submissions in one statement: each has its own outcome, and each is whole or not at all.

use crate::base::{Base, context, now, run};
use crate::world::World;
use reeve_store::StoreError;
use reeve_store::idempotency::{DUPLICATE, IdempotencyKey, StoredReply};
use reeve_store::submit::{NewJob, Patience, SeenQueue, Submission, insert};
use sqlx::Connection as _;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use uuid::Uuid;

fn submission(jobs: Vec<NewJob>) -> Submission {
    Submission { context: context(now()), jobs, reply: None, seen: BTreeSet::new(), policy_version: None }
}

fn keyed(jobs: Vec<NewJob>, key: &str) -> Submission {
    let key = IdempotencyKey { caller: Uuid::from_u128(7), key: key.to_owned(), request_hash: vec![1] };
    let reply = StoredReply { status: 201, headers: serde_json::json!({}), body: b"{}".to_vec() };
    Submission { reply: Some((key, reply)), ..submission(jobs) }
}

fn word(outcome: &Result<(), StoreError>) -> &'static str {
    match outcome {
        Ok(()) => "kept",
        Err(StoreError::Conflict) => "conflict",
        Err(StoreError::Duplicate { constraint }) if constraint == DUPLICATE => "known",
        Err(_) => "wrong",
    }
}

#[tokio::test]
async fn each_submission_of_a_statement_has_its_own_outcome() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8, 0, 0]).await;
    let (open, draining, gone) = (world.teams[0], world.teams[1], world.teams[2]);
    base.run(&format!(
        "update queues set state = 'draining', version = 2 where id = '{}';
         update teams set state = 'deleted', version = 2 where id = '{}'",
        draining.queue, gone.id
    ))
    .await;
    let first = keyed(vec![world.job(0, 1)], "k-1");
    assert_eq!(insert(&base.store, &[first], Patience::Wait).await.expect("inserts").len(), 1);
    let seen = |queue_id: Uuid, queue_version, team_version| {
        let queue = SeenQueue { queue_id, queue_version, team_version };
        Submission { seen: BTreeSet::from([queue]), ..submission(vec![world.job(0, 1)]) }
    };
    let pooled = |pool| submission(vec![NewJob { pool_ids: vec![pool], ..world.job(0, 1) }]);
    let pool: Uuid = base.ask("select id from pools").await.parse().expect("an id");
    let cases = [
        (submission(vec![world.job(0, 1)]), "kept"),
        (submission(vec![world.job(1, 1)]), "conflict"),
        (submission(vec![world.job(2, 1)]), "conflict"),
        // All or nothing.
        (keyed(vec![world.job(0, 1), world.job(1, 1)], "k-2"), "conflict"),
        (keyed(vec![world.job(0, 1), world.job(0, 2)], "k-3"), "kept"),
        (keyed(vec![world.job(0, 1)], "k-1"), "known"),
        (seen(open.queue.0, 1, 1), "kept"),
        (seen(open.queue.0, 2, 1), "conflict"),
        (seen(open.queue.0, 1, 2), "conflict"),
        // Passed over, and still as it was: that it takes no jobs is no matter.
        (seen(draining.queue.0, 2, 1), "kept"),
        (seen(draining.queue.0, 1, 1), "conflict"),
        (Submission { policy_version: Some(0), ..submission(vec![world.job(0, 1)]) }, "kept"),
        (Submission { policy_version: Some(1), ..submission(vec![world.job(0, 1)]) }, "conflict"),
        (pooled(pool.into()), "kept"),
        (pooled(Uuid::from_u128(9).into()), "conflict"),
    ];
    let (submissions, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let (wait, pass) = (Patience::Wait, Patience::Pass);
    for (patience, at_once) in [(wait, 15), (pass, 15), (wait, 1), (pass, 1)] {
        let turn = format!("{patience:?}-{at_once}");
        let fresh: Vec<Submission> = submissions.iter().map(|submission| again(submission, &turn)).collect();
        let mut outcomes = Vec::new();
        for together in fresh.chunks(at_once) {
            outcomes.extend(insert(&base.store, together, patience).await.expect("inserts"));
        }
        assert_eq!(outcomes.iter().map(word).collect::<Vec<_>>(), expected, "{turn}");
    }
    let counted =
        "select (select count(*) from jobs), (select count(*) from events where action = 'job.submitted'),
                          (select count(*) from idempotency_keys)";
    assert_eq!(base.ask(&counted.replace('\n', " ")).await, "29 29 5");
    base.end().await;
}

/// The same under new ids, and keys of its own where none is known.
fn again(submission: &Submission, turn: &str) -> Submission {
    let mut again = submission.clone();
    for job in &mut again.jobs {
        job.id = reeve_core::id::JobId::mint(now());
    }
    if let Some((key, _)) = again.reply.as_mut().filter(|(key, _)| key.key != "k-1") {
        key.key = format!("{}-{turn}", key.key);
    }
    again
}

#[tokio::test]
async fn a_value_that_the_schema_refuses_undoes_the_statement_and_says_so() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let nameless = NewJob { name: String::new(), ..world.job(0, 1) };
    let submissions = [keyed(vec![world.job(0, 1)], "k-1"), keyed(vec![nameless], "k-2")];
    let error = insert(&base.store, &submissions, Patience::Pass).await.expect_err("refused");
    assert!(
        matches!(&error, StoreError::Check { constraint } if constraint == "jobs_name_check"),
        "{error:?}"
    );
    assert!(error.is_undone());
    let counted = "select (select count(*) from jobs), (select count(*) from idempotency_keys)";
    assert_eq!(base.ask(counted).await, "0 0");
    base.end().await;
}

#[tokio::test]
async fn who_does_not_wait_passes_a_queue_that_somebody_holds() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8, 8]).await;
    let queue =
        reeve_store::queues::find(&base.store, &world.teams[1].queue.to_string()).await.expect("a queue");
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    reeve_store::queues::delete(&mut tx, &queue).await.expect("deletes");
    let both = [submission(vec![world.job(0, 1)]), submission(vec![world.job(1, 1)])];
    let outcomes = insert(&base.store, &both, Patience::Pass).await.expect("inserts");
    assert_eq!(outcomes.iter().map(word).collect::<Vec<_>>(), ["kept", "conflict"]);
    let alone =
        insert(&base.store, &[submission(vec![world.job(1, 1)])], Patience::Pass).await.expect("inserts");
    assert_eq!(alone.iter().map(word).collect::<Vec<_>>(), ["conflict"]);
    tx.rollback().await.expect("rolls back");
    assert_eq!(base.ask("select count(*) from jobs").await, "1");
    base.end().await;
}

/// A job alone has a statement of its own: it must leave what the statement for many leaves.
#[tokio::test]
async fn a_job_alone_leaves_the_same_rows_as_among_others() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let pool: Uuid = base.ask("select id from pools").await.parse().expect("an id");
    let words = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let full = NewJob {
        held: true,
        gpu_milli: Some(250),
        gpu_memory_mib: Some(4096),
        min_replicas: 2,
        max_replicas: 3,
        pool_ids: vec![pool.into()],
        gpu_model: Some("A100-80G".to_owned()),
        node_labels: words(&[("zone", "a")]),
        require_topology: Some("rack".to_owned()),
        prefer_topology: Some("block".to_owned()),
        nvlink: reeve_core::job::NvLink::Required,
        rdma: true,
        time_limit_secs: Some(60),
        preemptible: false,
        evict_others: false,
        requeue: false,
        max_failures: 3,
        command: vec!["sh".to_owned(), "-c".to_owned(), "echo '\"卡\"'".to_owned()],
        env: words(&[("A", "1\n2")]),
        working_dir: Some("/data".to_owned()),
        labels: words(&[("费用", "研发")]),
        ..world.job(0, 1)
    };
    for job in [world.job(0, 1), full] {
        let alone = again(&keyed(vec![job.clone()], "k"), "alone");
        let among = again(&keyed(vec![job.clone()], "k"), "among");
        let other = again(&keyed(vec![job], "k"), "other");
        let ids = [&alone, &among].map(|submission| submission.jobs[0].id);
        for statement in [vec![alone], vec![among, other]] {
            for outcome in insert(&base.store, &statement, Patience::Pass).await.expect("inserts") {
                assert_eq!(word(&outcome), "kept");
            }
        }
        let jobs = format!(
            "select count(distinct to_jsonb(j) - 'id'), count(*) from jobs j where id in ('{}', '{}')",
            ids[0], ids[1]
        );
        assert_eq!(base.ask(&jobs).await, "1 2");
        let events = format!(
            "select count(distinct to_jsonb(e) - array['id', 'xid', 'subject_id']), count(*) \
             from events e where subject_id in ('{}', '{}')",
            ids[0], ids[1]
        );
        assert_eq!(base.ask(&events).await, "1 2");
        let keys = "select count(distinct to_jsonb(k) - 'key'), count(*) from idempotency_keys k";
        assert_eq!(base.ask(keys).await, "1 3");
        base.run("alter table idempotency_keys disable trigger user; delete from idempotency_keys").await;
    }
    base.end().await;
}

/// Submissions have a few connections of their own; however many there are, they open no more than those and the pool's.
#[tokio::test]
async fn submissions_open_no_more_connections_than_they_may() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let store = base.narrow_store(2).await;
    let mut holder = base.another_connection().await;
    run(&mut holder, "begin; select from queues for update").await;
    let sent: Vec<_> = (0..12)
        .map(|_| {
            let (store, job) = (store.clone(), world.job(0, 1));
            tokio::spawn(async move { insert(&store, &[submission(vec![job])], Patience::Wait).await })
        })
        .collect();
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let deadline = Instant::now() + Duration::from_secs(20);
    while base.ask(waiting).await != "6" {
        assert!(Instant::now() < deadline, "{} wait, not the pool's 2 and 4 more", base.ask(waiting).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(base.ask(waiting).await, "6");
    run(&mut holder, "commit").await;
    for outcome in sent {
        let outcomes = outcome.await.expect("ends").expect("inserts");
        assert_eq!(outcomes.iter().map(word).collect::<Vec<_>>(), ["kept"]);
    }
    assert_eq!(base.ask("select count(*) from jobs").await, "12");
    holder.close().await.expect("closes");
    store.close().await;
    base.end().await;
}
