//! The export that can be verified: JSON Lines whose event lines hold exactly the text that was hashed.
//!
//! ```text
//! {"export":{"version":1,"after_position":0,"after_hash":"00…","filtered":false,"exported_at":"…"}}
//! {"key":{"key_id":"…","public_key":"…","created_at":"…","endorsed_by":null,"endorsement":null}}
//! {"position":1,"hash":"…","event":{…}}
//! {"checkpoint":{"position":1,"hash":"…","signed_at":"…","key_id":"…","signature":"…"}}
//! {"end":{"position":1,"hash":"…","events":1}}
//! ```
//! A line that is formatted anew does not verify any more: keep the file as it came.

use super::checkpoint::{Checkpoint, KnownKey};
use super::key::{Endorsement, PublicKey};
use crate::error::StoreError;
use crate::event::SealedEvent;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub version: u32,
    /// What the first event follows; 0 = it is the log's first.
    pub after_position: i64,
    pub after_hash: String,
    /// Some events were left out: the chain cannot be followed.
    pub filtered: bool,
    pub exported_at: DateTime<Utc>,
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyLine {
    pub key_id: String,
    /// Base64.
    pub public_key: String,
    pub created_at: DateTime<Utc>,
    pub endorsed_by: Option<String>,
    /// Base64.
    pub endorsement: Option<String>,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub position: i64,
    pub hash: String,
    pub events: i64,
}

/// Every line that is no event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    Export(Head),
    Key(KeyLine),
    Checkpoint(Checkpoint),
    End(End),
}

/// An event's line, its text as it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventLine<'a> {
    pub(super) position: i64,
    pub(super) hash: &'a str,
    #[serde(borrow)]
    pub(super) event: &'a RawValue,
}

impl From<&KnownKey> for KeyLine {
    fn from(key: &KnownKey) -> Self {
        Self {
            key_id: key.public.id(),
            public_key: key.public.to_base64(),
            created_at: key.created_at,
            endorsed_by: key.endorsement.as_ref().map(|by| by.key_id.clone()),
            endorsement: key.endorsement.as_ref().map(|by| BASE64.encode(&by.signature)),
        }
    }
}

impl KeyLine {
    /// The key and who vouches for it, if it is readable.
    #[must_use]
    pub fn parse(&self) -> Option<(PublicKey, Option<Endorsement>)> {
        let key = PublicKey::parse(&self.public_key).filter(|key| key.id() == self.key_id)?;
        let endorsement = match (&self.endorsed_by, &self.endorsement) {
            (Some(key_id), Some(text)) => {
                Some(Endorsement { key_id: key_id.clone(), signature: BASE64.decode(text).ok()? })
            }
            _ => None,
        };
        Some((key, endorsement))
    }
}

/// A line with its end.
///
/// # Errors
/// [`StoreError::Unreadable`], which the types exclude.
pub fn line(line: &Line) -> Result<String, StoreError> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    Ok(text)
}

/// Appends an event's line.
///
/// # Errors
/// As [`line`].
pub fn event_line(sealed: &SealedEvent, out: &mut String) -> Result<(), StoreError> {
    raw_event_line(sealed.position, &sealed.hash, &sealed.event.text()?, out);
    Ok(())
}

/// The same of an event's text.
pub fn raw_event_line(position: i64, hash: &str, text: &str, out: &mut String) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{{\"position\":{position},\"hash\":\"{hash}\",\"event\":{text}}}");
}
