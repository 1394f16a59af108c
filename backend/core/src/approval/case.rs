//! One escalation as its rules see it: who asked, where it stands, who approved which step, and what is granted.

use super::refusal::Refusal;
use super::state::{Act, EscalationState};
use super::terms::Terms;
use crate::id::UserId;

/// An escalation's facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub requester: UserId,
    pub state: EscalationState,
    /// The step that waits, from 1; 0 = none.
    pub step: u32,
    pub steps: u32,
    pub granted: Terms,
    /// Who approved the steps so far, in their order.
    pub approved_by: Vec<UserId>,
    /// An emergency's review, as long as nobody has made it.
    pub review_due: bool,
}

/// Somebody who acts, with what their roles make of them here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By {
    pub user: UserId,
    /// Among those who decide the current step, by role or because somebody who is handed it over.
    pub seated: bool,
    /// Leads the team, stands at any of its steps, or is an administrator.
    pub oversees: bool,
    /// May ask for things in the team's name.
    pub asks: bool,
    /// Among those who review an emergency.
    pub reviews: bool,
}

type Judged = Result<(), Refusal>;

impl Case {
    /// Whether the act has a place where the case stands.
    fn stands(&self, act: Act) -> Result<(EscalationState, u32), Refusal> {
        self.state.after(act, self.step, self.steps).ok_or(Refusal::State(self.state))
    }

    /// Approve, deny or delegate: the requester never, nobody twice, and only who is seated at the step.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn may_decide(&self, by: By) -> Judged {
        self.stands(Act::Deny)?;
        if by.user == self.requester {
            return Err(Refusal::OwnRequest);
        }
        if self.approved_by.contains(&by.user) {
            return Err(Refusal::SamePerson);
        }
        if by.seated { Ok(()) } else { Err(Refusal::NotApprover) }
    }

    /// Whether somebody may be handed the step.
    ///
    /// # Errors
    /// [`Refusal`]: as if they decided it themselves.
    pub fn may_receive(&self, to: UserId) -> Judged {
        self.may_decide(By { user: to, seated: true, oversees: false, asks: false, reviews: false })
    }

    /// # Errors
    /// [`Refusal`]: only the requester takes it back, before it is active.
    pub fn may_withdraw(&self, by: By) -> Judged {
        self.stands(Act::Withdraw)?;
        if by.user == self.requester { Ok(()) } else { Err(Refusal::NotYours) }
    }

    /// # Errors
    /// [`Refusal`]: the requester gives it back, an overseer takes it.
    pub fn may_revoke(&self, by: By) -> Judged {
        self.stands(Act::Revoke)?;
        if by.user == self.requester || by.oversees { Ok(()) } else { Err(Refusal::NotYours) }
    }

    /// # Errors
    /// [`Refusal`]: only what is active is renewed, by whoever could ask for it.
    pub fn may_renew(&self, by: By) -> Judged {
        if self.state != EscalationState::Active {
            return Err(Refusal::State(self.state));
        }
        if by.asks { Ok(()) } else { Err(Refusal::NotYours) }
    }

    /// # Errors
    /// [`Refusal`]: an emergency is reviewed once, by others than who made it.
    pub fn may_review(&self, by: By) -> Judged {
        if !self.review_due {
            return Err(Refusal::State(self.state));
        }
        if by.user == self.requester {
            return Err(Refusal::OwnRequest);
        }
        if by.reviews { Ok(()) } else { Err(Refusal::NotApprover) }
    }

    /// Somebody approves the current step, whole or less of it.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn approve(mut self, by: By, less: Terms) -> Result<Self, Refusal> {
        self.may_decide(by)?;
        self.granted = self.granted.lessened(less)?;
        self.approved_by.push(by.user);
        (self.state, self.step) = self.stands(Act::Approve)?;
        Ok(self)
    }

    /// Any other act that its own judge has let through.
    ///
    /// # Errors
    /// [`Refusal::State`] where it has no place.
    pub fn after(mut self, act: Act) -> Result<Self, Refusal> {
        (self.state, self.step) = self.stands(act)?;
        if let Act::Route { steps } = act {
            self.steps = steps;
        }
        Ok(self)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
