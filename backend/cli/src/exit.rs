//! Exit codes, and how a failure is said. It refuses to print more of a reply than its problem document.

use crate::client::ClientError;
use std::process::ExitCode;

pub(crate) const HELP: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the server, 4 not signed in, \
5 server not reachable; `submit --wait`: 10 the job failed, 11 it was cancelled; \
`run`: as the command";

pub(crate) const JOB_FAILED: u8 = 10;
pub(crate) const JOB_CANCELLED: u8 = 11;

/// Prints why, and chooses the code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("reeve: {error:#}");
    let client = error.chain().find_map(|cause| cause.downcast_ref::<ClientError>());
    ExitCode::from(client.map_or(1, code))
}

fn code(error: &ClientError) -> u8 {
    match error {
        ClientError::NotSignedIn => 4,
        ClientError::Refused(problem) if problem.status == 401 => 4,
        ClientError::Refused(problem) if problem.status >= 500 => 5,
        ClientError::Refused(_) => 3,
        ClientError::Unreachable { .. } => 5,
        ClientError::Unreadable { .. } => 1,
    }
}
