//! Collects everything that is wrong with a body, so that a person corrects it once.

use super::answer::{FieldError, Problem, Result};
use super::codes::Code;

/// The wrong fields so far.
#[derive(Debug, Default)]
pub struct Fields(Vec<FieldError>);

impl Fields {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, pointer: impl Into<String>, code: &str, detail: impl Into<String>) {
        self.0.push(FieldError { pointer: pointer.into(), code: code.to_owned(), detail: detail.into() });
    }

    /// A slug: lower-case letters, digits and inner hyphens, 1 to 63.
    pub fn slug(&mut self, pointer: &str, text: &str) {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let good = (1..=63).contains(&text.len())
            && text.bytes().all(|byte| inner(byte) || byte == b'-')
            && text.bytes().next().is_some_and(inner)
            && text.bytes().last().is_some_and(inner);
        if !good {
            self.add(
                pointer,
                "invalid_slug",
                "1 to 63 lower-case letters, digits and hyphens; neither first nor last a hyphen",
            );
        } else if text.parse::<uuid::Uuid>().is_ok() {
            self.add(pointer, "invalid_slug", "a slug may not look like an id");
        }
    }

    /// A username: as a slug, with inner dots and underscores too.
    pub fn username(&mut self, pointer: &str, text: &str) {
        let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let good = (1..=63).contains(&text.len())
            && text.bytes().all(|byte| edge(byte) || matches!(byte, b'-' | b'.' | b'_'))
            && text.bytes().next().is_some_and(edge)
            && text.bytes().last().is_some_and(edge);
        if !good || text.parse::<uuid::Uuid>().is_ok() {
            self.add(
                pointer,
                "invalid_username",
                "1 to 63 lower-case letters, digits, dots, hyphens and underscores, beginning and ending with a \
                 letter or digit",
            );
        }
    }

    /// A name for people: `least..=most` characters, no control characters.
    pub fn text(&mut self, pointer: &str, text: &str, least: usize, most: usize) {
        let length = text.chars().count();
        if !(least..=most).contains(&length) {
            self.add(pointer, "invalid_length", format!("{least} to {most} characters, this has {length}"));
        } else if text.chars().any(char::is_control) {
            self.add(pointer, "control_character", "no control characters");
        } else if least > 0 && text.trim().is_empty() {
            self.add(pointer, "blank", "not only white space");
        }
    }

    /// A number within bounds.
    pub fn range(&mut self, pointer: &str, value: i64, least: i64, most: i64) {
        if !(least..=most).contains(&value) {
            self.add(pointer, "out_of_range", format!("{least} to {most}, this is {value}"));
        }
    }

    /// A word of an enum.
    pub fn word<T>(&mut self, pointer: &str, text: &str) -> Option<T>
    where
        T: std::str::FromStr<Err = reeve_core::status::UnknownText>,
    {
        text.parse().map_err(|error: T::Err| self.add(pointer, "unknown_value", error.to_string())).ok()
    }

    /// # Errors
    /// All that was added, as one [`Code::InvalidBody`].
    pub fn done(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut problem = Problem::new(Code::InvalidBody);
        problem.detail = self
            .0
            .iter()
            .take(3)
            .map(|error| format!("{}: {}", error.pointer, error.detail))
            .collect::<Vec<_>>()
            .join("; ");
        problem.errors = self.0;
        Err(problem)
    }
}
