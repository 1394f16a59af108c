//! A budget of high-priority GPU-hours as JSON.

use crate::refs::TeamRef;
use reeve_store::priority_budgets::PriorityBudget;
use serde::Serialize;
use utoipa::ToSchema;

/// GPU-hours at class high and above that a team, with those below it, may use in a calendar month (UTC).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PriorityBudgetView {
    pub(super) team: TeamRef,
    /// For example `2026-11`.
    pub(super) month: String,
    pub(super) gpu_hours: i64,
    /// Granted on top by active budget exceptions.
    pub(super) exception_gpu_hours: i64,
    /// So far this month, of runs that counted as high or critical.
    pub(super) used_gpu_hours: f64,
    /// What approved and active escalations may still use.
    pub(super) committed_gpu_hours: f64,
    /// Negative = overdrawn.
    pub(super) remaining_gpu_hours: f64,
    pub(super) version: i64,
}

impl From<PriorityBudget> for PriorityBudgetView {
    fn from(row: PriorityBudget) -> Self {
        Self {
            used_gpu_hours: hours(row.used_milli_secs),
            committed_gpu_hours: hours(row.committed_milli_secs),
            remaining_gpu_hours: hours(row.remaining_milli_secs()),
            team: TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name },
            month: row.month,
            gpu_hours: row.gpu_hours,
            exception_gpu_hours: row.exception_gpu_hours,
            version: row.version,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn hours(milli_secs: i64) -> f64 {
    milli_secs as f64 / 3_600_000.0
}
