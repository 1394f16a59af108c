//! Who wants mail about what.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::word;
use crate::write_tx::{NewEvent, WriteTx};
use reeve_core::id::{TeamId, UserId};
use reeve_core::notice::{Setting, Topic};
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What was set, by topic.
pub type Settings = BTreeMap<Topic, Setting>;

/// A person's own word.
///
/// # Errors
/// [`StoreError::Unreadable`] for a word that this version does not know.
pub async fn of_user(store: &Store, user: UserId) -> Result<Settings, StoreError> {
    let rows = sqlx::query!("select topic, setting from notification_settings where user_id = $1", user.0)
        .fetch_all(store.pool())
        .await?;
    rows.iter().map(|row| Ok((word(&row.topic)?, word(&row.setting)?))).collect()
}

/// What teams want for their members; of several, the one that wants most.
///
/// # Errors
/// [`StoreError::Unreadable`] for a word that this version does not know.
pub async fn of_teams(store: &Store, teams: &[Uuid]) -> Result<Settings, StoreError> {
    let rows =
        sqlx::query!("select topic, setting from notification_settings where team_id = any($1)", teams)
            .fetch_all(store.pool())
            .await?;
    let mut settings = Settings::new();
    for row in rows {
        let (topic, setting): (Topic, Setting) = (word(&row.topic)?, word(&row.setting)?);
        settings.entry(topic).and_modify(|most| *most = (*most).max(setting)).or_insert(setting);
    }
    Ok(settings)
}

/// Sets a person's own word, or takes it back with `None`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn set_of_user(
    tx: &mut WriteTx,
    user: UserId,
    settings: &BTreeMap<Topic, Option<Setting>>,
) -> Result<(), StoreError> {
    set(tx, Some(user.0), None, settings).await?;
    let event = NewEvent::new("notification.edited", "user", user);
    tx.record(event.after(json!(settings)));
    Ok(())
}

/// Sets what a team wants for its members, or takes it back with `None`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn set_of_team(
    tx: &mut WriteTx,
    team: TeamId,
    settings: &BTreeMap<Topic, Option<Setting>>,
) -> Result<(), StoreError> {
    set(tx, None, Some(team.0), settings).await?;
    let event = NewEvent::new("notification.edited", "team", team).team(team);
    tx.record(event.after(json!(settings)));
    Ok(())
}

async fn set(
    tx: &mut WriteTx,
    user: Option<Uuid>,
    team: Option<Uuid>,
    settings: &BTreeMap<Topic, Option<Setting>>,
) -> Result<(), StoreError> {
    for (topic, setting) in settings {
        sqlx::query!(
            "delete from notification_settings
             where user_id is not distinct from $1 and team_id is not distinct from $2 and topic = $3",
            user,
            team,
            topic.as_str()
        )
        .execute(tx.connection())
        .await?;
        if let Some(setting) = setting {
            sqlx::query!(
                "insert into notification_settings (user_id, team_id, topic, setting) values ($1, $2, $3, $4)
                 on conflict do nothing",
                user,
                team,
                topic.as_str(),
                setting.as_str()
            )
            .execute(tx.connection())
            .await?;
        }
    }
    Ok(())
}
