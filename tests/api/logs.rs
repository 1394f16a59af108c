//! Logs as large as careless jobs write them: taken in chunks, kept to a limit, read without holding them in memory.

use axum::body::Body;
use futures::StreamExt;
use reeve_tests::TestApp;
use reeve_tests::app::text;
use serde_json::json;

const CHUNK: usize = 256 * 1024;
/// 100 MiB.
const CHUNKS: usize = 400;
/// What the server keeps of one member.
const KEPT: usize = 64 * 1024 * 1024;

/// Resident memory of this process, which is this test's alone.
fn resident_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kib: usize = line.trim().trim_end_matches(" kB").trim().parse().expect("a number");
    kib / 1024
}

/// Each byte says where it stands.
fn byte_at(offset: usize) -> u8 {
    u8::try_from((offset / 1_000 + offset) % 251).expect("small")
}

fn chunk(nth: usize) -> Vec<u8> {
    (nth * CHUNK..(nth + 1) * CHUNK).map(byte_at).collect()
}

/// A running job, and where its log goes.
async fn running(app: &TestApp) -> (String, String) {
    let job = app.submit("a-member", "team-a", json!({})).await;
    let id = text(&job["id"]).to_owned();
    app.schedule().await;
    app.node.run_all().await;
    let put = format!("/agent/v1/logs/{id}/1/0");
    (id, put)
}

#[tokio::test]
async fn a_log_of_100_mib_is_taken_kept_to_its_limit_and_read_in_bounded_memory() {
    let app = TestApp::start().await;
    let (id, put) = running(&app).await;
    for nth in 0..CHUNKS {
        let path = format!("{put}?offset={}", nth * CHUNK);
        let call = app.node.client.call("PUT", &path).body("application/octet-stream", chunk(nth));
        assert_eq!(call.await.ok()["next_offset"], (nth + 1) * CHUNK);
    }
    let all = CHUNKS * CHUNK;
    let member = app.user("a-member");
    let tail = member.get(&format!("/jobs/{id}/logs?tail_bytes=1000")).await;
    assert_eq!(tail.header("reeve-log-next"), all.to_string());
    assert_eq!(tail.body.to_vec(), (all - 1_000..all).map(byte_at).collect::<Vec<u8>>());
    // What was dropped is skipped, and the answer says where it begins.
    let first = member.get(&format!("/jobs/{id}/logs?offset=0&limit_bytes=10")).await;
    let start = all - KEPT;
    assert_eq!(first.header("reeve-log-start"), start.to_string());
    assert_eq!(first.body.to_vec(), (start..start + 10).map(byte_at).collect::<Vec<u8>>());
    for query in ["tail_bytes=4194305", "offset=0&limit_bytes=4194305", "tail_bytes=-1"] {
        member.get(&format!("/jobs/{id}/logs?{query}")).await.refused(400, "invalid_query");
    }

    let before = resident_mib();
    let response = member.get(&format!("/jobs/{id}/logs?download=true")).response().await;
    assert_eq!(response.headers()["reeve-log-start"], start.to_string());
    let (mut stream, mut offset, mut most) = (response.into_body().into_data_stream(), start, 0);
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.expect("a stretch");
        assert!(bytes.len() <= 16 * CHUNK, "{} bytes at once", bytes.len());
        assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == byte_at(offset + at)), "at {offset}");
        offset += bytes.len();
        most = most.max(resident_mib().saturating_sub(before));
    }
    assert_eq!(offset, all, "the whole of what is kept");
    assert!(most < 48, "{most} MiB more while 64 MiB were read");
}

#[tokio::test]
async fn a_log_is_complete_when_the_end_is_told_and_the_last_byte_is_here() {
    let app = TestApp::start().await;
    let (id, put) = running(&app).await;
    let complete = async || {
        let read = app.user("a-member").get(&format!("/jobs/{id}/logs?offset=0")).await;
        read.header("reeve-log-complete").to_owned()
    };
    let send = async |offset: usize| {
        let call = app.node.client.call("PUT", &format!("{put}?offset={offset}"));
        call.body("text/plain", b"half".to_vec()).await.expect(200);
    };
    send(0).await;
    assert_eq!(complete().await, "false", "it runs");
    app.node.wrote(&id, 8);
    app.node.end(&id, 0).await;
    assert_eq!(app.job(&json!(id)).await["state"], "succeeded");
    assert_eq!(complete().await, "false", "half of it is on its way");
    send(4).await;
    assert_eq!(complete().await, "true");
    // Another, whose agent never sends the rest.
    let (id, _) = running(&app).await;
    app.node.wrote(&id, 8);
    app.node.end(&id, 0).await;
    let complete = async || {
        let read = app.user("a-member").get(&format!("/jobs/{id}/logs?offset=0")).await;
        read.header("reeve-log-complete").to_owned()
    };
    assert_eq!(complete().await, "false");
    app.clock.advance(chrono::TimeDelta::minutes(11));
    assert_eq!(complete().await, "true", "nobody waits for it for ever");
}

#[tokio::test]
async fn stretches_that_cannot_be_kept_are_refused_and_leave_nothing() {
    let app = TestApp::start().await;
    let (id, put) = running(&app).await;
    let send = |query: &str, bytes: Vec<u8>| {
        app.node.client.call("PUT", &format!("{put}?{query}")).body("application/octet-stream", bytes)
    };
    send("offset=0", vec![b'x'; CHUNK + 1]).await.refused(413, "payload_too_large");
    send("offset=0", vec![b'x'; 100 * 1024 * 1024]).await.refused(413, "payload_too_large");
    send("offset=-1", b"x".to_vec()).await.refused(400, "invalid_query");
    send("offset=9223372036854775807", b"x".to_vec()).await.refused(400, "invalid_query");
    send("offset=abc", b"x".to_vec()).await.refused(400, "invalid_query");
    send("offset=0&more=1", b"x".to_vec()).await.refused(400, "invalid_query");
    app.node
        .client
        .call("PUT", &format!("/agent/v1/logs/{id}/9/0?offset=0"))
        .body("text/plain", Body::from("x"))
        .await
        .refused(404, "not_found");
    app.user("a-member")
        .call("PUT", &format!("{put}?offset=0"))
        .body("text/plain", Body::from("x"))
        .await
        .refused(401, "invalid_credential");
    assert_eq!(app.count_rows("log_chunks").await, 0);
    send("offset=0", Vec::new()).await.expect(200);
    send("offset=0", vec![0, 0xff, 0x1b, b'\n']).await.expect(200);
    let read = app.user("a-member").get(&format!("/jobs/{id}/logs")).await;
    assert_eq!(read.body.to_vec(), [0, 0xff, 0x1b, b'\n'], "bytes stay as they came");
    assert_eq!(read.header("x-content-type-options"), "nosniff");
}
