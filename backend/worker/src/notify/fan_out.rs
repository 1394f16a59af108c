//! The step that makes messages of events: which webhooks match, which people want to know.

use super::message;
use super::outbound::Outbound;
use chrono::{DateTime, Utc};
use reeve_core::notice::{Facts, Notice, Reach, Setting, Topic, notice};
use reeve_store::deliveries::NewDelivery;
use reeve_store::event::SealedEvent;
use reeve_store::notify::{self, Batch, Reader, ReaderRole, Subject, Target, Wish};
use reeve_store::{Store, StoreError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Events a step.
const BATCH: i64 = 200;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FannedOut {
    pub events: usize,
    pub messages: usize,
    /// A batch was full: there may be more.
    pub again: bool,
}

/// Tells one batch of events.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn step(store: &Store, now: DateTime<Utc>, outbound: &Outbound) -> Result<FannedOut, StoreError> {
    if outbound.mail.is_none() && notify::skip_unheard(store).await? {
        return Ok(FannedOut::default());
    }
    let Some(mut batch) = notify::next(store, BATCH).await? else { return Ok(FannedOut::default()) };
    if batch.events.is_empty() {
        return Ok(FannedOut::default());
    }
    let events = batch.events.clone();
    let told = tell(&mut batch, &events).await?;
    let mut messages = Vec::new();
    for target in batch.targets().await? {
        messages.extend(told.iter().filter_map(|news| to_webhook(&target, news, outbound)));
    }
    if outbound.mail.is_some() {
        to_people(&mut batch, &told, outbound, &mut messages).await?;
    }
    batch.done(&messages, now).await?;
    metrics::counter!("reeve_messages_made_total").increment(messages.len() as u64);
    let full = events.len() >= usize::try_from(BATCH).unwrap_or(usize::MAX);
    Ok(FannedOut { events: events.len(), messages: messages.len(), again: full })
}

/// An event, and what people are told of it.
struct News<'a> {
    sealed: &'a SealedEvent,
    notice: Option<Notice>,
    /// Whom it is about.
    owner: Option<Uuid>,
}

async fn tell<'a>(batch: &mut Batch, events: &'a [SealedEvent]) -> Result<Vec<News<'a>>, StoreError> {
    let ids: Vec<Uuid> = events.iter().filter_map(|sealed| sealed.event.subject_id).collect();
    let teams: Vec<Uuid> =
        events.iter().filter_map(|sealed| sealed.event.team_id.map(|team| team.0)).collect();
    let subjects: BTreeMap<Uuid, Subject> =
        batch.subjects(&ids).await?.into_iter().map(|subject| (subject.id, subject)).collect();
    let teams = batch.team_names(&teams).await?;
    Ok(events.iter().map(|sealed| news(sealed, &subjects, &teams)).collect())
}

fn news<'a>(
    sealed: &'a SealedEvent,
    subjects: &BTreeMap<Uuid, Subject>,
    teams: &BTreeMap<Uuid, String>,
) -> News<'a> {
    let event = &sealed.event;
    let subject = event.subject_id.and_then(|id| subjects.get(&id));
    let id = event.subject_id.map(|id| id.to_string());
    let notice = notice(&Facts {
        action: &event.action,
        allowed: event.allowed,
        actor: &event.actor_name,
        rule: event.rule.as_deref(),
        name: subject.map(|subject| subject.name.as_str()),
        team: event.team_id.and_then(|team| teams.get(&team.0)).map(String::as_str),
        subject_id: id.as_deref(),
        after: event.after.as_ref().unwrap_or(&Value::Null),
        detail: event.detail.as_ref().unwrap_or(&Value::Null),
    });
    let owner = notice.as_ref().and_then(|notice| owner(sealed, notice.topic, subject));
    News { sealed, notice, owner }
}

/// Whom an event is about.
fn owner(sealed: &SealedEvent, topic: Topic, subject: Option<&Subject>) -> Option<Uuid> {
    let event = &sealed.event;
    let named = |field: &str| {
        let read =
            |value: &Option<Value>| -> Option<Uuid> { value.as_ref()?.get(field)?.as_str()?.parse().ok() };
        read(&event.after).or_else(|| read(&event.detail))
    };
    match topic {
        Topic::JobEnded | Topic::JobEvicted | Topic::Idle | Topic::ApprovalDecided => {
            subject.and_then(|subject| subject.owner)
        }
        Topic::ApprovalRequested => named("to_id"),
        Topic::Security if event.subject_type == "user" => event.subject_id,
        Topic::Security => named("user_id").or(event.actor_id),
        Topic::Budget | Topic::Quota | Topic::Node => None,
    }
}

fn to_webhook(target: &Target, news: &News<'_>, outbound: &Outbound) -> Option<NewDelivery> {
    let event = &news.sealed.event;
    if let Some(teams) = &target.teams {
        // What was refused is the administrators' business.
        let own = event.team_id.is_some_and(|team| teams.contains(&team.0));
        if !own || !event.allowed {
            return None;
        }
    }
    let robot = target.kind != "webhook";
    let wanted = match target.event_types.is_empty() {
        true => !robot || news.notice.as_ref().is_some_and(|notice| !notice.topic.is_personal()),
        false => target.event_types.iter().any(|pattern| matches(pattern, &event.action)),
    };
    if !wanted {
        return None;
    }
    let link = link(outbound, news.notice.as_ref());
    let body = if robot {
        let said =
            news.notice.as_ref().map_or_else(|| message::plain(news.sealed), |notice| notice.text.clone());
        message::robot(&target.kind, &target.locale, &said, link.as_deref())
    } else {
        message::cloud_event(news.sealed, outbound.public_url.as_deref(), link.as_deref())
    };
    Some(new(news, Some(target.webhook_id), None, body))
}

fn new(news: &News<'_>, webhook_id: Option<Uuid>, user_id: Option<Uuid>, body: String) -> NewDelivery {
    NewDelivery {
        webhook_id,
        user_id,
        message_id: format!("evt_{}", news.sealed.event.id.0.simple()),
        event_position: Some(news.sealed.position),
        event_type: news.sealed.event.action.clone(),
        body,
        resend_of: None,
    }
}

/// `job.*`, `*`, or the action itself.
fn matches(pattern: &str, action: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == action, |start| action.starts_with(start))
}

fn link(outbound: &Outbound, notice: Option<&Notice>) -> Option<String> {
    let base = outbound.public_url.as_deref()?.trim_end_matches('/');
    Some(format!("{base}{}", notice.map_or("/audit", |notice| &notice.path)))
}

/// Mail to those whom an event concerns and who want to know.
async fn to_people(
    batch: &mut Batch,
    told: &[News<'_>],
    outbound: &Outbound,
    messages: &mut Vec<NewDelivery>,
) -> Result<(), StoreError> {
    let noticed: Vec<&News<'_>> = told.iter().filter(|news| news.notice.is_some()).collect();
    if noticed.is_empty() {
        return Ok(());
    }
    let teams: BTreeSet<Uuid> =
        noticed.iter().filter_map(|news| news.sealed.event.team_id.map(|team| team.0)).collect();
    let teams: Vec<Uuid> = teams.into_iter().collect();
    let roles = batch.roles(&teams).await?;
    let users: BTreeSet<Uuid> =
        roles.iter().map(|role| role.user_id).chain(noticed.iter().filter_map(|news| news.owner)).collect();
    let readers = batch.readers(&users.into_iter().collect::<Vec<_>>()).await?;
    let ids: Vec<Uuid> = readers.iter().map(|reader| reader.user_id).collect();
    let wishes = batch.wishes(&ids, &teams).await?;
    for news in noticed {
        let Some(notice) = &news.notice else { continue };
        let link = link(outbound, Some(notice));
        for reader in readers.iter().filter(|reader| wants(reader, news, notice.topic, &roles, &wishes)) {
            let body = message::letter(notice, reader.locale.as_deref(), link.as_deref());
            messages.push(new(news, None, Some(reader.user_id), body));
        }
    }
    Ok(())
}

fn wants(reader: &Reader, news: &News<'_>, topic: Topic, roles: &[ReaderRole], wishes: &[Wish]) -> bool {
    let event = &news.sealed.event;
    let own_act = event.actor_id == Some(reader.user_id);
    // Nobody needs to be told what they have just done; but whoever took over an account is not its owner.
    if own_act && matches!(topic, Topic::Quota | Topic::ApprovalRequested | Topic::ApprovalDecided) {
        return false;
    }
    let team = event.team_id.map(|team| team.0);
    let mine = || roles.iter().filter(|role| role.user_id == reader.user_id && Some(role.team_id) == team);
    let reach = if news.owner == Some(reader.user_id)
        || (topic.is_own_of_admins() && reader.is_admin)
        || mine().any(|role| topic.is_own_of(role.role))
    {
        Reach::Own
    } else if !topic.is_personal() && mine().next().is_some() {
        Reach::Team
    } else {
        Reach::Far
    };
    setting(reader, team, topic, wishes).wants(reach)
}

/// A person's own word, else their team's, else the usual.
fn setting(reader: &Reader, team: Option<Uuid>, topic: Topic, wishes: &[Wish]) -> Setting {
    let of = |user: Option<Uuid>, team: Option<Uuid>| {
        wishes.iter().find(|wish| wish.topic == topic && wish.user_id == user && wish.team_id == team)
    };
    let own = of(Some(reader.user_id), None);
    let teams = || team.and_then(|team| of(None, Some(team)));
    own.or_else(teams).map_or(topic.default_setting(), |wish| wish.setting)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_name_actions() {
        for (pattern, action, expected) in [
            ("job.*", "job.evicted", true),
            ("job.*", "jobs.evicted", false),
            ("*", "anything", true),
            ("job.failed", "job.failed", true),
            ("job.failed", "job.failed_twice", false),
        ] {
            assert_eq!(matches(pattern, action), expected, "{pattern} {action}");
        }
    }
}
