//! Who lends to whom, from use alone: what a plan would report, for whoever follows loans between plans.
//!
//! It holds while nodes, teams and quotas stay as they are and every GPU takes work. This module plans nothing.

use super::ledger::{Ledger, Limits, Tree};
use super::loans;
use super::plan::Loan;
use super::problem::Problem;
use super::snapshot::Snapshot;
use super::state::{limits_of, tree_of};
use crate::id::{PoolId, TeamId};
use crate::units::MilliGpu;

/// The quota tree and its limits, ready to be asked.
#[derive(Debug, Clone)]
pub struct Lending {
    teams: Vec<TeamId>,
    pools: Vec<PoolId>,
    tree: Tree,
    limits: Vec<Limits>,
}

impl Lending {
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        let problem = Problem::new(snapshot);
        let tree = tree_of(&problem);
        let limits = limits_of(&problem, &tree);
        Self { teams: problem.teams.clone(), pools: problem.pools.clone(), tree, limits }
    }

    /// The loans when each team uses so much in each pool; (team, pool) pairs that are not known are left out.
    #[must_use]
    pub fn loans(&self, used: impl IntoIterator<Item = (TeamId, PoolId, MilliGpu)>) -> Vec<Loan> {
        let mut ledgers = vec![Ledger::new(&self.tree); self.pools.len()];
        for (team, pool, milli) in used {
            if let (Ok(team), Ok(pool)) = (self.teams.binary_search(&team), self.pools.binary_search(&pool)) {
                ledgers[pool].add(&self.tree, &self.limits[pool], team, milli.0);
            }
        }
        let in_pool = |(pool, ledger): (usize, &Ledger)| {
            let debts = loans::attribute(&self.tree, &self.limits[pool], ledger);
            debts.into_iter().map(move |debt| Loan {
                pool: self.pools[pool],
                borrower: self.teams[debt.borrower],
                lender: debt.lender.map(|lender| self.teams[lender]),
                milli: MilliGpu(debt.milli),
            })
        };
        ledgers.iter().enumerate().flat_map(in_pool).collect()
    }
}
