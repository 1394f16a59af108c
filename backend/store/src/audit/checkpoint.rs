//! Signed checkpoints: "at this position the chain had this hash", by a key that the database does not know.

use super::chain::{Chain, Fault};
use super::key::{AuditKey, Endorsement, KeyRing, PublicKey};
use crate::connect::Store;
use crate::error::StoreError;
use crate::event::{self, EventFilter};
use crate::write_tx::{Actor, NewEvent, WriteContext};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

/// Events read at once.
const CHUNK: i64 = 5_000;

/// A checkpoint as it is stored, exported and served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub position: i64,
    /// Hexadecimal.
    pub hash: String,
    pub signed_at: DateTime<Utc>,
    pub key_id: String,
    /// Base64.
    pub signature: String,
}

impl Checkpoint {
    #[must_use]
    pub fn sign(key: &AuditKey, chain: &Chain, signed_at: DateTime<Utc>) -> Self {
        let mut checkpoint = Self {
            position: chain.position,
            hash: chain.hex(),
            signed_at,
            key_id: key.public().id(),
            signature: String::new(),
        };
        checkpoint.signature = BASE64.encode(key.sign(&checkpoint.message()));
        checkpoint
    }

    /// What is signed.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let at = self.signed_at.to_rfc3339_opts(SecondsFormat::Micros, true);
        format!("reeve-audit-checkpoint-v1\n{}\n{}\n{at}\n", self.position, self.hash).into_bytes()
    }

    /// Why its signature does not count; none = it does.
    #[must_use]
    pub fn fault(&self, keys: &KeyRing) -> Option<String> {
        let Some(key) = keys.get(&self.key_id) else {
            return Some(format!("the checkpoint is signed by key {}, which is not trusted", self.key_id));
        };
        let signed =
            BASE64.decode(&self.signature).is_ok_and(|signature| key.has_signed(&self.message(), &signature));
        (!signed).then(|| format!("the checkpoint's signature is not that of key {}", self.key_id))
    }
}

/// A public key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    pub public: PublicKey,
    pub created_at: DateTime<Utc>,
    pub endorsement: Option<Endorsement>,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// Nothing has happened since the last one.
    Nothing,
    At(i64),
    /// The stretch since the last one does not verify: nothing was signed.
    Broken(Fault),
}

/// Verifies what was sealed since the last checkpoint, and signs it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, key: &AuditKey, now: DateTime<Utc>) -> Result<Signed, StoreError> {
    register(store, key, now).await?;
    let last = newest(store).await?;
    let mut chain = Chain::start();
    if let Some(last) = &last {
        match rejoin(store, last).await? {
            Ok(rejoined) => chain = rejoined,
            Err(fault) => return Ok(Signed::Broken(fault)),
        }
    }
    let began_at = chain.position;
    loop {
        let events = event::after(store, chain.position, &EventFilter::default(), CHUNK).await?;
        if events.is_empty() {
            break;
        }
        for sealed in events {
            if let Err(broken) = chain.step(sealed.position, &sealed.event.text()?, &sealed.hash) {
                let position = Some(chain.position + 1);
                return Ok(Signed::Broken(Fault { position, line: None, why: broken.to_string() }));
            }
        }
    }
    if chain.position == began_at {
        return Ok(Signed::Nothing);
    }
    keep(store, &Checkpoint::sign(key, &chain, now)).await?;
    Ok(Signed::At(chain.position))
}

/// The chain at a checkpoint, if the log still says the same there.
async fn rejoin(store: &Store, last: &Checkpoint) -> Result<Result<Chain, Fault>, StoreError> {
    let hash = sqlx::query_scalar!("select hash from event_seals where position = $1", last.position)
        .fetch_optional(store.pool())
        .await?;
    let fault = |why: String| Fault { position: Some(last.position), line: None, why };
    Ok(match hash {
        None => Err(fault("a checkpoint was signed here, and the log does not reach it any more".to_owned())),
        Some(hash) if hex::encode(&hash) != last.hash => {
            Err(fault(format!("a checkpoint was signed here for the hash {}", last.hash)))
        }
        Some(hash) => match hash.try_into() {
            Ok(hash) => Ok(Chain { position: last.position, hash }),
            Err(_) => Err(fault("the hash has not 32 bytes".to_owned())),
        },
    })
}

/// Makes the key's public half known, once.
async fn register(store: &Store, key: &AuditKey, now: DateTime<Utc>) -> Result<(), StoreError> {
    let id = key.public().id();
    let known =
        sqlx::query_scalar!(r#"select exists (select from audit_keys where key_id = $1) as "known!""#, id)
            .fetch_one(store.pool())
            .await?;
    if known {
        return Ok(());
    }
    let ring = ring(store).await?;
    let endorsement = key.endorsement.as_ref().filter(|by| ring.get(&by.key_id).is_some());
    let context = WriteContext { actor: Actor::system("checkpoints"), request_id: None, now };
    let mut tx = store.begin(context).await?;
    let added = sqlx::query!(
        "insert into audit_keys (key_id, public_key, created_at, endorsed_by, endorsement)
         values ($1, $2, $3, $4, $5) on conflict do nothing",
        id,
        &key.public().0[..],
        now,
        endorsement.map(|by| by.key_id.clone()),
        endorsement.map(|by| by.signature.clone())
    )
    .execute(tx.connection())
    .await?;
    if added.rows_affected() == 0 {
        return tx.rollback().await;
    }
    let mut event = NewEvent::new("audit.key_added", "audit", Uuid::nil()).after(
        json!({"key_id": id, "public_key": key.public().to_base64(), "endorsed_by": endorsement.map(|by| &by.key_id)}),
    );
    event.subject_id = None;
    tx.record(event);
    tx.commit().await
}

/// Two servers may sign the same position: the first one counts.
async fn keep(store: &Store, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    let (hash, signature) = (hex::decode(&checkpoint.hash), BASE64.decode(&checkpoint.signature));
    let (Ok(hash), Ok(signature)) = (hash, signature) else {
        return Err(StoreError::Unreadable("a checkpoint of our own".to_owned()));
    };
    sqlx::query!(
        "insert into audit_checkpoints (position, hash, signed_at, key_id, signature) values ($1, $2, $3, $4, $5)
         on conflict do nothing",
        checkpoint.position,
        hash,
        checkpoint.signed_at,
        checkpoint.key_id,
        signature
    )
    .execute(store.pool())
    .await?;
    Ok(())
}

struct Row {
    position: i64,
    hash: Vec<u8>,
    signed_at: DateTime<Utc>,
    key_id: String,
    signature: Vec<u8>,
}

impl From<Row> for Checkpoint {
    fn from(row: Row) -> Self {
        Self {
            position: row.position,
            hash: hex::encode(row.hash),
            signed_at: row.signed_at,
            key_id: row.key_id,
            signature: BASE64.encode(row.signature),
        }
    }
}

/// The newest one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn newest(store: &Store) -> Result<Option<Checkpoint>, StoreError> {
    Ok(before(store, None, 1).await?.pop())
}

/// Newest first, before a position.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn before(store: &Store, position: Option<i64>, limit: i64) -> Result<Vec<Checkpoint>, StoreError> {
    let rows = sqlx::query_as!(
        Row,
        "select position, hash, signed_at, key_id, signature from audit_checkpoints
         where position < $1 order by position desc limit $2",
        position.unwrap_or(i64::MAX),
        limit
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(Checkpoint::from).collect())
}

/// Oldest first, after a position.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn after(store: &Store, position: i64, limit: i64) -> Result<Vec<Checkpoint>, StoreError> {
    let rows = sqlx::query_as!(
        Row,
        "select position, hash, signed_at, key_id, signature from audit_checkpoints
         where position > $1 order by position limit $2",
        position,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    Ok(rows.into_iter().map(Checkpoint::from).collect())
}

/// Every public key that ever signed, oldest first.
///
/// # Errors
/// [`StoreError::Unavailable`]; [`StoreError::Unreadable`] for a key of another length.
pub async fn keys(store: &Store) -> Result<Vec<KnownKey>, StoreError> {
    let rows = sqlx::query!(
        "select public_key, created_at, endorsed_by, endorsement from audit_keys order by created_at, key_id"
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter()
        .map(|row| {
            let bytes = row.public_key.try_into();
            let public = bytes.map_err(|_| StoreError::Unreadable("a public key has 32 bytes".to_owned()))?;
            let endorsement = row.endorsed_by.zip(row.endorsement);
            Ok(KnownKey {
                public: PublicKey(public),
                created_at: row.created_at,
                endorsement: endorsement.map(|(key_id, signature)| Endorsement { key_id, signature }),
            })
        })
        .collect()
}

/// All keys of the database, trusted because they stand there: no proof against its owner.
///
/// # Errors
/// As [`keys`].
pub async fn ring(store: &Store) -> Result<KeyRing, StoreError> {
    let mut ring = KeyRing::default();
    for key in keys(store).await? {
        ring.trust(key.public);
    }
    Ok(ring)
}
