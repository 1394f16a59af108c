//! Members as real processes, each behind a [`crate::shim`].
//!
//! It refuses to signal a process that it can't name beyond doubt, and to start a member twice.

use super::traits::{Notice, Observed, Runner, log_path, member_folder};
use crate::boot_time::BootTime;
use crate::environment::{Base, JobFiles, environment};
use crate::files::{self, Durability};
use crate::processes;
use crate::shim::{EXIT, Exit, LAUNCH, Launch, STARTED, Started};
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, chown};
use reeve_wire::desired::DesiredMember;
use reeve_wire::report::MemberKey;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tracing::{info, warn};

/// The user that jobs run as.
#[derive(Debug, Clone)]
pub(crate) struct JobUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) home: PathBuf,
}

#[derive(Debug)]
pub(crate) struct ProcessRunner {
    pub(crate) base: Base,
    pub(crate) user: Option<JobUser>,
    pub(crate) members: PathBuf,
    pub(crate) checkpoints: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) lease: PathBuf,
    /// Our own children among the shims, to be reaped.
    pub(crate) shims: BTreeMap<MemberKey, Child>,
}

impl ProcessRunner {
    fn checkpoint_dir(&self, key: &MemberKey) -> PathBuf {
        self.checkpoints.join(key.job_id.to_string())
    }

    fn eviction_file(&self, key: &MemberKey) -> PathBuf {
        self.checkpoint_dir(key).join(format!(".eviction.{}.{}", key.run_number, key.member))
    }

    fn job_files(&self, key: &MemberKey) -> JobFiles {
        let checkpoint_dir = self.checkpoint_dir(key);
        let checkpoint_file = checkpoint_dir.join(format!(".checkpoint.{}.{}", key.run_number, key.member));
        JobFiles { checkpoint_dir, checkpoint_file, eviction_file: self.eviction_file(key) }
    }

    fn make_job_folder(&self, path: &Path) -> io::Result<()> {
        files::make_folder(path, 0o700)?;
        match &self.user {
            Some(user) => chown(path, Some(Uid::from_raw(user.uid)), Some(Gid::from_raw(user.gid)))
                .map_err(io::Error::from),
            None => Ok(()),
        }
    }

    fn launch(&mut self, member: &DesiredMember) -> io::Result<()> {
        let key = key(member);
        let folder = member_folder(&self.members, &key);
        files::make_folder(&folder, 0o700)?;
        self.make_job_folder(&self.checkpoint_dir(&key))?;
        let cwd = match &member.spec.working_dir {
            Some(path) => PathBuf::from(path),
            None => {
                let path = self.work.join(key.job_id.to_string());
                self.make_job_folder(&path)?;
                path
            }
        };
        let launch = Launch {
            command: member.spec.command.clone(),
            env: environment(&self.base, member, &self.job_files(&key)),
            cwd,
            user: self.user.as_ref().map(|user| (user.uid, user.gid)),
            lease: self.lease.clone(),
        };
        let stdin = locked_launch(&folder.join(LAUNCH), &launch)?;
        let log =
            OpenOptions::new().create(true).append(true).mode(0o600).open(log_path(&self.members, &key))?;
        // Our own image, even when the file it came from has been replaced by an upgrade.
        let child = Command::new("/proc/self/exe")
            .arg0("reeve-agent")
            .arg("exec-shim")
            .arg(&folder)
            .env_clear()
            .current_dir("/")
            .stdin(stdin)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.shims.insert(key, child);
        Ok(())
    }

    fn started(&self, key: &MemberKey) -> Option<Started> {
        files::read_json(&member_folder(&self.members, key).join(STARTED)).ok().flatten()
    }

    fn exit(&self, key: &MemberKey) -> Option<Exit> {
        files::read_json(&member_folder(&self.members, key).join(EXIT)).ok().flatten()
    }

    /// Whether a shim holds the member's launch file.
    fn is_attended(&self, key: &MemberKey) -> bool {
        let path = member_folder(&self.members, key).join(LAUNCH);
        File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn key(member: &DesiredMember) -> MemberKey {
    MemberKey { job_id: member.job_id, run_number: member.run_number, member: member.member }
}

/// The launch file, locked for whoever holds this handle or inherits it.
fn locked_launch(path: &Path, launch: &Launch) -> io::Result<File> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.try_lock().map_err(|_| io::Error::other("a shim already looks after this member"))?;
    serde_json::to_writer(&mut file, launch)?;
    file.flush()?;
    file.rewind()?;
    Ok(file)
}

/// When a file was last written, in nanoseconds.
fn changed_at(path: &Path) -> Option<i64> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()))
}

impl Runner for ProcessRunner {
    fn start(&mut self, member: &DesiredMember, _now: BootTime) -> Result<(), String> {
        self.launch(member).map_err(|error| format!("the agent cannot start it: {error}"))
    }

    fn observe(&mut self, key: &MemberKey, _now: BootTime) -> Observed {
        let reaped = self.shims.get_mut(key).is_some_and(|shim| !matches!(shim.try_wait(), Ok(None)));
        if reaped {
            self.shims.remove(key);
        }
        // The lock is looked at before the file: a shim writes its exit first and lets go of the lock after.
        let attended = self.is_attended(key);
        match (self.exit(key), self.started(key)) {
            (Some(exit), _) => Observed::Ended(exit),
            (None, Some(started)) if attended => {
                Observed::Running { pid: Some(started.pid), since: started.at }
            }
            (None, None) if attended => Observed::Starting,
            (None, started) => {
                warn!(job = %key.job_id, run = key.run_number, "its shim is gone without an exit status");
                if let Some(started) = started {
                    processes::signal_group(started.pid, started.start_ticks, Signal::SIGKILL);
                }
                processes::sweep(self.base.node_id, |marked| marked != key);
                Observed::Vanished
            }
        }
    }

    fn signal(&mut self, key: &MemberKey, signal: Signal, _now: BootTime) -> bool {
        self.exit(key).is_none()
            && self
                .started(key)
                .is_some_and(|started| processes::signal_group(started.pid, started.start_ticks, signal))
    }

    fn notify(&mut self, key: &MemberKey, notice: &Notice<'_>) {
        let path = self.eviction_file(key);
        let written = files::write_json(&path, notice, Durability::Boot).and_then(|()| match &self.user {
            Some(user) => chown(&path, Some(Uid::from_raw(user.uid)), Some(Gid::from_raw(user.gid)))
                .map_err(io::Error::from),
            None => Ok(()),
        });
        if let Err(error) = written {
            warn!(job = %key.job_id, %error, "cannot write its eviction file");
        }
    }

    fn acknowledged(&self, key: &MemberKey) -> Option<i64> {
        let files = self.job_files(key);
        // The second speaks for all members of the job at once.
        let all = files.checkpoint_dir.join(".acknowledged");
        [files.checkpoint_file, all].iter().filter_map(|path| changed_at(path)).max()
    }

    fn sweep(&mut self, live: &dyn Fn(&MemberKey) -> bool) {
        let swept = processes::sweep(self.base.node_id, live);
        if swept > 0 {
            info!(swept, "ended processes of jobs that nobody looked after");
        }
    }
}
