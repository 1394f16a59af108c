//! The demo's folder: one demo a folder at a time, and where its PostgreSQL lies.
//!
//! It refuses to open up folders above its own: what the user `postgres` may not enter stays closed.

use anyhow::{Context, bail};
use nix::fcntl::{Flock, FlockArg};
use reeve_store::private_postgres::reachable_by_server;
use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where PostgreSQL goes when its user can't enter the demo's folder.
const ELSEWHERE: &str = "/var/lib/reeve-demo";
const NOTE: &str = "postgres-is-elsewhere.txt";

/// The folder, held until dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _held: Flock<File>,
}

impl Folder {
    /// Makes it, closed to others, and takes it.
    pub(super) fn take(path: &Path) -> anyhow::Result<Self> {
        let naming = || format!("the demo's folder {}", path.display());
        fs::create_dir_all(path).with_context(naming)?;
        let path = path.canonicalize().with_context(naming)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"));
        let lock = lock.with_context(naming)?;
        match Flock::lock(lock, FlockArg::LockExclusiveNonblock) {
            Ok(held) => Ok(Self { path, _held: held }),
            Err(_) => bail!(
                "another demo runs in {}: stop it with Ctrl-C, or choose another folder with --data",
                path.display()
            ),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where PostgreSQL keeps its data: below the folder, or, when its user can't get there, in a folder of the system
    /// whose name is derived from this one's path. Says so, and leaves a note.
    pub(super) fn postgres(&self) -> anyhow::Result<PathBuf> {
        let usual = self.join("postgres");
        if usual.exists() || reachable_by_server(&usual) {
            return Ok(usual);
        }
        let place = elsewhere(&self.path);
        println!(
            "PostgreSQL's user cannot enter {}; its data is kept in {} instead",
            self.path.display(),
            place.display()
        );
        let note = format!(
            "The demo's database is in {0}\nbecause the system user `postgres` cannot enter {1}.\nTo forget the demo remove both folders.\n",
            place.display(),
            self.path.display()
        );
        fs::write(self.join(NOTE), note).context("the note about PostgreSQL's place")?;
        fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
        Ok(place)
    }
}

fn elsewhere(path: &Path) -> PathBuf {
    // FNV-1a: the same for every version of the compiler, unlike the standard hasher.
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(path.as_os_str().as_encoded_bytes());
    Path::new(ELSEWHERE).join(format!("{:016x}", hash.finish()))
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Writes a file that only its owner reads.
pub(super) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let opened = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path))
        .with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_demo_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Folder::take(folder.path()).expect("free");
        let said = Folder::take(folder.path()).expect_err("taken").to_string();
        assert!(said.contains("another demo runs"), "{said}");
        drop(first);
        Folder::take(folder.path()).expect("free again");
    }

    #[test]
    fn the_place_elsewhere_is_the_same_every_time_and_each_folder_s_own() {
        let (one, two) =
            (elsewhere(Path::new("/home/a/reeve/data")), elsewhere(Path::new("/home/b/reeve/data")));
        assert_eq!(one, elsewhere(Path::new("/home/a/reeve/data")));
        assert_ne!(one, two);
    }

    #[test]
    fn secrets_are_their_owner_s_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logins.txt");
        write_private(&path, "a").expect("written");
        write_private(&path, "b").expect("written again");
        assert_eq!(fs::read_to_string(&path).expect("read"), "b");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    }
}
