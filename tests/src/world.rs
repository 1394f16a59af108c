//! The installation that every test begins with: made once through the API itself, then copied.
//!
//! Team `lab` with `team-a` and `team-b` below it, and `other` beside it; pool `h100` with one node of eight GPUs, of
//! which `lab` is guaranteed eight and `team-a` and `team-b` four each; a queue for each team; people of every role.

use crate::client::Client;
use reeve_api::{AppState, Settings};
use reeve_core::clock::{Clock, MockClock};
use reeve_store::{ConnectOptions, Store};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everybody's.
pub const PASSWORD: &str = "correct-horse-battery";
pub const POOL: &str = "h100";
pub const NODE: &str = "node-1";
pub const NODE_GPUS: u32 = 8;
/// The secrets' name of the node's credential.
pub const NODE_SECRET: &str = "node:node-1";
/// The instance under which the world's node has registered.
pub const NODE_INSTANCE: uuid::Uuid = uuid::Uuid::from_u128(0x1a);
/// Has no role anywhere.
pub const NOBODY: &str = "nobody";
pub const ADMIN: &str = "admin";

/// Username, platform roles, team and role in it.
pub type Person = (&'static str, &'static [&'static str], Option<(&'static str, &'static str)>);

/// Everybody but the administrator.
pub const PEOPLE: [Person; 12] = [
    ("finance", &["finance"], None),
    ("auditor", &["auditor"], None),
    ("lab-lead", &[], Some(("lab", "lead"))),
    ("a-lead", &[], Some(("team-a", "lead"))),
    ("a-member", &[], Some(("team-a", "member"))),
    ("a-second", &[], Some(("team-a", "member"))),
    ("a-viewer", &[], Some(("team-a", "viewer"))),
    ("a-approver", &[], Some(("team-a", "approver"))),
    ("b-lead", &[], Some(("team-b", "lead"))),
    ("b-member", &[], Some(("team-b", "member"))),
    ("other-member", &[], Some(("other", "member"))),
    (NOBODY, &[], None),
];

/// When the world was made.
///
/// # Panics
/// Never.
#[must_use]
pub fn beginning() -> chrono::DateTime<chrono::Utc> {
    "2026-03-02T09:00:00Z".parse().expect("a time")
}

/// Says which template holds this world: changed migrations or another world make a new one.
///
/// # Panics
/// When the migrations can't be read.
#[must_use]
pub fn stamp() -> String {
    use sha2::{Digest, Sha256};
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("migrations").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(std::fs::read(file).expect("a migration"));
    }
    hasher.update(include_str!("world.rs"));
    hex_of(&hasher.finalize()[..6])
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes the world in an empty database, and keeps everybody's API token in a table of the test's own.
///
/// # Panics
/// When anything is refused.
pub async fn make(url: &str) {
    let store = Store::connect(&ConnectOptions::new(url)).await.expect("connected");
    reeve_store::migrate::migrate(&store).await.expect("migrated");
    let clock = MockClock::at(beginning());
    let made = reeve_api::bootstrap::create_first_admin(&store, ADMIN, PASSWORD, clock.now()).await;
    assert!(made.expect("an administrator"), "the database was not empty");
    let state = AppState::new(store.clone(), Arc::new(clock), Settings::default());
    let nobody = Client { router: reeve_api::router(state), token: None };
    let mut secrets = BTreeMap::new();
    let admin = token_of(&nobody, ADMIN).await;
    secrets.insert(ADMIN.to_owned(), admin.token.clone().expect("a token"));
    make_teams(&admin).await;
    for (username, platform_roles, membership) in PEOPLE {
        let body = json!({"username": username, "display_name": username, "password": PASSWORD,
            "platform_roles": platform_roles});
        admin.post("/users", body).await.expect(201);
        if let Some((team, role)) = membership {
            admin.call("PUT", &format!("/teams/{team}/members/{username}/{role}")).await.expect(204);
        }
        secrets.insert(username.to_owned(), token_of(&nobody, username).await.token.expect("a token"));
    }
    secrets.insert(NODE_SECRET.to_owned(), join(&admin, &nobody).await);
    store.close().await;
    keep(url, &secrets).await;
}

async fn make_teams(admin: &Client) {
    for (slug, parent) in [("lab", None), ("team-a", Some("lab")), ("team-b", Some("lab")), ("other", None)] {
        let name = format!("Team {slug}");
        admin.post("/teams", json!({"slug": slug, "name": name, "parent": parent})).await.expect(201);
        admin
            .post("/queues", json!({"slug": format!("{slug}-q"), "name": name, "team": slug}))
            .await
            .expect(201);
    }
    admin.post("/pools", json!({"slug": POOL, "name": "H100 80 GB", "gpu_model": "H100"})).await.expect(201);
    for (team, guaranteed) in [("lab", 8), ("team-a", 4), ("team-b", 4), ("other", 0)] {
        let quota = json!({"guaranteed_gpus": guaranteed});
        let path = format!("/quotas/{team}/{POOL}");
        admin.put(&path, quota).header("if-none-match", "*").await.expect(201);
    }
}

async fn token_of(nobody: &Client, username: &str) -> Client {
    let body = json!({"username": username, "password": PASSWORD});
    let signed_in = nobody.post("/auth/sign-in", body).await.ok();
    let token = signed_in["access_token"].as_str().expect("an access token").to_owned();
    let session = Client { router: nobody.router.clone(), token: Some(token) };
    let created =
        session.post("/tokens", json!({"name": "test", "scopes": ["read", "write", "admin"]})).await;
    let token = created.ok()["token"].as_str().expect("an API token").to_owned();
    Client { router: nobody.router.clone(), token: Some(token) }
}

async fn join(admin: &Client, nobody: &Client) -> String {
    let token = admin.post("/join-tokens", json!({"pool": POOL})).await.ok();
    let body = json!({"join_token": token["token"], "inventory": inventory(NODE, NODE_GPUS)});
    let joined = nobody.post("/agent/v1/join", body).await.ok();
    let credential = joined["credential"].as_str().expect("a credential").to_owned();
    let agent = Client { router: nobody.router.clone(), token: Some(credential.clone()) };
    let body = json!({"instance_id": NODE_INSTANCE, "inventory": inventory(NODE, NODE_GPUS),
        "sent_at": beginning()});
    agent.post("/agent/v1/register", body).await.expect(200);
    credential
}

/// A machine with so many GPUs.
#[must_use]
pub fn inventory(name: &str, gpus: u32) -> Value {
    let gpus: Vec<Value> = (0..gpus)
        .map(|index| {
            json!({"index": index, "uuid": format!("GPU-{name}-{index}"), "model": "H100",
                "memory_mib": 81_920, "healthy": true})
        })
        .collect();
    json!({"node_name": name, "protocol_version": reeve_wire::PROTOCOL_VERSION, "agent_version": "0.1.0",
        "cpu_milli": 64_000, "memory_mib": 524_288, "gpus": gpus, "topology": {"rack": "r1"}})
}

async fn keep(url: &str, secrets: &BTreeMap<String, String>) {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    sqlx::query("create table test_secrets (name text primary key, secret text not null)")
        .execute(&mut connection)
        .await
        .expect("a table of our own");
    for (name, secret) in secrets {
        sqlx::query("insert into test_secrets values ($1, $2)")
            .bind(name)
            .bind(secret)
            .execute(&mut connection)
            .await
            .expect("kept");
    }
    connection.close().await.expect("closed");
}

/// The secrets of the world in this database.
///
/// # Panics
/// When it holds none.
pub async fn secrets(url: &str) -> BTreeMap<String, String> {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    let rows: Vec<(String, String)> = sqlx::query_as("select name, secret from test_secrets")
        .fetch_all(&mut connection)
        .await
        .expect("secrets");
    connection.close().await.expect("closed");
    rows.into_iter().collect()
}
