use crate::base::{Base, LEASE_SECS, context};
use chrono::TimeDelta;
use reeve_core::clock::Clock;
use reeve_store::idempotency::{Known, find};
use reeve_store::{seal, sessions};
use reeve_worker::schedule::{Scheduler, Ticked};
use reeve_worker::{expire, reap};

fn starts(ticked: &Ticked) -> usize {
    match ticked {
        Ticked::Applied { applied, .. } => applied.starts,
        Ticked::Stale | Ticked::Busy => 0,
    }
}

#[tokio::test]
async fn a_step_starts_what_fits_and_the_next_finds_nothing_to_do() {
    let base = Base::new().await;
    let first = base.submit(8, "a").await;
    base.clock.advance(TimeDelta::seconds(1));
    let second = base.submit(8, "b").await;
    let mut scheduler = Scheduler::new(&base.store);
    assert_eq!(starts(&scheduler.step(base.now()).await.expect("ticks")), 1);
    assert_eq!(
        (base.state(first).await, base.state(second).await),
        ("starting".to_owned(), "queued".to_owned())
    );
    let Ticked::Applied { applied, .. } = scheduler.step(base.now()).await.expect("ticks") else {
        panic!("nobody else is at it")
    };
    assert!(applied.is_quiet(), "{applied:?}");
    assert_eq!(applied.explained, 0);
    base.end().await;
}

#[tokio::test]
async fn two_schedulers_share_the_work_and_start_a_job_once() {
    let base = Base::new().await;
    let job = base.submit(8, "a").await;
    let (mut one, mut two) = (Scheduler::new(&base.store), Scheduler::new(&base.store));
    let mut started = 0;
    for _ in 0..5 {
        let (one, two) = tokio::join!(one.step(base.now()), two.step(base.now()));
        started += starts(&one.expect("ticks")) + starts(&two.expect("ticks"));
        base.clock.advance(TimeDelta::seconds(1));
    }
    assert_eq!((started, base.state(job).await), (1, "starting".to_owned()));
    base.end().await;
}

/// A step that is cancelled in its middle takes its connection, and with it the lock, along.
#[tokio::test]
async fn a_cancelled_step_keeps_nobody_out() {
    let base = Base::new().await;
    let job = base.submit(8, "a").await;
    let mut scheduler = Scheduler::new(&base.store);
    let mut half_way = Box::pin(scheduler.step(base.now()));
    // A few polls in: it holds a connection, and maybe the lock.
    for _ in 0..20 {
        let polled = futures::poll!(&mut half_way);
        if polled.is_ready() {
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(half_way);
    let mut other = Scheduler::new(&base.store);
    let mut ticked = Ticked::Busy;
    for _ in 0..500 {
        ticked = other.step(base.now()).await.expect("ticks");
        if ticked != Ticked::Busy {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_ne!(ticked, Ticked::Busy);
    assert_eq!(base.state(job).await, "starting");
    base.end().await;
}

#[tokio::test]
async fn everything_committed_is_sealed() {
    let base = Base::new().await;
    base.submit(1, "a").await;
    let mut events = 0;
    loop {
        let sealed = reeve_worker::seal::step(&base.store, base.now()).await.expect("seals");
        events += sealed.events;
        if !sealed.again {
            break;
        }
    }
    let verified = seal::verify(&base.store, 100).await.expect("verifies");
    assert_eq!(verified, seal::Verified::Whole { events: i64::try_from(events).expect("small") });
    assert!(events > 1, "{events}");
    let sealed = reeve_worker::seal::step(&base.store, base.now()).await.expect("seals");
    assert_eq!((sealed.events, sealed.again), (0, false));
    base.end().await;
}

#[tokio::test]
async fn a_node_is_lost_when_lease_and_margin_are_over_and_not_before() {
    let base = Base::new().await;
    let margin = TimeDelta::seconds(30);
    base.clock.advance(TimeDelta::seconds(LEASE_SECS) + margin);
    assert_eq!(reap::step(&base.store, base.now(), margin).await.expect("looks"), []);
    base.clock.advance(TimeDelta::microseconds(1));
    assert_eq!(reap::step(&base.store, base.now(), margin).await.expect("looks"), [base.node]);
    assert_eq!(reap::step(&base.store, base.now(), margin).await.expect("looks"), []);
    // Nothing is placed on it.
    let job = base.submit(1, "a").await;
    assert_eq!(starts(&Scheduler::new(&base.store).step(base.now()).await.expect("ticks")), 0);
    assert_eq!(base.state(job).await, "queued");
    base.end().await;
}

#[tokio::test]
async fn old_replies_and_long_ended_sessions_are_forgotten() {
    let base = Base::new().await;
    base.submit(1, "old").await;
    let mut tx = base.store.begin(context(base.now())).await.expect("begins");
    let ends_at = base.now() + TimeDelta::hours(1);
    let session = sessions::create(
        &mut tx,
        sessions::NewSession {
            user: base.user.0,
            method: sessions::SignInMethod::Password,
            address: None,
            user_agent: None,
            expires_at: ends_at,
            workload: None,
        },
    )
    .await
    .expect("a session");
    sessions::add_refresh_token(&mut tx, session, b"token", ends_at).await.expect("a token");
    tx.commit().await.expect("commits");

    base.clock.advance(TimeDelta::hours(24));
    base.submit(1, "new").await;
    let expired = expire::step(&base.store, base.now()).await.expect("expires");
    assert_eq!((expired.replies, expired.sessions), (0, 0), "not a moment too early");
    base.clock.advance(TimeDelta::seconds(1));
    let expired = expire::step(&base.store, base.now()).await.expect("expires");
    assert_eq!((expired.replies, expired.sessions, expired.again), (1, 0, false));
    assert_eq!(find(&base.store, &base.key("old")).await.expect("looks"), Known::New);
    assert!(matches!(find(&base.store, &base.key("new")).await.expect("looks"), Known::Same(_)));

    base.clock.set(ends_at + TimeDelta::days(30) + TimeDelta::seconds(1));
    let expired = expire::step(&base.store, base.now()).await.expect("expires");
    assert_eq!((expired.replies, expired.sessions), (1, 1));
    let mut tx = base.store.begin(context(base.clock.now())).await.expect("begins");
    assert!(
        sessions::refresh_token(&mut tx, b"token").await.expect("looks").is_none(),
        "it went with its session"
    );
    tx.rollback().await.expect("rolls back");
    base.end().await;
}
