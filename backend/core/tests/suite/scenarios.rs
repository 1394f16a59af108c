//! Every scenario file passes on production's planner.

use reeve_core::scenario::FileReport;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios")
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_scenario_passes() {
    let reports: Vec<FileReport> = files()
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            FileReport::of(&name, &std::fs::read_to_string(path).unwrap(), reeve_core::schedule::plan)
        })
        .collect();
    let failed: Vec<&FileReport> = reports.iter().filter(|report| !report.passed()).collect();
    let text: String = failed.iter().map(|report| report.text(true)).collect();
    assert!(failed.is_empty(), "{} of {} files fail\n{text}", failed.len(), reports.len());
}

/// The rows that the planner decides; a file that goes missing would go unnoticed otherwise.
#[test]
fn every_row_of_the_conformance_list_has_its_file() {
    let rows = [
        "R-01", "R-02", "R-04", "R-05", "R-06", "R-07", "R-08", "R-10", "R-13", "R-14", "R-16", "R-17",
        "R-18", "R-20", "R-21", "R-23", "R-26", "R-27", "R-29", "R-30", "R-31", "R-33", "R-34", "R-35",
        "R-36", "R-37", "R-38", "R-39", "R-41", "R-42", "R-44", "R-45", "R-46", "R-48", "R-49", "R-50",
        "R-51", "R-52", "R-54", "R-55", "R-56", "R-57", "R-60", "R-61", "R-72", "R-73", "C-01", "C-02",
        "C-03", "C-05", "C-06", "C-07", "C-09", "C-10", "C-11", "C-13", "C-14", "C-15", "C-16", "C-18",
        "C-19", "C-20", "C-22", "C-23", "C-24", "C-25", "C-26", "C-27", "C-28", "C-30", "C-31", "C-32",
        "C-33", "C-35", "C-36", "C-38", "C-40", "C-41", "C-42", "C-43", "C-45", "C-46", "C-47", "C-49",
        "C-50", "C-51", "C-52", "C-53", "C-54", "C-57", "C-58", "C-59", "C-60", "C-61", "C-62", "C-63",
        "C-65", "C-66", "C-68", "C-69", "C-70", "C-71", "C-72", "C-73", "C-75", "C-76", "C-77", "C-79",
        "C-80", "C-81", "C-82", "C-83", "C-84", "C-86",
    ];
    let names: Vec<String> =
        files().iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    for row in rows {
        let prefix = format!("{row}-");
        let file = names.iter().find(|name| name.starts_with(&prefix));
        let file = file.unwrap_or_else(|| panic!("no scenario file for row {row}"));
        let text = std::fs::read_to_string(folder().join(format!("{file}.yaml"))).unwrap();
        assert!(text.starts_with(&format!("# {row}")), "{file} does not say which row it pins");
        let scenarios = reeve_core::scenario::parse(&text).unwrap();
        assert!(scenarios.iter().all(|scenario| scenario.name.contains(row)), "{file}: a name without {row}");
    }
}
