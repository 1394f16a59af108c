//! What was used, by whom, on whose guarantee, and what it costs.
//!
//! Amounts are integers: milli-GPU-milliseconds in the ledger, millionths of a GPU-hour on a bill, millionths of the currency
//! for a price; a cost is their product and is not rounded. A total that somebody pays is rounded once, to the cent. This
//! module refuses floats, and to let a sum be anything but the sum of its parts.

pub mod bill;
pub mod budget;
pub mod decimal;
pub mod export;
pub mod focus;
pub mod ledger;
pub mod ledger_input;
pub mod month;
pub mod price;
pub mod quantity;
