//! The two peripheral buses, by the memory maps of RM0091, RM0041, RM0090 and RM0410 (table 1 of
//! each).

/// APB2 has these addresses, APB1 those below. The STM32F0 has one bus at both.
const APB2: u32 = 0x4001_0000;

/// Of the cycles of the core's clock in one of APB1's and of APB2's clock, those of the bus that a
/// peripheral at `base` is on.
pub(super) fn divider(base: u32, apb1: u64, apb2: u64) -> u64 {
    if base < APB2 { apb1 } else { apb2 }
}
