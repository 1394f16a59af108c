//! A submission, as it comes in, parsed into a [`JobSpec`] that cannot be wrong in itself.
//!
//! Every refusal is a [`Fault`]: which field, a stable code, and what to do instead. All faults of a submission are
//! found at once. What needs the installation to decide (does this team exist, is that level known) is checked in
//! [`admit`], against facts that are passed in.
//!
//! This module refuses to judge quota and capacity: a job that is over quota, or that fits nowhere today, is a
//! queued job with a reason, not an error.

pub mod admit;
pub mod fault;
pub mod parse;
pub mod raw;
pub mod shape;
pub mod text;

pub use fault::Fault;
pub use parse::JobSpec;
pub use raw::{RawDependency, RawJob};
