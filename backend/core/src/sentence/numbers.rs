//! The numbers of an obstacle, appended to its sentence.

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
    let shown: Vec<String> =
        numbers.iter().map(|(key, value)| format!("{} {}", name(key), amount(key, *value))).collect();
    format!("{open}{}{close}", shown.join(between))
}

/// Milli-GPU are shown as GPUs; everything else as it is.
fn amount(key: &str, value: i64) -> String {
    if key.ends_with("gpu_milli") || key.ends_with("_milli_gpus") {
        let gpus = crate::units::MilliGpu(value).as_gpus();
        return gpus.to_string();
    }
    value.to_string()
}

fn english_name(key: &str) -> String {
    key.replace('_', " ")
}

fn chinese_name(key: &str) -> String {
    match key {
        "asks" | "asks_gpus" => "申请",
        "asks_replicas" | "replicas" => "成员数",
        "free" | "free_gpus" => "空闲",
        "best_node" | "best_node_free" => "单节点最多空闲",
        "largest_node" | "max_node" => "最大节点",
        "capacity" => "总容量",
        "used" | "used_gpus" => "已用",
        "guaranteed" | "guaranteed_gpus" => "保障",
        "borrow_limit" | "borrow_limit_gpus" => "可借上限",
        "borrowable" | "lendable" => "可借",
        "limit" | "cap" => "上限",
        "running" => "运行中",
        "ahead" => "前面的作业",
        "leaving" | "leaving_gpus" => "正在离开",
        "position" => "位置",
        "nodes" => "节点数",
        "secs" => "秒",
        other => return other.replace('_', " "),
    }
    .to_owned()
}
