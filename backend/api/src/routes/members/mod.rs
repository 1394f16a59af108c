//! Roles in a team.

pub(crate) mod grant;
pub(crate) mod list;
pub(crate) mod view;
pub(crate) mod withdraw;
