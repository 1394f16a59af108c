//! The order among equals under which the published figures came about, and orders of our own.
//!
//! The authors' simulator prefixes node names with a random permutation, drawn from Go's `math/rand` after the same
//! generator has shuffled the pods and cut or cloned them to 130 % of the cluster. So the permutation depends on the
//! workload as well as on the seed. It is redrawn here: the shuffle must give the published arrivals (a test of the
//! generator as such), then come ten further draws, which the simulator's own machinery makes in between: ten is what
//! gives the published order for every seed of `multigpu50`, and the published `BestFit` figures for all workloads.
//!
//! Go's generator is the additive lagged Fibonacci generator x(n) = x(n-607) + x(n-273) mod 2^64; its published
//! starting state is that of a seeded generator after 7.8e12 steps, computed here by raising x to that power modulo the
//! characteristic polynomial.
//!
//! None of this decides where the product places anything, other than which of two equal nodes comes first.

use super::data::Workload;

const LENGTH: usize = 607;
const TAP: usize = 273;
const WARM_UP_STEPS: u64 = 7_800_000_000_000;
/// Draws between the cut of the pods and the permutation of the nodes.
const DRAWS_BETWEEN: usize = 10;
/// Arrivals are drawn up to this much of the cluster's GPUs, in percent.
const ARRIVAL_PERCENT: i64 = 130;

/// Go's `math/rand`.
#[derive(Debug, Clone)]
pub struct GoRand {
    state: Vec<u64>,
    tap: usize,
    feed: usize,
}

/// The starting state before seeding, 607 numbers: expensive, so computed once by the caller.
#[derive(Debug, Clone)]
pub struct Cooked(Vec<u64>);

impl Default for Cooked {
    fn default() -> Self {
        Self::new()
    }
}

impl Cooked {
    #[must_use]
    pub fn new() -> Self {
        let mut x = 1;
        let mut start = vec![0_u64; LENGTH];
        (0..20).for_each(|_| x = seed_step(x));
        for value in &mut start {
            *value = three_steps(&mut x, 20, 10);
        }
        // In order of time: the generator walks its state backwards from 333.
        let at = |n: usize| (333 + 2 * LENGTH - n % LENGTH) % LENGTH;
        let mut sequence: Vec<u64> = (0..LENGTH).map(|n| start[at(n)]).collect();
        for n in LENGTH..2 * LENGTH {
            sequence.push(sequence[n - LENGTH].wrapping_add(sequence[n - TAP]));
        }
        let jump = power_of_x(WARM_UP_STEPS);
        let skipped = usize::try_from(WARM_UP_STEPS % LENGTH as u64).unwrap_or(0);
        let mut cooked = vec![0; LENGTH];
        for n in 0..LENGTH {
            let sum = jump.iter().zip(&sequence[n..]);
            cooked[at(n + skipped)] =
                sum.fold(0_u64, |sum, (factor, value)| sum.wrapping_add(factor.wrapping_mul(*value)));
        }
        Self(cooked)
    }
}

/// x^steps modulo x^607 - x^334 - 1, coefficients modulo 2^64.
fn power_of_x(mut steps: u64) -> Vec<u64> {
    let (mut result, mut base) = (vec![0_u64; LENGTH], vec![0_u64; LENGTH]);
    (result[0], base[1]) = (1, 1);
    while steps > 0 {
        if steps & 1 == 1 {
            result = multiply(&result, &base);
        }
        base = multiply(&base, &base);
        steps >>= 1;
    }
    result
}

fn multiply(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut product = vec![0_u64; 2 * LENGTH];
    for (i, &a) in one.iter().enumerate().filter(|&(_, &a)| a != 0) {
        for (slot, &b) in product[i..].iter_mut().zip(other) {
            *slot = slot.wrapping_add(a.wrapping_mul(b));
        }
    }
    for i in (LENGTH..2 * LENGTH).rev() {
        let over = product[i];
        product[i - LENGTH] = product[i - LENGTH].wrapping_add(over);
        product[i - TAP] = product[i - TAP].wrapping_add(over);
    }
    product.truncate(LENGTH);
    product
}

/// 48271 × x mod (2^31 − 1).
const fn seed_step(x: u64) -> u64 {
    x * 48_271 % ((1 << 31) - 1)
}

fn three_steps(x: &mut u64, first: u32, second: u32) -> u64 {
    let mut next = || {
        *x = seed_step(*x);
        *x
    };
    let (a, b, c) = (next(), next(), next());
    a << first ^ b << second ^ c
}

impl GoRand {
    #[must_use]
    pub fn new(cooked: &Cooked, seed: u32) -> Self {
        let mut x = u64::from(seed);
        (0..20).for_each(|_| x = seed_step(x));
        let state = cooked.0.iter().map(|cooked| three_steps(&mut x, 40, 20) ^ cooked).collect();
        Self { state, tap: 0, feed: LENGTH - TAP }
    }

    fn next(&mut self) -> u64 {
        self.tap = (self.tap + LENGTH - 1) % LENGTH;
        self.feed = (self.feed + LENGTH - 1) % LENGTH;
        let value = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = value;
        value
    }

    /// `Int31n`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let mut draw = || (self.next() & (u64::MAX >> 1)) >> 32;
        if bound.is_power_of_two() {
            return usize::try_from(draw() & (bound - 1)).unwrap_or(0);
        }
        let most = (1 << 31) - 1 - (1 << 31) % bound;
        loop {
            let value = draw();
            if value <= most {
                return usize::try_from(value % bound).unwrap_or(0);
            }
        }
    }

    /// `int31n`, which `Shuffle` draws with.
    fn below_by_product(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let mut draw = || (self.next() & (u64::MAX >> 1)) >> 31 & 0xffff_ffff;
        let refused = ((1_u64 << 32) - bound) % bound;
        loop {
            let product = draw() * bound;
            if product & 0xffff_ffff >= refused {
                return usize::try_from(product >> 32).unwrap_or(0);
            }
        }
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for at in (1..items.len()).rev() {
            let other = self.below_by_product(at + 1);
            items.swap(at, other);
        }
    }

    fn permutation(&mut self, length: usize) -> Vec<u32> {
        let mut items = vec![0_u32; length];
        for at in 0..length {
            let other = self.below(at + 1);
            items[at] = items[other];
            items[other] = u32::try_from(at).unwrap_or(u32::MAX);
        }
        items
    }
}

/// The arrivals and the order among equals (by node, ordered by name) of a published run.
#[must_use]
pub fn published(
    cooked: &Cooked,
    workload: &Workload,
    cluster_milli: i64,
    nodes: usize,
    seed: u32,
) -> (Vec<usize>, Vec<u32>) {
    let mut random = GoRand::new(cooked, seed);
    random.next();
    let mut arrivals: Vec<usize> = (0..workload.pods.len()).collect();
    random.shuffle(&mut arrivals);
    let milli = |pod: usize| workload.pods[pod].1.ask.gpu_milli();
    let wanted = cluster_milli * ARRIVAL_PERCENT / 100;
    let mut total: i64 = arrivals.iter().map(|&pod| milli(pod)).sum();
    if total > wanted {
        while total > wanted {
            let at = random.below(arrivals.len());
            total -= milli(arrivals.remove(at));
        }
    } else {
        loop {
            let pod = random.below(workload.pods.len());
            // As there: the check looks at one GPU's part, the sum at all of them.
            if total + i64::from(workload.pods[pod].1.ask.milli) > wanted {
                break;
            }
            total += milli(pod);
            arrivals.push(pod);
        }
    }
    for _ in 0..DRAWS_BETWEEN {
        random.next();
    }
    let ties = random.permutation(nodes);
    (arrivals, ties)
}

/// An order among equals of our own: a permutation drawn by `SplitMix64`.
#[must_use]
pub fn own(nodes: usize, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut ties: Vec<u32> = (0..u32::try_from(nodes).unwrap_or(u32::MAX)).collect();
    for at in (1..ties.len()).rev() {
        let other = usize::try_from(next() % (at as u64 + 1)).unwrap_or(0);
        ties.swap(at, other);
    }
    ties
}
