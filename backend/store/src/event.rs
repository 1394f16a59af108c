//! The sealed stream of events: positions without gaps, in commit order. Everything live hangs on it.
//!
//! Reads only what the sealer has sealed; what is committed but not sealed yet does not exist here.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{EventId, TeamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// An event with its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SealedEvent {
    pub position: i64,
    /// sha256(previous hash, canonical JSON of `event`), hex.
    pub hash: String,
    pub event: EventBody,
}

/// An event as it was written: this, in canonical JSON, is what the chain hashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventBody {
    pub id: EventId,
    pub occurred_at: DateTime<Utc>,
    pub actor_type: String,
    pub actor_id: Option<Uuid>,
    pub actor_name: String,
    pub action: String,
    pub subject_type: String,
    pub subject_id: Option<Uuid>,
    pub team_id: Option<TeamId>,
    pub request_id: Option<String>,
    pub rule: Option<String>,
    pub allowed: bool,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub detail: Option<Value>,
}

/// The hash before the first event.
pub const GENESIS: [u8; 32] = [0; 32];

impl EventBody {
    /// The hash of this event after `previous`.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] if it cannot be written as JSON, which its types exclude.
    pub fn hash_after(&self, previous: &[u8]) -> Result<[u8; 32], StoreError> {
        Ok(hash_after(previous, &self.text()?))
    }

    /// The text that is hashed: canonical JSON. Exports hold exactly this.
    ///
    /// # Errors
    /// As [`EventBody::hash_after`].
    pub fn text(&self) -> Result<String, StoreError> {
        let mut text = String::with_capacity(512);
        canonical(&serde_json::to_value(self)?, &mut text);
        Ok(text)
    }
}

/// The chain's one step: sha256(previous hash, an event's text).
#[must_use]
pub fn hash_after(previous: &[u8], text: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(previous);
    hasher.update(text.as_bytes());
    hasher.finalize().into()
}

/// Keys sorted by code point, no white space: the same text whatever wrote the value.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                canonical(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// Which events; empty or `None` = all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EventFilter {
    /// Subject types, for example `job`, `node`.
    pub subject_types: Vec<String>,
    pub subject_id: Option<Uuid>,
    /// Events of these teams, and those of no team.
    pub team_ids: Option<Vec<TeamId>>,
    pub actor_id: Option<Uuid>,
    pub actions: Vec<String>,
}

macro_rules! select_events {
    ($rest:literal, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            EventRow,
            "select s.position, s.hash, e.id, e.occurred_at, e.actor_type, e.actor_id, e.actor_name, e.action, "
                + "e.subject_type, e.subject_id, e.team_id, e.request_id, e.rule, e.allowed, e.before, e.after, "
                + "e.detail from event_seals s join events e on e.id = s.event_id where "
                + "(cardinality($2::text[]) = 0 or e.subject_type = any($2)) "
                + "and ($3::uuid is null or e.subject_id = $3) "
                + "and ($4::uuid[] is null or e.team_id is null or e.team_id = any($4)) "
                + "and ($5::uuid is null or e.actor_id = $5) "
                + "and (cardinality($6::text[]) = 0 or e.action = any($6)) and " + $rest,
            $($argument),*
        )
    };
}

/// Events after `position`, oldest first: for live streams and exports.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn after(
    store: &Store,
    position: i64,
    filter: &EventFilter,
    limit: i64,
) -> Result<Vec<SealedEvent>, StoreError> {
    let teams = uuids(filter);
    let rows = select_events!(
        "s.position > $1 order by s.position limit $7",
        position,
        &filter.subject_types,
        filter.subject_id,
        teams.as_deref(),
        filter.actor_id,
        &filter.actions,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(SealedEvent::from).collect())
}

/// Events before `position` (`None` = the end), newest first: for people's lists.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn before(
    store: &Store,
    position: Option<i64>,
    filter: &EventFilter,
    limit: i64,
) -> Result<Vec<SealedEvent>, StoreError> {
    let teams = uuids(filter);
    let rows = select_events!(
        "s.position < $1 order by s.position desc limit $7",
        position.unwrap_or(i64::MAX),
        &filter.subject_types,
        filter.subject_id,
        teams.as_deref(),
        filter.actor_id,
        &filter.actions,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(SealedEvent::from).collect())
}

/// The last sealed position; 0 = none.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn last_position(store: &Store) -> Result<i64, StoreError> {
    let last = sqlx::query_scalar!("select max(position) from event_seals").fetch_one(store.pool()).await?;
    Ok(last.unwrap_or(0))
}

fn uuids(filter: &EventFilter) -> Option<Vec<Uuid>> {
    filter.team_ids.as_ref().map(|teams| teams.iter().map(|team| team.0).collect())
}

struct EventRow {
    position: i64,
    hash: Vec<u8>,
    id: Uuid,
    occurred_at: DateTime<Utc>,
    actor_type: String,
    actor_id: Option<Uuid>,
    actor_name: String,
    action: String,
    subject_type: String,
    subject_id: Option<Uuid>,
    team_id: Option<Uuid>,
    request_id: Option<String>,
    rule: Option<String>,
    allowed: bool,
    before: Option<Value>,
    after: Option<Value>,
    detail: Option<Value>,
}

impl From<EventRow> for SealedEvent {
    fn from(row: EventRow) -> Self {
        Self {
            position: row.position,
            hash: hex::encode(row.hash),
            event: EventBody {
                id: row.id.into(),
                occurred_at: row.occurred_at,
                actor_type: row.actor_type,
                actor_id: row.actor_id,
                actor_name: row.actor_name,
                action: row.action,
                subject_type: row.subject_type,
                subject_id: row.subject_id,
                team_id: row.team_id.map(TeamId),
                request_id: row.request_id,
                rule: row.rule,
                allowed: row.allowed,
                before: row.before,
                after: row.after,
                detail: row.detail,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_json_does_not_depend_on_the_order_of_keys() {
        let mut text = String::new();
        canonical(&json!({"b": [1, {"z": null, "a": "\"é"}], "a": true}), &mut text);
        assert_eq!(text, r#"{"a":true,"b":[1,{"a":"\"é","z":null}]}"#);
    }
}
