//! The binary `reeve`.

mod bench;
mod cli;
mod client;
mod commands;
mod config;
mod demo;
mod exit;
mod output;
mod replay;
mod scenario;
mod simulate;

fn main() -> std::process::ExitCode {
    cli::start()
}
