//! Submits the workload, round after round, each job in its user's name.
//!
//! It refuses to pile up work: a team that has enough waiting submits nothing more.

use super::folder::{Folder, write_private};
use super::logins::{Login, PEOPLE, password_of};
use super::seed::POOL;
use super::workload::{self, LABEL, Workload};
use crate::client::{Call, Client, ClientError};
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use tokio::time::Instant;

/// GPUs that a team may have waiting before the demo submits no more for it.
const ENOUGH_WAITING_GPUS: f64 = 24.0;
const LIVE: [&str; 4] = ["queued", "starting", "running", "leaving"];
/// How long cancelled jobs may take to be gone.
const PATIENCE: Duration = Duration::from_secs(25);

/// Signs in by the token that a former start kept, else by password; the token is kept.
pub(super) async fn sign_in(
    folder: &Folder,
    server: &str,
    logins: &[Login],
    username: &str,
) -> anyhow::Result<Client> {
    let path = folder.join(&format!("token-{username}"));
    let anonymous = Client::anonymous(Some(server))?;
    if let Ok(kept) = fs::read_to_string(&path) {
        let client = anonymous.clone().with_token(kept.trim());
        if client.send(Call::get("/me")).await.is_ok() {
            return Ok(client);
        }
    }
    let body = json!({"username": username, "password": password_of(logins, username)?});
    let session = anonymous.send(Call::post("/auth/sign-in", body)).await;
    let session =
        session.with_context(|| format!("signing {username} in with the password of logins.txt"))?;
    let session = anonymous.clone().with_token(session["access_token"].as_str().context("no access token")?);
    let scopes: &[&str] = if username == "admin" { &["read", "write", "admin"] } else { &["read", "write"] };
    let token = session.send(Call::post("/tokens", json!({"name": "reeve demo", "scopes": scopes}))).await?;
    let token = token["token"].as_str().context("no token")?;
    write_private(&path, token)?;
    Ok(anonymous.with_token(token))
}

/// Everybody who submits.
pub(super) async fn sign_all_in(
    folder: &Folder,
    server: &str,
    logins: &[Login],
) -> anyhow::Result<BTreeMap<&'static str, Client>> {
    let mut clients = BTreeMap::new();
    for person in PEOPLE.iter().filter(|person| person.role.is_some_and(|(_, role)| role != "viewer")) {
        clients.insert(person.username, sign_in(folder, server, logins, person.username).await?);
    }
    Ok(clients)
}

/// Submits for as long as the demo runs. A job that the server refuses is said, and left out: somebody may have
/// closed a queue or deleted a team in the console.
pub(super) async fn run(
    workload: &Workload,
    clients: &BTreeMap<&'static str, Client>,
    begin: Instant,
) -> anyhow::Result<()> {
    for round in 0.. {
        for row in &workload.rows {
            tokio::time::sleep_until(begin + workload.due(round, row)).await;
            let client =
                clients.get(row.user.as_str()).context("a user of the workload that nobody signed in")?;
            match submit(client, row, round).await {
                Ok(()) => {}
                Err(ClientError::Refused(problem)) => eprintln!("reeve demo: a job was refused: {problem}"),
                Err(error) => eprintln!("reeve demo: a job was not submitted: {error}"),
            }
        }
    }
    Ok(())
}

async fn submit(client: &Client, row: &workload::Row, round: u32) -> Result<(), ClientError> {
    let quotas =
        client.send(Call::get("/quotas").query("pool", Some(POOL)).query("team", Some(&row.team))).await?;
    if waiting_gpus(&quotas, &row.team) < ENOUGH_WAITING_GPUS {
        client.send(Call::post("/jobs", workload::job(row, round))).await?;
    }
    Ok(())
}

fn waiting_gpus(quotas: &Value, team: &str) -> f64 {
    let mut items = quotas["items"].as_array().into_iter().flatten();
    let own = items.find(|quota| quota["team"]["slug"] == team);
    own.and_then(|quota| quota["use"]["pending_gpus"].as_f64()).unwrap_or(0.0)
}

/// Cancels the demo's own jobs and waits until they are gone, so that the next start begins afresh.
pub(super) async fn cancel_all(admin: &Client) -> anyhow::Result<()> {
    for id in live_jobs(admin).await? {
        let call = Call::post(format!("/jobs/{id}/cancel"), json!({"reason": "the demo ends"}));
        match admin.send(call).await {
            // It ended in this moment.
            Ok(_) | Err(ClientError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline && !live_jobs(admin).await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

async fn live_jobs(admin: &Client) -> Result<Vec<String>, ClientError> {
    let call = LIVE.iter().fold(Call::get("/jobs"), |call, state| call.query("state", Some(state)));
    let jobs = admin.all(call, 10_000).await?;
    let own = jobs.iter().filter(|job| job["labels"][LABEL] == "workload");
    Ok(own.filter_map(|job| job["id"].as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_team_s_own_waiting_counts() {
        let quotas = json!({"items": [
            {"team": {"slug": "research"}, "use": {"pending_gpus": 40.0}},
            {"team": {"slug": "vision"}, "use": {"pending_gpus": 3.0}},
        ]});
        assert!((waiting_gpus(&quotas, "vision") - 3.0).abs() < f64::EPSILON);
        assert!(waiting_gpus(&quotas, "speech") < f64::EPSILON);
    }
}
