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

/// A plan at the scale of thousands of nodes is a million small pieces of memory: glibc's allocator took a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::start()
}
