//! The agent's state directory: identity, lease, one folder a member, and the jobs' own folders.
//!
//! ```text
//! lock                          held while an agent runs
//! identity.json                 node id and credential, 0600
//! instance.json                 this start of the agent, and the last that the server confirmed
//! lease.json                    see `lease`
//! members/<job>.<run>.<member>/ record.json, log, launch.json, started.json, exit.json
//! checkpoints/<job>/            kept over runs; never removed by the agent
//! work/<job>/                   working directory of jobs that name none
//! bin/reeve-ctl                 on every job's PATH
//! ```
//!
//! It refuses a second agent on the same directory.

use crate::files::{self, Durability};
use reeve_wire::report::MemberKey;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// What a job calls to talk to the agent.
const REEVE_CTL: &str = include_str!("reeve-ctl.sh");

#[derive(Debug, thiserror::Error)]
pub(crate) enum StateDirError {
    #[error("another reeve-agent runs on {}: one agent a state directory", .0.display())]
    InUse(PathBuf),
    #[error("state directory {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What the join gave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) node_name: String,
    pub(crate) node_id: Uuid,
    pub(crate) credential: String,
}

/// The starts of the agent, as far as the server may know them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Instances {
    /// The last one whose registration the server answered.
    #[serde(default)]
    pub(crate) confirmed: Option<Uuid>,
    /// One whose registration was sent and never answered: the server may or may not know it.
    #[serde(default)]
    pub(crate) pending: Option<Uuid>,
}

#[derive(Debug)]
pub(crate) struct StateDir {
    root: PathBuf,
    /// Jobs may keep their checkpoints elsewhere, for example on a shared file system.
    checkpoint_root: PathBuf,
    /// Held as long as this lives.
    _lock: File,
}

impl StateDir {
    /// Opens it, makes what is missing, and locks it.
    pub(crate) fn open(root: &Path, checkpoint_root: Option<&Path>) -> Result<Self, StateDirError> {
        let failed = |source| StateDirError::Io { path: root.to_path_buf(), source };
        // Others may pass through to a job's own folders when jobs run as another user, and list nothing.
        files::make_folder(root, 0o711).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        files::make_folder(&root.join("members"), 0o700).map_err(failed)?;
        files::make_folder(&root.join("work"), 0o711).map_err(failed)?;
        files::make_folder(&root.join("bin"), 0o755).map_err(failed)?;
        let checkpoint_root = checkpoint_root.map_or_else(|| root.join("checkpoints"), Path::to_path_buf);
        files::make_folder(&checkpoint_root, 0o711).map_err(failed)?;
        let checkpoint_root = checkpoint_root.canonicalize().map_err(failed)?;
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(root.join("lock"))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {
                files::write_program(&root.join("bin/reeve-ctl"), REEVE_CTL).map_err(failed)?;
                Ok(Self { root, checkpoint_root, _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(StateDirError::InUse(root)),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    pub(crate) fn identity(&self) -> io::Result<Option<Identity>> {
        files::read_json(&self.root.join("identity.json"))
    }

    pub(crate) fn save_identity(&self, identity: &Identity) -> io::Result<()> {
        files::write_json(&self.root.join("identity.json"), identity, Durability::Disk)
    }

    pub(crate) fn instances(&self) -> io::Result<Instances> {
        Ok(files::read_json(&self.root.join("instance.json"))?.unwrap_or_default())
    }

    pub(crate) fn save_instances(&self, instances: &Instances) -> io::Result<()> {
        files::write_json(&self.root.join("instance.json"), instances, Durability::Disk)
    }

    pub(crate) fn lease_path(&self) -> PathBuf {
        self.root.join("lease.json")
    }

    pub(crate) fn members(&self) -> PathBuf {
        self.root.join("members")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.checkpoint_root.clone()
    }
}

/// The name of a member's folder.
pub(crate) fn folder_name(key: &MemberKey) -> String {
    format!("{}.{}.{}", key.job_id, key.run_number, key.member)
}

/// The member whose folder has this name.
pub(crate) fn key_of(name: &str) -> Option<MemberKey> {
    let mut parts = name.split('.');
    let key = MemberKey {
        job_id: parts.next()?.parse().ok()?,
        run_number: parts.next()?.parse().ok()?,
        member: parts.next()?.parse().ok()?,
    };
    parts.next().is_none().then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_second_on_the_same_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = StateDir::open(folder.path(), None).unwrap();
        assert!(matches!(StateDir::open(folder.path(), None), Err(StateDirError::InUse(_))));
        drop(first);
        StateDir::open(folder.path(), None).unwrap();
    }

    #[test]
    fn only_the_owner_reads_the_credential() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::open(folder.path(), None).unwrap();
        let identity =
            Identity { node_name: "n1".into(), node_id: Uuid::nil(), credential: "reeve_node_x".into() };
        state.save_identity(&identity).unwrap();
        let mode = folder.path().join("identity.json").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(state.identity().unwrap().unwrap().credential, "reeve_node_x");
    }

    #[test]
    fn a_folder_s_name_leads_back_to_its_member() {
        let key = MemberKey { job_id: Uuid::from_u128(7), run_number: 3, member: 12 };
        assert_eq!(key_of(&folder_name(&key)), Some(key));
        for bad in [
            "",
            "x.1.2",
            "00000000-0000-0000-0000-000000000007.1",
            "00000000-0000-0000-0000-000000000007.1.2.3",
        ] {
            assert_eq!(key_of(bad), None, "{bad}");
        }
    }
}
