//! Who held what and who lent what to whom, as intervals: what a server's database would have recorded of the same story.
//!
//! It is kept only when asked for: a long trace has millions. This module adds nothing up.

use crate::workload::Micros;
use reeve_core::id::{PoolId, TeamId};
use reeve_core::schedule::plan::Loan;
use std::collections::BTreeMap;

/// A task's holding, or a loan, of one amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval<K> {
    pub of: K,
    pub milli: i64,
    pub from: Micros,
    pub to: Micros,
}

/// A task's place in the workload, the number of its run, and the pool's place in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holding {
    pub task: usize,
    pub run: u32,
    pub pool: usize,
}

/// Pool, borrower, lender.
pub type LoanKey = (PoolId, TeamId, Option<TeamId>);

/// All of them, in order of their ends.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    pub held: Vec<Interval<Holding>>,
    pub loans: Vec<Interval<LoanKey>>,
    open_held: BTreeMap<usize, Interval<Holding>>,
    /// How often each task has begun to hold something.
    begun: BTreeMap<usize, u32>,
    open_loans: BTreeMap<LoanKey, (i64, Micros)>,
}

impl Intervals {
    /// The task holds so much from now on.
    pub(crate) fn hold(&mut self, task: usize, pool: usize, milli: i64, now: Micros) {
        let before = self.open_held.remove(&task);
        if let Some(before) = before.filter(|before| now > before.from) {
            self.held.push(Interval { to: now, ..before });
        }
        let goes_on = before.is_some();
        if milli == 0 {
            return;
        }
        let run = self.begun.entry(task).or_default();
        *run += u32::from(!goes_on);
        let of = Holding { task, run: *run, pool };
        self.open_held.insert(task, Interval { of, milli, from: now, to: now });
    }

    pub(crate) fn lend(&mut self, loans: &[Loan], now: Micros) {
        let mut wanted: BTreeMap<LoanKey, i64> = BTreeMap::new();
        for loan in loans {
            *wanted.entry((loan.pool, loan.borrower, loan.lender)).or_default() += loan.milli.0;
        }
        let gone: Vec<LoanKey> =
            self.open_loans.keys().filter(|key| !wanted.contains_key(key)).copied().collect();
        for key in gone {
            change(&mut self.open_loans, &mut self.loans, key, 0, now);
        }
        for (key, milli) in wanted {
            change(&mut self.open_loans, &mut self.loans, key, milli, now);
        }
    }

    /// What is still open ends now.
    pub(crate) fn close(&mut self, now: Micros) {
        for task in self.open_held.keys().copied().collect::<Vec<_>>() {
            self.hold(task, 0, 0, now);
        }
        self.lend(&[], now);
    }
}

fn change<K: Ord + Copy>(
    open: &mut BTreeMap<K, (i64, Micros)>,
    closed: &mut Vec<Interval<K>>,
    of: K,
    milli: i64,
    now: Micros,
) {
    let before = open.get(&of).copied();
    if before.is_some_and(|(known, _)| known == milli) {
        return;
    }
    if let Some((milli, from)) = before {
        open.remove(&of);
        if now > from {
            closed.push(Interval { of, milli, from, to: now });
        }
    }
    if milli > 0 {
        open.insert(of, (milli, now));
    }
}
