//! `PUT /policy`.

use super::approvals;
use super::view::PolicyView;
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json};
use crate::problem::{Code, Fields, Problem, Result};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use reeve_core::access::{Action, Resource};
use reeve_core::idle::IdleRule;
use reeve_core::policy::{KindOverrides, Place, Policy};
use reeve_store::{Store, StoreError, policy, queues, teams, version};

const MOST_SECS: i64 = 30 * 86_400;
/// An idle window shorter than that is a pause for breath, and one longer than samples are kept is never full.
const LEAST_WINDOW_SECS: i64 = 10;
const MOST_WINDOW_SECS: i64 = 6 * 86_400;

/// Puts a policy in force. What is left out of the document takes the product's default.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "put_policy", tag = "policy",
    request_body(content = Object, description = "The document, as `GET /policy` shows it"),
    responses((status = 200, body = PolicyView)))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    if_match: IfMatch,
    Json(document): Json<Policy>,
) -> Result<impl IntoResponse> {
    app.allow(&caller, Action::PolicyEdit, &Resource::Installation).await?;
    check(&document)?;
    check_names(&app.store, &document).await?;
    let before = policy::in_force(&app.store).await?;
    if_match.require(before.version)?;
    let mut tx = app.begin(&caller).await?;
    match policy::put(&mut tx, &before, &document, caller.actor.id).await {
        Ok(_) => tx.commit().await?,
        Err(StoreError::Duplicate { .. }) => return Err(Problem::new(Code::StaleVersion)),
        Err(other) => return Err(other.into()),
    }
    let after = policy::in_force(&app.store).await?;
    let tag = [(header::ETAG, version::etag(after.version))];
    Ok((tag, axum::Json(PolicyView::from(after))))
}

pub(crate) fn check(document: &Policy) -> Result<()> {
    let mut fields = Fields::new();
    fields.range("/nomination_timeout_secs", document.nomination_timeout_secs, 1, MOST_SECS);
    for (kind, rules) in &document.kinds {
        fields.range(&format!("/kinds/{kind}/min_runtime_secs"), rules.min_runtime_secs, 0, MOST_SECS);
        fields.range(&format!("/kinds/{kind}/grace_secs"), rules.grace_secs, 0, MOST_SECS);
        let place = Place { queue: None, teams: &[] };
        idle(&mut fields, &document.idle_rule_at(*kind, place), &format!("/kinds/{kind}/idle"));
        if rules.default_priority > rules.ceiling {
            fields.add(
                format!("/kinds/{kind}/default_priority"),
                "above_ceiling",
                "above the kind's ceiling",
            );
        }
    }
    approvals::check(&mut fields, &document.approvals);
    for (at, overrides) in &document.team_rules {
        layer(
            &mut fields,
            document,
            overrides,
            Place { queue: None, teams: &[at] },
            &format!("/team_rules/{at}"),
        );
    }
    for (at, overrides) in &document.queue_rules {
        layer(
            &mut fields,
            document,
            overrides,
            Place { queue: Some(at), teams: &[] },
            &format!("/queue_rules/{at}"),
        );
    }
    fields.done()
}

/// A rule as it comes out.
fn idle(fields: &mut Fields, rule: &IdleRule, pointer: &str) {
    fields.range(&format!("{pointer}/busy_above_permille"), rule.busy_above_permille.into(), 0, 999);
    fields.range(&format!("{pointer}/window_secs"), rule.window_secs, LEAST_WINDOW_SECS, MOST_WINDOW_SECS);
    let least = rule.window_secs.clamp(LEAST_WINDOW_SECS, MOST_WINDOW_SECS);
    fields.range(&format!("{pointer}/most_window_secs"), rule.most_window_secs, least, MOST_WINDOW_SECS);
    fields.range(&format!("{pointer}/coverage_permille"), rule.coverage_permille.into(), 1, 1_000);
    fields.range(&format!("{pointer}/initial_grace_secs"), rule.initial_grace_secs, 0, MOST_SECS);
    fields.range(&format!("{pointer}/grace_secs"), rule.grace_secs, 0, MOST_SECS);
    fields.range(&format!("{pointer}/most_snooze_secs"), rule.most_snooze_secs, 0, MOST_SECS);
}

/// The same of what a team or queue has of its own, as it comes out over the installation's rules.
fn layer(fields: &mut Fields, document: &Policy, overrides: &KindOverrides, place: Place<'_>, pointer: &str) {
    for (&kind, own) in overrides {
        let rules = document.rules_at(kind, place);
        fields.range(&format!("{pointer}/{kind}/min_runtime_secs"), rules.min_runtime_secs, 0, MOST_SECS);
        fields.range(&format!("{pointer}/{kind}/grace_secs"), rules.grace_secs, 0, MOST_SECS);
        idle(fields, &document.idle_rule_at(kind, place), &format!("{pointer}/{kind}/idle"));
        if rules.default_priority > rules.ceiling {
            let name = if own.ceiling.is_some() { "ceiling" } else { "default_priority" };
            let detail =
                format!("jobs default to {}, above the ceiling {}", rules.default_priority, rules.ceiling);
            fields.add(format!("{pointer}/{kind}/{name}"), "above_ceiling", detail);
        }
    }
}

/// A rule for a team or queue that does not exist would hold for nobody, silently.
async fn check_names(store: &Store, document: &Policy) -> Result<()> {
    let mut fields = Fields::new();
    let named: Vec<String> = document.team_rules.keys().cloned().collect();
    for slug in teams::unknown(store, &named).await? {
        fields.add(
            format!("/team_rules/{slug}"),
            "unknown_team",
            "there is no such team: give a team's slug",
        );
    }
    let named = approvals::teams(&document.approvals);
    let slugs: Vec<String> = named.iter().map(|(_, slug)| slug.clone()).collect();
    let unknown = teams::unknown(store, &slugs).await?;
    for (at, slug) in named.into_iter().filter(|(_, slug)| unknown.contains(slug)) {
        fields.add(at, "unknown_team", format!("there is no team {slug}: give a team's slug"));
    }
    let named: Vec<String> = document.queue_rules.keys().cloned().collect();
    for slug in queues::unknown(store, &named).await? {
        fields.add(
            format!("/queue_rules/{slug}"),
            "unknown_queue",
            "there is no such queue: give a queue's slug",
        );
    }
    fields.done()
}
