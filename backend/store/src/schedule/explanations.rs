//! Why jobs wait: only what has changed is written.
//!
//! A new main reason is an event and is written at once. New numbers or a new place in line change with every start in
//! front of a job; they are written only when the caller says that they are due, or a long line would be rewritten
//! at each tick.

use super::apply::Applier;
use super::snapshot::Loaded;
use crate::error::StoreError;
use crate::write_tx::NewEvent;
use reeve_core::id::JobId;
use reeve_core::reason::Explanation;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use uuid::Uuid;

/// How fresh numbers must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Write new reasons only.
    Reasons,
    /// Write new numbers too.
    Numbers,
}

/// Answers the hashes of what was written; `session` names who wrote, to other servers that keep them.
pub(super) async fn write(
    applier: &mut Applier<'_>,
    session: Uuid,
    loaded: &Loaded,
    waiting: &[(JobId, Explanation)],
    freshness: Freshness,
) -> Result<Vec<(JobId, i64)>, StoreError> {
    let (mut jobs, mut codes, mut reasons, mut hashes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut last: Option<(&Explanation, i64)> = None;
    for (job, explanation) in waiting {
        // Neighbours in line are mostly told the same, and a long line is hashed at each tick.
        let hash = match last {
            Some((before, hash)) if alike(before, explanation) => hash,
            _ => hash(explanation)?,
        };
        last = Some((explanation, hash));
        let known = loaded.reason_hashes.get(job).copied();
        let same_reason = known.is_some_and(|known| known >> 32 == hash >> 32);
        if known == Some(hash) || (same_reason && freshness == Freshness::Reasons) {
            continue;
        }
        jobs.push(job.0);
        codes.push(explanation.main.code.to_string());
        reasons.push(serde_json::to_value(explanation)?);
        hashes.push(hash);
    }
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let changed = sqlx::query!(
        // Joined by id before anything is asked of the state: whoever plans this while the table has no statistics believes
        // that hardly a job is queued, and would compare each of them with each new reason.
        r#"with noted as (insert into planner_changes (subject, ids) values ('reasons', array[$6::uuid])),
                old as materialized (
                  select n.id, n.code, n.reason, n.hash, o.reason_code, o.state
                  from unnest($1::uuid[], $2::text[], $3::jsonb[], $4::bigint[]) as n(id, code, reason, hash)
                  join jobs o on o.id = n.id
                )
           update jobs j set reason_code = old.code, reason = old.reason, reason_hash = old.hash,
                  reason_at = case when old.reason_code is distinct from old.code then $5 else j.reason_at end
           from old where j.id = old.id and old.state = 'queued'
           returning j.id, j.team_id, j.reason_code as "code!", old.reason_code as "old_code?",
                     j.reason_hash as "hash!""#,
        &jobs,
        &codes,
        &reasons,
        &hashes,
        applier.now,
        session
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    let by_job: HashMap<Uuid, &Value> = jobs.iter().copied().zip(&reasons).collect();
    for row in changed.iter().filter(|row| row.old_code.as_deref() != Some(row.code.as_str())) {
        let event = NewEvent::new("job.reason_changed", "job", row.id)
            .team(Some(row.team_id.into()))
            .before(json!({"reason_code": row.old_code}))
            .after(
                json!({"reason_code": row.code, "main": by_job.get(&row.id).map(|reason| &reason["main"])}),
            );
        applier.events.push(event);
    }
    Ok(changed.into_iter().map(|row| (JobId(row.id), row.hash)).collect())
}

/// Whether their hashes are equal: all but the place in line.
fn alike(one: &Explanation, other: &Explanation) -> bool {
    let Explanation { why, position: _, expected_start } = one;
    *expected_start == other.expected_start && *why == other.why
}

/// The upper half names the main reason, the lower half all the rest but the place in line.
fn hash(explanation: &Explanation) -> Result<i64, StoreError> {
    let half = |bytes: &[u8]| {
        let digest = Sha256::digest(bytes);
        i64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]))
    };
    let main = format!("{} {:?}", explanation.main.code, explanation.main.detail);
    let whole = Explanation { position: 0, ..explanation.clone() };
    Ok((half(main.as_bytes()) << 32) | half(&serde_json::to_vec(&whole)?))
}
