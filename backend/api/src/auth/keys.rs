//! Access tokens: JWT signed with Ed25519, 15 minutes. The keys lie in the database so that two servers agree; a
//! token names its key, and an unknown name makes a server look once more.

use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use reeve_store::{Actor, WriteContext, sessions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::RwLock;
use uuid::Uuid;

/// How long an access token lives.
pub(crate) const ACCESS_MINUTES: i64 = 15;
const ISSUER: &str = "reeve";
const AUDIENCE: &str = "reeve-api";

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: Uuid,
    sid: Uuid,
    iat: i64,
    exp: i64,
}

/// The keys that this process knows.
#[derive(Debug, Default)]
pub(crate) struct Keys(RwLock<Option<Arc<Ring>>>);

struct Ring {
    newest: String,
    signing: EncodingKey,
    verifying: BTreeMap<String, DecodingKey>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("newest", &self.newest).finish_non_exhaustive()
    }
}

/// A token for this session, good for so many seconds.
pub(crate) async fn sign(app: &AppState, user: Uuid, session: Uuid, secs: i64) -> Result<String> {
    let ring = ring(app).await?;
    let now = app.clock.now();
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        sub: user,
        sid: session,
        iat: now.timestamp(),
        exp: (now + TimeDelta::seconds(secs)).timestamp(),
    };
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(ring.newest.clone());
    jsonwebtoken::encode(&header, &claims, &ring.signing).map_err(|error| Problem::internal(&error))
}

/// The session that a token belongs to.
pub(crate) async fn verify(app: &AppState, token: &str, now: DateTime<Utc>) -> Result<Uuid> {
    let invalid = |_| Problem::new(Code::InvalidCredential);
    let kid = jsonwebtoken::decode_header(token).map_err(invalid)?.kid.unwrap_or_default();
    let mut known = ring(app).await?;
    // A name of ours that we do not know: another server made a key. Anything else is not worth a look.
    if !known.verifying.contains_key(&kid) && kid.parse::<Uuid>().is_ok() {
        known = reload(app).await?;
    }
    let key = known.verifying.get(&kid).ok_or_else(|| Problem::new(Code::InvalidCredential))?;
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    // Judged below, by the injected clock.
    validation.validate_exp = false;
    let claims = jsonwebtoken::decode::<Claims>(token, key, &validation).map_err(invalid)?.claims;
    if claims.exp <= now.timestamp() {
        return Err(Problem::new(Code::InvalidCredential).detail("the access token has expired"));
    }
    Ok(claims.sid)
}

async fn ring(app: &AppState) -> Result<Arc<Ring>> {
    if let Some(ring) = app.keys.0.read().await.as_ref() {
        return Ok(Arc::clone(ring));
    }
    reload(app).await
}

async fn reload(app: &AppState) -> Result<Arc<Ring>> {
    let mut slot = app.keys.0.write().await;
    let mut keys = sessions::signing_keys(&app.store).await?;
    if keys.iter().all(|key| key.retired) {
        create(app).await?;
        keys = sessions::signing_keys(&app.store).await?;
    }
    let newest = keys.iter().find(|key| !key.retired).ok_or_else(|| Problem::new(Code::Internal))?;
    let broken = |error: jsonwebtoken::errors::Error| Problem::internal(&error);
    let signing = EncodingKey::from_ed_pem(newest.private_pem.as_bytes()).map_err(broken)?;
    let mut verifying = BTreeMap::new();
    for key in keys.iter().filter(|key| !key.retired) {
        let decoding = DecodingKey::from_ed_pem(key.public_pem.as_bytes()).map_err(broken)?;
        verifying.insert(key.id.to_string(), decoding);
    }
    let ring = Arc::new(Ring { newest: newest.id.to_string(), signing, verifying });
    *slot = Some(Arc::clone(&ring));
    Ok(ring)
}

async fn create(app: &AppState) -> Result<()> {
    let broken = |_| Problem::new(Code::Internal);
    let pair = Ed25519KeyPair::generate().map_err(broken)?;
    let private = pair.to_pkcs8v1().map_err(broken)?;
    let public = pair.public_key().as_der().map_err(broken)?;
    let context = WriteContext { actor: Actor::system("api"), request_id: None, now: app.clock.now() };
    let mut tx = app.store.begin(context).await?;
    let (private, public) = (pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", public.as_ref()));
    match sessions::add_first_signing_key(&mut tx, &private, &public).await? {
        true => Ok(tx.commit().await?),
        // Another server was faster: its key is everybody's.
        false => Ok(tx.rollback().await?),
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}
