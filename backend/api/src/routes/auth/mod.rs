//! Signing in and out.

pub(crate) mod refresh;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod tokens_view;
