//! Who wants mail about what.

pub(crate) mod body;
pub(crate) mod put_mine;
pub(crate) mod put_team;
pub(crate) mod show_mine;
pub(crate) mod show_team;
pub(crate) mod view;
