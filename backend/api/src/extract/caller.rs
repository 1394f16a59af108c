//! Who calls: an access token or API token as bearer, or the browser's session cookie.

use crate::app::AppState;
use crate::auth::callers::Known;
use crate::auth::{cookies, keys, secret};
use crate::layers::request_id::request_id;
use crate::problem::{Code, Problem, Result};
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use reeve_core::access::{Actor, PlatformRole, Role, Scope};
use reeve_core::id::UserId;
use reeve_store::sessions::{CallerRow, SessionCaller};
use reeve_store::{StoreError, memberships, sessions, tokens};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::str::FromStr;
use uuid::Uuid;

/// Whoever sent the request.
#[derive(Debug, Clone)]
pub struct Caller {
    pub actor: Actor,
    pub username: String,
    pub display_name: String,
    pub kind: AuthKind,
    pub request_id: String,
}

/// What they showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthKind {
    Session {
        id: Uuid,
    },
    Token {
        id: Uuid,
        name: String,
        /// What was made with it ends no later.
        expires_at: Option<DateTime<Utc>>,
        /// The teams that it is limited to, as they were named.
        team_ids: Option<Vec<Uuid>>,
    },
    /// A pipeline's, by a workload rule.
    Workload {
        id: Uuid,
        rule: String,
        subject: String,
    },
}

impl Caller {
    /// Whose idempotency keys these are.
    #[must_use]
    pub fn key_owner(&self) -> Uuid {
        match &self.kind {
            AuthKind::Session { .. } => self.actor.id.0,
            // A rule's account is shared by all its pipelines: each has its own keys.
            AuthKind::Workload { id, .. } => *id,
            AuthKind::Token { id, .. } => *id,
        }
    }
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self> {
        // A request whose key is its caller's asks twice.
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        let credential = credential(parts, app)?;
        let known = resolve(app, &credential).await?;
        app.rate_limit.person(known.actor.id.0)?;
        let caller = Self {
            actor: known.actor,
            username: known.username,
            display_name: known.display_name,
            kind: known.kind,
            request_id: request_id(&parts.headers),
        };
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

fn credential(parts: &Parts, app: &AppState) -> Result<String> {
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let text = value.to_str().map_err(|_| Problem::new(Code::InvalidCredential))?;
        let (scheme, token) = text.split_once(' ').ok_or_else(|| Problem::new(Code::InvalidCredential))?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Problem::new(Code::InvalidCredential).detail("the scheme must be Bearer"));
        }
        return Ok(token.trim().to_owned());
    }
    let Some(cookie) = cookies::read(&parts.headers, cookies::ACCESS) else {
        return Err(Problem::new(Code::Unauthenticated));
    };
    cookies::check_origin(&parts.method, &parts.headers, app.settings.public_origin.as_deref())?;
    Ok(cookie)
}

async fn resolve(app: &AppState, credential: &str) -> Result<Known> {
    let now = app.clock.now();
    if credential.starts_with(secret::API_TOKEN) {
        let hash = secret::hash(secret::API_TOKEN, credential)
            .ok_or_else(|| Problem::new(Code::InvalidCredential).detail("mistyped: the checksum is wrong"))?;
        if let Some(known) = app.callers.get(&hash, now) {
            return Ok(known);
        }
        let known = by_token(app, &hash).await?;
        app.callers.put(hash, now, known.clone());
        // After that: whoever comes meanwhile need not line up for the same row.
        if let AuthKind::Token { id, .. } = &known.kind {
            tokens::used(&app.store, *id, now).await?;
        }
        return Ok(known);
    }
    // The signature and the end are judged each time; only the look into the database is saved.
    let session = keys::verify(app, credential, now).await?;
    let key = Sha256::digest(session.as_bytes()).to_vec();
    if let Some(known) = app.callers.get(&key, now) {
        return Ok(known);
    }
    let row = sessions::caller(&app.store, session, now).await?;
    let found = row.ok_or_else(|| Problem::new(Code::InvalidCredential).detail("the session has ended"))?;
    let known = by_session(app, session, found).await?;
    app.callers.put(key, now, known.clone());
    Ok(known)
}

async fn by_session(app: &AppState, id: Uuid, found: SessionCaller) -> Result<Known> {
    let SessionCaller { row, workload } = found;
    let Some(grant) = workload else {
        let actor = actor(app, &row, Scope::ALL.iter().copied().collect()).await?;
        return Ok(known(row, actor, AuthKind::Session { id }));
    };
    // The rule alone says what its account may do.
    let role: Role = grant.role.parse().map_err(StoreError::from)?;
    let teams = memberships::subtrees(&app.store, &[grant.team_id]).await?;
    let actor = Actor {
        id: UserId(row.user_id),
        platform_roles: BTreeSet::new(),
        roles: teams.into_iter().map(|team| (team, BTreeSet::from([role]))).collect(),
        scopes: words(&grant.scopes)?,
    };
    Ok(known(row, actor, AuthKind::Workload { id, rule: grant.rule, subject: grant.subject }))
}

async fn by_token(app: &AppState, hash: &[u8]) -> Result<Known> {
    let now = app.clock.now();
    let found = tokens::caller(&app.store, hash, now).await?;
    let (row, token) = found.ok_or_else(|| Problem::new(Code::InvalidCredential))?;
    let mut actor = actor(app, &row, words(&token.scopes)?).await?;
    if let Some(teams) = &token.team_ids {
        actor = actor.limited_to(&memberships::subtrees(&app.store, teams).await?);
    }
    let (expires_at, team_ids) = (token.expires_at, token.team_ids);
    Ok(known(row, actor, AuthKind::Token { id: token.id, name: token.name, expires_at, team_ids }))
}

async fn actor(app: &AppState, row: &CallerRow, scopes: BTreeSet<Scope>) -> Result<Actor> {
    let id = UserId(row.user_id);
    let platform_roles: BTreeSet<PlatformRole> = words(&row.platform_roles)?;
    Ok(Actor { id, platform_roles, roles: memberships::spread(&app.store, id).await?, scopes })
}

fn known(row: CallerRow, actor: Actor, kind: AuthKind) -> Known {
    Known { actor, username: row.username, display_name: row.display_name, kind }
}

fn words<T>(texts: &[String]) -> Result<BTreeSet<T>>
where
    T: FromStr<Err = reeve_core::status::UnknownText> + Ord,
{
    let words: std::result::Result<BTreeSet<T>, StoreError> =
        texts.iter().map(|text| text.parse().map_err(StoreError::from)).collect();
    Ok(words?)
}
