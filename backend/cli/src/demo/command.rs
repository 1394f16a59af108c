//! The command: starts everything in order, waits, and stops everything in the opposite order.

use super::child::Child;
use super::folder::{Folder, write_private};
use super::workload::Workload;
use super::{agents, drive, logins, seed, watch};
use crate::client::{Call, Client};
use crate::commands::serve;
use crate::config::{ServerSettings, Settings};
use anyhow::Context;
use clap::Args;
use reeve_store::private_postgres::{Durability, PrivatePostgres};
use reeve_store::{ConnectOptions, Store, rights};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const SEEDED: &str = "seeded";
/// Whom the demo's server works as in PostgreSQL, as a real installation's should: a role that can change no event.
const SERVICE: &str = "reeve_service";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where everything is kept: the next start goes on from there
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// The console's and the API's port on 127.0.0.1; 0 = any free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Stop by itself after so many seconds
    #[arg(long, value_name = "SECS")]
    duration: Option<u64>,
    /// Submit nothing: the pool stands idle, for trying things by hand
    #[arg(long)]
    no_workload: bool,
}

pub(crate) async fn run(settings: &Settings, args: DemoArgs) -> anyhow::Result<()> {
    let told = CancellationToken::new();
    stop_when_told(&told)?;
    let folder = Folder::take(&args.data)?;
    // Before PostgreSQL is made: a taken port is found at once.
    let listener = TcpListener::bind(("127.0.0.1", args.port)).await.with_context(|| {
        format!("port {} of 127.0.0.1 is taken: choose another with --port (0 = any free one)", args.port)
    })?;
    println!(
        "starting PostgreSQL, the server and three agents; their logs are in {}",
        folder.path().display()
    );
    let postgres = PrivatePostgres::start(&folder.postgres()?, Durability::Durable)?;
    let outcome = with_database(settings, &folder, &postgres, listener, &args, &told).await;
    println!("stopping PostgreSQL");
    postgres.stop()?;
    outcome
}

async fn with_database(
    settings: &Settings,
    folder: &Folder,
    postgres: &PrivatePostgres,
    listener: TcpListener,
    args: &DemoArgs,
    told: &CancellationToken,
) -> anyhow::Result<()> {
    let logins = logins::read_or_make(folder)?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut settings = settings.clone();
    let password = service_password(folder)?;
    settings.database.owner_url = Some(postgres.url());
    settings.database.url = Some(postgres.url_as(SERVICE, &password));
    settings.audit.key_file = Some(folder.join("audit.key"));
    make_service(&postgres.url(), &password).await?;
    settings.server = ServerSettings {
        admin_password: Some(logins::password_of(&logins, "admin")?.to_owned()),
        ..ServerSettings::default()
    };
    let store = serve::connect(&settings, true).await?;
    let cancel = CancellationToken::new();
    let server = {
        let (store, cancel) = (store.clone(), cancel.clone());
        tokio::spawn(async move { serve::run_server(store, &settings, listener, cancel).await })
    };
    let outcome = with_server(folder, &url, &logins, &server, args, told).await;
    println!("stopping the server");
    cancel.cancel();
    let served = server.await.context("the server")?;
    store.close().await;
    outcome.and(served)
}

fn service_password(folder: &Folder) -> anyhow::Result<String> {
    let path = folder.join("service-password");
    if let Ok(kept) = fs::read_to_string(&path) {
        return Ok(kept.trim().to_owned());
    }
    let password = uuid::Uuid::new_v4().simple().to_string();
    write_private(&path, &password)?;
    Ok(password)
}

async fn make_service(owner_url: &str, password: &str) -> anyhow::Result<()> {
    let owner =
        Store::connect(&ConnectOptions { max_connections: 1, ..ConnectOptions::new(owner_url) }).await?;
    let made = rights::ensure_role(&owner, SERVICE, password).await;
    owner.close().await;
    Ok(made?)
}

async fn with_server(
    folder: &Folder,
    url: &str,
    logins: &[logins::Login],
    server: &JoinHandle<anyhow::Result<()>>,
    args: &DemoArgs,
    told: &CancellationToken,
) -> anyhow::Result<()> {
    let admin = drive::sign_in(folder, url, logins, "admin").await?;
    if !folder.join(SEEDED).exists() || admin.send(Call::get(format!("/pools/{}", seed::POOL))).await.is_err()
    {
        seed::seed(&admin, logins).await?;
        fs::write(folder.join(SEEDED), "")?;
    }
    let mut agents = agents::start(folder, &admin).await?;
    let outcome = tokio::select! {
        outcome = live(folder, url, logins, &admin, &mut agents, args) => outcome,
        () = ended(args.duration, server) => Ok(()),
        () = told.cancelled() => Ok(()),
    };
    println!("stopping the demo's jobs");
    if let Err(error) = drive::cancel_all(&admin).await {
        eprintln!("reeve demo: not every job could be cancelled: {error:#}");
    }
    stop(agents).await;
    outcome
}

/// Greets, then submits and tells for as long as nobody says stop.
async fn live(
    folder: &Folder,
    url: &str,
    logins: &[logins::Login],
    admin: &Client,
    agents: &mut [Child],
    args: &DemoArgs,
) -> anyhow::Result<()> {
    agents::await_ready(admin, agents, folder).await?;
    println!("\nConsole   {url}\n{}", logins::table(logins));
    println!(
        "Logins are kept in {}. Ctrl-C stops the demo; the next start goes on from here.\n",
        folder.join("logins.txt").display()
    );
    let begin = Instant::now();
    tokio::select! {
        outcome = submit(folder, url, logins, begin, args) => outcome,
        () = watch::run(admin, begin) => Ok(()),
    }
}

/// The workload, over and over; nothing where none is wanted.
async fn submit(
    folder: &Folder,
    url: &str,
    logins: &[logins::Login],
    begin: Instant,
    args: &DemoArgs,
) -> anyhow::Result<()> {
    if args.no_workload {
        return std::future::pending().await;
    }
    let clients = drive::sign_all_in(folder, url, logins).await?;
    drive::run(&Workload::read()?, &clients, begin).await
}

/// Until the time is over or the server has ended by itself.
async fn ended(duration_secs: Option<u64>, server: &JoinHandle<anyhow::Result<()>>) {
    let deadline = duration_secs.map(|secs| Instant::now() + Duration::from_secs(secs));
    while !server.is_finished() && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn stop(agents: Vec<Child>) {
    println!("stopping the agents");
    agents.iter().for_each(Child::tell);
    for agent in agents {
        let name = agent.name().to_owned();
        if !agent.stop().await {
            eprintln!("reeve demo: the agent of {name} did not stop in time and was killed");
        }
    }
}

/// The first signal stops in order, the second at once: guards then clear up.
fn stop_when_told(told: &CancellationToken) -> anyhow::Result<()> {
    let mut int = signal(SignalKind::interrupt())?;
    let mut term = signal(SignalKind::terminate())?;
    let told = told.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = int.recv() => {}
                _ = term.recv() => {}
            }
            if told.is_cancelled() {
                std::process::exit(130);
            }
            eprintln!("\nreeve demo: stopping; once more to stop at once");
            told.cancel();
        }
    });
    Ok(())
}
