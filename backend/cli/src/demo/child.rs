//! A child process that ends with the demo, however the demo ends.
//!
//! It refuses to signal a process that is not the one it started.

use anyhow::Context;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child as Process, Command};

/// How long a child has to stop before it is killed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for the end of its input, which the kernel closes with the demo, and tells the child to stop. The child's
/// number is its own as long as its command line holds the mark.
const GUARD: &str = r#"
read -r word && [ "$word" = dismissed ] && exit 0
grep -qaF -- "$2" "/proc/$1/cmdline" 2>/dev/null && kill -TERM "$1"
exit 0
"#;

#[derive(Debug)]
pub(super) struct Child {
    name: String,
    process: Process,
    /// Its standard input is the line to the demo.
    guard: Process,
}

impl Child {
    /// Starts it, its output appended to `log`. `mark` is an argument that only this child has.
    pub(super) fn start(name: &str, mut command: Command, mark: &str, log: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(log);
        let file = file.with_context(|| log.display().to_string())?;
        let process = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            // Ctrl-C is for the demo, which stops its children in order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        let pid = process.id().with_context(|| format!("{name} ended at once: see {}", log.display()))?;
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "reeve-demo-guard", &pid.to_string(), mark]).current_dir("/");
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let guard = guard.spawn().context("starting a guard")?;
        Ok(Self { name: name.to_owned(), process, guard })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(&mut self) -> String {
        match self.process.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Tells it to stop, without waiting.
    pub(super) fn tell(&self) {
        if let Some(pid) = self.process.id().and_then(|pid| i32::try_from(pid).ok()) {
            // It may have ended in this moment.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }

    /// Waits for its end, and kills it when that takes too long. True when it was not killed.
    pub(super) async fn stop(mut self) -> bool {
        self.tell();
        let ended = tokio::time::timeout(PATIENCE, self.process.wait()).await.is_ok();
        if !ended {
            let _ = self.process.kill().await;
        }
        drop(self.guard.stdin.take());
        let _ = self.guard.wait().await;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_guard_stops_the_child_when_the_demo_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sleep");
        command.arg("4242.125");
        let mut child =
            Child::start("sleep", command, "4242.125", &folder.path().join("log")).expect("starts");
        // What the kernel does when the demo dies.
        drop(child.guard.stdin.take());
        let said = child.ended().await;
        assert!(said.contains("15"), "{said}");
    }

    #[tokio::test]
    async fn a_stopped_child_leaves_no_guard() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sleep");
        command.arg("4243.125");
        let child = Child::start("sleep", command, "4243.125", &folder.path().join("log")).expect("starts");
        let guard = child.guard.id().expect("running");
        assert!(child.stop().await);
        assert!(!Path::new(&format!("/proc/{guard}")).exists());
    }
}
