//! The watchdog (WDT): it counts LFCLK, which it keeps running by itself. PS, "WDT".

use super::block::{Block, OwnRegisters};
use super::clock::LFCLK_HZ;
use super::core_clock::CORE_HZ;
use crate::{
    ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, ResetCause, Roles, Spec, WatchdogTimer,
};

const START: u32 = 0x000;
/// Event, by its bit.
const TIMEOUT: u32 = 1 << 0;
const RUNSTATUS: u32 = 0x400;
const REQSTATUS: u32 = 0x404;
const CRV: u32 = 0x504;
const RREN: u32 = 0x508;
const CONFIG: u32 = 0x50c;
const RR: u32 = 0x600;
const RR_END: u32 = 0x620;

/// The word that a reload register takes.
const RELOAD: u32 = 0x6e52_4635;
/// CRV takes no less.
const LEAST: u32 = 0xf;
/// CONFIG.SLEEP, CONFIG.HALT.
const SLEEP: u32 = 1 << 0;
const HALT: u32 = 1 << 3;
/// Periods of LFCLK from TIMEOUT to the reset.
const NOTICE: u64 = 2;

/// The registers.
#[derive(Clone)]
pub struct Wdt {
    block: Block,
    reload: u32,
    enabled: u32,
    configuration: u32,
    /// Reload registers that have yet to be written.
    requested: u32,
    /// The cycle of the next of what comes once it is started: TIMEOUT, and after that the reset,
    /// which nothing holds up any more.
    expiry: Option<u64>,
    timed_out: bool,
    clock_hz: u64,
}

impl Wdt {
    /// WDT at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Wdt {
        Wdt {
            block: Block::new(spec, TIMEOUT, &[]),
            reload: u32::MAX,
            enabled: 1,
            configuration: SLEEP,
            requested: 1,
            expiry: None,
            timed_out: false,
            clock_hz: CORE_HZ,
        }
    }

    fn cycles(&self, periods: u64) -> u64 {
        (u128::from(periods) * u128::from(self.clock_hz)).div_ceil(LFCLK_HZ.into()) as u64
    }

    /// The time is (CRV + 1) / 32768 s.
    fn feed(&mut self, now: u64) {
        self.requested = self.enabled;
        self.expiry = Some(now + self.cycles(u64::from(self.reload) + 1));
    }

    fn settle(&mut self, context: &mut Context<'_, '_>) {
        if let Some(at) = self.expiry.filter(|at| *at <= context.now && !self.timed_out) {
            self.block.raise(TIMEOUT);
            self.timed_out = true;
            self.expiry = Some(at + self.cycles(NOTICE));
        }
        if self.expiry.is_some_and(|at| at <= context.now) {
            context.events.request_reset(ResetCause::Watchdog);
            self.expiry = None;
        }
        self.block.signal(context);
    }
}

impl OwnRegisters for Wdt {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let running = self.expiry.is_some();
        match offset {
            START if value & 1 == 0 || running => {}
            START if self.configuration & SLEEP == 0 => {
                return Err("a watchdog that stands still while the core sleeps is not modelled");
            }
            START => self.feed(context.now),
            // Locked while it runs.
            CRV | RREN | CONFIG if running => {}
            CRV => self.reload = value.max(LEAST),
            RREN => {
                self.enabled = value & 0xff;
                self.requested = self.enabled;
            }
            CONFIG => self.configuration = value & (SLEEP | HALT),
            RR..RR_END if value == RELOAD && running && !self.timed_out => {
                self.requested &= !(1 << ((offset - RR) / 4));
                if self.requested & self.enabled == 0 {
                    self.feed(context.now);
                }
            }
            RR..RR_END => {}
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Wdt {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context);
        let own = match (address - self.block.base) & !3 {
            START | RR..RR_END => Some(0),
            RUNSTATUS => Some(u32::from(self.expiry.is_some())),
            REQSTATUS => Some(self.requested),
            CRV => Some(self.reload),
            RREN => Some(self.enabled),
            CONFIG => Some(self.configuration),
            _ => None,
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
        self.settle(context);
        self.write_register(address, size, value, context).map(|_| ())
    }

    fn due(&self) -> Option<u64> {
        self.expiry
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.settle(context);
            self.block.connect(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.expiry = self.expiry.map(|at| crate::clock::rescaled(at, now, self.clock_hz, clock_hz));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.reload = u32::MAX;
        self.enabled = 1;
        self.configuration = SLEEP;
        self.requested = 1;
        self.expiry = None;
        self.timed_out = false;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        // PS, "Reset behavior": a soft reset leaves the watchdog as it is.
        if cause != ResetCause::Software {
            self.reset();
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Wdt {
    fn is_running(&self) -> bool {
        self.expiry.is_some()
    }
}
