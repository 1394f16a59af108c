//! Why a job waits, and what would help, as sentences.

use super::Sentence;
use super::numbers::{chinese, english};
use crate::reason::{Help, Obstacle, ReasonCode};

/// One obstacle.
#[must_use]
pub fn obstacle(obstacle: &Obstacle) -> Sentence {
    let (en, zh) = code(obstacle.code);
    let (en, zh) = obstacle.detail.as_deref().and_then(detail).unwrap_or((en, zh));
    Sentence {
        en: format!("{en}{}.", english(&obstacle.numbers)),
        zh: format!("{zh}{}。", chinese(&obstacle.numbers)),
    }
}

const fn code(code: ReasonCode) -> (&'static str, &'static str) {
    match code {
        ReasonCode::Invalid => ("What the job names does not exist any more", "作业引用的对象已不存在"),
        ReasonCode::NeverFits => (
            "No node or pool is big enough for this job, even when empty",
            "即使资源池全空，也没有足够大的节点或资源池",
        ),
        ReasonCode::OverCap => ("The job would go over a limit", "启动该作业会超过上限"),
        ReasonCode::WaitingForJobs => (
            "It waits for the end of other jobs, as it was submitted to",
            "提交时指定在其他作业结束后启动，正在等待",
        ),
        ReasonCode::QueueHeld => ("The job or its queue is held", "作业或其队列已被挂起"),
        ReasonCode::AwaitingApproval => ("An approval is awaited", "正在等待审批"),
        ReasonCode::BudgetExhausted => ("The budget is used up", "预算已用尽"),
        ReasonCode::OutsideTimeWindow => {
            ("This kind of job may not run at this time", "当前时段不允许运行此类作业")
        }
        ReasonCode::NoQuota => (
            "The team's guarantee is in use and nothing more can be borrowed now",
            "团队的保障额度已用完，目前也没有可借的额度",
        ),
        ReasonCode::Fragmented => (
            "Enough GPUs are free in all, but not together on the nodes",
            "空闲 GPU 总数足够，但分散在不同节点上",
        ),
        ReasonCode::Topology => {
            ("No free place satisfies the required topology", "没有满足拓扑要求的空闲位置")
        }
        ReasonCode::WaitingForEvictions => (
            "Its place is reserved; the jobs there have been asked to leave",
            "位置已预留，正在等待其中的作业离开",
        ),
        ReasonCode::BehindOthers => ("Other jobs come first", "前面还有其他作业"),
        ReasonCode::SearchBudgetExhausted => (
            "The search for a place stopped at its limit; it goes on at the next round",
            "本轮搜索已达上限，下一轮继续",
        ),
    }
}

/// What exactly; `None` for details that add nothing to the code.
fn detail(detail: &str) -> Option<(&'static str, &'static str)> {
    Some(match detail {
        "unknown_team" => ("Its team does not exist any more", "作业所属的团队已不存在"),
        "unknown_queue" => ("Its queue does not exist any more", "作业所在的队列已不存在"),
        "unknown_pool" => ("No pool that it accepts exists", "作业可接受的资源池都不存在"),
        "gpus" => (
            "A member asks for more GPUs than the largest node has",
            "单个成员申请的 GPU 数超过最大节点的 GPU 数",
        ),
        "replicas" => (
            "The gang has more members than the pool can hold, even when empty",
            "即使资源池全空，也放不下这么多成员",
        ),
        "unknown_topology_level" => {
            ("No node of the pool names the required topology level", "资源池中没有节点标注所要求的拓扑级别")
        }
        "nvlink" => ("No node has so many GPUs in one NVLink domain", "没有节点的单个 NVLink 域有这么多 GPU"),
        "team_cap" => ("The team would go over the most it may use", "会超过团队可用的上限"),
        "parent_cap" => ("A team above would go over the most it may use", "会超过上级团队可用的上限"),
        "lendable" => (
            "The job asks for more than the team could ever borrow",
            "作业申请的数量超过团队最多能借到的数量",
        ),
        "never_evicted_beyond_guarantee" => (
            "The job may not be evicted, so it may live only inside its team's guarantee, which does not cover it now",
            "该作业不可被驱逐，只能使用团队的保障额度，而保障额度目前不够",
        ),
        "guarantees_exceed_capacity" => (
            "The pool's guarantees add up to more than it has, so each is scaled down for now",
            "资源池的保障额度之和超过实际容量，目前按比例缩减",
        ),
        "nothing_to_borrow" => (
            "The team's guarantee is in use, and others lend less than the job needs",
            "团队的保障额度已用完，其他团队可借出的数量不够",
        ),
        "queue_max_running_jobs" => ("Its queue runs as many jobs as it may", "队列运行的作业数已达上限"),
        "queue_max_running_jobs_per_user" => (
            "Its user has as many jobs running in the queue as allowed",
            "该用户在队列中运行的作业数已达上限",
        ),
        "queue_max_running_gpus" => ("Its queue uses as many GPUs as it may", "队列使用的 GPU 数已达上限"),
        "job_held" => ("The job is held: release it to let it start", "作业已被挂起：放行后才会启动"),
        "ahead_in_queue" => ("An earlier job of its queue must start first", "同一队列中更早的作业须先启动"),
        "nominated_elsewhere" => ("The free GPUs are reserved for another job", "空闲 GPU 已为其他作业预留"),
        "planned_start_ahead" => (
            "The free space is kept for a job that comes first and whose start is planned",
            "空闲空间已为排在前面且已有计划启动时间的作业保留",
        ),
        "pool_full" => (
            "The pool is full with work that may not be asked to leave for it",
            "资源池已满，且其中的作业不能为它让位",
        ),
        "no_node_can_be_emptied" => (
            "Enough GPUs could be freed in all, but not together where the job needs them",
            "可腾出的 GPU 总数足够，但无法集中到作业需要的位置",
        ),
        "nodes_take_no_work" => (
            "The nodes that suit the job take no new work now: they are cordoned or being drained",
            "适合该作业的节点目前不接收新任务（已停止调度或正在排空）",
        ),
        "minimum_run_time" => (
            "The jobs that would leave for it are still inside their minimum run time",
            "需要让位的作业仍在最短运行时间内",
        ),
        _ => return of_the_calendar(detail),
    })
}

/// Details about reservations and maintenance.
fn of_the_calendar(detail: &str) -> Option<(&'static str, &'static str)> {
    Some(match detail {
        "reserved_ahead" => (
            "The free GPUs are reserved for another team, and the job would not have ended before",
            "空闲 GPU 已预订给其他团队，而该作业无法在预订开始前结束",
        ),
        "reserved_now" => (
            "The free GPUs are reserved for another team at this time",
            "空闲 GPU 在当前时段已预订给其他团队",
        ),
        "maintenance_ahead" => (
            "Maintenance of nodes with room for the job begins before it would have ended",
            "有空位的节点即将维护，而该作业无法在维护开始前结束",
        ),
        "in_maintenance" => (
            "The nodes that suit the job take no new work now: they are in maintenance",
            "适合该作业的节点正在维护，目前不接收新任务",
        ),
        _ => return None,
    })
}

/// The smallest change that would help.
#[must_use]
pub fn help(help: &Help) -> Sentence {
    let (en, zh) = match help {
        Help::AskForFewerGpus { gpus } => {
            (format!("Ask for at most {gpus} GPUs a member."), format!("每个成员最多申请 {gpus} 张 GPU。"))
        }
        Help::AskForFewerReplicas { replicas } => {
            (format!("Ask for at most {replicas} members."), format!("最多申请 {replicas} 个成员。"))
        }
        Help::RaiseQuota { gpus } => (
            format!("Raise the team's guarantee or borrow limit by {gpus} GPUs."),
            format!("将团队的保障额度或借用上限提高 {gpus} 张 GPU。"),
        ),
        Help::WaitForOwnJobs { gpus: 0 } => (
            "Wait for one of the own running jobs to end.".to_owned(),
            "等待自己的某个运行中作业结束。".to_owned(),
        ),
        Help::WaitForOwnJobs { gpus } => (
            format!("Free {gpus} GPUs of the team's own jobs, or wait for them."),
            format!("释放团队自己作业占用的 {gpus} 张 GPU，或等待它们结束。"),
        ),
        Help::OpenQueue => {
            ("Open the queue, or release the job.".to_owned(), "打开队列或放行作业。".to_owned())
        }
        Help::WaitForLeaving { secs } => (
            format!("Nothing to do: the leaving jobs have at most {secs} more seconds."),
            format!("无需操作：正在离开的作业最多还有 {secs} 秒。"),
        ),
        Help::WaitForWindow { secs } => (
            format!("Nothing to do: jobs of its kind may start again in {secs} seconds."),
            format!("无需操作：{secs} 秒后此类作业可以启动。"),
        ),
        Help::SetTimeLimit { secs } => (
            format!(
                "Set a time limit of at most {secs} seconds: the job could then run before the planned start."
            ),
            format!("将时限设为不超过 {secs} 秒：作业即可在该计划启动时间之前运行。"),
        ),
        Help::AcceptPool { pool } => {
            (format!("Accept pool {pool} as well."), format!("同时接受资源池 {pool}。"))
        }
        Help::Wait => ("Nothing to do but wait.".to_owned(), "只需等待。".to_owned()),
    };
    Sentence { en, zh }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_reason_has_a_sentence_of_its_own_in_both_languages() {
        let mut seen = std::collections::BTreeSet::new();
        for &code in ReasonCode::ALL {
            let said = obstacle(&Obstacle { code, detail: None, numbers: BTreeMap::new() });
            assert!(said.en.ends_with('.') && said.zh.ends_with('。'), "{said:?}");
            assert!(said.zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{said:?}");
            assert!(seen.insert(said.en.clone()), "{} is said twice", said.en);
            assert!(seen.insert(said.zh.clone()), "{} is said twice", said.zh);
        }
    }

    #[test]
    fn numbers_stand_in_the_sentence() {
        let numbers = BTreeMap::from([("asks".to_owned(), 8), ("free".to_owned(), 16)]);
        let said = obstacle(&Obstacle { code: ReasonCode::Fragmented, detail: None, numbers });
        assert!(said.en.contains("asks 8; free 16"), "{}", said.en);
        assert!(said.zh.contains("申请 8，空闲 16"), "{}", said.zh);
    }

    #[test]
    fn a_known_detail_is_more_exact_than_its_code() {
        let of = |detail: Option<&str>| {
            obstacle(&Obstacle {
                code: ReasonCode::QueueHeld,
                detail: detail.map(str::to_owned),
                numbers: BTreeMap::new(),
            })
        };
        assert_ne!(of(Some("job_held")), of(None));
        assert_eq!(of(Some("something new")), of(None));
    }
}
