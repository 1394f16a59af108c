//! `reeve man`: manual pages of all commands, from the same text as `--help`.

use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where the pages are written, for example /usr/local/share/man/man1
    folder: PathBuf,
}

pub(crate) fn run(args: &ManArgs, command: clap::Command) -> anyhow::Result<()> {
    let shown = args.folder.display().to_string();
    std::fs::create_dir_all(&args.folder).with_context(|| shown.clone())?;
    clap_mangen::generate_to(command, &args.folder).with_context(|| shown.clone())?;
    println!("{shown}");
    Ok(())
}
