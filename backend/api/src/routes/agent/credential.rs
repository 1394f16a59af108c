//! The node that a credential speaks for.

use crate::app::AppState;
use crate::auth::secret;
use crate::problem::{Code, Problem};
use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use reeve_core::id::NodeId;
use reeve_store::nodes::enrol::by_credential;
use reeve_store::{Actor, WriteContext};
use reeve_wire::CREDENTIAL_PREFIX;

/// The node that speaks.
#[derive(Debug, Clone)]
pub(crate) struct NodeCaller {
    pub(crate) id: NodeId,
    pub(crate) name: String,
}

impl NodeCaller {
    /// Writes are the node's.
    pub(crate) fn context(&self, app: &AppState) -> WriteContext {
        WriteContext { actor: Actor::node(self.id, &self.name), request_id: None, now: app.clock.now() }
    }
}

impl FromRequestParts<AppState> for NodeCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Problem> {
        let text = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(|| Problem::new(Code::Unauthenticated))?;
        let refused = || {
            Problem::new(Code::InvalidCredential)
                .detail("not the credential of a node: join again with a new join token")
        };
        let hash = secret::hash(CREDENTIAL_PREFIX, text).ok_or_else(refused)?;
        let node = by_credential(&app.store, &hash).await?.ok_or_else(refused)?;
        Ok(Self { id: node.id, name: node.name })
    }
}
