//! Makes the changes. What one refuses because of another that is still to come (a parent's guarantee before its
//! children's) is tried again after it; when nothing goes on any more, the first refusal is told.

use super::change::Change;
use crate::client::{Client, ClientError};
use crate::output::Output;
use anyhow::{Context, anyhow};

/// Makes them true, and says each that is done.
pub(super) async fn make(changes: Vec<Change>, client: &Client, output: Output) -> anyhow::Result<usize> {
    let total = changes.len();
    let (mut left, mut done) = (changes, 0);
    while !left.is_empty() {
        let (mut refused, before): (Vec<(Change, ClientError)>, usize) = (Vec::new(), left.len());
        for change in left {
            match client.send(change.call()).await {
                Ok(_) => {
                    done += 1;
                    if !output.is_json() {
                        change.lines().iter().for_each(|line| println!("{line}"));
                    }
                }
                Err(error @ ClientError::Refused(_)) => refused.push((change, error)),
                Err(other) => return Err(other).context(format!("{done} of {total} changes are made")),
            }
        }
        if refused.len() == before {
            let (change, error) = refused.swap_remove(0);
            let what = change.lines().join("; ");
            return Err(
                anyhow!(error).context(format!("{done} of {total} changes are made; refused: {what}"))
            );
        }
        left = refused.into_iter().map(|(change, _)| change).collect();
    }
    Ok(done)
}
