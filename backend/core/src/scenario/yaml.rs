//! YAML as a tree in which everything knows its line and column.
//!
//! serde loses the position of some errors (an unknown key inside a nested map), and whoever writes a
//! policy test by hand needs it. Order of keys is kept: jobs stand in the order in which they started.
//! This module refuses to give meaning to a scalar: `on`, `null` and `8` are texts until somebody who
//! knows the key reads them.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::BTreeMap;

/// A file of this many nodes is no story but an accident (or a bomb of aliases).
const MAX_NODES: usize = 200_000;
const MAX_DEPTH: usize = 64;

/// A place in the file; both count from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Pos {
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for Pos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct FormatError {
    pub at: Pos,
    pub message: String,
}

impl FormatError {
    pub(super) fn new(at: Pos, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Pos,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Text { text: String, quoted: bool },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) at: Pos,
    pub(super) text: String,
}

/// All documents of a file.
///
/// # Errors
/// Broken YAML, a key twice in one map, a key that is no plain text, nesting beyond reason.
pub(super) fn documents(text: &str) -> Result<Vec<Node>, FormatError> {
    let mut reader = Reader { events: Parser::new_from_str(text), anchors: BTreeMap::new(), nodes: 0 };
    let mut documents = Vec::new();
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::DocumentStart(_) => {
                let (first, span) = reader.must_next(pos(&span))?;
                documents.push(reader.node(first, &span, 0)?);
            }
            Event::StreamEnd => break,
            _ => {}
        }
    }
    Ok(documents)
}

fn pos(span: &Span) -> Pos {
    Pos { line: span.start.line(), column: span.start.col() + 1 }
}

struct Reader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, FormatError> {
        self.events.next().transpose().map_err(|error| {
            let mark = error.marker();
            FormatError::new(Pos { line: mark.line(), column: mark.col() + 1 }, error.info())
        })
    }

    fn must_next(&mut self, at: Pos) -> Result<(Event<'a>, Span), FormatError> {
        self.next()?.ok_or_else(|| FormatError::new(at, "the document ends too early"))
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, FormatError> {
        let at = pos(span);
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return Err(FormatError::new(at, "too large or nested too deeply for a scenario"));
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let quoted = !matches!(style, ScalarStyle::Plain);
                (Value::Text { text: text.into_owned(), quoted }, anchor)
            }
            Event::SequenceStart(anchor, _) => (Value::List(self.list(at, depth)?), anchor),
            Event::MappingStart(anchor, _) => (Value::Map(self.map(at, depth)?), anchor),
            Event::Alias(anchor) => return self.alias(anchor, at),
            _ => return Err(FormatError::new(at, "expected a value")),
        };
        let node = Node { at, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, at: Pos) -> Result<Node, FormatError> {
        let node = self.anchors.get(&anchor).cloned();
        let node = node.ok_or_else(|| FormatError::new(at, "an alias to something not yet complete"))?;
        self.nodes += size(&node);
        Ok(Node { at, ..node })
    }

    fn list(&mut self, at: Pos, depth: usize) -> Result<Vec<Node>, FormatError> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.must_next(at)?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(items);
            }
            items.push(self.node(event, &span, depth + 1)?);
        }
    }

    fn map(&mut self, at: Pos, depth: usize) -> Result<Vec<(Key, Node)>, FormatError> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        loop {
            let (event, span) = self.must_next(at)?;
            let key_at = pos(&span);
            let text = match event {
                Event::MappingEnd => return Ok(entries),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(FormatError::new(key_at, "a key must be plain text")),
            };
            if entries.iter().any(|(key, _)| key.text == text) {
                return Err(FormatError::new(key_at, format!("key `{text}` stands here twice")));
            }
            let (event, span) = self.must_next(key_at)?;
            let node = self.node(event, &span, depth + 1)?;
            entries.push((Key { at: key_at, text }, node));
        }
    }
}

fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::Text { .. } => 0,
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries.iter().map(|(_, node)| size(node)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        documents(text).unwrap_err().to_string()
    }

    #[test]
    fn broken_files_are_refused_with_a_place() {
        assert_eq!(error("a: 1\nb: 2\na: 3\n"), "3:1: key `a` stands here twice");
        assert!(error("a: [1, 2\nb: 3\n").starts_with("2:"));
        assert!(error("a: {b: *nothing}\n").starts_with("1:"));
        assert_eq!(error("[1]: 2\n"), "1:1: a key must be plain text");
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..8 {
            let below = level - 1;
            let aliases = vec![format!("*a{below}"); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(error(&text).contains("too large"));
    }

    #[test]
    fn several_documents_and_the_order_of_keys_are_kept() {
        let found = documents("z: 1\na: 2\n---\nb: 1\n").unwrap();
        assert_eq!(found.len(), 2);
        let Value::Map(entries) = &found[0].value else { panic!("a map") };
        assert_eq!(entries.iter().map(|(key, _)| key.text.as_str()).collect::<Vec<_>>(), ["z", "a"]);
    }
}
