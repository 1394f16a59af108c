//! The numbers of an obstacle, appended to its sentence.

use crate::units::MilliGpu;
use std::collections::BTreeMap;

/// `(asks 8 GPUs; free 16)`, or nothing. Names are the record's own, underscores as spaces.
pub(super) fn english(numbers: &BTreeMap<String, i64>) -> String {
    list(numbers, " (", "; ", ")", english_name)
}

/// The same in Chinese.
pub(super) fn chinese(numbers: &BTreeMap<String, i64>) -> String {
    list(numbers, "（", "，", "）", chinese_name)
}

fn list(
    numbers: &BTreeMap<String, i64>,
    open: &str,
    between: &str,
    close: &str,
    name: impl Fn(&str) -> String,
) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = numbers
        .iter()
        .map(|(key, value)| match key.strip_suffix("_milli") {
            // Milli-GPU, shown as GPUs.
            Some(key) => format!("{} {}", name(key), MilliGpu(*value).as_gpus()),
            None => format!("{} {value}", name(key)),
        })
        .collect();
    format!("{open}{}{close}", shown.join(between))
}

fn english_name(key: &str) -> String {
    key.replace('_', " ")
}

fn chinese_name(key: &str) -> String {
    match key {
        "asks" => "申请",
        "replicas" => "成员数",
        "replicas_that_fit" => "放得下的成员数",
        "replicas_in_best_place" => "单处最多放得下的成员数",
        "free" => "空闲",
        "held" => "已保留",
        "best_node" => "单节点最多",
        "used" => "已用",
        "guaranteed" => "保障",
        "cap" => "上限",
        "to_borrow" => "可借",
        "must_borrow" => "需借",
        "jobs" => "作业",
        "used_jobs" => "运行中作业",
        "cap_jobs" => "作业数上限",
        "ahead" => "前面的作业",
        "wait_secs" => "最多等待秒数",
        "planned_in_secs" => "距计划时间秒数",
        other => return other.replace('_', " "),
    }
    .to_owned()
}
