//! Policy as code: `reeve export`, `reeve diff -f` and `reeve apply -f`. One document for pools, teams, queues, quotas,
//! budgets, the policy and the price book. What a document leaves out stays as it is, unless it is asked to prune.

mod apply;
mod change;
mod diff;
mod document;
mod live;
mod prices;
mod run;

pub(crate) use run::{ApplyArgs, DiffArgs, ExportArgs, apply, diff, export};
