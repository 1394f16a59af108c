//! Words that may not stand in the product's sources.

use crate::sources::{Source, assert_none, sources};

fn offences(found: &[Source], words: &[&str], excepted: impl Fn(&str) -> bool) -> Vec<String> {
    found
        .iter()
        .filter(|source| !source.is_test() && !excepted(&source.path))
        .flat_map(|source| {
            source
                .product_lines()
                .filter(|(_, line)| !line.trim_start().starts_with("//"))
                .filter(|(_, line)| words.iter().any(|word| line.contains(word)))
                .map(|(number, line)| format!("{}:{number}: {}", source.path, line.trim()))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn sql_stands_only_in_the_store() {
    let words = ["sqlx::", "query!(", "query_as!(", "query_scalar!("];
    let found = offences(&sources(&["backend"], &[".rs"]), &words, |path| path.starts_with("backend/store/"));
    assert_none("SQL outside reeve-store", &found);
}

#[test]
fn only_the_system_clock_reads_the_clock() {
    let words = ["Utc::now(", "Local::now(", "SystemTime::now(", "Uuid::now_v7("];
    let found =
        offences(&sources(&["backend"], &[".rs"]), &words, |path| path == "backend/core/src/clock.rs");
    assert_none("time is an argument", &found);
}

#[test]
fn only_the_command_lines_read_the_environment() {
    // The agent is a command line of its own; build scripts talk to cargo through the environment.
    let allowed = |path: &str| {
        path.starts_with("backend/cli/src/")
            || path.starts_with("backend/agent/src/")
            || path.ends_with("/build.rs")
            // A test binary, whose walks a person may choose.
            || path == "backend/core/tests/suite/properties.rs"
    };
    let found =
        offences(&sources(&["backend"], &[".rs"]), &["env::var(", "env::vars(", "env::var_os("], allowed);
    assert_none("configuration is passed in", &found);
}

#[test]
fn nothing_names_a_machine() {
    let endings = [
        ".rs",
        ".ts",
        ".tsx",
        ".md",
        ".toml",
        ".yml",
        ".yaml",
        ".sh",
        ".sql",
        ".json",
        "Makefile",
        "Dockerfile",
    ];
    let needles = ["/work/", "/farm/", concat!("/ro", "ot/")];
    let found: Vec<String> = sources(&["."], &endings)
        .iter()
        .filter(|source| !source.path.ends_with("guards/words.rs"))
        .flat_map(|source| {
            source
                .text
                .lines()
                .enumerate()
                .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)))
                .map(|(index, line)| format!("{}:{}: {}", source.path, index + 1, line.trim()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none("paths of one machine", &found);
}

#[test]
fn nothing_is_left_for_later() {
    let found: Vec<String> = offences(
        &sources(&["backend", "tests", "frontend/src"], &[".rs", ".ts", ".tsx"]),
        &["todo!(", "unimplemented!(", "dbg!("],
        |_| false,
    );
    assert_none("finish it, or file it", &found);
}
