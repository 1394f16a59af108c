//! What is printed: a table for people or JSON for programs. It refuses colours and wrapping: both break `grep`.

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    pub(crate) fn json(self, value: &impl Serialize) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string_pretty(value)?);
        Ok(())
    }

    /// That something is done: JSON for programs, a word for people.
    pub(crate) fn done(self, value: &impl Serialize, word: &str) -> anyhow::Result<()> {
        if self.json {
            return self.json(value);
        }
        println!("{word}");
        Ok(())
    }

    /// The items as JSON, or as a table with one column a `(title, pointer)`.
    pub(crate) fn items(self, items: &[Value], columns: &[(&str, &str)]) -> anyhow::Result<()> {
        if self.json {
            return self.json(&items);
        }
        let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        let rows = items.iter().map(|item| columns.iter().map(|(_, pointer)| cell(item, pointer)).collect());
        print!("{}", table(titles, rows.collect()));
        Ok(())
    }
}

/// What stands at the pointer, as a person reads it. Nothing is a dash.
pub(crate) fn cell(item: &Value, pointer: &str) -> String {
    match item.pointer(pointer) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => printable(text),
        Some(Value::Array(values)) => {
            values.iter().map(|value| cell(value, "")).collect::<Vec<_>>().join(",")
        }
        Some(other) => other.to_string(),
    }
}

/// A terminal obeys control characters, and names come from others.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Columns side by side, two spaces between, as wide as their widest cell.
pub(crate) fn table(titles: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for line in &lines {
        let mut row = String::new();
        for (cell, width_wanted) in line.iter().zip(&widths) {
            row.push_str(cell);
            row.extend(std::iter::repeat_n(' ', width_wanted - width(cell) + 2));
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Cells of a terminal: Chinese characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}') { 2 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_line_up_in_both_languages() {
        let rows = vec![vec!["视觉".to_owned(), "4".to_owned()], vec!["speech".to_owned(), "12".to_owned()]];
        let text = table(vec!["TEAM".to_owned(), "GPUS".to_owned()], rows);
        assert_eq!(text, "TEAM    GPUS\n视觉    4\nspeech  12\n");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(cell(&json!({"name": "a\u{1b}[2J"}), "/name"), "a\u{fffd}[2J");
        assert_eq!(cell(&json!({"name": null}), "/name"), "-");
        assert_eq!(cell(&json!({"states": ["queued", 3]}), "/states"), "queued,3");
    }
}
