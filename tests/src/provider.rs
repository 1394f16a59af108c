//! A real OpenID Connect provider as a process of its own (`tests/oidc/provider.mjs`), and a browser that signs in there.

use crate::processes::{Process, eventually, free_port, http_client};
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Where it sends browsers back to: the in-process server's address, as its requests name it.
pub const CALLBACK: &str = "https://reeve.test/api/v1/auth/oidc/callback";
pub const CLIENT_SECRET: &str = "a secret with + and / in it";

/// The running provider.
#[derive(Debug)]
pub struct OidcProvider {
    process: Process,
    pub issuer: String,
    port: u16,
    folder: TempDir,
}

impl OidcProvider {
    /// Starts it with a key of this name, and waits until it answers.
    ///
    /// # Panics
    /// When its packages are not installed, or it does not start.
    pub async fn start(key: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let process = run(port, key, folder.path());
        let provider = Self { process, issuer: format!("http://127.0.0.1:{port}"), port, folder };
        provider.ready().await;
        provider
    }

    /// The same provider with another key: what it signed before is not its any more.
    pub async fn rotate(&mut self, key: &str) {
        self.process.stop();
        self.process = run(self.port, key, self.folder.path());
        self.ready().await;
    }

    async fn ready(&self) {
        let url = format!("{}/.well-known/openid-configuration", self.issuer);
        let client = http_client();
        eventually("the provider answers", async || client.get(&url).send().await.is_ok()).await;
    }

    /// Signs in as `login` (`name+group+group`) where Reeve sent the browser; answers where the provider sends it back.
    ///
    /// # Panics
    /// When the provider does not let in.
    pub async fn sign_in(&self, url: &str, login: &str) -> String {
        let mut browser = Browser { client: no_redirects(), cookies: BTreeMap::new() };
        let page = browser.get(url).await;
        let page = format!("{}{page}", self.issuer);
        let resume = browser.post(&page, &[("login", login)]).await;
        let back = browser.get(&resume).await;
        assert!(back.starts_with(CALLBACK), "sent to {back}");
        back
    }

    /// A token that it signs as a build platform does for a pipeline.
    ///
    /// # Panics
    /// When it does not.
    pub async fn mint(&self, claims: &Value) -> String {
        self.mint_as(json!({"claims": claims})).await
    }

    /// The same with `issuer` or `key_id` said otherwise.
    ///
    /// # Panics
    /// When it does not.
    pub async fn mint_as(&self, body: Value) -> String {
        let reply = http_client().post(format!("{}/mint", self.issuer)).json(&body).send().await;
        reply.expect("a reply").text().await.expect("a token")
    }
}

fn run(port: u16, key: &str, folder: &Path) -> Process {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/oidc/provider.mjs");
    let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/oidc/node_modules/oidc-provider");
    assert!(Path::new(modules).exists(), "the provider's packages are missing: run tests/setup.sh test");
    let mut command = Command::new("node");
    command.args([script, &port.to_string(), CALLBACK, key]);
    Process::start(command, &folder.join("provider.log"))
}

fn no_redirects() -> reqwest::Client {
    // Installs what reqwest asks for.
    let _ = http_client();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

struct Browser {
    client: reqwest::Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn get(&mut self, url: &str) -> String {
        self.send(self.client.get(url)).await
    }

    async fn post(&mut self, url: &str, form: &[(&str, &str)]) -> String {
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = self.client.post(url).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(body.join("&"))).await
    }

    /// Sends it with the cookies; answers where it leads.
    async fn send(&mut self, request: reqwest::RequestBuilder) -> String {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let reply = request.header(COOKIE, cookies.join("; ")).send().await.expect("a reply");
        for set in reply.headers().get_all(SET_COOKIE) {
            let pair = set.to_str().expect("ascii").split(';').next().expect("a pair");
            let (name, value) = pair.split_once('=').expect("a pair");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let status = reply.status();
        let place = reply.headers().get(LOCATION).and_then(|place| place.to_str().ok()).map(str::to_owned);
        match place {
            Some(place) => place,
            None => panic!("no redirect: {status} {}", reply.text().await.unwrap_or_default()),
        }
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}
