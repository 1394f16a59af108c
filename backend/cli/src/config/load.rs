//! Reads the settings. It refuses a file that does not exist, and values out of their range.

use super::Settings;
use anyhow::{Context, ensure};
use config::{Config, File, FileFormat};
use std::env;
use std::path::{Path, PathBuf};

const DEFAULT_FILE: &str = "/etc/reeve/reeve.toml";

/// What flags and environment say, already in this order.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) file: Option<PathBuf>,
    pub(crate) server: Option<String>,
    pub(crate) database_url: Option<String>,
    pub(crate) database_owner_url: Option<String>,
    pub(crate) audit_key_file: Option<PathBuf>,
    pub(crate) requests_per_second: Option<u32>,
}

/// # Errors
/// Naming the key.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub(crate) fn load(overrides: &Overrides) -> anyhow::Result<Settings> {
    let mut settings = read(overrides)?;
    settings.client.token = env::var("REEVE_TOKEN").ok().filter(|token| !token.is_empty());
    settings.server.admin_password = env::var("REEVE_ADMIN_PASSWORD").ok().filter(|text| !text.is_empty());
    if let Some(url) = env::var("REEVE_SMTP_URL").ok().filter(|text| !text.is_empty()) {
        settings.mail.smtp_url = Some(url);
    }
    settings.client.folder = folder(env::var_os("XDG_CONFIG_HOME"), env::var_os("HOME"));
    settings.audit.default_file = settings.client.folder.join("audit.key");
    Ok(settings)
}

fn read(overrides: &Overrides) -> anyhow::Result<Settings> {
    let mut builder = Config::builder();
    // A file that was named must exist; the usual one need not.
    let (path, required) = match &overrides.file {
        Some(path) => (path.as_path(), true),
        None => (Path::new(DEFAULT_FILE), false),
    };
    builder = builder.add_source(File::from(path).format(FileFormat::Toml).required(required));
    builder = builder.set_override_option("client.server", overrides.server.clone())?;
    builder = builder.set_override_option("database.url", overrides.database_url.clone())?;
    builder = builder.set_override_option("database.owner_url", overrides.database_owner_url.clone())?;
    let key_file = overrides.audit_key_file.as_ref().map(|path| path.to_string_lossy().into_owned());
    builder = builder.set_override_option("audit.key_file", key_file)?;
    builder = builder.set_override_option("server.requests_per_second", overrides.requests_per_second)?;
    builder = builder.set_override_option("server.request_burst", overrides.requests_per_second)?;
    let settings: Settings = builder.build()?.try_deserialize().context("the settings are wrong")?;
    check(&settings)?;
    Ok(settings)
}

fn check(settings: &Settings) -> anyhow::Result<()> {
    if let Some(server) = &settings.client.server {
        let url = server.strip_prefix("http://").or_else(|| server.strip_prefix("https://"));
        ensure!(url.is_some_and(|rest| !rest.is_empty()), "client.server: {server:?} is no http(s) URL");
    }
    for (key, url) in [("url", &settings.database.url), ("owner_url", &settings.database.owner_url)] {
        let known = |url: &String| url.starts_with("postgres://") || url.starts_with("postgresql://");
        ensure!(url.as_ref().is_none_or(known), "database.{key}: must begin with postgres://");
    }
    let server = &settings.server;
    ensure!(server.requests_per_second > 0, "server.requests_per_second: must be at least 1");
    ensure!(server.request_burst > 0, "server.request_burst: must be at least 1");
    settings.api()?;
    let connections = settings.database.max_connections;
    ensure!((2..=1000).contains(&connections), "database.max_connections: {connections} is not in 2..=1000");
    Ok(())
}

fn folder(config_home: Option<std::ffi::OsString>, home: Option<std::ffi::OsString>) -> PathBuf {
    config_home
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| home.map(|home| PathBuf::from(home).join(".config")))
        .unwrap_or_else(|| PathBuf::from("/etc"))
        .join("reeve")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_file(text: &str, server: Option<&str>) -> Result<Settings, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("reeve.toml");
        std::fs::write(&file, text).expect("written");
        let overrides =
            Overrides { file: Some(file), server: server.map(str::to_owned), ..Overrides::default() };
        read(&overrides).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn flags_win_over_the_file() {
        let text = "[client]\nserver = \"http://file\"\n[database]\nmax_connections = 7\n";
        let settings = from_file(text, Some("http://flag")).expect("good");
        assert_eq!(settings.client.server.as_deref(), Some("http://flag"));
        assert_eq!(settings.database.max_connections, 7);
        assert_eq!(from_file(text, None).expect("good").client.server.as_deref(), Some("http://file"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("[database]\nmax_conections = 7\n", "max_conections"),
            ("[database]\nmax_connections = 1\n", "database.max_connections"),
            ("[database]\nmax_connections = \"many\"\n", "max_connections"),
            ("[client]\nserver = \"ftp://x\"\n", "client.server"),
            ("[database]\nurl = \"mysql://x\"\n", "database.url"),
            ("[serverr]\n", "serverr"),
            ("[notify]\nallowed_networks = [\"10.0.0.0\"]\n", "notify.allowed_networks"),
            ("[agents]\nlease_secs = 2\n", "agents.lease_secs"),
            ("[agents]\nlease_margin_secs = 5\n", "agents.lease_margin_secs"),
            ("[agents]\nlease_secs = 12\nheartbeat_secs = 5\n", "agents.heartbeat_secs"),
            ("[server]\ntrusted_proxies = [\"all\"]\n", "server.trusted_proxies"),
        ];
        for (text, named) in cases {
            let said = from_file(text, None).expect_err(text);
            assert!(said.contains(named), "{text}: {said}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = from_file("[database]\nurl = \"postgres://u:hush@h/d\"\n", None).expect("good");
        assert!(!settings.redacted().to_string().contains("hush"));
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
