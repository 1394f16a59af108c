//! How long something took, by the wall and by this thread's own time on a core: on a busy machine only the second
//! says what the work costs.

use std::time::Instant;

#[derive(Debug)]
pub(super) struct Stopwatch {
    wall: Instant,
    cpu_secs: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) wall_secs: f64,
    pub(super) cpu_secs: f64,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { wall: Instant::now(), cpu_secs: thread_cpu_secs() }
    }

    pub(super) fn stop(self) -> Times {
        Times { wall_secs: self.wall.elapsed().as_secs_f64(), cpu_secs: thread_cpu_secs() - self.cpu_secs }
    }
}

/// Linux counts it in nanoseconds; 0 where it does not say.
fn thread_cpu_secs() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}
