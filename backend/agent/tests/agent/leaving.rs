//! Grace: the notice, the checkpoint, and what happens to those who do not go.

use super::agent::{World, in_secs, leave, sh, wait_for};
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

#[test]
fn each_member_of_a_gang_speaks_for_itself() {
    let world = World::with_agent();
    let script = r#"trap '[ "$REEVE_RANK" = 1 ] && reeve-ctl checkpoint' USR1; echo ready; while :; do sleep 0.05; done"#;
    let mut first = sh(script);
    first.spec.replicas = 2;
    let mut second = first.clone();
    second.member = 1;
    let (first, second) = (world.run(&first), world.run(&second));
    for key in [&first, &second] {
        world.running(key);
        world.log_says(key, "ready");
    }
    world.server.order(&first, leave(60));
    let (report, end) = world.ended(&second);
    assert_eq!(end.signal.as_deref(), Some("TERM"));
    assert!(report.checkpointed_at.is_some());
    let other = world.running(&first);
    assert!(other.end.is_none() && other.checkpointed_at.is_none(), "it has saved nothing yet: {other:?}");
}

#[test]
fn last_words_count_whatever_the_exit_code() {
    let world = World::with_agent();
    let key = world.sh("trap 'reeve-ctl checkpoint; exit 75' USR1; echo ready; while :; do sleep 0.05; done");
    world.running(&key);
    world.log_says(&key, "ready");
    world.server.order(&key, leave(60));
    let (report, end) = world.ended(&key);
    assert_eq!(end.exit_code, Some(75));
    assert!(report.checkpointed_at.is_some_and(|at| at <= end.at), "{report:?}");
}

#[test]
fn a_job_that_saves_now_and_then_looks_whether_it_is_to_leave() {
    let world = World::with_agent();
    let mut member = sh(r#"/bin/echo ready
        while ! reeve-ctl leaving > "$REEVE_CHECKPOINT_DIR/notice"; do /bin/sleep 0.05; done
        reeve-ctl checkpoint; /bin/sleep 600"#);
    member.spec.checkpoint = reeve_core::job::CheckpointMode::Periodic;
    // Its own programs only: what Reeve adds comes after.
    member.spec.env.insert("PATH".into(), "/nowhere".into());
    member.spec.command[0] = "/bin/sh".into();
    let key = world.run(&member);
    world.running(&key);
    world.log_says(&key, "ready");
    let asked = in_secs(0);
    world.server.order(&key, leave(60));
    let (report, end) = world.ended(&key);
    assert_eq!((end.signal.as_deref(), end.asked), (Some("TERM"), true));
    assert!(end.at < asked + chrono::TimeDelta::seconds(45), "long before its grace was over");
    assert!(report.checkpointed_at.is_some_and(|at| at <= end.at), "{report:?}");
    let notice = std::fs::read_to_string(world.checkpoint_dir(&key).join("notice")).unwrap();
    let notice: serde_json::Value = serde_json::from_str(&notice).unwrap();
    assert_eq!((&notice["cause"], &notice["checkpoint"]), (&"reclaim".into(), &false.into()));
}

#[test]
fn checkpoints_without_end_are_told_now_and_then() {
    let world = World::with_agent();
    let key = world.sh("echo ready; while :; do reeve-ctl checkpoint; sleep 0.01; done");
    world.log_says(&key, "ready");
    let first = wait_for("the first is told", || world.running(&key).checkpointed_at);
    let reports = || world.server.heard.lock().unwrap().report_count;
    let before = reports();
    let second =
        wait_for("a later one is told", || world.running(&key).checkpointed_at.filter(|at| *at != first));
    assert!(second - first >= chrono::TimeDelta::seconds(4), "{first} {second}");
    // A heartbeat a second, and the news.
    assert!(reports() - before < 15, "{} reports", reports() - before);
}

#[test]
fn what_the_helper_cannot_do_it_says() {
    let world = World::with_agent();
    let helper = world.state_dir().join("bin/reeve-ctl");
    wait_for("the helper is there", || helper.exists().then_some(()));
    let run =
        |argument: &str| std::process::Command::new(&helper).arg(argument).env_clear().output().unwrap();
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let outside = run("checkpoint");
    assert!(
        !outside.status.success() && said(&outside).contains("this is no job of Reeve"),
        "{}",
        said(&outside)
    );
    let unknown = run("chekpoint");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("usage: reeve-ctl checkpoint"), "{}", said(&unknown));
}
