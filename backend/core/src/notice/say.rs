//! What is said of an event.

use super::topic::Topic;
use crate::sentence::Sentence;
use serde_json::Value;

/// What the sentence needs; names are looked up by the caller.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub action: &'a str,
    pub allowed: bool,
    pub actor: &'a str,
    pub rule: Option<&'a str>,
    /// The subject's name: a job's, node's or person's.
    pub name: Option<&'a str>,
    pub team: Option<&'a str>,
    pub subject_id: Option<&'a str>,
    pub after: &'a Value,
    pub detail: &'a Value,
}

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub topic: Topic,
    pub text: Sentence,
    /// The console's page for it.
    pub path: String,
}

/// What people are told of this event; `None` = nothing.
#[must_use]
pub fn notice(facts: &Facts<'_>) -> Option<Notice> {
    let topic = topic(facts)?;
    let name = facts.name.or(facts.subject_id).unwrap_or("?");
    let team = facts.team.unwrap_or("?");
    let (en, zh) = match topic {
        Topic::JobEnded => ended(facts, name, team),
        Topic::JobEvicted => evicted(facts, name, team),
        Topic::ApprovalRequested => {
            let (what_en, what_zh) = asked(facts);
            (
                format!("{} asks for {what_en} for {team}: a decision is due.", facts.actor),
                format!("{} 为 {team} 申请{what_zh}，等待审批。", facts.actor),
            )
        }
        Topic::ApprovalDecided => decided(facts, team),
        Topic::Budget => budget(facts, team),
        Topic::Idle => idle(facts, name, team),
        Topic::Quota => (
            format!("{} changed the quota of {team}.", facts.actor),
            format!("{} 修改了 {team} 的配额。", facts.actor),
        ),
        Topic::Node => node(facts, name),
        Topic::Security => security(facts),
    };
    Some(Notice { topic, text: Sentence { en, zh }, path: path(facts, topic) })
}

/// What a test says.
#[must_use]
pub fn test_notice() -> Sentence {
    Sentence {
        en: "This is a test from Reeve. If you read it, messages arrive here.".to_owned(),
        zh: "这是来自 Reeve 的测试消息。能看到它，说明消息可以送达。".to_owned(),
    }
}

fn topic(facts: &Facts<'_>) -> Option<Topic> {
    let action = facts.action;
    if !facts.allowed {
        let locked = action == "session.sign_in" && facts.detail["locked"].as_bool() == Some(true);
        return locked.then_some(Topic::Security);
    }
    Some(match action {
        "job.succeeded" | "job.failed" => Topic::JobEnded,
        "job.evicted" => Topic::JobEvicted,
        "job.idle" | "job.flagged_idle" | "job.stopped_idle" => Topic::Idle,
        "escalation.requested" | "escalation.delegated" | "escalation.review_overdue" => {
            Topic::ApprovalRequested
        }
        "escalation.step_approved"
        | "escalation.approved"
        | "escalation.activated"
        | "escalation.denied"
        | "escalation.timed_out"
        | "escalation.expired"
        | "escalation.revoked" => Topic::ApprovalDecided,
        "budget.near" | "budget.exceeded" => Topic::Budget,
        "quota.set" | "quota.deleted" => Topic::Quota,
        "node.lost" | "node.returned" | "webhook.disabled" | "webhook.delivery_failed" => Topic::Node,
        "user.password_set" | "user.identity_linked" | "token.created" => Topic::Security,
        "session.revoked" if facts.rule == Some("refresh_reused") => Topic::Security,
        _ => return None,
    })
}

fn path(facts: &Facts<'_>, topic: Topic) -> String {
    let id = facts.subject_id.unwrap_or_default();
    match topic {
        Topic::JobEnded | Topic::JobEvicted | Topic::Idle => format!("/jobs/{id}"),
        Topic::ApprovalRequested | Topic::ApprovalDecided => format!("/approvals/{id}"),
        Topic::Budget => "/cost".to_owned(),
        Topic::Quota => "/queues".to_owned(),
        Topic::Node if facts.action.starts_with("node.") => "/nodes".to_owned(),
        Topic::Node => "/admin/webhooks".to_owned(),
        Topic::Security => "/account".to_owned(),
    }
}

fn ended(facts: &Facts<'_>, name: &str, team: &str) -> (String, String) {
    if facts.action == "job.succeeded" {
        return (
            format!("Job {name} of {team} has succeeded."),
            format!("{team} 的作业 {name} 已成功完成。"),
        );
    }
    let (en, zh) = match (facts.after["exit_code"].as_i64(), facts.after["signal"].as_i64()) {
        (Some(code), _) => (format!(" (exit code {code})"), format!("（退出码 {code}）")),
        (None, Some(signal)) => (format!(" (signal {signal})"), format!("（信号 {signal}）")),
        (None, None) => (String::new(), String::new()),
    };
    (format!("Job {name} of {team} has failed{en}."), format!("{team} 的作业 {name} 已失败{zh}。"))
}

fn evicted(facts: &Facts<'_>, name: &str, team: &str) -> (String, String) {
    let cause = facts.after["cause"].as_str().unwrap_or_default();
    let (en, zh) = match cause {
        "reclaim" => ("the owner asks for its guarantee", "额度所有者要求收回"),
        "preemption" | "borrow_preemption" => ("more important work needs them", "更高优先级的工作需要"),
        "idle" => ("they were idle", "GPU 空闲"),
        "drain" => ("its node is drained", "节点正在排空"),
        "quota_lowered" => ("the quota was lowered", "配额已下调"),
        "rebalance" => ("surplus is shared out more evenly", "富余容量重新均分"),
        "consolidation" => ("it moves to another place to make room", "迁往其他位置以腾出空间"),
        _ => ("an operator decided so", "管理员操作"),
    };
    (
        format!("Job {name} of {team} gives back GPUs, because {en}. It is asked to save its work first."),
        format!("{team} 的作业 {name} 需要归还 GPU：{zh}。系统会先请求保存检查点。"),
    )
}

fn idle(facts: &Facts<'_>, name: &str, team: &str) -> (String, String) {
    match facts.action {
        "job.flagged_idle" => (
            format!(
                "Job {name} of {team} still does not use its GPUs: it is the first to leave when others need them."
            ),
            format!("{team} 的作业 {name} 仍未使用其 GPU：有人需要时它将最先让出。"),
        ),
        "job.stopped_idle" => (
            format!(
                "Job {name} of {team} is stopped, because it did not use its GPUs. It is asked to save its work first."
            ),
            format!("{team} 的作业 {name} 因未使用其 GPU 而被停止。系统会先请求保存检查点。"),
        ),
        _ => (
            format!("Job {name} of {team} does not use its GPUs. It may be stopped or evicted first."),
            format!("{team} 的作业 {name} 未使用其 GPU，可能被停止或优先回收。"),
        ),
    }
}

fn asked(facts: &Facts<'_>) -> (&'static str, &'static str) {
    match facts.detail["asks_for"].as_str() {
        Some("quota") => ("more quota", "更多配额"),
        Some("budget") => ("more budget", "更多预算"),
        Some("never_evict") => ("an exception from eviction", "免回收例外"),
        _ => ("higher priority", "更高优先级"),
    }
}

fn decided(facts: &Facts<'_>, team: &str) -> (String, String) {
    let (what_en, what_zh) = asked(facts);
    let (en, zh) = match facts.action {
        "escalation.step_approved" => ("has passed a step", "已通过一级审批"),
        "escalation.approved" => ("is approved", "已批准"),
        "escalation.activated" => ("is in force", "已生效"),
        "escalation.denied" => ("is denied", "被驳回"),
        "escalation.timed_out" => ("was not decided in time", "逾期未审批"),
        "escalation.revoked" => ("is revoked", "已撤销"),
        _ => ("has ended", "已到期"),
    };
    (format!("The request of {team} for {what_en} {en}."), format!("{team} 的{what_zh}申请{zh}。"))
}

fn budget(facts: &Facts<'_>, team: &str) -> (String, String) {
    if facts.action == "budget.exceeded" {
        (format!("{team} has used up its budget."), format!("{team} 的预算已用尽。"))
    } else {
        (format!("{team} has nearly used up its budget."), format!("{team} 的预算即将用尽。"))
    }
}

fn node(facts: &Facts<'_>, name: &str) -> (String, String) {
    match facts.action {
        "node.lost" => (
            format!("Node {name} is lost: its agent does not report. Its jobs are requeued."),
            format!("节点 {name} 失联：代理未上报，其作业已重新排队。"),
        ),
        "node.returned" => (format!("Node {name} is back."), format!("节点 {name} 已恢复。")),
        "webhook.disabled" => (
            format!("Webhook {name} is disabled: its receiver says that it is gone."),
            format!("Webhook {name} 已停用：接收方表示地址已不存在。"),
        ),
        _ => (
            format!("A message to webhook {name} could not be delivered, and is given up."),
            format!("发往 Webhook {name} 的消息多次投递失败，已放弃。"),
        ),
    }
}

fn security(facts: &Facts<'_>) -> (String, String) {
    let (en, zh) = match facts.action {
        "user.password_set" => ("Your password was changed.", "您的密码已修改。"),
        "user.identity_linked" => (
            "An identity of your organisation's sign-in is now yours here.",
            "您的账号已与统一身份认证关联。",
        ),
        "token.created" => ("A new API token was made in your name.", "您的名下新建了一个 API 令牌。"),
        "session.revoked" => (
            "A sign-in of yours was ended because its key was used twice: somebody may have copied it.",
            "您的一个登录会话已被终止：其刷新凭证被重复使用，可能已泄露。",
        ),
        _ => (
            "Somebody has tried wrong passwords for your account, which pauses for a while.",
            "有人多次使用错误密码尝试登录您的账号，账号已暂时锁定。",
        ),
    };
    (format!("{en} If this was not you, tell an administrator."), format!("{zh}如非本人操作，请联系管理员。"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(action: &'static str) -> Facts<'static> {
        Facts {
            action,
            allowed: true,
            actor: "ada",
            rule: None,
            name: Some("train"),
            team: Some("Vision"),
            subject_id: Some("7"),
            after: &Value::Null,
            detail: &Value::Null,
        }
    }

    #[test]
    fn events_that_concern_people_are_told_in_both_languages() {
        for (action, topic, path, word) in [
            ("job.failed", Topic::JobEnded, "/jobs/7", "failed"),
            ("job.evicted", Topic::JobEvicted, "/jobs/7", "gives back"),
            ("escalation.requested", Topic::ApprovalRequested, "/approvals/7", "decision is due"),
            ("escalation.denied", Topic::ApprovalDecided, "/approvals/7", "denied"),
            ("budget.exceeded", Topic::Budget, "/cost", "used up"),
            ("node.lost", Topic::Node, "/nodes", "lost"),
            ("user.password_set", Topic::Security, "/account", "password"),
        ] {
            let told = notice(&facts(action)).expect(action);
            assert_eq!((told.topic, told.path.as_str()), (topic, path), "{action}");
            assert!(told.text.en.contains(word), "{action}: {}", told.text.en);
            assert!(!told.text.zh.is_ascii(), "{action}");
        }
        for action in ["job.submitted", "session.refreshed", "member.reported", "session.revoked"] {
            assert_eq!(notice(&facts(action)), None, "{action}");
        }
        let after = json!({"exit_code": 137});
        let told = notice(&Facts { after: &after, ..facts("job.failed") }).expect("told");
        assert!(told.text.en.contains("137") && told.text.zh.contains("137"));
        assert_eq!(
            notice(&Facts { allowed: false, ..facts("job.failed") }),
            None,
            "a denied attempt is no end"
        );
    }
}
