//! An agent's process, and what jobs look like.

use super::fake_server::{FakeServer, JOIN_TOKEN};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reeve_core::job::CheckpointMode;
use reeve_wire::desired::{DesiredMember, MemberSpec, Order};
use reeve_wire::report::{MemberEnd, MemberKey, MemberReport};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) server: FakeServer,
    pub(crate) folder: TempDir,
    pub(crate) agent: Option<Child>,
}

/// Asks again and again until it gives something.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl World {
    /// A server and no agent yet.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("token"), format!("{JOIN_TOKEN}\n")).unwrap();
        Self { server: FakeServer::start(), folder, agent: None }
    }

    /// A server and an agent.
    pub(crate) fn with_agent() -> Self {
        let mut world = Self::new();
        world.start_agent(&[]);
        world
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reeve-agent"));
        command
            .arg(verb)
            .args(["--server", &self.server.url(), "--state-dir"])
            .arg(self.state_dir())
            .arg("--join-token-file")
            .arg(self.folder.path().join("token"))
            .env("REEVE_CANARY", "canary-of-the-agent")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn start_agent(&mut self, arguments: &[&str]) {
        let mut command = self.command("run");
        command.args(["--node", "n1", "--gpus", "simulated:8xA100-80G"]).args(arguments);
        self.agent = Some(command.spawn().unwrap());
    }

    pub(crate) fn kill9_agent(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().unwrap();
        agent.wait().unwrap();
    }

    pub(crate) fn signal_agent(&self, signal: Signal) {
        let pid = i32::try_from(self.agent.as_ref().unwrap().id()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
    }

    pub(crate) fn run(&self, member: &DesiredMember) -> MemberKey {
        self.server.desire(|desired| desired.push(member.clone()));
        key(member)
    }

    pub(crate) fn sh(&self, script: &str) -> MemberKey {
        self.run(&sh(script))
    }

    pub(crate) fn running(&self, key: &MemberKey) -> MemberReport {
        wait_for("it runs", || {
            let member = self.server.member(key)?;
            assert!(member.end.is_none(), "ended: {:?}", member.end);
            (member.started_at.is_some() && member.pid.is_some()).then_some(member)
        })
    }

    pub(crate) fn ended(&self, key: &MemberKey) -> (MemberReport, MemberEnd) {
        wait_for("it ends", || {
            let member = self.server.member(key)?;
            let end = member.end.clone()?;
            Some((member, end))
        })
    }

    /// Waits for the whole log, which is told with the end.
    pub(crate) fn log(&self, key: &MemberKey) -> String {
        let (member, _) = self.ended(key);
        let size = usize::try_from(member.log_bytes.unwrap()).unwrap();
        wait_for("the log arrives", || (self.server.log(key).len() >= size).then_some(()));
        String::from_utf8(self.server.log(key)).unwrap()
    }

    /// Waits until the log so far has a line.
    pub(crate) fn log_says(&self, key: &MemberKey, line: &str) {
        let path = self.member_folder(key).join("log");
        wait_for(line, || std::fs::read_to_string(&path).ok()?.contains(line).then_some(()));
    }

    pub(crate) fn member_folder(&self, key: &MemberKey) -> PathBuf {
        self.state_dir().join("members").join(format!("{}.{}.{}", key.job_id, key.run_number, key.member))
    }

    pub(crate) fn checkpoint_dir(&self, key: &MemberKey) -> PathBuf {
        self.state_dir().join("checkpoints").join(key.job_id.to_string())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        // Jobs outlive their agent on purpose: not this test.
        for (pid, environ) in environs() {
            if environ.contains(&format!("REEVE_CHECKPOINT_DIR={}", self.state_dir().display())) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

/// Every process that we may look into, with its environment.
pub(crate) fn environs() -> Vec<(i32, String)> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: i32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            Some((pid, String::from_utf8_lossy(&environ).into_owned()))
        })
        .collect()
}

pub(crate) fn is_alive(pid: i32) -> bool {
    // A zombie is dead, only not yet buried.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')))
}

pub(crate) fn read_pid(path: &Path) -> i32 {
    wait_for("a pid is written", || std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

pub(crate) fn key(member: &DesiredMember) -> MemberKey {
    MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member }
}

pub(crate) fn command(command: &[&str]) -> DesiredMember {
    DesiredMember {
        job_id: Uuid::from_u128(rand::random()),
        run_number: 1,
        member: 0,
        order: Order::Run,
        spec: MemberSpec {
            job_name: "test".into(),
            team: "vision".into(),
            queue: "main".into(),
            kind: "training".into(),
            command: command.iter().map(ToString::to_string).collect(),
            env: BTreeMap::new(),
            working_dir: None,
            gpu_indices: vec![0, 3],
            gpu_milli: None,
            gpu_memory_mib: None,
            cpu_milli: 1000,
            memory_mib: 100,
            replicas: 1,
            attempt: 1,
            resume: false,
            checkpoint: CheckpointMode::OnSignal,
            checkpoint_signal: "USR1".into(),
            time_limit_secs: None,
        },
    }
}

pub(crate) fn sh(script: &str) -> DesiredMember {
    command(&["/bin/sh", "-c", script])
}

#[expect(clippy::disallowed_methods, reason = "a test has a real clock")]
pub(crate) fn in_secs(secs: i64) -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now() + chrono::TimeDelta::seconds(secs)
}

pub(crate) fn leave(leave_by_secs: i64) -> Order {
    Order::Leave {
        leave_by: in_secs(leave_by_secs),
        checkpoint: true,
        cause: "reclaim".into(),
        kill_after_secs: 1,
    }
}
