//! What a session keeps of the world between two ticks is what it would read. Debug builds compare the two at each tick
//! and panic where they differ, so here the world is only made to change in ways that could be missed.

use crate::base::{Base, now, run, secs};
use crate::world::{World, left, running, submit, tick_unjudged};
use reeve_core::schedule::plan::Plan;
use reeve_store::schedule::explanations::Freshness;
use reeve_store::schedule::tick::{Outcome, TickSession};
use sqlx::PgConnection;

async fn begin_in(base: &Base) -> PgConnection {
    let mut connection = base.another_connection().await;
    run(&mut connection, "begin").await;
    connection
}

/// What the session sees: held jobs of all jobs.
async fn held(session: &mut TickSession, at: i64) -> (usize, usize) {
    let tick = session.begin(now() + secs(at)).await.expect("begins").expect("alone");
    let jobs = &tick.loaded().snapshot.jobs;
    let seen = (jobs.iter().filter(|job| job.held).count(), jobs.len());
    tick.abandon().await.expect("lets go");
    seen
}

#[tokio::test]
async fn transactions_that_commit_out_of_order_are_seen_when_they_commit() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[1], &[1]).await;
    submit(&base, &[world.job(0, 1), world.job(0, 1), world.job(0, 1)]).await;
    let mut session = TickSession::open(&base.store).await.expect("opens");
    assert_eq!(held(&mut session, 0).await, (0, 3));
    let hold = |nth: i32| {
        format!(
            "update jobs set held = true where id = (select id from jobs order by id offset {nth} limit 1)"
        )
    };
    // Begun first, over last; one that is undone; one that comes and goes between.
    let mut early = begin_in(&base).await;
    run(&mut early, &hold(0)).await;
    let mut undone = begin_in(&base).await;
    run(&mut undone, &hold(1)).await;
    base.run(&hold(2)).await;
    assert_eq!(held(&mut session, 1).await, (1, 3));
    run(&mut undone, "rollback").await;
    assert_eq!(held(&mut session, 2).await, (1, 3));
    run(&mut early, "commit").await;
    assert_eq!(held(&mut session, 3).await, (2, 3));
    base.run("update jobs set held = false").await;
    assert_eq!(held(&mut session, 4).await, (0, 3));
    // A savepoint's changes are its transaction's.
    let mut nested = begin_in(&base).await;
    run(&mut nested, &format!("savepoint s; {}; release savepoint s", hold(1))).await;
    assert_eq!(held(&mut session, 5).await, (0, 3));
    run(&mut nested, "commit").await;
    assert_eq!(held(&mut session, 6).await, (1, 3));
    session.close().await;
    base.end().await;
}

/// Two servers in turn, each pruning the log under the other, with the clock set back in between.
#[tokio::test]
async fn two_servers_that_take_turns_see_each_others_changes() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[2, 2], &[2, 2]).await;
    let mut agents = world.agents.clone();
    let mut sessions = [
        TickSession::open(&base.store).await.expect("opens"),
        TickSession::open(&base.store).await.expect("opens"),
    ];
    for nth in 0..24_i64 {
        let team = usize::try_from(nth % 2).expect("small");
        submit(&base, &[world.job(team, 1), world.job(team, 2)]).await;
        // One of them is away for a while, and then finds what it knew pruned away.
        let which = usize::from(nth % 3 == 0 && !(6..15).contains(&nth));
        let at = now() + secs(if nth == 17 { -600 } else { nth * 7 });
        tick_unjudged(&mut sessions[which], at).await.expect("alone");
        for agent in &mut agents {
            agent.all(&base, now(), if nth % 4 == 3 { left } else { running }).await;
        }
    }
    let log = base.ask("select count(*) < 200 as few, count(*) > 0 as some from planner_changes").await;
    assert_eq!(log, "true true", "the log is pruned");
    for session in sessions {
        session.close().await;
    }
    base.end().await;
}

#[tokio::test]
async fn an_explanation_that_another_server_wrote_is_known() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[1], &[1]).await;
    submit(&base, &[world.job(0, 1), world.job(0, 1)]).await;
    let mut one = TickSession::open(&base.store).await.expect("opens");
    let mut other = TickSession::open(&base.store).await.expect("opens");
    for nth in 0..3 {
        tick_unjudged(&mut one, now() + secs(nth)).await.expect("alone");
        tick_unjudged(&mut other, now() + secs(nth)).await.expect("alone");
    }
    let told = base.ask("select count(*) from events where action = 'job.reason_changed'").await;
    assert_eq!(told, "1", "the same reason is told once, whoever finds it");
    base.run("update jobs set reason_code = null, reason = null, reason_hash = null where state = 'queued'")
        .await;
    tick_unjudged(&mut one, now() + secs(9)).await.expect("alone");
    assert_eq!(
        base.ask("select count(*) from jobs where state = 'queued' and reason is null").await,
        "0",
        "what was lost is written again"
    );
    base.abandon().await;
}

/// A plan that is not carried out, and settings, nodes and a calendar that change under a session.
#[tokio::test]
async fn everything_that_a_plan_reads_is_followed() {
    let mut base = Base::new().await;
    let world = World::new(&mut base, &[2, 2], &[2, 0]).await;
    submit(&base, &[world.gang(0, 2, 1), world.job(1, 1), world.job(1, 1)]).await;
    let mut session = TickSession::open(&base.store).await.expect("opens");
    let stale = session.begin(now()).await.expect("begins").expect("alone");
    let decided = reeve_core::schedule::plan(&stale.loaded().snapshot);
    base.run("update gpus set free_milli = 0").await;
    assert_eq!(stale.apply(&decided, Freshness::Numbers).await.expect("applies"), Outcome::Stale);
    base.run("update gpus set free_milli = 1000").await;
    let changes = [
        "select 1",
        "update pools set slug = 'q', name = 'q'",
        "update teams set slug = 'x' where slug = 't1'",
        "update quotas set guaranteed_gpus = 1, weight = 3",
        "update queues set max_running_jobs = 5",
        "insert into policies (version, document, created_at) values (7, '{}', now())",
        "update nodes set labels = '{\"a\": \"b\"}', datasets = '{d}' where name = 'n0'",
        "update gpus set health = 'sick' where index = 1",
        "update node_leases set stray_members = 2",
        "update node_leases set stray_members = 0",
        "update nodes set state = 'cordoned' where name = 'n1'",
        "insert into users (id, username, display_name, created_at, updated_at)
           values ('00000000-0000-0000-0000-000000000001', 'z', 'z', now(), now());
         insert into reservations (id, pool_id, team_id, gpus, starts_at, ends_at, created_by, created_at)
           select gen_random_uuid(), p.id, t.id, 1, now(), now() + interval '300 days',
                  '00000000-0000-0000-0000-000000000001', now() from pools p, teams t where t.slug = 't0'",
        "update teams set state = 'deleted' where slug = 't0'",
        "update jobs set priority_class = 'normal', pool_ids = array(select id from pools), node_labels = '{\"a\": \"b\"}'",
        "delete from members where false; update jobs set time_limit_secs = 60 where gpus = 1",
        "update jobs set nvlink = 'required' where state = 'queued'",
        "update jobs set waits_for_jobs = true where state = 'queued'",
        "update jobs set waits_for_jobs = false where state = 'queued'",
        "update nodes set state = 'removed' where name = 'n1'",
    ];
    for (at, change) in (1..).zip(changes) {
        base.run(change).await;
        tick_unjudged(&mut session, now() + secs(at)).await.expect("alone");
    }
    // The reservation ends by itself.
    let ended = session.begin(now() + secs(400 * 86_400)).await.expect("begins").expect("alone");
    assert_eq!(ended.loaded().snapshot.reservations, Vec::new());
    let nothing = Plan::default();
    assert!(matches!(ended.apply(&nothing, Freshness::Numbers).await, Ok(Outcome::Applied(_))));
    session.close().await;
    base.abandon().await;
}
