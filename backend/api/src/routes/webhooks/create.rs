//! `POST /webhooks`.

use super::body::{check, mint_secret};
use super::load::resource;
use super::view::{CreatedWebhook, WebhookView};
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use reeve_core::access::Action;
use reeve_core::id::TeamId;
use reeve_store::teams;
use reeve_store::webhooks::{self, WebhookKind, WebhookTerms};
use serde::Deserialize;
use utoipa::ToSchema;

/// Webhooks of one team, or of the installation.
const MOST: i64 = 200;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateWebhook {
    name: String,
    /// Slug or id: events of this team and those below it. Left out = all events, for administrators.
    team: Option<String>,
    /// `webhook` when left out; or `feishu`, `dingtalk`, `wecom`, `slack`.
    kind: Option<String>,
    #[schema(example = "https://ci.example/reeve")]
    url: String,
    /// A robot's own signing secret. A webhook's is made here when left out.
    #[schema(format = Password)]
    secret: Option<String>,
    /// Actions, or prefixes with `.*`; empty = every event for a webhook, what concerns people for a robot.
    #[serde(default)]
    event_types: Vec<String>,
    /// `en` (when left out) or `zh-CN`: what a robot speaks.
    locale: Option<String>,
}

/// Makes a webhook. Its secret is shown once.
#[utoipa::path(post, path = "/api/v1/webhooks", operation_id = "create_webhook", tag = "webhooks",
    request_body = CreateWebhook, responses((status = 201, body = CreatedWebhook)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    Keyed { body, once }: Keyed<CreateWebhook>,
) -> Result<Response> {
    let team = match &body.team {
        Some(team) => Some(teams::find(&app.store, team).await?.id),
        None => None,
    };
    app.allow(&caller, Action::WebhookCreate, &resource(team)).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let team = team.map(TeamId);
    let (kind, shown, terms) = checked(&app, body)?;
    let mut tx = app.begin(&caller).await?;
    if webhooks::count(&mut tx, team).await? >= MOST {
        return Err(Problem::new(Code::TooMany)
            .param("most", MOST)
            .detail("delete webhooks that nobody reads"));
    }
    let webhook = webhooks::create(&mut tx, team, kind, caller.actor.id, &terms).await?;
    let made = CreatedWebhook { secret: shown, view: WebhookView::from(webhook) };
    match made.secret {
        Some(_) => once.commit_secret(tx, StatusCode::CREATED, &made).await,
        None => once.commit(tx, StatusCode::CREATED, &made).await,
    }
}

/// The terms, and the secret that is shown.
fn checked(app: &AppState, body: CreateWebhook) -> Result<(WebhookKind, Option<String>, WebhookTerms)> {
    let mut fields = Fields::new();
    let kind = body.kind.as_deref().map_or(Some(WebhookKind::Webhook), |text| fields.word("/kind", text));
    let kind = kind.unwrap_or(WebhookKind::Webhook);
    let shown = (kind == WebhookKind::Webhook && body.secret.is_none()).then(mint_secret);
    let terms = WebhookTerms {
        name: body.name,
        url: body.url,
        secret: shown.clone().or(body.secret),
        event_types: body.event_types,
        locale: body.locale.unwrap_or_else(|| "en".to_owned()),
        state: "enabled".to_owned(),
        disabled_reason: None,
    };
    check(app, &mut fields, kind, &terms);
    fields.done()?;
    Ok((kind, shown, terms))
}
