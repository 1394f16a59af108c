//! What agents say: the lease is renewed, members move forward, gangs start and end, and what is confirmed gone is given
//! back.

pub mod lost;
mod members;
pub mod receive;
mod runs;
