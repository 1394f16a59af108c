//! `POST /agent/v1/join`: a machine becomes a node, once.

use super::inventory::from_wire;
use crate::app::AppState;
use crate::auth::secret;
use crate::extract::Json;
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use reeve_core::inventory::{Inventory, faults};
use reeve_store::nodes::enrol::{self, TokenRefusal};
use reeve_store::{Actor, NewEvent, StoreError, WriteContext};
use reeve_wire::join::{Inventory as WireInventory, Join, Joined};
use reeve_wire::{CREDENTIAL_PREFIX, JOIN_TOKEN_PREFIX, PROTOCOL_VERSION};
use uuid::Uuid;

/// Spends a join token and answers the node's credential, which is shown only here.
#[utoipa::path(post, path = "/agent/v1/join", operation_id = "agent_join", tag = "agent", request_body = Join,
    responses((status = 201, body = Joined), (status = 401, description = "the token does not let in"),
              (status = 409, description = "a node has this name"), (status = 422, description = "bad inventory")))]
pub(crate) async fn join(
    State(app): State<AppState>,
    Json(body): Json<Join>,
) -> Result<(StatusCode, axum::Json<Joined>)> {
    let inventory = checked(body.inventory)?;
    let context = WriteContext { actor: Actor::anonymous(), request_id: None, now: app.clock.now() };
    let mut tx = app.store.begin(context).await?;
    let hash = secret::hash(JOIN_TOKEN_PREFIX, &body.join_token).unwrap_or_default();
    let pool = match enrol::spend_token(&mut tx, &hash).await? {
        Ok(pool) => pool,
        Err(refusal) => {
            tx.rollback().await?;
            return Err(refused(&app, refusal, &inventory).await);
        }
    };
    let credential = secret::mint(CREDENTIAL_PREFIX);
    let credential_hash = secret::hash(CREDENTIAL_PREFIX, &credential).unwrap_or_default();
    let lease = app.settings.leases.length();
    let node =
        enrol::join(&mut tx, &pool, &inventory, &credential_hash, lease).await.map_err(
            |error| match error {
                StoreError::Duplicate { .. } => Problem::new(Code::AlreadyExists).detail(format!(
                    "a node named {} exists: choose another name, or remove that node first",
                    inventory.node_name
                )),
                other => other.into(),
            },
        )?;
    tx.commit().await?;
    app.installation.forget_reaches();
    Ok((StatusCode::CREATED, axum::Json(Joined { node_id: node.0, credential, pool: pool.slug })))
}

/// The inventory of an agent that speaks our protocol, without faults.
pub(super) fn checked(wire: WireInventory) -> Result<Inventory> {
    if wire.protocol_version != PROTOCOL_VERSION {
        return Err(Problem::new(Code::ProtocolMismatch).detail(format!(
            "the agent speaks protocol {} and the server {PROTOCOL_VERSION}: update the older of the two",
            wire.protocol_version
        )));
    }
    let inventory = from_wire(wire);
    let mut fields = Fields::new();
    for fault in faults(&inventory) {
        fields.add(format!("/inventory{}", fault.pointer), fault.code, fault.detail);
    }
    fields.done()?;
    Ok(inventory)
}

/// A refused token is told to the audit, then to the agent.
async fn refused(app: &AppState, refusal: TokenRefusal, inventory: &Inventory) -> Problem {
    let context = WriteContext { actor: Actor::anonymous(), request_id: None, now: app.clock.now() };
    let event = NewEvent::new("node.join_refused", "join_token", Uuid::nil())
        .denied("one-time join token")
        .detail(serde_json::json!({"why": refusal.to_string(), "node_name": inventory.node_name}));
    if let Err(problem) = app.denied(Uuid::nil(), context, event).await {
        return problem;
    }
    Problem::new(Code::JoinTokenRefused).detail(format!("{refusal}: ask an administrator for a new one"))
}
