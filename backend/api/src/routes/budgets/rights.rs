//! Whose budget it is, for rights: whoever keeps the books, or leads the team above, sets it.

use crate::app::AppState;
use crate::problem::Result;
use reeve_core::access::Resource;
use reeve_core::id::TeamId;
use reeve_store::teams;

pub(super) async fn resource(app: &AppState, team: TeamId) -> Result<Resource> {
    let parent = match teams::find(&app.store, &team.to_string()).await {
        Ok(found) => found.parent_id.map(TeamId),
        // A deleted team's budget is the books' alone.
        Err(reeve_store::StoreError::NotFound) => None,
        Err(other) => return Err(other.into()),
    };
    Ok(Resource::Quota { team, parent })
}
