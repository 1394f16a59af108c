//! Clearing away what is no longer needed: folders of members whose end the server has recorded, after some days.
//!
//! It refuses to remove checkpoints: only the job's owner knows when they are worthless.

use crate::files;
use crate::record::Record;
use reeve_core::clock::SharedClock;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tracing::{info, warn};

const PERIOD: Duration = Duration::from_secs(3_600);

/// Clears every hour until the task is dropped.
pub(crate) async fn keep_clean(members: PathBuf, keep: Duration, clock: SharedClock) {
    loop {
        match clear(&members, keep, SystemTime::from(clock.now())) {
            Ok(0) => {}
            Ok(removed) => info!(removed, "removed folders of members that ended long ago"),
            Err(error) => warn!(%error, "cannot clear old members"),
        }
        tokio::time::sleep(PERIOD).await;
    }
}

fn clear(members: &Path, keep: Duration, now: SystemTime) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(members)? {
        let folder = entry?.path();
        let record = folder.join("record.json");
        let old = record
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > keep));
        let settled =
            || files::read_json::<Record>(&record).ok().flatten().is_some_and(|record| record.settled);
        if old && settled() {
            std::fs::remove_dir_all(&folder)?;
            removed += 1;
        }
    }
    Ok(removed)
}
