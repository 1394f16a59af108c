//! How the GPUs are used: looks at them at a steady rhythm, and tells the server in batches.
//!
//! What could not be told waits, within bounds: the oldest goes first, and the server sees a gap, which proves nothing. It
//! refuses to judge what it sees, and to hold up a job for it.

use crate::boot_time::BootTime;
use crate::gpus::{GpuSource, GpuUse, Held};
use crate::server::{NodeServer, ServerError};
use crate::server_time::ServerTime;
use chrono::{DateTime, Utc};
use reeve_wire::report::MemberKey;
use reeve_wire::samples::{GpuSample, MOST_SAMPLES, SAMPLE_EVERY_SECS, Samples};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use tracing::{debug, warn};

/// Four hours of eight GPUs.
const MOST_WAITING: usize = 8 * 4 * 3600 / SAMPLE_EVERY_SECS as usize;
/// Looks between two messages: a minute.
const LOOKS_A_MESSAGE: u32 = 4;

/// Who runs on which GPU and what time it is, as the node's loop says. A board: read at each look, never waited for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occupancy(Arc<Mutex<Board>>);

#[derive(Debug, Clone, Default)]
struct Board {
    held: BTreeMap<u32, Held>,
    /// None before the server's first answer: nobody knows when it is.
    server_time: Option<ServerTime>,
}

impl Occupancy {
    pub(crate) fn set_held(&self, held: BTreeMap<u32, Held>) {
        self.lock().held = held;
    }

    pub(crate) fn set_time(&self, time: ServerTime) {
        self.lock().server_time = Some(time);
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks each `every` and tells, until it is dropped.
pub(crate) async fn run(gpus: Arc<dyn GpuSource>, occupancy: Occupancy, server: NodeServer, every: Duration) {
    // Many nodes that start together do not speak together.
    tokio::time::sleep(every.mul_f64(rand::random_range(0.0..1.0))).await;
    let mut looks = tokio::time::interval(every);
    looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut waiting, mut looked) = (VecDeque::new(), 0);
    loop {
        looks.tick().await;
        let Board { held, server_time } = occupancy.lock().clone();
        let Some(now) = server_time.map(|time| time.at(BootTime::now())) else { continue };
        let (source, asked) = (Arc::clone(&gpus), held.clone());
        // The driver may take its time: never on a thread that others wait for.
        match tokio::task::spawn_blocking(move || source.sample(&asked, now)).await {
            Ok(Ok(found)) => add(&mut waiting, found, &held, now),
            Ok(Err(error)) => warn!(%error, "cannot look at the GPUs' use"),
            Err(error) => warn!(%error, "looking at the GPUs' use ended badly"),
        }
        looked += 1;
        if looked >= LOOKS_A_MESSAGE {
            looked = 0;
            tell(&mut waiting, &server).await;
        }
    }
}

fn add(waiting: &mut VecDeque<GpuSample>, found: Vec<GpuUse>, held: &BTreeMap<u32, Held>, at: DateTime<Utc>) {
    for used in found {
        let members: Vec<MemberKey> =
            held.get(&used.index).map_or_else(Vec::new, |held| held.members.clone());
        waiting.push_back(GpuSample {
            at,
            index: used.index,
            compute_permille: used.compute_permille,
            memory_used_mib: used.memory_used_mib,
            power_milliwatts: used.power_milliwatts,
            temperature_celsius: used.temperature_celsius,
            pcie_kib_per_s: used.pcie_kib_per_s,
            members,
        });
    }
    while waiting.len() > MOST_WAITING {
        waiting.pop_front();
    }
}

/// Tells all that waits. A server that is away is asked again with the next message; one that refuses a message will
/// refuse it again.
async fn tell(waiting: &mut VecDeque<GpuSample>, server: &NodeServer) {
    while !waiting.is_empty() {
        let samples: Vec<GpuSample> = waiting.iter().take(MOST_SAMPLES).cloned().collect();
        let told = samples.len();
        match server.samples(&Samples { samples }).await {
            Ok(kept) => {
                waiting.drain(..told);
                if kept.dropped > 0 {
                    debug!(dropped = kept.dropped, "the server did not keep every sample");
                }
            }
            Err(ServerError::Refused(why)) => {
                warn!(why, "samples are refused");
                waiting.drain(..told);
            }
            Err(error) => {
                debug!(%error, "samples wait");
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(index: u32) -> GpuUse {
        GpuUse { index, compute_permille: Some(900), ..GpuUse::default() }
    }

    #[test]
    fn samples_name_who_runs_there_and_the_oldest_go_first() {
        let key = MemberKey { job_id: uuid::Uuid::from_u128(1), run_number: 1, member: 0 };
        let held = BTreeMap::from([(1, Held { members: vec![key.clone()], simulated_permille: None })]);
        let at = |secs| DateTime::from_timestamp(secs, 0).expect("a time");
        let mut waiting = VecDeque::new();
        add(&mut waiting, vec![used(0), used(1)], &held, at(0));
        assert_eq!(waiting[0].members, []);
        assert_eq!(waiting[1].members, [key]);
        for secs in 1..=i64::try_from(MOST_WAITING).expect("a number") {
            add(&mut waiting, vec![used(0)], &held, at(secs));
        }
        assert_eq!(waiting.len(), MOST_WAITING);
        assert_eq!(waiting[0].at, at(1));
    }
}
