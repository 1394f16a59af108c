//! What is counted while the clock runs: use, loans, waiting and debts to owners, per team, as integrals over time
//! and as a series of equal spans for pictures.
//!
//! Amounts are thousandths of a GPU, times microseconds; sums are exact. This module decides nothing, and knows the
//! planner's lenders only as it is told.

use crate::workload::Micros;
use reeve_core::reason::ReasonCode;
use std::collections::BTreeMap;

/// Spans of the series, before neighbours are merged.
const MOST_SPANS: usize = 600;

/// Milli-GPU × microseconds.
pub type Amount = i128;

/// What a team has at one moment, in milli-GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Held, those included who are leaving.
    pub used: i64,
    /// Held above its guarantees.
    pub borrowed: i64,
    /// Its guarantee that others use.
    pub lent: i64,
    /// Asked for by waiting jobs.
    pub waiting: i64,
    /// Of that, what its idle guarantee covers.
    pub owed: i64,
}

/// The same over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    pub used: Amount,
    pub borrowed: Amount,
    pub lent: Amount,
    pub waiting: Amount,
    pub owed: Amount,
}

impl Sums {
    fn add(&mut self, gauge: &Gauge, span: Micros) {
        let span = Amount::from(span);
        self.used += Amount::from(gauge.used) * span;
        self.borrowed += Amount::from(gauge.borrowed) * span;
        self.lent += Amount::from(gauge.lent) * span;
        self.waiting += Amount::from(gauge.waiting) * span;
        self.owed += Amount::from(gauge.owed) * span;
    }

    fn merge(&mut self, other: &Self) {
        self.used += other.used;
        self.borrowed += other.borrowed;
        self.lent += other.lent;
        self.waiting += other.waiting;
        self.owed += other.owed;
    }

    /// All of these together.
    #[must_use]
    pub fn total<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut total = Self::default();
        all.into_iter().for_each(|sums| total.merge(sums));
        total
    }
}

/// One span of the series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// By team.
    pub teams: Vec<Sums>,
    /// Milli-GPU × microseconds that could have been used.
    pub capacity: Amount,
    pub evictions: u32,
    /// Time in it that has passed.
    pub micros: Micros,
}

/// Everything counted.
#[derive(Debug, Clone)]
pub struct Record {
    /// By team.
    pub now: Vec<Gauge>,
    pub capacity_milli: i64,
    /// By team, until the end and until the workload's last submission.
    pub sums: Vec<Sums>,
    pub sums_in_window: Vec<Sums>,
    pub capacity: Amount,
    pub capacity_in_window: Amount,
    /// Asked for by waiting jobs now, by the one main reason of each; and over time, until the last submission.
    pub waiting_now: BTreeMap<ReasonCode, i64>,
    pub waiting_by_reason: BTreeMap<ReasonCode, Amount>,
    pub spans: Vec<Span>,
    pub span_micros: Micros,
    pub window: Micros,
    at: Micros,
}

impl Record {
    /// `window`: when the last job is submitted.
    #[must_use]
    pub fn new(teams: usize, capacity_milli: i64, window: Micros) -> Self {
        let spans = i64::try_from(MOST_SPANS / 2).unwrap_or(1);
        Self {
            now: vec![Gauge::default(); teams],
            capacity_milli,
            sums: vec![Sums::default(); teams],
            sums_in_window: vec![Sums::default(); teams],
            capacity: 0,
            capacity_in_window: 0,
            waiting_now: BTreeMap::new(),
            waiting_by_reason: BTreeMap::new(),
            spans: Vec::new(),
            span_micros: (window / spans).max(1),
            window,
            at: 0,
        }
    }

    /// Until when everything is counted.
    #[must_use]
    pub const fn at(&self) -> Micros {
        self.at
    }

    /// Lets time pass with everything as it is.
    pub fn pass(&mut self, until: Micros) {
        let inside = (until.min(self.window) - self.at).max(0);
        let span = until - self.at;
        for (team, gauge) in self.now.iter().enumerate() {
            self.sums[team].add(gauge, span);
            if inside > 0 {
                self.sums_in_window[team].add(gauge, inside);
            }
        }
        if inside > 0 {
            for (&reason, &milli) in &self.waiting_now {
                let sum = self.waiting_by_reason.entry(reason).or_default();
                *sum += Amount::from(milli) * Amount::from(inside);
            }
        }
        self.capacity += Amount::from(self.capacity_milli) * Amount::from(span);
        self.capacity_in_window += Amount::from(self.capacity_milli) * Amount::from(inside);
        while self.at < until {
            let place = self.span_at(self.at);
            let end = until.min((i64::try_from(place).unwrap_or(0) + 1) * self.span_micros);
            let passed = end - self.at;
            let span = &mut self.spans[place];
            for (sums, gauge) in span.teams.iter_mut().zip(&self.now) {
                sums.add(gauge, passed);
            }
            span.capacity += Amount::from(self.capacity_milli) * Amount::from(passed);
            span.micros += passed;
            self.at = end;
        }
    }

    /// Notes evictions of this moment.
    pub fn evicted(&mut self, count: u32) {
        let place = self.span_at(self.at);
        self.spans[place].evictions += count;
    }

    /// The span in which a moment lies. Neighbours are merged when there would be too many.
    fn span_at(&mut self, at: Micros) -> usize {
        loop {
            let place = usize::try_from(at / self.span_micros).unwrap_or(usize::MAX);
            if place < MOST_SPANS {
                let teams = self.now.len();
                while self.spans.len() <= place {
                    self.spans.push(Span { teams: vec![Sums::default(); teams], ..Span::default() });
                }
                return place;
            }
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.span_micros *= 2;
        let spans = std::mem::take(&mut self.spans);
        for (place, span) in spans.into_iter().enumerate() {
            match self.spans.last_mut() {
                Some(last) if place % 2 == 1 => {
                    last.teams.iter_mut().zip(&span.teams).for_each(|(sums, other)| sums.merge(other));
                    last.capacity += span.capacity;
                    last.evictions += span.evictions;
                    last.micros += span.micros;
                }
                _ => self.spans.push(span),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_however_often_the_spans_are_merged() {
        let mut record = Record::new(1, 8_000, 1_000);
        let mut wanted = 0;
        for step in 1..50_i64 {
            record.now[0].used = step * 100;
            wanted += Amount::from(step * 100) * 777;
            record.pass(step * 777);
            record.evicted(1);
        }
        assert_eq!(record.sums[0].used, wanted);
        assert_eq!(Sums::total(record.spans.iter().map(|span| &span.teams[0])).used, wanted);
        assert_eq!(record.spans.iter().map(|span| span.evictions).sum::<u32>(), 49);
        assert_eq!(record.sums_in_window[0].used, 100 * 777 + 200 * 223);
        assert!(record.spans.len() <= MOST_SPANS, "{}", record.spans.len());
    }
}
