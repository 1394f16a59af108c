//! How sought after each GPU model is by requests that do not accept every model.
//!
//! Their demand, in a cluster that the whole mix fills exactly, is poured over the models that each accepts, a little
//! at a time and always where the level is lowest. A model's level is demand over capacity; requests that have a choice
//! then stay away from models that others depend on.
//!
//! Requests that accept every model have no part in it.

use super::mix::{Mix, Models};
use std::collections::BTreeMap;

const POURS: i64 = 1_000;

/// Parts per million of each model's capacity that picky requests want, above the least sought after.
pub(super) fn scarcity(mix: &Mix, capacity_milli: &[i64]) -> Vec<i64> {
    let present: Vec<u8> =
        (0_u8..).zip(capacity_milli).filter(|&(_, &milli)| milli > 0).map(|(model, _)| model).collect();
    let total: i128 = capacity_milli.iter().map(|&milli| i128::from(milli)).sum();
    let wanted: i128 = mix.asks().iter().map(|(ask, ppm)| i128::from(ask.gpu_milli() * ppm)).sum();
    let mut picky: BTreeMap<Models, i128> = BTreeMap::new();
    for (ask, ppm) in mix.asks().iter().filter(|(ask, _)| ask.gpus > 0) {
        if present.iter().any(|&model| !ask.models.has(model)) {
            *picky.entry(ask.models).or_default() +=
                i128::from(ask.gpu_milli() * ppm) * total / wanted.max(1);
        }
    }
    let mut level = vec![0_i128; capacity_milli.len()];
    let mut poured = vec![0_i128; capacity_milli.len()];
    for _ in 0..POURS {
        for (models, milli) in &picky {
            let accepted = present.iter().copied().filter(|&model| models.has(model));
            let Some(lowest) = accepted.min_by_key(|&model| (level[usize::from(model)], model)) else {
                continue;
            };
            let at = usize::from(lowest);
            poured[at] += milli;
            level[at] = poured[at] * 1_000_000 / (i128::from(capacity_milli[at]) * i128::from(POURS));
        }
    }
    let lowest = present.iter().map(|&model| level[usize::from(model)]).min().unwrap_or(0);
    level.iter().map(|&level| i64::try_from((level - lowest).clamp(0, 100_000_000)).unwrap_or(0)).collect()
}
