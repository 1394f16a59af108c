//! The session of somebody with Slurm habits: a script with `#SBATCH` lines, `run --` with the command's own output and exit
//! code, an interrupt that cancels, an eviction in the middle.

use crate::cli::Cli;
use crate::site::Site;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reeve_tests::processes::eventually;
use serde_json::json;
use std::process::{Child, Output, Stdio};

fn start(cli: &Cli, args: &[&str]) -> Child {
    let mut command = cli.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

async fn end(child: Child) -> Output {
    tokio::task::spawn_blocking(move || child.wait_with_output().expect("it ends")).await.expect("joined")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn named(site: &Site, name: &str) -> serde_json::Value {
    site.admin.get(&format!("/jobs?name_contains={name}")).await["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_runs_as_if_it_ran_here() {
    let site = Site::start().await;
    let cli = Cli::of(&site, &["read", "write"]).await;
    let args =
        ["run", "--team", "a", "-J", "says", "--", "sh", "-c", "echo first; sleep 1; echo last; exit 3"];
    let ended = end(start(&cli, &args)).await;
    assert_eq!(text(&ended.stdout), "first\nlast\n", "{}", text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(3), "the command's own");
    assert!(text(&ended.stderr).contains("running"), "{}", text(&ended.stderr));

    let ended = end(start(&cli, &["run", "-q", "--team", "a", "--", "sh", "-c", "kill -KILL $$"])).await;
    assert_eq!(ended.status.code(), Some(137), "{}", text(&ended.stderr));

    let refused = cli.run(&["run", "--team", "nobody", "--", "true"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused.stderr).contains("/team"), "{}", text(&refused.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_cancels_and_an_eviction_is_waited_through() {
    let site = Site::start().await;
    let cli = Cli::of(&site, &["read", "write"]).await;
    let held = start(&cli, &["run", "--team", "a", "-J", "held", "--", "sh", "-c", "echo up; sleep 600"]);
    eventually("it runs", async || named(&site, "held").await["state"] == "running").await;
    kill(Pid::from_raw(i32::try_from(held.id()).expect("a pid")), Signal::SIGINT).expect("told");
    let ended = end(held).await;
    assert_eq!(
        (ended.status.code(), text(&ended.stdout).as_str()),
        (Some(11), "up\n"),
        "{}",
        text(&ended.stderr)
    );
    assert_eq!(named(&site, "held").await["state"], "cancelled");

    // Eight GPUs, four of them b's: b takes them back while this one runs, and it runs again afterwards.
    let script = "trap 'echo left; exit 1' USR1; echo run $REEVE_RUN; [ $REEVE_RUN = 2 ] || sleep 600 & wait";
    let args = [
        "run",
        "--team",
        "a",
        "-G",
        "8",
        "-J",
        "lent",
        "--checkpoint",
        "on_signal",
        "--",
        "sh",
        "-c",
        script,
    ];
    let lent = start(&cli, &args);
    eventually("it runs on loan", async || named(&site, "lent").await["state"] == "running").await;
    let id = named(&site, "lent").await["id"].as_str().expect("an id").to_owned();
    eventually("it has set its trap", async || site.log(&id, 1).await.contains("run 1")).await;
    let short = json!({"name": "owner", "team": "b", "gpus": 4, "command": ["sleep", "3"]});
    site.admin.post("/jobs", short).await;
    let ended = end(lent).await;
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(text(&ended.stdout), "run 1\nleft\nrun 2\n", "{said}");
    assert!(said.contains("waits: ") && said.contains("as run 2"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slurm_script_is_sent_along_and_does_what_its_lines_say() {
    let site = Site::start().await;
    let cli = Cli::of(&site, &["read", "write"]).await;
    let path = site.folder.path().join("train.sh");
    let script = "#!/bin/bash\n#SBATCH --job-name=bert --account=a\n#SBATCH --gres=gpu:2 --time=0:30:00\n#SBATCH -o out.txt\n\
        set -eu\necho \"$0 $1 $CUDA_VISIBLE_DEVICES\"\n";
    std::fs::write(&path, script).expect("written");
    let path = path.display().to_string();
    let output = cli.run(&["submit", "--wait", &path, "--", "fast"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("line 4") && said.contains("reeve logs"), "what is left out is said: {said}");
    let job = named(&site, "bert").await;
    assert_eq!((&job["gpus"], &job["time_limit_secs"]), (&json!(2), &json!(1_800)));
    let id = job["id"].as_str().expect("an id");
    let log = cli.said(&["logs", id, "-f"]);
    assert!(log.starts_with("train.sh fast ") && log.trim_end().contains(','), "{log}");

    std::fs::write(&path, "#!/bin/sh\n#SBATCH --exclusive\n").expect("written");
    let refused = cli.run(&["submit", &path]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("line 2"), "{}", text(&refused.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_runs_and_a_job_waits_for_all_of_it() {
    let site = Site::start().await;
    let cli = Cli::of(&site, &["read", "write"]).await;
    let task = ["-A", "a", "-J", "sweep", "--array", "1-6:2", "--", "sh", "-c", "echo $ARRAY_INDEX; sleep 1"];
    let array = cli.said(&[&["submit"], &task[..]].concat()).trim().to_owned();
    let all = format!("array:{array}");
    let sum =
        cli.said(&["submit", "-A", "a", "-J", "sum", "--after-ok", &all, "--", "true"]).trim().to_owned();
    let said = cli.said(&["explain", &sum]);
    assert_eq!(said.matches("to succeed").count(), 3, "{said}");
    eventually("the sum is made", async || site.job(&sum).await["state"] == "succeeded").await;
    let tasks = site.admin.get(&format!("/jobs?label=array={array}")).await;
    let tasks = tasks["items"].as_array().expect("items");
    assert!(tasks.iter().all(|task| task["state"] == "succeeded"), "{tasks:?}");
    let last = tasks.iter().find(|task| task["name"] == "sweep[5]").expect("the last of three");
    assert_eq!(cli.said(&["logs", last["id"].as_str().expect("an id")]), "5\n");
    assert!(site.job(&sum).await["started_at"].as_str() > last["finished_at"].as_str());

    // Given up as a whole: who waits for its success ends with it.
    let task = ["submit", "-A", "a", "-J", "long", "--array", "0-2", "--", "sleep", "600"];
    let array = cli.said(&task).trim().to_owned();
    let after = cli.said(&["submit", "-A", "a", "--after-ok", &format!("array:{array}"), "--", "true"]);
    cli.said(&["cancel", "--array", &array]);
    eventually("it is cancelled", async || site.job(after.trim()).await["state"] == "cancelled").await;
    assert_eq!(site.job(after.trim()).await["end_cause"], "dependency_never_met");
}
