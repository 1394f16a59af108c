//! Jobs: submit, batch, list, show, cancel, hold, release, requeue, explain, rules, runs, events, evictions, logs.

mod admit;
pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod cancel;
pub(crate) mod events;
pub(crate) mod evictions;
pub(crate) mod explain;
pub(crate) mod explain_view;
pub(crate) mod gather;
pub(crate) mod hold;
pub(crate) mod imagined;
mod keep;
pub(crate) mod list;
mod load;
mod log_window;
pub(crate) mod logs;
mod new_job;
pub(crate) mod release;
pub(crate) mod requeue;
pub(crate) mod rules;
pub(crate) mod rules_view;
pub(crate) mod runs;
pub(crate) mod runs_view;
pub(crate) mod show;
pub(crate) mod submit;
pub(crate) mod used;
pub(crate) mod view;
