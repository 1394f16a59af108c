//! Every route, in one place.

use super::{
    events, health, list_books, list_identity, list_work, members, metrics, overview, policy, pools, teams,
    what_if,
};
use crate::app::AppState;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes under the request time-out, and those that may stay open: streams and long polls.
pub(crate) fn split() -> (OpenApiRouter<AppState>, OpenApiRouter<AppState>) {
    let people = OpenApiRouter::default()
        .routes(routes!(teams::list::list, teams::create::create))
        .routes(routes!(teams::show::show, teams::edit::edit, teams::delete::delete))
        .routes(routes!(members::list::list))
        .routes(routes!(members::grant::grant, members::withdraw::withdraw));
    let pool = OpenApiRouter::default()
        .routes(routes!(pools::list::list, pools::create::create))
        .routes(routes!(pools::show::show, pools::edit::edit, pools::delete::delete))
        .routes(routes!(policy::show::show, policy::put::put))
        .routes(routes!(policy::versions::versions))
        .routes(routes!(policy::effective::effective))
        .routes(routes!(what_if::ask::ask))
        .routes(routes!(overview::show::show))
        .routes(routes!(overview::history::history));
    let short = OpenApiRouter::default()
        .merge(list_identity::short())
        .merge(people)
        .merge(pool)
        .merge(list_books::short())
        .merge(list_work::short())
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::show::show));
    let long = OpenApiRouter::default()
        .routes(routes!(events::list::list))
        .merge(list_books::long())
        .merge(list_work::long());
    (short, long)
}
