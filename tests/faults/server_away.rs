//! A server that is away for longer than the lease: what the agents saw meanwhile is told when it is back, in order and once.

use crate::pair::Pair;
use chrono::{DateTime, TimeDelta, Utc};
use reeve_tests::cable::Cable;
use reeve_tests::processes::eventually;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const LEASE_SECS: u64 = 12;
const MARGIN_SECS: u64 = 6;

/// The agent's idea of the server's time is late by as long as an answer takes.
const RECKONING: TimeDelta = TimeDelta::seconds(1);

/// Says that it has saved, and ends with the code that it is told.
const ENDS: &str = r#"echo up; while [ ! -s "$1.end" ]; do sleep 0.05; done
reeve-ctl checkpoint; echo last words; exit "$(cat "$1.end")""#;

/// Counts until its end.
const COUNTS: &str = r#"i=0; while [ ! -e "$1.end" ]; do i=$((i+1)); echo "$i"; sleep 0.1; done"#;

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap_or_else(|| panic!("{value} is no time")).parse().expect("a time")
}

#[expect(clippy::disallowed_methods, reason = "compared with what processes say of the real time")]
fn now() -> DateTime<Utc> {
    Utc::now()
}

/// Where the agent of n1 keeps the exit status of a job's first run.
fn exit_status(pair: &Pair, id: &str) -> PathBuf {
    pair.file(&format!("n1/members/{id}.1.0/exit.json"))
}

async fn on_disk(pair: &Pair, id: &str) {
    let path = exit_status(pair, id);
    eventually("its end is on disk", async || path.exists()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_while_the_server_is_away_is_told_once_and_as_it_was() {
    let mut pair = Pair::start_with(LEASE_SECS, MARGIN_SECS).await;
    let direct = Cable::through_proxy(&pair.server.url);
    let mut agent = pair.agent("n1", &direct).await;
    let mut ends = Vec::new();
    for code in [0, 3, 0, 7] {
        let name = format!("ends-{}", ends.len());
        ends.push((pair.submit(&name, ENDS).await, name, code));
    }
    let counts = pair.submit("counts", COUNTS).await;
    for (id, ..) in &ends {
        eventually("it is up", async || pair.admin.log(id, 1).await == "up\n").await;
    }
    pair.is(&counts, "running").await;

    pair.server.process.kill9();
    let away = Instant::now();
    let mut moments = Vec::new();
    for (number, (id, name, code)) in ends.iter().enumerate() {
        let told = now();
        std::fs::write(pair.file(&format!("{name}.end")), code.to_string()).expect("written");
        on_disk(&pair, id).await;
        moments.push((told, now()));
        if number == 1 {
            agent.kill9();
            agent = pair.start_agent("n1", &direct);
        }
    }
    assert!(away.elapsed() < Duration::from_secs(LEASE_SECS), "too slow to say anything");
    // Without the server this one may not go on for ever; and the outage is longer than the server waits for a node.
    on_disk(&pair, &counts).await;
    let outage = Duration::from_secs(LEASE_SECS + MARGIN_SECS + 2);
    tokio::time::sleep(outage.saturating_sub(away.elapsed())).await;
    pair.server.start_again();
    pair.server.ready().await;

    for ((id, name, code), (told, gone)) in ends.iter().zip(&moments) {
        pair.is(id, if *code == 0 { "succeeded" } else { "failed" }).await;
        let runs = pair.runs(id).await;
        assert_eq!(runs.len(), 1, "{name} ran again: {runs:?}");
        assert_eq!(runs[0]["exit_code"], *code, "{name}");
        // The run's own end is when the server took its GPUs back.
        let ended = time(&runs[0]["members"][0]["ended_at"]);
        let told = *told - RECKONING;
        assert!(told <= ended && ended <= *gone, "{name} ended between {told} and {gone}, not at {ended}");
        let saved = time(&pair.job(id).await["last_checkpoint_at"]);
        assert!(told <= saved && saved <= *gone, "{name} saved between {told} and {gone}, not at {saved}");
        eventually("its log is complete", async || pair.admin.log(id, 1).await == "up\nlast words\n").await;
        eventually("its end is told once", async || {
            let events = pair.admin.get(&format!("/jobs/{id}/events")).await;
            let events = events["items"].as_array().expect("events").iter();
            events
                .filter(|event| event["action"] == "job.succeeded" || event["action"] == "job.failed")
                .count()
                == 1
        })
        .await;
    }

    pair.is(&counts, "running").await;
    let runs = pair.runs(&counts).await;
    assert_eq!((runs.len(), &runs[0]["state"]), (2, &json!("lost")), "{runs:?}");
    assert_eq!(runs[0]["members"][0]["end_detail"], "lease lost", "{runs:?}");
    let log = std::fs::read_to_string(pair.file(&format!("n1/members/{counts}.1.0/log"))).expect("a log");
    assert!(log.lines().count() > 10, "{log}");
    eventually("its log is complete", async || pair.admin.log(&counts, 1).await == log).await;
    samples_arrive(&pair, &counts, &runs[0]["members"][0]).await;
    std::fs::write(pair.file("counts.end"), "").expect("written");
    pair.is(&counts, "succeeded").await;
    assert_eq!(pair.violations(), "");
    drop(agent);
}

/// How its GPU was used was looked at each second, the server being there or not.
async fn samples_arrive(pair: &Pair, id: &str, member: &Value) {
    let (from, to) = (time(&member["started_at"]), time(&member["ended_at"]));
    let secs = (to - from).num_seconds();
    let minute_before = from - TimeDelta::minutes(1);
    let format = |time: DateTime<Utc>| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let path = format!("/jobs/{id}/use?from={}&to={}", format(minute_before), format(to));
    eventually("most samples of the run are there", async || {
        let used = pair.admin.get(&path).await;
        let points = used["points"].as_array().expect("points").iter();
        points.filter_map(|point| point["samples"].as_i64()).sum::<i64>() >= secs * 6 / 10
    })
    .await;
}
