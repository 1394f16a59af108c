//! The authorisation code flow with PKCE: where to send the browser, and what its code is worth.

use super::fetch::Failed;
use super::issuers::{Issuers, endpoint};
use super::verify;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use rand::RngCore;
use reeve_store::oidc::Provider;
use reeve_store::oidc_sign_in::Flow;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// 256 random bits as text: state, nonce, verifier, the browser's mark.
pub(crate) fn random() -> String {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}

/// Where the browser goes to sign in.
///
/// # Errors
/// [`Failed`] when the provider does not say where.
pub(crate) async fn authorize_url(
    issuers: &Issuers,
    provider: &Provider,
    redirect_uri: &str,
    state: &str,
    flow: &Flow,
    now: DateTime<Utc>,
) -> Result<String, Failed> {
    let issuer = issuers.get(&provider.issuer, now).await?;
    let place = issuer.metadata.authorization_endpoint.as_deref();
    let mut url = endpoint(place.ok_or_else(|| Failed::not_valid("discovery: no authorization_endpoint"))?)?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&flow.pkce_verifier));
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &provider.client_id)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("scope", &provider.scopes.join(" "))
        .append_pair("state", state)
        .append_pair("nonce", &flow.nonce)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    Ok(url.into())
}

#[derive(Debug, Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// What the provider says about whoever came back with this code.
///
/// # Errors
/// [`Failed`] for a code that it does not take, and for a token that is not its own, for us, of this sign-in, now.
pub(crate) async fn exchange(
    issuers: &Issuers,
    provider: &Provider,
    redirect_uri: &str,
    code: &str,
    flow: &Flow,
    now: DateTime<Utc>,
) -> Result<Value, Failed> {
    let tokens = redeem(issuers, provider, redirect_uri, code, flow, now).await?;
    let (kid, _) = verify::said(&tokens.id_token)?;
    let issuer = issuers.with_key(&provider.issuer, kid.as_deref(), now).await?;
    let mut claims = verify::signed(&issuer, &tokens.id_token, now)?;
    verify::id_token(&claims, &provider.client_id, &flow.nonce)?;
    // Many providers keep names and groups out of the token.
    if let (Some(place), Some(access)) = (&issuer.metadata.userinfo_endpoint, &tokens.access_token) {
        let request = issuers.client()?.get(endpoint(place)?).bearer_auth(access);
        let more: Value = issuers.json("userinfo", request).await?;
        if more["sub"] != claims["sub"] {
            return Err(Failed::not_valid("userinfo speaks of somebody else"));
        }
        add(&mut claims, more);
    }
    Ok(claims)
}

async fn redeem(
    issuers: &Issuers,
    provider: &Provider,
    redirect_uri: &str,
    code: &str,
    flow: &Flow,
    now: DateTime<Utc>,
) -> Result<Tokens, Failed> {
    let issuer = issuers.get(&provider.issuer, now).await?;
    let place = issuer.metadata.token_endpoint.as_deref();
    let place = endpoint(place.ok_or_else(|| Failed::not_valid("discovery: no token_endpoint"))?)?;
    let methods = &issuer.metadata.token_endpoint_auth_methods_supported;
    let basic = methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic");
    let request = token_request(issuers.client()?.post(place), provider, redirect_uri, code, flow, basic);
    issuers.json("token", request).await
}

/// The form, and the client's secret the way the provider wants it.
fn token_request(
    mut request: RequestBuilder,
    provider: &Provider,
    redirect_uri: &str,
    code: &str,
    flow: &Flow,
    basic: bool,
) -> RequestBuilder {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("code_verifier", &flow.pkce_verifier);
    match &provider.client_secret {
        Some(secret) if basic => {
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            request = request.basic_auth(encoded(&provider.client_id), Some(encoded(secret)));
        }
        Some(secret) => {
            form.append_pair("client_id", &provider.client_id).append_pair("client_secret", secret);
        }
        None => {
            form.append_pair("client_id", &provider.client_id);
        }
    }
    request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
}

/// What the token itself says stays.
fn add(claims: &mut Value, more: Value) {
    let (Some(claims), Value::Object(more)) = (claims.as_object_mut(), more) else { return };
    for (name, value) in more {
        claims.entry(name).or_insert(value);
    }
}
