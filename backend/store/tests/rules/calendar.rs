//! What the calendar holds reaches the snapshot while it is not over; overlapping reservations add up.

use crate::base::{Base, context, now, secs};
use crate::world::{World, submit, tick};
use chrono::{DateTime, Utc};
use reeve_core::id::{MaintenanceWindowId, NodeId, PoolId, ReservationId};
use reeve_core::schedule::snapshot::Snapshot;
use reeve_store::StoreError;
use reeve_store::maintenance_windows::{self, NewMaintenanceWindow};
use reeve_store::reservations::{self, NewReservation};
use reeve_store::schedule::tick::TickSession;

async fn snapshot(base: &Base, at: DateTime<Utc>) -> Snapshot {
    let mut session = TickSession::open(&base.store).await.expect("opens");
    let tick = session.begin(at).await.expect("begins").expect("alone");
    let snapshot = tick.loaded().snapshot.clone();
    // What is only closed lets go of its lock when PostgreSQL has seen it go.
    tick.abandon().await.expect("lets go");
    session.close().await;
    snapshot
}

async fn reserve(base: &Base, world: &World, pool: PoolId, gpus: i32, hours: (i64, i64)) -> ReservationId {
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    let new = NewReservation {
        pool,
        team: world.teams[0].id,
        gpus,
        starts_at: now() + secs(3_600 * hours.0),
        ends_at: now() + secs(3_600 * hours.1),
        note: String::new(),
        created_by: world.teams[0].user,
    };
    let made = reservations::create(&mut tx, &new).await.expect("made");
    tx.commit().await.expect("commits");
    ReservationId(made.id)
}

#[tokio::test]
async fn reservations_are_loaded_until_they_are_over_and_add_up() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[4, 4]).await;
    let pool = snapshot(&base, now()).await.pools[0].id;
    let first = reserve(&base, &world, pool, 4, (2, 4)).await;
    reserve(&base, &world, pool, 3, (3, 6)).await;
    let count = async |hours: i64| snapshot(&base, now() + secs(3_600 * hours)).await.reservations.len();
    assert_eq!((count(0).await, count(3).await, count(4).await, count(6).await), (2, 2, 1, 0));
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    for (hours, reserved) in [((0, 2), 0), ((0, 3), 4), ((0, 4), 7), ((4, 5), 3), ((5, 9), 3), ((6, 9), 0)] {
        let (from, to) = (now() + secs(3_600 * hours.0), now() + secs(3_600 * hours.1));
        let found = reservations::reserved_of(&mut tx, pool, from, to).await.expect("counted");
        assert_eq!(found, (8, reserved), "{hours:?}");
    }
    reservations::delete(&mut tx, first).await.expect("withdrawn");
    assert!(matches!(reservations::delete(&mut tx, first).await, Err(StoreError::NotFound)));
    tx.commit().await.expect("commits");
    assert_eq!(count(0).await, 1);
    let told =
        base.ask("select action from events where subject_type = 'reservation' order by xid, ordinal").await;
    assert_eq!(told, "reservation.created, reservation.created, reservation.deleted");
    base.end().await;
}

#[tokio::test]
async fn a_node_takes_no_work_while_its_window_is_open() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[8], &[8]).await;
    let nodes: Vec<NodeId> = snapshot(&base, now()).await.nodes.iter().map(|node| node.id).collect();
    let mut tx = base.store.begin(context(now())).await.expect("begins");
    let new = NewMaintenanceWindow {
        nodes: nodes.clone(),
        starts_at: now() + secs(10),
        ends_at: now() + secs(20),
        note: "fans".to_owned(),
        created_by: world.teams[0].user,
    };
    let window = maintenance_windows::create(&mut tx, &new).await.expect("made");
    tx.commit().await.expect("commits");
    assert_eq!(window.node_ids, nodes.iter().map(|node| node.0).collect::<Vec<_>>());
    submit(&base, &[world.job(0, 1)]).await;
    for (at, starts) in [(9, 0), (10, 0), (19, 0), (20, 1)] {
        assert_eq!(tick(&base, now() + secs(at)).await.starts, starts, "after {at} s");
    }
    assert_eq!(base.ask("select state from nodes").await, "ready");
    assert_eq!(snapshot(&base, now() + secs(20)).await.maintenance_windows, [], "it is over");
    let mut tx = base.store.begin(context(now() + secs(21))).await.expect("begins");
    maintenance_windows::delete(&mut tx, MaintenanceWindowId(window.id)).await.expect("withdrawn");
    tx.commit().await.expect("commits");
    assert_eq!(base.ask("select count(*) from maintenance_window_nodes").await, "0");
    base.sound().await;
    base.end().await;
}
