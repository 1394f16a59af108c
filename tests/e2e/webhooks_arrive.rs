//! The real server tells a real receiver: a job's events arrive signed, also those of the time when the server was dead.

use reeve_store::private_postgres::{Durability, PrivatePostgres};
use reeve_tests::processes::{ADMIN_PASSWORD, Api, Server, eventually};
use reeve_tests::receiver::Receiver;
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn events_arrive_signed_and_none_is_lost_when_the_server_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    // As root, PostgreSQL runs under another user, which must be able to enter.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let postgres =
        PrivatePostgres::start(&folder.path().join("postgres"), Durability::Throwaway).expect("PostgreSQL");
    let settings = "[server]\npublic_origin = \"https://reeve.example\"\n[notify]\nallowed_networks = [\"127.0.0.1/32\"]\n";
    let mut server = Server::start_with(&postgres.url(), folder.path(), settings);
    server.ready().await;
    let admin = Api::sign_in(&server.url, "admin", ADMIN_PASSWORD).await.with_long_token().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let hook = json!({"name": "all", "url": receiver.url(), "event_types": ["pool.*"]});
    let secret = admin.post("/webhooks", hook).await["secret"].as_str().expect("a secret").to_owned();
    for number in 0..20 {
        admin
            .post_surely(
                "/pools",
                &format!("pool-{number}"),
                &json!({"slug": format!("p{number}"), "name": "P"}),
            )
            .await;
        if number % 7 == 6 {
            server.crash_and_restart();
            server.ready().await;
        }
    }
    let subjects = || {
        let told = receiver.received().into_iter();
        told.map(|one| one.json()["subject"].as_str().expect("a subject").to_owned()).collect::<BTreeSet<_>>()
    };
    eventually("every pool is told of", async || subjects().len() == 20).await;
    let received = receiver.received();
    assert!(received.iter().all(|one| one.is_signed_with(&secret)));
    let ids: BTreeSet<&str> = received.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!(ids.len(), 20, "what comes twice comes under the same id");
    let link = received[0].json()["data"]["link"].clone();
    assert_eq!(link, "https://reeve.example/audit");
}
