//! The step that sends what is due.

use super::mail::Letter;
use super::outbound::{Answer, Outbound};
use super::{retry, sign};
use chrono::{DateTime, TimeDelta, Utc};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use reeve_core::clock::SharedClock;
use reeve_store::deliveries::{self, Due, Outcome};
use reeve_store::{Actor, Store, StoreError, WriteContext, webhooks};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::time::Instant;

/// Messages a step, and to one receiver at once.
const AT_ONCE: i64 = 32;
const EACH: i64 = 4;
/// Longer than any attempt takes: another server takes over what this one has not written down by then.
const LEASE_SECS: i64 = 60;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivered {
    pub delivered: usize,
    pub failed: usize,
}

/// Sends what is due, each message once.
///
/// # Errors
/// [`StoreError::Unavailable`]; what was sent and not written down is sent again.
pub async fn step(store: &Store, clock: &SharedClock, outbound: &Outbound) -> Result<Delivered, StoreError> {
    let due = deliveries::claim(store, clock.now(), TimeDelta::seconds(LEASE_SECS), AT_ONCE, EACH).await?;
    let mut running: FuturesUnordered<_> =
        due.into_iter().map(|due| async move { one(store, clock, outbound, &due).await }).collect();
    let mut done = Delivered::default();
    let mut broken = None;
    while let Some(result) = running.next().await {
        match result {
            Ok(true) => done.delivered += 1,
            Ok(false) => done.failed += 1,
            Err(error) => broken = Some(error),
        }
    }
    broken.map_or(Ok(done), Err)
}

/// Whether it arrived.
async fn one(store: &Store, clock: &SharedClock, outbound: &Outbound, due: &Due) -> Result<bool, StoreError> {
    let (at, began) = (clock.now(), Instant::now());
    let answer = match &due.kind {
        Some(kind) => to_webhook(outbound, due, kind, at).await,
        None => to_person(outbound, due).await,
    };
    let took_ms = i32::try_from(began.elapsed().as_millis()).unwrap_or(i32::MAX);
    let now = clock.now();
    let gone = matches!(&answer, Ok(answer) if answer.status == 410);
    let mut outcome = judge(due, answer, now, took_ms);
    if gone {
        outcome.again_at = None;
    }
    deliveries::attempted(store, due, at, &outcome).await?;
    let name = if outcome.error.is_none() { "delivered" } else { "failed" };
    let kind = due.kind.as_deref().unwrap_or("mail").to_owned();
    metrics::counter!("reeve_message_attempts_total", "kind" => kind, "outcome" => name).increment(1);
    if let (Some(webhook), Some(error), None) = (due.webhook_id, &outcome.error, outcome.again_at) {
        let context = WriteContext { actor: Actor::system("notifier"), request_id: None, now };
        let mut tx = store.begin(context).await?;
        if gone {
            webhooks::disable_gone(&mut tx, webhook).await?;
        }
        deliveries::given_up(&mut tx, webhook, due.id, error).await?;
        tx.commit().await?;
    }
    Ok(outcome.error.is_none())
}

/// What an answer means, and when to try again.
fn judge(due: &Due, answer: Result<Answer, String>, now: DateTime<Utc>, took_ms: i32) -> Outcome {
    let (status, excerpt, asked, error) = match answer {
        Ok(answer) => {
            let error = fault(due.kind.as_deref(), &answer);
            (Some(i32::from(answer.status)), answer.excerpt(), answer.retry_after_secs, error)
        }
        Err(error) => (None, String::new(), None, Some(error.chars().take(500).collect())),
    };
    let again_at = error.as_ref().and_then(|_| {
        retry::next(due.webhook_id.is_none(), due.attempts + 1, now, asked.map(TimeDelta::seconds))
    });
    Outcome { status, error, took_ms, response_excerpt: excerpt, again_at }
}

/// Why an answer is none of success. Robots say it in their body.
fn fault(kind: Option<&str>, answer: &Answer) -> Option<String> {
    match answer.status {
        200..300 => {}
        300..400 => return Some(format!("status {}: redirects are not followed", answer.status)),
        410 => return Some("status 410: the receiver is gone".to_owned()),
        other => return Some(format!("status {other}")),
    }
    let names: &[&str] = match kind {
        Some("feishu") => &["code", "StatusCode"],
        Some("dingtalk" | "wecom") => &["errcode"],
        _ => return None,
    };
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let code = names.iter().find_map(|name| said[*name].as_i64());
    match code {
        Some(0) => None,
        Some(code) => Some(format!("the robot says {code}: {}", text_of(&said))),
        None => Some("the robot's answer cannot be read".to_owned()),
    }
}

fn text_of(said: &Value) -> String {
    let text = ["msg", "errmsg", "StatusMessage"].iter().find_map(|name| said[*name].as_str());
    text.unwrap_or("no reason").chars().take(200).collect()
}

async fn to_person(outbound: &Outbound, due: &Due) -> Result<Answer, String> {
    let mail = outbound.mail.as_ref().ok_or("mail is not set up")?;
    let to = due.email.as_deref().ok_or("the person has no address any more")?;
    let letter: Letter = serde_json::from_str(&due.body).map_err(|error| error.to_string())?;
    mail.send(to, &letter).await?;
    Ok(Answer { status: 250, body: Vec::new(), retry_after_secs: None })
}

async fn to_webhook(outbound: &Outbound, due: &Due, kind: &str, at: DateTime<Utc>) -> Result<Answer, String> {
    let url = due.url.as_deref().unwrap_or_default();
    let mut headers = HeaderMap::new();
    match (kind, &due.secret) {
        ("webhook", secret) => {
            let secret = secret.as_deref().ok_or("the webhook has no secret")?;
            // What it is called, for receivers of many kinds of messages.
            headers.insert(
                CONTENT_TYPE,
                HeaderValue::from_static("application/cloudevents+json; charset=utf-8"),
            );
            let previous = due
                .previous_secret
                .as_deref()
                .filter(|_| due.previous_secret_until.is_some_and(|until| until > at));
            let secrets: Vec<&str> = std::iter::once(secret).chain(previous).collect();
            let signature = sign::standard(&secrets, &due.message_id, at, &due.body)
                .ok_or("the secret cannot be read")?;
            for (name, value) in [
                ("webhook-id", due.message_id.clone()),
                ("webhook-timestamp", at.timestamp().to_string()),
                ("webhook-signature", signature),
            ] {
                let value = HeaderValue::from_str(&value).map_err(|error| error.to_string())?;
                headers.insert(HeaderName::from_static(name), value);
            }
            outbound.post(url, headers, due.body.clone()).await
        }
        ("feishu", Some(secret)) => {
            let (time, signature) = sign::feishu(secret, at);
            let mut body: Value = serde_json::from_str(&due.body).map_err(|error| error.to_string())?;
            body["timestamp"] = time.into();
            body["sign"] = signature.into();
            outbound.post(url, json_type(headers), body.to_string()).await
        }
        ("dingtalk", Some(secret)) => {
            let (time, signature) = sign::dingtalk(secret, at);
            let mut url: reqwest::Url = url.parse().map_err(|error| format!("{error}"))?;
            url.query_pairs_mut().append_pair("timestamp", &time).append_pair("sign", &signature);
            outbound.post(url.as_str(), json_type(headers), due.body.clone()).await
        }
        _ => outbound.post(url, json_type(headers), due.body.clone()).await,
    }
}

fn json_type(mut headers: HeaderMap) -> HeaderMap {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers
}
