//! Who is it: passwords, access tokens, opaque secrets, cookies. This module refuses to say what they may do.

pub(crate) mod callers;
pub(crate) mod cookies;
pub(crate) mod keys;
pub(crate) mod password;
pub(crate) mod secret;
