//! What can come back instead of a reply. Display is what a person reads in a terminal.

use serde::Deserialize;
use std::fmt;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum ClientError {
    #[error("not signed in: run `reeve login`, or set REEVE_TOKEN")]
    NotSignedIn,
    #[error("{0}")]
    Refused(Box<Problem>),
    #[error("{url} is not reachable")]
    Unreachable { url: String, source: reqwest::Error },
    #[error("the reply of {url} ({status}) is no JSON: is this a Reeve server?")]
    Unreadable { url: String, status: u16 },
}

/// RFC 9457, as the server writes it. Unknown members are ignored.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) detail: Option<String>,
    #[serde(default)]
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) errors: Vec<FieldProblem>,
    #[serde(default)]
    pub(crate) request_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FieldProblem {
    pub(crate) pointer: String,
    #[serde(default)]
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) detail: Option<String>,
}

impl Problem {
    fn says_its_fields(&self, detail: &str) -> bool {
        let said =
            |field: &FieldProblem| field.detail.as_ref().is_some_and(|said| detail.contains(said.as_str()));
        !self.errors.is_empty() && self.errors.iter().all(said)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A detail that only repeats the fields is said once, with them.
        let detail = self.detail.as_deref().filter(|detail| !self.says_its_fields(detail));
        write!(f, "{} ({} {})", detail.unwrap_or(&self.title), self.status, self.code)?;
        for field in &self.errors {
            write!(f, "\n  {}: {}", field.pointer, field.detail.as_deref().unwrap_or(&field.code))?;
        }
        if self.status >= 500
            && let Some(id) = &self.request_id
        {
            write!(f, "\n  request {id}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_fields() {
        let text = r#"{"type": "/problems/invalid", "title": "Invalid", "status": 422, "code": "invalid",
            "detail": "the job is wrong in itself", "new_member": 1,
            "errors": [{"pointer": "/jobs/17/gpus", "code": "too_small", "detail": "must be at least 1"}]}"#;
        let problem: Problem = serde_json::from_str(text).expect("reads");
        let said = problem.to_string();
        assert_eq!(said, "the job is wrong in itself (422 invalid)\n  /jobs/17/gpus: must be at least 1");
        let again = Problem { detail: Some("/jobs/17/gpus: must be at least 1".to_owned()), ..problem };
        assert_eq!(
            again.to_string(),
            "Invalid (422 invalid)\n  /jobs/17/gpus: must be at least 1",
            "said once"
        );
    }
}
