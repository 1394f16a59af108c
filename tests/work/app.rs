//! A server in memory on a database of its own, spoken to as a client would.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_api::{AppState, Settings, bootstrap, router};
use reeve_core::clock::MockClock;
use reeve_store::{ConnectOptions, Store, migrate};
use reeve_worker::schedule::Scheduler;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;
use uuid::Uuid;

const PASSWORD: &str = "a long password";

/// The server, its clock and its database, which is dropped at the end.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) store: Store,
    pub(crate) clock: MockClock,
    pub(crate) admin: String,
    /// Keeps what it knows from one tick to the next, as a server's does.
    scheduler: tokio::sync::Mutex<Scheduler>,
    server: String,
    database: String,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The body, if the status is the expected one.
    pub(crate) fn ok(self, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        assert_eq!(self.status.as_u16(), status, "{text}");
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// A problem with this status and code; its `detail` says something.
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let kind = self.headers.get("content-type").map(|kind| kind.to_str().expect("ascii").to_owned());
        let body = self.ok(status);
        assert_eq!(kind.as_deref(), Some("application/problem+json"), "{body}");
        assert_eq!(body["code"], code, "{body}");
        assert!(body["detail"].as_str().is_some_and(|detail| detail.len() > 5), "{body}");
        body
    }

    /// The pointers and codes of a 422.
    pub(crate) fn faults(self, code: &str) -> Vec<(String, String)> {
        let body = self.problem(422, code);
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        body["errors"]
            .as_array()
            .expect("errors")
            .iter()
            .map(|error| (text(&error["pointer"]), text(&error["code"])))
            .collect()
    }

    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().expect("ascii").to_owned()
    }
}

impl App {
    #[expect(
        clippy::disallowed_methods,
        reason = "where the test server is, the runner says by its environment"
    )]
    pub(crate) async fn new() -> Self {
        let server = std::env::var("REEVE_TEST_DATABASE_URL")
            .expect("REEVE_TEST_DATABASE_URL names a PostgreSQL server: run `make test`, or set it");
        let database = format!("reeve_work_{}", Uuid::from_u128(rand::random()).simple());
        sql(&server, &format!("create database {database}")).await;
        let (base, _) = server.rsplit_once('/').expect("a URL with a database");
        let mut options = ConnectOptions::new(&format!("{base}/{database}"));
        options.max_connections = 4;
        let store = Store::connect(&options).await.expect("connects");
        migrate::migrate(&store).await.expect("migrates");
        let now: DateTime<Utc> = "2026-03-02T08:00:00Z".parse().expect("a time");
        let clock = MockClock::at(now);
        bootstrap::create_first_admin(&store, "root", PASSWORD, now).await.expect("an administrator");
        let state = AppState::new(store.clone(), Arc::new(clock.clone()), Settings::default());
        let scheduler = tokio::sync::Mutex::new(Scheduler::new(&store));
        let router = router(state);
        let mut app = Self { router, store, clock, admin: String::new(), scheduler, server, database };
        app.admin = app.sign_in("root").await;
        app
    }

    pub(crate) async fn sign_in(&self, username: &str) -> String {
        let body = json!({"username": username, "password": PASSWORD});
        let reply = self.post("", "/api/v1/auth/sign-in", body).await.ok(200);
        reply["access_token"].as_str().expect("a token").to_owned()
    }

    /// Makes a user with a role in a team and signs them in.
    pub(crate) async fn user(&self, username: &str, team: &str, role: &str) -> String {
        let body = json!({"username": username, "display_name": username, "password": PASSWORD});
        self.post(&self.admin, "/api/v1/users", body).await.ok(201);
        let path = format!("/api/v1/teams/{team}/members/{username}/{role}");
        self.send(Method::PUT, &self.admin, &path, &[], Body::empty()).await.ok(204);
        self.sign_in(username).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        token: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).expect("a request");
        let response = self.router.clone().oneshot(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 256 << 20).await.expect("a body").to_vec();
        Reply { status: parts.status, headers: parts.headers, bytes }
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Reply {
        self.send(Method::GET, token, path, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Reply {
        self.with(Method::POST, token, path, &[], body).await
    }

    pub(crate) async fn with(
        &self,
        method: Method,
        token: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Reply {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.send(method, token, path, &all, Body::from(body.to_string())).await
    }

    /// One step of the scheduler, a second later.
    pub(crate) async fn tick(&self) {
        self.clock.advance(TimeDelta::seconds(1));
        let now = reeve_core::clock::Clock::now(&self.clock);
        let mut scheduler = self.scheduler.lock().await;
        scheduler.want_numbers();
        scheduler.step(now).await.expect("a tick");
    }

    /// A pool `a100`, teams `red` and `blue` below `org`, each guaranteed 4 of it, with a queue each.
    pub(crate) async fn teams(&self) {
        let admin = &self.admin;
        self.post(admin, "/api/v1/pools", json!({"slug": "a100", "name": "A100"})).await.ok(201);
        self.post(admin, "/api/v1/teams", json!({"slug": "org", "name": "Org"})).await.ok(201);
        self.quota("org", 8).await.ok(201);
        for team in ["red", "blue"] {
            let body = json!({"slug": team, "name": team, "parent": "org"});
            self.post(admin, "/api/v1/teams", body).await.ok(201);
            self.quota(team, 4).await.ok(201);
            let body = json!({"slug": format!("{team}-q"), "name": "Main", "team": team});
            self.post(admin, "/api/v1/queues", body).await.ok(201);
        }
    }

    /// Creates a quota in pool `a100`.
    pub(crate) async fn quota(&self, team: &str, gpus: i64) -> Reply {
        let path = format!("/api/v1/quotas/{team}/a100");
        let body = json!({"guaranteed_gpus": gpus});
        self.with(Method::PUT, &self.admin, &path, &[("if-none-match", "*")], body).await
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let (server, database) = (self.server.clone(), self.database.clone());
        let drop = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(sql(&server, &format!("drop database if exists {database} with (force)")));
        });
        let _ = drop.join();
    }
}

async fn sql(server: &str, statement: &str) {
    use sqlx::{AssertSqlSafe, Connection, Executor};
    let mut connection = sqlx::PgConnection::connect(server).await.expect("the test server answers");
    connection.execute(AssertSqlSafe(statement.to_owned())).await.expect("a statement");
}
