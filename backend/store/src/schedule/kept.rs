//! The world as a session keeps it from one tick to the next, brought up to date by what has changed.
//!
//! Everything is read anew at the start, after an error (the session is dropped, and this with it), when the log may have
//! lost something, when the clock went back, and every ten minutes; then, and at each tick of a debug build, what was
//! kept is compared with what is read. It is never patched with what a plan should have done: a tick's own changes come
//! back through the log like anybody's.

use super::changes::{self, Changes, Standing};
use super::load::calendar::{load_maintenance_windows, load_reservations};
use super::load::jobs::{load_jobs, load_reason_hashes};
use super::load::nodes::load_nodes;
use super::load::settings::load_settings;
use super::snapshot::{Dated, Loaded, load_all, load_capped_evictions, load_nominations};
use crate::error::StoreError;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::{JobId, NodeId};
use sqlx::PgConnection;
use std::collections::BTreeSet;
use uuid::Uuid;

/// How long what is kept is believed.
const RELOAD_EVERY: TimeDelta = TimeDelta::minutes(10);

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) loaded: Loaded,
    dated: Dated,
    /// The PostgreSQL snapshot of the last look.
    seen: String,
    /// Every transaction before this one is over, and seen.
    pub(super) horizon: String,
    /// When everything was read.
    read_at: DateTime<Utc>,
}

/// The world as of `now`, in the transaction that this connection is in; `session` names who keeps it.
pub(super) async fn look(
    connection: &mut PgConnection,
    kept: Option<Kept>,
    session: Uuid,
    now: DateTime<Utc>,
) -> Result<Kept, StoreError> {
    let standing = changes::standing(connection, kept.as_ref().map(|kept| kept.seen.as_str())).await?;
    let believed = |kept: &Kept| !standing.missed && kept.loaded.snapshot.now <= now;
    let followed = match kept.filter(believed) {
        Some(kept) => kept.follow(connection, session, now).await?,
        None => None,
    };
    let is_old = |kept: &Kept| now - kept.read_at >= RELOAD_EVERY;
    if let Some(kept) = followed.as_ref().filter(|kept| cfg!(debug_assertions) || is_old(kept)) {
        let (fresh, dated) = load_all(connection, now).await?;
        compare(&kept.loaded, &fresh);
        if is_old(kept) || kept.loaded != fresh {
            return Ok(Kept::read(fresh, dated, standing, now));
        }
    }
    match followed {
        Some(kept) => Ok(Kept { seen: standing.seen, horizon: standing.horizon, ..kept }),
        None => {
            let (fresh, dated) = load_all(connection, now).await?;
            Ok(Kept::read(fresh, dated, standing, now))
        }
    }
}

impl Kept {
    fn read(loaded: Loaded, dated: Dated, standing: Standing, now: DateTime<Utc>) -> Self {
        metrics::counter!("reeve_snapshots_read_total").increment(1);
        Self { loaded, dated, seen: standing.seen, horizon: standing.horizon, read_at: now }
    }

    /// Brought up to date; `None` when so much has changed that it must be read anew.
    async fn follow(
        mut self,
        connection: &mut PgConnection,
        session: Uuid,
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, StoreError> {
        let Some(changes) = changes::since(connection, &self.seen).await? else { return Ok(None) };
        self.dated.take_exceptions_off(&mut self.loaded.snapshot);
        self.follow_settings(connection, &changes, now).await?;
        self.follow_nodes(connection, &changes).await?;
        self.follow_jobs(connection, &changes, now).await?;
        if changes.reasons.iter().any(|&other| other != session) {
            self.loaded.reason_hashes = load_reason_hashes(connection).await?;
        }
        if changes.capped_evictions {
            self.dated.capped_evictions = load_capped_evictions(connection, now).await?;
        }
        self.loaded.snapshot.nominations = load_nominations(connection).await?;
        self.dated.show(&mut self.loaded.snapshot, now);
        self.dated.put_exceptions(connection, &mut self.loaded.snapshot, now).await?;
        Ok(Some(self))
    }

    async fn follow_settings(
        &mut self,
        connection: &mut PgConnection,
        changes: &Changes,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        if changes.settings {
            let settings = load_settings(connection).await?;
            let snapshot = &mut self.loaded.snapshot;
            (snapshot.policy, snapshot.pools, snapshot.teams) =
                (settings.policy, settings.pools, settings.teams);
            (snapshot.quotas, snapshot.queues) = (settings.quotas, settings.queues);
        }
        // A reservation counts as long as its team and pool do.
        if changes.settings || changes.calendar {
            self.dated.reservations = load_reservations(connection, now).await?;
            self.dated.maintenance_windows = load_maintenance_windows(connection, now).await?;
        }
        Ok(())
    }

    async fn follow_nodes(
        &mut self,
        connection: &mut PgConnection,
        changes: &Changes,
    ) -> Result<(), StoreError> {
        if changes.nodes.is_empty() {
            return Ok(());
        }
        let asked: Vec<Uuid> = changes.nodes.iter().copied().collect();
        let fresh = load_nodes(connection, Some(&asked)).await?;
        let asked = asked.into_iter().map(NodeId).collect();
        replace(&mut self.loaded.snapshot.nodes, &asked, fresh, |node| node.id);
        Ok(())
    }

    async fn follow_jobs(
        &mut self,
        connection: &mut PgConnection,
        changes: &Changes,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        if changes.jobs.is_empty() {
            return Ok(());
        }
        let asked: Vec<Uuid> = changes.jobs.iter().copied().collect();
        let fresh = load_jobs(connection, Some(&asked), now).await?;
        let asked: BTreeSet<JobId> = asked.into_iter().map(JobId).collect();
        for job in &asked {
            self.loaded.reason_hashes.remove(job);
            self.dated.evicted_at.remove(job);
        }
        self.loaded.reason_hashes.extend(fresh.reason_hashes);
        self.dated.evicted_at.extend(fresh.evicted_at);
        replace(&mut self.loaded.snapshot.jobs, &asked, fresh.jobs, |job| job.id);
        Ok(())
    }
}

/// Puts the rows that were read again in the place of those that were `asked` for; who was asked for and not found is
/// gone. Both are in the order of their keys.
fn replace<T, K: Ord + Copy>(
    kept: &mut Vec<T>,
    asked: &BTreeSet<K>,
    fresh: Vec<T>,
    key: impl Fn(&T) -> K + Copy,
) {
    let mut found = BTreeSet::new();
    let mut new = Vec::new();
    for row in fresh {
        let id = key(&row);
        match kept.binary_search_by_key(&id, key) {
            Ok(at) => {
                kept[at] = row;
                found.insert(id);
            }
            Err(_) => new.push(row),
        }
    }
    let is_gone = |id: &K| asked.contains(id) && !found.contains(id);
    let first_gone = asked
        .iter()
        .filter(|id| !found.contains(id))
        .filter_map(|id| kept.binary_search_by_key(id, key).ok())
        .min();
    if let Some(first) = first_gone {
        let rest = kept.split_off(first);
        kept.extend(rest.into_iter().filter(|row| !is_gone(&key(row))));
    }
    let in_order = kept.last().zip(new.first()).is_none_or(|(last, first)| key(last) < key(first));
    kept.append(&mut new);
    if !in_order {
        kept.sort_by_key(key);
    }
}

/// Says what differs: a defect, since every change should have been told.
fn compare(kept: &Loaded, fresh: &Loaded) {
    if kept == fresh {
        return;
    }
    let (one, other) = (&kept.snapshot, &fresh.snapshot);
    let parts = [
        ("policy", one.policy == other.policy),
        ("pools", one.pools == other.pools),
        ("nodes", one.nodes == other.nodes),
        ("teams", one.teams == other.teams),
        ("quotas", one.quotas == other.quotas),
        ("queues", one.queues == other.queues),
        ("jobs", one.jobs == other.jobs),
        ("nominations", one.nominations == other.nominations),
        ("rebalances", one.rebalance_evictions_last_hour == other.rebalance_evictions_last_hour),
        ("moves", one.consolidation_moves_last_hour == other.consolidation_moves_last_hour),
        ("reservations", one.reservations == other.reservations),
        ("maintenance windows", one.maintenance_windows == other.maintenance_windows),
        ("reasons", kept.reason_hashes == fresh.reason_hashes),
    ];
    let differ: Vec<&str> = parts.iter().filter(|(_, same)| !same).map(|(part, _)| *part).collect();
    metrics::counter!("reeve_snapshots_faulted_total").increment(1);
    tracing::error!(?differ, "the kept snapshot differs from the database: a change was not told");
    debug_assert!(differ.is_empty(), "the kept snapshot differs from the database in {differ:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are (key, content).
    fn check(kept: &[(u32, u32)], asked: &[u32], fresh: &[(u32, u32)], expected: &[(u32, u32)]) {
        let mut rows = kept.to_vec();
        replace(&mut rows, &asked.iter().copied().collect(), fresh.to_vec(), |row| row.0);
        assert_eq!(rows, expected, "{kept:?} with {asked:?} read as {fresh:?}");
    }

    #[test]
    fn rows_that_were_read_again_are_replaced_added_or_gone() {
        check(&[(1, 0), (2, 0), (3, 0)], &[2], &[(2, 9)], &[(1, 0), (2, 9), (3, 0)]);
        check(&[(1, 0), (2, 0), (3, 0)], &[2], &[], &[(1, 0), (3, 0)]);
        check(&[(1, 0), (3, 0)], &[2, 4], &[(2, 5), (4, 6)], &[(1, 0), (2, 5), (3, 0), (4, 6)]);
        check(&[(1, 0), (3, 0)], &[1, 3, 5], &[(5, 1)], &[(5, 1)]);
        check(&[], &[7], &[(7, 1)], &[(7, 1)]);
        check(&[(1, 0)], &[], &[], &[(1, 0)]);
    }
}
