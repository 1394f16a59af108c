use super::*;
use sqlx::{Connection, PgConnection};
use std::process::{Command, Stdio};

async fn ask(url: &str, sql: &'static str) -> String {
    let mut connection = PgConnection::connect(url).await.expect("connects");
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("answers")
}

fn alive(pid: u32) -> bool {
    // A zombie has ended.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn a_durable_server_keeps_what_it_was_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("postgres");
    let first = PrivatePostgres::start(&place, Durability::Durable).expect("starts");
    assert_eq!(ask(&first.url(), "show data_checksums").await, "on");
    assert_eq!(ask(&first.url(), "show fsync").await, "on");
    let mut connection = PgConnection::connect(&first.url()).await.expect("connects");
    sqlx::query("create table kept as select 'still here' as word")
        .execute(&mut connection)
        .await
        .expect("made");
    let pid = first.pid();
    first.stop().expect("stops with a connection open");
    assert!(!alive(pid));

    let second = PrivatePostgres::start(&place, Durability::Durable).expect("starts again");
    assert_eq!(ask(&second.url(), "select word from kept").await, "still here");
}

#[tokio::test]
async fn a_killed_server_recovers_on_the_same_address() {
    let mut server = PrivatePostgres::throwaway().expect("starts");
    let url = server.url();
    let mut connection = PgConnection::connect(&url).await.expect("connects");
    sqlx::query("create table kept as select 'committed' as word")
        .execute(&mut connection)
        .await
        .expect("made");
    server.crash_and_restart().expect("recovers");
    assert_eq!(server.url(), url);
    assert_eq!(ask(&url, "select word from kept").await, "committed");
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = PrivatePostgres::start(folder.path(), Durability::Throwaway).expect("starts");
    let error = PrivatePostgres::start(folder.path(), Durability::Throwaway).expect_err("in use");
    assert!(
        matches!(error, PrivatePostgresError::Running { pid, .. } if pid.unsigned_abs() == first.pid()),
        "{error}"
    );
}

#[test]
fn a_stale_pid_file_is_no_obstacle() {
    let folder = tempfile::tempdir().expect("a folder");
    PrivatePostgres::start(folder.path(), Durability::Throwaway).expect("starts").stop().expect("stops");
    // The number of a living process that is no server of this folder: this test's.
    let stale = format!("{}\n/nowhere\n", std::process::id());
    std::fs::write(folder.path().join("pgdata/postmaster.pid"), stale).expect("written");
    PrivatePostgres::start(folder.path(), Durability::Throwaway).expect("starts").stop().expect("stops");
}

#[test]
fn a_half_made_cluster_is_made_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("pgdata")).expect("made");
    std::fs::write(folder.path().join("pgdata/PG_VERSION"), "15").expect("written");
    std::fs::write(folder.path().join("pgdata.half-made"), "").expect("written");
    std::fs::write(folder.path().join("password"), "from-the-first-attempt").expect("written");
    let server = PrivatePostgres::start(folder.path(), Durability::Throwaway).expect("starts");
    assert!(server.url().contains("from-the-first-attempt"));
}

#[test]
fn the_guard_ends_the_server_when_its_starter_is_gone() {
    let server = PrivatePostgres::throwaway().expect("starts");
    let (pid, folder) = (server.pid(), server.cluster.pgdata.parent().expect("temporary").to_path_buf());
    // What `kill -9` of this process does: the pipe closes, and no destructor runs.
    let mut server = std::mem::ManuallyDrop::new(server);
    drop(server.guard.as_mut().expect("a guard").close_pipe());
    assert!(wait_for(PATIENCE, || matches!(server.server.try_wait(), Ok(Some(_)))), "{pid} lives on");
    assert!(wait_for(PATIENCE, || !folder.exists()), "{} stays", folder.display());
}

#[test]
fn the_guard_ends_a_server_that_was_only_just_spawned() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = cluster::Cluster::open(folder.path(), Durability::Throwaway).expect("made");
    let mut guard = Guard::watch(&cluster.pgdata, None).expect("a guard");
    let mut server = cluster.spawn_server(free_port().expect("a port")).expect("spawned");
    assert!(!cluster.pgdata.join("postmaster.pid").exists(), "the server was too fast for this test");
    drop(guard.close_pipe());
    assert!(wait_for(PATIENCE, || matches!(server.try_wait(), Ok(Some(_)))), "{} lives on", server.id());
}

#[test]
fn versions_are_read() {
    let cases = [
        ("postgres (PostgreSQL) 15.7 (Debian 15.7-0+deb12u1)", Some(15)),
        ("postgres (PostgreSQL) 18beta1", Some(18)),
        ("nonsense", None),
    ];
    for (text, expected) in cases {
        assert_eq!(binaries::major_version(text), expected, "{text}");
    }
}

#[test]
fn the_guards_script_is_sound() {
    let status =
        Command::new("sh").args(["-n", "-c", guard::SCRIPT]).stderr(Stdio::null()).status().expect("sh");
    assert!(status.success());
}
