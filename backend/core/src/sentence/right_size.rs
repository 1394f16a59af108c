//! Advice on what to ask for instead.

use super::Sentence;
use crate::right_size::Advice;

/// Thousandths as people read them.
fn percent(permille: i64) -> String {
    if permille % 10 == 0 {
        format!("{} %", permille / 10)
    } else {
        format!("{}.{} %", permille / 10, permille % 10)
    }
}

/// One piece of advice with what it rests on.
#[must_use]
pub fn advice(advice: &Advice) -> Sentence {
    let (en, zh) = match *advice {
        Advice::AskForFewerGpus { gpus, computed } => (
            format!("Only {computed} of its {gpus} GPUs ever computed: ask for {computed}."),
            format!("{gpus} 块 GPU 中只有 {computed} 块参与过计算：申请 {computed} 块即可。"),
        ),
        Advice::AskForShare { gpu_milli, memory_mib, compute_permille_p95, memory_used_mib_max } => (
            format!(
                "Nearly always its GPU is busy for {} at most, and it uses {memory_used_mib_max} MiB of memory: a share of \
                 {} and {memory_mib} MiB would do.",
                percent(compute_permille_p95),
                percent(gpu_milli)
            ),
            format!(
                "其 GPU 利用率大多不超过 {}，显存最多用到 {memory_used_mib_max} MiB：申请 {} 的份额和 {memory_mib} MiB 显存即可。",
                percent(compute_permille_p95),
                percent(gpu_milli)
            ),
        ),
        Advice::AskForLessMemory { memory_mib, asked_mib, memory_used_mib_max } => (
            format!(
                "It uses {memory_used_mib_max} of the {asked_mib} MiB of GPU memory that it asked for: {memory_mib} MiB would do."
            ),
            format!(
                "申请了 {asked_mib} MiB 显存，最多用到 {memory_used_mib_max} MiB：申请 {memory_mib} MiB 即可。"
            ),
        ),
        Advice::FeedItFaster { compute_permille_p50 } => (
            format!(
                "Half of the time its GPUs are busy for {} or less: look whether it waits for data or the processor.",
                percent(compute_permille_p50)
            ),
            format!(
                "有一半时间 GPU 利用率不超过 {}：请检查是否在等待数据或 CPU。",
                percent(compute_permille_p50)
            ),
        ),
    };
    Sentence { en, zh }
}
