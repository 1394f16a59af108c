//! The settings, a struct a section. It refuses unknown keys: a misspelt one would silently do nothing.

use anyhow::{Context, ensure};
use reeve_api::Leases;
use reeve_core::address::{Network, Reachable};
use reeve_worker::notify::{Mail, Outbound};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A scheduler that was silent for longer makes the server not ready.
const SCHEDULER_SILENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) database: Database,
    pub(crate) server: ServerSettings,
    pub(crate) client: ClientSettings,
    pub(crate) notify: NotifySettings,
    pub(crate) mail: MailSettings,
    pub(crate) audit: AuditSettings,
    pub(crate) agents: AgentSettings,
}

/// `[agents]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentSettings {
    /// An agent that cannot reach the server for this long stops its jobs.
    pub(crate) lease_secs: u32,
    /// Beyond the lease, before the GPUs are given to others: the agent needs it to TERM and KILL.
    pub(crate) lease_margin_secs: u32,
    /// Between two reports when nothing changes.
    pub(crate) heartbeat_secs: u32,
}

impl Default for AgentSettings {
    fn default() -> Self {
        let Leases { lease_secs, margin_secs, heartbeat_secs } = Leases::default();
        Self { lease_secs, lease_margin_secs: margin_secs, heartbeat_secs }
    }
}

impl AgentSettings {
    fn leases(&self) -> anyhow::Result<Leases> {
        let (lease_secs, margin_secs) = (self.lease_secs, self.lease_margin_secs);
        ensure!((3..=86_400).contains(&lease_secs), "agents.lease_secs: {lease_secs} is not in 3..=86400");
        ensure!(
            (6..=3_600).contains(&margin_secs),
            "agents.lease_margin_secs: {margin_secs} is not in 6..=3600: a job that ignores TERM needs time to be killed"
        );
        let most = lease_secs / 3;
        ensure!(
            (1..=most).contains(&self.heartbeat_secs),
            "agents.heartbeat_secs: {} is not in 1..={most}: a lease must outlive a lost report",
            self.heartbeat_secs
        );
        Ok(Leases { lease_secs, margin_secs, heartbeat_secs: self.heartbeat_secs })
    }
}

/// `[audit]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AuditSettings {
    /// The key that signs checkpoints; made at the first start.
    pub(crate) key_file: Option<PathBuf>,
    /// Where it lies unless said otherwise.
    #[serde(skip)]
    pub(crate) default_file: PathBuf,
}

impl AuditSettings {
    pub(crate) fn key_file(&self) -> &Path {
        self.key_file.as_deref().unwrap_or(&self.default_file)
    }
}

/// `[server]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    /// The console's own address behind a proxy, for example `https://reeve.example`.
    pub(crate) public_origin: Option<String>,
    /// Networks of proxies whose `X-Forwarded-For` is believed, for example `10.0.0.0/8`.
    pub(crate) trusted_proxies: Vec<String>,
    /// Requests a second and at once, for each token or session.
    pub(crate) requests_per_second: u32,
    pub(crate) request_burst: u32,
    /// Only from REEVE_ADMIN_PASSWORD: makes the first administrator while nobody exists.
    #[serde(skip)]
    pub(crate) admin_password: Option<String>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            public_origin: None,
            trusted_proxies: Vec::new(),
            requests_per_second: 500,
            request_burst: 2_000,
            admin_password: None,
        }
    }
}

impl std::fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSettings").field("listen", &self.listen).finish_non_exhaustive()
    }
}

impl ServerSettings {
    /// What the API needs to know of them.
    fn api(&self) -> anyhow::Result<reeve_api::Settings> {
        Ok(reeve_api::Settings {
            requests_per_second: self.requests_per_second,
            request_burst: self.request_burst,
            public_origin: self.public_origin.clone(),
            trusted_proxies: networks("server.trusted_proxies", &self.trusted_proxies)?,
            scheduler_silence: SCHEDULER_SILENCE,
            ..reeve_api::Settings::default()
        })
    }
}

fn networks(key: &str, texts: &[String]) -> anyhow::Result<Vec<Network>> {
    texts.iter().map(|text| text.parse().with_context(|| key.to_owned())).collect()
}

/// `[notify]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NotifySettings {
    /// Private or loopback networks that webhooks may reach, for example `10.1.0.0/16`. Public addresses always may;
    /// link-local ones, where clouds keep credentials, never.
    pub(crate) allowed_networks: Vec<String>,
}

/// `[mail]`
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MailSettings {
    /// The sender, for example `Reeve <reeve@example.com>`. Without one no mail is sent.
    pub(crate) from: Option<String>,
    /// `smtp://host:25`, `smtp://host:587?tls=required` or `smtps://host`; one with a password comes from REEVE_SMTP_URL.
    pub(crate) smtp_url: Option<String>,
}

impl std::fmt::Debug for MailSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailSettings").field("from", &self.from).finish_non_exhaustive()
    }
}

/// `[database]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Database {
    /// `postgres://user:password@host:port/database`
    pub(crate) url: Option<String>,
    /// The same as the schema's owner: migrates and grants. Then `url` names another role, which can change no event.
    pub(crate) owner_url: Option<String>,
    pub(crate) max_connections: u32,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, owner_url: None, max_connections: 24 }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("max_connections", &self.max_connections).finish_non_exhaustive()
    }
}

/// `[client]`
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClientSettings {
    pub(crate) server: Option<String>,
    /// Only from REEVE_TOKEN: a settings file is read by many.
    #[serde(skip)]
    pub(crate) token: Option<String>,
    /// Where `reeve login` keeps its token.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
}

impl std::fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSettings").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Settings {
    /// What the API needs to know.
    ///
    /// # Errors
    /// Naming the key.
    pub(crate) fn api(&self) -> anyhow::Result<reeve_api::Settings> {
        let mail = self.mail.from.is_some() && self.mail.smtp_url.is_some();
        let (reachable, leases) = (self.reachable()?, self.agents.leases()?);
        Ok(reeve_api::Settings { reachable, mail, leases, ..self.server.api()? })
    }

    fn reachable(&self) -> anyhow::Result<Reachable> {
        Ok(Reachable { networks: networks("notify.allowed_networks", &self.notify.allowed_networks)? })
    }

    /// The way out for messages.
    ///
    /// # Errors
    /// Naming the key.
    pub(crate) fn outbound(&self) -> anyhow::Result<Outbound> {
        let mut outbound = Outbound::new(self.reachable()?)?;
        outbound.public_url.clone_from(&self.server.public_origin);
        outbound.mail = match (&self.mail.smtp_url, &self.mail.from) {
            (Some(url), Some(from)) => Some(Mail::new(url, from)?),
            (None, None) => None,
            (Some(_), None) => anyhow::bail!("mail.from is not set: who sends mail?"),
            (None, Some(_)) => anyhow::bail!("mail.smtp_url is not set: give it, or REEVE_SMTP_URL"),
        };
        Ok(outbound)
    }

    /// Everything that is no secret.
    pub(crate) fn redacted(&self) -> Value {
        let hidden = |present: bool| if present { json!("(set)") } else { Value::Null };
        json!({
            "database": {"url": hidden(self.database.url.is_some()), "owner_url": hidden(self.database.owner_url.is_some()),
                         "max_connections": self.database.max_connections},
            "audit": {"key_file": self.audit.key_file()},
            "server": {
                "listen": self.server.listen, "public_origin": self.server.public_origin,
                "requests_per_second": self.server.requests_per_second, "request_burst": self.server.request_burst,
                "trusted_proxies": self.server.trusted_proxies,
                "admin_password": hidden(self.server.admin_password.is_some()),
            },
            "agents": {
                "lease_secs": self.agents.lease_secs, "lease_margin_secs": self.agents.lease_margin_secs,
                "heartbeat_secs": self.agents.heartbeat_secs,
            },
            "notify": {"allowed_networks": self.notify.allowed_networks},
            "mail": {"from": self.mail.from, "smtp_url": hidden(self.mail.smtp_url.is_some())},
            "client": {"server": self.client.server, "token": hidden(self.client.token.is_some())},
        })
    }

    /// # Errors
    /// When it is not set.
    pub(crate) fn database_url(&self) -> anyhow::Result<&str> {
        self.database.url.as_deref().ok_or_else(|| {
            anyhow::anyhow!(
                "database.url is not set: give --database-url, REEVE_DATABASE_URL or the settings file"
            )
        })
    }
}
