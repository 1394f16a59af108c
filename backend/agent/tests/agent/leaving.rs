//! Grace: the notice, the checkpoint, and what happens to those who do not go.

use super::agent::{World, leave, sh};
use reeve_wire::desired::Order;

#[test]
fn asked_for_a_checkpoint_it_writes_one_and_leaves_within_grace() {
    let world = World::with_agent();
    let key = world.sh(
        r#"trap 'cp "$REEVE_EVICTION_FILE" "$REEVE_CHECKPOINT_DIR/notice"; echo 42 > "$REEVE_CHECKPOINT_DIR/step"; exit 0' USR1
        echo ready; while :; do sleep 0.05; done"#,
    );
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, leave(30));
    let (report, end) = world.ended(&key);
    assert_eq!((end.exit_code, end.asked), (Some(0), true));
    assert_eq!(report.checkpointed_at, Some(end.at));
    let notice = std::fs::read_to_string(world.checkpoint_dir(&key).join("notice")).unwrap();
    let notice: serde_json::Value = serde_json::from_str(&notice).unwrap();
    assert_eq!(notice["cause"], "reclaim");
    assert!(notice["leave_by"].is_string());

    // The next run finds what the last one wrote, and is told that it resumes.
    let mut next = sh(r#"cat "$REEVE_CHECKPOINT_DIR/step"; echo "resume=$REEVE_RESUME run=$REEVE_RUN""#);
    next.job_id = key.job_id;
    next.run_number = 2;
    next.spec.resume = true;
    assert_eq!(world.log(&world.run(&next)), "42\nresume=1 run=2\n");
}

#[test]
fn a_job_that_says_its_checkpoint_is_written_is_stopped_at_once() {
    let world = World::with_agent();
    let key = world.sh(
        r#"trap 'touch "$REEVE_CHECKPOINT_DIR/.acknowledged"' USR1; echo ready; while :; do sleep 0.05; done"#,
    );
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, leave(60));
    let (report, end) = world.ended(&key);
    assert_eq!((end.signal.as_deref(), end.asked), (Some("TERM"), true));
    assert!(report.checkpointed_at.is_some_and(|at| at <= end.at));
}

#[test]
fn without_a_checkpoint_its_grace_is_its_own_and_then_it_is_stopped() {
    let world = World::with_agent();
    let mut member = sh("trap 'echo signalled; exit 3' USR1; echo ready; while :; do sleep 0.05; done");
    member.spec.checkpoint = reeve_core::job::CheckpointMode::None;
    let key = world.run(&member);
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, leave(1));
    let (report, end) = world.ended(&key);
    assert_eq!((end.signal.as_deref(), report.checkpointed_at), (Some("TERM"), None));
    assert_eq!(world.log(&key), "ready\n");
}

#[test]
fn one_that_ends_by_itself_during_grace_keeps_its_end() {
    let world = World::with_agent();
    let key = world
        .sh("trap '' USR1; echo ready; while [ ! -e \"$REEVE_EVICTION_FILE\" ]; do sleep 0.02; done; exit 5");
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, leave(60));
    let (report, end) = world.ended(&key);
    assert_eq!((end.exit_code, end.signal, end.asked), (Some(5), None, true));
    assert_eq!(report.checkpointed_at, None, "a failure is no checkpoint");
}

#[test]
fn one_that_ignores_term_is_killed() {
    let world = World::with_agent();
    let key = world.sh("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, Order::Stop { cause: "cancelled".into(), kill_after_secs: 1 });
    let (_, end) = world.ended(&key);
    assert_eq!((end.signal.as_deref(), end.asked), (Some("KILL"), true));
}

#[test]
fn what_is_no_longer_desired_is_stopped_and_an_older_state_changes_nothing() {
    let world = World::with_agent();
    let kept = world.sh("sleep 1000");
    let dropped = world.sh("sleep 1000");
    world.running(&kept);
    world.running(&dropped);
    {
        // An answer that was on its way: it knows of nothing.
        let mut heard = world.server.heard.lock().unwrap();
        heard.desired_once = Some(reeve_wire::desired::Desired { generation: 0, members: Vec::new() });
    }
    let third = world.sh("sleep 1000");
    world.running(&third);
    assert!(world.server.member(&dropped).unwrap().end.is_none(), "a late, older state stopped it");
    world.server.desire(|desired| desired.retain(|member| member.job_id != dropped.job_id));
    let (_, end) = world.ended(&dropped);
    assert_eq!((end.signal.as_deref(), end.asked), (Some("TERM"), true));
    assert!(world.server.member(&kept).unwrap().end.is_none());
}

#[test]
fn told_to_end_what_it_never_had_it_confirms_that_it_is_not_there() {
    let world = World::with_agent();
    let mut member = sh("echo must not run");
    member.order = leave(30);
    let key = world.run(&member);
    let (_, end) = world.ended(&key);
    assert!(end.vanished && end.asked, "{end:?}");
    assert!(!world.member_folder(&key).join("log").exists());
}
