//! Requests a second: by credential in front of everything, by person once it is known who they are (many tokens give no
//! more than one), and attempts to get in by address and by account, whether the account exists or not.

use crate::app::AppState;
use crate::problem::{Code, Problem};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::num::NonZeroU32;
use uuid::Uuid;

/// Keys remembered before those at rest are dropped.
const MOST_KEYS: usize = 20_000;
/// Attempts a minute to sign in, for one username.
const SIGN_INS_PER_MINUTE: u32 = 30;
/// The same from one address, which an office may share.
const SIGN_INS_PER_MINUTE_AND_ADDRESS: u32 = 120;
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

type Keyed =
    RateLimiter<[u8; 32], DefaultKeyedStateStore<[u8; 32]>, DefaultClock, StateInformationMiddleware>;

/// One kind of limit.
struct Limit {
    name: &'static str,
    limiter: Keyed,
    /// So many in so many seconds, as the headers say it.
    burst: u32,
    window_secs: u32,
}

pub(crate) struct RateLimit {
    requests: Limit,
    people: Limit,
    accounts: Limit,
    addresses: Limit,
}

impl std::fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RateLimit").field("burst", &self.requests.burst).finish_non_exhaustive()
    }
}

impl Limit {
    fn new(name: &'static str, quota: Quota, window_secs: u32) -> Self {
        let limiter = RateLimiter::keyed(quota).with_middleware();
        Self { name, limiter, burst: quota.burst_size().get(), window_secs: window_secs.max(1) }
    }

    /// What is left, or the refusal with its seconds.
    fn take(&self, key: impl AsRef<[u8]>) -> Result<u32, Problem> {
        if self.limiter.len() > MOST_KEYS {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(&Sha256::digest(key).into()) {
            Ok(state) => Ok(state.remaining_burst_capacity()),
            Err(not_until) => {
                let secs = not_until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
                Err(Problem::new(Code::RateLimited)
                    .param("retry_after_secs", secs)
                    .param("limit", self.name)
                    .header(header::RETRY_AFTER, HeaderValue::from(secs))
                    .header(POLICY, self.policy())
                    .header(STATE, self.state(0, secs)))
            }
        }
    }

    fn policy(&self) -> HeaderValue {
        text(&format!("\"{}\";q={};w={}", self.name, self.burst, self.window_secs))
    }

    fn state(&self, left: u32, reset_secs: u64) -> HeaderValue {
        text(&format!("\"{}\";r={left};t={reset_secs}", self.name))
    }

    /// Until all of it is there again.
    fn reset_secs(&self, left: u32) -> u64 {
        let used = u64::from(self.burst.saturating_sub(left));
        (used * u64::from(self.window_secs)).div_ceil(u64::from(self.burst)).max(1)
    }
}

fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

impl RateLimit {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let number = |value: u32| NonZeroU32::new(value).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(number(per_second)).allow_burst(number(burst));
        let window = burst.div_ceil(per_second.max(1));
        Self {
            requests: Limit::new("token", quota, window),
            people: Limit::new("user", quota, window),
            accounts: Limit::new("sign_in", Quota::per_minute(number(SIGN_INS_PER_MINUTE)), 60),
            addresses: Limit::new(
                "sign_in_address",
                Quota::per_minute(number(SIGN_INS_PER_MINUTE_AND_ADDRESS)),
                60,
            ),
        }
    }

    /// # Errors
    /// 429 when there were too many attempts for this username, or from this address.
    pub(crate) fn sign_in(&self, username: &str, address: Option<IpAddr>) -> Result<(), Problem> {
        self.attempt(address)?;
        self.accounts.take(username).map(drop)
    }

    /// # Errors
    /// 429 when there were too many attempts from this address to get in by something else than a password.
    pub(crate) fn attempt(&self, address: Option<IpAddr>) -> Result<(), Problem> {
        let Some(address) = address else { return Ok(()) };
        // Whoever has one IPv6 address has the network around it.
        let key = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets()[..8].to_vec(),
        };
        self.addresses.take(key).map(drop)
    }

    /// # Errors
    /// 429 when this person, by all credentials together, asked too often.
    pub(crate) fn person(&self, user: Uuid) -> Result<(), Problem> {
        self.people.take(user.as_bytes()).map(drop)
    }
}

pub(crate) async fn limit(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let credential =
        request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes().to_vec()).or_else(|| {
            crate::auth::cookies::read(request.headers(), crate::auth::cookies::ACCESS).map(Into::into)
        });
    let Some(credential) = credential else { return next.run(request).await };
    let limit = &app.rate_limit.requests;
    let left = match limit.take(&credential) {
        Ok(left) => left,
        Err(problem) => return problem.into_response(),
    };
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if !headers.contains_key(STATE) {
        headers.insert(POLICY, limit.policy());
        headers.insert(STATE, limit.state(left, limit.reset_secs(left)));
    }
    response
}
