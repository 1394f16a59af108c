//! Files that are whole or absent: written beside, synced, renamed.
//!
//! Refuses to make anything readable for other users unless asked to.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What a file must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A power cut.
    Disk,
    /// The death of processes; what it says is worthless after a boot.
    Boot,
}

/// Replaces `path` by `value` as JSON, mode 0600.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T, durability: Durability) -> io::Result<()> {
    let beside = path.with_extension("tmp");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    if durability == Durability::Disk {
        file.sync_all()?;
    }
    fs::rename(&beside, path)?;
    if let (Durability::Disk, Some(folder)) = (durability, path.parent()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Replaces `path` by a program that everybody may run.
pub(crate) fn write_program(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("tmp");
    fs::write(&beside, text)?;
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755))?;
    fs::rename(&beside, path)
}

/// `None` when there is no such file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a folder and its parents, with a mode.
pub(crate) fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(mode).create(path)
}
