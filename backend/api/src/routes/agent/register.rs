//! `POST /agent/v1/register`: an agent has started.

use super::credential::NodeCaller;
use super::join::checked;
use crate::app::AppState;
use crate::extract::Json;
use crate::problem::{Code, Problem, Result};
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use reeve_store::nodes::enrol::{self, Registration};
use reeve_wire::join::{Register, Registered};

/// Most bytes of log kept for one member of a run.
pub(super) const LOG_LIMIT_BYTES: u64 = 64 * 1_024 * 1_024;

/// Begins the agent's lease and takes its inventory over.
#[utoipa::path(post, path = "/agent/v1/register", operation_id = "agent_register", tag = "agent", request_body = Register,
    responses((status = 200, body = Registered), (status = 401, description = "not a node's credential"),
              (status = 409, description = "another instance holds the lease")))]
pub(crate) async fn register(
    State(app): State<AppState>,
    node: NodeCaller,
    Json(body): Json<Register>,
) -> Result<axum::Json<Registered>> {
    let inventory = checked(body.inventory)?;
    let context = node.context(&app);
    let (now, leases) = (context.now, app.settings.leases);
    let registration = Registration {
        node: node.id,
        instance: body.instance_id,
        previous_instance: body.previous_instance_id,
        inventory: &inventory,
        lease: leases.length(),
        clock_skew_ms: (body.sent_at - now).num_milliseconds(),
    };
    let mut tx = app.store.begin(context).await?;
    if let Err(other) = enrol::register(&mut tx, &registration).await? {
        let wait = (other.lease_until - now).num_seconds().max(1);
        return Err(Problem::new(Code::InstanceConflict)
            .detail(format!(
                "another agent runs as node {} and its lease runs until {}: stop it, or wait",
                node.name, other.lease_until
            ))
            .header(RETRY_AFTER, wait.into()));
    }
    tx.commit().await?;
    app.installation.forget_reaches();
    Ok(axum::Json(Registered {
        node_id: node.id.0,
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        server_time: now,
        lease_secs: leases.lease_secs,
        lease_margin_secs: leases.margin_secs,
        heartbeat_secs: leases.heartbeat_secs,
        log_limit_bytes: LOG_LIMIT_BYTES,
    }))
}
