//! The settled ledger in PostgreSQL, its days, the price book, months and their corrections.
//!
//! The rule is `reeve-core`'s (`money::ledger`); here it is fed from what ticks and reports have recorded, and its lines are
//! kept. This module refuses to change anything of a closed month; triggers refuse it too.

pub mod bills;
pub mod check;
pub mod corrections;
pub mod derive;
pub mod entries;
mod inputs;
pub mod months;
pub mod names;
pub mod prices;
pub mod usage;
mod write;
