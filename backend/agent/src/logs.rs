//! Logs: what the jobs write goes straight to a file, and from there to the server in chunks.
//!
//! A job's output never passes through the agent, so it neither waits for the agent nor dies with it. Memory is one
//! chunk; the rate is bounded for each node. On disk a log is capped by giving its oldest blocks back to the file
//! system (a hole in the file): offsets stay what they are, and the job notices nothing. Refuses to keep a job
//! waiting, and to send what the server would drop at once.

use crate::files;
use crate::link::BackOff;
use crate::server::{NodeServer, ServerError};
use bytes::Bytes;
use nix::fcntl::{FallocateFlags, fallocate};
use reeve_wire::report::MemberKey;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, warn};

/// Most bytes in one upload.
const CHUNK_BYTES: u64 = 256 * 1024;

const UPLOADED: &str = "uploaded.json";

/// Between looks at the logs.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
struct Log {
    path: PathBuf,
    /// The server has everything below, or told us to go on here.
    offset: u64,
    /// The member has ended: the file grows no more.
    ended: bool,
}

/// Which logs there are: the node's loop writes it, the uploader reads it.
#[derive(Debug)]
pub(crate) struct LogBoard {
    inner: Mutex<Board>,
    /// Most bytes of a log on disk.
    disk_limit: u64,
    /// Most bytes a second sent to the server.
    rate: u64,
}

#[derive(Debug, Default)]
struct Board {
    logs: BTreeMap<MemberKey, Log>,
    /// Most bytes that the server keeps of a log.
    server_limit: Option<u64>,
}

impl LogBoard {
    pub(crate) fn new(disk_limit: u64, rate: u64) -> Self {
        Self { inner: Mutex::default(), disk_limit, rate: rate.max(CHUNK_BYTES) }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn watch(&self, key: &MemberKey, folder: &Path, ended: bool) {
        let offset = files::read_json(&folder.join(UPLOADED)).ok().flatten().unwrap_or(0);
        self.board().logs.insert(key.clone(), Log { path: folder.join("log"), offset, ended });
    }

    pub(crate) fn end(&self, key: &MemberKey) {
        if let Some(log) = self.board().logs.get_mut(key) {
            log.ended = true;
        }
    }

    pub(crate) fn limit(&self, bytes: u64) {
        self.board().server_limit = Some(bytes).filter(|bytes| *bytes > 0);
    }

    /// Bytes that a member has written so far.
    pub(crate) fn size(&self, key: &MemberKey) -> Option<i64> {
        let path = self.board().logs.get(key)?.path.clone();
        Some(std::fs::metadata(path).map_or(0, |metadata| i64::try_from(metadata.len()).unwrap_or(i64::MAX)))
    }

    /// Everything written by ended members is with the server.
    pub(crate) fn is_drained(&self) -> bool {
        self.board().logs.values().all(|log| !log.ended)
    }

    fn all(&self) -> Vec<(MemberKey, Log)> {
        self.board().logs.iter().map(|(key, log)| (key.clone(), log.clone())).collect()
    }

    fn advance(&self, key: &MemberKey, offset: u64) {
        if let Some(log) = self.board().logs.get_mut(key) {
            log.offset = offset;
            let path = log.path.with_file_name(UPLOADED);
            // Not synced: after a power cut a chunk is sent twice, and the server skips it.
            if let Err(error) = std::fs::write(&path, offset.to_string()) {
                debug!(%error, "cannot remember how far a log is uploaded");
            }
        }
    }

    fn drop_log(&self, key: &MemberKey) {
        self.board().logs.remove(key);
    }

    /// Uploads until the task is dropped.
    pub(crate) async fn upload(&self, server: &NodeServer) {
        let mut pauses = BackOff::new();
        let mut budget = Budget::new(self.rate);
        loop {
            for (key, log) in self.all() {
                if let Err(error) = self.catch_up(server, &key, log, &mut budget).await {
                    debug!(job = %key.job_id, %error, "cannot upload its log yet");
                    pauses.pause().await;
                    break;
                }
                pauses.reset();
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sends what one log has more than the server: at most a few chunks, so that no log starves the others.
    async fn catch_up(
        &self,
        server: &NodeServer,
        key: &MemberKey,
        mut log: Log,
        budget: &mut Budget,
    ) -> Result<(), ServerError> {
        const CHUNKS_A_TURN: u32 = 16;
        let Ok(file) = File::open(&log.path) else {
            if log.ended {
                self.drop_log(key);
            }
            return Ok(());
        };
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        self.cap(&log.path, size);
        log.offset = log.offset.max(self.oldest_worth_sending(size));
        for _ in 0..CHUNKS_A_TURN {
            if log.offset >= size {
                if log.ended {
                    self.drop_log(key);
                }
                return Ok(());
            }
            let chunk = read_chunk(&file, log.offset, size - log.offset).unwrap_or_default();
            budget.take(chunk.len() as u64).await;
            match server.put_log(key, log.offset, chunk).await {
                Ok(stored) => {
                    log.offset = u64::try_from(stored.next_offset).unwrap_or(log.offset);
                    self.advance(key, log.offset);
                }
                Err(ServerError::Refused(why)) => {
                    // An unknown run, or a log that the server no longer takes: asking again changes nothing.
                    debug!(job = %key.job_id, why, "the server takes no more of this log");
                    self.drop_log(key);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn oldest_worth_sending(&self, size: u64) -> u64 {
        let keep = self.board().server_limit.unwrap_or(u64::MAX).min(self.disk_limit);
        size.saturating_sub(keep)
    }

    /// Gives the oldest blocks of a log that is over its limit back to the file system.
    fn cap(&self, path: &Path, size: u64) {
        // In steps, so that it is not done for each line.
        const STEP_BYTES: u64 = 4 * 1024 * 1024;
        let over = size.saturating_sub(self.disk_limit) / STEP_BYTES * STEP_BYTES;
        if over == 0 {
            return;
        }
        if let Err(error) = punch(path, over) {
            warn!(path = %path.display(), %error, "cannot shorten a log: emptying it instead");
            if let Err(error) = OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0)) {
                warn!(path = %path.display(), %error, "cannot empty it either");
            }
        }
    }
}

fn read_chunk(file: &File, offset: u64, left: u64) -> io::Result<Bytes> {
    let mut chunk = vec![0; usize::try_from(left.min(CHUNK_BYTES)).unwrap_or(0)];
    let mut read = 0;
    while read < chunk.len() {
        match file.read_at(&mut chunk[read..], offset + read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    chunk.truncate(read);
    Ok(chunk.into())
}

/// Makes the first `bytes` of a file a hole.
fn punch(path: &Path, bytes: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    fallocate(&file, mode, 0, i64::try_from(bytes).unwrap_or(i64::MAX)).map_err(io::Error::from)
}

/// Bytes that may be sent now; more come with time, at most a second's worth.
#[derive(Debug)]
struct Budget {
    rate: u64,
    left: u64,
    at: Instant,
}

impl Budget {
    fn new(rate: u64) -> Self {
        Self { rate, left: rate, at: Instant::now() }
    }

    async fn take(&mut self, bytes: u64) {
        let earned = self.at.elapsed().as_secs_f64() * self.rate as f64;
        self.at = Instant::now();
        self.left = self.left.saturating_add(earned as u64).min(self.rate);
        if self.left < bytes {
            let wait = (bytes - self.left) as f64 / self.rate as f64;
            tokio::time::sleep(Duration::from_secs_f64(wait)).await;
        }
        self.left = self.left.saturating_sub(bytes);
    }
}
