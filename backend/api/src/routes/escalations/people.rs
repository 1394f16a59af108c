//! What somebody is to an escalation: their seats, by the roles that they have at this moment.
//!
//! A decision never stands on remembered roles: they are read again, and whoever lost one has lost it here.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use reeve_core::access::{Action, Actor, PlatformRole, Resource, Role, Verdict, may};
use reeve_core::approval::By;
use reeve_core::id::{TeamId, UserId};
use reeve_store::escalations::row::EscalationRow;
use reeve_store::escalations::show::SeatRow;
use reeve_store::{StoreError, memberships, users};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// An actor, and those who handed them a seat.
pub(super) struct People {
    pub(super) actor: Actor,
    delegators: BTreeMap<Uuid, Actor>,
}

impl People {
    /// Nobody has handed them anything.
    pub(super) const fn alone(actor: Actor) -> Self {
        Self { actor, delegators: BTreeMap::new() }
    }

    pub(super) async fn new(app: &AppState, actor: Actor, seats: &[SeatRow]) -> Result<Self> {
        let mine = seats.iter().filter(|seat| seat.user_id == Some(actor.id.0));
        let ids: BTreeSet<Uuid> = mine.filter_map(|seat| seat.delegated_by).collect();
        let mut delegators = BTreeMap::new();
        for id in ids {
            delegators.insert(id, stored(app, UserId(id), &actor.scopes).await?);
        }
        Ok(Self { actor, delegators })
    }

    /// What the actor is to this escalation.
    pub(super) fn by(&self, row: &EscalationRow, seats: &[SeatRow]) -> By {
        let mut own = seats.iter().filter(|seat| seat.escalation_id == row.id && self.sits(seat, seats));
        let current: Vec<i32> = own.by_ref().map(|seat| seat.step).collect();
        let team = Resource::Team(row.team());
        By {
            user: self.actor.id,
            seated: row.step > 0 && current.contains(&row.step),
            oversees: self.actor.is_admin()
                || self.actor.has(row.team(), Role::Lead)
                || current.iter().any(|step| *step > 0),
            asks: may(&self.actor, Action::EscalationRequest, &team) == Verdict::Allowed,
            reviews: current.contains(&0),
        }
    }

    /// What `may()` is asked about.
    pub(super) fn resource(&self, row: &EscalationRow, seats: &[SeatRow]) -> Resource {
        let seated = seats.iter().any(|seat| seat.escalation_id == row.id && self.sits(seat, seats));
        Resource::Escalation { team: row.team(), requester: row.requester(), seated }
    }

    fn sits(&self, seat: &SeatRow, seats: &[SeatRow]) -> bool {
        if seat.user_id.is_none() {
            return has(&self.actor, seat);
        }
        // Handed over: as long as whoever did so would sit here by a role.
        let lent = seat.delegated_by.and_then(|by| self.delegators.get(&by));
        seat.user_id == Some(self.actor.id.0)
            && lent.is_some_and(|lender| {
                let here =
                    |other: &&SeatRow| other.escalation_id == seat.escalation_id && other.step == seat.step;
                seats.iter().filter(here).any(|other| has(lender, other))
            })
    }
}

fn has(actor: &Actor, seat: &SeatRow) -> bool {
    let platform = seat.platform_role.as_deref().and_then(|role| role.parse::<PlatformRole>().ok());
    let role = seat.role.as_deref().and_then(|role| role.parse::<Role>().ok());
    platform.is_some_and(|role| actor.platform_roles.contains(&role))
        || role.zip(seat.team_id).is_some_and(|(role, team)| actor.has(TeamId(team), role))
}

/// Somebody with the roles that are stored now; nobody in particular when they are disabled.
async fn stored(
    app: &AppState,
    id: UserId,
    scopes: &BTreeSet<reeve_core::access::Scope>,
) -> Result<Actor, StoreError> {
    let user = users::find(&app.store, &id.to_string()).await?;
    if user.state != "active" {
        let (platform_roles, roles) = (BTreeSet::new(), BTreeMap::new());
        return Ok(Actor { id, platform_roles, roles, scopes: scopes.clone() });
    }
    let words = user.platform_roles.iter().map(|role| role.parse::<PlatformRole>());
    let platform_roles = words.collect::<Result<_, _>>()?;
    Ok(Actor {
        id,
        platform_roles,
        roles: memberships::spread(&app.store, id).await?,
        scopes: scopes.clone(),
    })
}

/// The caller with those of their roles that still are theirs.
pub(super) async fn afresh(app: &AppState, caller: &Caller) -> Result<Actor> {
    let now = stored(app, caller.actor.id, &caller.actor.scopes).await?;
    let mut actor = caller.actor.clone();
    actor.platform_roles.retain(|role| now.platform_roles.contains(role));
    for (team, roles) in &mut actor.roles {
        roles.retain(|role| now.has(*team, *role));
    }
    Ok(actor)
}
