//! Why these GPUs were taken from this job and not from another.

use super::Sentence;
use crate::eviction::EvictionCause;

/// What the sentence needs; names are looked up by the caller.
#[derive(Debug, Clone, Copy)]
pub struct Why<'a> {
    pub cause: EvictionCause,
    pub evictor_team: Option<&'a str>,
    pub evictor_job: Option<&'a str>,
    pub victim_team: &'a str,
    pub tier: u8,
    pub lost_gpu_secs: i64,
    /// How many jobs could have been chosen.
    pub candidates: u32,
    /// The best that was not chosen, and the key that decided.
    pub runner_up: Option<(&'a str, &'a str)>,
}

/// One eviction's answer.
#[must_use]
pub fn eviction(why: &Why<'_>) -> Sentence {
    let (en, zh) = cause(why);
    let (choice_en, choice_zh) = choice(why);
    Sentence { en: format!("{en} {choice_en}"), zh: format!("{zh}{choice_zh}") }
}

fn cause(why: &Why<'_>) -> (String, String) {
    let asker_en = match (why.evictor_team, why.evictor_job) {
        (Some(team), Some(job)) => format!("{team} (job {job})"),
        (Some(team), None) => team.to_owned(),
        _ => "Nobody in particular".to_owned(),
    };
    let asker_zh = match (why.evictor_team, why.evictor_job) {
        (Some(team), Some(job)) => format!("{team}（作业 {job}）"),
        (Some(team), None) => team.to_owned(),
        _ => "系统".to_owned(),
    };
    let victim = why.victim_team;
    match why.cause {
        EvictionCause::Reclaim => (
            format!("{asker_en} asked for GPUs inside its own guarantee, which {victim} had on loan."),
            format!("{asker_zh} 在自己的保障额度内申请 GPU，而这些 GPU 正由 {victim} 借用。"),
        ),
        EvictionCause::Preemption => (
            format!("{asker_en} has a higher priority class than this job of the same team."),
            format!("{asker_zh} 的优先级高于同一团队的这个作业。"),
        ),
        EvictionCause::BorrowPreemption => (
            format!("{asker_en} has a higher priority class than this loan of {victim}."),
            format!("{asker_zh} 的优先级高于 {victim} 借用中的这个作业。"),
        ),
        EvictionCause::Rebalance => (
            format!("Surplus is shared out more evenly: {victim} had more than its weighted share."),
            format!("富余容量重新均分：{victim} 超过了其加权份额。"),
        ),
        EvictionCause::Consolidation => (
            format!(
                "{asker_en} has quota but no place: this job moves to make one, and runs again where space is kept for it."
            ),
            format!("{asker_zh} 有配额但没有合适的位置：该作业迁往已为其预留的位置，以腾出空间。"),
        ),
        EvictionCause::Idle => (
            "The job's GPUs were idle for longer than its kind allows.".to_owned(),
            "该作业的 GPU 空闲时间超过了其类型允许的时长。".to_owned(),
        ),
        EvictionCause::Drain => ("The node is being drained.".to_owned(), "所在节点正在排空。".to_owned()),
        EvictionCause::QuotaLowered => (
            format!("The quota of {victim} was lowered with drain: work above it leaves."),
            format!("{victim} 的配额被下调并要求腾退：超出部分须离开。"),
        ),
        EvictionCause::Operator => ("An operator asked for it.".to_owned(), "由管理员发起。".to_owned()),
    }
}

fn choice(why: &Why<'_>) -> (String, String) {
    let (tier, lost, candidates) = (why.tier, why.lost_gpu_secs, why.candidates);
    let en = format!("Chosen among {candidates}: tier {tier}, {lost} GPU-seconds of work lost.");
    let zh = format!("从 {candidates} 个候选中选出：第 {tier} 级，损失 {lost} GPU 秒的工作。");
    let Some((job, key)) = why.runner_up else { return (en, zh) };
    let (key_en, key_zh) = decided_by(key);
    (format!("{en} Not {job} instead, because {key_en}."), format!("{zh}没有选择 {job}，因为{key_zh}。"))
}

fn decided_by(key: &str) -> (String, String) {
    let (en, zh) = match key {
        "right" => ("a stronger rule applies to this job", "对该作业适用的规则更强"),
        "overshoot" => {
            ("its team would have fallen further below its guarantee", "它的团队会更多地低于保障额度")
        }
        "started_now" => ("it starts in this very round", "它正在本轮启动"),
        "surplus_members" => ("here only surplus members leave", "这里只需离开富余成员"),
        "tier" => ("it lies in a later tier", "它属于更靠后的级别"),
        "priority" => ("its priority is higher", "它的优先级更高"),
        "team_over_share" => ("this job's team was further above its share", "该作业的团队超出份额更多"),
        "lost_work" => ("more of its work would have been lost", "它损失的工作更多"),
        "latest_start" => ("it started earlier", "它启动得更早"),
        "id" => ("all else was equal and its id is greater", "其他条件相同，按编号决定"),
        "not_needed" => ("it turned out not to be needed", "结果并不需要它"),
        other => return (format!("the key {other} decided"), format!("由 {other} 决定")),
    };
    (en.to_owned(), zh.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(cause: EvictionCause) -> Why<'static> {
        Why {
            cause,
            evictor_team: Some("a"),
            evictor_job: Some("train"),
            victim_team: "b",
            tier: 2,
            lost_gpu_secs: 30,
            candidates: 8,
            runner_up: Some(("other", "latest_start")),
        }
    }

    #[test]
    fn every_cause_is_said_in_both_languages_with_the_choice() {
        let mut seen = std::collections::BTreeSet::new();
        for &cause in EvictionCause::ALL {
            let said = eviction(&why(cause));
            assert!(said.en.contains("among 8") && said.en.contains("Not other instead"), "{}", said.en);
            assert!(said.zh.contains("8 个候选") && said.zh.contains("没有选择 other"), "{}", said.zh);
            assert!(seen.insert(said.en));
        }
    }

    #[test]
    fn a_lone_candidate_has_no_runner_up() {
        let alone = Why { runner_up: None, ..why(EvictionCause::Reclaim) };
        assert!(!eviction(&alone).en.contains("instead"));
    }
}
