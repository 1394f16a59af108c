//! Quantities and costs as decimal strings.

use reeve_core::money::bill::Amounts;
use reeve_core::money::decimal::micros;
use serde::Serialize;
use utoipa::ToSchema;

/// GPU-hours with six decimals; costs exactly. Guaranteed + borrowed + idle + down is capacity × time; lent mirrors what others
/// borrowed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageAmounts {
    #[schema(example = "120.500000")]
    guaranteed_gpu_hours: String,
    borrowed_gpu_hours: String,
    lent_gpu_hours: String,
    /// Of a team: its own guarantee that it neither used nor lent.
    idle_gpu_hours: String,
    down_gpu_hours: String,
    #[schema(example = "301.25")]
    guaranteed_cost: String,
    borrowed_cost: String,
    /// Zero or less.
    lent_credit: String,
    idle_cost: String,
    cost: String,
}

impl From<&Amounts> for UsageAmounts {
    fn from(amounts: &Amounts) -> Self {
        let hours = |value: i64| micros(i128::from(value));
        Self {
            guaranteed_gpu_hours: hours(amounts.guaranteed_micro_hours),
            borrowed_gpu_hours: hours(amounts.loan_micro_hours),
            lent_gpu_hours: hours(amounts.lent_micro_hours),
            idle_gpu_hours: hours(amounts.idle_micro_hours),
            down_gpu_hours: hours(amounts.down_micro_hours),
            guaranteed_cost: amounts.guaranteed_cost.exact(),
            borrowed_cost: amounts.loan_cost.exact(),
            lent_credit: amounts.lent_credit.exact(),
            idle_cost: amounts.idle_cost.exact(),
            cost: amounts.cost().exact(),
        }
    }
}
