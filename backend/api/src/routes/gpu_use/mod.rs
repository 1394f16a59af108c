//! What GPUs were allocated, and what of it computed.

pub(crate) mod figures;
pub(crate) mod profiles;
mod stretch;
