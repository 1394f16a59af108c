//! What every request passes on its way in and out.

pub(crate) mod problems;
pub(crate) mod rate_limit;
pub(crate) mod request_id;
pub(crate) mod security;
pub(crate) mod timing;
