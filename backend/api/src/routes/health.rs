//! For machines that watch: is the process alive, can it serve. What fails is named, and nothing else is told: these
//! answers need no credential.

use crate::app::AppState;
use crate::problem::{Code, Problem, Result};
use axum::Json;
use axum::extract::State;
use reeve_store::{StoreError, beat, migrate};
use serde::Serialize;

/// The process answers.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// One thing that must be in order to serve.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    /// `server`, `database`, `migrations`, `scheduler`.
    name: &'static str,
    ok: bool,
    /// What is wrong, in a sentence; empty when nothing is.
    detail: String,
    #[serde(skip)]
    code: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Ready {
    status: &'static str,
    checks: Vec<Check>,
}

impl Check {
    const fn passed(name: &'static str) -> Self {
        Self { name, ok: true, detail: String::new(), code: "" }
    }

    fn failed(name: &'static str, code: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: false, detail: detail.into(), code }
    }
}

/// 200 with every check, or 503 with those that fail.
pub(crate) async fn readyz(State(app): State<AppState>) -> Result<Json<Ready>> {
    let checks = checks(&app).await;
    let failing: Vec<&Check> = checks.iter().filter(|check| !check.ok).collect();
    if failing.is_empty() {
        return Ok(Json(Ready { status: "ready", checks }));
    }
    let names: Vec<&str> = failing.iter().map(|check| check.name).collect();
    let details: Vec<&str> = failing.iter().map(|check| check.detail.as_str()).collect();
    let problem = Problem::new(Code::NotReady).detail(details.join("; ")).param("failing", names);
    Err(failing
        .into_iter()
        .fold(problem, |problem, check| problem.error(check.name, check.code, &check.detail)))
}

async fn checks(app: &AppState) -> Vec<Check> {
    if app.shutdown.is_cancelled() {
        return vec![Check::failed("server", "shutting_down", "the server is shutting down")];
    }
    let unreachable = || Check::failed("database", "unreachable", "the database does not answer");
    if app.store.ping().await.is_err() {
        return vec![unreachable()];
    }
    let migrations = match migrate::check_schema(&app.store).await {
        Ok(()) => Check::passed("migrations"),
        Err(StoreError::Schema(difference)) => Check::failed("migrations", "schema_mismatch", difference),
        Err(_) => return vec![unreachable()],
    };
    // Another schema may not even have the table in which the scheduler says that it works.
    if !migrations.ok {
        return vec![Check::passed("database"), migrations];
    }
    match scheduler(app).await {
        Ok(scheduler) => vec![Check::passed("database"), migrations, scheduler],
        Err(_) => vec![unreachable()],
    }
}

async fn scheduler(app: &AppState) -> Result<Check, StoreError> {
    let last = beat::last_tick(&app.store).await?;
    if !app.is_silent(last) {
        return Ok(Check::passed("scheduler"));
    }
    Ok(Check::failed(
        "scheduler",
        "silent",
        match last {
            Some(last) => format!("no scheduling tick for {} s", last.silent_secs(app.clock.now())),
            None => "there was no scheduling tick yet".to_owned(),
        },
    ))
}
