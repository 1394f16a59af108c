//! The database's figures as Prometheus text.
//!
//! Each scrape gets a recorder of its own: what is gone from the database is gone from the answer, and no series outlives
//! its team.

use chrono::{DateTime, Utc};
use metrics::{describe_gauge, gauge, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;
use reeve_core::fair_share::{Claim, fair_shares};
use reeve_core::units::MilliGpu;
use reeve_store::gauges::{Gauges, TeamGauge};
use std::collections::BTreeMap;

/// Names with their help, in the order of `backend/METRICS.md`.
const HELP: [(&str, &str); 33] = [
    ("reeve_quota_guaranteed_gpus", "GPUs that a team gets whenever it asks"),
    ("reeve_quota_used_gpus", "GPUs that a team holds, everything below it included"),
    ("reeve_quota_borrowed_gpus", "Of the used ones: above the guarantee, on loan from others"),
    ("reeve_quota_lent_gpus", "GPUs of a team's guarantee that others use"),
    ("reeve_quota_leaving_gpus", "Of the used ones: asked to leave, not yet confirmed"),
    (
        "reeve_quota_pending_gpus",
        "GPUs that a team's waiting jobs ask for; a job counts in each pool that it accepts",
    ),
    ("reeve_quota_pending_jobs", "A team's waiting jobs; a job counts in each pool that it accepts"),
    (
        "reeve_quota_waiting_below_guarantee_seconds",
        "How long a job has waited although the guarantee is not used up",
    ),
    (
        "reeve_quota_fair_share_gpus",
        "GPUs that a team would have if everything asked for were shared out now",
    ),
    ("reeve_quota_fair_share_deficit_gpus", "Fair share less used, never below 0"),
    ("reeve_quota_reclaim_due", "1 while loans are being recalled for a team"),
    ("reeve_pool_capacity_gpus", "GPUs of a pool's nodes that are not removed"),
    ("reeve_pool_usable_gpus", "Of these: healthy, on nodes that are ready"),
    ("reeve_pool_allocated_gpus", "Of the usable ones: held by jobs"),
    ("reeve_pool_free_gpus", "Of the usable ones: held by nobody"),
    ("reeve_pool_leaving_gpus", "GPUs held by members that were told to go"),
    ("reeve_pool_guaranteed_gpus", "Sum of the guarantees of the teams at the top"),
    ("reeve_pool_overcommitted", "1 while guarantees add up to more than the pool has"),
    ("reeve_pool_nodes", "Nodes by state"),
    ("reeve_pool_pending_gpus", "GPUs that waiting jobs ask for; a job counts in each pool that it accepts"),
    ("reeve_pool_pending_jobs", "Waiting jobs; a job counts in each pool that it accepts"),
    ("reeve_pool_loans", "Open loans: pairs of borrower and lender"),
    ("reeve_pool_loaned_gpus", "GPUs on loan"),
    ("reeve_pool_reclaims_waiting", "Reclaims that wait for their GPUs to be let go"),
    ("reeve_reclaim_notices", "Jobs that were told to go and have not gone yet, by cause"),
    ("reeve_reclaim_notice_gpus", "GPUs that these hold"),
    ("reeve_jobs", "Jobs by their own team and live state"),
    ("reeve_quota_borrow_limit_gpus", "Most that a team may use above its guarantee; missing = no limit"),
    ("reeve_quota_weight", "Share of what is left over"),
    ("reeve_quotas_left_out", "Pairs of team and pool that this answer has no room for"),
    ("reeve_database_up", "1 when the database answered this scrape"),
    ("reeve_database_connections", "Connections to the database"),
    ("reeve_database_connections_idle", "Of these: idle"),
];

/// The text as of `now`.
pub(super) fn render(gauges: &Gauges, now: DateTime<Utc>) -> String {
    let recorder = PrometheusBuilder::new().build_recorder();
    with_local_recorder(&recorder, || {
        for (name, help) in HELP {
            describe_gauge!(name, help);
        }
        pools(gauges);
        teams(gauges, now);
        for row in &gauges.jobs {
            gauge!("reeve_jobs", "team" => row.team.clone(), "state" => row.state.clone())
                .set(number(row.jobs));
        }
        for row in &gauges.notices {
            let labels = [("pool", row.pool.clone()), ("cause", row.cause.clone())];
            gauge!("reeve_reclaim_notices", &labels).set(number(row.notices));
            gauge!("reeve_reclaim_notice_gpus", &labels).set(gpus(row.amount));
        }
        gauge!("reeve_quotas_left_out").set(number(gauges.teams_left_out));
        gauge!("reeve_database_up").set(1.0);
    });
    recorder.handle().render()
}

fn pools(gauges: &Gauges) {
    let mut guaranteed: BTreeMap<&str, i64> = BTreeMap::new();
    for team in &gauges.teams {
        // Below a team with a quota in the same pool, a guarantee is part of that one.
        let above = team.parent.as_ref().is_some_and(|parent| {
            gauges.teams.iter().any(|other| other.team == *parent && other.pool == team.pool)
        });
        *guaranteed.entry(&team.pool).or_default() += if above { 0 } else { team.guaranteed_gpus };
    }
    for row in &gauges.pools {
        let labels = [("pool", row.pool.clone())];
        gauge!("reeve_pool_capacity_gpus", &labels).set(gpus(row.capacity));
        gauge!("reeve_pool_usable_gpus", &labels).set(gpus(row.usable));
        gauge!("reeve_pool_allocated_gpus", &labels).set(gpus(row.usable - row.free));
        gauge!("reeve_pool_free_gpus", &labels).set(gpus(row.free));
        gauge!("reeve_pool_leaving_gpus", &labels).set(gpus(row.leaving));
        let sum = guaranteed.get(row.pool.as_str()).copied().unwrap_or(0);
        gauge!("reeve_pool_guaranteed_gpus", &labels).set(number(sum));
        gauge!("reeve_pool_overcommitted", &labels).set(flag(row.mode == "overcommitted"));
        gauge!("reeve_pool_pending_gpus", &labels).set(gpus(row.pending));
        gauge!("reeve_pool_pending_jobs", &labels).set(number(row.pending_jobs));
        gauge!("reeve_pool_loans", &labels).set(number(row.loans));
        gauge!("reeve_pool_loaned_gpus", &labels).set(gpus(row.loaned));
        gauge!("reeve_pool_reclaims_waiting", &labels).set(number(row.reclaims_waiting));
        let nodes = [
            ("ready", row.nodes_ready),
            ("cordoned", row.nodes_cordoned),
            ("draining", row.nodes_draining),
            ("lost", row.nodes_lost),
        ];
        for (state, nodes) in nodes {
            gauge!("reeve_pool_nodes", "pool" => row.pool.clone(), "state" => state).set(number(nodes));
        }
    }
}

fn teams(gauges: &Gauges, now: DateTime<Utc>) {
    for pool in &gauges.pools {
        let rows: Vec<&TeamGauge> = gauges.teams.iter().filter(|team| team.pool == pool.pool).collect();
        for (row, fair) in with_fair_shares(rows, pool.usable) {
            team(row, fair, now);
        }
    }
}

fn team(row: &TeamGauge, fair: i64, now: DateTime<Utc>) {
    let labels = [("team", row.team.clone()), ("pool", row.pool.clone())];
    gauge!("reeve_quota_guaranteed_gpus", &labels).set(number(row.guaranteed_gpus));
    if let Some(limit) = row.borrow_limit_gpus {
        gauge!("reeve_quota_borrow_limit_gpus", &labels).set(number(limit));
    }
    gauge!("reeve_quota_weight", &labels).set(number(row.weight));
    gauge!("reeve_quota_used_gpus", &labels).set(gpus(row.used));
    gauge!("reeve_quota_borrowed_gpus", &labels).set(gpus(row.borrowed));
    gauge!("reeve_quota_lent_gpus", &labels).set(gpus(row.lent));
    gauge!("reeve_quota_leaving_gpus", &labels).set(gpus(row.leaving));
    gauge!("reeve_quota_pending_gpus", &labels).set(gpus(row.pending));
    gauge!("reeve_quota_pending_jobs", &labels).set(number(row.pending_jobs));
    let below = row.used < row.guaranteed_gpus.saturating_mul(1_000);
    let waiting = row.waiting_since.filter(|_| below).map_or(0, |since| (now - since).num_seconds().max(0));
    gauge!("reeve_quota_waiting_below_guarantee_seconds", &labels).set(number(waiting));
    gauge!("reeve_quota_fair_share_gpus", &labels).set(gpus(fair));
    gauge!("reeve_quota_fair_share_deficit_gpus", &labels).set(gpus((fair - row.used).max(0)));
    gauge!("reeve_quota_reclaim_due", &labels).set(flag(row.reclaim_due));
}

/// Each team of a pool with its fair share of what is usable there.
fn with_fair_shares(rows: Vec<&TeamGauge>, usable: i64) -> Vec<(&TeamGauge, i64)> {
    let rows = parents_first(rows);
    let at: BTreeMap<&str, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.team.as_str(), at)).collect();
    let claims: Vec<Claim> = rows
        .iter()
        .map(|row| {
            let guaranteed = row.guaranteed_gpus.saturating_mul(1_000);
            Claim {
                parent: row.parent.as_deref().and_then(|parent| at.get(parent).copied()),
                guaranteed,
                weight: row.weight,
                demand: row.used.saturating_add(row.pending),
                cap: row
                    .borrow_limit_gpus
                    .map(|limit| guaranteed.saturating_add(limit.saturating_mul(1_000))),
            }
        })
        .collect();
    let shares = fair_shares(usable, &claims);
    rows.into_iter().zip(shares).collect()
}

/// Teams without a parent among them first, then their children, and so on.
fn parents_first(rows: Vec<&TeamGauge>) -> Vec<&TeamGauge> {
    let parents: BTreeMap<&str, Option<&str>> =
        rows.iter().map(|row| (row.team.as_str(), row.parent.as_deref())).collect();
    let depth = |team: &str| {
        let up =
            |team: &&str| parents.get(team).copied().flatten().filter(|parent| parents.contains_key(parent));
        // Bounded, should a read between two writes ever show a circle.
        std::iter::successors(Some(team), up).take(64).count()
    };
    let mut rows = rows;
    rows.sort_by_cached_key(|row| (depth(&row.team), row.team.clone()));
    rows
}

fn gpus(milli: i64) -> f64 {
    MilliGpu(milli).as_gpus()
}

fn flag(set: bool) -> f64 {
    f64::from(u8::from(set))
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn number(value: i64) -> f64 {
    value as f64
}
