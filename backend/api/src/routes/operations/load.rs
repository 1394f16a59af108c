//! An operation by its id: its maker's own, or an administrator's to see.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use reeve_core::access::{Action, Resource};
use reeve_core::id::UserId;
use reeve_store::operations::{self, Operation};

pub(super) async fn load(app: &AppState, caller: &Caller, id: &str, action: Action) -> Result<Operation> {
    let id = id.parse().map_err(|_| Problem::not_found())?;
    let found = operations::find(&app.store, id).await?;
    app.allow(caller, action, &Resource::Account(UserId(found.created_by))).await?;
    Ok(found)
}
