//! The tracked sources, as the guards see them.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file: path relative to the root, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Tests may be long, and may do what the product may not.
    pub(crate) fn is_test(&self) -> bool {
        let path = &self.path;
        path.starts_with("tests/")
            || path.contains("/tests/")
            || path.ends_with("/tests.rs")
            || path.ends_with("_test.rs")
            || path.contains(".test.")
    }

    /// The lines before the file's own test module.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests package lies in the root").to_path_buf()
}

/// All files below `folders` with one of the endings, sorted; generated and installed ones left out.
pub(crate) fn sources(folders: &[&str], endings: &[&str]) -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    for folder in folders {
        walk(&root.join(folder), &mut found);
    }
    found.sort();
    found
        .into_iter()
        .filter(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)))
        .map(|path| Source {
            path: path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned(),
            text: fs::read_to_string(&path).expect("sources are UTF-8"),
        })
        .collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    const SKIPPED: [&str; 5] = ["node_modules", "dist", "target", "coverage", ".git"];
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            walk(&path, found);
        } else if path.is_file() && name != "schema.d.ts" {
            found.push(path);
        }
    }
}

/// Fails with every offence in one message.
pub(crate) fn assert_none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

#[test]
fn the_guards_see_the_sources() {
    let rust = sources(&["backend"], &[".rs"]);
    assert!(rust.len() > 20, "only {} files found: the guards would guard nothing", rust.len());
    assert!(rust.iter().any(|source| source.path == "backend/core/src/lib.rs"));
}
