//! Nothing changes without an event, and an event never changes.

use crate::base::{Base, context, now, run};
use crate::world::{World, submit};
use reeve_store::submit::insert_batch;
use reeve_store::{NewEvent, StoreError, queues};
use sqlx::Executor;
use std::time::Duration;
use uuid::Uuid;

#[tokio::test]
async fn a_commit_without_an_event_is_refused_and_undone() {
    let mut base = Base::new().await;
    let tx = base.store.begin(context(now())).await.expect("begins");
    assert!(matches!(tx.commit().await, Err(StoreError::NoEvent)));

    // With an effect: it is undone with its transaction.
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    reeve_store::teams::create(&mut tx, "t", "Team", None).await.expect("creates");
    tx.commit().await.expect("a team tells of itself");
    assert_eq!(base.ask("select slug from teams").await, "t");
    assert_eq!(base.ask("select action from events").await, "team.created");
    base.end().await;
}

#[tokio::test]
async fn events_and_seals_refuse_every_change() {
    let mut base = Base::new().await;
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    tx.record(NewEvent::new("test.done", "test", Uuid::nil()));
    tx.commit().await.expect("commits");
    base.sound().await;
    let statements = [
        "update events set action = 'x'",
        "update events set action = 'x' where false",
        "delete from events",
        "truncate events cascade",
        "update event_seals set position = 2",
        "delete from event_seals",
        "truncate event_seals",
    ];
    for statement in statements {
        let error = base.sql.execute(statement).await.expect_err(statement);
        let code = error.as_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
        assert_eq!(code.as_deref(), Some("42501"), "{statement}: {error}");
    }
    assert_eq!(base.ask("select action from events").await, "test.done");
    base.end().await;
}

#[tokio::test]
async fn no_job_slips_into_a_queue_that_is_deleted_at_the_same_moment() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let queue = queues::find(&base.store, &world.teams[0].queue.to_string()).await.expect("a queue");
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    assert_eq!(queues::delete(&mut tx, &queue).await.expect("deletes"), 0);
    let (store, jobs) = (base.store.clone(), [world.job(0, 1)]);
    let submitting = tokio::spawn(async move { insert_batch(&store, &context(now()), &jobs, None).await });
    wait_for_a_lock(&mut base).await;
    tx.commit().await.expect("commits");
    let refused = submitting.await.expect("no panic");
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(base.ask("select count(*) from jobs").await, "0");
    base.end().await;
}

#[tokio::test]
async fn a_queue_is_not_deleted_under_a_job_that_is_being_submitted() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let queue = queues::find(&base.store, &world.teams[0].queue.to_string()).await.expect("a queue");
    submit(&base, &[world.job(0, 1)]).await;
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    assert_eq!(queues::delete(&mut tx, &queue).await.expect("counts"), 1);
    tx.rollback().await.expect("rolls back");
    base.end().await;
}

/// Until some statement of this database waits for a row.
async fn wait_for_a_lock(base: &mut Base) {
    for _ in 0..500 {
        let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        if base.ask(waiting).await != "0" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing waits for the row");
}

#[tokio::test]
async fn a_batch_is_all_or_nothing() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8, 0]).await;
    let gone = world.teams[1].queue;
    run(&mut base.sql, &format!("update queues set state = 'draining' where id = '{gone}'")).await;
    let jobs = [world.job(0, 1), world.job(1, 1)];
    let refused = insert_batch(&base.store, &context(now()), &jobs, None).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(base.ask("select (select count(*) from jobs), (select count(*) from events)").await, "0 0");
    base.end().await;
}
