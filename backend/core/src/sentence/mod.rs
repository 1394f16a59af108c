//! Typed reasons and records as sentences, in English and Chinese. Made at the edge, never stored, never parsed.
//!
//! Numbers come from the record; a sentence here invents none.

pub mod eviction;
pub mod expected;
pub mod idle;
pub mod numbers;
pub mod reason;
pub mod right_size;

/// The same thing said in both languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    pub en: String,
    pub zh: String,
}
