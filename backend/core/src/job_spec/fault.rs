//! What is wrong with one field.

use serde_json::Number;
use uuid::Uuid;

/// One refusal: the field as a JSON pointer, a stable code, and a sentence with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub pointer: String,
    pub code: &'static str,
    pub detail: String,
    /// The budget that refuses, where one does.
    pub budget: Option<Uuid>,
}

impl Fault {
    /// A fault of the field at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into(), budget: None }
    }

    /// The same fault, for the sake of this budget.
    #[must_use]
    pub const fn of_budget(mut self, budget: Uuid) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The same fault inside a batch: `/jobs/17` before its pointer.
    #[must_use]
    pub fn below(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}

/// Collects faults while a submission is read: a bad field gives its fallback, and reading goes on.
#[derive(Debug, Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Notes a fault.
    pub fn add(&mut self, pointer: &str, code: &'static str, detail: impl Into<String>) {
        self.0.push(Fault::new(pointer, code, detail));
    }

    /// A whole number within `least..=most`, or `fallback` with a fault.
    pub fn whole(&mut self, pointer: &str, number: &Number, least: i64, most: i64) -> Option<i64> {
        match whole(number) {
            Some(value) if (least..=most).contains(&value) => Some(value),
            Some(_) => {
                self.add(
                    pointer,
                    "out_of_range",
                    format!("{number} is out of range: give a whole number from {least} to {most}"),
                );
                None
            }
            None => {
                self.add(
                    pointer,
                    "not_a_whole_number",
                    format!("{number} cannot be used: give a whole number from {least} to {most}"),
                );
                None
            }
        }
    }

    /// [`Faults::whole`] for a field that may be left out.
    pub fn optional(&mut self, pointer: &str, number: Option<&Number>, least: i64, most: i64) -> Option<i64> {
        number.and_then(|number| self.whole(pointer, number, least, most))
    }

    /// One of an enum's words, or `None` with a fault that lists them.
    pub fn word<T: std::str::FromStr<Err = crate::status::UnknownText>>(
        &mut self,
        pointer: &str,
        code: &'static str,
        text: &str,
    ) -> Option<T> {
        match text.parse() {
            Ok(value) => Some(value),
            Err(unknown) => {
                let shown: String = unknown.text.chars().filter(|c| !c.is_control()).take(40).collect();
                self.add(
                    pointer,
                    code,
                    format!("{shown:?} is not known: use one of {}", unknown.expected.join(", ")),
                );
                None
            }
        }
    }
}

/// The number as an integer; `None` when it has a fraction or does not fit.
fn whole(number: &Number) -> Option<i64> {
    number.as_i64()
}
