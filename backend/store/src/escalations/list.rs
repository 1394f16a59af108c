//! Lists of escalations: those that somebody may see, and those that wait for somebody.

use super::row::{EscalationRow, select_escalations};
use crate::connect::Store;
use crate::error::StoreError;
use reeve_core::access::{Actor, Readable};
use reeve_core::id::{JobId, UserId};
use uuid::Uuid;

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// A team with everything below it.
    pub teams: Option<Vec<Uuid>>,
    pub states: Option<Vec<String>>,
    pub asks_for: Option<String>,
    pub job: Option<JobId>,
    pub requested_by: Option<UserId>,
}

/// Somebody, as seats know people.
struct Somebody {
    user: Uuid,
    /// `None` = reads everything.
    readable: Option<Vec<Uuid>>,
    platform_roles: Vec<String>,
    teams: Vec<Uuid>,
    roles: Vec<String>,
}

impl From<&Actor> for Somebody {
    fn from(actor: &Actor) -> Self {
        let pairs =
            actor.roles.iter().flat_map(|(team, roles)| roles.iter().map(|role| (team.0, role.to_string())));
        let (teams, roles) = pairs.unzip();
        Self {
            user: actor.id.0,
            readable: match actor.readable() {
                Readable::Everything => None,
                Readable::Teams(teams) => Some(teams.into_iter().map(|team| team.0).collect()),
            },
            platform_roles: actor.platform_roles.iter().map(ToString::to_string).collect(),
            teams,
            roles,
        }
    }
}

/// Newest first: of teams that the actor reads, their own, and those at which they sit.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    actor: &Actor,
    filter: &Filter,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<EscalationRow>, StoreError> {
    let who = Somebody::from(actor);
    Ok(select_escalations!(
        "where ($1::uuid[] is null or e.team_id = any($1) or e.requested_by = $2
                or exists (select from escalation_seats s where s.escalation_id = e.id and (
                     s.user_id = $2 or s.platform_role = any($3)
                     or (s.team_id, s.role) in (select * from unnest($4::uuid[], $5::text[])))))
           and ($6::uuid[] is null or e.team_id = any($6)) and ($7::text[] is null or e.state = any($7))
           and ($8::text is null or e.asks_for = $8) and ($9::uuid is null or e.job_id = $9)
           and ($10::uuid is null or e.requested_by = $10) and ($11::uuid is null or e.id < $11)
         order by e.id desc limit $12",
        who.readable.as_deref(),
        who.user,
        &who.platform_roles,
        &who.teams,
        &who.roles,
        filter.teams.as_deref(),
        filter.states.as_deref(),
        filter.asks_for.as_deref(),
        filter.job.map(|id| id.0),
        filter.requested_by.map(|id| id.0),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// What waits for the actor, oldest first: steps at which they sit, and reviews. Not their own requests, not those of
/// which they approved a step already, and not what they handed over.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn waiting_for(
    store: &Store,
    actor: &Actor,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<EscalationRow>, StoreError> {
    let who = Somebody::from(actor);
    Ok(select_escalations!(
        "where e.requested_by <> $1
           and (e.state = 'in_review' or (e.break_glass and e.reviewed_at is null))
           and exists (select from escalation_seats s
                       where s.escalation_id = e.id and s.step = e.step and (
                         s.user_id = $1 or s.platform_role = any($2)
                         or (s.team_id, s.role) in (select * from unnest($3::uuid[], $4::text[]))))
           and not exists (select from escalation_seats d
                           where d.escalation_id = e.id and d.step = e.step and d.delegated_by = $1)
           and not exists (select from escalation_steps s where s.escalation_id = e.id and s.decided_by = $1)
           and ($5::uuid is null or e.id > $5)
         order by e.id limit $6",
        who.user,
        &who.platform_roles,
        &who.teams,
        &who.roles,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}
