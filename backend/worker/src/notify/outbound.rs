//! The way out: an HTTP client that connects only to addresses that may be reached.
//!
//! A name is resolved, each address judged, and one of exactly these connected to: there is no second look that could
//! see something else. Connections are not kept, so the next message is judged anew.

use super::mail::Mail;
use reeve_core::address::{Place, Reachable, place};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Url, redirect};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(15);
/// What is read of an answer; a receiver that says more is cut off.
const MOST_BYTES: usize = 16 * 1024;
const EXCERPT_CHARS: usize = 500;

/// Where messages go out, and what they say about us.
#[derive(Clone)]
pub struct Outbound {
    client: Client,
    reachable: Arc<Reachable>,
    /// The console's address, for links; none = no links.
    pub public_url: Option<String>,
    pub mail: Option<Mail>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("reachable", &self.reachable).finish_non_exhaustive()
    }
}

/// No client could be made.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for webhooks could not be made")]
pub struct OutboundError(#[from] reqwest::Error);

/// A receiver's answer.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Its first bytes.
    pub(super) body: Vec<u8>,
    pub(super) retry_after_secs: Option<i64>,
}

impl Answer {
    pub(super) fn excerpt(&self) -> String {
        // PostgreSQL keeps no NUL.
        String::from_utf8_lossy(&self.body).chars().filter(|c| *c != '\0').take(EXCERPT_CHARS).collect()
    }
}

struct Guard {
    inner: Arc<dyn Resolve>,
    reachable: Arc<Reachable>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, reachable) = (self.inner.resolve(name), Arc::clone(&self.reachable));
        Box::pin(async move {
            let mut good: Vec<SocketAddr> = Vec::new();
            for address in found.await? {
                // One bad address spoils the name: whoever mixes them is up to something.
                reachable.judge(address.ip())?;
                good.push(address);
            }
            let addresses: Addrs = Box::new(good.into_iter());
            Ok(addresses)
        })
    }
}

/// The machine's own resolver.
struct System;

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

impl Outbound {
    /// With the machine's resolver.
    ///
    /// # Errors
    /// [`OutboundError`].
    pub fn new(reachable: Reachable) -> Result<Self, OutboundError> {
        Self::with_resolver(reachable, Arc::new(System))
    }

    /// With another resolver, whose answers are judged alike.
    ///
    /// # Errors
    /// [`OutboundError`].
    pub fn with_resolver(reachable: Reachable, inner: Arc<dyn Resolve>) -> Result<Self, OutboundError> {
        // A second installation is refused, and harmless.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let reachable = Arc::new(reachable);
        let guard = Guard { inner, reachable: Arc::clone(&reachable) };
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .timeout(PATIENCE)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(guard))
            .user_agent(concat!("reeve/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client, reachable, public_url: None, mail: None })
    }

    /// Sends it once. The error is for whoever set the receiver up.
    pub(super) async fn post(&self, url: &str, headers: HeaderMap, body: String) -> Result<Answer, String> {
        let url: Url = url.parse().map_err(|error| format!("the address is no URL: {error}"))?;
        self.judge_literal(&url)?;
        let sent = self.client.post(url).headers(headers).body(body).send().await;
        let mut response = sent.map_err(|error| innermost(&error))?;
        let status = response.status().as_u16();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        // A body that breaks off changes nothing about the status.
        while let Ok(Some(part)) = response.chunk().await {
            body.extend_from_slice(&part[..part.len().min(MOST_BYTES - body.len())]);
            if body.len() >= MOST_BYTES {
                break;
            }
        }
        Ok(Answer { status, body, retry_after_secs: asked.filter(|secs| (0..=86_400).contains(secs)) })
    }

    /// An address in the URL itself is never resolved: it is judged here. Without TLS only what is inside is reached.
    fn judge_literal(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let literal: Option<IpAddr> = host.parse().ok();
        if let Some(address) = literal {
            self.reachable.judge(address).map_err(|refused| refused.to_string())?;
        }
        let inside = literal.is_some_and(|address| place(address) != Place::Public);
        let named_inside = literal.is_none() && !self.reachable.networks.is_empty();
        match url.scheme() {
            "https" => Ok(()),
            "http" if inside || named_inside => Ok(()),
            other => Err(format!("the address must begin with https://, not {other}://")),
        }
    }
}

/// What went wrong at the bottom: the refused address, the certificate, the time.
fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", PATIENCE.as_secs());
    }
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
