//! The body of a POST together with its Idempotency-Key: a repeated request gets the stored reply.
//!
//! ```text
//! let Keyed { body, once } = keyed;
//! if let Some(reply) = once.replay(&app).await? { return Ok(reply); }
//! …
//! once.commit(tx, StatusCode::CREATED, &view).await
//! ```
//! Errors are not stored: a refused request may be corrected and sent again with the same key.

use super::caller::Caller;
use super::json::{expect_json, parse, read};
use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use reeve_store::idempotency::{self, IdempotencyKey, Known, StoredReply};
use reeve_store::{Store, StoreError, WriteTx};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A body and its key.
#[derive(Debug)]
pub struct Keyed<T> {
    pub body: T,
    pub once: Once,
}

/// A body that may be left out: `{}`.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// The request's key, if it has one.
#[derive(Debug)]
pub struct Once {
    key: Option<IdempotencyKey>,
    store: Store,
}

impl<T: DeserializeOwned> FromRequest<AppState> for Keyed<T> {
    type Rejection = Problem;

    async fn from_request(mut request: Request, state: &AppState) -> Result<Self> {
        let header = key_of(&request)?;
        let caller = match &header {
            Some(_) => Some(request_caller(&mut request, state).await?),
            None => None,
        };
        let mut hasher = Sha256::new();
        hasher.update(format!("{} {}\n", request.method(), request.uri()));
        let content = request.headers().clone();
        let bytes = read(request, state).await?;
        hasher.update(&bytes);
        let key = header.zip(caller).map(|(key, caller)| IdempotencyKey {
            caller: caller.key_owner(),
            key,
            request_hash: hasher.finalize().to_vec(),
        });
        // An act without a body is the same as one with `{}`.
        let body = if bytes.is_empty() {
            parse(b"{}")?
        } else {
            expect_json(&content)?;
            parse(&bytes)?
        };
        Ok(Self { body, once: Once { key, store: state.store.clone() } })
    }
}

async fn request_caller(request: &mut Request, state: &AppState) -> Result<Caller> {
    use axum::RequestExt;
    request.extract_parts_with_state::<Caller, _>(state).await
}

fn key_of(request: &Request) -> Result<Option<String>> {
    let Some(value) = request.headers().get(IDEMPOTENCY_KEY) else { return Ok(None) };
    match value.to_str() {
        Ok(text) if (1..=255).contains(&text.len()) => Ok(Some(text.to_owned())),
        _ => Err(Problem::new(Code::InvalidHeader).detail("Idempotency-Key: 1 to 255 ASCII characters")),
    }
}

impl Once {
    /// The stored reply, when this request was answered before.
    ///
    /// # Errors
    /// [`Code::IdempotencyMismatch`] when the key was used for another request.
    pub async fn replay(&self) -> Result<Option<Response>> {
        let Some(key) = &self.key else { return Ok(None) };
        match idempotency::find(&self.store, key).await? {
            Known::New => Ok(None),
            // Only a mark in place of a secret is kept as a refusal.
            Known::Same(reply) if reply.status >= 400 => Err(Problem::new(Code::SecretNotKept)),
            Known::Same(reply) => Ok(Some(replayed(reply))),
            Known::Other => Err(Problem::new(Code::IdempotencyMismatch)),
        }
    }

    /// The key, for effects that keep their reply themselves.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// Keeps the reply with the effect, commits, and answers with a JSON view.
    ///
    /// # Errors
    /// As the store's; [`Code::IdempotencyRunning`] when an equal request won the race and its reply is gone.
    pub async fn commit(self, tx: WriteTx, status: StatusCode, view: &impl Serialize) -> Result<Response> {
        self.commit_with(tx, status, view, &[]).await
    }

    /// The same for a reply with a secret in it: only that it was done is kept. A replay is told so, with 409.
    ///
    /// # Errors
    /// As [`Once::commit`].
    pub async fn commit_secret(
        self,
        tx: WriteTx,
        status: StatusCode,
        view: &impl Serialize,
    ) -> Result<Response> {
        let body = serde_json::to_vec(view).map_err(|error| Problem::internal(&error))?;
        let mark = StoredReply {
            status: Code::SecretNotKept.status(),
            headers: serde_json::json!({}),
            body: Vec::new(),
        };
        let made = StoredReply { status: status.as_u16(), headers: serde_json::json!({}), body };
        Ok(self.keep(tx, &mark).await?.unwrap_or_else(|| sent(made)))
    }

    /// Keeps the reply and commits. When an equal request was faster, its reply is the answer, and nothing is done.
    async fn keep(&self, mut tx: WriteTx, reply: &StoredReply) -> Result<Option<Response>> {
        if let Some(key) = &self.key {
            match idempotency::remember(&mut tx, key, reply).await {
                Ok(()) => {}
                Err(StoreError::Duplicate { constraint }) if constraint == idempotency::DUPLICATE => {
                    // First its connection goes back: the look-up needs one too.
                    tx.rollback().await?;
                    let kept = self.replay().await?;
                    return Ok(Some(kept.ok_or_else(|| Problem::new(Code::IdempotencyRunning))?));
                }
                Err(other) => return Err(other.into()),
            }
        }
        tx.commit().await?;
        Ok(None)
    }

    /// The same with more headers, for example an ETag.
    ///
    /// # Errors
    /// As [`Once::commit`].
    pub async fn commit_with(
        self,
        tx: WriteTx,
        status: StatusCode,
        view: &impl Serialize,
        headers: &[(&'static str, String)],
    ) -> Result<Response> {
        let body = serde_json::to_vec(view).map_err(|error| Problem::internal(&error))?;
        let headers: serde_json::Map<String, serde_json::Value> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
        let reply = StoredReply { status: status.as_u16(), headers: headers.into(), body };
        Ok(self.keep(tx, &reply).await?.unwrap_or_else(|| sent(reply)))
    }
}

/// What became of an effect that keeps its reply itself.
#[derive(Debug)]
pub enum Effect {
    /// Done, and this reply is kept with it.
    Done(StoredReply),
    /// Nothing done: the key is known already.
    Known,
    /// Judged, and refused. What was answered to the same key before still counts.
    Refused(Problem),
    /// Not done, or nobody knows.
    Failed(Problem),
}

/// A reply that an effect is to keep.
///
/// # Errors
/// [`Code::Internal`] for a view that is no JSON.
pub fn reply(status: StatusCode, view: &impl Serialize) -> Result<StoredReply> {
    let body = serde_json::to_vec(view).map_err(|error| Problem::internal(&error))?;
    Ok(StoredReply { status: status.as_u16(), headers: serde_json::json!({}), body })
}

impl Once {
    /// The effect's reply, or the stored one of an equal request that was faster.
    ///
    /// # Errors
    /// As the effect's; [`Code::IdempotencyMismatch`] when the key was used for another request.
    pub async fn answer(&self, effect: Effect) -> Result<Response> {
        match effect {
            Effect::Done(reply) => Ok(sent(reply)),
            Effect::Known => self.replay().await?.ok_or_else(|| Problem::new(Code::IdempotencyRunning)),
            Effect::Refused(problem) => self.replay().await?.ok_or(problem),
            Effect::Failed(problem) => Err(problem),
        }
    }
}

fn sent(reply: StoredReply) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in reply.headers.as_object().into_iter().flatten() {
        if let (Ok(name), Some(Ok(value))) =
            (HeaderName::try_from(name), value.as_str().map(HeaderValue::from_str))
        {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn replayed(reply: StoredReply) -> Response {
    let mut response = sent(reply);
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}
