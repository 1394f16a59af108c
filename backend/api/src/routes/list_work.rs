//! The routes of work and of what it shares: nodes, quotas, queues, jobs, loans and their recall, agents.

use super::{
    agent, approvals, escalations, evictions, gpu_use, idle_notices, jobs, join_tokens, loans,
    maintenance_windows, nodes, planned_starts, priority_budgets, queues, quotas, reclaims, reservations,
    runs,
};
use crate::app::AppState;
use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Largest body of a batch of submissions.
const MOST_BATCH_BYTES: usize = 8 * 1_024 * 1_024;

/// Routes under the request time-out.
pub(super) fn short() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(node_routes())
        .merge(queue_routes())
        .merge(sharing_routes())
        .merge(calendar_routes())
        .merge(approval_routes())
        .merge(job_routes())
        .merge(agent_routes())
}

/// Routes that may stay open: long polls and downloads.
pub(super) fn long() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(agent::desired::desired)).routes(routes!(jobs::logs::logs))
}

fn node_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(nodes::list::list))
        .routes(routes!(nodes::show::show, nodes::edit::edit, nodes::remove::remove))
        .routes(routes!(nodes::cordon::cordon))
        .routes(routes!(nodes::uncordon::uncordon))
        .routes(routes!(nodes::drain::drain))
        .routes(routes!(nodes::used::used))
        .routes(routes!(join_tokens::list::list, join_tokens::create::create))
        .routes(routes!(join_tokens::revoke::revoke))
}

fn queue_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(queues::list::list, queues::create::create))
        .routes(routes!(queues::show::show, queues::edit::edit, queues::delete::delete))
        .routes(routes!(queues::line::line))
}

fn sharing_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(quotas::list::list))
        .routes(routes!(quotas::put::put, quotas::delete::delete))
        .routes(routes!(loans::list::list))
        .routes(routes!(loans::matrix::matrix))
        .routes(routes!(reclaims::list::list))
        .routes(routes!(reclaims::show::show))
        .routes(routes!(evictions::list::list))
        .routes(routes!(evictions::show::show))
}

fn calendar_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(reservations::list::list, reservations::create::create))
        .routes(routes!(reservations::delete::delete))
        .routes(routes!(maintenance_windows::list::list, maintenance_windows::create::create))
        .routes(routes!(maintenance_windows::delete::delete))
}

fn approval_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(escalations::list::list, escalations::request::request))
        .routes(routes!(escalations::preview_request::preview_request))
        .routes(routes!(escalations::show::show))
        .routes(routes!(escalations::preview::preview))
        .routes(routes!(escalations::comments::comments, escalations::comment::comment))
        .routes(routes!(escalations::approve::approve))
        .routes(routes!(escalations::deny::deny))
        .routes(routes!(escalations::withdraw::withdraw))
        .routes(routes!(escalations::revoke::revoke))
        .routes(routes!(escalations::renew::renew))
        .routes(routes!(escalations::delegate::delegate))
        .routes(routes!(escalations::review::review))
        .routes(routes!(approvals::list::list))
        .routes(routes!(priority_budgets::list::list))
        .routes(routes!(priority_budgets::put::put, priority_budgets::delete::delete))
}

fn job_routes() -> OpenApiRouter<AppState> {
    let batch = OpenApiRouter::default()
        .routes(routes!(jobs::batch::batch))
        .layer(DefaultBodyLimit::max(MOST_BATCH_BYTES));
    OpenApiRouter::default()
        .merge(batch)
        .routes(routes!(jobs::list::list, jobs::submit::submit))
        .routes(routes!(jobs::show::show))
        .routes(routes!(jobs::cancel::cancel))
        .routes(routes!(jobs::hold::hold))
        .routes(routes!(jobs::release::release))
        .routes(routes!(jobs::requeue::requeue))
        .routes(routes!(jobs::explain::explain))
        .routes(routes!(jobs::rules::rules))
        .routes(routes!(jobs::runs::runs))
        .routes(routes!(jobs::dependencies::dependencies))
        .routes(routes!(jobs::dependencies::dependents))
        .routes(routes!(jobs::used::used))
        .routes(routes!(jobs::snooze::snooze))
        .routes(routes!(idle_notices::list::list))
        .routes(routes!(gpu_use::figures::figures))
        .routes(routes!(gpu_use::profiles::profiles))
        .routes(routes!(runs::list::list))
        .routes(routes!(planned_starts::list::list))
        .routes(routes!(jobs::events::events))
        .routes(routes!(jobs::evictions::evictions))
}

/// What agents call. Only the long poll for the desired state stays open.
fn agent_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(agent::join::join))
        .routes(routes!(agent::register::register))
        .routes(routes!(agent::report::report))
        .routes(routes!(agent::samples::samples))
        .routes(routes!(agent::logs::put))
}
