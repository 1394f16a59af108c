//! What another party's word about somebody is worth here: conditions on a workload's claims, roles of groups.
//!
//! Whether the word is theirs (signature, issuer, audience, time) was judged before. This module refuses to verify
//! anything, and to give more than what it is told.

use crate::access::{PlatformRole, Role};
use crate::id::TeamId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// What must be true of a workload's claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Condition {
    /// The claim is exactly this; of a list, one item is.
    Equals { claim: String, equals: String },
    /// The claim is like this, where `*` stands for any characters.
    Matches { claim: String, matches: String },
}

impl Condition {
    /// A top-level claim's name, or a JSON pointer that begins with `/`.
    #[must_use]
    pub fn claim(&self) -> &str {
        match self {
            Self::Equals { claim, .. } | Self::Matches { claim, .. } => claim,
        }
    }

    /// What the claim is compared with.
    #[must_use]
    pub fn wanted(&self) -> &str {
        match self {
            Self::Equals { equals, .. } => equals,
            Self::Matches { matches, .. } => matches,
        }
    }

    #[must_use]
    pub fn holds(&self, claims: &Value) -> bool {
        let name = self.claim();
        let found = if name.starts_with('/') { claims.pointer(name) } else { claims.get(name) };
        let Some(found) = found else { return false };
        texts(found).iter().any(|text| match self {
            Self::Equals { equals, .. } => text == equals,
            Self::Matches { matches, .. } => is_like(text, matches),
        })
    }
}

/// A claim as texts: one, or each item of a list. Anything else is none.
#[must_use]
pub fn texts(claim: &Value) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match claim {
        Value::Array(items) => items.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}

/// `*` stands for any characters, none too; everything else for itself. Linear in both lengths but for the last star.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What a group gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grant {
    Team { team: TeamId, role: Role },
    Platform(PlatformRole),
}

/// What these groups give, each once.
#[must_use]
pub fn grants_of(groups: &[String], mapping: &[(String, Grant)]) -> BTreeSet<Grant> {
    mapping.iter().filter(|(group, _)| groups.contains(group)).map(|(_, grant)| *grant).collect()
}

/// Platform roles after a sign-in: `given` is what the groups gave the last time and nobody else; the answer is what the
/// person has now, and what of it comes from the groups alone.
#[must_use]
pub fn platform_roles_after(
    current: &BTreeSet<PlatformRole>,
    given: &BTreeSet<PlatformRole>,
    mapped: &BTreeSet<PlatformRole>,
) -> (BTreeSet<PlatformRole>, BTreeSet<PlatformRole>) {
    let by_hand: BTreeSet<PlatformRole> = current.difference(given).copied().collect();
    (by_hand.union(mapped).copied().collect(), mapped.difference(&by_hand).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn equals(claim: &str, equals: &str) -> Condition {
        Condition::Equals { claim: claim.to_owned(), equals: equals.to_owned() }
    }

    fn like(claim: &str, matches: &str) -> Condition {
        Condition::Matches { claim: claim.to_owned(), matches: matches.to_owned() }
    }

    #[test]
    fn conditions_hold_only_for_what_they_say() {
        let claims = json!({"repository": "org/train", "ref": "refs/heads/main", "protected": true, "run": 7,
            "groups": ["a", "b"], "kubernetes.io": {"namespace": "ml"}});
        for (condition, expected) in [
            (equals("repository", "org/train"), true),
            (equals("repository", "org/train2"), false),
            (equals("repository", "ORG/train"), false),
            (equals("missing", ""), false),
            (equals("protected", "true"), true),
            (equals("run", "7"), true),
            (equals("groups", "b"), true),
            (equals("groups", "c"), false),
            (equals("/kubernetes.io/namespace", "ml"), true),
            (equals("kubernetes.io", "ml"), false),
            (like("ref", "refs/heads/*"), true),
            (like("ref", "refs/tags/*"), false),
            (like("ref", "*main"), true),
            (like("ref", "*"), true),
            (like("ref", "refs/*/main"), true),
            (like("ref", "refs/heads/main"), true),
            (like("ref", "refs/heads/mai"), false),
            (like("ref", "*heads*heads*"), false),
            (like("repository", "org/*n*n"), false),
        ] {
            assert_eq!(condition.holds(&claims), expected, "{condition:?}");
        }
    }

    #[test]
    fn groups_give_and_take_only_what_is_theirs() {
        let admin = BTreeSet::from([PlatformRole::Admin]);
        let none = BTreeSet::new();
        // Given by the groups: comes and goes with them.
        assert_eq!(platform_roles_after(&none, &none, &admin), (admin.clone(), admin.clone()));
        assert_eq!(platform_roles_after(&admin, &admin, &none), (none.clone(), none.clone()));
        // Given by hand before: stays, and is never the groups'.
        assert_eq!(platform_roles_after(&admin, &none, &admin), (admin.clone(), none.clone()));
        assert_eq!(platform_roles_after(&admin, &none, &none), (admin.clone(), none.clone()));
    }
}
