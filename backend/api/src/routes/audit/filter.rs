//! What may be asked of the log, and what a caller may see of the answer.

use super::view::AuditOutcome;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Code, Problem, Result};
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Readable, Resource};
use reeve_core::id::TeamId;
use reeve_store::audit::list::AuditFilter;
use reeve_store::jobs::admission;
use reeve_store::teams;
use serde::Deserialize;
use std::str::FromStr;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditParams {
    /// An id, or a name exactly as it was then.
    pub(super) actor: Option<String>,
    /// An action, for example `job.submitted`, or the beginning of some: `job.*`.
    pub(super) action: Option<String>,
    pub(super) subject_type: Option<String>,
    pub(super) subject_id: Option<Uuid>,
    /// A team's slug or id, everything below it included.
    pub(super) team: Option<String>,
    /// Not before.
    #[param(value_type = Option<DateTime<Utc>>)]
    pub(super) from: Option<String>,
    /// Before.
    #[param(value_type = Option<DateTime<Utc>>)]
    pub(super) to: Option<String>,
    /// `allowed` or `denied`.
    pub(super) outcome: Option<String>,
    pub(super) request_id: Option<String>,
}

impl AuditParams {
    /// The filter, narrowed to what the caller oversees.
    pub(super) async fn allowed(&self, app: &AppState, caller: &Caller) -> Result<AuditFilter> {
        app.allow(caller, Action::AuditRead, &Resource::Installation).await?;
        let actor_id = self.actor.as_deref().and_then(|text| text.parse().ok());
        let actor_name = if actor_id.is_none() { self.actor.clone() } else { None };
        let outcome: Option<AuditOutcome> =
            self.outcome.as_deref().map(|text| word("outcome", text)).transpose()?;
        let (from, to) = (time("from", self.from.as_deref())?, time("to", self.to.as_deref())?);
        if from.zip(to).is_some_and(|(from, to)| from >= to) {
            return Err(invalid("to", "out_of_range", "after from".to_owned()));
        }
        Ok(AuditFilter {
            actor_id,
            actor_name,
            action: self.action.clone(),
            subject_type: self.subject_type.clone(),
            subject_id: self.subject_id,
            team_ids: self.teams(app, caller).await?,
            from,
            to,
            allowed: outcome.map(|outcome| outcome == AuditOutcome::Allowed),
            request_id: self.request_id.clone(),
        })
    }

    async fn teams(&self, app: &AppState, caller: &Caller) -> Result<Option<Vec<TeamId>>> {
        let Some(team) = &self.team else {
            return Ok(match caller.actor.overseen() {
                Readable::Everything => None,
                Readable::Teams(teams) => Some(teams),
            });
        };
        let team = teams::find(&app.store, team).await?.id;
        app.allow(caller, Action::AuditRead, &Resource::Team(TeamId(team))).await?;
        let below = admission::subtree(&app.store, team).await?;
        Ok(Some(below.into_iter().map(TeamId).collect()))
    }
}

fn time(name: &str, text: Option<&str>) -> Result<Option<DateTime<Utc>>> {
    let parse = |text: &str| {
        text.parse().map_err(|_| invalid(name, "invalid_value", "a time as in RFC 3339".to_owned()))
    };
    text.map(parse).transpose()
}

fn word<T: FromStr<Err = reeve_core::status::UnknownText>>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| invalid(name, "unknown_value", error.to_string()))
}

fn invalid(name: &str, code: &str, detail: String) -> Problem {
    Problem::new(Code::InvalidQuery).detail(format!("{name}: {detail}")).error(name, code, detail)
}
