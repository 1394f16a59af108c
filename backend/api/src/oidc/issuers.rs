//! What issuers publish, kept for minutes: their document and their keys. A key that is not among them makes us look
//! again, since issuers change keys without notice; but not more often than every few seconds.

use super::fetch::{Failed, Fetch, issuer_url};
use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::jwk::JwkSet;
use reqwest::{Client, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

const FRESH_SECS: i64 = 600;
/// An issuer that does not answer is believed by its last word for so long.
const STALE_SECS: i64 = 86_400;
const AGAIN_SECS: i64 = 5;
const MOST: usize = 200;

/// The provider's document, as far as it is needed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: Option<String>,
    pub(crate) userinfo_endpoint: Option<String>,
    pub(crate) jwks_uri: String,
    #[serde(default)]
    pub(crate) token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Keys {
    keys: Vec<serde_json::Value>,
}

/// An issuer as it was last seen.
#[derive(Debug, Clone)]
pub(crate) struct Issuer {
    pub(crate) metadata: Metadata,
    pub(crate) keys: JwkSet,
    fetched_at: DateTime<Utc>,
}

/// All issuers that were asked.
#[derive(Debug, Default)]
pub(crate) struct Issuers {
    fetch: Fetch,
    known: Mutex<HashMap<String, Arc<Issuer>>>,
}

impl Issuers {
    /// The issuer, asked if it was not lately.
    ///
    /// # Errors
    /// [`Failed`] when it does not answer, or not as the standard says.
    pub(crate) async fn get(&self, issuer: &str, now: DateTime<Utc>) -> Result<Arc<Issuer>, Failed> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(issuer).cloned();
        let age = known.as_ref().map(|known| (now - known.fetched_at).abs());
        match (known, age) {
            (Some(known), Some(age)) if age < TimeDelta::seconds(FRESH_SECS) => Ok(known),
            (Some(known), Some(age)) if age < TimeDelta::seconds(STALE_SECS) => {
                match self.ask(issuer, now).await {
                    Err(Failed::Unreachable(text)) => {
                        tracing::warn!(issuer, text, "an issuer does not answer: its last keys are used");
                        Ok(known)
                    }
                    other => other,
                }
            }
            _ => self.ask(issuer, now).await,
        }
    }

    /// The same with a key of this name, if the issuer has it.
    ///
    /// # Errors
    /// As [`Issuers::get`].
    pub(crate) async fn with_key(
        &self,
        issuer: &str,
        kid: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Arc<Issuer>, Failed> {
        let known = self.get(issuer, now).await?;
        let has = kid.is_none_or(|kid| known.keys.find(kid).is_some());
        if has || (now - known.fetched_at).abs() < TimeDelta::seconds(AGAIN_SECS) {
            return Ok(known);
        }
        self.ask(issuer, now).await
    }

    /// Asks now, whatever is known.
    ///
    /// # Errors
    /// As [`Issuers::get`].
    pub(crate) async fn ask(&self, issuer: &str, now: DateTime<Utc>) -> Result<Arc<Issuer>, Failed> {
        issuer_url(issuer).map_err(|text| Failed::NotValid(format!("issuer: {text}")))?;
        let place = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let metadata: Metadata = self.json("discovery", self.client()?.get(&place)).await?;
        if metadata.issuer != issuer {
            let said = metadata.issuer;
            return Err(Failed::NotValid(format!(
                "discovery: it says that its issuer is {said}, not {issuer}"
            )));
        }
        let keys: Keys = self.json("keys", self.client()?.get(endpoint(&metadata.jwks_uri)?)).await?;
        // A key of a kind that nobody here knows is no reason to do without the others.
        let keys = JwkSet {
            keys: keys.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect(),
        };
        let issuer_now = Arc::new(Issuer { metadata, keys, fetched_at: now });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(issuer.to_owned(), Arc::clone(&issuer_now));
        Ok(issuer_now)
    }

    pub(super) fn client(&self) -> Result<&Client, Failed> {
        self.fetch.client()
    }

    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        what: &str,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Failed> {
        self.fetch.json(what, request).await
    }
}

/// An endpoint that the document names, which must be as safe as the issuer itself.
pub(super) fn endpoint(text: &str) -> Result<Url, Failed> {
    let url: Url = text.parse().map_err(|_| Failed::not_valid(format!("{text} is no URL")))?;
    let mut bare = url.clone();
    // A query is allowed in an endpoint.
    bare.set_query(None);
    issuer_url(bare.as_str()).map_err(|why| Failed::not_valid(format!("{text}: {why}")))?;
    Ok(url)
}
