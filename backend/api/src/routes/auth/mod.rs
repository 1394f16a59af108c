//! Signing in and out.

pub(crate) mod oidc_browser;
pub(crate) mod oidc_finish;
pub(crate) mod oidc_list;
pub(crate) mod oidc_start;
pub(crate) mod refresh;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
pub(crate) mod tokens_view;
pub(crate) mod workload;
