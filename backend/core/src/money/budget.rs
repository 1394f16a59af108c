//! Budgets: what a team and everything below it may use in a month, and what happens at the limit.
//!
//! A budget speaks of use, guaranteed or on loan: idle time and credits are nobody's spending. This module refuses to stop
//! what runs: it judges submissions.

use crate::id::TeamId;
use crate::priority::PriorityClass;
use crate::text_enum;
use uuid::Uuid;

text_enum! {
    BudgetUnit {
        GpuHours = "gpu_hours",
        Money = "money",
    }
}

text_enum! {
    /// What happens to a submission when the budget is used up.
    BudgetAction {
        /// It passes, and people are told.
        Warn = "warn",
        /// It passes with an approved exception.
        Approval = "approval",
        /// It is refused.
        Block = "block",
    }
}

text_enum! {
    BudgetState {
        Ok = "ok",
        /// Four fifths are used.
        Near = "near",
        Exceeded = "exceeded",
    }
}

/// An approved exception.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// Added to the amount, in millionths of the unit.
    pub micros: i64,
    /// As much as it takes.
    pub unlimited: bool,
}

/// A budget and what is used of it this month; amounts in millionths of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub id: Uuid,
    pub team: TeamId,
    /// `None` = every class.
    pub class: Option<PriorityClass>,
    pub unit: BudgetUnit,
    pub action: BudgetAction,
    pub amount_micros: i64,
    pub used_micros: i64,
    pub extra: Extra,
}

impl Standing {
    #[must_use]
    pub fn state(&self) -> BudgetState {
        let (used, most) = (i128::from(self.used_micros), i128::from(self.limit_micros()));
        if !self.extra.unlimited && used >= most {
            BudgetState::Exceeded
        } else if !self.extra.unlimited && used * 5 >= most * 4 {
            BudgetState::Near
        } else {
            BudgetState::Ok
        }
    }

    const fn limit_micros(&self) -> i64 {
        self.amount_micros.saturating_add(self.extra.micros)
    }

    /// Whole percent of the amount, exceptions included; 100 of nothing is used up.
    #[must_use]
    pub fn percent(&self) -> i64 {
        let limit = self.limit_micros();
        if limit <= 0 {
            return 100;
        }
        i64::try_from(i128::from(self.used_micros) * 100 / i128::from(limit)).unwrap_or(i64::MAX)
    }

    /// What the month will have used if it goes on as it did: `passed` of `whole`, in any unit of time.
    #[must_use]
    pub fn forecast_micros(&self, passed: i64, whole: i64) -> i64 {
        if passed <= 0 {
            return self.used_micros;
        }
        i64::try_from(i128::from(self.used_micros) * i128::from(whole) / i128::from(passed))
            .unwrap_or(i64::MAX)
    }
}

/// What budgets say to a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement<'a> {
    Pass,
    NeedsApproval(&'a Standing),
    Blocked(&'a Standing),
}

/// Judges a submission of a team (given with everything above it) in a class. The strictest budget that is used up decides;
/// of equally strict ones the first.
#[must_use]
pub fn judge<'a>(standings: &'a [Standing], path: &[TeamId], class: PriorityClass) -> Judgement<'a> {
    let mut judgement = Judgement::Pass;
    for standing in standings {
        let concerned = path.contains(&standing.team) && standing.class.is_none_or(|only| only == class);
        if !concerned || standing.state() != BudgetState::Exceeded {
            continue;
        }
        match (standing.action, judgement) {
            (BudgetAction::Block, _) => return Judgement::Blocked(standing),
            (BudgetAction::Approval, Judgement::Pass) => judgement = Judgement::NeedsApproval(standing),
            _ => {}
        }
    }
    judgement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(team: u128, class: Option<PriorityClass>, action: BudgetAction, used: i64) -> Standing {
        Standing {
            id: Uuid::from_u128(team),
            team: TeamId(Uuid::from_u128(team)),
            class,
            unit: BudgetUnit::GpuHours,
            action,
            amount_micros: 100,
            used_micros: used,
            extra: Extra::default(),
        }
    }

    #[test]
    fn the_strictest_budget_of_the_team_or_above_decides() {
        use BudgetAction::{Approval, Block, Warn};
        use PriorityClass::{High, Low};
        let path = [TeamId(Uuid::from_u128(2)), TeamId(Uuid::from_u128(1))];
        let approval = standing(1, None, Approval, 100);
        let block = standing(2, Some(High), Block, 150);
        let all = [standing(1, None, Warn, 500), approval, block, standing(3, None, Block, 500)];
        assert_eq!(judge(&all, &path, High), Judgement::Blocked(&block));
        assert_eq!(judge(&all, &path, Low), Judgement::NeedsApproval(&approval));
        assert_eq!(judge(&all[..1], &path, Low), Judgement::Pass);
        assert_eq!(judge(&[standing(2, None, Block, 99)], &path, Low), Judgement::Pass);
    }

    #[test]
    fn states_percents_and_forecasts() {
        for (used, extra, state, percent) in [
            (79, Extra::default(), BudgetState::Ok, 79),
            (80, Extra::default(), BudgetState::Near, 80),
            (100, Extra::default(), BudgetState::Exceeded, 100),
            (100, Extra { micros: 100, unlimited: false }, BudgetState::Ok, 50),
            (500, Extra { micros: 0, unlimited: true }, BudgetState::Ok, 500),
        ] {
            let standing = Standing { extra, ..standing(1, None, BudgetAction::Warn, used) };
            assert_eq!((standing.state(), standing.percent()), (state, percent), "{used} {extra:?}");
        }
        let zero = Standing { amount_micros: 0, ..standing(1, None, BudgetAction::Block, 0) };
        assert_eq!((zero.state(), zero.percent()), (BudgetState::Exceeded, 100));
        assert_eq!(standing(1, None, BudgetAction::Warn, 50).forecast_micros(10, 30), 150);
        assert_eq!(standing(1, None, BudgetAction::Warn, 50).forecast_micros(0, 30), 50);
    }
}
