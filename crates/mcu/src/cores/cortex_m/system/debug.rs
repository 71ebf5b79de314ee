//! Debug units on the private peripheral bus: DWT, ITM, FPB, TPIU.
//!
//! Sources: DDI 0403E, C1; DDI 0439D, chapters 8 to 11.
//!
//! Of DWT the cycle counter counts. What would stop the core for a debugger, patch code or count
//! events is refused when it is switched on. The ITM takes every word at once: how long its trace
//! port would keep a program waiting is not modelled.

use crate::CoreOptions;
use std::ops::Range;

/// The ITM's stimulus ports, a word each.
pub const STIMULUS: Range<u32> = 0xe000_0000..0xe000_0080;

const ITM_TER: u32 = 0xe000_0e00;
const ITM_TPR: u32 = 0xe000_0e40;
const ITM_TCR: u32 = 0xe000_0e80;
const ITM_LAR: u32 = 0xe000_0fb0;
const ITM_LSR: u32 = 0xe000_0fb4;
/// ITM_TCR.ITMENA.
const ITMENA: u32 = 1;
const UNLOCK: u32 = 0xc5ac_ce55;

const DWT_CTRL: u32 = 0xe000_1000;
const DWT_CYCCNT: u32 = 0xe000_1004;
/// CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT.
const DWT_COUNTERS: Range<u32> = 0xe000_1008..0xe000_101c;
/// Up to four comparators: COMP, MASK, FUNCTION, and a reserved word.
const DWT_COMPARATORS: Range<u32> = 0xe000_1020..0xe000_1060;
const DWT_LAR: u32 = 0xe000_1fb0;
const DWT_LSR: u32 = 0xe000_1fb4;
/// DWT_CTRL.NUMCOMP; all counters are there.
const DWT_COMPARATOR_COUNT: u32 = 28;
/// CYCCNTENA, POSTPRESET, POSTINIT, CYCTAP, SYNCTAP, PCSAMPLENA, EXCTRCENA: the counter, and
/// packets for the trace port.
const DWT_WRITABLE: u32 = 0x1_1fff;

const FP_CTRL: u32 = 0xe000_2000;
/// FP_REMAP and up to eight comparators.
const FP_COMPARATORS: Range<u32> = 0xe000_2004..0xe000_2028;
/// FP_CTRL.KEY.
const FP_KEY: u32 = 2;

const TPIU: Range<u32> = 0xe004_0000..0xe004_1000;
const TPI_SSPSR: u32 = 0xe004_0000;
const TPI_CSPSR: u32 = 0xe004_0004;
const TPI_ACPR: u32 = 0xe004_0010;
const TPI_SPPR: u32 = 0xe004_00f0;
const TPI_FFSR: u32 = 0xe004_0300;
const TPI_FFCR: u32 = 0xe004_0304;

/// The registers.
#[derive(Clone, Debug)]
pub struct Debug {
    /// FPBv2, and a DWT with a lock register: the Cortex-M7's.
    m7: bool,
    /// Comparators of the DWT, and of the FPB for instructions and literals.
    watchpoints: u32,
    breakpoints: u32,
    literals: u32,
    /// DEMCR.
    pub monitor: u32,
    /// DWT_CTRL's bits that can be written.
    control: u32,
    /// CYCCNT while it stands; while it runs, the cycle count at which it was zero.
    counter: u32,
    counter_base: u64,
    /// DWT_COMP and DWT_MASK of each comparator.
    comparators: [u32; 8],
    itm_unlocked: bool,
    /// ITM_TER, ITM_TPR, ITM_TCR.
    itm: [u32; 3],
    patch: [u32; 9],
    /// TPI_CSPSR, TPI_ACPR, TPI_SPPR, TPI_FFCR.
    port: [u32; 4],
}

impl Debug {
    /// As after reset.
    pub fn new(m7: bool, options: &CoreOptions) -> Debug {
        Debug {
            m7,
            watchpoints: options.watchpoints.into(),
            breakpoints: options.breakpoints.into(),
            literals: options.literals.into(),
            monitor: 0,
            control: 0,
            counter: 0,
            counter_base: 0,
            comparators: [0; 8],
            itm_unlocked: false,
            itm: [0; 3],
            patch: [0; 9],
            port: [1, 0, 1, 0x102],
        }
    }

    /// Returns true if an address is that of a comparator that the part does not have.
    fn lacks_comparator(&self, address: u32) -> bool {
        let numbers = |range: &Range<u32>, first: u32, size: u32| {
            range
                .contains(&address)
                .then(|| (address - range.start) / size)
                .and_then(|at| at.checked_sub(first))
        };
        // The word before the FPB's comparators is FP_REMAP.
        numbers(&DWT_COMPARATORS, 0, 16).is_some_and(|number| number >= self.watchpoints)
            || numbers(&FP_COMPARATORS, 1, 4).is_some_and(|number| number >= self.breakpoints + self.literals)
    }

    fn counting(&self) -> bool {
        self.monitor >> 24 & 1 != 0 && self.control & 1 != 0
    }

    /// DWT_CYCCNT at a cycle.
    fn cycle_counter(&self, now: u64) -> u32 {
        if self.counting() { now.wrapping_sub(self.counter_base) as u32 } else { self.counter }
    }

    /// Changes DWT_CTRL or DEMCR while CYCCNT keeps its value.
    fn control_counter(&mut self, now: u64, change: impl FnOnce(&mut Debug)) {
        let value = self.cycle_counter(now);
        change(self);
        self.counter = value;
        self.counter_base = now.wrapping_sub(u64::from(value));
    }

    /// Writes DEMCR.
    pub fn write_monitor(&mut self, now: u64, value: u32) {
        self.control_counter(now, |debug| debug.monitor = value & 0x010f_07f1);
    }

    /// Returns true if a stimulus port takes words: ITM_TCR.ITMENA and its bit of ITM_TER are set.
    pub fn port_enabled(&self, port: u32) -> bool {
        self.monitor >> 24 & 1 != 0 && self.itm[2] & ITMENA != 0 && self.itm[0] >> (port & 31) & 1 != 0
    }

    /// A register; `None` where there is none.
    pub fn read(&self, address: u32, now: u64) -> Option<u32> {
        Some(match address {
            // FIFOREADY.
            _ if STIMULUS.contains(&address) => u32::from(self.port_enabled((address & 0x7f) / 4)),
            ITM_TER => self.itm[0],
            ITM_TPR => self.itm[1],
            ITM_TCR => self.itm[2],
            // Present, and whether locked.
            ITM_LSR => 1 | u32::from(!self.itm_unlocked) << 1,
            DWT_CTRL => self.watchpoints << DWT_COMPARATOR_COUNT | self.control,
            DWT_CYCCNT => self.cycle_counter(now),
            _ if DWT_COUNTERS.contains(&address) => 0,
            // Of comparators that the part does not have nothing is kept.
            _ if self.lacks_comparator(address) => 0,
            _ if DWT_COMPARATORS.contains(&address) => match address >> 2 & 3 {
                // FUNCTION: off.
                2 | 3 => 0,
                which => self.comparators[((address - DWT_COMPARATORS.start) / 16 * 2 + which) as usize],
            },
            DWT_LSR if self.m7 => 0,
            // The revision, NUM_CODE and NUM_LIT.
            FP_CTRL => u32::from(self.m7) << 28 | self.literals << 8 | self.breakpoints << 4,
            _ if FP_COMPARATORS.contains(&address) => {
                self.patch[((address - FP_COMPARATORS.start) / 4) as usize]
            }
            // A port of one bit, and SWO.
            TPI_SSPSR => 1,
            TPI_CSPSR => self.port[0],
            TPI_ACPR => self.port[1],
            TPI_SPPR => self.port[2],
            // The formatter has stopped or flushes nothing.
            TPI_FFSR => 8,
            TPI_FFCR => self.port[3],
            _ => return None,
        })
    }

    /// Writes a register.
    ///
    /// # Errors
    /// A register that there is not, or what it would switch on.
    pub fn write(&mut self, address: u32, value: u32, now: u64) -> Result<(), &'static str> {
        match address {
            ITM_LAR => self.itm_unlocked = value == UNLOCK,
            ITM_TER | ITM_TPR | ITM_TCR if !self.itm_unlocked => {}
            ITM_TER => self.itm[0] = value,
            ITM_TPR => self.itm[1] = value & 0xf,
            ITM_TCR => self.itm[2] = value & 0x7f_0f1f,
            DWT_CTRL if value & !(0xf << DWT_COMPARATOR_COUNT | DWT_WRITABLE) != 0 => {
                return Err("of DWT's counters only the cycle counter is modelled");
            }
            DWT_CTRL => self.control_counter(now, |debug| debug.control = value & DWT_WRITABLE),
            DWT_CYCCNT => {
                self.counter = value;
                self.counter_base = now.wrapping_sub(u64::from(value));
            }
            _ if DWT_COUNTERS.contains(&address) => {}
            _ if self.lacks_comparator(address) => {}
            _ if DWT_COMPARATORS.contains(&address) => match address >> 2 & 3 {
                2 if value != 0 => return Err("DWT's watchpoints are not modelled"),
                2 | 3 => {}
                which => {
                    self.comparators[((address - DWT_COMPARATORS.start) / 16 * 2 + which) as usize] = value;
                }
            },
            DWT_LAR => {}
            FP_CTRL if value & FP_KEY != 0 && value & 1 != 0 => {
                return Err("breakpoints and patches of the FPB are not modelled");
            }
            FP_CTRL => {}
            _ if FP_COMPARATORS.contains(&address) => {
                self.patch[((address - FP_COMPARATORS.start) / 4) as usize] = value;
            }
            TPI_CSPSR => self.port[0] = value,
            TPI_ACPR => self.port[1] = value & 0x1fff,
            TPI_SPPR => self.port[2] = value & 3,
            TPI_FFCR => self.port[3] = value & 0x102,
            _ if TPIU.contains(&address) => {}
            _ => return Err(super::NOT_MODELLED),
        }
        Ok(())
    }
}
