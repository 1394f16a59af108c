//! Right-sizing: what a job could have asked for instead, from how it used what it has.
//!
//! Each piece of advice has its numbers, and leaves room above what was seen. It refuses to advise on what it has hardly
//! seen, and to change anything.

use serde::{Deserialize, Serialize};

/// Fewer minutes of samples say nothing.
const FEWEST_MINUTES: i64 = 60;
/// What fits beside others computes no more than this, and uses no more than half of the memory.
const MOST_SHARED_PERMILLE: i64 = 400;
/// A GPU that is kept busy less than that is worth a look.
const HALF_BUSY_PERMILLE: i64 = 500;

/// How a job used its GPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Profile {
    /// Minutes in which samples came.
    pub minutes: i64,
    /// GPUs that it holds, and how many of them ever computed.
    pub gpus: i64,
    pub computed: i64,
    /// It asked for a share of each.
    pub shared: bool,
    pub compute_permille_p50: Option<i64>,
    pub compute_permille_p95: Option<i64>,
    pub memory_used_mib_max: Option<i64>,
    /// What it has of one GPU's memory.
    pub memory_mib: Option<i64>,
}

/// What to ask for instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Advice {
    /// Some of its GPUs never computed.
    AskForFewerGpus { gpus: i64, computed: i64 },
    /// It would fit on a part of one.
    AskForShare { gpu_milli: i64, memory_mib: i64, compute_permille_p95: i64, memory_used_mib_max: i64 },
    /// Its share has more memory than it uses.
    AskForLessMemory { memory_mib: i64, asked_mib: i64, memory_used_mib_max: i64 },
    /// It holds what it needs and waits for something else half of the time: data, or the processor.
    FeedItFaster { compute_permille_p50: i64 },
}

/// What the profile says; nothing when it fits, or when too little was seen.
#[must_use]
pub fn advise(profile: &Profile) -> Vec<Advice> {
    if profile.minutes < FEWEST_MINUTES || profile.gpus == 0 {
        return Vec::new();
    }
    if profile.computed > 0 && profile.computed < profile.gpus {
        return vec![Advice::AskForFewerGpus { gpus: profile.gpus, computed: profile.computed }];
    }
    if let Some(advice) = share(profile).or_else(|| less_memory(profile)) {
        return vec![advice];
    }
    let slow = profile.compute_permille_p50.filter(|&permille| (1..HALF_BUSY_PERMILLE).contains(&permille));
    slow.map(|compute_permille_p50| Advice::FeedItFaster { compute_permille_p50 }).into_iter().collect()
}

/// A quarter more than was seen.
const fn with_room(seen: i64) -> i64 {
    seen.saturating_add(seen / 4)
}

/// The next whole `step` at or above.
const fn up_to(amount: i64, step: i64) -> i64 {
    amount.saturating_add(step - 1) / step * step
}

fn share(profile: &Profile) -> Option<Advice> {
    let (compute, used) = (profile.compute_permille_p95?, profile.memory_used_mib_max?);
    let memory_mib = up_to(with_room(used).max(1), 1_024);
    let fits = compute > 0 && compute <= MOST_SHARED_PERMILLE && memory_mib * 2 <= profile.memory_mib?;
    (fits && !profile.shared && profile.gpus == 1).then(|| Advice::AskForShare {
        gpu_milli: up_to(with_room(compute), 100),
        memory_mib,
        compute_permille_p95: compute,
        memory_used_mib_max: used,
    })
}

fn less_memory(profile: &Profile) -> Option<Advice> {
    let (asked_mib, used) = (profile.memory_mib?, profile.memory_used_mib_max?);
    let memory_mib = up_to(with_room(used).max(1), 1_024);
    (profile.shared && memory_mib * 3 <= asked_mib * 2).then_some(Advice::AskForLessMemory {
        memory_mib,
        asked_mib,
        memory_used_mib_max: used,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> Profile {
        Profile {
            minutes: 600,
            gpus: 1,
            computed: 1,
            shared: false,
            compute_permille_p50: Some(900),
            compute_permille_p95: Some(990),
            memory_used_mib_max: Some(70_000),
            memory_mib: Some(81_920),
        }
    }

    fn check(profile: Profile, expected: &[Advice]) {
        assert_eq!(advise(&profile), expected, "{profile:?}");
    }

    #[test]
    fn advice_has_numbers_and_leaves_room() {
        check(busy(), &[]);
        check(
            Profile { gpus: 8, computed: 2, ..busy() },
            &[Advice::AskForFewerGpus { gpus: 8, computed: 2 }],
        );
        check(
            Profile { compute_permille_p95: Some(250), memory_used_mib_max: Some(10_000), ..busy() },
            &[Advice::AskForShare {
                gpu_milli: 400,
                memory_mib: 13_312,
                compute_permille_p95: 250,
                memory_used_mib_max: 10_000,
            }],
        );
        check(
            Profile { shared: true, memory_mib: Some(40_960), memory_used_mib_max: Some(4_000), ..busy() },
            &[Advice::AskForLessMemory { memory_mib: 5_120, asked_mib: 40_960, memory_used_mib_max: 4_000 }],
        );
        check(
            Profile { compute_permille_p50: Some(300), ..busy() },
            &[Advice::FeedItFaster { compute_permille_p50: 300 }],
        );
    }

    #[test]
    fn what_was_hardly_seen_or_never_computed_gets_none() {
        check(Profile { minutes: 59, gpus: 8, computed: 2, ..busy() }, &[]);
        let never = Profile {
            computed: 0,
            compute_permille_p50: Some(0),
            compute_permille_p95: Some(0),
            memory_used_mib_max: Some(0),
            ..busy()
        };
        check(never, &[]);
        check(Profile::default(), &[]);
    }
}
