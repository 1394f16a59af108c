//! Which crate may know which.

use crate::sources::{assert_none, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A crate, its folder, and the crates of ours it may depend on. A ninth crate needs a reason, and a line here.
const ALLOWED: [(&str, &str, &[&str]); 8] = [
    ("reeve-core", "core", &[]),
    ("reeve-wire", "wire", &["reeve-core"]),
    ("reeve-store", "store", &["reeve-core"]),
    ("reeve-sim", "sim", &["reeve-core"]),
    ("reeve-agent", "agent", &["reeve-wire", "reeve-core"]),
    ("reeve-worker", "worker", &["reeve-store", "reeve-core"]),
    ("reeve-api", "api", &["reeve-store", "reeve-core", "reeve-wire"]),
    ("reeve", "cli", &["reeve-api", "reeve-worker", "reeve-store", "reeve-sim", "reeve-core", "reeve-wire"]),
];

#[test]
fn crates_depend_only_downwards() {
    let mut offences = Vec::new();
    for (name, folder, allowed) in ALLOWED {
        for dependency in dependencies(folder) {
            if dependency.starts_with("reeve") && !allowed.contains(&dependency.as_str()) {
                offences.push(format!("{name} may not depend on {dependency}"));
            }
        }
    }
    assert_none("the direction of crates (backend/ARCHITECTURE.md)", &offences);
}

#[test]
fn there_are_eight_crates() {
    let folders: BTreeSet<String> = fs::read_dir(root().join("backend"))
        .expect("backend exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().expect("named").to_string_lossy().into_owned())
        .collect();
    let expected: BTreeSet<String> = ALLOWED.iter().map(|(_, folder, _)| (*folder).to_owned()).collect();
    assert_eq!(folders, expected);
}

#[test]
fn core_has_no_io_no_async_and_no_randomness() {
    const BANNED: [&str; 8] = ["tokio", "futures", "sqlx", "reqwest", "rand", "axum", "hyper", "async-trait"];
    let offences: Vec<String> =
        dependencies("core").into_iter().filter(|name| BANNED.contains(&name.as_str())).collect();
    assert_none("core is pure", &offences);
}

#[test]
fn only_store_depends_on_sqlx() {
    let offences: Vec<&str> = ALLOWED
        .iter()
        .filter(|(name, folder, _)| *name != "reeve-store" && dependencies(folder).contains("sqlx"))
        .map(|(name, _, _)| *name)
        .collect();
    assert!(offences.is_empty(), "SQL lives in reeve-store, but sqlx is a dependency of {offences:?}");
}

/// The names under `[dependencies]`, of ours and of others; not those for tests.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let text =
        fs::read_to_string(root().join("backend").join(folder).join("Cargo.toml")).expect("a manifest");
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if let Some(name) = line.split(['=', '.', ' ']).next().filter(|name| !name.is_empty()) {
            sections.entry(section.clone()).or_default().insert(name.to_owned());
        }
    }
    sections
        .into_iter()
        .filter(|(name, _)| name == "dependencies" || name.ends_with(".dependencies"))
        .flat_map(|(_, names)| names)
        .collect()
}
