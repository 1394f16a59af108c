//! Jobs whose GPUs compute nothing: the evidence of all that run, and the notices that were given.
//!
//! It refuses to judge: `reeve_core::idle` says what follows, this writes it.

pub mod evidence;
pub mod history;
pub mod list;
pub mod notices;
