//! CSV for people (RFC 4180): cells that a spreadsheet would run as a formula are made text.
//!
//! This module refuses to let a name, chosen by anybody, become a command in somebody's spreadsheet.

/// UTF-8's byte order mark, by which some spreadsheets know that a file is UTF-8.
pub const BOM: &str = "\u{feff}";

/// What stands in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Anybody's words: guarded against formulas.
    Text(&'a str),
    /// A number of ours, as it is: a minus is no formula.
    Number(&'a str),
    Empty,
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Cell::Empty, Cell::Text)
    }
}

/// A cell that owns its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Field {
    Text(String),
    /// A decimal of ours, exact.
    Number(String),
    #[default]
    Empty,
}

impl Field {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Empty for none.
    #[must_use]
    pub fn maybe(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Empty, Self::text)
    }
}

impl<'a> From<&'a Field> for Cell<'a> {
    fn from(field: &'a Field) -> Self {
        match field {
            Field::Text(text) => Cell::Text(text),
            Field::Number(text) => Cell::Number(text),
            Field::Empty => Cell::Empty,
        }
    }
}

/// Appends a row and its line end.
pub fn row<'a>(out: &mut String, cells: impl IntoIterator<Item = Cell<'a>>) {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match cell {
            Cell::Empty => {}
            Cell::Number(text) => out.push_str(text),
            Cell::Text(text) => quoted(out, text, is_formula(text)),
        }
    }
    out.push_str("\r\n");
}

/// Whether a spreadsheet would take it for a formula.
#[must_use]
pub fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

fn quoted(out: &mut String, text: &str, guard: bool) {
    if !guard && !text.contains([',', '"', '\n', '\r']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    if guard {
        out.push('\'');
    }
    for c in text.chars() {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_text() {
        let mut out = String::new();
        let cells = ["a", "b,c", "say \"x\"", "=1+1", "-2", "@x", "\tx", "two\nlines"].map(Cell::Text);
        row(&mut out, cells);
        row(&mut out, [Cell::Number("-12.50"), Cell::Empty, Cell::Text("视觉")]);
        assert_eq!(
            out,
            "a,\"b,c\",\"say \"\"x\"\"\",\"'=1+1\",\"'-2\",\"'@x\",\"'\tx\",\"two\nlines\"\r\n-12.50,,视觉\r\n"
        );
    }
}
