//! What every handler shares.

use crate::auth::callers::Callers;
use crate::auth::keys::Keys;
use crate::auth::password::Passwords;
use crate::budget_gate::Budgets;
use crate::denials::{self, Denials};
use crate::extract::{AuthKind, Caller};
use crate::installation::Installation;
use crate::layers::rate_limit::RateLimit;
use crate::oidc::Issuers;
use crate::problem::{Code, Problem, Result};
use crate::routes::jobs::gather::Gather;
use crate::routes::metrics::show::GaugeCache;
use chrono::TimeDelta;
use metrics_exporter_prometheus::PrometheusHandle;
use reeve_core::access::{Action, Resource, Verdict, may};
use reeve_core::address::{Network, Reachable};
use reeve_core::clock::SharedClock;
use reeve_store::beat::LastTick;
use reeve_store::feed::Feed;
use reeve_store::{Actor, NewEvent, Store, WriteContext, WriteTx};
use reeve_wire::heartbeat::{DEFAULT_HEARTBEAT_SECS, DEFAULT_LEASE_SECS, LEASE_MARGIN_SECS};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// What an installation may set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Longest a request may take; streams and long polls are excepted.
    pub request_timeout: Duration,
    /// Requests a second and at once, a credential.
    pub requests_per_second: u32,
    pub request_burst: u32,
    /// The console's own address, for the Origin check behind a proxy that changes `Host`.
    pub public_origin: Option<String>,
    /// Networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// What webhooks may reach besides public addresses.
    pub reachable: Reachable,
    /// Whether mail can be sent.
    pub mail: bool,
    /// Longest that a scheduler may be silent before `/readyz` says 503 and the overview says so; zero = not asked.
    pub scheduler_silence: Duration,
    pub leases: Leases,
}

/// The rhythm of agents, as the server tells it to them.
#[derive(Debug, Clone, Copy)]
pub struct Leases {
    /// Without the server for this long, an agent stops its jobs.
    pub lease_secs: u32,
    /// Beyond the lease, before a node is declared lost.
    pub margin_secs: u32,
    pub heartbeat_secs: u32,
}

impl Leases {
    pub(crate) fn length(self) -> TimeDelta {
        TimeDelta::seconds(self.lease_secs.into())
    }
}

impl Default for Leases {
    fn default() -> Self {
        Self {
            lease_secs: DEFAULT_LEASE_SECS,
            margin_secs: LEASE_MARGIN_SECS,
            heartbeat_secs: DEFAULT_HEARTBEAT_SECS,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(30),
            requests_per_second: 500,
            request_burst: 2_000,
            public_origin: None,
            trusted_proxies: Vec::new(),
            reachable: Reachable::default(),
            mail: false,
            scheduler_silence: Duration::ZERO,
            leases: Leases::default(),
        }
    }
}

/// The server's state. Each layer and route that a request passes clones it: one count, not one a part.
#[derive(Debug, Clone)]
pub struct AppState(Arc<Parts>);

impl Deref for AppState {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Before the server serves; what was cloned before stays as it was.
impl DerefMut for AppState {
    fn deref_mut(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }
}

/// What the server holds.
#[derive(Debug, Clone)]
pub struct Parts {
    pub store: Store,
    pub clock: SharedClock,
    pub settings: Arc<Settings>,
    /// Cancelled when the server shuts down: streams and long polls end.
    pub shutdown: CancellationToken,
    /// The process's metrics, if it has a recorder.
    pub metrics: Option<PrometheusHandle>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) rate_limit: Arc<RateLimit>,
    pub(crate) denials: Arc<Denials>,
    pub(crate) budgets: Arc<Budgets>,
    /// What-if questions take a core each: one at a time.
    pub(crate) what_if: Arc<tokio::sync::Semaphore>,
    pub(crate) gauges: Arc<GaugeCache>,
    pub(crate) installation: Arc<Installation>,
    /// Submissions that wait for those under way.
    pub(crate) gather: Arc<Gather>,
}

impl AppState {
    #[must_use]
    pub fn new(store: Store, clock: SharedClock, settings: Settings) -> Self {
        let rate_limit = RateLimit::new(settings.requests_per_second, settings.request_burst);
        Self(Arc::new(Parts {
            store,
            clock,
            shutdown: CancellationToken::new(),
            metrics: None,
            feed: Arc::default(),
            keys: Arc::default(),
            passwords: Arc::default(),
            callers: Arc::default(),
            issuers: Arc::default(),
            gauges: Arc::default(),
            installation: Arc::default(),
            gather: Arc::default(),
            denials: Arc::default(),
            budgets: Arc::default(),
            rate_limit: Arc::new(rate_limit),
            what_if: Arc::new(tokio::sync::Semaphore::new(1)),
            settings: Arc::new(settings),
        }))
    }

    /// Asks [`may`]; a refused attempt leaves an event.
    ///
    /// # Errors
    /// 403, or 404 when the caller may not know that it exists.
    pub async fn allow(&self, caller: &Caller, action: Action, resource: &Resource) -> Result<()> {
        let verdict = may(&caller.actor, action, resource);
        if verdict == Verdict::Allowed {
            return Ok(());
        }
        let (subject_type, subject_id, team) = subject(resource);
        let mut event = NewEvent::new(action.as_str(), subject_type, Uuid::nil()).denied("access").team(team);
        event.subject_id = subject_id;
        self.denied(caller.key_owner(), self.context(caller), event).await?;
        Err(match verdict {
            Verdict::Hidden => Problem::not_found(),
            _ => Problem::new(Code::Forbidden).param("action", action.as_str()),
        })
    }

    /// Records a denied attempt of `who` (a caller's key owner, or nil for strangers): each of the first of a minute, and
    /// how many there were beyond.
    ///
    /// # Errors
    /// 503 when the database is away.
    pub async fn denied(&self, who: Uuid, context: WriteContext, event: NewEvent) -> Result<()> {
        Ok(denials::record(&self.denials, &self.store, who, context, event).await?)
    }

    /// Writes counts of denied attempts whose minute is over; at the end, all. Answers how many callers had some.
    ///
    /// # Errors
    /// 503 when the database is away.
    pub async fn flush_denials(&self, all: bool) -> Result<usize> {
        Ok(denials::flush(&self.denials, &self.store, self.clock.now(), all).await?)
    }

    /// Whether the scheduler was silent for longer than it may be, or has never looked.
    #[must_use]
    pub fn is_silent(&self, last: Option<LastTick>) -> bool {
        let most = self.settings.scheduler_silence;
        let silent = |last: LastTick| last.silent_secs(self.clock.now()).unsigned_abs() > most.as_secs();
        !most.is_zero() && last.is_none_or(silent)
    }

    /// Begins a change in the caller's name.
    ///
    /// # Errors
    /// 503 when the database is away.
    pub async fn begin(&self, caller: &Caller) -> Result<WriteTx> {
        Ok(self.store.begin(self.context(caller)).await?)
    }

    /// What a change in the caller's name has in common, at this moment.
    #[must_use]
    pub fn context(&self, caller: &Caller) -> WriteContext {
        let actor = match &caller.kind {
            AuthKind::Session { .. } => Actor::user(caller.actor.id, &caller.username),
            AuthKind::Workload { subject, .. } => {
                Actor::user(caller.actor.id, &format!("{} ({subject})", caller.username))
            }
            AuthKind::Token { id, name, .. } => Actor::token(*id, &format!("{} ({name})", caller.username)),
        };
        WriteContext { actor, request_id: Some(caller.request_id.clone()), now: self.clock.now() }
    }
}

fn subject(resource: &Resource) -> (&'static str, Option<Uuid>, Option<reeve_core::id::TeamId>) {
    match resource {
        Resource::Installation => ("installation", None, None),
        Resource::Account(user) => ("user", Some(user.0), None),
        Resource::Team(team) => ("team", Some(team.0), Some(*team)),
        Resource::Quota { team, .. } => ("quota", Some(team.0), Some(*team)),
        Resource::Job { team, .. } => ("job", None, Some(*team)),
        Resource::Escalation { team, .. } => ("escalation", None, Some(*team)),
    }
}
