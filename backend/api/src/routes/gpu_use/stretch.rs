//! The stretch of whole hours that is asked for.

use crate::app::AppState;
use crate::problem::Result;
use crate::routes::time_past::span;
use chrono::{DurationRound, TimeDelta};
use reeve_store::gpu_use::figures::Asked;
use reeve_store::pools;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct StretchQuery {
    /// Rounded down to the hour; left out = 24 hours before `to`. A span of at most 31 days.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Rounded up to the hour; left out = now.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
    /// A pool's slug or id; left out = all.
    pool: Option<String>,
    /// A team's slug or id, everything below it included; left out = all.
    pub(super) team: Option<String>,
}

impl StretchQuery {
    pub(super) async fn asked(&self, app: &AppState) -> Result<Asked> {
        let now = app.clock.now();
        let (from, to) = span(self.from.as_deref(), self.to.as_deref(), now)?;
        let hour = TimeDelta::hours(1);
        let pool = match &self.pool {
            Some(pool) => Some(pools::find(&app.store, pool).await?.id),
            None => None,
        };
        let up = to.duration_trunc(hour).unwrap_or(to);
        let to = if up < to { up + hour } else { up };
        Ok(Asked { from: from.duration_trunc(hour).unwrap_or(from), to, pool, now })
    }
}
