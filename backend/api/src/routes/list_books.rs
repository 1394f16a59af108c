//! The routes of what is proven and paid: audit, usage, prices, statements, budgets, and the exports of these.

use super::{audit, budgets, operations, prices, statements, usage};
use crate::app::AppState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes under the request time-out.
pub(super) fn short() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().merge(audit_routes()).merge(money_routes()).merge(operation_routes())
}

/// Downloads.
pub(super) fn long() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(audit::export::export))
        .routes(routes!(operations::result::result))
}

fn audit_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(audit::list::list))
        .routes(routes!(audit::status::status))
        .routes(routes!(audit::checkpoints::checkpoints))
        .routes(routes!(audit::keys::keys))
        .routes(routes!(audit::show::show))
}

fn money_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(usage::list::list))
        .routes(routes!(prices::show::show, prices::put::put))
        .routes(routes!(prices::versions::versions))
        .routes(routes!(statements::list::list))
        .routes(routes!(statements::show::show))
        .routes(routes!(statements::months::months))
        .routes(routes!(statements::close::close))
        .routes(routes!(statements::reopen::reopen))
        .routes(routes!(statements::correct::correct))
        .routes(routes!(budgets::list::list, budgets::create::create))
        .routes(routes!(budgets::show::show, budgets::edit::edit, budgets::delete::delete))
}

fn operation_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(operations::list::list, operations::create::create))
        .routes(routes!(operations::show::show))
        .routes(routes!(operations::cancel::cancel))
}
