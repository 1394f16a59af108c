//! Fragmentation-aware packing: what placing a request on a node costs those who come later.
//!
//! The mix of typical requests is known, never their order. From it come three views of a node's free state, all in
//! millionths of a milli-GPU: how much of what is free the mix can use on average (the fragmentation measure of the
//! FGD paper, ATC'23, `usable`), how much it could use at best at the going prices of GPU and CPU (`potential`,
//! `prices`), and how sought after the node's model is by requests that accept few models (`scarcity`). `score` turns
//! their change into one cost; lower is better, and ties are the caller's.
//!
//! Node states repeat and requests do too: `packer` numbers both and remembers each pair's cost; `index` keeps nodes in
//! order of cost for each request, so that a decision looks only at nodes that changed.
//!
//! Nothing here evicts, knows a quota or a name, draws a random number, or lets a float decide.

mod index;
mod mix;
mod packer;
mod potential;
mod prices;
mod scarcity;
mod score;
mod state;
mod usable;

pub use index::Index;
pub use mix::{Ask, Mix, Models};
pub use packer::{Choice, Packer, StateId};
pub use score::Scorer;
pub use state::NodeState;

/// Value units of one thousandth of a GPU.
const UNIT: i64 = 1_000_000;
/// Thousandths of a GPU to a bucket: requests are rounded up to it, gaps down.
const BUCKET_MILLI: u16 = 10;
/// Buckets of a whole GPU.
const BUCKETS: usize = 100;

/// The bucket of a gap, rounded down.
const fn gap_bucket(milli: u16) -> usize {
    let bucket = (milli / BUCKET_MILLI) as usize;
    if bucket > BUCKETS { BUCKETS } else { bucket }
}

/// The bucket of a request, rounded up.
const fn ask_bucket(milli: u16) -> usize {
    let bucket = milli.div_ceil(BUCKET_MILLI) as usize;
    if bucket > BUCKETS { BUCKETS } else { bucket }
}

#[cfg(test)]
mod tests;
