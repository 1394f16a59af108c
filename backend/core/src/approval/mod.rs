//! Approvals: what goes beyond the rules is asked for, decided by other people, holds for a time, and ends by itself.
//!
//! A [`Case`] is one request with what was decided on it so far; each act on it is one function that either makes the
//! next state or says why not. Which steps a request needs is [`crate::policy::ApprovalPolicy`]'s. Nothing here looks
//! anybody up, and nothing puts an effect in force.

mod case;
mod cover;
mod refusal;
mod route;
mod state;
mod terms;

pub use case::{By, Case};
pub use cover::{Exception, Raise, apply_exceptions};
pub use refusal::Refusal;
pub use route::{BudgetStanding, Question, Route};
pub use state::{Act, EscalationState, ReviewOutcome, StepDecision};
pub use terms::{AsksFor, Scope, Terms};
