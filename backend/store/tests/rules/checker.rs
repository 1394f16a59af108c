//! The checker must be able to fail: each planted fault is found, and only once it is planted.

use crate::base::{Base, now, seal_all, secs};
use crate::world::{World, running, submit, succeeded, tick};

/// One job that has ended and one that runs, everything sealed.
async fn sound_base() -> Base {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 4)]).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    world.agents[0].all(&base, now() + secs(10), succeeded).await;
    submit(&base, &[world.job(0, 2)]).await;
    tick(&base, now() + secs(11)).await;
    world.agents[0].all(&base, now() + secs(12), running).await;
    base.sound().await;
    base
}

#[tokio::test]
async fn planted_faults_are_found() {
    // (what is said of it, the fault, how it is undone)
    let faults = [
        ("gpu ", "update gpus set free_milli = 900 where index = 7", "update gpus set free_milli = 1000 where index = 7"),
        (
            "gpu ",
            "update gpus set free_memory_mib = 1 where index = 7",
            "update gpus set free_memory_mib = memory_mib where index = 7",
        ),
        (
            "node n0",
            "update nodes set free_cpu_milli = free_cpu_milli - 1",
            "update nodes set free_cpu_milli = free_cpu_milli + 1",
        ),
        (
            "state queued with 1 live",
            "update jobs set state = 'queued' where state = 'running'",
            "update jobs set state = 'running' where state = 'queued'",
        ),
        (
            "state running with 0 live",
            "update jobs set state = 'running' where state = 'succeeded'",
            "update jobs set state = 'succeeded' where gpus = 4",
        ),
        (
            "2 live runs",
            "update runs set ended_at = null, job_id = (select id from jobs where gpus = 2), number = 9 where state = 'succeeded'",
            "update runs set ended_at = placed_at + interval '10 s', job_id = (select id from jobs where gpus = 4), number = 1
             where state = 'succeeded'",
        ),
        (
            "an interval is open",
            "update usage_intervals set ended_at = null where gpu_milli = 4000",
            "update usage_intervals set ended_at = started_at + interval '10 s' where gpu_milli = 4000",
        ),
        (
            "ledger has 44000",
            "update usage_intervals set ended_at = ended_at + interval '1 s' where gpu_milli = 4000",
            "update usage_intervals set ended_at = ended_at - interval '1 s' where gpu_milli = 4000",
        ),
        (
            "ledger has 0",
            "update usage_intervals set run_id = (select id from runs where state = 'running') where gpu_milli = 4000",
            "update usage_intervals set run_id = (select id from runs where state = 'succeeded') where gpu_milli = 4000",
        ),
        (
            "open interval",
            "update usage_intervals set gpu_milli = 1000 where ended_at is null",
            "update usage_intervals set gpu_milli = 2000 where ended_at is null",
        ),
        (
            "free 0 milli, members hold 2000",
            "update members set released_at = null where released_at is not null",
            "update members set released_at = placed_at + interval '10 s' where state = 'ended'",
        ),
    ];
    let mut base = sound_base().await;
    for (said, fault, undone) in faults {
        base.run(fault).await;
        let found = base.found().await;
        assert!(found.iter().any(|line| line.contains(said)), "{fault}: {found:#?}");
        base.run(undone).await;
        assert_eq!(base.found().await, Vec::<String>::new(), "{undone}");
    }
    base.end().await;
}

#[tokio::test]
async fn a_changed_dropped_swapped_or_inserted_event_breaks_the_chain() {
    let faults = [
        "update events set actor_name = 'somebody else' where id = (select event_id from event_seals where position = 2)",
        "delete from event_seals where position = 2",
        "update event_seals set position = -position where position in (2, 3);
         update event_seals set position = 5 + position where position < 0",
        "update event_seals set hash = sha256(hash) where position = 3",
    ];
    for fault in faults {
        let mut base = sound_base().await;
        seal_all(&base.store).await;
        // Whoever owns the tables can do this; the chain is there for that.
        base.run("alter table event_seals drop constraint event_seals_position_check").await;
        base.run("alter table events disable trigger all; alter table event_seals disable trigger all").await;
        base.run(fault).await;
        let found = base.found().await;
        assert!(
            found
                .iter()
                .any(|line| line.contains("breaks at position 2") || line.contains("breaks at position 3")),
            "{fault}: {found:#?}"
        );
        base.abandon().await;
    }
}
