//! `POST /auth/workload`.

use super::sign_in::context;
use super::tokens_view::user_agent;
use crate::app::AppState;
use crate::auth::keys;
use crate::extract::{Address, Json};
use crate::oidc::verify;
use crate::problem::{Code, Problem, Result};
use crate::refs::TeamRef;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use reeve_core::identity::Condition;
use reeve_store::sessions::{self, NewSession, SignInMethod};
use reeve_store::workload_rules::{self, WorkloadRule};
use reeve_store::{Actor, NewEvent, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::IpAddr;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadSignIn {
    /// The OIDC token that the pipeline has from its own platform.
    token: String,
}

/// Access for a pipeline's run. There is no refresh token: exchange a new token instead.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkloadSignedIn {
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    expires_in_secs: i64,
    /// The rule that took it.
    rule: String,
    team: TeamRef,
    role: String,
    scopes: Vec<String>,
}

/// Exchanges a workload's token of another issuer for a short-lived access token, by the first rule whose issuer, audience
/// and conditions hold.
#[utoipa::path(post, path = "/api/v1/auth/workload", operation_id = "exchange_workload_token", tag = "auth",
    request_body = WorkloadSignIn, responses((status = 200, body = WorkloadSignedIn)))]
pub(crate) async fn exchange(
    State(app): State<AppState>,
    Address(address): Address,
    headers: HeaderMap,
    Json(body): Json<WorkloadSignIn>,
) -> Result<Response> {
    app.rate_limit.attempt(address)?;
    let refused = |why: String| Problem::new(Code::WorkloadRefused).detail(why);
    let (kid, issuer) = verify::said(&body.token).map_err(|failed| refused(failed.to_string()))?;
    let rules = workload_rules::of_issuer(&app.store, &issuer).await?;
    if rules.is_empty() {
        return Err(refused("no rule names this issuer".to_owned()));
    }
    let now = app.clock.now();
    let judged = match app.issuers.with_key(&issuer, kid.as_deref(), now).await {
        Ok(keys) => verify::signed(&keys, &body.token, now).map_err(|failed| failed.to_string()),
        Err(failed) => Err(failed.to_string()),
    };
    let chosen = judged.and_then(|claims| choose(rules, claims));
    match chosen {
        Ok((rule, claims)) => signed_in(&app, &headers, address, rule, &claims).await,
        Err(why) => {
            let mut tx = app.store.begin(context(&headers, Actor::anonymous(), now)).await?;
            let event =
                NewEvent::new("session.exchange", "workload_rule", uuid::Uuid::nil()).denied("workload");
            tx.record(event.detail(json!({"issuer": issuer, "why": why})));
            tx.commit().await?;
            Err(refused(why))
        }
    }
}

/// The first rule that takes these claims.
fn choose(rules: Vec<WorkloadRule>, claims: Value) -> std::result::Result<(WorkloadRule, Value), String> {
    let for_us: Vec<WorkloadRule> =
        rules.into_iter().filter(|rule| verify::is_for(&claims, &rule.audience)).collect();
    if for_us.is_empty() {
        return Err("the token's audience is none of the rules'".to_owned());
    }
    let holds = |rule: &WorkloadRule| {
        // Conditions that this version cannot read hold for nobody.
        serde_json::from_value::<Vec<Condition>>(rule.conditions.clone())
            .is_ok_and(|all| !all.is_empty() && all.iter().all(|condition| condition.holds(&claims)))
    };
    match for_us.into_iter().find(holds) {
        Some(rule) => Ok((rule, claims)),
        None => Err("no rule's conditions hold for the token's claims".to_owned()),
    }
}

async fn signed_in(
    app: &AppState,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    rule: WorkloadRule,
    claims: &Value,
) -> Result<Response> {
    let now = app.clock.now();
    let subject: String = claims["sub"].as_str().unwrap_or_default().chars().take(300).collect();
    let secs = i64::from(rule.token_secs);
    let actor = Actor::user(rule.service_user_id, &format!("{} ({subject})", rule.service_username));
    let mut tx = app.store.begin(context(headers, actor, now)).await?;
    let agent = user_agent(headers);
    let new = NewSession {
        user: rule.service_user_id,
        method: SignInMethod::Workload,
        address: address.map(|address| address.to_string()),
        user_agent: agent.as_deref(),
        expires_at: now + TimeDelta::seconds(secs),
        workload: Some((rule.id, &subject)),
    };
    let session = sessions::create(&mut tx, new).await?;
    workload_rules::used(&mut tx, rule.id).await?;
    tx.commit().await?;
    if sessions::caller(&app.store, session, now).await?.is_none() {
        return Err(StoreError::Conflict.into());
    }
    let body = WorkloadSignedIn {
        access_token: keys::sign(app, rule.service_user_id, session, secs).await?,
        token_type: "Bearer",
        expires_in_secs: secs,
        rule: rule.slug,
        team: TeamRef { id: rule.team_id, slug: rule.team_slug, name: rule.team_name },
        role: rule.role,
        scopes: rule.scopes,
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], axum::Json(body)).into_response())
}
