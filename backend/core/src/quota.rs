//! The rules of the quota tree: a parent's guarantee covers its children's, and a team is never its own ancestor.
//!
//! This module refuses to say who may use what right now: that is the planner's ledger ([`crate::schedule`]).

use crate::id::TeamId;
use std::collections::BTreeMap;

/// Where a (team, pool) stands in the tree, its own guarantee left out. Whole GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// `None` for a team at the top: nothing above limits it.
    pub parent: Option<ParentQuota>,
    /// What its direct children are guaranteed together.
    pub children_guaranteed_gpus: i64,
}

/// The level above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentQuota {
    pub slug: String,
    /// 0 when the parent has no quota in this pool.
    pub guaranteed_gpus: i64,
    /// What its other children are guaranteed together.
    pub siblings_guaranteed_gpus: i64,
}

impl ParentQuota {
    /// What the parent can still give to this child.
    #[must_use]
    pub const fn left_gpus(&self) -> i64 {
        let left = self.guaranteed_gpus - self.siblings_guaranteed_gpus;
        if left < 0 { 0 } else { left }
    }
}

/// Why a guarantee cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuaranteeFault {
    /// More than the parent has, whatever the siblings have.
    #[error(
        "{asked_gpus} GPUs are more than parent {parent} is guaranteed in this pool ({guaranteed_gpus}), of which \
         {left_gpus} are left: set at most {left_gpus}, or raise {parent} first"
    )]
    AboveParent { asked_gpus: i64, parent: String, guaranteed_gpus: i64, left_gpus: i64 },
    /// The children of the parent would together have more than it has.
    #[error(
        "with {asked_gpus} GPUs the children of {parent} would be guaranteed more than its {guaranteed_gpus}: \
         {left_gpus} are left; set at most that, or lower a sibling, or raise {parent} first"
    )]
    SumAboveParent { asked_gpus: i64, parent: String, guaranteed_gpus: i64, left_gpus: i64 },
    /// Less than its own children have.
    #[error(
        "the team's own children are guaranteed {children_gpus} GPUs in this pool, more than {asked_gpus}: set at \
         least {children_gpus}, or lower the children first"
    )]
    BelowChildren { asked_gpus: i64, children_gpus: i64 },
}

impl GuaranteeFault {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AboveParent { .. } => "quota_above_parent",
            Self::SumAboveParent { .. } => "guarantee_sum_above_parent",
            Self::BelowChildren { .. } => "guarantee_below_children",
        }
    }
}

/// Whether a guarantee keeps the tree's rule (product section 1).
///
/// # Errors
/// Which level it breaks, and what is left there.
pub fn check_guarantee(asked_gpus: i64, standing: &Standing) -> Result<(), GuaranteeFault> {
    if let Some(parent) = &standing.parent {
        let (guaranteed_gpus, left_gpus) = (parent.guaranteed_gpus, parent.left_gpus());
        let parent = parent.slug.clone();
        if asked_gpus > guaranteed_gpus {
            return Err(GuaranteeFault::AboveParent { asked_gpus, parent, guaranteed_gpus, left_gpus });
        }
        if asked_gpus > left_gpus {
            return Err(GuaranteeFault::SumAboveParent { asked_gpus, parent, guaranteed_gpus, left_gpus });
        }
    }
    if asked_gpus < standing.children_guaranteed_gpus {
        return Err(GuaranteeFault::BelowChildren {
            asked_gpus,
            children_gpus: standing.children_guaranteed_gpus,
        });
    }
    Ok(())
}

/// Whether `team` under `parent` would be its own ancestor.
#[must_use]
pub fn makes_cycle(team: TeamId, parent: TeamId, parents: &BTreeMap<TeamId, Option<TeamId>>) -> bool {
    let mut at = Some(parent);
    // A tree is never deeper than it has nodes: the bound holds even if the stored tree were broken.
    for _ in 0..=parents.len() {
        match at {
            Some(ancestor) if ancestor == team => return true,
            Some(ancestor) => at = parents.get(&ancestor).copied().flatten(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn under(guaranteed_gpus: i64, siblings_guaranteed_gpus: i64) -> Standing {
        Standing {
            parent: Some(ParentQuota {
                slug: "research".to_owned(),
                guaranteed_gpus,
                siblings_guaranteed_gpus,
            }),
            children_guaranteed_gpus: 0,
        }
    }

    #[test]
    fn a_guarantee_stays_inside_its_parents() {
        assert_eq!(check_guarantee(8, &under(8, 0)), Ok(()));
        assert_eq!(check_guarantee(4, &under(8, 4)), Ok(()));
        let fault = check_guarantee(9, &under(8, 2)).expect_err("above the parent");
        assert_eq!(fault.code(), "quota_above_parent");
        let text = fault.to_string();
        assert!(text.contains("research") && text.contains("(8)") && text.contains("at most 6"), "{text}");
        assert_eq!(
            check_guarantee(5, &under(8, 4)).expect_err("siblings have the rest").code(),
            "guarantee_sum_above_parent"
        );
    }

    #[test]
    fn a_top_team_has_no_level_above_but_covers_its_children() {
        let standing = Standing { parent: None, children_guaranteed_gpus: 6 };
        assert_eq!(check_guarantee(1_000, &standing), Ok(()));
        assert_eq!(
            check_guarantee(5, &standing).expect_err("children have more").code(),
            "guarantee_below_children"
        );
    }

    #[test]
    fn a_team_is_never_its_own_ancestor() {
        let id = |n: u128| TeamId(Uuid::from_u128(n));
        let parents = BTreeMap::from([(id(1), None), (id(2), Some(id(1))), (id(3), Some(id(2)))]);
        assert!(makes_cycle(id(1), id(3), &parents));
        assert!(makes_cycle(id(1), id(1), &parents));
        assert!(!makes_cycle(id(3), id(1), &parents));
    }
}
