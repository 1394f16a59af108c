//! The folder of a private server: made once, opened by whoever starts it. It refuses to touch a folder in use.

use super::{Durability, PATIENCE, PrivatePostgresError, binaries, io, wait_for};
use nix::unistd::{Gid, Uid, User, chown, geteuid};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) pgdata: PathBuf,
    pub(super) programs: PathBuf,
    pub(super) password: String,
    log: PathBuf,
    durability: Durability,
    /// Whom the server runs as, when we are root.
    owner: Option<(Uid, Gid)>,
}

impl Cluster {
    /// Opens the cluster in `folder`, made first when there is none.
    pub(super) fn open(folder: &Path, durability: Durability) -> Result<Self, PrivatePostgresError> {
        let programs = binaries::find().ok_or(PrivatePostgresError::NotInstalled)?;
        fs::create_dir_all(folder).map_err(io(&format!("making {}", folder.display())))?;
        let folder = folder.canonicalize().map_err(io("the data folder"))?;
        let owner = owner()?;
        if owner.is_some() {
            admit_server(&folder)?;
        }
        let mut cluster = Self {
            pgdata: folder.join("pgdata"),
            programs,
            password: String::new(),
            log: folder.join("postgres.log"),
            durability,
            owner,
        };
        cluster.password = cluster.read_or_make(&folder.join("password"))?;
        if !cluster.pgdata.join("PG_VERSION").exists() || cluster.half_made().exists() {
            cluster.make()?;
        }
        Ok(cluster)
    }

    /// Present from before `initdb` until the database exists: a half-made cluster is made anew.
    fn half_made(&self) -> PathBuf {
        self.pgdata.with_extension("half-made")
    }

    fn make(&self) -> Result<(), PrivatePostgresError> {
        File::create(self.half_made()).map_err(io("marking the new cluster"))?;
        if self.pgdata.exists() {
            fs::remove_dir_all(&self.pgdata).map_err(io("removing a half-made cluster"))?;
        }
        fs::create_dir(&self.pgdata).map_err(io("making pgdata"))?;
        fs::set_permissions(&self.pgdata, Permissions::from_mode(0o700)).map_err(io("closing pgdata"))?;
        if let Some((uid, gid)) = self.owner {
            chown(&self.pgdata, Some(uid), Some(gid))
                .map_err(|error| io("giving pgdata away")(error.into()))?;
        }
        let for_initdb = self.password_for_initdb()?;
        let mut initdb = self.command("initdb")?;
        initdb.args(["--data-checksums", "--encoding=UTF8", "--no-locale", "--username=reeve"]);
        initdb.arg("--auth=scram-sha-256").arg("--pwfile").arg(&for_initdb).arg("--pgdata").arg(&self.pgdata);
        if self.durability == Durability::Throwaway {
            initdb.arg("--no-sync");
        }
        let made = self.feed(initdb, "", "initdb failed");
        fs::remove_file(&for_initdb).map_err(io("removing the password's copy"))?;
        made?;
        let mut single = self.command("postgres")?;
        single.arg("--single").arg("-D").arg(&self.pgdata);
        if self.durability == Durability::Throwaway {
            single.args(["-c", "fsync=off"]);
        }
        single.arg("postgres");
        self.feed(single, "create database reeve\n", "the database could not be made")?;
        fs::remove_file(self.half_made()).map_err(io("marking the cluster as made"))
    }

    /// A copy that the server's user can read, for as long as `initdb` runs.
    fn password_for_initdb(&self) -> Result<PathBuf, PrivatePostgresError> {
        let file = self.pgdata.with_extension("password");
        write_secret(&file, &self.password)?;
        if let Some((uid, gid)) = self.owner {
            chown(&file, Some(uid), Some(gid))
                .map_err(|error| io("giving the password's copy away")(error.into()))?;
        }
        Ok(file)
    }

    /// Runs it with `input`, and waits.
    fn feed(&self, mut command: Command, input: &str, what: &str) -> Result<(), PrivatePostgresError> {
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(io(what))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).map_err(io(what))?;
        }
        let status = child.wait().map_err(io(what))?;
        if status.success() { Ok(()) } else { Err(self.failed(what)) }
    }

    /// A program of PostgreSQL, as the right user, writing to the log.
    fn command(&self, program: &str) -> Result<Command, PrivatePostgresError> {
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.log);
        let log = log.map_err(io("opening postgres.log"))?;
        let mut command = Command::new(self.programs.join(program));
        command.stdin(Stdio::null()).stderr(log.try_clone().map_err(io("postgres.log"))?).stdout(log);
        // Messages are read back, and the folder we stand in may be closed to the server's user.
        command.env("LC_ALL", "C").env_remove("PGDATA").env_remove("PGPORT").current_dir("/");
        if let Some((uid, gid)) = self.owner {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
        Ok(command)
    }

    pub(super) fn spawn_server(&self, port: u16) -> Result<Child, PrivatePostgresError> {
        let mut command = self.command("postgres")?;
        command.arg("-D").arg(&self.pgdata).args(["-p", &port.to_string()]);
        let mut settings = vec![
            "listen_addresses=127.0.0.1".to_owned(),
            "max_connections=300".to_owned(),
            socket(&self.pgdata),
        ];
        // Commits stay synchronous: what was answered must survive `kill -9` in tests too.
        if self.durability == Durability::Throwaway {
            settings.extend(["fsync=off", "full_page_writes=off"].map(str::to_owned));
        }
        for setting in settings {
            command.args(["-c", &setting]);
        }
        // Its own group: Ctrl-C in a terminal is for us, who then stop it in order.
        command.process_group(0).spawn().map_err(io("starting postgres"))
    }

    /// The postmaster writes its state into its pid file.
    pub(super) fn is_ready(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.pgdata.join("postmaster.pid")).unwrap_or_default();
        let mut lines = text.lines();
        lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|state| state.trim() == "ready")
    }

    /// A server whose starter was killed is being stopped by its guard: waits for that. A pid file that no living
    /// server stands behind is removed; PostgreSQL would mistake any process with that number for itself.
    pub(super) fn await_predecessor(&self) -> Result<(), PrivatePostgresError> {
        let file = self.pgdata.join("postmaster.pid");
        let mut living = None;
        let gone = wait_for(PATIENCE / 6, || {
            let text = fs::read_to_string(&file).unwrap_or_default();
            living =
                text.lines().next().and_then(|line| line.parse().ok()).filter(|pid| self.serves_here(*pid));
            living.is_none()
        });
        match living {
            Some(pid) if !gone => Err(PrivatePostgresError::Running { pid, folder: self.pgdata.clone() }),
            _ => match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(io("removing a stale pid file")(error))
                }
                _ => Ok(()),
            },
        }
    }

    fn serves_here(&self, pid: i32) -> bool {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == self.pgdata)
    }

    pub(super) fn failed(&self, what: &str) -> PrivatePostgresError {
        PrivatePostgresError::Failed { what: what.to_owned(), log: self.log.clone(), tail: self.log_tail() }
    }

    pub(super) fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    fn read_or_make(&self, file: &Path) -> Result<String, PrivatePostgresError> {
        if let Ok(text) = fs::read_to_string(file)
            && !text.trim().is_empty()
        {
            return Ok(text.trim().to_owned());
        }
        // A new password fits only a new cluster.
        if self.pgdata.join("PG_VERSION").exists() {
            return Err(io("the cluster's password file is missing")(std::io::ErrorKind::NotFound.into()));
        }
        let mut bytes = [0u8; 24];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(io("randomness"))?;
        let password = hex::encode(bytes);
        write_secret(file, &password)?;
        Ok(password)
    }
}

fn write_secret(file: &Path, text: &str) -> Result<(), PrivatePostgresError> {
    let opened = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(io("writing a password file"))
}

/// A socket in `pgdata`, unless its path would be longer than the system allows.
fn socket(pgdata: &Path) -> String {
    let path = pgdata.to_string_lossy();
    if path.len() < 80 && !path.contains(',') {
        format!("unix_socket_directories={path}")
    } else {
        "unix_socket_directories=".to_owned()
    }
}

fn owner() -> Result<Option<(Uid, Gid)>, PrivatePostgresError> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let user = User::from_name("postgres").ok().flatten().ok_or(PrivatePostgresError::NoUser)?;
    Ok(Some((user.uid, user.gid)))
}

/// Lets the server's user pass through `folder` (it is ours, and `pgdata` in it stays closed), and its parent when
/// that is a temporary folder of ours.
fn admit_server(folder: &Path) -> Result<(), PrivatePostgresError> {
    let temporary =
        folder.parent().filter(|parent| parent.starts_with("/tmp") && *parent != Path::new("/tmp"));
    for place in std::iter::once(folder).chain(temporary) {
        let mode = fs::metadata(place).map_err(io("the data folder"))?.permissions().mode();
        if mode & 0o001 == 0 {
            let opened = Permissions::from_mode(mode | 0o011);
            fs::set_permissions(place, opened).map_err(io("opening the data folder to the server's user"))?;
        }
    }
    match closed_ancestor(folder) {
        Some(ancestor) => Err(PrivatePostgresError::Unreachable(ancestor)),
        None => Ok(()),
    }
}

fn closed_ancestor(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .skip(1)
        .filter(|place| fs::metadata(place).is_ok_and(|found| found.permissions().mode() & 0o001 == 0))
        .last()
        .map(Path::to_path_buf)
}

/// Whether a server started by us could work below `folder`: false for root when the user `postgres` may not pass
/// one of the folders above it.
#[must_use]
pub fn reachable_by_server(folder: &Path) -> bool {
    !geteuid().is_root() || closed_ancestor(&folder.join("data")).is_none()
}
