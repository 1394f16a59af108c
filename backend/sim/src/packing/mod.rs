//! Placement of the openb trace (Alibaba, 2023) by the protocol of the FGD paper (ATC'23), one decision an arrival.
//!
//! `data` reads what is published, `ties` redraws the published tie order of nodes, `replay` runs the protocol, and
//! `best_fit` is the reference that the protocol is checked with: it must give the published figures, seed by seed.
//! The product's own placement is `reeve_core::schedule::packing`; it is told the mix of requests, never their order.
//!
//! This module does not retry, queue, move or look ahead.

pub mod best_fit;
pub mod data;
pub mod replay;
pub mod ties;

#[cfg(test)]
mod tests;
