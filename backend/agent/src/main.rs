//! The binary `reeve-agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    reeve_agent::cli::start()
}
