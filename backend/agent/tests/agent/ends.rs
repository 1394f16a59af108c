//! How jobs end by themselves, and what is left of them.

use super::agent::{World, command, is_alive, read_pid, sh};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

#[test]
fn exit_codes_and_signals_are_reported_as_they_are() {
    let world = World::with_agent();
    let good = world.sh("exit 0");
    let seven = world.sh("exit 7");
    let killed = world.sh("kill -SEGV $$");
    let (_, end) = world.ended(&good);
    assert_eq!((end.exit_code, end.signal, end.asked, end.vanished), (Some(0), None, false, false));
    let (_, end) = world.ended(&seven);
    assert_eq!((end.exit_code, end.signal), (Some(7), None));
    let (report, end) = world.ended(&killed);
    assert_eq!((end.exit_code, end.signal.as_deref()), (None, Some("SEGV")));
    assert!(report.started_at.is_some_and(|started| started <= end.at));
}

#[test]
fn what_cannot_start_says_why() {
    let world = World::with_agent();
    let missing = world.run(&command(&["no-such-command-7"]));
    let mut lost = sh("true");
    lost.spec.working_dir = Some("/no/such/directory".into());
    let lost = world.run(&lost);
    let empty = world.run(&command(&[]));
    let error = |key| world.ended(key).1.start_error.unwrap();
    assert_eq!(error(&missing), "no such command: no-such-command-7");
    assert_eq!(error(&lost), "no such directory: /no/such/directory");
    assert_eq!(error(&empty), "the command is empty");
}

#[test]
fn daemons_that_hide_are_ended_with_their_job() {
    let world = World::with_agent();
    // Another session, another parent, an environment without marks: only the shim still knows it.
    let script = r#"setsid env -i sh -c 'echo $$ > '"$REEVE_CHECKPOINT_DIR"'/daemon; exec sleep 1000' &
        while [ ! -s "$REEVE_CHECKPOINT_DIR/daemon" ]; do sleep 0.02; done"#;
    let key = world.sh(script);
    let daemon = read_pid(&world.checkpoint_dir(&key).join("daemon"));
    let (_, end) = world.ended(&key);
    assert_eq!(end.exit_code, Some(0));
    assert!(!is_alive(daemon), "the daemon outlived its job's confirmed end");
}

#[test]
fn a_job_whose_shim_was_killed_has_vanished_with_all_its_processes() {
    let world = World::with_agent();
    let key = world.sh("sleep 1000");
    let pid = i32::try_from(world.running(&key).pid.unwrap()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let shim = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap();
    kill(Pid::from_raw(shim), Signal::SIGKILL).unwrap();
    let (_, end) = world.ended(&key);
    assert!(end.vanished, "{end:?}");
    super::agent::wait_for("its process is gone", || (!is_alive(pid)).then_some(()));
}

#[test]
fn over_its_time_limit_it_is_stopped() {
    let world = World::with_agent();
    let mut member = sh("sleep 1000");
    member.spec.time_limit_secs = Some(1);
    let (_, end) = world.ended(&world.run(&member));
    assert!(end.timed_out);
    assert_eq!(end.signal.as_deref(), Some("TERM"));
}
