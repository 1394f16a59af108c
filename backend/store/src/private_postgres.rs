//! A PostgreSQL server of our own, for demos and tests: made once in a folder, durable unless told otherwise, and
//! ended with the process that started it, even when that is killed.
//!
//! In the folder: `pgdata` (the cluster), `password` (of its superuser), `postgres.log`. The server listens on a
//! free loopback port and on a socket in `pgdata`; both ask for the password. As root it runs under the system
//! user `postgres`, because PostgreSQL refuses root.
//!
//! It refuses to install PostgreSQL, to use a folder that another server uses, and to be anybody's production
//! database: it has no backups, no replicas, and one user.

mod binaries;
mod cluster;
mod guard;

use guard::Guard;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use thiserror::Error;

pub use cluster::reachable_by_server;

/// How long starting, stopping and crash recovery may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether commits survive the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// `fsync` on, as a database should be.
    Durable,
    /// `fsync` off, for tests: survives `kill -9`, not a loss of power.
    Throwaway,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum PrivatePostgresError {
    #[error("PostgreSQL 15 or newer is not installed: {}", binaries::INSTALL_HINT)]
    NotInstalled,
    #[error("the system user `postgres` is missing, and PostgreSQL does not run as root")]
    NoUser,
    #[error("the user `postgres` cannot enter {0}: choose a data folder elsewhere, or `chmod o+x` it")]
    Unreachable(PathBuf),
    #[error("another PostgreSQL (process {pid}) runs in {folder}: stop it, or choose another folder")]
    Running { pid: i32, folder: PathBuf },
    #[error("{what}; the end of {log}:\n{tail}")]
    Failed { what: String, log: PathBuf, tail: String },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct PrivatePostgres {
    cluster: cluster::Cluster,
    port: u16,
    server: Child,
    guard: Option<Guard>,
    // The last field: the folder goes when the server is gone.
    _folder: Option<tempfile::TempDir>,
}

impl PrivatePostgres {
    /// Starts the server of `folder`, made first if there is none. Blocks until it accepts connections.
    ///
    /// # Errors
    /// [`PrivatePostgresError`], each naming what to do.
    pub fn start(folder: &Path, durability: Durability) -> Result<Self, PrivatePostgresError> {
        Self::start_in(folder, durability, None)
    }

    /// A server in a temporary folder that goes with it.
    ///
    /// # Errors
    /// [`PrivatePostgresError`].
    pub fn throwaway() -> Result<Self, PrivatePostgresError> {
        let folder = tempfile::Builder::new().prefix("reeve-postgres-").tempdir();
        let folder = folder.map_err(io("a temporary folder"))?;
        let path = folder.path().to_path_buf();
        let while_starting = Guard::watch_folder(&path)?;
        let started = Self::start_in(&path, Durability::Throwaway, Some(folder));
        // By now the server has a guard of its own.
        drop(while_starting);
        started
    }

    fn start_in(
        path: &Path,
        durability: Durability,
        folder: Option<tempfile::TempDir>,
    ) -> Result<Self, PrivatePostgresError> {
        let cluster = cluster::Cluster::open(path, durability)?;
        cluster.await_predecessor()?;
        let removed = folder.as_ref().map(tempfile::TempDir::path);
        let guard = Guard::watch(&cluster.pgdata, removed)?;
        let mut last = None;
        // A port that is free now may be taken a moment later.
        for _ in 0..5 {
            let port = free_port()?;
            match start_server(&cluster, port) {
                Ok(server) => return Ok(Self { cluster, port, server, guard: Some(guard), _folder: folder }),
                Err(error) if cluster.log_tail().contains("could not bind") => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or(PrivatePostgresError::NotInstalled))
    }

    /// How to connect: `postgres://reeve:…@127.0.0.1:port/reeve`. Holds the password.
    #[must_use]
    pub fn url(&self) -> String {
        self.database_url("reeve")
    }

    /// The same for another database of this server.
    #[must_use]
    pub fn database_url(&self, database: &str) -> String {
        format!("postgres://reeve:{}@127.0.0.1:{}/{database}", self.cluster.password, self.port)
    }

    /// How another role connects to the same database.
    #[must_use]
    pub fn url_as(&self, role: &str, password: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/reeve", self.port)
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with PostgreSQL's programs, for `psql` and `pgbench`.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.cluster.programs
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// `kill -9` of the server, then a start on the same port with crash recovery: for tests of faults.
    ///
    /// # Errors
    /// [`PrivatePostgresError::Failed`] when it does not come back.
    pub fn crash_and_restart(&mut self) -> Result<(), PrivatePostgresError> {
        self.server.kill().map_err(io("killing the server"))?;
        self.server.wait().map_err(io("waiting for the server"))?;
        let deadline = Instant::now() + PATIENCE;
        // Its children notice within moments; until then their shared memory keeps a new server out.
        self.server = loop {
            match start_server(&self.cluster, self.port) {
                Ok(server) => break server,
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        };
        Ok(())
    }

    /// Fast shutdown: open transactions are rolled back, everything committed is written.
    ///
    /// # Errors
    /// [`PrivatePostgresError::Failed`] when it had to be killed; the next start then recovers.
    pub fn stop(mut self) -> Result<(), PrivatePostgresError> {
        self.shut_down()
    }

    fn shut_down(&mut self) -> Result<(), PrivatePostgresError> {
        let pid = Pid::from_raw(i32::try_from(self.server.id()).unwrap_or(i32::MAX));
        // INT is PostgreSQL's fast shutdown. One that has ended already can't be signalled, which is as well.
        if matches!(self.server.try_wait(), Ok(None)) {
            let _ = kill(pid, Signal::SIGINT);
        }
        let ended = wait_for(PATIENCE, || matches!(self.server.try_wait(), Ok(Some(_))));
        if !ended {
            let _ = self.server.kill();
            let _ = self.server.wait();
        }
        self.guard = None;
        if ended {
            Ok(())
        } else {
            Err(self.cluster.failed("PostgreSQL did not stop in time and was killed"))
        }
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        if let Err(error) = self.shut_down() {
            tracing::error!(%error, "private PostgreSQL");
        }
    }
}

fn start_server(cluster: &cluster::Cluster, port: u16) -> Result<Child, PrivatePostgresError> {
    let mut server = cluster.spawn_server(port)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        if cluster.is_ready(server.id()) {
            return Ok(server);
        }
        if let Ok(Some(status)) = server.try_wait() {
            return Err(cluster.failed(&format!("PostgreSQL ended while starting ({status})")));
        }
        if Instant::now() > deadline {
            let _ = server.kill();
            let _ = server.wait();
            return Err(cluster.failed("PostgreSQL did not become ready in time"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn free_port() -> Result<u16, PrivatePostgresError> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io("a free loopback port"))?;
    Ok(listener.local_addr().map_err(io("a free loopback port"))?.port())
}

fn wait_for(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

fn io(what: &str) -> impl FnOnce(std::io::Error) -> PrivatePostgresError {
    let what = what.to_owned();
    move |source| PrivatePostgresError::Io { what, source }
}

#[cfg(test)]
#[path = "private_postgres/tests.rs"]
mod tests;
