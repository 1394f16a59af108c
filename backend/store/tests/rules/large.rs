//! How long the parts of a tick take on a large database. It asserts nothing and is run by hand:
//! `cargo nextest run -p reeve-store --test rules --run-ignored only large`.

use crate::base::{Base, now, secs};
use crate::world::World;
use reeve_core::schedule::plan;
use reeve_store::schedule::explanations::Freshness;
use reeve_store::schedule::tick::{Outcome, TickSession};
use std::time::Instant;

const NODES: usize = 3_200;
const RUNNING: i64 = 25_000;
const PENDING: i64 = 100_000;
const TEAMS: usize = 20;

/// Jobs of one GPU: the first `RUNNING` are placed on as many cards, the rest waits.
async fn fill(base: &mut Base) {
    base.run(&format!(
        "with numbered as (
             select n, gen_random_uuid() as id, t.id as team, q.id as queue, u.id as user_id
             from generate_series(1, {all}) n
             join lateral (select id from teams where slug = 't' || n % {TEAMS}) t on true
             join queues q on q.team_id = t.id join users u on u.username = 'u' || n % {TEAMS}
         )
         insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, gpus, cpu_milli, memory_mib,
                           min_replicas, max_replicas, checkpoint, command, run_number, submitted_at, updated_at)
         select id, team, queue, user_id, 'j' || n, 'batch', 'low', case when n <= {RUNNING} then 'running' else 'queued' end,
                1, 100, 100, 1, 1, 'on_signal', array['true'], case when n <= {RUNNING} then 1 else 0 end,
                timestamptz '{start}' - n * interval '1 second', now()
         from numbered;
         create temp table placing as
             select j.id as job, j.team_id, gen_random_uuid() as run, g.id as gpu, g.node_id
             from (select id, team_id, row_number() over (order by id) as at from jobs where state = 'running') j
             join (select id, node_id, row_number() over (order by node_id, index) as at from gpus) g on g.at = j.at;
         insert into runs (id, job_id, number, state, pool_id, placed_at, started_at)
             select run, job, 1, 'running', (select id from pools), '{start}', '{start}' from placing;
         insert into members (run_id, member, job_id, run_number, node_id, state, cpu_milli, memory_mib, placed_at)
             select run, 0, job, 1, node_id, 'running', 100, 100, '{start}' from placing;
         insert into member_gpus (run_id, member, gpu_id, milli, memory_mib) select run, 0, gpu, 1000, 0 from placing;
         insert into usage_intervals (id, run_id, job_id, team_id, pool_id, kind, priority_class, gpu_milli, started_at)
             select gen_random_uuid(), run, job, team_id, (select id from pools), 'batch', 'low', 1000, '{start}' from placing;
         update gpus set free_milli = 0 where id in (select gpu from placing);
         update nodes n set free_cpu_milli = free_cpu_milli - 100 * p.members, free_memory_mib = free_memory_mib - 100 * p.members
             from (select node_id, count(*) as members from placing group by 1) p where p.node_id = n.id;
         analyze",
        all = RUNNING + PENDING,
        start = now(),
    ))
    .await;
}

#[tokio::test]
#[ignore = "a measurement, not a test"]
async fn a_tick_on_a_large_database_is_measured() {
    let mut base = Base::new().await;
    World::new(&mut base, &[8; NODES], &[1_280; TEAMS]).await;
    fill(&mut base).await;
    let mut session = TickSession::open(&base.store).await.expect("opens");
    for nth in 0..4 {
        let began = Instant::now();
        let tick = session.begin(now() + secs(nth)).await.expect("begins").expect("nobody else");
        let loaded = began.elapsed();
        let planning = Instant::now();
        let decided = plan(&tick.loaded().snapshot);
        let planned = planning.elapsed();
        let applying = Instant::now();
        let outcome = tick.apply(&decided, Freshness::Numbers).await.expect("applies");
        let applied = applying.elapsed();
        let Outcome::Applied(what) = outcome else { panic!("undisturbed") };
        println!("tick {nth}: load {loaded:.1?}, plan {planned:.1?}, apply {applied:.1?}: {what:?}");
    }
    session.close().await;
    for (name, asked) in [("use_by_team", 0), ("gauges", 1)] {
        let began = Instant::now();
        match asked {
            0 => drop(reeve_store::quota_use::use_by_team(&base.store, None).await.expect("reads")),
            _ => drop(reeve_store::gauges::read(&base.store).await.expect("reads")),
        }
        println!("{name}: {:.1?}", began.elapsed());
    }
    base.abandon().await;
}
