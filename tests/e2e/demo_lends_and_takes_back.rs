//! `reeve demo` as a newcomer starts it: loans and a reclaim within a minute, and nothing left afterwards.

use nix::sys::signal::Signal;
use reeve_tests::processes::{Api, Process, binary, eventually};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Demo {
    process: Process,
    url: String,
    admin_password: String,
}

impl Demo {
    /// Starts it, and reads address and password from what it prints.
    async fn start(data: &Path, log: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary("reeve"));
        command.args(["demo", "--port", "0", "--data"]).arg(data).args(arguments);
        let process = Process::start(command, log);
        eventually("the demo has greeted", async || login(&process.log_text()).is_some()).await;
        let (url, admin_password) = login(&process.log_text()).expect("greeted");
        Self { process, url, admin_password }
    }

    async fn admin(&self) -> Api {
        Api::sign_in(&self.url, "admin", &self.admin_password).await
    }
}

fn login(text: &str) -> Option<(String, String)> {
    let url = text.lines().find_map(|line| line.strip_prefix("Console"))?.trim().to_owned();
    let admin = text.lines().find(|line| line.starts_with(' ') && line.trim_start().starts_with("admin "))?;
    Some((url, admin.split_whitespace().nth(1)?.to_owned()))
}

/// Processes whose command line names the folder; none may outlive a demo.
fn processes_of(folder: &Path) -> Vec<String> {
    let wanted = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
        .filter(|line| line.contains(&wanted))
        .collect()
}

fn nothing_is_left(url: &str, data: &Path) {
    let address = url.strip_prefix("http://").expect("an address").parse().expect("an address");
    assert!(TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err(), "{url} still answers");
    assert_eq!(processes_of(data), Vec::<String>::new());
}

async fn wait_for_exit(process: &mut Process, patience: Duration) -> std::process::ExitStatus {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = process.try_wait() {
            return status;
        }
        assert!(Instant::now() < deadline, "the demo did not end: {}", process.log_text());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    (folder, data)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn demo_shows_loans_and_a_reclaim_within_a_minute_and_keeps_its_data() {
    let (folder, data) = folder();
    let begin = Instant::now();
    let mut demo = Demo::start(&data, &folder.path().join("first.log"), &["--duration", "60"]).await;
    let admin = demo.admin().await;
    let (mut lent, mut done) = (false, false);
    while !(lent && done) {
        assert!(begin.elapsed() < Duration::from_secs(75), "lent: {lent}, reclaimed: {done}");
        lent |=
            admin.get("/loans?open=true").await["items"].as_array().is_some_and(|loans| !loans.is_empty());
        let reclaims = admin.get("/reclaims?state=done").await;
        done = reclaims["items"].as_array().expect("items").iter().any(|reclaim| {
            let evictions = reclaim["evictions"].as_array().expect("evictions");
            !evictions.is_empty() && evictions.iter().all(|eviction| eviction["checkpointed_at"].is_string())
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let ended = wait_for_exit(&mut demo.process, Duration::from_secs(120)).await;
    assert!(ended.success(), "{ended}: {}", demo.process.log_text());
    nothing_is_left(&demo.url, &data);
    for told in ["borrows", "recalls"] {
        assert!(demo.process.log_text().contains(told), "{told}: {}", demo.process.log_text());
    }

    let mut again = Demo::start(&data, &folder.path().join("second.log"), &[]).await;
    assert_eq!(again.admin_password, demo.admin_password, "the logins are kept");
    let admin = again.admin().await;
    let reclaims = admin.get("/reclaims?state=done").await;
    assert!(!reclaims["items"].as_array().expect("items").is_empty(), "the history is kept");
    assert_eq!(
        admin.get("/teams").await["items"].as_array().map(Vec::len),
        Some(4),
        "nothing is seeded twice"
    );
    again.process.signal(Signal::SIGTERM);
    let ended = wait_for_exit(&mut again.process, Duration::from_secs(60)).await;
    assert!(ended.success(), "{ended}: {}", again.process.log_text());
    nothing_is_left(&again.url, &data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn demo_recovers_from_a_crashed_predecessor() {
    let (folder, data) = folder();
    let mut demo = Demo::start(&data, &folder.path().join("first.log"), &[]).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    demo.process.kill9();
    let mut again = Demo::start(&data, &folder.path().join("second.log"), &[]).await;
    assert_eq!(again.admin_password, demo.admin_password);
    again.process.signal(Signal::SIGINT);
    let ended = wait_for_exit(&mut again.process, Duration::from_secs(60)).await;
    assert!(ended.success(), "{ended}: {}", again.process.log_text());
    nothing_is_left(&again.url, &data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn demo_names_the_option_when_its_port_is_taken() {
    let (folder, data) = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let mut command = Command::new(binary("reeve"));
    command.args(["demo", "--port", &port, "--data"]).arg(&data);
    let mut process = Process::start(command, &folder.path().join("log"));
    assert!(!wait_for_exit(&mut process, Duration::from_secs(30)).await.success());
    assert!(process.log_text().contains("--port"), "{}", process.log_text());
}
