//! Verifies the log where it lies: the whole chain, every checkpoint, and that nothing was slipped in beside it.

use super::chain::{Chain, Fault, Verdict};
use super::checkpoint::{self, Checkpoint};
use super::key::{KeyRing, PublicKey};
use crate::connect::Store;
use crate::error::StoreError;
use crate::event::{self, EventFilter};
use std::collections::{BTreeMap, VecDeque};

/// Rows read at once.
const CHUNK: i64 = 5_000;

/// Whom to believe.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Keys known from elsewhere; empty = those of the log itself.
    pub keys: Vec<PublicKey>,
    /// Checkpoints kept elsewhere.
    pub checkpoints: Vec<Checkpoint>,
}

impl Trust {
    /// The trusted keys, and a note where they are the log's own.
    pub(super) fn ring(&self, notes: &mut Vec<String>) -> KeyRing {
        let mut ring = KeyRing::default();
        self.keys.iter().for_each(|key| ring.trust(*key));
        if self.keys.is_empty() {
            notes.push(
                "signatures were judged by the log's own keys: give a key that you know, to be independent"
                    .to_owned(),
            );
        }
        ring
    }
}

/// Walks everything. Stops at the first fault.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn verify(store: &Store, trust: &Trust) -> Result<Verdict, StoreError> {
    let mut notes = Vec::new();
    let mut ring = trust.ring(&mut notes);
    for key in checkpoint::keys(store).await? {
        if trust.keys.is_empty() {
            ring.trust(key.public);
        } else {
            ring.admit(key.public, key.endorsement.as_ref());
        }
    }
    let mut verdict = Verdict { events: 0, chain: Chain::start(), checkpoints: 0, fault: None, notes };
    let mut signed = Signed::new(store, &trust.checkpoints, ring);
    loop {
        let chain = &mut verdict.chain;
        let events = event::after(store, chain.position, &EventFilter::default(), CHUNK).await?;
        if events.is_empty() {
            break;
        }
        for sealed in events {
            let step = chain.step(sealed.position, &sealed.event.text()?, &sealed.hash);
            let fault = match step {
                Err(broken) => Some(broken.to_string()),
                Ok(()) => signed.compare(chain, &mut verdict.checkpoints).await?,
            };
            if let Some(why) = fault {
                let position =
                    if step_failed(chain, sealed.position) { chain.position + 1 } else { sealed.position };
                verdict.fault = Some(Fault { position: Some(position), line: None, why });
                return Ok(verdict);
            }
            verdict.events += 1;
        }
    }
    verdict.fault = beyond(&mut signed, &verdict.chain).await?;
    if verdict.fault.is_none() {
        verdict.fault = slipped_in(store).await?;
    }
    Ok(verdict)
}

const fn step_failed(chain: &Chain, position: i64) -> bool {
    chain.position != position
}

/// A checkpoint after the end: the tail was cut.
async fn beyond(signed: &mut Signed<'_>, chain: &Chain) -> Result<Option<Fault>, StoreError> {
    Ok(signed.next(chain.position).await?.map(|checkpoint| Fault {
        position: Some(chain.position + 1),
        line: None,
        why: format!(
            "the log ends at {}, but a checkpoint was signed at {}: its tail was cut",
            chain.position, checkpoint.position
        ),
    }))
}

/// Events that are older than sealed ones and have no seal never came through the product.
async fn slipped_in(store: &Store) -> Result<Option<Fault>, StoreError> {
    let found = sqlx::query!(
        r#"select count(*) as "count!", min(e.id::text) as first from events e
           where e.xid < (select l.xid from event_seals s join events l on l.id = s.event_id
                          where s.position = (select max(position) from event_seals)
                            -- One of a restored dump says nothing about this cluster's transactions.
                            and l.xid < pg_snapshot_xmax(pg_current_snapshot()))
             and not exists (select from event_seals s where s.event_id = e.id)"#
    )
    .fetch_one(store.pool())
    .await?;
    Ok(found.first.map(|first| Fault {
        position: None,
        line: None,
        why: format!(
            "{} events stand among sealed ones without a seal, the first has the id {first}: they were inserted later, \
             or their seals were removed",
            found.count
        ),
    }))
}

/// Checkpoints in order of their positions, those of the log and those kept elsewhere.
struct Signed<'a> {
    store: &'a Store,
    ring: KeyRing,
    kept: BTreeMap<i64, Checkpoint>,
    ahead: VecDeque<Checkpoint>,
    read_to: i64,
    ended: bool,
}

impl<'a> Signed<'a> {
    fn new(store: &'a Store, kept: &[Checkpoint], ring: KeyRing) -> Self {
        let kept = kept.iter().map(|checkpoint| (checkpoint.position, checkpoint.clone())).collect();
        Self { store, ring, kept, ahead: VecDeque::new(), read_to: 0, ended: false }
    }

    async fn compare(&mut self, chain: &Chain, good: &mut u64) -> Result<Option<String>, StoreError> {
        let own = self.own(chain.position).await?.filter(|checkpoint| checkpoint.position == chain.position);
        for checkpoint in own.into_iter().chain(self.kept.remove(&chain.position)) {
            if let Some(why) = fault(&checkpoint, chain, &self.ring) {
                return Ok(Some(why));
            }
            *good += 1;
        }
        Ok(None)
    }

    /// The log's next checkpoint at or after `position`.
    async fn own(&mut self, position: i64) -> Result<Option<Checkpoint>, StoreError> {
        loop {
            while self.ahead.front().is_some_and(|checkpoint| checkpoint.position < position) {
                self.ahead.pop_front();
            }
            if let Some(checkpoint) = self.ahead.front() {
                return Ok(Some(checkpoint.clone()));
            }
            if self.ended {
                return Ok(None);
            }
            let more = checkpoint::after(self.store, self.read_to, CHUNK).await?;
            self.ended = more.len() < usize::try_from(CHUNK).unwrap_or(usize::MAX);
            self.read_to = more.last().map_or(self.read_to, |last| last.position);
            self.ahead.extend(more);
        }
    }

    /// Any checkpoint after `position`.
    async fn next(&mut self, position: i64) -> Result<Option<Checkpoint>, StoreError> {
        let own = self.own(position + 1).await?;
        Ok(own.or_else(|| self.kept.range(position + 1..).next().map(|(_, checkpoint)| checkpoint.clone())))
    }
}

/// Why a checkpoint does not fit the chain at its position.
pub(super) fn fault(checkpoint: &Checkpoint, chain: &Chain, ring: &KeyRing) -> Option<String> {
    if checkpoint.hash != chain.hex() {
        return Some(format!(
            "a checkpoint was signed here for the hash {}, the chain has {}: what was before it was replaced",
            checkpoint.hash,
            chain.hex()
        ));
    }
    checkpoint.fault(ring)
}
