use super::*;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap as Headers;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::json;
use std::sync::{Arc, Mutex};

type Keys = Arc<Mutex<Vec<Option<String>>>>;

/// Says 503 twice, then answers; keeps the keys that it saw.
async fn flaky(State(keys): State<Keys>, headers: Headers) -> Response {
    let mut keys = keys.lock().expect("unpoisoned");
    keys.push(headers.get("idempotency-key").map(|key| key.to_str().expect("text").to_owned()));
    if keys.len() < 3 {
        let problem = json!({"title": "Busy", "status": 503, "code": "unavailable"});
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")], Json(problem)).into_response();
    }
    Json(json!({"id": "x"})).into_response()
}

async fn serve(keys: Keys) -> Client {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let app = axum::Router::new().route("/api/v1/jobs", post(flaky).put(flaky)).with_state(keys);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, app).await });
    Client::anonymous(Some(&format!("http://{address}/"))).expect("a client")
}

#[tokio::test]
async fn a_busy_server_is_asked_again_with_the_same_key() {
    let keys = Keys::default();
    let client = serve(Arc::clone(&keys)).await;
    let reply = client.send(Call::post("/jobs", json!({}))).await.expect("answered in the end");
    assert_eq!(reply["id"], "x");
    let keys = keys.lock().expect("unpoisoned");
    assert_eq!(keys.len(), 3);
    assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[tokio::test]
async fn an_act_without_a_key_is_not_repeated() {
    let keys = Keys::default();
    let client = serve(Arc::clone(&keys)).await;
    let mut call = Call::post("/jobs", json!({}));
    call.key = None;
    let error = client.send(call).await.expect_err("refused");
    assert!(matches!(&error, ClientError::Refused(problem) if problem.status == 503), "{error}");
    assert_eq!(keys.lock().expect("unpoisoned").len(), 1);
}

#[tokio::test]
async fn a_reply_that_is_no_problem_document_is_named() {
    let client = serve(Keys::default()).await;
    let error = client.send(Call::get("/nowhere")).await.expect_err("404 without a body");
    assert!(matches!(error, ClientError::Unreadable { status: 404, .. }), "{error}");
}

#[test]
fn pauses_grow_and_end() {
    let none = HeaderMap::new();
    assert_eq!(pause(1, &none), Duration::from_millis(200));
    assert_eq!(pause(3, &none), Duration::from_millis(800));
    assert_eq!(pause(20, &none), LONGEST_PAUSE);
}
