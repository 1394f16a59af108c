//! Requests to identity providers: JSON, small, soon, and never to where clouds keep credentials.
//!
//! A provider may well be in a private network, since administrators name them; link-local and reserved addresses are
//! refused after the name was resolved, and the address that was judged is the one connected to. No redirects.

use reeve_core::address::Reachable;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, RequestBuilder, Url, redirect};
use serde::de::DeserializeOwned;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);
const MOST_BYTES: usize = 1024 * 1024;

/// Why a provider could not be used, for whoever set it up.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Failed {
    #[error("{0}")]
    Unreachable(String),
    #[error("{0}")]
    NotValid(String),
}

impl Failed {
    pub(crate) fn not_valid(text: impl Into<String>) -> Self {
        Self::NotValid(text.into())
    }
}

struct Guard;

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut good: Vec<SocketAddr> = Vec::new();
            for address in found {
                Reachable::inside().judge(address.ip())?;
                good.push(address);
            }
            let addresses: Addrs = Box::new(good.into_iter());
            Ok(addresses)
        })
    }
}

/// A client that is made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Fetch(OnceLock<Client>);

impl Fetch {
    pub(super) fn client(&self) -> Result<&Client, Failed> {
        if let Some(client) = self.0.get() {
            return Ok(client);
        }
        // A second installation is refused, and harmless.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .timeout(PATIENCE)
            .no_proxy()
            .dns_resolver(Arc::new(Guard))
            .user_agent(concat!("reeve/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failed::Unreachable(error.to_string()))?;
        Ok(self.0.get_or_init(|| client))
    }

    /// The reply as this type.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        what: &str,
        request: RequestBuilder,
    ) -> Result<T, Failed> {
        let mut response = request.send().await.map_err(|error| Failed::Unreachable(told(what, &error)))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) =
            response.chunk().await.map_err(|error| Failed::Unreachable(told(what, &error)))?
        {
            body.extend_from_slice(&part);
            if body.len() > MOST_BYTES {
                return Err(Failed::not_valid(format!("{what}: more than {MOST_BYTES} bytes")));
            }
        }
        if !status.is_success() {
            let code = serde_json::from_slice::<serde_json::Value>(&body).unwrap_or_default();
            let code =
                code["error"].as_str().unwrap_or("no error code").chars().take(100).collect::<String>();
            return Err(Failed::not_valid(format!("{what}: status {status}, {code}")));
        }
        serde_json::from_slice(&body).map_err(|error| Failed::not_valid(format!("{what}: {error}")))
    }
}

/// An error with its innermost cause, which names the address or the certificate.
fn told(what: &str, error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    format!("{what}: {cause}")
}

/// A provider's URL: https, or http on this machine itself.
pub(crate) fn issuer_url(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("{error}"))?;
    let host = url.host_str().unwrap_or_default();
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let loopback = host == "localhost" || literal.is_some_and(|address| address.is_loopback());
    if url.scheme() != "https" && !(url.scheme() == "http" && loopback) {
        return Err("must begin with https://".to_owned());
    }
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err("no user, query or fragment".to_owned());
    }
    if let Some(address) = literal {
        Reachable::inside().judge(address).map_err(|refused| refused.to_string())?;
    }
    Ok(url)
}
