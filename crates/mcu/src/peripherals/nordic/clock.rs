//! CLOCK and POWER in one, because they share addresses, events and an interrupt. PS, "CLOCK" and
//! "POWER".
//!
//! The core runs at 64 MHz from HFINT or HFXO, whichever is on. LFCLK runs from the moment that its
//! start is asked for: from LFRC while the crystal starts. Its calibration, System OFF, the
//! interrupts of SLEEPENTER and SLEEPEXIT and the constant-latency mode's shorter wake-ups are not
//! modelled; nothing is plugged in at VBUS. Offsets without a register read as zero and take zero.

use super::block::{Block, OwnRegisters};
use super::core_clock::{CORE_HZ, cycles_of_us};
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

// Tasks.
const HFCLKSTART: u32 = 0x000;
const HFCLKSTOP: u32 = 0x004;
const LFCLKSTART: u32 = 0x008;
const LFCLKSTOP: u32 = 0x00c;
const CONSTLAT: u32 = 0x078;
const LOWPWR: u32 = 0x07c;

// Events, by their bits.
const HFCLKSTARTED: u32 = 1 << 0;
const LFCLKSTARTED: u32 = 1 << 1;
const SLEEPENTER: u32 = 1 << 5;
const SLEEPEXIT: u32 = 1 << 6;
const INTENSET: u32 = 0x304;
/// DONE and CTTO of the calibration, CTSTARTED, CTSTOPPED; POFWARN; USBDETECTED, USBREMOVED,
/// USBPWRRDY: none of these comes.
const NEVER: u32 = 1 << 3 | 1 << 4 | 1 << 10 | 1 << 11 | 1 << 2 | 7 << 7;

const HFCLKRUN: u32 = 0x408;
const HFCLKSTAT: u32 = 0x40c;
const LFCLKRUN: u32 = 0x414;
const LFCLKSTAT: u32 = 0x418;
const LFCLKSRCCOPY: u32 = 0x41c;
const LFCLKSRC: u32 = 0x518;
const HFXODEBOUNCE: u32 = 0x528;
const CTIV: u32 = 0x538;
const TRACECONFIG: u32 = 0x55c;
const LFRCMODE: u32 = 0x5b4;

const RESETREAS: u32 = 0x400;
const RAMSTATUS: u32 = 0x428;
const USBREGSTATUS: u32 = 0x438;
const SYSTEMOFF: u32 = 0x500;
const POFCON: u32 = 0x510;
const GPREGRET: u32 = 0x51c;
const GPREGRET2: u32 = 0x520;
const FORCEPROTECT: u32 = 0x550;
const DISABLE: u32 = 0x558;
const DCDCEN: u32 = 0x578;
/// Registers of the nRF52832, which start-up code of mbed writes on every nRF52.
const RAMON: u32 = 0x524;
const RAMONB: u32 = 0x554;
const RAMON_WRITTEN: &str =
    "the program wrote RAMON or RAMONB, which this part does not have: all its RAM is on";
const DCDCEN0: u32 = 0x580;
const MAINREGSTATUS: u32 = 0x640;
const RAM: u32 = 0x900;
const RAM_END: u32 = 0x990;

/// HFCLKSTAT, LFCLKSTAT.
const SRC_XTAL: u32 = 1;
const SRC_SYNTH: u32 = 2;
const STATE: u32 = 1 << 16;
/// RESETREAS.
const RESETPIN: u32 = 1 << 0;
const DOG: u32 = 1 << 1;
const SREQ: u32 = 1 << 2;

/// LFCLK.
pub(super) const LFCLK_HZ: u64 = 32_768;
/// [`crate::Events::generic_clocks_hz`] has one clock: LFCLK.
pub(super) const LFCLK: usize = 0;

/// HFCLKSTARTED comes after the crystal's power-up time and HFXODEBOUNCE times 16 us. The former,
/// and LFCLK's start-up times, typically: PS, CLOCK's electrical specification (from memory, not
/// yet compared).
const HFXO_POWER_UP_US: u64 = 60;
const DEBOUNCE_UNIT_US: u64 = 16;
const LFRC_START_US: u64 = 600;
const LFXO_START_US: u64 = 250_000;
const LFSYNT_START_US: u64 = 100;

/// The registers that keep what is written and do nothing.
const MAP: &[Register] = &[
    Register::new(HFXODEBOUNCE, 0xff).with_reset(0x10),
    Register::new(CTIV, 0x7f),
    Register::new(TRACECONFIG, 0x0003_0003),
    Register::new(FORCEPROTECT, 0xff).with_reset(0xff),
    Register::new(DISABLE, 0xff),
    Register::new(DCDCEN, 1),
    Register::new(DCDCEN0, 1),
    Register::new(GPREGRET, 0xff),
    Register::new(GPREGRET2, 0xff),
];
/// Those that, as RAM\[n\].POWER, outlive all resets but power-up and brown-out (PS, "Reset
/// behavior").
const RETAINED: [u32; 2] = [GPREGRET, GPREGRET2];

/// The registers.
#[derive(Clone)]
pub struct Clock {
    block: Block,
    ram: [u32; 9],
    source: u32,
    /// LFCLKSRC when LFCLK was started.
    running_source: u32,
    power_fail: u32,
    reset_reasons: u32,
    /// The task was triggered.
    high: bool,
    low: bool,
    /// The cycle at which the oscillator asked for has started, and the event comes.
    high_at: Option<u64>,
    low_at: Option<u64>,
    clock_hz: u64,
}

impl Clock {
    /// CLOCK and POWER at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Clock {
        Clock {
            block: Block::new(spec, HFCLKSTARTED | LFCLKSTARTED | SLEEPENTER | SLEEPEXIT | NEVER, MAP),
            ram: [0xffff; 9],
            source: 0,
            running_source: 0,
            power_fail: 0,
            reset_reasons: 0,
            high: false,
            low: false,
            high_at: None,
            low_at: None,
            clock_hz: CORE_HZ,
        }
    }

    fn settle(&mut self, now: u64) {
        if self.high_at.is_some_and(|at| at <= now) {
            self.high_at = None;
            self.block.raise(HFCLKSTARTED);
        }
        if self.low_at.is_some_and(|at| at <= now) {
            self.low_at = None;
            self.block.raise(LFCLKSTARTED);
        }
    }

    fn high_status(&self) -> u32 {
        STATE | if self.high && self.high_at.is_none() { SRC_XTAL } else { 0 }
    }

    fn low_status(&self) -> u32 {
        let starting = self.low_at.is_some();
        match self.running_source {
            _ if !self.low => 0,
            SRC_XTAL if starting => STATE,
            source => source | if starting { 0 } else { STATE },
        }
    }

    fn start_low(&mut self, now: u64) {
        self.running_source = self.source & 3;
        self.low = true;
        let us = match self.running_source {
            SRC_XTAL => LFXO_START_US,
            SRC_SYNTH => LFSYNT_START_US,
            _ => LFRC_START_US,
        };
        self.low_at = Some(now + cycles_of_us(us, self.clock_hz));
    }

    /// A task; whether there is one at this offset.
    fn task(&mut self, offset: u32, context: &mut Context<'_, '_>) -> bool {
        match offset {
            HFCLKSTART if !self.high => {
                self.high = true;
                let us = HFXO_POWER_UP_US + u64::from(self.block.registers[HFXODEBOUNCE]) * DEBOUNCE_UNIT_US;
                self.high_at = Some(context.now + cycles_of_us(us, self.clock_hz));
            }
            // It runs, or starts, already.
            HFCLKSTART => self.high_at = self.high_at.or(Some(context.now)),
            HFCLKSTOP => (self.high, self.high_at) = (false, None),
            LFCLKSTART if !self.low => self.start_low(context.now),
            LFCLKSTART => self.low_at = self.low_at.or(Some(context.now)),
            LFCLKSTOP => (self.low, self.low_at) = (false, None),
            CONSTLAT | LOWPWR => {}
            _ => return false,
        }
        context.events.set_controls(0, vec![if self.low { LFCLK_HZ } else { 0 }]);
        true
    }

    fn ram_register(offset: u32) -> Option<(usize, u32)> {
        (RAM..RAM_END).contains(&offset).then(|| ((offset - RAM) as usize / 16, offset & 15))
    }
}

impl OwnRegisters for Clock {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        if offset < 0x100 {
            return match value & 1 == 0 || self.task(offset, context) {
                true => Ok(()),
                false => Err("TASKS register: this task is not modelled"),
            };
        }
        match (offset, Clock::ram_register(offset)) {
            (_, Some((index, 0))) => self.ram[index] = value,
            (_, Some((index, 4))) => self.ram[index] |= value,
            (_, Some((index, 8))) => self.ram[index] &= !value,
            (RESETREAS, _) => self.reset_reasons &= !value,
            (LFCLKSRC, _) if self.low => return Err("LFCLKSRC is written while LFCLK runs"),
            (LFCLKSRC, _) if value & 3 == 3 => return Err("a reserved value of LFCLKSRC.SRC"),
            (LFCLKSRC, _) => self.source = value & 0x0003_0003,
            (LFRCMODE, _) if value & 1 != 0 => {
                return Err("the ultra-low power mode of LFRC is not modelled");
            }
            (LFRCMODE, _) => {}
            (SYSTEMOFF, _) if value & 1 != 0 => return Err("System OFF is not modelled"),
            (SYSTEMOFF, _) => {}
            (POFCON, _) => {
                // THRESHOLD 4 to 15: 1.7 V to 2.8 V.
                let threshold_v = 1.3 + 0.1 * f64::from(value >> 1 & 15);
                if value & 1 != 0 && context.board.supply_v < threshold_v {
                    return Err(
                        "the supply is below the threshold of the power-fail warning, which is not modelled",
                    );
                }
                self.power_fail = value & 0xf1f;
            }
            // Status registers are read-only.
            (
                HFCLKRUN | HFCLKSTAT | LFCLKRUN | LFCLKSTAT | LFCLKSRCCOPY | RAMSTATUS | USBREGSTATUS
                | MAINREGSTATUS,
                _,
            ) => {}
            (RAMON | RAMONB, _) => context.events.pass_over(RAMON_WRITTEN.into()),
            _ if value == 0 => {}
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Clock {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        self.block.signal(context);
        let offset = (address - self.block.base) & !3;
        let own = match offset {
            // Tasks read as zero.
            0..0x80 => Some(0),
            HFCLKRUN => Some(u32::from(self.high)),
            HFCLKSTAT => Some(self.high_status()),
            LFCLKRUN => Some(u32::from(self.low)),
            LFCLKSTAT => Some(self.low_status()),
            LFCLKSRCCOPY => Some(self.running_source),
            LFCLKSRC => Some(self.source),
            RESETREAS => Some(self.reset_reasons),
            POFCON => Some(self.power_fail),
            _ if self.block.has(offset) => None,
            // LFRCMODE, RAMSTATUS, USBREGSTATUS, MAINREGSTATUS, what is only written, and the rest.
            _ => Some(match Clock::ram_register(offset) {
                Some((index, 0)) => self.ram[index],
                _ => 0,
            }),
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context.now);
        if address - self.block.base == INTENSET && value & (SLEEPENTER | SLEEPEXIT) != 0 {
            let what = "the interrupts of SLEEPENTER and SLEEPEXIT are not modelled";
            return context.refuse(&self.block.name, address, what);
        }
        if !self.write_register(address, size, value, context)? {
            self.settle(context.now);
            self.block.signal(context);
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let awaited = self.block.awaited();
        let high = self.high_at.filter(|_| awaited & HFCLKSTARTED != 0);
        let low = self.low_at.filter(|_| awaited & LFCLKSTARTED != 0);
        high.into_iter().chain(low).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.block.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::ControlsChanged => {
                self.settle(context.now);
                self.block.connect(context);
                if self.block.awaited() & (SLEEPENTER | SLEEPEXIT) != 0 {
                    context.stop(
                        &self.block.name,
                        "PPI is given SLEEPENTER or SLEEPEXIT, which it does not get",
                    );
                }
            }
            Event::Sleep(_) => self.block.raise(SLEEPENTER),
            Event::Wake => self.block.raise(SLEEPEXIT),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.ram = [0xffff; 9];
        self.source = 0;
        self.running_source = 0;
        self.power_fail = 0;
        self.reset_reasons = 0;
        (self.high, self.high_at) = (false, None);
        (self.low, self.low_at) = (false, None);
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let (ram, reasons) = (self.ram, self.reset_reasons);
        let retained = RETAINED.map(|offset| self.block.registers[offset]);
        self.reset();
        let reason = match cause {
            ResetCause::PowerOn | ResetCause::BrownOut => return,
            ResetCause::External => RESETPIN,
            ResetCause::Watchdog | ResetCause::WindowWatchdog => DOG,
            ResetCause::Software | ResetCause::OptionBytes | ResetCause::Password(_) => SREQ,
        };
        for (offset, value) in RETAINED.into_iter().zip(retained) {
            self.block.registers.set(offset, value);
        }
        self.ram = ram;
        self.reset_reasons = reasons | reason;
    }
}
