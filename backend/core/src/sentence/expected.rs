//! When a waiting job is expected to start, and on what that rests.

use super::Sentence;
use crate::reason::ExpectedStart;

/// `job` = the name of the job on which the expectation rests, where it may be told.
#[must_use]
pub fn expected(start: ExpectedStart, job: Option<&str>) -> Sentence {
    let (en, zh) = match start {
        ExpectedStart::TimeLimit { at, .. } => {
            let at = at.format("%Y-%m-%d %H:%M UTC");
            match job {
                Some(job) => (
                    format!("Planned for {at}: job {job} ends by its time limit then."),
                    format!("计划于 {at} 启动：届时作业 {job} 因时限结束。"),
                ),
                None => (
                    format!("Planned for {at}: another job ends by its time limit then."),
                    format!("计划于 {at} 启动：届时另一作业因时限结束。"),
                ),
            }
        }
        ExpectedStart::Leaving { at } => {
            let at = at.format("%Y-%m-%d %H:%M UTC");
            (
                format!("At {at} at the latest: those who are leaving have left by then."),
                format!("最迟 {at} 启动：届时正在离开的作业均已离开。"),
            )
        }
        ExpectedStart::NoTimeLimits { jobs } => (
            format!("Unknown: {jobs} running jobs of the pool have no time limit."),
            format!("未知：资源池中有 {jobs} 个运行中的作业没有时限。"),
        ),
        ExpectedStart::SearchBudgetExhausted => (
            "Unknown: the search for it was given up; the next plan looks again.".to_owned(),
            "未知：本次搜索已达上限，下次调度会再次尝试。".to_owned(),
        ),
        ExpectedStart::BehindPlanned { jobs } => (
            format!("Unknown: {jobs} other jobs are planned before it."),
            format!("未知：有 {jobs} 个作业排在它之前。"),
        ),
    };
    Sentence { en, zh }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::JobId;

    #[test]
    fn a_planned_start_names_its_moment_and_its_job() {
        let at = "2026-11-30T14:20:00Z".parse().expect("a time");
        let start = ExpectedStart::TimeLimit { at, job: JobId(uuid::Uuid::nil()) };
        let said = expected(start, Some("train-17"));
        assert!(said.en.contains("2026-11-30 14:20 UTC") && said.en.contains("train-17"), "{}", said.en);
        assert!(said.zh.contains("2026-11-30 14:20 UTC") && said.zh.contains("train-17"), "{}", said.zh);
        assert!(!expected(start, None).en.contains("train-17"));
        assert!(expected(ExpectedStart::NoTimeLimits { jobs: 3 }, None).zh.contains('3'));
    }
}
