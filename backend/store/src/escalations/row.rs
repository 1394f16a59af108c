//! An escalation with the names of what it joins: one column list for every query of it.

use crate::error::StoreError;
use crate::row::{count, optional_word, word};
use chrono::{DateTime, Utc};
use reeve_core::approval::{AsksFor, Case, EscalationState, Raise, Scope, Terms};
use reeve_core::id::{TeamId, UserId};
use reeve_core::kind::Kind;
use uuid::Uuid;

/// An escalation as people see it.
#[derive(Debug, Clone)]
pub struct EscalationRow {
    pub id: Uuid,
    pub asks_for: String,
    pub state: String,
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub job_id: Option<Uuid>,
    pub job_name: Option<String>,
    pub queue_id: Option<Uuid>,
    pub queue_slug: Option<String>,
    pub kinds: Option<Vec<String>>,
    pub pool_id: Option<Uuid>,
    pub pool_slug: Option<String>,
    pub budget_id: Option<Uuid>,
    /// None = the budget is gone.
    pub budget_unit: Option<String>,
    pub budget_class: Option<String>,
    pub scope: Option<String>,
    pub asked: serde_json::Value,
    pub granted: serde_json::Value,
    pub reason: String,
    pub requested_by: Uuid,
    pub username: String,
    pub display_name: String,
    pub requested_at: DateTime<Utc>,
    pub starts_at: Option<DateTime<Utc>>,
    pub decide_by: DateTime<Utc>,
    pub rule: String,
    pub step: i32,
    pub steps: i32,
    pub approved_at: Option<DateTime<Utc>>,
    pub activated_at: Option<DateTime<Utc>>,
    pub expires_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub ended_by: Option<Uuid>,
    pub ended_by_username: Option<String>,
    pub ended_by_name: Option<String>,
    pub end_note: Option<String>,
    pub gpu_milli: i64,
    pub renews: Option<Uuid>,
    pub quota_before: Option<serde_json::Value>,
    pub break_glass: bool,
    pub review_due_at: Option<DateTime<Utc>>,
    pub reviewed_at: Option<DateTime<Utc>>,
    pub reviewed_by: Option<Uuid>,
    pub reviewed_by_username: Option<String>,
    pub reviewed_by_name: Option<String>,
    pub review_outcome: Option<String>,
    pub review_comment: Option<String>,
    pub version: i64,
    /// Who approved the steps so far, in their order.
    pub approved_by: Vec<Uuid>,
}

impl EscalationRow {
    #[must_use]
    pub const fn team(&self) -> TeamId {
        TeamId(self.team_id)
    }

    #[must_use]
    pub const fn requester(&self) -> UserId {
        UserId(self.requested_by)
    }

    /// # Errors
    /// [`StoreError::Unreadable`] for a word that this version does not know.
    pub fn state(&self) -> Result<EscalationState, StoreError> {
        word(&self.state)
    }

    /// # Errors
    /// As [`EscalationRow::state`].
    pub fn asks_for(&self) -> Result<AsksFor, StoreError> {
        word(&self.asks_for)
    }

    /// # Errors
    /// As [`EscalationRow::state`].
    pub fn asked(&self) -> Result<Terms, StoreError> {
        Ok(serde_json::from_value(self.asked.clone())?)
    }

    /// # Errors
    /// As [`EscalationRow::state`].
    pub fn granted(&self) -> Result<Terms, StoreError> {
        Ok(serde_json::from_value(self.granted.clone())?)
    }

    /// As its rules see it.
    ///
    /// # Errors
    /// As [`EscalationRow::state`].
    pub fn case(&self) -> Result<Case, StoreError> {
        Ok(Case {
            requester: self.requester(),
            state: self.state()?,
            step: count(self.step)?,
            steps: count(self.steps)?,
            granted: self.granted()?,
            approved_by: self.approved_by.iter().copied().map(UserId).collect(),
            review_due: self.break_glass && self.reviewed_at.is_none(),
        })
    }

    /// What it raises once it is active; `None` when it asks for something else.
    ///
    /// # Errors
    /// As [`EscalationRow::state`].
    pub fn raise(&self) -> Result<Option<Raise>, StoreError> {
        let scope: Option<Scope> = optional_word(self.scope.as_deref())?;
        let Some((level, scope)) = self.granted()?.level.zip(scope) else { return Ok(None) };
        let kinds = self.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| word::<Kind>(kind)).collect());
        Ok(Some(Raise {
            team: self.team(),
            job: self.job_id.map(Into::into),
            queue: self.queue_id.map(Into::into),
            kinds: kinds.transpose()?,
            level,
            scope,
        }))
    }
}

macro_rules! select_escalations {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            $crate::escalations::row::EscalationRow,
            r#"select e.id, e.asks_for, e.state, e.team_id, t.slug as team_slug, t.name as team_name, e.job_id,
                      j.name as "job_name?", e.queue_id, q.slug as "queue_slug?", e.kinds, e.pool_id,
                      p.slug as "pool_slug?", e.budget_id, b.unit as "budget_unit?", b.priority_class as "budget_class?",
                      e.scope, e.asked, e.granted, e.reason, e.requested_by, u.username,
                      u.display_name, e.requested_at, e.starts_at, e.decide_by, e.rule, e.step, e.steps, e.approved_at,
                      e.activated_at, e.expires_at, e.ended_at, e.ended_by, eu.username as "ended_by_username?",
                      eu.display_name as "ended_by_name?", e.end_note, e.gpu_milli, e.renews, e.quota_before,
                      e.break_glass, e.review_due_at, e.reviewed_at, e.reviewed_by,
                      ru.username as "reviewed_by_username?", ru.display_name as "reviewed_by_name?",
                      e.review_outcome, e.review_comment, e.version,
                      array(select s.decided_by from escalation_steps s
                            where s.escalation_id = e.id and s.decision = 'approved' order by s.number)
                        as "approved_by!: Vec<Uuid>"
               from escalations e join teams t on t.id = e.team_id join users u on u.id = e.requested_by
               left join jobs j on j.id = e.job_id left join queues q on q.id = e.queue_id
               left join pools p on p.id = e.pool_id left join budgets b on b.id = e.budget_id left join users eu on eu.id = e.ended_by
               left join users ru on ru.id = e.reviewed_by "# + $rest
            $(, $argument)*
        )
    };
}
pub(crate) use select_escalations;
