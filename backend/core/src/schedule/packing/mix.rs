//! The mix of typical requests.
//!
//! This module forgets names and order: two mixes with the same requests in the same numbers are equal.

use std::collections::BTreeMap;

/// Most different requests that prices are computed over: the most frequent ones.
const MOST_ASKS: usize = 256;
/// Parts per million of requests that the typical ones make up (FGD, section 5).
const TYPICAL_PPM: i64 = 950_000;

/// GPU models as a set of small numbers that the caller gives out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Models(u64);

impl Models {
    pub const ANY: Self = Self(u64::MAX);
    /// Models that can be told apart; all beyond share the last number.
    pub const MOST: u8 = 64;

    /// Only this one.
    #[must_use]
    pub fn only(model: u8) -> Self {
        Self(1 << model.min(Self::MOST - 1))
    }

    /// Either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn has(self, model: u8) -> bool {
        self.0 >> model.min(Self::MOST - 1) & 1 == 1
    }
}

/// What one member asks of a node, without host memory: memory filters and never scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ask {
    pub cpu_milli: i64,
    /// 0 = CPU only.
    pub gpus: u16,
    /// Of each GPU: 1,000 = whole, less = a share.
    pub milli: u16,
    pub models: Models,
}

impl Ask {
    #[must_use]
    pub const fn gpu_milli(&self) -> i64 {
        self.gpus as i64 * self.milli as i64
    }

    #[must_use]
    pub const fn is_share(&self) -> bool {
        self.gpus > 0 && self.milli < 1_000
    }
}

/// Requests and how many of a million are of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// Most frequent first, then by shape.
    asks: Vec<(Ask, i64)>,
    typical: usize,
}

impl Mix {
    /// From requests and their numbers, in any order, repeated or not.
    #[must_use]
    pub fn new(requests: impl IntoIterator<Item = (Ask, u32)>) -> Self {
        let mut counts: BTreeMap<Ask, i64> = BTreeMap::new();
        for (ask, count) in requests {
            *counts.entry(ask).or_default() += i64::from(count);
        }
        counts.retain(|_, count| *count > 0);
        let mut asks: Vec<(Ask, i64)> = counts.into_iter().collect();
        asks.sort_by_key(|&(ask, count)| (std::cmp::Reverse(count), ask));
        asks.truncate(MOST_ASKS);
        let all: i128 = asks.iter().map(|&(_, count)| i128::from(count)).sum();
        for (_, count) in &mut asks {
            *count = i64::try_from(i128::from(*count) * 1_000_000 / all.max(1)).unwrap_or(0);
        }
        let mut sum = 0;
        let typical = asks.iter().take_while(|&&(_, ppm)| {
            let before = sum;
            sum += ppm;
            before < TYPICAL_PPM
        });
        let typical = typical.count();
        Self { asks, typical }
    }

    /// All requests with their parts per million.
    #[must_use]
    pub fn asks(&self) -> &[(Ask, i64)] {
        &self.asks
    }

    /// The most frequent ones that make up 95 %.
    #[must_use]
    pub fn typical(&self) -> &[(Ask, i64)] {
        &self.asks[..self.typical]
    }
}
