//! What a job is given, what it must not see, and what it writes.

use super::agent::{World, command, environs, sh};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_job_gets_its_environment_and_nothing_of_the_agent_s() {
    let world = World::with_agent();
    let mut member = command(&["env"]);
    member.spec.env.insert("LEARNING_RATE".into(), "0.1".into());
    member.spec.replicas = 2;
    let key = world.run(&member);
    let log = world.log(&key);
    let names: Vec<&str> =
        log.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            "CUDA_VISIBLE_DEVICES",
            "HOME",
            "LANG",
            "LEARNING_RATE",
            "PATH",
            "REEVE_ATTEMPT",
            "REEVE_CHECKPOINT_DIR",
            "REEVE_CHECKPOINT_FILE",
            "REEVE_EVICTION_FILE",
            "REEVE_JOB_ID",
            "REEVE_JOB_NAME",
            "REEVE_NODE",
            "REEVE_NODE_ID",
            "REEVE_QUEUE",
            "REEVE_RANK",
            "REEVE_REPLICAS",
            "REEVE_RUN",
            "REEVE_TEAM",
        ]
    );
    for line in [
        "CUDA_VISIBLE_DEVICES=0,3",
        "REEVE_REPLICAS=2",
        "REEVE_NODE=n1",
        "REEVE_TEAM=vision",
        "LEARNING_RATE=0.1",
    ] {
        assert!(log.lines().any(|found| found == line), "{line} in {log}");
    }
}

#[test]
fn secrets_stay_out_of_environments_arguments_and_files() {
    let world = World::with_agent();
    let mut member = sh("sleep 1000");
    member.spec.env.insert("API_KEY".into(), "canary-of-the-job".into());
    let key = world.run(&member);
    world.running(&key);
    let agent = i32::try_from(world.agent.as_ref().unwrap().id()).unwrap();
    for (pid, environ) in environs() {
        if environ.contains("canary-of-the-agent") {
            // Its own, and the tests' own agents.
            let name = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(pid == agent || name.contains("\0--server"), "process {pid} has it: {name}");
        }
        let arguments = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!arguments.contains("reeve_node_test-credential"), "process {pid}: {arguments}");
    }
    let identity = world.state_dir().join("identity.json").metadata().unwrap();
    assert_eq!(identity.permissions().mode() & 0o777, 0o600);
    for entry in std::fs::read_dir(world.member_folder(&key)).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("canary-of-the-job"), "{} keeps a job's secret", path.display());
    }
}

#[test]
fn twenty_megabytes_of_log_arrive_bit_by_bit() {
    let world = World::with_agent();
    let key =
        world.sh("i=0; while [ $i -lt 20 ]; do head -c 1048576 /dev/urandom; i=$((i+1)); done; echo end >&2");
    let (report, _) = world.ended(&key);
    let size = 20 * 1024 * 1024 + 4;
    assert_eq!(report.log_bytes, Some(size));
    super::agent::wait_for("it arrives", || (world.server.log(&key).len() as i64 == size).then_some(()));
    let written = std::fs::read(world.member_folder(&key).join("log")).unwrap();
    assert!(written == world.server.log(&key), "the log arrived changed");
}

#[test]
fn a_log_on_disk_is_capped_and_the_server_gets_the_newest() {
    let mut world = World::new();
    world.start_agent(&["--log-limit-mib", "8", "--log-rate-mib", "1"]);
    let key = world.sh("head -c 41943040 /dev/zero; echo the end; sleep 1000");
    world.running(&key);
    let path = world.member_folder(&key).join("log");
    super::agent::wait_for("its oldest blocks are given back", || {
        use std::os::unix::fs::MetadataExt;
        let metadata = path.metadata().ok()?;
        (metadata.len() > 41_943_040 && metadata.blocks() * 512 <= 13 * 1024 * 1024).then_some(())
    });
    let text = std::fs::read(&path).unwrap();
    assert!(text.ends_with(b"the end\n"));
}

#[test]
fn simulated_nodes_speak_the_same_protocol() {
    let mut world = World::new();
    let mut command = world.command("simulate");
    command.args(["--nodes", "1", "--time-scale", "100", "--prefix", "sim"]);
    world.agent = Some(command.spawn().unwrap());
    let mut member = sh("never run");
    member.spec.env.insert("REEVE_SIM_DURATION_SECS".into(), "30".into());
    member.spec.env.insert("REEVE_SIM_EXIT_CODE".into(), "3".into());
    let (report, end) = world.ended(&world.run(&member));
    assert_eq!(end.exit_code, Some(3));
    let ran = (end.at - report.started_at.unwrap()).num_milliseconds();
    assert!((300..=302).contains(&ran), "{ran} ms");

    // Evicted, it leaves with what it has done; the next run does the rest.
    let mut member = sh("never run");
    member.spec.env.insert("REEVE_SIM_DURATION_SECS".into(), "300".into());
    let key = world.run(&member);
    super::agent::wait_for("it runs", || world.server.member(&key)?.started_at);
    world.server.order(&key, super::agent::leave(30));
    let (report, end) = world.ended(&key);
    assert_eq!((end.exit_code, end.asked, report.checkpointed_at), (Some(0), true, Some(end.at)));
    let done = end.at - report.started_at.unwrap();
    member.run_number = 2;
    member.spec.resume = true;
    let (report, end) = world.ended(&world.run(&member));
    let rest = end.at - report.started_at.unwrap();
    let total = (done + rest).num_milliseconds();
    assert!((2_996..=3_004).contains(&total), "{total} ms in both runs");
    assert!(!world.state_dir().join("sim0/checkpoints").join(key.job_id.to_string()).exists());
}

#[test]
fn a_whole_fleet_joins_and_reports_from_one_process() {
    let mut world = World::new();
    let mut command = world.command("simulate");
    command.args(["--nodes", "88", "--gpus", "8xA100-80G"]);
    world.agent = Some(command.spawn().unwrap());
    super::agent::wait_for("all register", || {
        (world.server.heard.lock().unwrap().registered.len() == 88).then_some(())
    });
    super::agent::wait_for("all report", || {
        (world.server.heard.lock().unwrap().report_count >= 2 * 88).then_some(())
    });
    let heard = world.server.heard.lock().unwrap();
    assert_eq!(heard.joined.len(), 88);
    let gpus: std::collections::BTreeSet<&str> = heard
        .registered
        .iter()
        .flat_map(|register| &register.inventory.gpus)
        .map(|gpu| gpu.uuid.as_str())
        .collect();
    assert_eq!(gpus.len(), 8 * 88, "every GPU has a UUID of its own");
}

#[test]
fn a_killed_fleet_finds_its_timers_further_on() {
    let mut world = World::new();
    let start = |world: &mut World| {
        let mut command = world.command("simulate");
        command.args(["--nodes", "1", "--time-scale", "10", "--prefix", "sim"]);
        world.agent = Some(command.spawn().unwrap());
    };
    start(&mut world);
    let mut member = sh("never run");
    member.spec.env.insert("REEVE_SIM_DURATION_SECS".into(), "20".into());
    let key = world.run(&member);
    super::agent::wait_for("it runs", || world.server.member(&key)?.started_at);
    world.kill9_agent();
    start(&mut world);
    let (report, end) = world.ended(&key);
    assert_eq!((end.exit_code, end.vanished), (Some(0), false));
    let ran = (end.at - report.started_at.unwrap()).num_milliseconds();
    assert!((2_000..=2_002).contains(&ran), "{ran} ms: it went on while nobody looked");
}

#[test]
fn jobs_of_another_user_cannot_read_the_node_s_credential() {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped: only root can start processes as another user");
        return;
    }
    let mut world = World::new();
    std::fs::set_permissions(world.folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    world.start_agent(&["--job-user", "nobody"]);
    let identity = world.state_dir().join("identity.json");
    let key = world.sh(&format!(
        "id -un; cat {} || echo refused; echo mine > \"$REEVE_CHECKPOINT_DIR/step\" && pwd",
        identity.display()
    ));
    let log = world.log(&key);
    assert!(
        log.starts_with("nobody\n") && log.contains("refused\n") && !log.contains("reeve_node_"),
        "{log}"
    );
    assert!(log.ends_with(&format!("work/{}\n", key.job_id)), "{log}");
    assert_eq!(std::fs::read_to_string(world.checkpoint_dir(&key).join("step")).unwrap(), "mine\n");
}
