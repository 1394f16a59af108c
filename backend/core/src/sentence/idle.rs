//! What is said of a job whose GPUs compute nothing: the evidence, and what follows.

use super::Sentence;
use crate::idle::{IdleAction, NoticeState};
use chrono::{DateTime, Utc};

/// A notice's facts.
#[derive(Debug, Clone, Copy)]
pub struct IdleFacts {
    pub state: NoticeState,
    pub action: IdleAction,
    /// What an inference job keeps warm, or may not be evicted: it is told and left.
    pub protected: bool,
    pub idle_since: DateTime<Utc>,
    pub window_secs: i64,
    pub samples: i64,
    pub expected: i64,
    pub act_at: DateTime<Utc>,
    pub now: DateTime<Utc>,
}

/// The evidence and the next step, in one or two sentences.
#[must_use]
pub fn idle(facts: &IdleFacts) -> Sentence {
    let (idle_en, idle_zh) = span((facts.now - facts.idle_since).num_seconds());
    let (window_en, window_zh) = span(facts.window_secs);
    let (samples, expected) = (facts.samples, facts.expected);
    let (next_en, next_zh) = next(facts);
    Sentence {
        en: format!(
            "None of its GPUs has computed for {idle_en}, longer than the {window_en} that such jobs may \
             pause ({samples} of {expected} samples seen). {next_en}"
        ),
        zh: format!(
            "其 GPU 已 {idle_zh}没有计算，超过此类作业允许的 {window_zh}停顿（收到 {samples}/{expected} 个采样）。{next_zh}"
        ),
    }
}

/// Seconds below two minutes, hours from two hours on.
fn span(secs: i64) -> (String, String) {
    match secs.max(0) {
        secs @ 0..120 => (format!("{secs} seconds"), format!("{secs} 秒")),
        secs @ 120..7_200 => (format!("{} minutes", secs / 60), format!("{} 分钟", secs / 60)),
        secs => {
            let (hours, minutes) = (secs / 3_600, secs % 3_600 / 60);
            (format!("{hours} hours {minutes} minutes"), format!("{hours} 小时 {minutes} 分钟"))
        }
    }
}

fn next(facts: &IdleFacts) -> (String, String) {
    let (left_en, left_zh) = span((facts.act_at - facts.now).num_seconds());
    match (facts.state, facts.action) {
        (NoticeState::Closed, _) => ("That is over.".to_owned(), "现已结束。".to_owned()),
        (NoticeState::Stopped, _) => ("It was told to stop.".to_owned(), "已通知其停止。".to_owned()),
        (NoticeState::Reclaimable, _) => (
            "It is the first to leave when others need GPUs; computing again ends that.".to_owned(),
            "有人需要 GPU 时它将最先让出；恢复计算即可解除。".to_owned(),
        ),
        (NoticeState::Notified, _) if facts.protected => (
            "It keeps its GPUs: they are kept warm, or it is never evicted.".to_owned(),
            "它将保留 GPU：属于保温的基础副本或不可驱逐。".to_owned(),
        ),
        (NoticeState::Notified, IdleAction::Stop) => (
            format!(
                "In {left_en} it is asked to save its work and stopped, unless it computes or is snoozed."
            ),
            format!("{left_zh}后将要求其保存并停止，除非恢复计算或推迟。"),
        ),
        (NoticeState::Notified, IdleAction::Reclaimable) => (
            format!(
                "In {left_en} it becomes the first to leave when others need GPUs, unless it computes or is snoozed."
            ),
            format!("{left_zh}后，若有人需要 GPU，它将最先让出，除非恢复计算或推迟。"),
        ),
        (NoticeState::Notified, IdleAction::Notify | IdleAction::Off) => {
            ("Nothing is done about it.".to_owned(), "系统不会采取行动。".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_has_the_numbers_and_what_follows() {
        let at = |mins: i64| DateTime::from_timestamp(mins * 60, 0).expect("a time");
        let facts = IdleFacts {
            state: NoticeState::Notified,
            action: IdleAction::Stop,
            protected: false,
            idle_since: at(0),
            window_secs: 3_600,
            samples: 230,
            expected: 240,
            act_at: at(110),
            now: at(85),
        };
        let said = idle(&facts);
        for part in ["85 minutes", "60 minutes", "230 of 240", "In 25 minutes"] {
            assert!(said.en.contains(part), "{}", said.en);
        }
        assert!(said.zh.contains("85 分钟") && said.zh.contains("25 分钟"), "{}", said.zh);
        let kept = idle(&IdleFacts { protected: true, ..facts });
        assert!(kept.en.contains("keeps its GPUs"), "{}", kept.en);
    }
}
