//! The log as proof: signed checkpoints over the hash chain, exports that can be verified far from here, and what people
//! ask of it.
//!
//! Whoever can write to the database as its owner can forge a chain from some event on; what they cannot forge is a
//! checkpoint that was signed before and kept elsewhere. This module refuses to sign a stretch that it has not verified.

pub mod chain;
pub mod checkpoint;
pub mod export;
pub mod key;
pub mod list;
pub mod live;
pub mod status;
pub mod verify_file;
