//! What is sent: a CloudEvent for programs, a few words and a link for people.
//!
//! Names come from others: in a robot's markup they are made inert.

use super::mail::Letter;
use reeve_core::notice::Notice;
use reeve_core::sentence::Sentence;
use reeve_store::event::SealedEvent;
use serde_json::{Value, json};

/// Larger events are sent without what was before and after.
const MOST_BYTES: usize = 256 * 1024;

/// The event as CloudEvents 1.0 in JSON.
pub(super) fn cloud_event(sealed: &SealedEvent, public_url: Option<&str>, link: Option<&str>) -> String {
    let event = &sealed.event;
    let subject =
        event.subject_id.map_or(event.subject_type.clone(), |id| format!("{}/{id}", event.subject_type));
    let mut envelope = json!({
        "specversion": "1.0",
        "id": event.id,
        "source": public_url.unwrap_or("/reeve"),
        "type": format!("reeve.{}", event.action),
        "subject": subject,
        "time": event.occurred_at,
        "datacontenttype": "application/json",
        "data": {
            "position": sealed.position,
            "action": event.action,
            "allowed": event.allowed,
            "rule": event.rule,
            "actor": {"type": event.actor_type, "id": event.actor_id, "name": event.actor_name},
            "subject": {"type": event.subject_type, "id": event.subject_id},
            "team_id": event.team_id,
            "before": event.before,
            "after": event.after,
            "detail": event.detail,
            "request_id": event.request_id,
            "link": link,
        },
    });
    let text = envelope.to_string();
    if text.len() <= MOST_BYTES {
        return text;
    }
    for field in ["before", "after", "detail"] {
        envelope["data"][field] = Value::Null;
    }
    envelope["data"]["cut"] = json!(true);
    envelope.to_string()
}

/// What a robot is told.
pub(super) fn robot(kind: &str, locale: &str, said: &Sentence, link: Option<&str>) -> String {
    let chinese = locale == "zh-CN";
    let text = inert(if chinese { &said.zh } else { &said.en });
    let open = if chinese { "打开" } else { "Open" };
    let body = match kind {
        "feishu" => {
            let mut line = vec![json!({"tag": "text", "text": format!("{text} ")})];
            line.extend(link.map(|link| json!({"tag": "a", "text": open, "href": link})));
            let language = if chinese { "zh_cn" } else { "en_us" };
            json!({"msg_type": "post", "content": {"post": {language: {"title": "Reeve", "content": [line]}}}})
        }
        "dingtalk" => {
            let link = link.map(|link| format!("\n\n[{open}]({link})")).unwrap_or_default();
            json!({"msgtype": "markdown", "markdown": {"title": "Reeve", "text": format!("**Reeve** {text}{link}")}})
        }
        "wecom" => {
            let link = link.map(|link| format!("\n[{open}]({link})")).unwrap_or_default();
            json!({"msgtype": "markdown", "markdown": {"content": format!("**Reeve** {text}{link}")}})
        }
        _ => {
            let link = link.map(|link| format!(" <{link}|{open}>")).unwrap_or_default();
            json!({"text": format!("{text}{link}")})
        }
    };
    body.to_string()
}

/// Characters that begin a link, a mention or a format, by their wide twins.
fn inert(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '<' => '＜',
            '>' => '＞',
            '[' => '［',
            ']' => '］',
            '`' => '｀',
            '*' => '＊',
            '&' => '＆',
            other => other,
        })
        .collect()
}

/// What a person is told by mail.
pub(super) fn letter(notice: &Notice, locale: Option<&str>, link: Option<&str>) -> String {
    let chinese = locale == Some("zh-CN");
    let text = if chinese { &notice.text.zh } else { &notice.text.en };
    let short: String = text.chars().filter(|c| !c.is_control()).take(120).collect();
    let why = if chinese {
        "您可以在 Reeve 控制台的通知设置中调整接收内容。"
    } else {
        "Which messages you get is set in Reeve's console, under notifications."
    };
    let link = link.map(|link| format!("\n\n{link}")).unwrap_or_default();
    let letter =
        Letter { subject: format!("[Reeve] {short}"), text: format!("{text}{link}\n\n-- \n{why}\n") };
    serde_json::to_string(&letter).unwrap_or_default()
}

/// What a robot is told of an event that is no news for people, because somebody asked for it by name.
pub(super) fn plain(sealed: &SealedEvent) -> Sentence {
    let event = &sealed.event;
    let refused = if event.allowed { ("", "") } else { (" (refused)", "（被拒绝）") };
    Sentence {
        en: format!("{} by {}{}", event.action, event.actor_name, refused.0),
        zh: format!("{}：{}{}", event.actor_name, event.action, refused.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_markup() {
        let said =
            Sentence { en: "Job <!channel> [x](http://evil) failed".into(), zh: "作业 <@all>".into() };
        for kind in ["feishu", "dingtalk", "wecom", "slack"] {
            let body = robot(kind, "en", &said, Some("https://reeve.example/jobs/1"));
            assert!(!body.contains("<!channel>") && !body.contains("[x](http"), "{kind}: {body}");
            assert!(body.contains("https://reeve.example/jobs/1"), "{kind}: {body}");
        }
        assert!(robot("slack", "zh-CN", &said, None).contains("作业 ＜@all＞"));
    }
}
