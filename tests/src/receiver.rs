//! A receiver of webhooks on loopback that remembers what it was sent and answers as it is told; and one of mail.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What it was sent.
#[derive(Debug, Clone)]
pub struct Received {
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: String,
}

/// An answer: status, header, body.
pub type Answer = (u16, Option<(&'static str, String)>, &'static str);

#[derive(Debug, Default)]
struct Inner {
    received: Vec<Received>,
    answers: VecDeque<Answer>,
}

/// A receiver; it answers 200 to what nothing else was said for.
#[derive(Debug, Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

impl Receiver {
    /// Listens on a free port of this address.
    ///
    /// # Panics
    /// When it cannot.
    pub async fn start(ip: &str) -> Self {
        let listener = TcpListener::bind(format!("{ip}:0")).await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let inner: Arc<Mutex<Inner>> = Arc::default();
        let service = Router::new().fallback(receive).with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { address, inner }
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The next answers, in their order.
    ///
    /// # Panics
    /// When a test has panicked over it.
    pub fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.inner.lock().expect("whole").answers.extend(answers);
    }

    /// Everything so far.
    ///
    /// # Panics
    /// When a test has panicked over it.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.inner.lock().expect("whole").received.clone()
    }
}

async fn receive(
    State(inner): State<Arc<Mutex<Inner>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut inner = inner.lock().expect("whole");
    let body = String::from_utf8_lossy(&body).into_owned();
    inner.received.push(Received { uri, headers, body });
    let (status, header, text) = inner.answers.pop_front().unwrap_or((200, None, "ok"));
    let mut response = (StatusCode::from_u16(status).expect("a status"), text).into_response();
    if let Some((name, value)) = header {
        response.headers_mut().insert(name, value.parse().expect("a header"));
    }
    response
}

impl Received {
    /// # Panics
    /// When it is no JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// # Panics
    /// When it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().expect("ascii")
    }

    /// Whether one of its signatures is this secret's.
    #[must_use]
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let signature = sign(secret, self.header("webhook-id"), self.header("webhook-timestamp"), &self.body);
        self.header("webhook-signature").split(' ').any(|one| one == signature)
    }
}

/// A signature as standardwebhooks.com describes it, written apart from the product's.
///
/// # Panics
/// For a secret that is none.
#[must_use]
pub fn sign(secret: &str, id: &str, timestamp: &str, body: &str) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// A mail server on loopback that keeps what it is given.
#[derive(Debug, Clone)]
pub struct MailServer {
    pub address: SocketAddr,
    /// Each as it came: the envelope's receiver, and the text.
    letters: Arc<Mutex<Vec<(String, String)>>>,
}

impl MailServer {
    /// # Panics
    /// When it cannot listen.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let letters: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let kept = Arc::clone(&letters);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&kept)));
            }
        });
        Self { address, letters }
    }

    /// # Panics
    /// When a test has panicked over it.
    #[must_use]
    pub fn letters(&self) -> Vec<(String, String)> {
        self.letters.lock().expect("whole").clone()
    }
}

/// SMTP as far as a client needs it (RFC 5321).
async fn converse(stream: TcpStream, letters: Arc<Mutex<Vec<(String, String)>>>) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test ESMTP\r\n").await.ok()?;
    let mut to = String::new();
    while let Some(line) = lines.next_line().await.ok()? {
        let reply: &[u8] = match line.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" | "HELO" => b"250-test\r\n250 8BITMIME\r\n",
            "RCPT" => {
                to = line;
                b"250 ok\r\n"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                let mut text = String::new();
                while let Some(line) = lines.next_line().await.ok()?.filter(|line| line != ".") {
                    text.push_str(&line);
                    text.push('\n');
                }
                letters.lock().expect("whole").push((to.clone(), text));
                b"250 kept\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        write.write_all(reply).await.ok()?;
    }
    Some(())
}
