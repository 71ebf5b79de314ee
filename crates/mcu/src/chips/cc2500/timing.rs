//! Times of the chip, with the 26 MHz crystal of the data sheet's tables.
//!
//! The transition times were taken from memory and agree with Tables 7 and 28 of SWRS040C as
//! `radios/cc2500.toml` cites them; the document itself was not laid beside them here. The formulas
//! of the data rate and of wake-on-radio's events are from memory, not yet compared.

use super::registers::{MCSM0, MCSM2, MDMCFG3, MDMCFG4, WORCTRL, WOREVT0, WOREVT1};

/// Periods of the crystal, in nanoseconds.
const fn periods_ns(periods: u64) -> u64 {
    (periods * 1000 + 13) / 26
}

/// Table 7: start-up of the crystal on the reference design, typical.
pub const CRYSTAL_NS: u64 = 150_000;
/// Table 28: IDLE to RX, TX or FSTXON without calibration, 2298 periods: 88.4 µs.
pub const SETTLE_NS: u64 = periods_ns(2298);
/// The same table: calibration, 18,739 periods: 721 µs.
pub const CALIBRATE_NS: u64 = periods_ns(18_739);
/// The same table: RX to TX, 250 periods: 9.6 µs. Taken for FSTXON to TX, too, for which there is
/// no line.
pub const RX_TX_NS: u64 = periods_ns(250);
/// The same table: TX to RX, 560 periods: 21.5 µs. Taken for FSTXON to RX, too, for which there is
/// no line.
pub const TX_RX_NS: u64 = periods_ns(560);

/// The same table: RX or TX to IDLE without calibration, 2 periods: 0.1 µs.
pub const TO_IDLE_NS: u64 = periods_ns(2);

/// From a stopped crystal to `CHIP_RDYn` low: the crystal's start, then the ripple counter
/// (`MCSM0.PO_TIMEOUT`: 1, 16, 64 or 256 expiries of 63 periods, which gives the table's 2.3 to 620
/// µs).
pub fn start_ns(config: &[u8]) -> u64 {
    let expiries = [1, 16, 64, 256][usize::from(config[MCSM0] >> 2 & 3)];
    CRYSTAL_NS + periods_ns(63 * expiries)
}

/// Time of `bits` bits at the data rate: (256 + DRATE_M) 2^DRATE_E 26 MHz / 2^28 ("Data Rate
/// Programming").
pub fn bits_ns(config: &[u8], bits: u64) -> u64 {
    let mantissa = 256 + u128::from(config[MDMCFG3]);
    let rate = 26 * (mantissa << (config[MDMCFG4] & 15));
    ((u128::from(bits) * (1000 << 28) + rate / 2) / rate) as u64
}

fn event0(config: &[u8]) -> u64 {
    u64::from(u16::from_be_bytes([config[WOREVT1], config[WOREVT0]]))
}

/// The period of wake-on-radio: 750 / 26 MHz EVENT0 2^(5 WOR_RES) ("Wake On Radio").
pub fn wake_period_ns(config: &[u8]) -> u64 {
    periods_ns((750 * event0(config).max(1)) << (5 * (config[WORCTRL] & 3)))
}

/// From event 0, which starts the crystal, to event 1, when the receiver is turned on:
/// `WORCTRL.EVENT1`.
pub fn event1_ns(config: &[u8]) -> u64 {
    let counts = [4, 6, 8, 12, 16, 24, 32, 48][usize::from(config[WORCTRL] >> 4 & 7)];
    periods_ns(750 * counts)
}

/// Time for which the receiver waits for a sync word; `None` for ever (section 19.7). The table of
/// `MCSM2.RX_TIME` has, for RX_TIME = 0 and the four WOR_RES, EVENT0 times 3.6058, 18.0288,
/// 32.4519, 46.8750 µs: (93.75 + 375 WOR_RES) / 26; half for each more (compared in the CC1101's
/// SWRS061B, page 72: the two share their digital part).
pub fn receive_limit_ns(config: &[u8]) -> Option<u64> {
    let halvings = config[MCSM2] & 7;
    let eighths = 750 + 3000 * u64::from(config[WORCTRL] & 3);
    (halvings != 7).then(|| (event0(config) * eighths * 1000 / (8 * 26)) >> halvings)
}
