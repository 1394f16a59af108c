//! Where events are sent, and what became of it.

pub(crate) mod body;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deliveries;
pub(crate) mod delivery;
pub(crate) mod delivery_view;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod resend;
pub(crate) mod rotate_secret;
pub(crate) mod show;
pub(crate) mod test;
pub(crate) mod view;
