//! The command line as a person's shell runs it, with a token of the administrator's.

use crate::site::Site;
use reeve_tests::processes::binary;
use serde_json::json;
use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) struct Cli {
    url: String,
    token: String,
    home: PathBuf,
}

impl Cli {
    pub(crate) async fn of(site: &Site, scopes: &[&str]) -> Self {
        let made = site.admin.post("/tokens", json!({"name": "cli", "scopes": scopes})).await;
        Self {
            url: site.server.url.clone(),
            token: made["token"].as_str().expect("a token").to_owned(),
            home: site.folder.path().to_owned(),
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("reeve"));
        command
            .args(args)
            .env("REEVE_SERVER", &self.url)
            .env("REEVE_TOKEN", &self.token)
            .env("HOME", &self.home);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it runs")
    }

    /// What it prints when it is done well.
    pub(crate) fn said(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}
