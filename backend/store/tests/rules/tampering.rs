//! Whoever changes the log is found out; and as the service's role nobody can.

use crate::base::{Base, context, now, seal_all};
use reeve_store::audit::chain::{Chain, Verdict};
use reeve_store::audit::checkpoint::{self, Checkpoint, Signed};
use reeve_store::audit::key::AuditKey;
use reeve_store::audit::live::{Trust, verify};
use reeve_store::event::{EventFilter, after};
use reeve_store::{ConnectOptions, NewEvent, Store, rights};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use uuid::Uuid;

/// Thirty events with a checkpoint after each ten.
async fn signed_log(base: &Base, key: &AuditKey) {
    for tens in 0..3_u128 {
        for nth in 0..10 {
            let mut tx = base.store.begin(context(now())).await.expect("begins");
            tx.record(NewEvent::new("test.done", "test", Uuid::from_u128(tens * 10 + nth)));
            tx.commit().await.expect("commits");
        }
        seal_all(&base.store).await;
        let signed = checkpoint::step(&base.store, key, now()).await.expect("signs");
        // The first step made the key known, which is an event of its own.
        assert!(matches!(signed, Signed::At(_)), "{signed:?}");
        seal_all(&base.store).await;
    }
}

async fn verdict(base: &Base) -> Verdict {
    verify(&base.store, &Trust::default()).await.expect("looks")
}

const OPEN_ALL: &str = "alter table events disable trigger all; alter table event_seals disable trigger all;
    alter table audit_checkpoints disable trigger all; alter table audit_keys disable trigger all;";

#[tokio::test]
async fn what_a_superuser_changes_is_named_by_its_position() {
    let event_at = |position: i64| format!("(select event_id from event_seals where position = {position})");
    let cases: [(&str, String, Option<i64>, &str); 9] = [
        ("nothing", "select 1".to_owned(), None, ""),
        ("altered", format!("update events set actor_name = 'nobody' where id = {}", event_at(7)), Some(7), "altered"),
        (
            "altered in its detail",
            format!("update events set detail = '{{\"a\": 1}}' where id = {}", event_at(12)),
            Some(12),
            "altered",
        ),
        ("dropped", "delete from event_seals where position = 7".to_owned(), Some(7), "dropped"),
        (
            "swapped",
            "create temp table swapped as select * from event_seals where position in (7, 8);
             delete from event_seals where position in (7, 8);
             insert into event_seals
             select case position when 7 then 8 else 7 end, event_id, hash, sealed_at from swapped"
                .to_owned(),
            Some(7),
            "altered",
        ),
        ("tail cut", "delete from event_seals where position > 25".to_owned(), Some(26), "tail was cut"),
        ("truncated", "truncate events, event_seals cascade".to_owned(), Some(1), "tail was cut"),
        (
            "slipped in",
            format!(
                "insert into events (id, xid, occurred_at, actor_type, actor_name, action, subject_type)
                 select gen_random_uuid(), xid, occurred_at, 'user', 'x', 'quota.changed', 'quota' from events where id = {}",
                event_at(7)
            ),
            None,
            "without a seal",
        ),
        (
            "a checkpoint moved",
            "update audit_checkpoints set signed_at = signed_at + interval '1 day'
             where position = (select min(position) from audit_checkpoints)"
                .to_owned(),
            Some(10),
            "signature",
        ),
    ];
    let key = AuditKey::generate().expect("a key");
    for (name, sql, position, why) in cases {
        let mut base = Base::new().await;
        signed_log(&base, &key).await;
        base.run(OPEN_ALL).await;
        base.run(&sql).await;
        let found = verdict(&base).await;
        if name == "nothing" {
            assert_eq!((found.fault, found.events, found.checkpoints), (None, 31, 3));
        } else {
            let fault = found.fault.unwrap_or_else(|| panic!("{name}: nothing was found"));
            assert_eq!(fault.position, position, "{name}: {fault}");
            assert!(fault.why.contains(why), "{name}: {fault}");
        }
        base.abandon().await;
    }
}

#[tokio::test]
async fn a_chain_made_anew_is_found_by_the_checkpoint_that_was_signed_before() {
    let key = AuditKey::generate().expect("a key");
    let mut base = Base::new().await;
    signed_log(&base, &key).await;
    let kept: Vec<Checkpoint> = checkpoint::before(&base.store, None, 10).await.expect("reads");
    base.run(OPEN_ALL).await;
    base.run("update events set actor_name = 'nobody' where id = (select event_id from event_seals where position = 4)")
        .await;
    // The owner of the database can compute every hash anew.
    let mut chain = Chain::start();
    for sealed in after(&base.store, 0, &EventFilter::default(), 100).await.expect("reads") {
        let hash = sealed.event.hash_after(&chain.hash).expect("hashes");
        chain = Chain { position: sealed.position, hash };
        base.run(&format!(
            "update event_seals set hash = '\\x{}' where position = {}",
            hex::encode(hash),
            sealed.position
        ))
        .await;
    }
    let fault = verdict(&base).await.fault.expect("found");
    assert_eq!(fault.position, Some(10), "{fault}");
    // The signer does not sign on top of it.
    seal_all(&base.store).await;
    let signed = checkpoint::step(&base.store, &key, now()).await.expect("looks");
    assert!(matches!(signed, Signed::Broken(_)), "{signed:?}");
    // Even when the checkpoints go too: whoever kept one knows better.
    base.run("truncate audit_checkpoints").await;
    assert_eq!(verdict(&base).await.fault, None, "inside the database nothing tells any more");
    let trust = Trust { keys: vec![key.public()], checkpoints: kept };
    let fault = verify(&base.store, &trust).await.expect("looks").fault.expect("found");
    assert_eq!(fault.position, Some(10), "{fault}");
    base.abandon().await;
}

#[tokio::test]
async fn a_rotated_key_is_trusted_by_the_old_ones_word_and_a_strangers_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.key");
    let (first, _) = AuditKey::load_or_make(&path).expect("a key");
    let base = Base::new().await;
    signed_log(&base, &first).await;
    let (_, second) = AuditKey::rotate(&path).expect("rotated");
    signed_log(&base, &second).await;
    let trust = Trust { keys: vec![first.public()], checkpoints: Vec::new() };
    let found = verify(&base.store, &trust).await.expect("looks");
    assert_eq!((found.fault, found.checkpoints), (None, 6));
    let stranger = AuditKey::generate().expect("a key");
    signed_log(&base, &stranger).await;
    let fault = verify(&base.store, &trust).await.expect("looks").fault.expect("not trusted");
    assert!(fault.why.contains("not trusted"), "{fault}");
    base.end().await;
}

#[tokio::test]
async fn the_services_role_works_and_can_change_nothing_that_is_append_only() {
    let mut base = Base::new().await;
    let role = format!("service_{}", Uuid::new_v4().simple());
    rights::ensure_role(&base.store, &role, "only-for-this-test").await.expect("a role");
    rights::grant_service(&base.store, &role).await.expect("granted");
    let url = base.url_as(&role, "only-for-this-test");
    let service = Store::connect(&ConnectOptions { max_connections: 3, ..ConnectOptions::new(&url) }).await;
    let service = service.expect("connects");
    assert!(rights::append_only(&service).await.expect("asks"));
    assert!(!rights::append_only(&base.store).await.expect("asks"), "the owner could");

    let mut tx = service.begin(context(now())).await.expect("begins");
    reeve_store::teams::create(&mut tx, "a-team", "A", None).await.expect("creates");
    tx.commit().await.expect("commits");
    seal_all(&service).await;
    let key = AuditKey::generate().expect("a key");
    assert!(matches!(checkpoint::step(&service, &key, now()).await.expect("signs"), Signed::At(_)));
    seal_all(&service).await;

    let mut sql = PgConnection::connect(&url).await.expect("connects");
    let tables = "events event_seals audit_keys audit_checkpoints";
    for table in tables.split(' ') {
        for statement in [
            format!("update {table} set {} = {}", column(table), column(table)),
            format!("delete from {table}"),
            format!("truncate {table} cascade"),
            format!("alter table {table} disable trigger all"),
            format!("drop table {table} cascade"),
            format!(
                "create trigger t before insert on {table} for each row execute function refuse_change()"
            ),
        ] {
            assert_eq!(refusal(&mut sql, &statement).await, "42501", "{statement}");
        }
    }
    for statement in [
        "set session_replication_role = replica",
        "create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'",
        "update _sqlx_migrations set success = false",
        "grant update on events to public",
    ] {
        let code = refusal(&mut sql, statement).await;
        // A grant of what one does not have is a warning and no more.
        assert!(code == "42501" || statement.starts_with("grant"), "{statement}: {code}");
    }
    assert!(rights::append_only(&service).await.expect("asks"));
    sql.close().await.expect("closes");
    service.close().await;
    base.run(&format!("drop owned by {role}; drop role {role}")).await;
    base.end().await;
}

#[tokio::test]
async fn triggers_refuse_even_the_owner_and_a_session_that_only_replays() {
    let mut base = Base::new().await;
    signed_log(&base, &AuditKey::generate().expect("a key")).await;
    for table in ["events", "event_seals", "audit_keys", "audit_checkpoints"] {
        for statement in [
            format!("update {table} set {} = {}", column(table), column(table)),
            format!("delete from {table}"),
            format!("truncate {table} cascade"),
            format!("set session_replication_role = replica; delete from {table}"),
        ] {
            assert_eq!(refusal(&mut base.sql, &statement).await, "42501", "{statement}");
            base.run("set session_replication_role = default").await;
        }
    }
    base.end().await;
}

fn column(table: &str) -> &'static str {
    match table {
        "events" => "actor_name",
        "event_seals" => "sealed_at",
        "audit_keys" => "created_at",
        _ => "signed_at",
    }
}

/// The SQLSTATE with which a statement is refused; empty when it was done.
async fn refusal(sql: &mut PgConnection, statement: &str) -> String {
    match sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(sql).await {
        Ok(_) => String::new(),
        Err(sqlx::Error::Database(error)) => error.code().unwrap_or_default().into_owned(),
        Err(other) => panic!("{statement}: {other}"),
    }
}
