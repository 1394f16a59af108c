//! Who may do what: one function, [`may`], asked before every effect and every read.
//!
//! A verdict has three values because a refusal itself may tell too much: what the actor may not know exists is
//! [`Verdict::Hidden`]. This module refuses to look anything up: roles arrive already spread over the subtree below
//! the team where they were given.

mod scope;

pub use scope::scope_for;

use crate::id::{TeamId, UserId};
use crate::text_enum;
use std::collections::{BTreeMap, BTreeSet};

text_enum! {
    /// A role in a team. It counts for the team and everything below it.
    Role {
        /// Reads the team's jobs, queues and members.
        Viewer = "viewer",
        /// Submits, and acts on own jobs.
        Member = "member",
        /// All of the team's jobs and queues, members, quotas of the teams below.
        Lead = "lead",
        /// Reads, and decides on escalations.
        Approver = "approver",
    }
}

text_enum! {
    /// A role in the whole installation.
    PlatformRole {
        Admin = "admin",
        /// Reads everything; prices, budgets, months and their corrections.
        Finance = "finance",
        /// Reads everything.
        Auditor = "auditor",
    }
}

text_enum! {
    /// What an API token may be used for. A signed-in session has all three.
    Scope {
        Read = "read",
        Write = "write",
        /// Needed on top of the role for what only admins and leads do: people, teams, quotas, nodes, policy.
        Admin = "admin",
    }
}

text_enum! {
    /// Everything that can be asked for.
    Action {
        ProfileRead = "profile.read",
        ProfileEdit = "profile.edit",
        TokenRead = "token.read",
        TokenCreate = "token.create",
        TokenRevoke = "token.revoke",
        SessionRead = "session.read",
        SessionRevoke = "session.revoke",
        UserRead = "user.read",
        UserCreate = "user.create",
        UserEdit = "user.edit",
        TeamRead = "team.read",
        TeamCreate = "team.create",
        TeamEdit = "team.edit",
        TeamDelete = "team.delete",
        MemberRead = "member.read",
        MemberEdit = "member.edit",
        PoolRead = "pool.read",
        PoolCreate = "pool.create",
        PoolEdit = "pool.edit",
        PoolDelete = "pool.delete",
        NodeRead = "node.read",
        NodeEdit = "node.edit",
        NodeRemove = "node.remove",
        NodeCordon = "node.cordon",
        NodeDrain = "node.drain",
        JoinTokenRead = "join_token.read",
        JoinTokenCreate = "join_token.create",
        JoinTokenRevoke = "join_token.revoke",
        QuotaRead = "quota.read",
        QuotaEdit = "quota.edit",
        QueueRead = "queue.read",
        QueueCreate = "queue.create",
        QueueEdit = "queue.edit",
        QueueDelete = "queue.delete",
        JobSubmit = "job.submit",
        JobRead = "job.read",
        JobCancel = "job.cancel",
        JobHold = "job.hold",
        JobRelease = "job.release",
        JobRequeue = "job.requeue",
        LoanRead = "loan.read",
        ReclaimRead = "reclaim.read",
        EvictionRead = "eviction.read",
        PolicyRead = "policy.read",
        PolicyEdit = "policy.edit",
        ReservationRead = "reservation.read",
        ReservationCreate = "reservation.create",
        ReservationDelete = "reservation.delete",
        MaintenanceWindowRead = "maintenance_window.read",
        MaintenanceWindowCreate = "maintenance_window.create",
        MaintenanceWindowDelete = "maintenance_window.delete",
        EscalationRead = "escalation.read",
        EscalationRequest = "escalation.request",
        EscalationComment = "escalation.comment",
        EscalationWithdraw = "escalation.withdraw",
        /// Approve, deny, hand over.
        EscalationDecide = "escalation.decide",
        EscalationRevoke = "escalation.revoke",
        EscalationReview = "escalation.review",
        PriorityBudgetRead = "priority_budget.read",
        PriorityBudgetEdit = "priority_budget.edit",
        OidcProviderRead = "oidc_provider.read",
        OidcProviderEdit = "oidc_provider.edit",
        WorkloadRuleRead = "workload_rule.read",
        WorkloadRuleEdit = "workload_rule.edit",
        WebhookRead = "webhook.read",
        WebhookCreate = "webhook.create",
        WebhookEdit = "webhook.edit",
        NotificationEdit = "notification.edit",
        OverviewRead = "overview.read",
        EventRead = "event.read",
        WhatIf = "what_if",
        AuditRead = "audit.read",
        UsageRead = "usage.read",
        StatementRead = "statement.read",
        StatementClose = "statement.close",
        PriceRead = "price.read",
        PriceEdit = "price.edit",
        BudgetRead = "budget.read",
        BudgetEdit = "budget.edit",
        OperationRead = "operation.read",
        OperationCreate = "operation.create",
        OperationCancel = "operation.cancel",
    }
}

/// What an action is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// The installation: what belongs to no team.
    Installation,
    /// A person's own profile and tokens.
    Account(UserId),
    /// A team and what belongs to it: members, queues.
    Team(TeamId),
    /// A team's quota. Whoever leads the parent hands out its guarantee; nobody raises their own.
    Quota { team: TeamId, parent: Option<TeamId> },
    /// A job, or anything that tells about it: runs, logs, explanation.
    Job { team: TeamId, owner: UserId },
    /// A request for more than the rules give, and whether the actor has a seat at it: at one of its steps, or its
    /// review.
    Escalation { team: TeamId, requester: UserId, seated: bool },
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub id: UserId,
    pub platform_roles: BTreeSet<PlatformRole>,
    /// Roles by team, spread over the subtree below the team where each was given.
    pub roles: BTreeMap<TeamId, BTreeSet<Role>>,
    pub scopes: BTreeSet<Scope>,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    /// The actor may know that it exists: 403.
    Forbidden,
    /// The actor may not know that it exists: 404.
    Hidden,
}

/// Whose rows a list may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    Everything,
    /// Only these teams', which may be none.
    Teams(Vec<TeamId>),
}

impl Actor {
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.platform_roles.contains(&PlatformRole::Admin)
    }

    /// Admin, finance and auditor read everything.
    #[must_use]
    pub fn reads_everything(&self) -> bool {
        !self.platform_roles.is_empty()
    }

    #[must_use]
    pub fn has(&self, team: TeamId, role: Role) -> bool {
        self.roles.get(&team).is_some_and(|roles| roles.contains(&role))
    }

    /// Belongs to the team in any role, or reads everything.
    #[must_use]
    pub fn reads_team(&self, team: TeamId) -> bool {
        self.reads_everything() || self.roles.get(&team).is_some_and(|roles| !roles.is_empty())
    }

    /// Whose jobs, members and events a list may show.
    #[must_use]
    pub fn readable(&self) -> Readable {
        if self.reads_everything() {
            return Readable::Everything;
        }
        let teams = self.roles.iter().filter(|(_, roles)| !roles.is_empty()).map(|(team, _)| *team);
        Readable::Teams(teams.collect())
    }

    /// Whose bills and audit events a list may show: everything, or the teams that the actor leads.
    #[must_use]
    pub fn overseen(&self) -> Readable {
        if self.reads_everything() {
            return Readable::Everything;
        }
        let led = self.roles.iter().filter(|(_, roles)| roles.contains(&Role::Lead)).map(|(team, _)| *team);
        Readable::Teams(led.collect())
    }

    /// The same actor through a token that is limited to some teams (subtrees already spread). Platform roles
    /// don't pass such a token; an admin is a lead in those teams.
    #[must_use]
    pub fn limited_to(mut self, teams: &BTreeSet<TeamId>) -> Self {
        let admin = self.is_admin();
        let reads = self.reads_everything();
        self.platform_roles.clear();
        self.roles.retain(|team, _| teams.contains(team));
        for team in teams {
            if reads {
                self.roles.entry(*team).or_default().insert(Role::Viewer);
            }
            if admin {
                self.roles.entry(*team).or_default().insert(Role::Lead);
            }
        }
        self
    }
}

/// May this actor do this to that? Every action has its line here; a new one does not compile without.
#[must_use]
pub fn may(actor: &Actor, action: Action, resource: &Resource) -> Verdict {
    let verdict = by_role(actor, action, resource);
    if verdict == Verdict::Allowed && !actor.scopes.contains(&scope_for(action)) {
        return Verdict::Forbidden;
    }
    verdict
}

#[expect(
    clippy::too_many_lines,
    reason = "one table of all actions, which the compiler checks for completeness"
)]
fn by_role(actor: &Actor, action: Action, resource: &Resource) -> Verdict {
    use Action as A;
    match action {
        // Sharing must be visible: names, capacity, quotas and who borrows from whom are everybody's to see.
        A::TeamRead
        | A::PoolRead
        | A::NodeRead
        | A::QuotaRead
        | A::QueueRead
        | A::LoanRead
        | A::ReclaimRead
        | A::PolicyRead
        | A::ReservationRead
        | A::MaintenanceWindowRead
        | A::OverviewRead
        | A::PriceRead
        | A::WhatIf => Verdict::Allowed,
        A::ProfileRead
        | A::ProfileEdit
        | A::TokenRead
        | A::TokenCreate
        | A::TokenRevoke
        | A::OperationRead
        | A::OperationCancel
        | A::SessionRead
        | A::SessionRevoke => own_account(actor, action, resource),
        A::UserRead | A::JoinTokenRead | A::OidcProviderRead | A::WorkloadRuleRead => {
            open_or_forbidden(actor.reads_everything())
        }
        A::WebhookRead | A::WebhookEdit => webhook(actor, action, resource),
        A::OidcProviderEdit
        | A::WorkloadRuleEdit
        | A::UserCreate
        | A::UserEdit
        | A::TeamCreate
        | A::TeamDelete
        | A::PoolCreate
        | A::PoolEdit
        | A::PoolDelete
        | A::NodeEdit
        | A::NodeRemove
        | A::NodeCordon
        | A::NodeDrain
        | A::JoinTokenCreate
        | A::JoinTokenRevoke
        | A::ReservationCreate
        | A::ReservationDelete
        | A::MaintenanceWindowCreate
        | A::MaintenanceWindowDelete
        | A::PolicyEdit => open_or_forbidden(actor.is_admin()),
        A::AuditRead | A::UsageRead | A::StatementRead | A::OperationCreate => {
            open_or_forbidden(oversees(actor, resource))
        }
        A::PriceEdit | A::StatementClose => open_or_forbidden(keeps_books(actor)),
        A::BudgetRead => reads(actor, resource),
        A::BudgetEdit => open_or_forbidden(keeps_books(actor) || hands_out(actor, resource)),
        A::MemberRead | A::EventRead | A::EvictionRead => reads(actor, resource),
        A::WebhookCreate
        | A::NotificationEdit
        | A::TeamEdit
        | A::MemberEdit
        | A::QueueCreate
        | A::QueueEdit
        | A::QueueDelete => open_or_forbidden(leads(actor, resource)),
        A::QuotaEdit => open_or_forbidden(hands_out(actor, resource)),
        A::JobSubmit => open_or_forbidden(submits(actor, resource)),
        A::JobRead => reads(actor, resource),
        A::EscalationRequest => open_or_forbidden(submits(actor, resource) || approves(actor, resource)),
        A::EscalationRead
        | A::EscalationComment
        | A::EscalationWithdraw
        | A::EscalationDecide
        | A::EscalationRevoke
        | A::EscalationReview => takes_part(actor, action, resource),
        A::PriorityBudgetRead => reads(actor, resource),
        A::PriorityBudgetEdit => {
            let finance = actor.platform_roles.contains(&PlatformRole::Finance);
            open_or_forbidden(actor.is_admin() || finance)
        }
        A::JobCancel | A::JobHold | A::JobRelease | A::JobRequeue => acts_on_job(actor, resource),
    }
}

const fn open_or_forbidden(allowed: bool) -> Verdict {
    if allowed { Verdict::Allowed } else { Verdict::Forbidden }
}

/// A person's own; an admin may see and revoke others' tokens, and never make one for them.
fn own_account(actor: &Actor, action: Action, resource: &Resource) -> Verdict {
    match resource {
        Resource::Account(owner) if *owner == actor.id => Verdict::Allowed,
        Resource::Account(_) if actor.is_admin() && action != Action::TokenCreate => Verdict::Allowed,
        _ => Verdict::Hidden,
    }
}

/// A team is known to everybody, so its contents are forbidden; a job of another team is not known at all.
fn reads(actor: &Actor, resource: &Resource) -> Verdict {
    match resource {
        Resource::Installation => open_or_forbidden(actor.reads_everything()),
        Resource::Account(owner) => open_or_forbidden(*owner == actor.id || actor.reads_everything()),
        Resource::Team(team) | Resource::Quota { team, .. } => open_or_forbidden(actor.reads_team(*team)),
        Resource::Job { team, .. } if actor.reads_team(*team) => Verdict::Allowed,
        Resource::Job { .. } => Verdict::Hidden,
        Resource::Escalation { .. } => takes_part(actor, Action::EscalationRead, resource),
    }
}

/// Whoever reads the team, asked for it, or has a seat at it. What each may do then is the case's own rule
/// ([`crate::approval::Case`]), which names why not. Lists are cut to these.
fn takes_part(actor: &Actor, action: Action, resource: &Resource) -> Verdict {
    match resource {
        Resource::Escalation { team, requester, seated } => {
            let knows = *seated || *requester == actor.id || actor.reads_team(*team);
            if knows { Verdict::Allowed } else { Verdict::Hidden }
        }
        // A list shows each what they may know.
        _ => open_or_forbidden(action == Action::EscalationRead),
    }
}

fn leads(actor: &Actor, resource: &Resource) -> bool {
    match resource {
        Resource::Team(team)
        | Resource::Quota { team, .. }
        | Resource::Job { team, .. }
        | Resource::Escalation { team, .. } => actor.is_admin() || actor.has(*team, Role::Lead),
        Resource::Installation | Resource::Account(_) => actor.is_admin(),
    }
}

/// Where events are sent is the business of whoever leads the team. Other teams don't learn that there is a webhook.
fn webhook(actor: &Actor, action: Action, resource: &Resource) -> Verdict {
    if leads(actor, resource) || (action == Action::WebhookRead && actor.reads_everything()) {
        return Verdict::Allowed;
    }
    match resource {
        Resource::Team(team) if actor.reads_team(*team) => Verdict::Forbidden,
        Resource::Installation if actor.reads_everything() => Verdict::Forbidden,
        _ => Verdict::Hidden,
    }
}

/// Bills and audit: of the installation for whoever oversees any of it (lists show no more than that), of a team for
/// its leads.
fn oversees(actor: &Actor, resource: &Resource) -> bool {
    match resource {
        Resource::Team(team)
        | Resource::Quota { team, .. }
        | Resource::Job { team, .. }
        | Resource::Escalation { team, .. } => actor.reads_everything() || actor.has(*team, Role::Lead),
        Resource::Installation | Resource::Account(_) => actor.overseen() != Readable::Teams(Vec::new()),
    }
}

fn keeps_books(actor: &Actor) -> bool {
    actor.is_admin() || actor.platform_roles.contains(&PlatformRole::Finance)
}

fn hands_out(actor: &Actor, resource: &Resource) -> bool {
    match resource {
        Resource::Quota { parent: Some(parent), .. } => actor.is_admin() || actor.has(*parent, Role::Lead),
        _ => actor.is_admin(),
    }
}

fn submits(actor: &Actor, resource: &Resource) -> bool {
    match resource {
        Resource::Team(team)
        | Resource::Quota { team, .. }
        | Resource::Job { team, .. }
        | Resource::Escalation { team, .. } => {
            actor.is_admin() || actor.has(*team, Role::Member) || actor.has(*team, Role::Lead)
        }
        Resource::Installation | Resource::Account(_) => false,
    }
}

fn approves(actor: &Actor, resource: &Resource) -> bool {
    matches!(resource, Resource::Team(team) if actor.has(*team, Role::Approver))
}

fn acts_on_job(actor: &Actor, resource: &Resource) -> Verdict {
    let Resource::Job { team, owner } = resource else { return Verdict::Forbidden };
    if !actor.reads_team(*team) {
        return Verdict::Hidden;
    }
    let own = *owner == actor.id && actor.has(*team, Role::Member);
    open_or_forbidden(own || leads(actor, resource))
}

#[cfg(test)]
mod tests;
