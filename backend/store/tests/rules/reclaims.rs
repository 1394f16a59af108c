//! An owner gets its guarantee back: told, confirmed, given, and the evicted go on where they were.

use crate::base::{Base, now, secs};
use crate::world::{World, left, running, submit, succeeded, tick};
use chrono::{DateTime, Utc};
use reeve_core::job::CheckpointMode;
use reeve_core::priority::PriorityClass;
use reeve_store::report::receive::MemberReport;
use reeve_store::submit::NewJob;

/// Beyond every kind's protected first minutes.
const LATER_SECS: i64 = 1_800;

/// Team 1 borrows all 8 GPUs of team 0 with eight jobs of one GPU; then team 0 asks for 4.
async fn borrowed(base: &mut Base) -> World {
    let mut world = World::new(base, &[8], &[8, 0]).await;
    let jobs: Vec<NewJob> =
        (0..8).map(|nth| NewJob { submitted_at: now() + secs(nth), ..world.job(1, 1) }).collect();
    submit(base, &jobs).await;
    assert_eq!(tick(base, now() + secs(10)).await.starts, 8);
    world.agents[0].all(base, now() + secs(11), running).await;
    let loans = "select b.slug as borrower, l.slug as lender, gpu_milli from loans
                 join teams b on b.id = borrower_team_id left join teams l on l.id = lender_team_id where ended_at is null";
    assert_eq!(base.ask(loans).await, "t1 t0 8000");
    submit(base, &[NewJob { submitted_at: now() + secs(LATER_SECS), ..world.job(0, 4) }]).await;
    let applied = tick(base, now() + secs(LATER_SECS)).await;
    assert_eq!((applied.starts, applied.evictions), (0, 4), "exactly as many as are needed");
    base.sound().await;
    world
}

/// The first `count` of those who were told confirm that they are gone; everybody else runs.
async fn confirm(base: &Base, world: &mut World, told: &str, count: usize, at: DateTime<Utc>) -> usize {
    let mut gone = 0;
    let said = |member: MemberReport| {
        if gone < count && told.contains(&member.job_id.to_string()) {
            gone += 1;
            return left(member);
        }
        member
    };
    let members = world.agents[0].wanted(base).await.into_iter().map(said).collect();
    let received = world.agents[0].report(base, at, members).await.expect("received");
    base.sound().await;
    received.settled.len()
}

async fn told(base: &mut Base) -> String {
    base.ask("select job_id from members where stop_order = 'leave'").await
}

#[tokio::test]
async fn being_told_frees_nothing_and_nobody_is_told_twice() {
    let mut base = Base::new().await;
    let mut world = borrowed(&mut base).await;
    let states = "select state, count(*) from jobs group by 1 order by 1";
    assert_eq!(base.ask(states).await, "leaving 4, queued 1, running 4");
    let members = "select count(*) from members where stop_order = 'leave' and state = 'leaving'";
    assert_eq!(base.ask(members).await, "4");
    let evictions = "select distinct cause, outcome, gpu_milli from evictions";
    assert_eq!(base.ask(evictions).await, "reclaim leaving 1000");
    let reason = "select reason_code from jobs where state = 'queued'";
    assert_eq!(base.ask(reason).await, "waiting_for_evictions");
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "0");
    let applied = tick(&base, now() + secs(LATER_SECS + 1)).await;
    assert_eq!((applied.starts, applied.evictions), (0, 0));

    // Three of four confirm: the owner still waits, and nobody else gets the space.
    let told = told(&mut base).await;
    let at = now() + secs(LATER_SECS + 30);
    assert_eq!(confirm(&base, &mut world, &told, 3, at).await, 3);
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "3000");
    let applied = tick(&base, at + secs(1)).await;
    assert_eq!((applied.starts, applied.evictions), (0, 0), "the freed space is promised");
    assert_eq!(base.ask("select state from reclaims").await, "waiting");
    base.end().await;
}

/// All four have gone, and the owner is placed.
async fn owner_placed(base: &mut Base) -> (World, DateTime<Utc>) {
    let mut world = borrowed(base).await;
    let (told, at) = (told(base).await, now() + secs(LATER_SECS + 30));
    assert_eq!(confirm(base, &mut world, &told, 4, at).await, 4);
    let applied = tick(base, at + secs(1)).await;
    assert_eq!((applied.starts, applied.evictions), (1, 0));
    base.sound().await;
    (world, at + secs(2))
}

#[tokio::test]
async fn the_owner_starts_in_the_space_that_was_nominated() {
    let mut base = Base::new().await;
    owner_placed(&mut base).await;
    assert_eq!(base.ask("select state, run_number from jobs where gpus = 4").await, "starting 1");
    let reclaim = "select state, ended_at is not null as ended from reclaims";
    assert_eq!(base.ask(reclaim).await, "done true");
    let promised = "select count(*) from member_gpus h join runs r on r.id = h.run_id join jobs j on j.id = r.job_id, reclaims c
                    where j.gpus = 4 and c.nomination::text like '%' || h.gpu_id || '%'";
    assert_eq!(base.ask(promised).await, "4");
    let outcomes = "select outcome, count(*), count(vacated_at) as gone, count(checkpointed_at) as saved from evictions group by 1";
    assert_eq!(base.ask(outcomes).await, "requeued 4 4 4");
    let loans = "select gpu_milli from loans where ended_at is null";
    assert_eq!(base.ask(loans).await, "4000", "what is still lent");
    base.end().await;
}

#[tokio::test]
async fn the_evicted_keep_their_age_and_go_on_as_the_next_run() {
    let mut base = Base::new().await;
    let (mut world, at) = owner_placed(&mut base).await;
    let evicted = "select state, run_number, eviction_count, failure_count, count(*) from jobs
                   where eviction_count > 0 group by 1, 2, 3, 4";
    assert_eq!(base.ask(evicted).await, "queued 1 1 0 4");
    let ages = "select count(*) from jobs where eviction_count > 0 and submitted_at < timestamptz '2027-01-15 08:00:08Z'";
    assert_eq!(base.ask(ages).await, "4");
    let owner = base.ask("select id from jobs where gpus = 4").await;
    world.agents[0].all(&base, at, running).await;
    let end =
        |member: MemberReport| if member.job_id.to_string() == owner { succeeded(member) } else { member };
    let members = world.agents[0].wanted(&base).await.into_iter().map(end).collect();
    world.agents[0].report(&base, at + secs(60), members).await.expect("received");
    assert_eq!(tick(&base, at + secs(61)).await.starts, 4);
    let runs = "select number, resume, state, count(*) from runs where number = 2 group by 1, 2, 3";
    assert_eq!(base.ask(runs).await, "2 true starting 4");
    base.end().await;
}

#[tokio::test]
async fn an_evicted_job_that_ends_by_itself_in_its_grace_has_ended() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8, 0]).await;
    submit(&base, &[NewJob { checkpoint: CheckpointMode::None, ..world.job(1, 8) }]).await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    submit(&base, &[world.job(0, 8)]).await;
    assert_eq!(tick(&base, now() + secs(LATER_SECS)).await.evictions, 1);
    world.agents[0].all(&base, now() + secs(LATER_SECS + 1), succeeded).await;
    assert_eq!(base.ask("select outcome from evictions").await, "ended_itself");
    assert_eq!(tick(&base, now() + secs(LATER_SECS + 2)).await.starts, 1);
    assert_eq!(
        base.ask("select j.state, t.slug from jobs j join teams t on t.id = j.team_id order by 2").await,
        "starting t0, succeeded t1"
    );
    base.end().await;
}

#[tokio::test]
async fn a_nomination_goes_with_its_job() {
    let mut base = Base::new().await;
    let mut world = borrowed(&mut base).await;
    let owner = base.ask("select id from jobs where gpus = 4").await.parse().expect("an id");
    let mut tx = base.store.begin(crate::base::context(now() + secs(LATER_SECS + 5))).await.expect("begins");
    let row = reeve_store::jobs::show::get_in(&mut tx, owner).await.expect("a job");
    reeve_store::jobs::act::cancel_queued(&mut tx, &row, None).await.expect("cancels");
    tx.commit().await.expect("commits");
    assert_eq!(tick(&base, now() + secs(LATER_SECS + 6)).await.dropped, 1);
    assert_eq!(base.ask("select state, end_reason is not null as told from reclaims").await, "dropped true");
    base.sound().await;
    // Whoever was told goes, is requeued, and may start again at once.
    world.agents[0].all(&base, now() + secs(LATER_SECS + 7), left).await;
    base.sound().await;
    assert_eq!(tick(&base, now() + secs(LATER_SECS + 8)).await.starts, 8 - 4);
    base.end().await;
}

/// A scavenger in the owner's own team goes for a higher class, and only it.
#[tokio::test]
async fn a_higher_class_of_the_same_team_preempts_the_lower() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[8], &[8]).await;
    submit(&base, &[NewJob { priority_class: PriorityClass::Scavenger, ..world.job(0, 4) }, world.job(0, 4)])
        .await;
    tick(&base, now()).await;
    world.agents[0].all(&base, now() + secs(1), running).await;
    submit(&base, &[NewJob { priority_class: PriorityClass::High, ..world.job(0, 4) }]).await;
    assert_eq!(tick(&base, now() + secs(LATER_SECS)).await.evictions, 1);
    assert_eq!(
        base.ask("select e.cause, j.priority_class from evictions e join jobs j on j.id = e.job_id").await,
        "preemption scavenger"
    );
    base.end().await;
}

/// Or it would hold its GPUs until the whole gang ends, and be told again at every tick.
#[tokio::test]
async fn a_surplus_member_that_has_finished_lets_go_when_it_is_told() {
    let mut base = Base::new().await;
    let mut world = World::new(&mut base, &[4, 4], &[8, 0]).await;
    submit(&base, &[NewJob { max_replicas: 2, ..world.job(1, 4) }]).await;
    for nth in 0..3 {
        tick(&base, now() + secs(nth)).await;
    }
    for agent in &mut world.agents {
        agent.all(&base, now() + secs(5), running).await;
    }
    assert_eq!(base.ask("select count(*) from members where state = 'running'").await, "2", "it has grown");
    let surplus = base.ask("select node_id from members where member = 1").await;
    let at = world.agents.iter().position(|agent| agent.node.to_string() == surplus).expect("a node");
    world.agents[at].all(&base, now() + secs(10), succeeded).await;
    assert_eq!(base.ask("select sum(free_milli) from gpus").await, "0");
    submit(&base, &[world.job(0, 4)]).await;
    let evicted = tick(&base, now() + secs(LATER_SECS)).await.evictions;
    assert_eq!(evicted, 1);
    base.sound().await;
    assert_eq!(base.ask("select surplus_only, outcome from evictions").await, "true shrunk");
    let applied = tick(&base, now() + secs(LATER_SECS + 1)).await;
    assert_eq!((applied.starts, applied.evictions), (1, 0));
    assert_eq!(base.ask("select state from jobs order by state").await, "running, starting");
    base.end().await;
}
