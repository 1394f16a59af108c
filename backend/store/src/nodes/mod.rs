//! Nodes and their GPUs: how people see them, what people do to them, and how a machine becomes one.

pub mod admin;
pub mod desired;
pub mod enrol;
pub mod list;
