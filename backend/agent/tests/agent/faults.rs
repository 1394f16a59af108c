//! What must be survived: the agent's death, the server's, the network's.

use super::agent::{World, is_alive, read_pid, sh, wait_for};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

#[test]
fn a_killed_agent_s_jobs_go_on_and_the_next_one_knows_their_ends() {
    let mut world = World::with_agent();
    let long = world.sh(
        r#"echo started; while [ ! -e "$REEVE_CHECKPOINT_DIR/go" ]; do sleep 0.02; done; echo done; exit 9"#,
    );
    let short = world.sh(r#"while [ ! -e "$REEVE_CHECKPOINT_DIR/go" ]; do sleep 0.02; done; kill -ABRT $$"#);
    let pid = world.running(&long).pid;
    world.running(&short);
    world.kill9_agent();
    // One ends while no agent is there to see it.
    std::fs::write(world.checkpoint_dir(&short).join("go"), "").unwrap();
    wait_for("its end is on disk", || world.member_folder(&short).join("exit.json").exists().then_some(()));
    world.start_agent(&[]);
    let (_, end) = world.ended(&short);
    assert_eq!((end.signal.as_deref(), end.vanished), (Some("ABRT"), false));
    wait_for("it registers again", || {
        (world.server.heard.lock().unwrap().registered.len() == 2).then_some(())
    });
    assert_eq!(world.running(&long).pid, pid, "adopted, not started again");
    std::fs::write(world.checkpoint_dir(&long).join("go"), "").unwrap();
    let (_, end) = world.ended(&long);
    assert_eq!((end.exit_code, end.vanished), (Some(9), false));
    assert_eq!(world.log(&long), "started\ndone\n");
    let heard = world.server.heard.lock().unwrap();
    assert_eq!(heard.registered[1].previous_instance_id, Some(heard.registered[0].instance_id));
    assert_ne!(heard.registered[1].instance_id, heard.registered[0].instance_id);
}

#[test]
fn a_server_that_restarts_finds_the_jobs_untouched() {
    let mut world = World::with_agent();
    let key = world.sh("sleep 1000");
    let pid = world.running(&key).pid;
    let ending = world.sh(r#"while [ ! -e "$REEVE_CHECKPOINT_DIR/go" ]; do sleep 0.02; done; exit 4"#);
    world.running(&ending);
    world.server.down();
    std::fs::write(world.checkpoint_dir(&ending).join("go"), "").unwrap();
    wait_for("it ends meanwhile", || world.member_folder(&ending).join("exit.json").exists().then_some(()));
    world.server.up();
    assert_eq!(world.ended(&ending).1.exit_code, Some(4));
    assert_eq!(world.running(&key).pid, pid);
}

#[test]
fn an_end_is_told_until_it_is_recorded() {
    let world = World::with_agent();
    world.server.heard.lock().unwrap().settle = false;
    let key = world.sh("exit 6");
    world.ended(&key);
    world.server.heard.lock().unwrap().reports.clear();
    assert_eq!(world.ended(&key).1.exit_code, Some(6), "told again");
    world.server.heard.lock().unwrap().settle = true;
    wait_for("it is forgotten", || {
        let mut heard = world.server.heard.lock().unwrap();
        let told = heard.reports.remove(&key).is_some();
        (!told && heard.desired.is_empty()).then_some(())
    });
}

#[test]
fn cut_off_for_its_lease_it_ends_its_jobs() {
    let mut world = World::new();
    world.server.heard.lock().unwrap().lease_secs = 2;
    world.start_agent(&[]);
    let key = world.sh(r#"echo $$ > "$REEVE_CHECKPOINT_DIR/pid"; exec sleep 1000"#);
    world.running(&key);
    let pid = read_pid(&world.checkpoint_dir(&key).join("pid"));
    world.server.down();
    let cut = Instant::now();
    wait_for("the job is ended", || (!is_alive(pid)).then_some(()));
    assert!(cut.elapsed() < Duration::from_secs(10), "after {:?}", cut.elapsed());
    world.server.up();
    let (_, end) = world.ended(&key);
    assert!(end.lease_lost && !end.asked, "{end:?}");
    // And it works on.
    let next = world.sh("exit 0");
    assert_eq!(world.ended(&next).1.exit_code, Some(0));
}

#[test]
fn without_agent_and_lease_the_shim_ends_the_job() {
    let mut world = World::new();
    world.server.heard.lock().unwrap().lease_secs = 1;
    world.start_agent(&[]);
    let key = world.sh(r#"echo $$ > "$REEVE_CHECKPOINT_DIR/pid"; exec sleep 1000"#);
    world.running(&key);
    let pid = read_pid(&world.checkpoint_dir(&key).join("pid"));
    world.kill9_agent();
    wait_for("the job is ended", || (!is_alive(pid)).then_some(()));
    world.start_agent(&[]);
    let (_, end) = world.ended(&key);
    assert!(end.lease_lost, "{end:?}");
    assert_eq!(end.signal.as_deref(), Some("TERM"));
}

#[test]
fn strays_of_a_job_that_nobody_looks_after_are_swept_at_the_start() {
    let mut world = World::with_agent();
    let key = world.sh(r#"echo $$ > "$REEVE_CHECKPOINT_DIR/pid"; exec sleep 1000"#);
    world.running(&key);
    let pid = read_pid(&world.checkpoint_dir(&key).join("pid"));
    world.kill9_agent();
    world.server.desire(Vec::clear);
    // Its record is gone, as after a restored state directory: only its marks are left.
    std::fs::remove_dir_all(world.member_folder(&key)).unwrap();
    world.start_agent(&[]);
    wait_for("the stray is gone", || (!is_alive(pid)).then_some(()));
}

#[test]
fn a_second_agent_on_the_same_state_directory_is_refused() {
    let world = World::with_agent();
    let key = world.sh("sleep 1000");
    world.running(&key);
    let output = world.command("run").args(["--node", "n1", "--gpus", "none"]).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("another reeve-agent runs on"), "{error}");
    assert_eq!(world.server.heard.lock().unwrap().registered.len(), 1);
}

#[test]
fn an_agent_that_was_replaced_ends_its_jobs_and_itself() {
    let mut world = World::with_agent();
    let key = world.sh(r#"echo $$ > "$REEVE_CHECKPOINT_DIR/pid"; exec sleep 1000"#);
    world.running(&key);
    let pid = read_pid(&world.checkpoint_dir(&key).join("pid"));
    world.server.heard.lock().unwrap().taken_over = true;
    let status = world.agent.as_mut().unwrap().wait().unwrap();
    assert!(!status.success());
    assert!(!is_alive(pid));
}

#[test]
fn a_wrong_or_missing_join_token_is_refused_in_one_line() {
    let world = World::new();
    std::fs::write(world.folder.path().join("token"), "reeve_join_wrong").unwrap();
    let output = world.command("run").args(["--node", "n1", "--gpus", "none"]).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("this join token is not valid"), "{error}");
    std::fs::write(world.folder.path().join("token"), "").unwrap();
    let output = world.command("run").args(["--node", "n1", "--gpus", "none"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("this node has not joined yet"));
}

#[test]
fn told_to_stop_it_leaves_its_jobs_or_takes_them_along() {
    let mut world = World::with_agent();
    let key = world.run(&sh(r#"echo $$ > "$REEVE_CHECKPOINT_DIR/pid"; exec sleep 1000"#));
    world.running(&key);
    let pid = read_pid(&world.checkpoint_dir(&key).join("pid"));
    world.signal_agent(Signal::SIGTERM);
    assert!(world.agent.take().unwrap().wait().unwrap().success());
    assert!(is_alive(pid), "an upgrade must not cost a job");
    world.start_agent(&["--stop-jobs-on-exit"]);
    wait_for("it registers again", || {
        (world.server.heard.lock().unwrap().registered.len() == 2).then_some(())
    });
    world.signal_agent(Signal::SIGTERM);
    assert!(world.agent.take().unwrap().wait().unwrap().success());
    assert!(!is_alive(pid));
    let (_, end) = world.ended(&key);
    assert!(end.lease_lost && !end.asked, "given up by the agent, not failed: {end:?}");
}
