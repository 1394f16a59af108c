//! Whether a token is what its issuer signed, for us, now.
//!
//! Times are judged by the injected clock with a minute for clocks that differ. Signatures by a shared secret are
//! refused: whoever can check one can make one.

use super::fetch::Failed;
use super::issuers::Issuer;
use chrono::{DateTime, Utc};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::Value;

/// How far two clocks may differ.
const SKEW_SECS: i64 = 60;
const MOST_BYTES: usize = 32 * 1024;
const SIGNATURES: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The name of the key that a token says it was signed with, and its issuer's name: not verified.
pub(crate) fn said(token: &str) -> Result<(Option<String>, String), Failed> {
    if token.len() > MOST_BYTES {
        return Err(Failed::not_valid(format!("a token of more than {MOST_BYTES} bytes")));
    }
    let header = decode_header(token).map_err(|_| Failed::not_valid("this is no JWT"))?;
    let claims: Value = jsonwebtoken::dangerous::insecure_decode(token)
        .map_err(|_| Failed::not_valid("this is no JWT"))?
        .claims;
    let issuer = claims["iss"].as_str().ok_or_else(|| Failed::not_valid("the token names no issuer"))?;
    Ok((header.kid, issuer.to_owned()))
}

/// The claims of a token that this issuer signed and that counts now. Its audience is the caller's to judge.
pub(crate) fn signed(issuer: &Issuer, token: &str, now: DateTime<Utc>) -> Result<Value, Failed> {
    let header = decode_header(token).map_err(|_| Failed::not_valid("this is no JWT"))?;
    if !SIGNATURES.contains(&header.alg) {
        return Err(Failed::not_valid(format!("signed by {:?}, which is not taken", header.alg)));
    }
    let key = key(issuer, header.kid.as_deref(), header.alg)?;
    let key = DecodingKey::from_jwk(key)
        .map_err(|error| Failed::not_valid(format!("the issuer's key: {error}")))?;
    let mut validation = Validation::new(header.alg);
    validation.set_issuer(&[&issuer.metadata.issuer]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    validation.validate_aud = false;
    // Judged below, by the injected clock.
    validation.validate_exp = false;
    validation.validate_nbf = false;
    let claims = decode::<Value>(token, &key, &validation)
        .map_err(|error| Failed::not_valid(format!("the token is not valid: {error}")))?
        .claims;
    timely(&claims, now)?;
    if claims["sub"].as_str().is_none_or(|sub| sub.is_empty() || sub.len() > 1_024) {
        return Err(Failed::not_valid("the token names no subject"));
    }
    Ok(claims)
}

fn timely(claims: &Value, now: DateTime<Utc>) -> Result<(), Failed> {
    let now = now.timestamp();
    // NumericDate may have a fraction.
    let secs = |name: &str| {
        let value = &claims[name];
        value.as_i64().or_else(|| {
            #[expect(clippy::cast_possible_truncation, reason = "a date in seconds")]
            value.as_f64().map(|secs| secs as i64)
        })
    };
    let ends = secs("exp").ok_or_else(|| Failed::not_valid("the token has no end"))?;
    if ends.saturating_add(SKEW_SECS) <= now {
        return Err(Failed::not_valid("the token has expired"));
    }
    if secs("nbf").is_some_and(|begins| begins > now + SKEW_SECS) {
        return Err(Failed::not_valid("the token is not valid yet"));
    }
    if secs("iat").is_some_and(|issued| issued > now + SKEW_SECS) {
        return Err(Failed::not_valid("the token comes from the future: compare the clocks"));
    }
    Ok(())
}

/// The key that may have signed it: by name, or the only one of its kind when the token names none.
fn key<'a>(issuer: &'a Issuer, kid: Option<&str>, alg: Algorithm) -> Result<&'a Jwk, Failed> {
    let signs = |key: &&Jwk| {
        let common = &key.common;
        let for_signing = !matches!(common.public_key_use, Some(PublicKeyUse::Encryption));
        let same = common.key_algorithm.is_none_or(|known| known.to_string() == format!("{alg:?}"));
        for_signing && same && DecodingKey::from_jwk(key).is_ok_and(|key| key.family() == alg.family())
    };
    let mut keys = issuer.keys.keys.iter().filter(signs);
    match kid {
        Some(kid) => keys
            .find(|key| key.common.key_id.as_deref() == Some(kid))
            .ok_or_else(|| Failed::not_valid("signed with a key that the issuer does not have")),
        None => match (keys.next(), keys.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(Failed::not_valid("the token does not say which of the issuer's keys signed it")),
        },
    }
}

/// Whether a token is meant for this audience.
pub(crate) fn is_for(claims: &Value, audience: &str) -> bool {
    reeve_core::identity::texts(&claims["aud"]).iter().any(|one| one == audience)
}

/// Whether an ID token is for this client alone, and for this sign-in.
pub(crate) fn id_token(claims: &Value, client_id: &str, nonce: &str) -> Result<(), Failed> {
    if !is_for(claims, client_id) {
        return Err(Failed::not_valid("the token is for another client"));
    }
    let several = claims["aud"].as_array().is_some_and(|all| all.len() > 1);
    match claims["azp"].as_str() {
        Some(party) if party != client_id => {
            return Err(Failed::not_valid("the token was made for another client"));
        }
        None if several => {
            return Err(Failed::not_valid("the token is for several, and does not say for whom"));
        }
        _ => {}
    }
    if claims["nonce"].as_str() != Some(nonce) {
        return Err(Failed::not_valid("the token belongs to another sign-in"));
    }
    Ok(())
}
