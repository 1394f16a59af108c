use crate::base::Base;
use chrono::TimeDelta;
use reeve_core::id::JobId;
use reeve_store::beat;
use reeve_worker::notify::Outbound;
use reeve_worker::run::{Rhythm, Tools, run_all};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Timers that never fire in a test: whatever happens was woken.
const NEVER: Duration = Duration::from_secs(3_600);

const SLOW: Rhythm = Rhythm {
    schedule: NEVER,
    seal: NEVER,
    reap: NEVER,
    expire: NEVER,
    approvals: NEVER,
    idle: NEVER,
    deliver: NEVER,
    checkpoint: NEVER,
    ledger: NEVER,
    export: NEVER,
    lease_margin: TimeDelta::seconds(30),
};
async fn until_it_is(base: &Base, job: JobId, state: &str) {
    for _ in 0..1_000 {
        if base.state(job).await == state {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the job stays {}", base.state(job).await);
}

#[tokio::test]
async fn the_loops_are_woken_by_changes_beat_and_end_when_they_are_told() {
    let base = Base::new().await;
    let cancel = CancellationToken::new();
    let loops = tokio::spawn(run_all(
        base.store.clone(),
        Arc::new(base.clock.clone()),
        SLOW,
        outbound(),
        Tools::default(),
        cancel.clone(),
    ));
    let first = base.submit(4, "a").await;
    until_it_is(&base, first, "starting").await;
    let second = base.submit(4, "b").await;
    until_it_is(&base, second, "starting").await;
    for name in ["schedule", "seal", "reap", "expire"] {
        // A loop's first step may take longer than two jobs' starts.
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while beat::last(&base.store, name).await.expect("reads").is_none() {
            assert!(std::time::Instant::now() < end, "{name} has not beaten");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(beat::last(&base.store, name).await.expect("reads"), Some(base.now()), "{name}");
    }
    let tick = beat::last_tick(&base.store).await.expect("reads").expect("it has looked");
    assert_eq!(tick.silent_secs(base.now() + TimeDelta::seconds(7)), 7);
    let told = tick.tick.expect("it says how it went");
    assert!(told.tick_ms >= 0 && told.pending_jobs <= 1, "{told:?}");
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(10), loops).await.expect("they end").expect("no panic");
    base.end().await;
}

/// NOTIFY carries the wake from the server that took the submission to the one whose loop has the work.
#[tokio::test]
async fn another_servers_change_wakes_the_loops_too() {
    let base = Base::new().await;
    let cancel = CancellationToken::new();
    let ours = base.another_store().await;
    let loops = tokio::spawn(run_all(
        ours.clone(),
        Arc::new(base.clock.clone()),
        SLOW,
        outbound(),
        Tools::default(),
        cancel.clone(),
    ));
    // The other server's loops do not run; only its signals do.
    let signals = {
        let store = base.store.clone();
        tokio::spawn(async move { reeve_store::signal::run(&store).await.map(|_| ()) })
    };
    let first = base.submit(1, "a").await;
    until_it_is(&base, first, "starting").await;
    let second = base.submit(1, "b").await;
    until_it_is(&base, second, "starting").await;
    signals.abort();
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(10), loops).await.expect("they end").expect("no panic");
    ours.close().await;
    base.end().await;
}

fn outbound() -> Outbound {
    Outbound::new(reeve_core::address::Reachable::default()).expect("a way out")
}
