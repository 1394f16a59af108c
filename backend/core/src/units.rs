//! Quantities: checked integers. A GPU is 1,000 milli-GPU; memory is in MiB; a core is 1,000 milli-CPU.
//!
//! There is no float here: sums of thousands of shares must come out exactly.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

macro_rules! quantity {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl $name {
            pub const ZERO: Self = Self(0);

            /// `self × count`, saturating: input bounds keep real values far below.
            #[must_use]
            pub const fn times(self, count: u32) -> Self {
                Self(self.0.saturating_mul(count as i64))
            }

            /// Never below zero.
            #[must_use]
            pub const fn or_zero(self) -> Self {
                if self.0 < 0 { Self::ZERO } else { self }
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self { Self(self.0.saturating_add(other.0)) }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self { Self(self.0.saturating_sub(other.0)) }
        }

        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self { Self(self.0.saturating_neg()) }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) { *self = *self + other; }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) { *self = *self - other; }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, Add::add)
            }
        }
    )+};
}

quantity! {
    /// Thousandths of a GPU.
    MilliGpu,
    /// Mebibytes, of GPU or host memory.
    Mib,
    /// Thousandths of a CPU core.
    MilliCpu,
}

/// One whole GPU.
pub const WHOLE_GPU: MilliGpu = MilliGpu(1_000);

impl MilliGpu {
    /// `count` whole GPUs.
    #[must_use]
    pub const fn whole(count: u32) -> Self {
        Self(count as i64 * WHOLE_GPU.0)
    }

    /// Whole GPUs, rounded down.
    #[must_use]
    pub const fn floor_gpus(self) -> i64 {
        self.0.div_euclid(WHOLE_GPU.0)
    }

    /// For people and JSON: `1.5`. Not for arithmetic.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "shown, never summed")]
    pub fn as_gpus(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}
