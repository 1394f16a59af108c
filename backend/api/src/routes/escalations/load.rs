//! An escalation that the caller may see; what they may not know of is not there.

use super::people::People;
use super::view::{EscalationView, view};
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use reeve_core::access::{Action, Actor};
use reeve_core::id::EscalationId;
use reeve_store::escalations::row::EscalationRow;
use reeve_store::escalations::show::{self, Company};
use uuid::Uuid;

/// One, with its company.
pub(super) struct Loaded {
    pub(super) row: EscalationRow,
    pub(super) company: Company,
    pub(super) people: People,
}

impl Loaded {
    pub(super) fn view(self) -> Result<EscalationView> {
        let by = self.people.by(&self.row, &self.company.seats);
        Ok(view(self.row, &self.company, by)?)
    }
}

/// Reads one as `actor` for an action.
pub(super) async fn load(
    app: &AppState,
    caller: &Caller,
    actor: Actor,
    id: &str,
    action: Action,
) -> Result<Loaded> {
    let id: EscalationId = id.parse().map_err(|_| Problem::not_found())?;
    let row = show::get(&app.store, id).await?;
    let company = show::company(&app.store, &[row.id]).await?;
    let people = People::new(app, actor, &company.seats).await?;
    let judged = Caller { actor: people.actor.clone(), ..caller.clone() };
    app.allow(&judged, action, &people.resource(&row, &company.seats)).await?;
    Ok(Loaded { row, company, people })
}

/// Many, as the caller sees them.
pub(crate) async fn views(
    app: &AppState,
    caller: &Caller,
    rows: Vec<EscalationRow>,
) -> Result<Vec<EscalationView>> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let company = show::company(&app.store, &ids).await?;
    let people = People::new(app, caller.actor.clone(), &company.seats).await?;
    let mut views = Vec::with_capacity(rows.len());
    for row in rows {
        let by = people.by(&row, &company.seats);
        views.push(view(row, &company, by)?);
    }
    Ok(views)
}
