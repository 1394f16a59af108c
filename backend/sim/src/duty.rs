//! Duty cycles of made-up jobs of which it is known whether they are idle, judged minute by minute by production's rule.
//!
//! The shape is what has been published of GPU clusters: most time in which a GPU computes nothing is a pause amid a
//! healthy job. Training pauses for checkpoints and validation; evaluation loads for a long time first and computes its
//! metrics on the processor at the end (Hu et al., NSDI 2024, saw half of an evaluation's GPU time go that way); people at
//! notebooks think, with pauses that spread over orders of magnitude. Some jobs stop computing for good and hold their
//! GPUs: they hang, or are forgotten. A pause is healthy if the job computes again by itself, however long it was.
//!
//! Samples are lost as they are in life: agents fall silent for a while. The same seed gives the same jobs for ever. This
//! module refuses to decide: `reeve_core::idle` does.

use crate::generate::normal;
use chrono::{DateTime, TimeDelta, Utc};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reeve_core::idle::{
    Coverage, IdleAction, IdleRule, Notice, NoticeState, Pauses, Step, Use, UsualPauses, judge, next, window,
};
use reeve_core::kind::Kind;
use std::collections::BTreeMap;

const MINUTE: i64 = 60;
const SAMPLES_PER_MINUTE: u64 = 4;
const LIKES: usize = 12;

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duty {
    pub jobs: u32,
    /// Of a thousand jobs, so many end in a stretch in which they never compute again.
    pub idle_permille: u32,
    /// How far pauses spread: 1 = as described, more = a heavier tail.
    pub spread: f64,
    pub seed: u64,
}

/// What came of one kind's jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    pub jobs: u64,
    /// Pauses of an hour and more that ended by themselves.
    pub long_pauses: u64,
    /// Notices given to jobs that computed again.
    pub healthy_notified: u64,
    /// Jobs that were taken, and would have computed again.
    pub healthy_taken: u64,
    /// GPU-minutes in which a job would never compute again, of those that were found, and after they were found.
    pub idle_minutes: u64,
    pub found_minutes: u64,
    pub saved_minutes: u64,
}

/// One job: minutes computing and pausing in turn, and then a stretch that never ends by itself.
struct Life {
    kind: Kind,
    like: usize,
    gpus: u64,
    begins: i64,
    /// Minute by minute: whether it computes.
    busy: Vec<bool>,
    /// From this minute on it never computes again.
    idle_from: Option<usize>,
    /// Minutes of which no sample came.
    unseen: Vec<bool>,
    /// How many minutes were seen before each.
    seen: Vec<usize>,
}

impl Duty {
    /// Makes the jobs, judges them, and counts by kind.
    #[must_use]
    pub fn judged(&self) -> BTreeMap<Kind, Outcome> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut lives: Vec<Life> = (0..self.jobs).map(|_| self.life(&mut random)).collect();
        lives.sort_by_key(|life| life.begins);
        let mut ended: Vec<(i64, Kind, usize, i64)> = Vec::new();
        let mut outcomes = BTreeMap::new();
        for life in &lives {
            let known = |like: Option<usize>| {
                let mut pauses = UsualPauses::default();
                let ended = ended.iter().filter(|(end, kind, of, _)| {
                    *end <= life.begins && *kind == life.kind && like.is_none_or(|like| *of == like)
                });
                ended.for_each(|(_, _, _, longest)| pauses.add(*longest));
                pauses
            };
            let likes = [known(Some(life.like)), known(None)];
            let longest = follow(life, &likes, outcomes.entry(life.kind).or_default());
            ended.push((life.begins + minutes(life.busy.len()), life.kind, life.like, longest));
        }
        outcomes
    }

    fn life(&self, random: &mut StdRng) -> Life {
        let kind =
            [Kind::Training, Kind::Training, Kind::Evaluation, Kind::Experiment][random.random_range(0..4)];
        let mut busy = Vec::new();
        match kind {
            Kind::Training => self.trains(random, &mut busy),
            Kind::Evaluation => self.evaluates(random, &mut busy),
            _ => self.is_tried(random, &mut busy),
        }
        let idle_from = (random.random_range(0..1000) < self.idle_permille).then(|| {
            // It stops somewhere on its way, seldom before it has begun.
            let stops = random.random_range(busy.len() / 4..busy.len());
            busy.truncate(stops);
            let held = about(random, 14.0 * 60.0, 0.8).clamp(60, 5 * 24 * 60);
            busy.resize(stops + held, false);
            busy.iter().rposition(|&busy| busy).map_or(0, |last| last + 1)
        });
        if idle_from.is_none() {
            busy.push(true);
        }
        let unseen = unseen(random, busy.len());
        Life {
            kind,
            like: random.random_range(0..LIKES),
            gpus: [1, 1, 1, 2, 4, 8][random.random_range(0..6)],
            begins: random.random_range(0..30 * 24 * 60) * MINUTE,
            busy,
            idle_from,
            seen: seen(&unseen),
            unseen,
        }
    }

    /// Half an hour to an hour of steps, a checkpoint of minutes; every few hours a validation on the processor.
    fn trains(&self, random: &mut StdRng, busy: &mut Vec<bool>) {
        put(busy, false, random.random_range(2..15));
        let length = about(random, 10.0 * 60.0, 0.9).clamp(60, 4 * 24 * 60);
        while busy.len() < length {
            put(busy, true, random.random_range(30..60));
            let validates = random.random_range(0..5) == 0;
            let middle = if validates { 12.0 } else { 2.0 };
            let pause = about(random, middle, 0.6 * self.spread);
            put(busy, false, pause);
        }
    }

    /// Loads, computes, and judges what it computed without the GPU; a few data sets, one after the other.
    fn evaluates(&self, random: &mut StdRng, busy: &mut Vec<bool>) {
        for _ in 0..random.random_range(2..8) {
            put(busy, false, about(random, 12.0, 0.5 * self.spread));
            put(busy, true, random.random_range(15..60));
            put(busy, false, about(random, 15.0, 0.6 * self.spread));
        }
    }

    /// Somebody tries something, and thinks about it.
    fn is_tried(&self, random: &mut StdRng, busy: &mut Vec<bool>) {
        put(busy, false, random.random_range(1..10));
        for _ in 0..random.random_range(10..40) {
            put(busy, true, about(random, 8.0, 0.8).max(1));
            put(busy, false, about(random, 6.0, 0.9 * self.spread));
        }
    }
}

/// Goes through a job's minutes; answers its longest pause that ended.
fn follow(life: &Life, likes: &[UsualPauses; 2], outcome: &mut Outcome) -> i64 {
    // In force for every kind: it is the rule that is measured, not where it is used.
    let rule = IdleRule { action: IdleAction::Reclaimable, ..IdleRule::default_for(life.kind) };
    let started_at = at(life.begins);
    let mut pauses = Pauses::default();
    let mut notice: Option<Notice> = None;
    outcome.jobs += 1;
    outcome.long_pauses += long_pauses(life);
    let idle = |minute: usize| life.idle_from.is_some_and(|from| minute >= from);
    let left = |from: usize| (life.busy.len() - from) as u64 * life.gpus;
    outcome.idle_minutes += life.idle_from.map_or(0, left);
    for minute in 0..life.busy.len() {
        let now = at(life.begins + minutes(minute + 1));
        if life.busy[minute] && !life.unseen[minute] {
            pauses = pauses.busy(now);
        }
        let window = window(&rule, &pauses, &[&likes[0], &likes[1]]);
        let seen = coverage(life, minute, window);
        let verdict = judge(&rule, &Use { started_at, pauses }, window, seen, now);
        match next(&rule, notice.as_ref(), &verdict, false, now) {
            Step::Nothing => {}
            Step::Notify { act_at } => {
                outcome.healthy_notified += u64::from(!idle(minute));
                notice =
                    Some(Notice { state: NoticeState::Notified, notified_at: now, act_at, snoozed_secs: 0 });
            }
            Step::Rearm => notice = None,
            Step::MakeReclaimable | Step::Stop => {
                match life.idle_from.filter(|_| idle(minute)) {
                    Some(from) => {
                        outcome.found_minutes += left(from);
                        outcome.saved_minutes += left(minute);
                    }
                    None => outcome.healthy_taken += 1,
                }
                break;
            }
        }
    }
    pauses.longest_secs
}

fn coverage(life: &Life, minute: usize, window: TimeDelta) -> Coverage {
    let length = usize::try_from(window.num_minutes()).unwrap_or(0).min(minute + 1);
    let seen = life.seen[minute + 1] - life.seen[minute + 1 - length];
    let samples = |minutes: usize| minutes as u64 * SAMPLES_PER_MINUTE * life.gpus;
    Coverage { samples: samples(seen), expected: samples(length) }
}

fn long_pauses(life: &Life) -> u64 {
    let healthy = &life.busy[..life.idle_from.unwrap_or(life.busy.len())];
    let pauses = healthy.split(|&busy| busy).filter(|pause| pause.len() >= 60);
    pauses.count() as u64
}

/// An agent is silent now and then, for minutes to an hour.
fn unseen(random: &mut StdRng, length: usize) -> Vec<bool> {
    let mut unseen = vec![false; length];
    for _ in 0..length / (24 * 60) + usize::from(random.random_range(0..3) == 0) {
        let from = random.random_range(0..length);
        let silent = random.random_range(2..60);
        unseen[from..(from + silent).min(length)].fill(true);
    }
    unseen
}

fn seen(unseen: &[bool]) -> Vec<usize> {
    let mut before = vec![0];
    for unseen in unseen {
        before.push(before.last().copied().unwrap_or(0) + usize::from(!unseen));
    }
    before
}

/// Log-normal, with this median.
fn about(random: &mut StdRng, median: f64, sigma: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "minutes, far below")]
    let minutes = (median.ln() + sigma * normal(random)).exp().round() as usize;
    minutes
}

fn put(busy: &mut Vec<bool>, computes: bool, minutes: usize) {
    busy.resize(busy.len() + minutes, computes);
}

fn minutes(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / MINUTE) * MINUTE
}

fn at(secs: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Duty = Duty { jobs: 300, idle_permille: 150, spread: 1.0, seed: 7 };

    #[test]
    fn the_same_seed_gives_the_same_outcome() {
        assert_eq!(FEW.judged(), FEW.judged());
    }

    #[test]
    fn the_forgotten_are_found_and_what_is_found_was_idle() {
        for (kind, outcome) in FEW.judged() {
            assert!(outcome.jobs > 20 && outcome.idle_minutes > 0, "{kind}: {outcome:?}");
            assert!(
                outcome.found_minutes > 0 && outcome.found_minutes <= outcome.idle_minutes,
                "{kind}: {outcome:?}"
            );
            assert!(outcome.saved_minutes <= outcome.found_minutes, "{kind}: {outcome:?}");
        }
        let none = Duty { idle_permille: 0, ..FEW }.judged();
        assert!(none.values().all(|outcome| outcome.idle_minutes == 0 && outcome.found_minutes == 0));
    }
}
