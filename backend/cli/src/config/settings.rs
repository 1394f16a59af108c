//! The settings, a struct a section. It refuses unknown keys: a misspelt one would silently do nothing.

use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) database: Database,
    pub(crate) client: ClientSettings,
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
