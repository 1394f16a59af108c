//! `reeve completions`.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command) {
    clap_complete::generate(args.shell, command, "reeve", &mut std::io::stdout());
}
