//! How long things may be. Functions are clippy's (`too-many-lines-threshold`).

use crate::sources::{assert_none, sources};

const MOST_LINES: usize = 500;

#[test]
fn no_file_is_longer_than_500_lines_without_tests() {
    let offences: Vec<String> =
        sources(&["backend", "frontend/src", "frontend/browser"], &[".rs", ".ts", ".tsx", ".mjs"])
            .iter()
            .filter(|source| !source.is_test())
            .map(|source| (source, source.product_lines().count()))
            .filter(|(_, lines)| *lines > MOST_LINES)
            .map(|(source, lines)| format!("{}: {lines} lines", source.path))
            .collect();
    assert_none("split where two things live in one file", &offences);
}

#[test]
fn lib_and_mod_files_hold_only_docs_and_modules() {
    // `plan()` stands in its mod.rs so that the planner's phases are the first thing one sees.
    const EXCEPTED: [&str; 1] = ["backend/core/src/schedule/mod.rs"];
    let offences: Vec<String> = sources(&["backend"], &["/lib.rs", "/mod.rs"])
        .iter()
        .filter(|source| !source.is_test() && !EXCEPTED.contains(&source.path.as_str()))
        .flat_map(|source| {
            source
                .product_lines()
                .filter(|(_, line)| {
                    let line = line.trim_start();
                    ["fn ", "pub fn ", "pub(crate) fn ", "async fn ", "pub async fn ", "impl ", "impl<"]
                        .iter()
                        .any(|start| line.starts_with(start))
                })
                .map(|(number, line)| format!("{}:{number}: {}", source.path, line.trim()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none("lib.rs and mod.rs are tables of contents: move the code into a file with a name", &offences);
}
