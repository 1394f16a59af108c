//! Requests a second, by credential. Without one there is nothing to tell callers apart but an address that a proxy
//! may share, so only sign-in attempts are limited there, by username.

use crate::app::AppState;
use crate::problem::{Code, Problem};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use sha2::{Digest, Sha256};
use std::num::NonZeroU32;

/// Keys remembered before those at rest are dropped.
const MOST_KEYS: usize = 20_000;
/// Sign-in attempts a minute, for one username.
const SIGN_INS_PER_MINUTE: u32 = 30;

pub(crate) struct RateLimit {
    requests: DefaultKeyedRateLimiter<[u8; 32]>,
    sign_ins: DefaultKeyedRateLimiter<[u8; 32]>,
    policy: String,
}

impl std::fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RateLimit").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl RateLimit {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let number = |value: u32| NonZeroU32::new(value).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(number(per_second)).allow_burst(number(burst));
        Self {
            requests: RateLimiter::keyed(quota),
            sign_ins: RateLimiter::keyed(Quota::per_minute(number(SIGN_INS_PER_MINUTE))),
            policy: format!("\"default\";q={};w=1;burst={}", number(per_second), number(burst)),
        }
    }

    /// # Errors
    /// 429 when there were too many attempts for this username, whether it exists or not.
    pub(crate) fn sign_in(&self, username: &str) -> Result<(), Problem> {
        check(&self.sign_ins, &Sha256::digest(username).into())
    }
}

fn check(limiter: &DefaultKeyedRateLimiter<[u8; 32]>, key: &[u8; 32]) -> Result<(), Problem> {
    if limiter.len() > MOST_KEYS {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|not_until| {
        let secs = not_until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
        Problem::new(Code::RateLimited)
            .param("retry_after_secs", secs)
            .header(header::RETRY_AFTER, HeaderValue::from(secs))
    })
}

pub(crate) async fn limit(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let credential =
        request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes().to_vec()).or_else(|| {
            crate::auth::cookies::read(request.headers(), crate::auth::cookies::ACCESS).map(Into::into)
        });
    let Some(credential) = credential else { return next.run(request).await };
    let limit = &app.rate_limit;
    let (mut response, left) = match check(&limit.requests, &Sha256::digest(&credential).into()) {
        Ok(()) => (next.run(request).await, 1),
        Err(problem) => (problem.into_response(), 0),
    };
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&limit.policy) {
        headers.insert(HeaderName::from_static("ratelimit-policy"), policy);
    }
    let state = if left == 0 { "\"default\";r=0;t=1" } else { "\"default\";r=1;t=1" };
    headers.insert(HeaderName::from_static("ratelimit"), HeaderValue::from_static(state));
    response
}
