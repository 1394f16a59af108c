//! What would happen if: a job, a priority, a quota, a policy, a node that is gone. Nothing here changes anything.

pub(crate) mod ask;
pub(crate) mod body;
mod changes;
mod names;
pub(crate) mod view;
pub(crate) mod work_out;
