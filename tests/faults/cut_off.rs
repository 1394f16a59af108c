//! An agent that is cut off from the server: for longer than its lease its jobs end before they may start elsewhere, for
//! shorter nothing happens to them.

use crate::pair::{LEASE_SECS, Pair};
use chrono::{DateTime, Utc};
use reeve_tests::cable::Cable;
use reeve_tests::processes::eventually;
use std::time::Duration;

/// Writes the time into a file of its run until told to end.
const STAMPS: &str = r#"while [ ! -e "$1.end" ]; do date +%s%N >> "$1.$REEVE_RUN"; sleep 0.05; done"#;

/// How the agent and the server come apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Both,
    /// The server hears the agent, and not the other way round.
    Answers,
    /// The agent is killed as well: only the shims are left.
    AndKilled,
}

/// Moments that a run of a job has written, in nanoseconds.
fn stamps(pair: &Pair, name: &str, run: usize) -> Vec<i64> {
    let text = std::fs::read_to_string(pair.file(&format!("{name}.{run}"))).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn nanos(time: &serde_json::Value) -> i64 {
    let time: DateTime<Utc> = time.as_str().expect("a time").parse().expect("a time");
    time.timestamp_nanos_opt().expect("of our days")
}

async fn nothing_runs_twice(cut: Cut) {
    let pair = Pair::start().await;
    let cable = match cut {
        Cut::Answers => Cable::through_proxy(&pair.server.url),
        Cut::Both | Cut::AndKilled => Cable::lay(&pair.server.url),
    };
    let mut first = pair.agent("n1", &cable).await;
    let mut jobs = Vec::new();
    for (name, script) in [
        ("plain", STAMPS.to_owned()),
        ("ignores-term", format!("trap '' TERM\n{STAMPS}")),
        ("hides", format!("setsid sh -c '{STAMPS}' hidden \"$1\" & wait")),
    ] {
        jobs.push((name, pair.submit(name, &script).await));
    }
    for (name, _) in &jobs {
        eventually("it writes", async || !stamps(&pair, name, 1).is_empty()).await;
    }
    let direct = Cable::through_proxy(&pair.server.url);
    let _second = pair.agent("n2", &direct).await;

    match cut {
        Cut::Both => cable.cut(),
        Cut::Answers => cable.cut_answers(),
        Cut::AndKilled => {
            cable.cut();
            first.kill9();
        }
    }
    if cut == Cut::Answers {
        for (_, id) in &jobs {
            eventually("its first run is over", async || !pair.runs(id).await[0]["ended_at"].is_null()).await;
        }
        cable.mend();
    }
    for (name, _) in &jobs {
        eventually("it runs again", async || !stamps(&pair, name, 2).is_empty()).await;
    }
    cable.mend();
    if cut == Cut::AndKilled {
        first = pair.agent("n1", &cable).await;
    }
    pair.node_is("n1", "ready").await;

    for (name, id) in &jobs {
        let runs = pair.runs(id).await;
        assert_eq!((runs.len(), &runs[0]["state"]), (2, &serde_json::json!("lost")), "{name}: {runs:?}");
        let last = stamps(&pair, name, 1).pop().expect("it wrote");
        let again = stamps(&pair, name, 2)[0];
        assert!(last < nanos(&runs[1]["placed_at"]), "{name} still ran when its next place was given");
        assert!(last < again, "{name} ran twice at once");
        std::fs::write(pair.file(&format!("{name}.end")), "").expect("written");
        pair.is(id, "succeeded").await;
        assert_eq!(stamps(&pair, name, 1).last(), Some(&last), "{name} went on after the cut");
    }
    assert_eq!(pair.violations(), "");
    drop(first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_for_longer_than_its_lease_nothing_runs_twice() {
    nothing_runs_twice(Cut::Both).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_with_its_agent_killed_the_shims_end_the_jobs_in_time() {
    nothing_runs_twice(Cut::AndKilled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_hearing_the_server_is_being_cut_off() {
    nothing_runs_twice(Cut::Answers).await;
}

/// Three cuts, each shorter than the lease: a line that flaps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_off_for_shorter_than_its_lease_nothing_happens_to_its_jobs() {
    let pair = Pair::start().await;
    let cable = Cable::lay(&pair.server.url);
    let _agent = pair.agent("n1", &cable).await;
    let counts = r#"i=0; while [ ! -e "$1.end" ]; do i=$((i+1)); echo "line $i"; echo $i > "$1.count"; sleep 0.05; done"#;
    let goes_on = pair.submit("goes-on", counts).await;
    let ends = pair.submit("ends", counts).await;
    pair.is(&goes_on, "running").await;
    pair.is(&ends, "running").await;
    let pid = pair.runs(&goes_on).await[0]["members"][0]["pid"].clone();
    assert!(pid.is_i64(), "{pid}");

    for round in 0..3 {
        cable.cut();
        if round == 0 {
            std::fs::write(pair.file("ends.end"), "").expect("written");
        }
        // The disturbance itself, not a wait for anything.
        tokio::time::sleep(Duration::from_secs(LEASE_SECS) / 4).await;
        cable.mend();
        let seen = async || pair.admin.get("/nodes").await["items"][0]["last_seen_at"].clone();
        let mended = seen().await;
        eventually("the server hears it again", async || seen().await != mended).await;
    }

    pair.is(&ends, "succeeded").await;
    assert_eq!(pair.job(&goes_on).await["state"], "running");
    std::fs::write(pair.file("goes-on.end"), "").expect("written");
    pair.is(&goes_on, "succeeded").await;
    for (id, name) in [(&goes_on, "goes-on"), (&ends, "ends")] {
        let runs = pair.runs(id).await;
        assert_eq!(runs.len(), 1, "{runs:?}");
        let count = std::fs::read_to_string(pair.file(&format!("{name}.count"))).expect("it counted");
        let count: usize = count.trim().parse().expect("a number");
        let lines: String = (1..=count).map(|line| format!("line {line}\n")).collect();
        eventually("its log is complete", async || pair.admin.log(id, 1).await == lines).await;
    }
    assert_eq!(pair.runs(&goes_on).await[0]["members"][0]["pid"], pid, "the same process");
    assert_eq!(pair.violations(), "");
}
