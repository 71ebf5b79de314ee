//! Core clock: given from outside, or set by the program from the part's oscillators.

use serde::Deserialize;

/// The `[clock]` table of a target file: what its clocks are made from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSources {
    /// Manual, document number and chapter.
    pub source: String,
    /// The crystal or external clock that is on the board, in Hz (STM32: HSE; MSP430: XT1; R8C:
    /// XIN); none where the model knows no use for one.
    #[serde(default)]
    pub crystal_hz: Option<u64>,
    /// The low fuse byte, where it chooses the oscillator (AVR).
    #[serde(default)]
    pub low_fuse: Option<u8>,
    /// The internal oscillators that its field CKSEL chooses; any other value is the crystal.
    #[serde(default)]
    pub oscillators: Vec<FuseOscillator>,
    /// The core runs at the clock that the program sets; otherwise at the one it is given, whatever
    /// the program sets.
    #[serde(skip)]
    pub(crate) followed: bool,
}

/// An internal oscillator of an AVR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuseOscillator {
    /// The fuses' field CKSEL.
    pub cksel: u8,
    /// Its frequency, in Hz.
    pub hz: u64,
}

/// The core's clock changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// The clock from now on, in Hz.
    pub clock_hz: u64,
    /// Cycles since reset from which on it holds: the start of the instruction that set it (MSP430:
    /// its bus cycle; AVR: its end).
    pub cycles: u64,
}

/// The frequency of a clock beside the core's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Ratio to the core's oscillator: `edges` in `cycles` of the core's clock.
    Ratio {
        /// Rising edges.
        edges: u64,
        /// Cycles of the core's clock.
        cycles: u64,
    },
    /// It has another oscillator.
    Oscillator {
        /// The oscillator's frequency, in Hz.
        hz: u64,
        /// By what it is divided.
        divider: u64,
    },
}

/// The clocks that peripherals count beside the core's MCLK (MSP430).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubsystemClocks {
    /// The subsystem master clock.
    pub smclk: Frequency,
    /// The auxiliary clock.
    pub aclk: Frequency,
}

/// Clocks that peripherals count, as they are from now on. The bus tells of them whenever the
/// program may have set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockUpdate {
    /// The core's clock, in Hz. The first one comes before the first reset.
    Core(u64),
    /// The clocks beside the core's (MSP430), also after each reset. A core clock that changes with
    /// them comes before.
    Subsystem(SubsystemClocks),
    /// The peripheral buses' clocks (STM32), by the cycles of the core's clock in one of theirs; 1
    /// after a reset.
    Buses {
        /// Of APB1.
        apb1: u64,
        /// Of APB2.
        apb2: u64,
    },
    /// HCLK and the clock of 48 MHz that USB, SDIO and the random number generator share (STM32:
    /// PLL48CLK).
    Usb {
        /// HCLK, in Hz.
        hclk_hz: u64,
        /// The clock of 48 MHz, in Hz; 0 while it stands still, as after a reset.
        usb_hz: u64,
    },
    /// The clock of the real-time clock (STM32: RTCCLK).
    Rtc {
        /// Its frequency, in Hz; 0 while it stands still.
        clock_hz: u64,
        /// The backup domain is held in reset (STM32: RCC_BDCR.BDRST).
        in_reset: bool,
    },
}

/// The cycle at which something ends that would have ended at cycle `end`, had the clock not gone
/// from `before` to `after` at cycle `now`: its time is kept.
pub(crate) fn rescaled(end: u64, now: u64, before: u64, after: u64) -> u64 {
    let rest = u128::from(end.saturating_sub(now)) * u128::from(after) / u128::from(before.max(1));
    now + rest as u64
}
