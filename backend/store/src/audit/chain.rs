//! Walking the chain: one event after another, each bound to all before it.

use crate::event::{GENESIS, hash_after};

/// How far one has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    pub position: i64,
    pub hash: [u8; 32],
}

/// Why a log cannot be what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    #[error(
        "position {found} stands where {expected} should: events were dropped, repeated or put in another order"
    )]
    Gap { expected: i64, found: i64 },
    #[error(
        "the hash {found} does not fit the event and what was before it, which give {expected}: one of them was altered"
    )]
    Hash { expected: String, found: String },
}

impl Chain {
    /// Before the first event.
    #[must_use]
    pub const fn start() -> Self {
        Self { position: 0, hash: GENESIS }
    }

    /// Takes the next event: its place, its text and the hash that it is said to have.
    ///
    /// # Errors
    /// [`Break`]; the chain stays where it was.
    pub fn step(&mut self, position: i64, text: &str, hash: &str) -> Result<(), Break> {
        let expected = self.position + 1;
        if position != expected {
            return Err(Break::Gap { expected, found: position });
        }
        let computed = hash_after(&self.hash, text);
        let mut hex = [0; 64];
        // 32 bytes always fit.
        let _ = hex::encode_to_slice(computed, &mut hex);
        if hash.as_bytes() != hex {
            return Err(Break::Hash { expected: hex::encode(computed), found: hash.to_owned() });
        }
        *self = Self { position, hash: computed };
        Ok(())
    }

    /// The hash as exports and checkpoints write it.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.hash)
    }
}

/// Why and where, in a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The first position that is wrong; none where no position is concerned.
    pub position: Option<i64>,
    /// The line of the file, where there is one; the first is 1.
    pub line: Option<u64>,
    pub why: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(position) = self.position {
            write!(f, "position {position}: ")?;
        }
        f.write_str(&self.why)
    }
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Events that fit, from the first on.
    pub events: i64,
    /// The chain's last good place.
    pub chain: Chain,
    /// Checkpoints whose signature and hash fit.
    pub checkpoints: u64,
    /// The first fault; none = the log is whole.
    pub fault: Option<Fault>,
    /// What was not asked or cannot be known, in sentences.
    pub notes: Vec<String>,
}
