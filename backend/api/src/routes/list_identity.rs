//! The routes of who somebody is (signing in, sessions, tokens, people, identity providers, workload rules), and of who
//! is told what.

use super::{auth, me, notifications, oidc_providers, sessions, tokens, users, webhooks, workload_rules};
use crate::app::AppState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes under the request time-out.
pub(super) fn short() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(entry_routes())
        .merge(people_routes())
        .merge(provider_routes())
        .merge(told_routes())
}

fn entry_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(auth::sign_in::sign_in))
        .routes(routes!(auth::refresh::refresh))
        .routes(routes!(auth::sign_out::sign_out))
        .routes(routes!(auth::oidc_list::list))
        .routes(routes!(auth::oidc_start::start))
        .routes(routes!(auth::oidc_finish::finish))
        .routes(routes!(auth::workload::exchange))
        .routes(routes!(sessions::list::list))
        .routes(routes!(sessions::revoke::revoke))
        .routes(routes!(sessions::revoke_others::revoke_others))
}

fn people_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(me::show::show, me::edit::edit))
        .routes(routes!(me::password::set_password))
        .routes(routes!(tokens::list::list, tokens::create::create))
        .routes(routes!(tokens::revoke::revoke))
        .routes(routes!(users::list::list, users::create::create))
        .routes(routes!(users::show::show, users::edit::edit))
}

fn provider_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(oidc_providers::list::list, oidc_providers::create::create))
        .routes(routes!(
            oidc_providers::show::show,
            oidc_providers::edit::edit,
            oidc_providers::delete::delete
        ))
        .routes(routes!(oidc_providers::check::check))
        .routes(routes!(workload_rules::list::list, workload_rules::create::create))
        .routes(routes!(
            workload_rules::show::show,
            workload_rules::edit::edit,
            workload_rules::delete::delete
        ))
}

fn told_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(webhooks::list::list, webhooks::create::create))
        .routes(routes!(webhooks::show::show, webhooks::edit::edit, webhooks::delete::delete))
        .routes(routes!(webhooks::rotate_secret::rotate))
        .routes(routes!(webhooks::test::test))
        .routes(routes!(webhooks::deliveries::list))
        .routes(routes!(webhooks::delivery::show))
        .routes(routes!(webhooks::resend::resend))
        .routes(routes!(notifications::show_mine::show, notifications::put_mine::put))
        .routes(routes!(notifications::show_team::show, notifications::put_team::put))
}
