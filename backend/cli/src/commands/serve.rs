//! `reeve serve`: the REST API, the console and the loops, in one process.
//!
//! It refuses to start on a database of another version, and keeps nothing that it could not lose: TERM ends it as
//! soon as running requests and steps are done.

use crate::config::Settings;
use anyhow::Context;
use chrono::TimeDelta;
use clap::Args;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use reeve_api::bootstrap::create_first_admin;
use reeve_api::{AppState, serve};
use reeve_core::clock::{SharedClock, SystemClock};
use reeve_store::audit::key::AuditKey;
use reeve_store::{ConnectOptions, Store, migrate, rights};
use reeve_worker::run::{Rhythm, Tools};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Running requests get this long to finish.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on (default: server.listen, else 127.0.0.1:8080)
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Leave the schema as it is; start only if it is this version's
    #[arg(long)]
    no_migrate: bool,
}

pub(crate) async fn run(settings: &Settings, args: ServeArgs) -> anyhow::Result<()> {
    let address = args.listen.unwrap_or(settings.server.listen);
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}: choose another with --listen, or stop what uses it")
    })?;
    let store = connect(settings, !args.no_migrate).await?;
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone())?;
    tracing::info!(settings = %settings.redacted(), "starting");
    let outcome = run_server(store.clone(), settings, listener, cancel).await;
    store.close().await;
    outcome
}

/// Connects, and brings the schema up to date or checks it.
pub(crate) async fn connect(settings: &Settings, migrate: bool) -> anyhow::Result<Store> {
    let mut options = ConnectOptions::new(settings.database_url()?);
    options.max_connections = settings.database.max_connections;
    let store = Store::connect(&options).await.context("cannot connect to PostgreSQL (database.url)")?;
    match (&settings.database.owner_url, migrate) {
        (_, false) => migrate::check_schema(&store).await?,
        (None, true) => migrate::migrate(&store).await.context("migrating the schema")?,
        (Some(owner_url), true) => {
            let role = rights::current_role(&store).await?;
            migrate_as_owner(owner_url, &role).await?;
        }
    }
    if !rights::append_only(&store).await? {
        tracing::warn!(
            "the server's role in PostgreSQL could change the audit log: give it a role of its own (database.owner_url)"
        );
    }
    Ok(store)
}

/// Migrates as the schema's owner, and grants the server's role what it needs.
pub(crate) async fn migrate_as_owner(owner_url: &str, role: &str) -> anyhow::Result<()> {
    let options = ConnectOptions { max_connections: 2, ..ConnectOptions::new(owner_url) };
    let owner =
        Store::connect(&options).await.context("cannot connect to PostgreSQL (database.owner_url)")?;
    let done = match migrate::migrate(&owner).await.context("migrating the schema") {
        Ok(()) => rights::grant_service(&owner, role)
            .await
            .with_context(|| format!("granting {role} what the server needs")),
        failed => failed,
    };
    owner.close().await;
    done
}

/// The key that signs checkpoints. One that was asked for must be there or be made; at the usual place it may be missing.
fn audit_key_file(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let path = settings.audit.key_file();
    match AuditKey::load_or_make(path) {
        Ok((key, made)) => {
            let what = if made { "made" } else { "read" };
            tracing::info!(key_id = key.public().id(), path = %path.display(), "{what} the key that signs checkpoints");
            Ok(Some(path.to_owned()))
        }
        Err(error) if settings.audit.key_file.is_some() => Err(error).context("audit.key_file"),
        Err(error) => {
            tracing::warn!(%error, "checkpoints of the audit log are not signed: set audit.key_file");
            Ok(None)
        }
    }
}

/// Serves on `listener` until `cancel`.
pub(crate) async fn run_server(
    store: Store,
    settings: &Settings,
    listener: TcpListener,
    cancel: CancellationToken,
) -> anyhow::Result<()> {
    let clock: SharedClock = Arc::new(SystemClock);
    let tools = Tools { audit_key_file: audit_key_file(settings)? };
    if let Some(password) = &settings.server.admin_password
        && create_first_admin(&store, "admin", password, clock.now()).await?
    {
        tracing::info!("made the first administrator: admin");
    }
    let mut state = AppState::new(store.clone(), Arc::clone(&clock), settings.api()?);
    let outbound = settings.outbound()?;
    state.metrics = recorder();
    let address = listener.local_addr()?;
    eprintln!("reeve {} listens on http://{address}", env!("CARGO_PKG_VERSION"));
    let lease_margin = TimeDelta::seconds(settings.agents.lease_margin_secs.into());
    let rhythm = Rhythm { lease_margin, ..Rhythm::default() };
    let loops = tokio::spawn(reeve_worker::run_all(store, clock, rhythm, outbound, tools, cancel.clone()));
    let serving = serve(state, listener, cancel.clone());
    tokio::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        () = cancel.cancelled() => match tokio::time::timeout(LAST_REQUESTS, &mut serving).await {
            Ok(outcome) => outcome,
            // A client that does not finish must not keep the server.
            Err(_) => Ok(()),
        },
    };
    cancel.cancel();
    loops.await?;
    Ok(outcome?)
}

/// The process's recorder; a second server in one process has none of its own.
fn recorder() -> Option<PrometheusHandle> {
    const WAITS: [f64; 12] =
        [0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0, 1_800.0, 3_600.0, 14_400.0, 86_400.0, 604_800.0];
    const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("seconds".to_owned()), &SECONDS)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Full("reeve_job_wait_seconds".to_owned()), &WAITS)
        })
        .and_then(PrometheusBuilder::install_recorder)
        .ok()
}

fn stop_on_signal(cancel: CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        tracing::info!("stopping");
        cancel.cancel();
    });
    Ok(())
}
