//! Reads a JSON text once to find what serde would let pass or describe badly: duplicate keys, too many levels,
//! NUL characters. It builds nothing.

use crate::problem::{Code, Problem, Result};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

/// Deepest nesting.
const MOST_LEVELS: usize = 64;

/// Where the scan is, and what it found first.
#[derive(Default)]
struct Trail {
    path: Vec<String>,
    found: Option<(String, &'static str, &'static str)>,
}

/// # Errors
/// [`Code::InvalidJson`] with the pointer of the first fault.
pub(super) fn scan(bytes: &[u8]) -> Result<()> {
    let trail = RefCell::new(Trail::default());
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let outcome = Node(&trail).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    let Err(error) = outcome else { return Ok(()) };
    let trail = trail.into_inner();
    let problem = Problem::new(Code::InvalidJson);
    Err(match trail.found {
        Some((pointer, code, detail)) => problem.detail(detail).error(pointer, code, detail),
        None => problem.detail(error.to_string()).error(
            pointer(&trail.path),
            "syntax",
            format!("line {}, column {}", error.line(), error.column()),
        ),
    })
}

/// `["jobs", "17", "a/b"]` → `/jobs/17/a~1b`.
pub(super) fn pointer<T: AsRef<str>>(path: &[T]) -> String {
    path.iter().map(|step| format!("/{}", step.as_ref().replace('~', "~0").replace('/', "~1"))).collect()
}

struct Node<'a>(&'a RefCell<Trail>);

impl Node<'_> {
    fn fault<E: Error>(&self, code: &'static str, detail: &'static str) -> E {
        let mut trail = self.0.borrow_mut();
        trail.found = Some((pointer(&trail.path), code, detail));
        E::custom(detail)
    }

    fn enter<E: Error>(&self, step: String) -> std::result::Result<(), E> {
        self.0.borrow_mut().path.push(step);
        if self.0.borrow().path.len() > MOST_LEVELS {
            return Err(self.fault("too_deep", "more than 64 levels"));
        }
        Ok(())
    }

    fn leave(&self) {
        self.0.borrow_mut().path.pop();
    }

    fn text<E: Error>(&self, text: &str) -> std::result::Result<(), E> {
        if text.contains('\0') {
            return Err(self.fault("nul_character", "text may not contain NUL"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<(), E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        let mut index = 0usize;
        loop {
            self.enter(index.to_string())?;
            let more = items.next_element_seed(Node(self.0))?.is_some();
            self.leave();
            if !more {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.enter(key.clone())?;
            self.text(&key)?;
            if !seen.insert(key) {
                return Err(self.fault("duplicate_key", "the same key twice in one object"));
            }
            entries.next_value_seed(Node(self.0))?;
            self.leave();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_with_their_place() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        let very_deep = "[".repeat(100_000);
        for (text, pointer, code) in [
            (r#"{"a":{"b":1,"b":2}}"#, "/a/b", "duplicate_key"),
            (r#"{"a":["x","\u0000"]}"#, "/a/1", "nul_character"),
            (r#"{"a":"#, "/a", "syntax"),
            (r"{} {}", "", "syntax"),
            ("", "", "syntax"),
        ] {
            let problem = scan(text.as_bytes()).expect_err(text);
            assert_eq!(problem.code, Code::InvalidJson, "{text}");
            assert_eq!(
                (problem.errors[0].pointer.as_str(), problem.errors[0].code.as_str()),
                (pointer, code),
                "{text}"
            );
        }
        assert_eq!(scan(deep.as_bytes()).expect_err("deep").errors[0].code, "too_deep");
        assert_eq!(scan(very_deep.as_bytes()).expect_err("deep").errors[0].code, "too_deep");
        assert!(scan(&[0xff, 0xfe]).is_err());
    }

    #[test]
    fn good_json_passes() {
        scan(r#"{"a":[1,2.5,-3,true,null,{"b":"c😀"}],"":{}}"#.as_bytes()).expect("good");
    }
}
