//! The settings, a struct a section. It refuses unknown keys: a misspelt one would silently do nothing.

use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A scheduler that was silent for longer makes the server not ready.
const SCHEDULER_SILENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) database: Database,
    pub(crate) server: ServerSettings,
    pub(crate) client: ClientSettings,
}

/// `[server]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    /// The console's own address behind a proxy, for example `https://reeve.example`.
    pub(crate) public_origin: Option<String>,
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
    pub(crate) fn api(&self) -> reeve_api::Settings {
        reeve_api::Settings {
            requests_per_second: self.requests_per_second,
            request_burst: self.request_burst,
            public_origin: self.public_origin.clone(),
            scheduler_silence: SCHEDULER_SILENCE,
            ..reeve_api::Settings::default()
        }
    }
}

/// `[database]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Database {
    /// `postgres://user:password@host:port/database`
    pub(crate) url: Option<String>,
    pub(crate) max_connections: u32,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, max_connections: 24 }
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
    /// Everything that is no secret.
    pub(crate) fn redacted(&self) -> Value {
        let hidden = |present: bool| if present { json!("(set)") } else { Value::Null };
        json!({
            "database": {"url": hidden(self.database.url.is_some()), "max_connections": self.database.max_connections},
            "server": {
                "listen": self.server.listen, "public_origin": self.server.public_origin,
                "requests_per_second": self.server.requests_per_second, "request_burst": self.server.request_burst,
                "admin_password": hidden(self.server.admin_password.is_some()),
            },
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
