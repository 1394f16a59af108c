//! What agents say, late, twice, out of order, or not at all.

use crate::base::{Base, context, now, secs};
use crate::world::{LEASE_SECS, World, failed, left, member, running, submit, succeeded, tick};
use chrono::TimeDelta;
use reeve_store::jobs::act::{LeaveOrder, leave};
use reeve_store::report::lost::reap;
use reeve_store::submit::NewJob;
use reeve_store::{StoreError, jobs};
use uuid::Uuid;

async fn job_id(base: &mut Base) -> Uuid {
    base.ask("select id from jobs").await.parse().expect("one job")
}

#[tokio::test]
async fn a_late_report_of_an_older_run_changes_nothing() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[NewJob { max_failures: 5, ..world.job(0, 8) }]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), failed).await;
    tick(&base, now() + secs(2)).await;
    world.agents[0].all(&base, now() + secs(3), running).await;
    assert_eq!(base.ask("select state, run_number from jobs").await, "running 2");

    let events = base.ask("select count(*) from events").await;
    let late = vec![succeeded(member(job, 1, 0)), member(job, 2, 0)];
    let received = world.agents[0].report(&base, now() + secs(4), late).await.expect("received");
    assert_eq!(received.settled, [(job, 1, 0)], "the agent may forget the old run");
    assert_eq!(base.ask("select state, run_number, failure_count from jobs").await, "running 2 1");
    assert_eq!(base.ask("select count(*) from events").await, events, "nothing changed, nothing is told");
    base.end().await;
}

#[tokio::test]
async fn a_report_out_of_order_or_of_another_instance_is_ignored() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    world.agents[0].sequence = 10;
    world.agents[0].all(&base, now() + secs(1), running).await;
    let lease = base.ask("select lease_until, report_sequence from node_leases").await;
    for sequence in [11, 10, 3] {
        let received =
            world.agents[0].send(&base, now() + secs(5), sequence, 99, vec![failed(member(job, 1, 0))]).await;
        assert_eq!(received.expect("answered").settled, [], "{sequence}");
    }
    assert_eq!(base.ask("select lease_until, report_sequence from node_leases").await, lease);
    let mut twin = world.agents[0].clone();
    twin.sequence = 100;
    base.run("update node_leases set instance_id = gen_random_uuid()").await;
    let refused = twin.report(&base, now() + secs(6), vec![failed(member(job, 1, 0))]).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(base.ask("select state from jobs").await, "running");
    base.end().await;
}

#[tokio::test]
async fn a_repeated_report_changes_nothing_twice() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    for nth in 2..5 {
        let end = vec![succeeded(member(job, 1, 0))];
        let received = world.agents[0].report(&base, now() + secs(nth), end).await.expect("received");
        assert_eq!(received.settled, [(job, 1, 0)]);
    }
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "8000");
    assert_eq!(base.ask("select count(*) from events where action = 'job.succeeded'").await, "1");
    base.end().await;
}

#[tokio::test]
async fn a_gang_starts_together_ends_together_and_holds_its_gpus_until_then() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4], &[8]).await;
    submit(&base, &[world.gang(0, 2, 4)]).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    assert_eq!(base.ask("select state from jobs").await, "starting", "one of two runs");
    world.agents[1].all(&base, now() + secs(2), running).await;
    assert_eq!(base.ask("select state from jobs").await, "running");
    world.agents[0].all(&base, now() + secs(10), succeeded).await;
    base.sound().await;
    assert_eq!(base.ask("select state from jobs").await, "running");
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "0", "the gang's GPUs are one allocation");
    world.agents[1].all(&base, now() + secs(20), succeeded).await;
    assert_eq!(base.ask("select state from jobs").await, "succeeded");
    assert_eq!(
        base.ask(
            "select gpu_milli, extract(epoch from ended_at - started_at)::int as secs from usage_intervals"
        )
        .await,
        "8000 20"
    );
    base.end().await;
}

#[tokio::test]
async fn one_members_failure_stops_the_rest_before_anything_is_tried_again() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4], &[8]).await;
    submit(&base, &[NewJob { max_failures: 1, ..world.gang(0, 2, 4) }]).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    world.agents[1].all(&base, now() + secs(1), running).await;
    world.agents[0].all(&base, now() + secs(2), failed).await;
    base.sound().await;
    assert_eq!(base.ask("select state from jobs").await, "leaving");
    assert_eq!(
        base.ask("select stop_order, stop_cause from members where state <> 'ended'").await,
        "stop member_failed"
    );
    assert_eq!(tick(&base, now() + secs(3)).await.starts, 0, "not while a member lives");
    world.agents[1].all(&base, now() + secs(4), left).await;
    assert_eq!(base.ask("select state, failure_count from jobs").await, "queued 1");
    assert_eq!(tick(&base, now() + secs(5)).await.starts, 1);
    base.end().await;
}

#[tokio::test]
async fn a_lost_nodes_gang_is_requeued_and_the_node_is_held_until_it_is_swept() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4, 4], &[12]).await;
    submit(&base, &[world.gang(0, 2, 4)]).await;
    tick(&base, now()).await;
    for agent in &mut world.agents {
        agent.all(&base, now() + secs(1), running).await;
    }
    let on = base.ask("select node_id from members where member = 0").await;
    let lost = world.agents.iter().position(|agent| agent.node.to_string() == on).expect("a node");
    let other = base.ask("select node_id from members where member = 1").await;
    let other = world.agents.iter().position(|agent| agent.node.to_string() == other).expect("a node");
    let job = job_id(&mut base).await;

    // Everybody else goes on reporting; this one's lease runs out.
    let over = now() + secs(1 + LEASE_SECS);
    for at in (0..3).filter(|at| *at != lost) {
        let mut agent = world.agents[at].clone();
        agent.all(&base, over, running).await;
        world.agents[at] = agent;
    }
    let margin = TimeDelta::seconds(30);
    assert_eq!(
        reap(&base.store, &context(over + secs(29)), margin).await.expect("looks"),
        [],
        "within the margin"
    );
    let reaped = reap(&base.store, &context(over + secs(31)), margin).await.expect("looks");
    assert_eq!(reaped, [world.agents[lost].node]);
    assert_eq!(reap(&base.store, &context(over + secs(32)), margin).await.expect("looks"), [], "lost once");
    base.sound().await;
    assert_eq!(base.ask("select state from jobs").await, "leaving", "the other half still runs");
    assert_eq!(tick(&base, over + secs(33)).await.starts, 0);
    world.agents[other].all(&base, over + secs(34), left).await;
    base.sound().await;
    assert_eq!(base.ask("select state, run_number, failure_count from jobs").await, "queued 1 0");
    assert_eq!(tick(&base, over + secs(35)).await.starts, 1);
    let lost_node = world.agents[lost].node;
    assert_eq!(
        base.ask(&format!("select count(*) from members where run_number = 2 and node_id = '{lost_node}'"))
            .await,
        "0"
    );

    // It is back, with the old process alive: it takes nothing until that is gone.
    submit(&base, &[world.job(0, 4)]).await;
    let stray = vec![member(job, 1, 0)];
    world.agents[lost].report(&base, over + secs(40), stray).await.expect("received");
    assert_eq!(base.ask("select state from nodes order by name").await.matches("lost").count(), 1);
    assert_eq!(
        base.ask(&format!("select stray_members from node_leases where node_id = '{lost_node}'")).await,
        "1"
    );
    assert_eq!(tick(&base, over + secs(41)).await.starts, 0);
    let swept = vec![left(member(job, 1, 0))];
    let received = world.agents[lost].report(&base, over + secs(42), swept).await.expect("received");
    assert_eq!(received.settled, [(job, 1, 0)]);
    assert_eq!(base.ask("select distinct state from nodes").await, "ready");
    assert_eq!(tick(&base, over + secs(43)).await.starts, 1);
    assert_eq!(
        base.ask("select count(*) from events where action in ('node.lost', 'node.returned')").await,
        "2"
    );
    base.end().await;
}

#[tokio::test]
async fn a_node_with_strays_takes_nothing() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    let stray = vec![member(Uuid::from_u128(7), 1, 0)];
    world.agents[0].report(&base, now(), stray).await.expect("received");
    submit(&base, &[world.job(0, 1)]).await;
    assert_eq!(tick(&base, now() + secs(1)).await.starts, 0);
    world.agents[0].report(&base, now() + secs(2), Vec::new()).await.expect("received");
    assert_eq!(tick(&base, now() + secs(3)).await.starts, 1);
    base.end().await;
}

#[tokio::test]
async fn a_member_that_its_agent_has_forgotten_is_lost() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    tick(&base, now()).await;
    // Not told of yet: silence means nothing.
    world.agents[0].report(&base, now() + secs(1), Vec::new()).await.expect("received");
    assert_eq!(base.ask("select state from members").await, "assigned");
    world.agents[0].all(&base, now() + secs(2), running).await;
    world.agents[0].report(&base, now() + secs(3), Vec::new()).await.expect("received");
    assert_eq!(
        base.ask("select m.state, end_kind, j.state as job from members m, jobs j").await,
        "ended lost queued"
    );
    base.end().await;
}

#[tokio::test]
async fn a_cancelled_job_holds_its_gpus_until_its_agent_confirms() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    let generation = base.ask("select generation from node_generations").await;
    cancel(&base, job).await;
    assert_ne!(base.ask("select generation from node_generations").await, generation, "the agent is called");
    assert_eq!(
        base.ask("select state, (select sum(free_milli) from gpus) as free from jobs").await,
        "leaving 0"
    );
    base.sound().await;
    world.agents[0].all(&base, now() + secs(3), left).await;
    assert_eq!(base.ask("select state, end_cause from jobs").await, "cancelled cancelled");
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "8000");
    base.end().await;
}

#[tokio::test]
async fn a_job_cancelled_before_its_agent_heard_of_it_is_gone_with_the_agents_next_word() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    cancel(&base, job).await;
    // An agent that has not acted on the cancel yet may be starting it.
    world.agents[0].sequence += 1;
    let agent = world.agents[0].clone();
    agent.send(&base, now() + secs(2), agent.sequence, 1, Vec::new()).await.expect("received");
    assert_eq!(base.ask("select state from jobs").await, "leaving");
    world.agents[0].report(&base, now() + secs(3), Vec::new()).await.expect("received");
    assert_eq!(base.ask("select state from jobs").await, "cancelled");
    base.end().await;
}

#[tokio::test]
async fn a_cancelled_gang_lets_go_at_once_of_what_its_finished_members_held() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4], &[8]).await;
    submit(&base, &[world.gang(0, 2, 4)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    world.agents[1].all(&base, now() + secs(1), running).await;
    world.agents[0].all(&base, now() + secs(2), succeeded).await;
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "0");
    cancel(&base, job).await;
    base.sound().await;
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "4000");
    world.agents[1].all(&base, now() + secs(3), left).await;
    assert_eq!(base.ask("select state from jobs").await, "cancelled");
    base.end().await;
}

async fn cancel(base: &Base, job: Uuid) {
    let mut tx = base.store.begin(context(now() + secs(2))).await.expect("begins");
    jobs::act::lock(&mut tx, job.into()).await.expect("locks");
    let row = jobs::show::get_in(&mut tx, job.into()).await.expect("a job");
    let order = LeaveOrder {
        cause: "cancelled",
        stop_order: "leave",
        leave_by: now() + secs(60),
        action: "job.cancelling",
        why: None,
    };
    leave(&mut tx, &row, &order).await.expect("told");
    tx.commit().await.expect("commits");
}

/// A fast job has ended before anybody heard that it ran: it has started all the same, as its agent says, but neither
/// before it was placed nor after it ended.
#[tokio::test]
async fn a_run_that_ended_before_it_was_seen_running_has_started() {
    for (started, start_secs) in [(Some(secs(2)), 2), (Some(secs(-600)), 0), (Some(secs(600)), 4), (None, 4)]
    {
        let mut base = Base::new().await;
        let mut world = World::new(&mut base, &[8], &[8]).await;
        submit(&base, &[world.job(0, 8)]).await;
        tick(&base, now()).await;
        let ended = world.agents[0].wanted(&base).await.into_iter().map(|member| {
            let mut member = succeeded(member);
            member.started_at = started.map(|after| now() + after);
            member.end.as_mut().expect("an end").at = now() + secs(4);
            member
        });
        let ended = ended.collect();
        world.agents[0].report(&base, now() + secs(5), ended).await.expect("received");
        let after_placement = "extract(epoch from %.started_at - m.placed_at)::int";
        let asked = base
            .ask(&format!(
                "select {} as job, {} as run, {} as member from jobs j join runs r on r.job_id = j.id
                 join members m on m.run_id = r.id",
                after_placement.replace('%', "j"),
                after_placement.replace('%', "r"),
                after_placement.replace('%', "m"),
            ))
            .await;
        assert_eq!(asked, format!("{start_secs} {start_secs} {start_secs}"), "{started:?}");
        let told = "select action from events where action like 'job.%' order by xid, ordinal";
        assert_eq!(base.ask(told).await, "job.submitted, job.placed, job.started, job.succeeded");
        base.end().await;
    }
}

#[tokio::test]
async fn a_gang_of_which_one_member_never_started_has_not_started() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4], &[8]).await;
    submit(&base, &[world.gang(0, 2, 4)]).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    let broken = world.agents[1].wanted(&base).await.into_iter().map(|member| {
        let mut member = failed(member);
        let end = member.end.as_mut().expect("an end");
        (end.exit_code, end.start_error) = (None, Some("no such file".to_owned()));
        member
    });
    let broken = broken.collect();
    world.agents[1].report(&base, now() + secs(2), broken).await.expect("received");
    world.agents[0].all(&base, now() + secs(3), left).await;
    assert_eq!(base.ask("select state, started_at from jobs").await, "failed -");
    // The one that failed says why, not the one that was told to stop after it.
    assert_eq!(base.ask("select end_cause, end_detail from jobs").await, "start_error no such file");
    assert_eq!(base.ask("select started_at from runs").await, "-");
    assert_eq!(base.ask("select count(started_at) from members").await, "1");
    base.end().await;
}

/// Told to go before it was seen running: it ran all the same.
#[tokio::test]
async fn a_run_that_is_leaving_already_has_started_when_its_agent_says_so() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[world.job(0, 8)]).await;
    let job = job_id(&mut base).await;
    tick(&base, now()).await;
    let wanted = world.agents[0].wanted(&base).await;
    cancel(&base, job).await;
    world.agents[0].report(&base, now() + secs(3), wanted).await.expect("received");
    assert_eq!(base.ask("select state, started_at is not null as started from jobs").await, "leaving true");
    base.end().await;
}
