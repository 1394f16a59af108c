//! Section G: proving a log of a million events without a server, as `reeve audit verify FILE` does.
//!
//! The file is made here first: events as submissions leave them, chained, with a signed checkpoint each ten thousand. Making it
//! is not measured.

use super::report::{Report, Target};
use super::timing::Stopwatch;
use anyhow::ensure;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{EventId, JobId, TeamId};
use reeve_store::audit::chain::Chain;
use reeve_store::audit::checkpoint::{Checkpoint, KnownKey};
use reeve_store::audit::export::{End, Head, Line, VERSION, line, raw_event_line};
use reeve_store::audit::key::AuditKey;
use reeve_store::audit::live::Trust;
use reeve_store::audit::verify_file::verify;
use reeve_store::event::{EventBody, GENESIS, hash_after};
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};

/// Events between two checkpoints.
const SIGNED_EVERY: i64 = 10_000;

/// # Errors
/// When the file cannot be made or does not verify.
pub(super) fn measure(report: &mut Report, events: i64) -> anyhow::Result<()> {
    let key = AuditKey::generate()?;
    let mut file = tempfile::tempfile()?;
    write(&mut file, &key, events)?;
    let bytes = file.stream_position()?;
    file.seek(SeekFrom::Start(0))?;
    let trust = Trust { keys: vec![key.public()], checkpoints: Vec::new() };
    let watch = Stopwatch::start();
    let verdict = verify(BufReader::with_capacity(1 << 20, &file), &trust)?;
    let times = watch.stop();
    ensure!(verdict.fault.is_none() && verdict.events == events, "the file does not verify: {verdict:?}");
    let case = format!("{events} events");
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    let (count, mib) = (events as f64, bytes as f64 / 1_048_576.0);
    report.add(&case, "file_mib", mib, Target::None);
    report.add(&case, "verify_wall_seconds", times.wall_secs, Target::Below(10.0));
    report.add(&case, "events_per_core_second", count / times.cpu_secs, Target::None);
    Ok(())
}

fn write(file: &mut File, key: &AuditKey, events: i64) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let begin = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
    let head = Head {
        version: VERSION,
        after_position: 0,
        after_hash: hex::encode(GENESIS),
        filtered: false,
        exported_at: begin,
    };
    let known = KnownKey { public: key.public(), created_at: begin, endorsement: None };
    out.write_all(line(&Line::Export(head))?.as_bytes())?;
    out.write_all(line(&Line::Key((&known).into()))?.as_bytes())?;
    let mut chain = Chain::start();
    for number in 1..=events {
        let at = begin + TimeDelta::milliseconds(number);
        let text = event(number, at).text()?;
        chain = Chain { position: number, hash: hash_after(&chain.hash, &text) };
        let mut written = String::with_capacity(text.len() + 120);
        raw_event_line(number, &chain.hex(), &text, &mut written);
        if number % SIGNED_EVERY == 0 {
            written.push_str(&line(&Line::Checkpoint(Checkpoint::sign(key, &chain, at)))?);
        }
        out.write_all(written.as_bytes())?;
    }
    let end = End { position: chain.position, hash: chain.hex(), events };
    out.write_all(line(&Line::End(end))?.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn event(number: i64, at: DateTime<Utc>) -> EventBody {
    let id = EventId::mint(at);
    EventBody {
        id,
        occurred_at: at,
        actor_type: "user".to_owned(),
        actor_id: Some(id.0),
        actor_name: "somebody".to_owned(),
        action: "job.submitted".to_owned(),
        subject_type: "job".to_owned(),
        subject_id: Some(JobId::mint(at).0),
        team_id: Some(TeamId(id.0)),
        request_id: Some(format!("request-{number}")),
        rule: None,
        allowed: true,
        before: None,
        after: Some(json!({"name": "训练", "gpus": 8, "priority_class": "normal", "kind": "training"})),
        detail: None,
    }
}
