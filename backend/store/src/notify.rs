//! The outbox's inlet: sealed events after a cursor, whom they may concern, and the messages made of them, all in one
//! transaction, so that each event is told once however many servers run.
//!
//! It leaves no event: a message is made of one. This module refuses to decide who is told what.

use crate::connect::Store;
use crate::deliveries::NewDelivery;
use crate::error::StoreError;
use crate::event::{self, EventFilter, SealedEvent};
use crate::row::word;
use chrono::{DateTime, Utc};
use reeve_core::access::Role;
use reeve_core::id::RowId;
use reeve_core::notice::{Setting, Topic};
use sqlx::{Postgres, Transaction};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Sealed events that nobody has told yet, with the cursor locked.
#[derive(Debug)]
pub struct Batch {
    tx: Transaction<'static, Postgres>,
    pub events: Vec<SealedEvent>,
    position: i64,
}

/// A webhook that is told of events.
#[derive(Debug, Clone)]
pub struct Target {
    pub webhook_id: Uuid,
    pub kind: String,
    pub event_types: Vec<String>,
    pub locale: String,
    /// Its team and all below; `None` = everything.
    pub teams: Option<Vec<Uuid>>,
}

/// Somebody who may be told by mail.
#[derive(Debug, Clone)]
pub struct Reader {
    pub user_id: Uuid,
    pub locale: Option<String>,
    pub is_admin: bool,
}

/// A role of a reader that reaches a team.
#[derive(Debug, Clone, Copy)]
pub struct ReaderRole {
    pub user_id: Uuid,
    /// The event's team.
    pub team_id: Uuid,
    pub role: Role,
}

/// What somebody wants: their own word, or their team's.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    pub user_id: Option<Uuid>,
    pub team_id: Option<Uuid>,
    pub topic: Topic,
    pub setting: Setting,
}

/// What a job, node or webhook is called, and whose a job or an escalation is.
#[derive(Debug, Clone)]
pub struct Subject {
    pub id: Uuid,
    pub name: String,
    pub owner: Option<Uuid>,
}

/// Moves the cursor to the end where no webhook would hear of anything: events need not even be read then.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn skip_unheard(store: &Store) -> Result<bool, StoreError> {
    let quiet = sqlx::query_scalar!(
        r#"with quiet as (select where not exists (select from webhooks where state = 'enabled')),
                moved as (
                  update notify_cursor c set position = s.last
                  from (select coalesce(max(position), 0) as last from event_seals) s
                  where exists (select from quiet) and s.last > c.position
                )
           select exists (select from quiet) as "quiet!""#
    )
    .fetch_one(store.pool())
    .await?;
    Ok(quiet)
}

/// The next events, unless another server is at it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn next(store: &Store, most: i64) -> Result<Option<Batch>, StoreError> {
    let mut tx = store.pool().begin().await?;
    let position = sqlx::query_scalar!("select position from notify_cursor for update skip locked")
        .fetch_optional(&mut *tx)
        .await?;
    let Some(position) = position else { return Ok(None) };
    let events = event::after(store, position, &EventFilter::default(), most).await?;
    Ok(Some(Batch { tx, events, position }))
}

impl Batch {
    /// Webhooks that are told of events.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn targets(&mut self) -> Result<Vec<Target>, StoreError> {
        let rows = sqlx::query!(
            r#"with recursive below as (
                 select w.id as webhook_id, w.team_id as id from webhooks w
                 where w.state = 'enabled' and w.team_id is not null
                 union
                 select b.webhook_id, t.id from teams t join below b on t.parent_id = b.id
               )
               select w.id, w.kind, w.event_types, w.locale, w.team_id is null as "everything!",
                      array(select b.id from below b where b.webhook_id = w.id) as "teams!: Vec<Uuid>"
               from webhooks w where w.state = 'enabled' order by w.id limit 5000"#
        )
        .fetch_all(&mut *self.tx)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| Target {
                webhook_id: row.id,
                kind: row.kind,
                event_types: row.event_types,
                locale: row.locale,
                teams: (!row.everything).then_some(row.teams),
            })
            .collect())
    }

    /// Names of the jobs, nodes, webhooks and escalations among these ids, and whose they are.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn subjects(&mut self, ids: &[Uuid]) -> Result<Vec<Subject>, StoreError> {
        Ok(sqlx::query_as!(
            Subject,
            r#"select id as "id!", name as "name!", user_id as owner from jobs where id = any($1)
               union all select id, name, null from nodes where id = any($1)
               union all select id, name, null from webhooks where id = any($1)
               union all select id, asks_for, requested_by from escalations where id = any($1)"#,
            ids
        )
        .fetch_all(&mut *self.tx)
        .await?)
    }

    /// Names of teams.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn team_names(&mut self, ids: &[Uuid]) -> Result<BTreeMap<Uuid, String>, StoreError> {
        let rows = sqlx::query!("select id, name from teams where id = any($1)", ids)
            .fetch_all(&mut *self.tx)
            .await?;
        Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
    }

    /// People with an address who have a role that reaches one of these teams, and those roles.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] for a role that this version does not know.
    pub async fn roles(&mut self, teams: &[Uuid]) -> Result<Vec<ReaderRole>, StoreError> {
        let rows = sqlx::query!(
            r#"with recursive above as (
                 select id as team_id, id, parent_id from teams where id = any($1)
                 union
                 select a.team_id, t.id, t.parent_id from teams t join above a on t.id = a.parent_id
               )
               select distinct m.user_id as "user_id!", a.team_id as "team_id!", m.role as "role!"
               from above a join memberships m on m.team_id = a.id join users u on u.id = m.user_id
               where u.state = 'active' and u.email is not null and u.kind = 'person'"#,
            teams
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter()
            .map(|row| Ok(ReaderRole { user_id: row.user_id, team_id: row.team_id, role: word(&row.role)? }))
            .collect()
    }

    /// Those of these people, and all administrators, who have an address.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn readers(&mut self, users: &[Uuid]) -> Result<Vec<Reader>, StoreError> {
        Ok(sqlx::query_as!(
            Reader,
            r#"select id as user_id, locale, 'admin' = any(platform_roles) as "is_admin!" from users
               where state = 'active' and email is not null and kind = 'person'
                 and (id = any($1) or 'admin' = any(platform_roles))"#,
            users
        )
        .fetch_all(&mut *self.tx)
        .await?)
    }

    /// What these people want, and these teams for theirs.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] for a word that this version does not know.
    pub async fn wishes(&mut self, users: &[Uuid], teams: &[Uuid]) -> Result<Vec<Wish>, StoreError> {
        let rows = sqlx::query!(
            "select user_id, team_id, topic, setting from notification_settings
             where user_id = any($1) or team_id = any($2)",
            users,
            teams
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(Wish {
                    user_id: row.user_id,
                    team_id: row.team_id,
                    topic: word(&row.topic)?,
                    setting: word(&row.setting)?,
                })
            })
            .collect()
    }

    /// Puts the messages in line and moves the cursor behind the events.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn done(mut self, messages: &[NewDelivery], now: DateTime<Utc>) -> Result<(), StoreError> {
        let Some(last) = self.events.last().map(|event| event.position) else { return Ok(()) };
        let ids: Vec<Uuid> = messages.iter().map(|_| RowId::mint(now).0).collect();
        let column = |read: fn(&NewDelivery) -> Option<Uuid>| messages.iter().map(read).collect::<Vec<_>>();
        let text = |read: fn(&NewDelivery) -> &String| messages.iter().map(read).cloned().collect::<Vec<_>>();
        let positions: Vec<Option<i64>> = messages.iter().map(|message| message.event_position).collect();
        sqlx::query!(
            "insert into deliveries (id, webhook_id, user_id, message_id, event_position, event_type, body, state,
                                     next_attempt_at, created_at)
             select id, webhook_id, user_id, message_id, event_position, event_type, body, 'pending', $8, $8
             from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::text[], $7::text[])
               as m(id, webhook_id, user_id, message_id, event_position, event_type, body)
             on conflict do nothing",
            &ids,
            &column(|message| message.webhook_id) as &[Option<Uuid>],
            &column(|message| message.user_id) as &[Option<Uuid>],
            &text(|message| &message.message_id),
            &positions as &[Option<i64>],
            &text(|message| &message.event_type),
            &text(|message| &message.body),
            now
        )
        .execute(&mut *self.tx)
        .await?;
        sqlx::query!("update notify_cursor set position = $2 where position = $1", self.position, last)
            .execute(&mut *self.tx)
            .await?;
        self.tx.commit().await?;
        Ok(())
    }
}
