//! Everything that is true at one moment: read anew by a handful of set queries, none a job, or kept from the last time
//! and brought up to date ([`super::kept`]).
//!
//! Must run inside one REPEATABLE READ transaction. It refuses to judge: what is stored is shown.

use super::load::calendar::{load_maintenance_windows, load_reservations};
use super::load::jobs::load_jobs;
use super::load::nodes::load_nodes;
use super::load::settings::load_settings;
use crate::error::StoreError;
use crate::escalations::cover::load_exceptions;
use crate::row::word;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::approval::apply_exceptions;
use reeve_core::eviction::EvictionCause;
use reeve_core::id::JobId;
use reeve_core::priority::Priority;
use reeve_core::schedule::snapshot::{MaintenanceWindow, Nomination, Reservation, Snapshot};
use sqlx::PgConnection;
use std::collections::HashMap;

/// A snapshot, and what applying a plan needs beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub snapshot: Snapshot,
    /// Hash of each pending job's stored explanation.
    pub reason_hashes: HashMap<JobId, i64>,
}

/// What of a snapshot changes with time alone, as it was read: the snapshot has the part of it that counts at its `now`.
#[derive(Debug, Default)]
pub(super) struct Dated {
    /// When whole gangs were asked to leave, oldest first.
    pub(super) evicted_at: HashMap<JobId, Vec<DateTime<Utc>>>,
    /// Evictions of causes whose rate the policy caps.
    pub(super) capped_evictions: Vec<(EvictionCause, DateTime<Utc>)>,
    pub(super) reservations: Vec<Reservation>,
    pub(super) maintenance_windows: Vec<MaintenanceWindow>,
    /// Jobs on which exceptions were put, with the priority of their own.
    pub(super) excepted: Vec<(JobId, Priority)>,
}

/// Reads the world as of `now`.
pub(crate) async fn load(connection: &mut PgConnection, now: DateTime<Utc>) -> Result<Loaded, StoreError> {
    Ok(load_all(connection, now).await?.0)
}

/// The same, with what must be kept to bring it up to date.
pub(super) async fn load_all(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<(Loaded, Dated), StoreError> {
    let jobs = load_jobs(connection, None, now).await?;
    let settings = load_settings(connection).await?;
    let mut loaded = Loaded {
        snapshot: Snapshot {
            now,
            policy: settings.policy,
            pools: settings.pools,
            nodes: load_nodes(connection, None).await?,
            teams: settings.teams,
            quotas: settings.quotas,
            queues: settings.queues,
            jobs: jobs.jobs,
            nominations: load_nominations(connection).await?,
            rebalance_evictions_last_hour: Vec::new(),
            consolidation_moves_last_hour: Vec::new(),
            reservations: Vec::new(),
            maintenance_windows: Vec::new(),
        },
        reason_hashes: jobs.reason_hashes,
    };
    let mut dated = Dated {
        evicted_at: jobs.evicted_at,
        capped_evictions: load_capped_evictions(connection, now).await?,
        reservations: load_reservations(connection, now).await?,
        maintenance_windows: load_maintenance_windows(connection, now).await?,
        excepted: Vec::new(),
    };
    dated.show(&mut loaded.snapshot, now);
    dated.put_exceptions(connection, &mut loaded.snapshot, now).await?;
    Ok((loaded, dated))
}

impl Dated {
    /// Makes the snapshot one of `now`. Its jobs stand in the order of their ids.
    pub(super) fn show(&self, snapshot: &mut Snapshot, now: DateTime<Utc>) {
        snapshot.now = now;
        let day = now - TimeDelta::days(1);
        for (job, times) in &self.evicted_at {
            if let Ok(at) = snapshot.jobs.binary_search_by_key(job, |job| job.id) {
                let recent = times.iter().filter(|&&time| time > day).count();
                snapshot.jobs[at].evictions_in_last_day = u32::try_from(recent).unwrap_or(u32::MAX);
            }
        }
        let hour = now - TimeDelta::hours(1);
        let last_hour = |cause: EvictionCause| {
            let capped =
                self.capped_evictions.iter().filter(move |(one, time)| *one == cause && *time > hour);
            capped.map(|(_, time)| *time).collect()
        };
        snapshot.rebalance_evictions_last_hour = last_hour(EvictionCause::Rebalance);
        snapshot.consolidation_moves_last_hour = last_hour(EvictionCause::Consolidation);
        snapshot.reservations = self.reservations.iter().filter(|r| r.ends_at > now).cloned().collect();
        snapshot.maintenance_windows =
            self.maintenance_windows.iter().filter(|w| w.ends_at > now).cloned().collect();
    }

    /// Exceptions that are active now: few, and read anew each time.
    pub(super) async fn put_exceptions(
        &mut self,
        connection: &mut PgConnection,
        snapshot: &mut Snapshot,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let exceptions = load_exceptions(connection, now).await?;
        if exceptions.is_empty() {
            return Ok(());
        }
        let own: Vec<Priority> = snapshot.jobs.iter().map(|job| job.priority).collect();
        apply_exceptions(snapshot, &exceptions);
        let jobs = snapshot.jobs.iter().zip(own);
        let excepted =
            jobs.filter(|(job, own)| job.priority != *own || job.team_priority.is_some() || job.never_evict);
        self.excepted = excepted.map(|(job, own)| (job.id, own)).collect();
        Ok(())
    }

    /// Jobs are again as they are without exceptions.
    pub(super) fn take_exceptions_off(&mut self, snapshot: &mut Snapshot) {
        for (id, own) in self.excepted.drain(..) {
            if let Ok(at) = snapshot.jobs.binary_search_by_key(&id, |job| job.id) {
                let job = &mut snapshot.jobs[at];
                (job.priority, job.team_priority, job.never_evict) = (own, None, false);
            }
        }
    }
}

/// Promises that hold: few, and read anew each time.
pub(super) async fn load_nominations(connection: &mut PgConnection) -> Result<Vec<Nomination>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, evictor_job_id as "evictor_job_id!", nomination, created_at, expires_at
           from reclaims where state = 'waiting' and evictor_job_id is not null order by id"#
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Nomination {
                job: row.evictor_job_id.into(),
                reclaim: row.id.into(),
                members: serde_json::from_value(row.nomination)?,
                created_at: row.created_at,
                expires_at: row.expires_at,
            })
        })
        .collect()
}

/// Those of the last hour, oldest first.
pub(super) async fn load_capped_evictions(
    connection: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<Vec<(EvictionCause, DateTime<Utc>)>, StoreError> {
    let rows = sqlx::query!(
        "select cause, notified_at from evictions
         where cause in ('rebalance', 'consolidation') and notified_at > $1 order by notified_at",
        now - TimeDelta::hours(1)
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((word(&row.cause)?, row.notified_at))).collect()
}
