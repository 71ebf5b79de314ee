//! The parts that there is a bootloader for. A test that is listed in [`on_each_part`] is one test
//! for each.

/// docs/how-to/firmware-update.md, "Flash", and what the tests have to know of the part beside
/// that.
pub struct BootPart {
    pub target: &'static str,
    /// The core's clock while the bootloader runs, and the program's.
    pub clock_hz: u64,
    /// The flash that there is a map of.
    pub flash: u32,
    pub flash_bytes: usize,
    pub journal: u32,
    pub journal_sector: u32,
    pub slots: [u32; 2],
    pub slot_bytes: u32,
    pub uart: &'static str,
    /// Seconds until the watchdog of a trial bites.
    pub watchdog_s: u64,
    /// Bytes that are programmed at once, and the cycles that this and an erasure of a journal's
    /// sector take at most: the target's file.
    pub word_bytes: usize,
    pub program_cycles: u32,
    pub erase_cycles: u32,
    pub erasure: Erasure,
    /// Cycles from a start to behind the record that counts a trial.
    pub start_cycles: u32,
}

/// Distinction of an erasure from other writes.
#[derive(Clone, Copy)]
pub enum Erasure {
    /// A write of this bit to this register begins it.
    Command { register: u32, bit: u64 },
    /// A store to flash is one while this bit of this register is set.
    Mode { register: u32, bit: u64 },
}

pub static STM32F407: BootPart = BootPart {
    target: "stm32f407",
    clock_hz: 16_000_000,
    flash: 0x0800_0000,
    flash_bytes: 0x10_0000,
    journal: 0x0800_4000,
    journal_sector: 0x4000,
    slots: [0x0802_0000, 0x0808_0000],
    slot_bytes: 0x6_0000,
    uart: "USART1",
    watchdog_s: 32,
    word_bytes: 4,
    program_cycles: 16 * 16,
    erase_cycles: 16_000_000 / 4,
    // FLASH_CR, STRT.
    erasure: Erasure::Command { register: 0x4002_3c10, bit: 1 << 16 },
    start_cycles: 6_000_000,
};

pub static MSP430F5438A: BootPart = BootPart {
    target: "msp430f5438a",
    clock_hz: 8_000_000,
    flash: 0x5c00,
    flash_bytes: 0xa400,
    journal: 0xd000,
    journal_sector: 0x200,
    slots: [0x5c00, 0x9600],
    slot_bytes: 0x3a00,
    uart: "UCA0",
    watchdog_s: 16,
    word_bytes: 2,
    program_cycles: 85 * 8,
    erase_cycles: 32 * 8_000,
    // FCTL1, ERASE.
    erasure: Erasure::Mode { register: 0x0140, bit: 2 },
    start_cycles: 14_000_000,
};

/// Makes tests of functions that take a part.
macro_rules! on_each_part {
    ($($(#[$attribute:meta])* $test:ident,)*) => {
        on_each_part!(@ stm32f407 STM32F407 $($(#[$attribute])* $test,)*);
        on_each_part!(@ msp430f5438a MSP430F5438A $($(#[$attribute])* $test,)*);
    };
    (@ $module:ident $part:ident $($(#[$attribute:meta])* $test:ident,)*) => {
        mod $module {
            $(#[test]
            $(#[$attribute])*
            fn $test() {
                super::$test(&crate::bootloader::part::$part);
            })*
        }
    };
}
pub(super) use on_each_part;
