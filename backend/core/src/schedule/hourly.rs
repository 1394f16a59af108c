//! What the policy's hourly caps still allow: evictions that share surplus out (2.8), and moves (5.10).
//!
//! This module counts; it refuses nothing.

use super::problem::Problem;
use crate::policy::{Consolidation, Rebalance};
use chrono::{DateTime, TimeDelta, Utc};

/// Rebalancing evictions that the hourly cap still allows.
pub(super) fn rebalance_left(problem: &Problem<'_>) -> usize {
    match problem.snapshot.policy.rebalance {
        Rebalance::Off => 0,
        Rebalance::On { max_evictions_per_hour } => {
            left(problem, max_evictions_per_hour, &problem.snapshot.rebalance_evictions_last_hour)
        }
    }
}

/// Moves that the hourly cap still allows.
pub(super) fn moves_left(problem: &Problem<'_>) -> usize {
    match problem.snapshot.policy.consolidation {
        Consolidation::Off => 0,
        Consolidation::On { max_moves_per_hour } => {
            left(problem, max_moves_per_hour, &problem.snapshot.consolidation_moves_last_hour)
        }
    }
}

fn left(problem: &Problem<'_>, cap: Option<u32>, recent: &[DateTime<Utc>]) -> usize {
    let since = problem.now - TimeDelta::hours(1);
    cap.map_or(usize::MAX, |most| {
        (most as usize).saturating_sub(recent.iter().filter(|&&at| at > since).count())
    })
}

/// When a cap that is used up lets the next one through.
pub(super) fn next_allowed(left: usize, recent: &[DateTime<Utc>]) -> Option<DateTime<Utc>> {
    let oldest = recent.iter().min().filter(|_| left == 0)?;
    Some(*oldest + TimeDelta::hours(1))
}
