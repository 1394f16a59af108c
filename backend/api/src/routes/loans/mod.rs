//! Loans: list, matrix.

pub(crate) mod list;
pub(crate) mod matrix;
pub(crate) mod view;
