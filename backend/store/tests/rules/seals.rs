//! Positions without gaps, in commit order, however many write at once.

use crate::base::{Base, context, now, seal_all};
use reeve_store::NewEvent;
use reeve_store::event::{EventFilter, after};
use reeve_store::seal::{Verified, step, verify};
use std::collections::BTreeSet;
use uuid::Uuid;

const WRITERS: u128 = 10;
const EACH: u128 = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_and_a_slow_one_make_one_chain_without_gaps() {
    let base = Base::new().await;
    // Begins first (its event has the lowest transaction id), and commits last.
    let mut slow = base.store.begin(context(now())).await.expect("begins");
    reeve_store::teams::create(&mut slow, "slow", "Slow", None).await.expect("creates");
    let writers = (0..WRITERS).map(|writer| {
        let store = base.store.clone();
        tokio::spawn(async move {
            for nth in 0..EACH {
                let mut tx = store.begin(context(now())).await.expect("begins");
                tx.record(NewEvent::new("test.first", "test", Uuid::from_u128(writer << 64 | nth)));
                tx.record(NewEvent::new("test.second", "test", Uuid::from_u128(writer << 64 | nth)));
                tx.commit().await.expect("commits");
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let sealer = {
        let (one, two) = (base.store.clone(), base.another_store().await);
        tokio::spawn(async move {
            for _ in 0..50 {
                let (one, two) = tokio::join!(step(&one, now()), step(&two, now()));
                one.expect("seals");
                two.expect("seals");
            }
            two.close().await;
        })
    };
    for writer in writers {
        writer.await.expect("no panic");
    }
    sealer.await.expect("no panic");
    // Whoever is slow holds back everything behind it: nobody may commit into the past.
    assert_eq!(verify(&base.store, 7).await.expect("verifies"), Verified::Whole { events: 0 });
    assert!(step(&base.store, now()).await.expect("seals").again, "the sealer knows that it is behind");
    slow.commit().await.expect("commits");
    seal_all(&base.store).await;

    let all = i64::try_from(WRITERS * EACH * 2 + 1).expect("small");
    assert_eq!(verify(&base.store, 7).await.expect("verifies"), Verified::Whole { events: all });
    let events = after(&base.store, 0, &EventFilter::default(), 10_000).await.expect("reads");
    assert_eq!(events.iter().map(|event| event.position).collect::<Vec<_>>(), (1..=all).collect::<Vec<_>>());
    assert_eq!(events[0].event.action, "team.created", "the order is the transactions'");
    let ids: BTreeSet<_> = events.iter().map(|event| event.event.id).collect();
    assert_eq!(ids.len(), events.len(), "no event twice");
    for pair in events[1..].chunks(2) {
        assert_eq!(
            (pair[0].event.action.as_str(), pair[1].event.action.as_str()),
            ("test.first", "test.second")
        );
        assert_eq!(
            pair[0].event.subject_id, pair[1].event.subject_id,
            "a transaction stays together, in its order"
        );
    }
    base.end().await;
}

#[tokio::test]
async fn a_rolled_back_transaction_leaves_no_gap() {
    let base = Base::new().await;
    for slug in ["a", "b", "c"] {
        let mut tx = base.store.begin(context(now())).await.expect("begins");
        reeve_store::teams::create(&mut tx, slug, "Team", None).await.expect("creates");
        if slug == "b" { tx.rollback().await } else { tx.commit().await }.expect("ends");
        seal_all(&base.store).await;
    }
    assert_eq!(verify(&base.store, 1).await.expect("verifies"), Verified::Whole { events: 2 });
    base.end().await;
}
