//! Stops the server when its starter is gone, however it went. It refuses to signal a process that is not the
//! server of its folder.

use super::{PrivatePostgresError, io};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for a word, or for the end of its input, which the kernel closes with the starter: no earlier than a server
/// that the starter was just spawning is one, because until then that still holds the pipe. The server is looked for
/// only then, by its pid file or, before it has one, by its command line. Fast shutdown, then immediate.
pub(super) const SCRIPT: &str = r#"
pgdata=$1 folder=$2
read -r word && [ "$word" = dismissed ] && exit 0
ours() { tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -qF -- "postgres -D $pgdata -p "; }
find_server() {
    pid=$(head -n 1 "$pgdata/postmaster.pid" 2>/dev/null)
    [ -n "$pid" ] && ours "$pid" && return 0
    for place in /proc/[0-9]*; do
        pid=${place#/proc/}
        ours "$pid" && return 0
    done
    return 1
}
if [ -n "$pgdata" ] && find_server 2>/dev/null; then
    kill -INT "$pid"
    tries=0
    while ours "$pid" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    ours "$pid" 2>/dev/null && kill -QUIT "$pid" && sleep 1
fi
[ -n "$folder" ] && rm -rf "$folder"
exit 0
"#;

#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Watches over whatever server will run in `pgdata`, one after the other; `removed` goes with it. Begun before
    /// the server is.
    pub(super) fn watch(pgdata: &Path, removed: Option<&Path>) -> Result<Self, PrivatePostgresError> {
        Self::spawn(pgdata, removed.unwrap_or(Path::new("")))
    }

    /// Watches over a folder while there is no server in it yet.
    pub(super) fn watch_folder(removed: &Path) -> Result<Self, PrivatePostgresError> {
        Self::spawn(Path::new(""), removed)
    }

    fn spawn(pgdata: &Path, removed: &Path) -> Result<Self, PrivatePostgresError> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "reeve-postgres-guard"]).arg(pgdata).arg(removed).current_dir("/");
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
        // The server has ended by now, in order: its folder is none of the guard's business.
        if let Some(mut pipe) = self.shell.stdin.take() {
            let _ = pipe.write_all(b"dismissed\n");
        }
        let _ = self.shell.wait();
    }
}
