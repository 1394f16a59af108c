//! Gives the document's text fields their words: a field that holds one of an enum's values names the enum, so that
//! a client's type check breaks when a word comes or goes. The enums stay where they belong; none of them knows
//! about documents. This file refuses to say anything that a handler's view doesn't hold.

use crate::routes::audit::view::AuditOutcome;
use crate::routes::overview::needs::NeedKind;
use reeve_core::access::{PlatformRole, Role, Scope as TokenScope};
use reeve_core::approval::{AsksFor, BudgetStanding, EscalationState, ReviewOutcome, Scope, StepDecision};
use reeve_core::eviction::{EvictionCause, EvictionOutcome, ReclaimState};
use reeve_core::job::{CheckpointMode, JobState, MemberState, RunState};
use reeve_core::kind::Kind;
use reeve_core::lifecycle::{EndCause, StopCause};
use reeve_core::node::{GpuHealth, NodeState};
use reeve_core::notice::{Setting, Topic};
use reeve_core::priority::PriorityClass;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_core::reason::ReasonCode;
use reeve_core::schedule::plan::PoolMode;
use reeve_store::deliveries::DeliveryState;
use reeve_store::sessions::SignInMethod;
use reeve_store::webhooks::{DisabledReason, WebhookKind};
use serde_json::{Map, Value, json};

struct Words {
    name: &'static str,
    values: Vec<&'static str>,
    /// Schema and property.
    stand_in: &'static [(&'static str, &'static str)],
}

macro_rules! words {
    ($($kind:ident: $($place:expr),+;)+) => {
        vec![$(Words {
            name: stringify!($kind),
            values: $kind::ALL.iter().map(|one| one.as_str()).collect(),
            stand_in: &[$($place),+],
        }),+]
    };
}

fn words() -> Vec<Words> {
    let mut words = words! {
        JobState: ("JobView", "state"), ("ExplainView", "state"), ("InLineView", "state");
        Kind: ("JobView", "kind"), ("TimelineRun", "kind"), ("PlannedStartView", "kind"), ("SubmitJob", "kind"), ("QueueView", "allowed_kinds"), ("CreateQueue", "allowed_kinds"),
            ("EditQueue", "allowed_kinds"), ("EscalationView", "kinds"), ("RequestEscalation", "kinds");
        PriorityClass: ("JobView", "priority_class"), ("TimelineRun", "priority_class"),
            ("PlannedStartView", "priority_class"), ("SubmitJob", "priority"), ("InLineView", "priority_class"), ("JobView", "raised_to"),
            ("TermsView", "level"), ("RequestEscalation", "level"), ("Approve", "level");
        CheckpointMode: ("JobView", "checkpoint"), ("SubmitJob", "checkpoint");
        ReasonCode: ("ReasonView", "code"), ("ObstacleView", "code"), ("InLineView", "reason_code");
        EvictionCause: ("EvictionView", "cause"), ("TimelineEviction", "cause");
        EndCause: ("JobView", "end_cause");
        EvictionOutcome: ("EvictionView", "outcome"), ("TimelineEviction", "outcome");
        ReclaimState: ("ReclaimView", "state");
        RunState: ("RunView", "state"), ("TimelineRun", "state");
        MemberState: ("RunMember", "state");
        NodeState: ("NodeView", "state");
        GpuHealth: ("GpuView", "health");
        PoolMode: ("PoolView", "mode");
        QueueOrder: ("QueueView", "order"), ("CreateQueue", "order"), ("EditQueue", "order");
        QueueState: ("QueueView", "state"), ("CreateQueue", "state"), ("EditQueue", "state");
        Role: ("MembershipView", "role"), ("MemberView", "role"), ("TeamView", "my_roles"), ("SeatView", "role"),
            ("GroupRoleView", "role"),
            ("WorkloadRuleView", "role");
        SignInMethod: ("SessionView", "method");
        WebhookKind: ("WebhookView", "kind");
        DisabledReason: ("WebhookView", "disabled_reason");
        DeliveryState: ("DeliveryView", "state");
        PlatformRole: ("MeView", "platform_roles"), ("UserView", "platform_roles"), ("CreateUser", "platform_roles"),
            ("EditUser", "platform_roles"), ("SeatView", "platform_role"), ("GroupRoleView", "platform_role");
        NeedKind: ("Need", "type");
        AsksFor: ("EscalationView", "asks_for"), ("RequestEscalation", "asks_for");
        EscalationState: ("EscalationView", "state");
        Scope: ("EscalationView", "scope"), ("RequestEscalation", "scope");
        StepDecision: ("StepView", "decision");
        ReviewOutcome: ("ReviewView", "outcome"), ("Review", "outcome");
        BudgetStanding: ("CostView", "standing");
        AuditOutcome: ("AuditEventView", "outcome");
    };
    words.push(Words {
        name: "TokenScope",
        values: TokenScope::ALL.iter().map(|one| one.as_str()).collect(),
        stand_in: &[("TokenView", "scopes"), ("WorkloadRuleView", "scopes")],
    });
    words.push(Words {
        name: "NotificationTopic",
        values: Topic::ALL.iter().map(|one| one.as_str()).collect(),
        stand_in: &[("TopicView", "topic"), ("TopicSetting", "topic")],
    });
    words.push(Words {
        name: "NotificationSetting",
        values: Setting::ALL.iter().map(|one| one.as_str()).collect(),
        stand_in: &[("TopicView", "setting"), ("TopicSetting", "setting")],
    });
    // A run leaves because it is evicted, or for another reason.
    let evicted = EvictionCause::ALL.iter().map(|one| one.as_str());
    words.push(Words {
        name: "LeaveCause",
        values: evicted.chain(StopCause::ALL.iter().map(|one| one.as_str())).collect(),
        stand_in: &[("LeaveView", "cause"), ("RunView", "leave_cause"), ("TimelineRun", "leave_cause")],
    });
    words
}

/// Names the enums in `components.schemas`, and lets pages refer to their items instead of repeating them.
pub(crate) fn fill(document: &mut Value) {
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
    for Words { name, values, stand_in } in words() {
        for (schema, property) in stand_in {
            if let Some(found) = schemas.get_mut(*schema).and_then(|one| one["properties"].get_mut(*property))
            {
                point_at(found, name);
            }
        }
        schemas.insert(name.to_owned(), json!({"type": "string", "enum": values}));
    }
    refer_to_items(schemas);
}

/// The place of a word, or of a list of words, says which enum it is of; null stays allowed.
fn point_at(place: &mut Value, name: &str) {
    let reference = json!({"$ref": format!("#/components/schemas/{name}")});
    if place.get("items").is_some() {
        place["items"] = reference;
        return;
    }
    let nullable = place["type"].as_array().is_some_and(|types| types.iter().any(|one| one == "null"));
    let description = place.get("description").cloned();
    *place = if nullable { json!({"oneOf": [{"type": "null"}, reference]}) } else { reference };
    if let Some(description) = description {
        place["description"] = description;
    }
}

fn refer_to_items(schemas: &mut Map<String, Value>) {
    let names: Vec<String> = schemas.keys().filter(|name| name.starts_with("PageView_")).cloned().collect();
    for page in names {
        let item = page.trim_start_matches("PageView_");
        if schemas.contains_key(item) {
            let reference = json!({"$ref": format!("#/components/schemas/{item}")});
            schemas[&page]["properties"]["items"]["items"] = reference;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_where_it_is_said_to() {
        let document = crate::openapi::document();
        for Words { name, stand_in, .. } in words() {
            for (schema, property) in stand_in {
                let text = document["components"]["schemas"][schema]["properties"][property].to_string();
                let wanted = format!("#/components/schemas/{name}\"");
                assert!(text.contains(&wanted), "{schema}.{property} is no {name}: {text}");
            }
        }
    }

    #[test]
    fn every_page_refers_to_its_items() {
        let document = crate::openapi::document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (name, schema) in schemas.iter().filter(|(name, _)| name.starts_with("PageView_")) {
            let item = &schema["properties"]["items"]["items"]["$ref"];
            assert_eq!(item, &json!(format!("#/components/schemas/{}", &name["PageView_".len()..])));
        }
    }
}
