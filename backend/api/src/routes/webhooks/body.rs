//! What somebody says about a webhook, checked.
//!
//! A name is resolved only when something is sent: what it means today is no promise. An address that is written out is
//! judged here too, so that a mistake shows at once.

use crate::app::AppState;
use crate::problem::Fields;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand::RngCore;
use reeve_core::address::{Place, place};
use reeve_store::oidc::Enabled;
use reeve_store::webhooks::{WebhookKind, WebhookTerms};
use reqwest::Url;
use std::net::IpAddr;

const MOST_TYPES: usize = 100;

/// A new signing secret: `whsec_` and 256 bits.
pub(super) fn mint_secret() -> String {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    format!("whsec_{}", STANDARD.encode(bytes))
}

/// Checks the whole, whether new or edited.
pub(super) fn check(app: &AppState, fields: &mut Fields, kind: WebhookKind, terms: &WebhookTerms) {
    fields.text("/name", &terms.name, 1, 100);
    url(app, fields, &terms.url);
    fields.word::<Enabled>("/state", &terms.state);
    if !matches!(terms.locale.as_str(), "en" | "zh-CN") {
        fields.add("/locale", "unknown_value", "en or zh-CN");
    }
    if terms.event_types.len() > MOST_TYPES {
        fields.add("/event_types", "too_many", format!("at most {MOST_TYPES}"));
    }
    let good = |text: &String| {
        let start = text.strip_suffix('*').unwrap_or(text);
        text.len() <= 100
            && start.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'_'))
    };
    for (at, text) in terms.event_types.iter().enumerate().take(MOST_TYPES) {
        if text.is_empty() || !good(text) {
            let help = "an action such as job.failed, or the beginning of some such as job.*";
            fields.add(format!("/event_types/{at}"), "invalid_event_type", help);
        }
    }
    if let Some(secret) = &terms.secret {
        fields.text("/secret", secret, 1, 200);
        let key = secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
        if kind == WebhookKind::Webhook && !key.is_some_and(|key| (24..=64).contains(&key.len())) {
            fields.add("/secret", "invalid_secret", "whsec_ and 24 to 64 bytes in base64");
        }
    }
}

fn url(app: &AppState, fields: &mut Fields, text: &str) {
    fields.text("/url", text, 1, 2_000);
    let Ok(url) = Url::parse(text) else { return fields.add("/url", "invalid_url", "no URL") };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let literal: Option<IpAddr> = host.parse().ok();
    let named_loopback = host == "localhost" || host.ends_with(".localhost");
    if let Some(address) = literal.or_else(|| named_loopback.then(|| IpAddr::from([127, 0, 0, 1])))
        && let Err(refused) = app.settings.reachable.judge(address)
    {
        fields.add("/url", "private_address", refused.to_string());
    }
    // Without TLS only what is inside may be reached, where that is allowed at all.
    let inside = match literal {
        Some(address) => place(address) != Place::Public,
        None => !app.settings.reachable.networks.is_empty(),
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && inside) {
        fields.add("/url", "not_https", "must begin with https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        fields.add("/url", "has_credentials", "no user and password in the address");
    }
}
