//! Finds PostgreSQL's programs. It refuses versions below 15.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const INSTALL_HINT: &str =
    "install it, for example with `apt-get install --no-install-recommends postgresql postgresql-client`";

const OLDEST: u32 = 15;

/// Prints folders where they may be, best first. The shell reads PATH, so that nobody here reads the environment.
const CANDIDATES: &str = r#"
IFS=:
for folder in $PATH; do echo "$folder"; done
unset IFS
pg_config --bindir 2>/dev/null
ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin 2>/dev/null | sort -rV
"#;

/// The first folder that really holds a server of a good version.
pub(super) fn find() -> Option<PathBuf> {
    let output = Command::new("sh").args(["-c", CANDIDATES]).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().find_map(|line| usable(Path::new(line)))
}

fn usable(folder: &Path) -> Option<PathBuf> {
    if !["initdb", "postgres", "pg_ctl"].iter().all(|name| folder.join(name).is_file()) {
        return None;
    }
    // A link in PATH leads to the folder that has the other programs too.
    let folder = folder.join("postgres").canonicalize().ok()?.parent()?.to_path_buf();
    let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
    let version = major_version(&String::from_utf8_lossy(&output.stdout))?;
    (version >= OLDEST).then_some(folder)
}

/// `postgres (PostgreSQL) 15.7 (Debian …)` → 15.
pub(super) fn major_version(text: &str) -> Option<u32> {
    let number = text.split_once(") ")?.1;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
