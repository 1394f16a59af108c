//! Verifies an export without a server: the chain, the checkpoints in it, and that its end is there.
//!
//! Memory is one line, of at most [`MOST_LINE_BYTES`]. This module refuses to guess what a damaged line meant.

use super::chain::{Chain, Fault, Verdict};
use super::checkpoint::Checkpoint;
use super::export::{End, EventLine, Head, Line, VERSION};
use super::key::KeyRing;
use super::live::{Trust, fault};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// An event is much smaller; a line beyond this is none of ours.
pub const MOST_LINE_BYTES: u64 = 64 * 1_024 * 1_024;

/// Reads the file to its end, or to its first fault.
///
/// # Errors
/// What reading it says.
pub fn verify(mut file: impl BufRead, trust: &Trust) -> std::io::Result<Verdict> {
    let mut notes = Vec::new();
    let ring = trust.ring(&mut notes);
    let kept = trust.checkpoints.iter().map(|checkpoint| (checkpoint.position, checkpoint.clone())).collect();
    let mut walk = Walk {
        ring,
        own_keys: trust.keys.is_empty(),
        kept,
        head: None,
        end: None,
        line: 0,
        verdict: Verdict { events: 0, chain: Chain::start(), checkpoints: 0, fault: None, notes },
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        walk.line += 1;
        if let Err((position, why)) = walk.take(&line) {
            walk.verdict.fault = Some(Fault { position, line: Some(walk.line), why });
            return Ok(walk.verdict);
        }
    }
    walk.close();
    Ok(walk.verdict)
}

struct Walk {
    ring: KeyRing,
    own_keys: bool,
    kept: BTreeMap<i64, Checkpoint>,
    head: Option<Head>,
    end: Option<End>,
    line: u64,
    verdict: Verdict,
}

type Refused = (Option<i64>, String);

impl Walk {
    fn take(&mut self, line: &[u8]) -> Result<(), Refused> {
        if !line.ends_with(b"\n") {
            return Err((
                Some(self.verdict.chain.position + 1),
                "the line has no end: the file was cut".to_owned(),
            ));
        }
        if self.end.is_some() {
            return Err((None, "there are lines after the end".to_owned()));
        }
        if line.starts_with(b"{\"position\":") {
            return self.event(line);
        }
        let next = Some(self.verdict.chain.position + 1);
        match serde_json::from_slice(line)
            .map_err(|error| (next, format!("not a line of an export: {error}")))?
        {
            Line::Export(head) => self.head(head),
            _ if self.head.is_none() => Err((None, "the first line must be the export's head".to_owned())),
            Line::Key(key) => {
                let (public, endorsement) = key
                    .parse()
                    .ok_or_else(|| (None, format!("key {} is not what its id says", key.key_id)))?;
                if self.own_keys {
                    self.ring.trust(public);
                } else {
                    self.ring.admit(public, endorsement.as_ref());
                }
                Ok(())
            }
            Line::Checkpoint(checkpoint) => self.checkpoint(&checkpoint),
            Line::End(end) => self.end(end),
        }
    }

    fn head(&mut self, head: Head) -> Result<(), Refused> {
        if self.head.is_some() {
            return Err((None, "a second head: two files stand one after the other".to_owned()));
        }
        if head.version != VERSION {
            return Err((None, format!("format {} is not known here: use a newer reeve", head.version)));
        }
        if head.filtered {
            return Err((None, "a filtered export leaves events out, and so cannot be verified".to_owned()));
        }
        let bytes = hex::decode(&head.after_hash).ok().and_then(|bytes| bytes.try_into().ok());
        let hash = bytes.ok_or_else(|| (None, "after_hash is no hash".to_owned()))?;
        let chain = Chain { position: head.after_position, hash };
        if head.after_position == 0 && chain != Chain::start() {
            return Err((Some(1), "the log's first event follows another hash".to_owned()));
        }
        if head.after_position > 0 {
            let note = format!(
                "the file begins after position {}: what was before was not looked at",
                head.after_position
            );
            self.verdict.notes.push(note);
        }
        self.verdict.chain = chain;
        self.head = Some(head);
        // A checkpoint kept elsewhere may say what stands before the file.
        self.compare_kept().map_err(|why| (Some(chain.position), why))
    }

    fn event(&mut self, line: &[u8]) -> Result<(), Refused> {
        let next = self.verdict.chain.position + 1;
        if self.head.is_none() {
            return Err((None, "the first line must be the export's head".to_owned()));
        }
        let read: EventLine<'_> =
            serde_json::from_slice(line).map_err(|error| (Some(next), format!("not an event: {error}")))?;
        let step = self.verdict.chain.step(read.position, read.event.get(), read.hash);
        step.map_err(|broken| (Some(next), broken.to_string()))?;
        self.verdict.events += 1;
        self.compare_kept().map_err(|why| (Some(next), why))
    }

    fn compare_kept(&mut self) -> Result<(), String> {
        let chain = self.verdict.chain;
        if let Some(checkpoint) = self.kept.remove(&chain.position) {
            if let Some(why) = fault(&checkpoint, &chain, &self.ring) {
                return Err(why);
            }
            self.verdict.checkpoints += 1;
        }
        Ok(())
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), Refused> {
        let chain = self.verdict.chain;
        if checkpoint.position != chain.position {
            let why = format!(
                "a checkpoint of position {} stands after position {}: events before it are missing, or it was moved",
                checkpoint.position, chain.position
            );
            return Err((Some(chain.position + 1), why));
        }
        if let Some(why) = fault(checkpoint, &chain, &self.ring) {
            return Err((Some(chain.position), why));
        }
        self.verdict.checkpoints += 1;
        Ok(())
    }

    fn end(&mut self, end: End) -> Result<(), Refused> {
        let Verdict { events, chain, .. } = &self.verdict;
        if (end.position, end.hash.as_str(), end.events) != (chain.position, chain.hex().as_str(), *events) {
            let why = format!(
                "the end speaks of {} events up to position {}, the file has {events} up to {}",
                end.events, end.position, chain.position
            );
            return Err((Some(chain.position + 1), why));
        }
        self.end = Some(end);
        Ok(())
    }

    /// What can only be said once the file is over.
    fn close(&mut self) {
        let position = self.verdict.chain.position;
        let fault = |why| Fault { position: Some(position + 1), line: Some(self.line + 1), why };
        if self.head.is_none() {
            self.verdict.fault =
                Some(Fault { position: None, line: Some(1), why: "the file is empty".to_owned() });
        } else if self.end.is_none() {
            self.verdict.fault = Some(fault("the last line is missing: the file was cut".to_owned()));
        } else if let Some((signed, _)) = self.kept.range(position + 1..).next() {
            let why = format!(
                "the file ends at {position}, but a checkpoint was signed at {signed}: its tail was cut"
            );
            self.verdict.fault = Some(fault(why));
        } else if self.verdict.checkpoints == 0 {
            let note =
                "no checkpoint stands in the file: whoever can write the log could have made all of it anew";
            self.verdict.notes.push(note.to_owned());
        }
    }
}
