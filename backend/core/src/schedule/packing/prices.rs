//! What a share of each size is worth when GPUs are what is scarce: dual prices of cutting GPUs into the mix.
//!
//! If the mix fills the cluster exactly, sizes that leave an unusable rest set the price of a GPU, and sizes that go
//! well together share it: 810 of 1,000 alone is worth a whole GPU, 470 half of one, and 160 nothing, since more rests
//! of 190 lie about than there are requests for 160. The prices minimise the Lagrangian dual of the cutting-stock
//! problem (Gilmore and Gomory, 1961), by subgradient steps that shrink geometrically: integers, a fixed number of
//! steps, the same answer everywhere.
//!
//! Host CPU is not priced here: `potential` does that, per node.

use super::mix::Mix;
use super::{BUCKET_MILLI, BUCKETS, UNIT, ask_bucket};

const STEPS: i64 = 2_000;
/// From 30 thousandths of a GPU down to one: the rate is 30^(-1/2000).
const FIRST_STEP: i64 = 30 * UNIT;
const SHRINK_PPM: i64 = 998_301;

/// Values by bucket, in value units.
pub(super) type Prices = [i64; BUCKETS + 1];

/// The price of each size in the mix; a size that is not in it has its face value.
pub(super) fn prices(mix: &Mix) -> Prices {
    let mut face = [0_i64; BUCKETS + 1];
    for (bucket, value) in face.iter_mut().enumerate() {
        *value = bucket as i64 * i64::from(BUCKET_MILLI) * UNIT;
    }
    let demand = demand_per_gpu(mix);
    let sizes: Vec<usize> = (1..=BUCKETS).filter(|&bucket| demand[bucket] > 0).collect();
    if sizes.iter().all(|&size| size == BUCKETS) {
        return face;
    }
    let (mut values, mut sums, mut step) = (face, [0_i64; BUCKETS + 1], FIRST_STEP);
    for round in 0..STEPS {
        let cut = best_cut(&values, &sizes);
        for &size in &sizes {
            let excess_ppm = cut[size] * 1_000_000 - demand[size];
            values[size] = (values[size] - step / 1_000 * excess_ppm / 1_000).clamp(0, face[size]);
            if round >= STEPS * 3 / 4 {
                sums[size] += values[size];
            }
        }
        step = step * SHRINK_PPM / 1_000_000;
    }
    for &size in &sizes {
        face[size] = sums[size] / (STEPS - STEPS * 3 / 4);
    }
    face
}

/// Requests of each size for each GPU of a cluster that the mix fills exactly, in parts per million.
fn demand_per_gpu(mix: &Mix) -> Prices {
    let mut demand = [0_i64; BUCKETS + 1];
    let mut milli_ppm = 0;
    for (ask, ppm) in mix.asks() {
        demand[ask_bucket(ask.milli)] += i64::from(ask.gpus) * ppm;
        milli_ppm += ask.gpu_milli() * ppm;
    }
    demand[0] = 0;
    for count in &mut demand {
        let share = i128::from(*count) * 1_000_000_000 / i128::from(milli_ppm.max(1));
        *count = i64::try_from(share).unwrap_or(0);
    }
    demand
}

/// How often each size is cut from one GPU when its worth is greatest.
fn best_cut(values: &Prices, sizes: &[usize]) -> Prices {
    let (mut worth, mut last) = ([0_i64; BUCKETS + 1], [0_usize; BUCKETS + 1]);
    for room in 1..=BUCKETS {
        worth[room] = worth[room - 1];
        for &size in sizes.iter().take_while(|&&size| size <= room) {
            let value = worth[room - size] + values[size];
            if value > worth[room] {
                (worth[room], last[room]) = (value, size);
            }
        }
    }
    let (mut cut, mut room) = ([0_i64; BUCKETS + 1], BUCKETS);
    while room > 0 {
        if last[room] == 0 {
            room -= 1;
        } else {
            cut[last[room]] += 1;
            room -= last[room];
        }
    }
    cut
}
