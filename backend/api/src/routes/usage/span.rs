//! Days and teams that a question about use is narrowed to.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Code, Problem, Result};
use chrono::NaiveDate;
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::TeamId;
use reeve_store::jobs::admission;
use reeve_store::teams;

/// Longest span of days.
const MOST_DAYS: i64 = 366;

/// `from` and `to` as days, `to` exclusive.
pub(crate) fn days(from: &str, to: &str) -> Result<(NaiveDate, NaiveDate)> {
    let day = |name: &str, text: &str| -> Result<NaiveDate> {
        text.parse().map_err(|_| refused(name, "invalid_value", "a day, as in 2026-11-30"))
    };
    let (from, to) = (day("from", from)?, day("to", to)?);
    if to <= from || (to - from).num_days() > MOST_DAYS {
        return Err(refused("to", "out_of_range", "after from, by at most 366 days"));
    }
    Ok((from, to))
}

pub(crate) fn refused(name: &str, code: &str, detail: &str) -> Problem {
    Problem::new(Code::InvalidQuery).detail(format!("{name}: {detail}")).error(name, code, detail)
}

/// The teams that may be shown of those asked for; `None` = everything, what is nobody's included.
pub(crate) async fn seen_teams(
    app: &AppState,
    caller: &Caller,
    action: Action,
    team: Option<&str>,
) -> Result<Option<Vec<TeamId>>> {
    app.allow(caller, action, &Resource::Installation).await?;
    let Some(team) = team else {
        return Ok(match caller.actor.overseen() {
            Readable::Everything => None,
            Readable::Teams(teams) => Some(teams),
        });
    };
    let team = teams::find(&app.store, team).await?.id;
    app.allow(caller, action, &Resource::Team(TeamId(team))).await?;
    let below = admission::subtree(&app.store, team).await?;
    Ok(Some(below.into_iter().map(TeamId).collect()))
}
