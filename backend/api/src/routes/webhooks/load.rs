//! A webhook that the caller may see or change.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use reeve_core::access::{Action, Resource};
use reeve_core::id::TeamId;
use reeve_store::webhooks::{self, Webhook};
use uuid::Uuid;

/// Whose it is, as a resource.
pub(super) fn resource(team: Option<Uuid>) -> Resource {
    team.map_or(Resource::Installation, |team| Resource::Team(TeamId(team)))
}

/// # Errors
/// 404 when there is none, or none that the caller may know of; 403.
pub(super) async fn load(app: &AppState, caller: &Caller, action: Action, id: Uuid) -> Result<Webhook> {
    let webhook = webhooks::find(&app.store, id).await?;
    app.allow(caller, action, &resource(webhook.team_id)).await?;
    Ok(webhook)
}
