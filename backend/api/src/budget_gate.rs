//! Budgets at the door of submissions: judged from figures that are seconds old, since use itself is measured each minute.
//!
//! It refuses to ask the database for every submission.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::TeamId;
use reeve_core::job_spec::Fault;
use reeve_core::money::budget::{Judgement, Standing, judge};
use reeve_core::money::decimal::{MICRO_DIGITS, format};
use reeve_core::priority::PriorityClass;
use reeve_store::{Store, StoreError, budgets};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

const FRESH_SECS: i64 = 5;

/// Every budget, and each team with what is above it.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    standings: Vec<Standing>,
    paths: BTreeMap<TeamId, Vec<TeamId>>,
}

impl Gate {
    /// Why a submission may not pass; none = it may.
    pub(crate) fn fault(&self, team: TeamId, class: PriorityClass) -> Option<Fault> {
        let own = [team];
        let path = self.paths.get(&team).map_or(&own[..], Vec::as_slice);
        let (code, standing, instead) = match judge(&self.standings, path, class) {
            Judgement::Pass => return None,
            Judgement::NeedsApproval(standing) => ("budget_needs_approval", standing, ""),
            Judgement::Blocked(standing) => ("budget_exhausted", standing, "wait for the next month, or "),
        };
        let amount = |micros: i64| format(i128::from(micros), MICRO_DIGITS, 0);
        let detail = format!(
            "{} of {} {} are used this month (budget {}): {instead}ask for an exception by \
             POST /api/v1/escalations with asks_for budget, this budget, an amount and duration_secs",
            amount(standing.used_micros),
            amount(standing.amount_micros.saturating_add(standing.extra.micros)),
            standing.unit,
            standing.id,
        );
        Some(Fault::new("/team", code, detail).of_budget(standing.id))
    }
}

/// The last look.
#[derive(Debug, Default)]
pub(crate) struct Budgets(Mutex<Option<(DateTime<Utc>, Arc<Gate>)>>);

impl Budgets {
    /// What counts now.
    pub(crate) async fn gate(&self, store: &Store, now: DateTime<Utc>) -> Result<Arc<Gate>, StoreError> {
        if let Some((at, gate)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && (now - *at).abs() < TimeDelta::seconds(FRESH_SECS)
        {
            return Ok(Arc::clone(gate));
        }
        let standings = budgets::standings(store, now).await?;
        let paths = if standings.is_empty() { BTreeMap::new() } else { budgets::team_paths(store).await? };
        let gate = Arc::new(Gate { standings, paths });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Arc::clone(&gate)));
        Ok(gate)
    }

    /// A budget was changed here.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
