//! Stops the server when its starter is gone, however it went. It refuses to signal a process that is not the
//! server of its folder.

use super::{PrivatePostgresError, io};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for a word, or for the end of its input, which the kernel closes with the starter. Fast shutdown, then
/// immediate.
pub(super) const SCRIPT: &str = r#"
pid=$1 pgdata=$2 folder=$3
read -r word && [ "$word" = dismissed ] && exit 0
mine() { [ "$(head -n 1 "$pgdata/postmaster.pid" 2>/dev/null)" = "$pid" ] && kill -0 "$pid" 2>/dev/null; }
mine && kill -INT "$pid"
tries=0
while mine && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
mine && kill -QUIT "$pid" && sleep 1
[ -n "$folder" ] && rm -rf "$folder"
exit 0
"#;

#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Watches over `server`; `removed` goes with it.
    pub(super) fn watch(
        server: &Child,
        pgdata: &Path,
        removed: Option<&Path>,
    ) -> Result<Self, PrivatePostgresError> {
        Self::spawn(&server.id().to_string(), pgdata, removed.unwrap_or(Path::new("")))
    }

    /// Watches over a folder while there is no server in it yet.
    pub(super) fn watch_folder(removed: &Path) -> Result<Self, PrivatePostgresError> {
        Self::spawn("", Path::new(""), removed)
    }

    fn spawn(pid: &str, pgdata: &Path, removed: &Path) -> Result<Self, PrivatePostgresError> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "reeve-postgres-guard", pid]).arg(pgdata).arg(removed).current_dir("/");
        // Its own group: a signal to the starter's group must not end the guard before the server.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Ok(Self { shell: command.spawn().map_err(io("starting the guard"))? })
    }

    /// What the kernel does when the starter dies.
    #[cfg(test)]
    pub(super) fn close_pipe(&mut self) -> Option<std::process::ChildStdin> {
        self.shell.stdin.take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The server has ended by now, in order or for a restart: its folder is none of the guard's business.
        if let Some(mut pipe) = self.shell.stdin.take() {
            let _ = pipe.write_all(b"dismissed\n");
        }
        let _ = self.shell.wait();
    }
}
