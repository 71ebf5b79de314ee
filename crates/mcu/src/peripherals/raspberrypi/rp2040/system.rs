//! Clocks and resets: CLOCKS, XOSC, ROSC, the PLLs, RESETS, the power-on state machine (PSM),
//! WATCHDOG, the regulator's registers, SYSINFO, SYSCFG, BUSCTRL and TBMAN in one. Sections 2.13 to
//! 2.18, 2.20 to 2.22, 4.7.
//!
//! The state is that in which the boot ROM hands over: it has taken IO_QSPI, PADS_QSPI and TIMER
//! out of reset. Offsets without a register read as zero and take zero.

use super::clocks::Clocks;
use super::oscillators::Oscillators;
use super::watchdog::Watchdog;
use super::{BLOCK, CLK_REF, CLK_SYS, CLOCKS, HELD_PROC1, HELD_SIO, TICK, Write, register, reserved};
use crate::peripherals::register::part_of_word;
use crate::{
    ClockControl, ClockUpdate, Context, Fault, Part, Peripheral, PeripheralSpec, ResetCause, Roles, Spec,
    WatchdogTimer,
};

// RESETS.
const RESET: u32 = 0x00;
const WDSEL: u32 = 0x04;
const RESET_DONE: u32 = 0x08;
/// The bits of RESET.
const BUSCTRL: u32 = 1 << 1;
const IO_QSPI: u32 = 1 << 6;
const PADS_QSPI: u32 = 1 << 9;
const PLL_SYS: u32 = 1 << 12;
const PLL_USB: u32 = 1 << 13;
const SYSCFG: u32 = 1 << 18;
const SYSINFO: u32 = 1 << 19;
const TBMAN: u32 = 1 << 20;
const TIMER: u32 = 1 << 21;
const ALL: u32 = 0x01ff_ffff;
/// The blocks that the boot ROM leaves in reset.
const AT_START: u32 = ALL & !(IO_QSPI | PADS_QSPI | TIMER);

// PSM.
const FRCE_ON: u32 = 0x00;
const FRCE_OFF: u32 = 0x04;
const PSM_WDSEL: u32 = 0x08;
const PSM_DONE: u32 = 0x0c;
const PSM_ALL: u32 = 0x0001_ffff;
/// SIO and the cores in PSM, each held in reset with the one before it.
const SIO: u32 = 1 << 14;
const PROC0: u32 = 1 << 15;
const PROC1: u32 = 1 << 16;

/// Regulator: VREG with ROK, BOD; what was the cause of the last chip-level reset.
const VREG: u32 = 0xb1;
const ROK: u32 = 1 << 12;
const BOD: u32 = 0x91;
const HAD_POR: u32 = 1 << 8;
const HAD_RUN: u32 = 1 << 16;

/// SYSINFO.CHIP_ID of version B2: revision, part, manufacturer.
const CHIP_ID: u32 = 2 << 28 | 2 << 12 | 0x927;
/// SYSINFO.PLATFORM and TBMAN.PLATFORM: an ASIC.
const PLATFORM: u32 = 1 << 1;
const TBMAN_PLATFORM: u32 = 1;
/// SYSINFO.GITREF_RP2040, which reads as zero here.
const GITREF: u32 = 0x10;
// SYSCFG.
const PROC_CONFIG: u32 = 0x08;
const IN_SYNC_BYPASS: u32 = 0x0c;
const IN_SYNC_BYPASS_HI: u32 = 0x10;
const DBGFORCE: u32 = 0x14;
const MEMPOWERDOWN: u32 = 0x18;
/// PROC_CONFIG and DBGFORCE after a reset.
const DEBUG: [u32; 2] = [0x1000_0000, 0x66];
/// BUSCTRL: four counters, each beside the choice of the event that it counts.
const PERFCTR0: u32 = 0x08;
const PERFSEL3: u32 = 0x24;
/// The events that PERFSELn chooses from, and what it is after a reset.
const EVENTS: u32 = 20;
const NOTHING: u32 = 0x1f;

/// The counter of BUSCTRL that a register belongs to.
fn counter(register: u32) -> usize {
    ((register - PERFCTR0) / 8) as usize
}

/// The blocks: their settings' names, and the bit by which they are held in reset; none for those
/// that are not.
const BLOCKS: [(&str, u32); 13] = [
    ("clocks", 0),
    ("resets", 0),
    ("psm", 0),
    ("xosc", 0),
    ("pll_sys", PLL_SYS),
    ("pll_usb", PLL_USB),
    ("watchdog", 0),
    ("rosc", 0),
    ("vreg", 0),
    ("sysinfo", SYSINFO),
    ("syscfg", SYSCFG),
    ("busctrl", BUSCTRL),
    ("tbman", TBMAN),
];

/// The registers.
#[derive(Clone)]
pub struct System {
    name: String,
    part: Part,
    bases: [u32; BLOCKS.len()],
    clock_hz: u64,
    clocks: Clocks,
    oscillators: Oscillators,
    watchdog: Watchdog,
    resets: u32,
    reset_select: u32,
    forced_on: u32,
    forced_off: u32,
    psm_select: u32,
    regulator: [u32; 2],
    chip_reset: u32,
    nmi_masks: [u32; 2],
    priority: u32,
    /// PROC_CONFIG, DBGFORCE.
    debug: [u32; 2],
    /// PERFSEL0 to PERFSEL3.
    counted: [u32; 4],
}

impl System {
    /// CLOCKS at `spec.base`, the other blocks at the settings of their names.
    ///
    /// # Errors
    /// A base that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<System, String> {
        let mut bases = [spec.base; BLOCKS.len()];
        for (base, (name, _)) in bases.iter_mut().zip(BLOCKS).skip(1) {
            let setting = spec.settings.get(name).and_then(|base| u32::try_from(*base).ok());
            *base = setting
                .filter(|base| base % BLOCK == 0 && *base < 0xf000_0000)
                .ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))?;
        }
        let clock_hz = part.default_clock_hz;
        let mut system = System {
            name: spec.name.clone(),
            part: part.clone(),
            bases,
            clock_hz,
            clocks: Clocks::new(),
            oscillators: Oscillators::new(0, clock_hz),
            watchdog: Watchdog::new(clock_hz),
            resets: AT_START,
            reset_select: 0,
            forced_on: 0,
            forced_off: 0,
            psm_select: 0,
            regulator: [VREG, BOD],
            chip_reset: HAD_POR,
            nmi_masks: [0; 2],
            priority: 0,
            debug: DEBUG,
            counted: [NOTHING; 4],
        };
        system.reset();
        Ok(system)
    }

    /// The block that an address belongs to, and whether it is held in reset: then its registers
    /// read as after one.
    fn block(&self, address: u32) -> (&'static str, bool) {
        let base = address & !(BLOCK - 1);
        let index = self.bases.iter().position(|known| *known == base).unwrap_or(0);
        let (name, bit) = BLOCKS[index];
        (name, self.resets & bit != 0)
    }

    fn clocks_hz(&self) -> Vec<u64> {
        let mut clocks: Vec<u64> =
            (0..CLOCKS - 1).map(|index| self.clocks.hz(index, &self.oscillators)).collect();
        clocks.push(self.watchdog.tick_hz(clocks[CLK_REF]));
        clocks
    }

    /// Makes known what was set, and checks whether the core has a clock that it may have.
    fn apply(&mut self, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let clocks = self.clocks_hz();
        let core_hz = clocks[CLK_SYS];
        self.watchdog.set_clocks(self.clock_hz, clocks[TICK], context.now);
        let held = |bit: u32, held: u32| if self.forced_off & bit != 0 { held } else { 0 };
        let powered_off = held(SIO, HELD_SIO) | held(PROC1, HELD_PROC1);
        context.events.set_controls(self.resets | powered_off, clocks);
        if core_hz == 0 {
            let what = "clk_sys has no source that runs: the core stands still for ever";
            return context.refuse(&self.name, address, what);
        }
        if !self.part.follows_clock() && core_hz > self.clock_hz {
            let what = format!(
                "the program sets {} MHz, but the machine is run at {} MHz: run it at the program's clock",
                core_hz as f64 / 1e6,
                self.clock_hz as f64 / 1e6
            );
            return context.refuse(&self.name, address, what);
        }
        Ok(())
    }

    /// The register of a block; zero where there is none.
    fn read_block(&mut self, block: &str, register: u32, now: u64) -> u32 {
        let known = match (block, register) {
            ("clocks", _) => Some(self.clocks.read(register)),
            ("resets", RESET) => Some(self.resets),
            ("resets", WDSEL) => Some(self.reset_select),
            ("resets", RESET_DONE) => Some(ALL & !self.resets),
            ("psm", FRCE_ON) => Some(self.forced_on),
            ("psm", FRCE_OFF) => Some(self.forced_off),
            ("psm", PSM_WDSEL) => Some(self.psm_select),
            ("psm", PSM_DONE) => Some(PSM_ALL & !self.forced_off),
            ("xosc", _) => self.oscillators.read_xosc(register, now),
            ("pll_sys", _) => self.oscillators.plls[0].read(register, self.oscillators.xosc_hz()),
            ("pll_usb", _) => self.oscillators.plls[1].read(register, self.oscillators.xosc_hz()),
            ("watchdog", _) => self.watchdog.read(register, now),
            ("rosc", _) => self.oscillators.read_rosc(register),
            ("vreg", 0x00) => Some(self.regulator[0] | ROK),
            ("vreg", 0x04) => Some(self.regulator[1]),
            ("vreg", 0x08) => Some(self.chip_reset),
            ("sysinfo", 0x00) => Some(CHIP_ID),
            ("sysinfo", 0x04) => Some(PLATFORM),
            ("syscfg", 0x00 | 0x04) => Some(self.nmi_masks[(register / 4) as usize]),
            ("syscfg", PROC_CONFIG) => Some(self.debug[0]),
            ("syscfg", DBGFORCE) => Some(self.debug[1]),
            ("busctrl", 0x00) => Some(self.priority),
            ("busctrl", 0x04) => Some(1),
            ("busctrl", PERFCTR0..=PERFSEL3) if register & 4 != 0 => Some(self.counted[counter(register)]),
            ("tbman", 0x00) => Some(TBMAN_PLATFORM),
            _ => None,
        };
        known.unwrap_or(0)
    }

    fn write_block(
        &mut self,
        block: &str,
        register: u32,
        write: Write,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let now = context.now;
        match (block, register) {
            ("clocks", _) => self.clocks.write(register, write)?,
            ("resets", RESET) => {
                let before = self.resets;
                self.resets = write.onto(self.resets) & ALL;
                self.hold(self.resets & !before);
            }
            ("resets", WDSEL) => self.reset_select = write.onto(self.reset_select) & ALL,
            ("resets", RESET_DONE) | ("psm", PSM_DONE) => {}
            ("psm", FRCE_ON | FRCE_OFF) => {
                let forced = if register == FRCE_ON { &mut self.forced_on } else { &mut self.forced_off };
                *forced = write.onto(*forced) & PSM_ALL;
                self.check_power()?;
            }
            ("psm", PSM_WDSEL) => self.psm_select = write.onto(self.psm_select) & PSM_ALL,
            ("xosc", _) => self.oscillators.write_xosc(register, write, now)?,
            ("rosc", _) => self.oscillators.write_rosc(register, write)?,
            ("pll_sys", _) => self.oscillators.plls[0].write(register, write)?,
            ("pll_usb", _) => self.oscillators.plls[1].write(register, write)?,
            ("watchdog", _) => {
                let Some(reset) = self.watchdog.write(register, write, now) else {
                    return Ok(reserved(write)?);
                };
                if (reset || self.watchdog.is_on()) && self.psm_select & PROC0 == 0 {
                    return Err(
                        "a watchdog that does not reset the processor (PSM.WDSEL) is not modelled".into()
                    );
                }
                if reset {
                    context.events.request_reset(ResetCause::Watchdog);
                }
            }
            ("vreg", 0x00) => self.regulator[0] = write.onto(self.regulator[0]) & 0xf3,
            ("vreg", 0x04) => self.regulator[1] = write.onto(self.regulator[1]) & 0xf1,
            ("vreg", 0x08) => {}
            ("syscfg", _) => self.write_syscfg(register, write)?,
            ("busctrl", 0x00) => self.priority = write.onto(self.priority) & 0x1111,
            // PERFCTRn is cleared by any write.
            ("busctrl", PERFCTR0..=PERFSEL3) if register & 4 == 0 => {}
            ("busctrl", PERFCTR0..=PERFSEL3) => {
                let selected = &mut self.counted[counter(register)];
                *selected = write.onto(*selected) & NOTHING;
                if *selected < EVENTS {
                    return Err("PERFSEL: the counters of the bus are not modelled".into());
                }
            }
            // Read-only.
            ("busctrl", 0x04) | ("sysinfo", 0x00 | 0x04 | GITREF) | ("tbman", 0x00) => {}
            _ => reserved(write)?,
        }
        Ok(())
    }

    /// These blocks are put in reset.
    fn hold(&mut self, fallen: u32) {
        for (index, bit) in [PLL_SYS, PLL_USB].into_iter().enumerate() {
            if fallen & bit != 0 {
                self.oscillators.plls[index] = super::oscillators::Pll::new();
            }
        }
        if fallen & SYSCFG != 0 {
            self.nmi_masks = [0; 2];
            self.debug = DEBUG;
        }
        if fallen & BUSCTRL != 0 {
            self.priority = 0;
            self.counted = [NOTHING; 4];
        }
    }

    /// A sentence where the power-on state machine is told to power something off.
    fn check_power(&self) -> Result<(), String> {
        if self.forced_off & !(SIO | PROC1) != 0 {
            return Err("FRCE_OFF: powering parts of the chip off is not modelled".into());
        }
        if self.forced_off & SIO != 0 && self.forced_on & PROC0 == 0 {
            let what =
                "SIO is held in reset (PSM.FRCE_OFF), and the processor with it unless FRCE_ON has PROC0";
            return Err(format!("{what}: not modelled"));
        }
        Ok(())
    }

    fn write_syscfg(&mut self, register: u32, write: Write) -> Result<(), &'static str> {
        match register {
            0x00 if write.onto(self.nmi_masks[0]) != 0 => return Err("interrupts as NMI are not modelled"),
            0x00 => {}
            0x04 => self.nmi_masks[1] = write.onto(self.nmi_masks[1]),
            // Where the debugger finds the cores, and pins of the debug port without one.
            PROC_CONFIG => self.debug[0] = write.onto(self.debug[0]) & 0xff00_0000,
            DBGFORCE => self.debug[1] = write.onto(self.debug[1]) & 0xee,
            IN_SYNC_BYPASS if write.onto(0) & 0x3fff_ffff == 0 => {}
            IN_SYNC_BYPASS_HI if write.onto(0) & 0x3f == 0 => {}
            MEMPOWERDOWN if write.onto(0) & 0xff == 0 => {}
            IN_SYNC_BYPASS | IN_SYNC_BYPASS_HI => {
                return Err("IN_SYNC_BYPASS: inputs without their synchronisers are not modelled");
            }
            MEMPOWERDOWN => return Err("MEMPOWERDOWN: powering memories down is not modelled"),
            _ => return super::reserved(write),
        }
        Ok(())
    }
}

impl Peripheral for System {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.name, self.bases.iter().map(|base| *base..*base + BLOCK))
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let now = context.now;
        let word = self.read_block(self.block(address).0, register(address), now);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let (block, held) = self.block(address);
        if held {
            return super::written_in_reset(block, address, context);
        }
        let write = Write::new(address, size, value);
        let written = self.write_block(block, register(address), write, context);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.apply(address, context)
    }

    fn due(&self) -> Option<u64> {
        self.watchdog.due()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        if self.watchdog.expired(context.now) {
            context.events.request_reset(ResetCause::Watchdog);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
            self.oscillators.set_clock(clock_hz, now);
            let tick_hz = self.watchdog.tick_hz(self.clocks.hz(CLK_REF, &self.oscillators));
            self.watchdog.set_clocks(clock_hz, tick_hz, now);
        }
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let crystal_hz = self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0);
        self.clocks = Clocks::new();
        self.oscillators = Oscillators::new(crystal_hz, self.clock_hz);
        self.watchdog.reset(cause);
        self.resets = AT_START;
        self.reset_select = 0;
        self.forced_on = 0;
        self.forced_off = 0;
        self.psm_select = 0;
        self.regulator = [VREG, BOD];
        self.chip_reset = match cause {
            ResetCause::PowerOn | ResetCause::BrownOut => HAD_POR,
            ResetCause::External => HAD_RUN,
            _ => self.chip_reset,
        };
        self.hold(SYSCFG | BUSCTRL);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), watchdog: Some(self), ..Roles::default() }
    }
}

impl ClockControl for System {
    fn core_clock_hz(&self) -> Option<u64> {
        self.part.follows_clock().then(|| self.clocks.hz(CLK_SYS, &self.oscillators))
    }
}

impl WatchdogTimer for System {
    fn is_running(&self) -> bool {
        self.watchdog.due().is_some()
    }
}
