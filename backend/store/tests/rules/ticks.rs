//! From a submission to the ledger, and two schedulers at once.

use crate::base::{Base, now, secs};
use crate::world::{World, failed, running, submit, succeeded, tick, try_tick};
use reeve_store::schedule::tick::{Outcome, TickSession};
use reeve_store::submit::NewJob;

#[tokio::test]
async fn a_job_is_placed_runs_succeeds_and_its_interval_closes() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 4)]).await;
    assert_eq!(tick(&base, now()).await.starts, 1);
    base.sound().await;
    assert_eq!(base.ask("select state, run_number, reason_code from jobs").await, "starting 1 -");
    assert_eq!(
        base.ask("select r.state, u.gpu_milli, u.ended_at from runs r, usage_intervals u").await,
        "starting 4000 -"
    );

    world.agents[0].all(&base, now() + secs(10), running).await;
    base.sound().await;
    assert_eq!(
        base.ask("select j.state, r.state as run, m.state as member from jobs j, runs r, members m").await,
        "running running running"
    );

    world.agents[0].all(&base, now() + secs(100), succeeded).await;
    base.sound().await;
    assert_eq!(base.ask("select state, end_cause from jobs").await, "succeeded succeeded");
    assert_eq!(
        base.ask(
            "select gpu_milli, extract(epoch from ended_at - started_at)::int as secs from usage_intervals"
        )
        .await,
        "4000 100"
    );
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "8000");
    assert_eq!(base.ask("select free_cpu_milli, free_memory_mib from nodes").await, "64000 64000");
    let told = base.ask("select action from events order by xid, ordinal").await;
    assert_eq!(
        told, "job.submitted, job.placed, member.reported, job.started, member.reported, job.succeeded",
        "the whole life is told"
    );
    base.end().await;
}

#[tokio::test]
async fn a_waiting_job_gets_its_reason_once() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8), world.job(0, 8)]).await;
    assert_eq!(tick(&base, now()).await.starts, 1);
    let waiting =
        base.ask("select reason_code, reason is null as empty from jobs where state = 'queued'").await;
    assert!(waiting.ends_with(" false") && !waiting.starts_with('-'), "{waiting}");
    let applied = tick(&base, now() + secs(1)).await;
    assert_eq!((applied.starts, applied.explained), (0, 0), "nothing changed, nothing is written");
    assert_eq!(base.ask("select count(*) from events where action = 'job.reason_changed'").await, "1");
    base.end().await;
}

#[tokio::test]
async fn a_job_that_fails_is_tried_again_as_often_as_it_may_fail() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[NewJob { max_failures: 1, ..world.job(0, 2) }]).await;
    for (run, end) in [(1, "queued 1 1 -"), (2, "failed 2 2 exit_code")] {
        assert_eq!(tick(&base, now() + secs(run * 10)).await.starts, 1);
        world.agents[0].all(&base, now() + secs(run * 10 + 1), running).await;
        world.agents[0].all(&base, now() + secs(run * 10 + 2), failed).await;
        assert_eq!(base.ask("select state, run_number, failure_count, end_cause from jobs").await, end);
        base.sound().await;
    }
    assert_eq!(base.ask("select state, exit_code from runs order by number").await, "failed 1, failed 1");
    base.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ticks_at_once_never_book_a_gpu_twice() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8, 8], &[16]).await;
    let jobs: Vec<NewJob> = (0..12).map(|_| world.job(0, 4)).collect();
    submit(&base, &jobs).await;
    let other = base.another_store().await;
    for round in 0..10 {
        let at = now() + secs(round);
        tokio::join!(try_tick(&base.store, at), try_tick(&other, at), try_tick(&base.store, at));
    }
    assert_eq!(base.ask("select count(*) from jobs where state = 'starting'").await, "4");
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "0");
    other.close().await;
    base.end().await;
}

/// The lock only saves work: the guards keep a plan out whose space is gone.
#[tokio::test]
async fn a_plan_whose_space_is_gone_changes_nothing() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let mut first = TickSession::open(&base.store).await.expect("opens");
    let one = first.begin(now()).await.expect("begins").expect("alone");
    let mut second = TickSession::open(&base.store).await.expect("opens");
    assert!(second.begin(now()).await.expect("answers").is_none(), "the lock keeps the second away");
    let plan = reeve_core::schedule::plan(&one.loaded().snapshot);
    // Somebody takes the space behind the snapshot's back.
    base.run("update gpus set free_milli = 0 where index = 0").await;
    let outcome =
        one.apply(&plan, reeve_store::schedule::explanations::Freshness::Numbers).await.expect("applies");
    assert_eq!(outcome, Outcome::Stale);
    base.run("update gpus set free_milli = 1000 where index = 0").await;
    assert_eq!(
        base.ask("select state, run_number from jobs").await,
        "queued 0",
        "nothing of a stale plan stays"
    );
    assert_eq!(base.ask("select count(*) from events where action = 'job.placed'").await, "0");
    assert!(second.begin(now()).await.expect("answers").is_some(), "a stale tick gives the lock back");
    base.end().await;
}

#[tokio::test]
async fn a_job_cancelled_under_the_snapshot_is_not_started() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8), world.job(0, 0)]).await;
    let mut session = TickSession::open(&base.store).await.expect("opens");
    let tick = session.begin(now()).await.expect("begins").expect("alone");
    let plan = reeve_core::schedule::plan(&tick.loaded().snapshot);
    base.run("update jobs set state = 'cancelled' where gpus = 8").await;
    let outcome =
        tick.apply(&plan, reeve_store::schedule::explanations::Freshness::Numbers).await.expect("applies");
    assert_eq!(outcome, Outcome::Stale);
    assert_eq!(base.ask("select state from jobs order by gpus").await, "queued, cancelled");
    base.end().await;
}

#[tokio::test]
async fn a_session_that_is_dropped_in_mid_tick_frees_the_lock() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 1)]).await;
    let mut session = TickSession::open(&base.store).await.expect("opens");
    drop(session.begin(now()).await.expect("begins").expect("alone"));
    drop(session);
    for _ in 0..200 {
        if try_tick(&base.store, now()).await.is_some() {
            assert_eq!(base.ask("select state from jobs").await, "starting");
            return base.end().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the lock of a dropped session stays");
}
