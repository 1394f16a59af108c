//! The worked examples: jobs that are evicted three times each give the result that they would have given undisturbed.

use crate::site::Site;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use reeve_tests::processes::eventually;
use serde_json::{Value, json};
use std::path::Path;

/// At a twentieth of a second a step, too many to be done before the last eviction.
const STEPS: i64 = 400;
const SAVE_EVERY_STEPS: i64 = 50;

/// The examples' chain of numbers.
fn result() -> i64 {
    (1..=STEPS).fold(1, |value, step| (value * 1_103_515_245 + step) % 2_147_483_648)
}

/// What one run of a job wrote.
#[derive(Debug)]
struct Attempt {
    resumed: bool,
    after: i64,
    steps: Vec<i64>,
    result: Option<i64>,
}

fn attempt(log: &str) -> Attempt {
    let mut lines = log.lines();
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let ["attempt", _, how, "after", "step", after] = first[..] else { panic!("{log}") };
    let mut attempt = Attempt {
        resumed: how == "resumes",
        after: after.parse().expect("a step"),
        steps: Vec::new(),
        result: None,
    };
    for line in lines {
        if let Some(step) = line.strip_prefix("step ") {
            attempt.steps.push(step.parse().expect("a step"));
        } else if let Some(value) = line.strip_prefix("result ") {
            attempt.result = Some(value.parse().expect("a number"));
        }
    }
    attempt
}

impl Site {
    async fn submit_example(&self, name: &str, program: &str, checkpoint: &str) -> String {
        let file = if program == "sh" { "count.sh" } else { "count.py" };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backend/agent/examples").join(file);
        let body = json!({
            "name": name, "team": "b", "gpus": 1, "kind": "training", "checkpoint": checkpoint,
            "command": [program, path, STEPS.to_string(), "0.05"],
            "env": {"PATH": path_of_this_machine()},
        });
        self.admin.post("/jobs", body).await["id"].as_str().expect("an id").to_owned()
    }

    /// Waits until each job does something in its run of this number.
    async fn work(&self, jobs: &[String], run: u64) {
        for id in jobs {
            eventually(&format!("run {run} works"), async || self.admin.log(id, run).await.contains("step "))
                .await;
        }
    }

    /// Team a takes all that it lent, and gives it back once the others have left.
    async fn recall(&self, round: u64) {
        let end = self.folder.path().join(format!("owner-{round}"));
        let script = r#"while [ ! -e "$1" ]; do sleep 0.05; done"#;
        let body = json!({
            "name": format!("owner-{round}"), "team": "a", "gpus": 8, "kind": "training",
            "command": ["sh", "-c", script, "owner", end],
        });
        let id = self.admin.post("/jobs", body).await["id"].as_str().expect("an id").to_owned();
        eventually("the owner has its GPUs", async || self.job(&id).await["state"] == "running").await;
        std::fs::write(&end, "").expect("written");
        eventually("the owner is done", async || self.job(&id).await["state"] == "succeeded").await;
    }
}

/// A job and the small process above it, gone without an exit code as with their machine.
fn kill_with_its_shim(pid: &Value) {
    let pid = i32::try_from(pid.as_i64().expect("a pid")).expect("a pid");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent");
    let shim: i32 = parent.trim().parse().expect("a pid");
    kill(Pid::from_raw(shim), Signal::SIGKILL).expect("killed");
    killpg(Pid::from_raw(pid), Signal::SIGKILL).expect("killed");
}

/// Python may be anywhere; a job's own PATH is what it says.
#[expect(clippy::disallowed_methods, reason = "the test's own environment")]
fn path_of_this_machine() -> String {
    std::env::var("PATH").expect("a PATH")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evicted_three_times_each_the_examples_lose_and_repeat_nothing() {
    // All is a's, and b lives on loan.
    let site = Site::start_with([("a", 8), ("b", 0)]).await;
    let mut jobs = Vec::new();
    for (name, program, checkpoint) in [
        ("python-1", "python3", "on_signal"),
        ("python-2", "python3", "on_signal"),
        ("python-3", "python3", "on_signal"),
        ("shell-1", "sh", "periodic"),
        ("shell-2", "sh", "periodic"),
    ] {
        jobs.push(site.submit_example(name, program, checkpoint).await);
    }
    site.work(&jobs, 1).await;
    site.recall(1).await;
    site.work(&jobs, 2).await;
    for id in &jobs {
        site.admin.post(&format!("/jobs/{id}/requeue"), json!({"reason": "the rack moves"})).await;
    }
    site.work(&jobs, 3).await;
    site.recall(3).await;
    site.work(&jobs, 4).await;
    eventually("all have succeeded", async || site.in_state(&jobs, "succeeded").await.len() == jobs.len())
        .await;
    for id in &jobs {
        story_is_whole(&site, id).await;
    }
}

/// Four runs, three of them evicted, each going on where the last one left.
async fn story_is_whole(site: &Site, id: &str) {
    let runs = site.admin.get(&format!("/jobs/{id}/runs")).await;
    let runs = runs["items"].as_array().expect("runs");
    assert_eq!(runs.len(), 4, "{runs:?}");
    let evictions = site.admin.get(&format!("/jobs/{id}/evictions")).await;
    let evictions = evictions["items"].as_array().expect("evictions");
    let mut causes: Vec<&Value> = runs.iter().map(|run| &run["leave_cause"]).collect();
    causes.sort_by_key(|cause| cause.to_string());
    assert_eq!(causes, [&json!("operator"), &json!("reclaim"), &json!("reclaim"), &Value::Null], "{runs:?}");
    assert_eq!(evictions.len(), 2, "by the owner: {evictions:?}");
    for eviction in evictions {
        assert!(eviction["checkpointed_at"].is_string(), "acknowledged: {eviction}");
        assert_eq!(eviction["outcome"], "requeued", "{eviction}");
    }

    let mut done = 0;
    for run in 1..=4 {
        let mut log = String::new();
        eventually("its log is complete", async || {
            log = site.admin.log(id, run).await;
            if run < 4 { log.contains("leaves after") } else { log.contains("result") }
        })
        .await;
        let attempt = attempt(&log);
        assert_eq!((attempt.resumed, attempt.after), (run > 1, done), "run {run} of {id}");
        let expected: Vec<i64> = (done + 1..).take(attempt.steps.len()).collect();
        assert_eq!(attempt.steps, expected, "run {run} of {id} left out or repeated a step");
        done += i64::try_from(attempt.steps.len()).expect("few");
        assert_eq!(attempt.result, (run == 4).then(result), "run {run} of {id}");
    }
    assert_eq!(done, STEPS);
}

/// The server does not ask: the machine goes. What was done since the last checkpoint is done again, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_without_a_word_the_examples_repeat_only_what_was_not_saved() {
    let site = Site::start().await;
    let id = site.submit_example("python", "python3", "on_signal").await;
    let saved = format!("step {}\n", SAVE_EVERY_STEPS + 10);
    eventually("it has saved once", async || site.admin.log(&id, 1).await.contains(&saved)).await;
    assert!(site.job(&id).await["last_checkpoint_at"].is_string(), "told by the job itself");
    let runs = site.admin.get(&format!("/jobs/{id}/runs")).await;
    kill_with_its_shim(&runs["items"][0]["members"][0]["pid"]);
    eventually("it succeeds", async || site.job(&id).await["state"] == "succeeded").await;
    eventually("its log is complete", async || site.admin.log(&id, 2).await.contains("result")).await;
    let (first, second) = (attempt(&site.admin.log(&id, 1).await), attempt(&site.admin.log(&id, 2).await));
    assert_eq!((second.resumed, second.after % SAVE_EVERY_STEPS), (true, 0));
    let last = *first.steps.last().expect("it worked");
    assert!((0..SAVE_EVERY_STEPS).contains(&(last - second.after)), "{last} and {}", second.after);
    assert_eq!(second.steps, (second.after + 1..=STEPS).collect::<Vec<_>>());
    assert_eq!(second.result, Some(result()));
}
