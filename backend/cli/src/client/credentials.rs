//! The token that `reeve login` keeps, readable by its owner only. It refuses to keep a password.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Credentials {
    pub(crate) server: String,
    pub(crate) username: String,
    pub(crate) token_id: String,
    pub(crate) token: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Credentials {
    pub(crate) fn path(folder: &Path) -> PathBuf {
        folder.join("credentials.json")
    }

    /// What was kept; nothing when nobody signed in.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = Self::path(folder);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).with_context(|| path.display().to_string())?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Replaces the file in one step, so that a crash leaves the old one or the new one.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let new = folder.join("credentials.new");
        // A leftover could have other rights than those that are asked for here.
        let _ = fs::remove_file(&new);
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        file.sync_all()?;
        Ok(fs::rename(&new, Self::path(folder))?)
    }

    pub(crate) fn forget(folder: &Path) -> anyhow::Result<()> {
        match fs::remove_file(Self::path(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_token_is_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("reeve");
        assert!(Credentials::read(&place).expect("readable").is_none());
        let kept = Credentials {
            server: "http://x".into(),
            username: "u".into(),
            token_id: "1".into(),
            token: "reeve_pat_x".into(),
        };
        kept.write(&place).expect("written");
        kept.write(&place).expect("written over");
        let mode = fs::metadata(Credentials::path(&place)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(Credentials::read(&place).expect("readable").expect("there").token, "reeve_pat_x");
        assert!(!format!("{kept:?}").contains("reeve_pat"));
        Credentials::forget(&place).expect("forgotten");
        Credentials::forget(&place).expect("forgotten twice");
        assert!(Credentials::read(&place).expect("readable").is_none());
    }
}
