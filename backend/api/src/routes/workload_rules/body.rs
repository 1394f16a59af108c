//! What an administrator says about a rule, checked.

use super::view::ConditionView;
use crate::app::AppState;
use crate::oidc::issuer_url;
use crate::problem::{Fields, Result};
use reeve_core::access::{Role, Scope};
use reeve_core::identity::Condition;
use reeve_store::oidc::Enabled;
use reeve_store::workload_rules::RuleTerms;
use reeve_store::{StoreError, teams};
use serde_json::json;
use uuid::Uuid;

const MOST_CONDITIONS: usize = 20;

/// Checks the whole, whether new or edited.
pub(super) fn check(fields: &mut Fields, terms: &RuleTerms) {
    fields.text("/name", &terms.name, 1, 100);
    fields.text("/issuer", &terms.issuer, 1, 500);
    if let Err(why) = issuer_url(&terms.issuer) {
        fields.add("/issuer", "invalid_url", why);
    }
    fields.text("/audience", &terms.audience, 1, 500);
    fields.word::<Role>("/role", &terms.role);
    fields.range("/token_secs", terms.token_secs.into(), 60, 3_600);
    fields.word::<Enabled>("/state", &terms.state);
    if terms.scopes.is_empty() || terms.scopes.len() > Scope::ALL.len() {
        fields.add("/scopes", "invalid_length", "one to three of read, write, admin");
    }
    for (at, scope) in terms.scopes.iter().enumerate().take(16) {
        fields.word::<Scope>(&format!("/scopes/{at}"), scope);
    }
}

/// The conditions as they are kept: a rule without one would let in everybody that the issuer knows.
pub(super) fn conditions(fields: &mut Fields, bodies: &[ConditionView]) -> serde_json::Value {
    if !(1..=MOST_CONDITIONS).contains(&bodies.len()) {
        fields.add("/conditions", "invalid_length", format!("1 to {MOST_CONDITIONS}"));
        return json!([]);
    }
    let mut all = Vec::new();
    for (at, body) in bodies.iter().enumerate() {
        fields.text(&format!("/conditions/{at}/claim"), &body.claim, 1, 200);
        let claim = body.claim.clone();
        match (&body.equals, &body.matches) {
            (Some(equals), None) => {
                fields.text(&format!("/conditions/{at}/equals"), equals, 1, 500);
                all.push(Condition::Equals { claim, equals: equals.clone() });
            }
            (None, Some(matches)) => {
                fields.text(&format!("/conditions/{at}/matches"), matches, 1, 500);
                all.push(Condition::Matches { claim, matches: matches.clone() });
            }
            _ => fields.add(format!("/conditions/{at}"), "one_of", "either `equals` or `matches`"),
        }
    }
    json!(all)
}

/// A team's id by its slug or id; nil, and a wrong field, when there is none.
pub(super) async fn team(app: &AppState, fields: &mut Fields, team: &str) -> Result<Uuid> {
    match teams::find(&app.store, team).await {
        Ok(team) => Ok(team.id),
        Err(StoreError::NotFound) => {
            fields.add("/team", "unknown_team", "there is no such team: give its slug or id");
            Ok(Uuid::nil())
        }
        Err(other) => Err(other.into()),
    }
}
