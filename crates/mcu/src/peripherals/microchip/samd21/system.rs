//! Power manager (PM), system controller (SYSCTRL), generic clocks (GCLK) and the flash controller
//! (NVMCTRL) in one, because the core's clock is made by the first three, and the fourth must wait
//! by it.
//!
//! DS40001882F sections 16.8 (PM), 17.8 (SYSCTRL), 15.8 (GCLK), 22.8 (NVMCTRL). Reserved places
//! read as zero and take zero.

use super::generators::{self, FDPLL_32K_ID, FDPLL_ID, Generators};
use super::oscillators::{self, FDPLL, Oscillators};
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockControl, ClockUpdate, Context, ControlRegister, Fault, FlashSettings, GateRegister, Part,
    Peripheral, PeripheralSpec, ReadMode, ResetCause, Roles, Spec,
};

// PM, from its base.
const CTRL: u32 = 0x00;
/// CPUSEL, APBASEL, APBBSEL, APBCSEL in one word.
const CPUSEL: u32 = 0x08;
const AHBMASK: u32 = 0x14;
const APBCMASK: u32 = 0x20;
const INTENCLR: u32 = 0x34;
const RCAUSE: u32 = 0x38;
/// Bytes of the block, as the memory map has it.
const PM_SIZE: u32 = 0x400;
/// AHBMASK, APBAMASK, APBBMASK, APBCMASK after a reset, and their bits.
const MASKS: [u32; 4] = [0x7f, 0x7f, 0x7f, 0x0001_0000];
const MASK_BITS: [u32; 4] = [0x7f, 0x7f, 0x7f, 0x001f_ffff];
/// Bits of APBAMASK, APBBMASK and APBCMASK (sections 16.8.9 to 16.8.11). Without its bus clock a
/// module's registers can be neither read nor written (section 16.6.2.8); its generic clock goes
/// on.
static GATES: &[GateRegister] = &[
    gates("PM_APBAMASK", 0x18, &[(4, "WDT")]),
    gates("PM_APBBMASK", 0x1c, &[(3, "PORT")]),
    gates(
        "PM_APBCMASK",
        0x20,
        &[
            (2, "SERCOM0"),
            (3, "SERCOM1"),
            (4, "SERCOM2"),
            (5, "SERCOM3"),
            (6, "SERCOM4"),
            (7, "SERCOM5"),
            (8, "TCC0"),
            (9, "TCC1"),
            (10, "TCC2"),
            (11, "TC3"),
            (12, "TC4"),
            (13, "TC5"),
            (16, "ADC"),
        ],
    ),
];

const fn gates(name: &'static str, offset: u32, fields: &'static [(u8, &'static str)]) -> GateRegister {
    let enable = ControlRegister::new(name, offset, "");
    GateRegister { enable, reset: None, in_sleep: None, is_bus_only: true, fields }
}

/// INTFLAG.CKRDY, in the word of INTENCLR, INTENSET and INTFLAG.
const CKRDY: u32 = 1 << 16;

// NVMCTRL, from its base.
const CTRLA: u32 = 0x00;
const CTRLB: u32 = 0x04;
const PARAM: u32 = 0x08;
const INTFLAG: u32 = 0x14;
const STATUS: u32 = 0x18;
const ADDR: u32 = 0x1c;
const LOCK: u32 = 0x20;
const NVMCTRL_SIZE: u32 = 0x400;
const CTRLB_MASK: u32 = 0x0007_039e;
const CACHEDIS: u32 = 1 << 18;
/// CTRLA: key, and the command that empties the cache.
const CMDEX_KEY: u32 = 0xa500;
const CMD_INVALL: u32 = 0x46;
/// CTRLA: the page buffer, which is always empty, is cleared; the power reduction ends.
const CMD_PBC: u32 = 0x44;
const CMD_CPRM: u32 = 0x43;
/// PARAM: pages of 64 bytes.
const PSZ_64: u32 = 3 << 16;
const PAGE_BYTES: u32 = 64;

/// The registers.
#[derive(Clone)]
pub struct System {
    name: String,
    pm: u32,
    sysctrl: u32,
    gclk: u32,
    nvmctrl: u32,
    part: Part,
    pages: u32,
    clock_hz: u64,
    sleep: u32,
    dividers: u32,
    masks: [u32; 4],
    /// INTFLAG.CKRDY.
    is_ready: bool,
    cause: u32,
    oscillators: Oscillators,
    generators: Generators,
    control_b: u32,
    /// Times that the program has emptied the cache.
    invalidations: u32,
    address: u32,
}

impl System {
    /// PM at `spec.base`, the others at `settings.sysctrl`, `settings.gclk` and `settings.nvmctrl`.
    ///
    /// # Errors
    /// A base that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<System, String> {
        let base = |setting: &str| {
            let base = spec.settings.get(setting).and_then(|base| u32::try_from(*base).ok());
            base.filter(|base| *base < 0xffff_0000)
                .ok_or_else(|| format!("{}: {} needs {setting}", part.name, spec.name))
        };
        let mut system = System {
            name: spec.name.clone(),
            pm: spec.base,
            sysctrl: base("sysctrl")?,
            gclk: base("gclk")?,
            nvmctrl: base("nvmctrl")?,
            part: part.clone(),
            pages: part.memory_at(0).map_or(0, |flash| flash.size / PAGE_BYTES),
            clock_hz: part.default_clock_hz,
            sleep: 0,
            dividers: 0,
            masks: MASKS,
            is_ready: false,
            cause: 0,
            oscillators: Oscillators::new(0, part.default_clock_hz),
            generators: Generators::new(),
            control_b: 0,
            invalidations: 0,
            address: 0,
        };
        system.reset();
        Ok(system)
    }

    /// The core's clock: generator 0, divided by CPUSEL.
    fn core_hz(&self) -> u64 {
        self.generators.generator_hz(0, &self.oscillators) >> (self.dividers & 7)
    }

    /// By how much APBASEL, APBBSEL and APBCSEL divide beyond CPUSEL: no bus is faster than the
    /// core (section 16.6.2.6).
    fn bridge_shifts(&self) -> [u8; 3] {
        let [core, buses @ ..] = self.dividers.to_le_bytes();
        buses.map(|bus| bus.saturating_sub(core))
    }

    fn flash(&self) -> FlashSettings {
        FlashSettings {
            wait_states: (self.control_b >> 1 & 15) as u8,
            cached: self.control_b & CACHEDIS == 0,
            read_mode: match self.control_b >> 16 & 3 {
                1 => ReadMode::LowPower,
                2 => ReadMode::Deterministic,
                _ => ReadMode::NoMissPenalty,
            },
            invalidations: self.invalidations,
            word_cycles: 0,
        }
    }

    /// Makes known what was set, and checks whether the core has a clock and the flash waits long
    /// enough for it.
    fn apply(&mut self, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        context.events.flash = self.flash();
        context.events.bridge_shifts = self.bridge_shifts();
        let module_hz = |id| self.generators.module_hz(id, &self.oscillators);
        let (reference_hz, timer_hz) = (module_hz(FDPLL_ID), module_hz(FDPLL_32K_ID));
        let wanted = self.generators.wants(FDPLL);
        let followed = self.oscillators.follow_dpll(reference_hz, timer_hz, wanted, context.now);
        followed.map_err(|what| context.fault(&self.name, address, what))?;
        self.publish(context);
        let core_hz = self.core_hz();
        if core_hz == 0 {
            let what = if self.oscillators.due().is_some() && self.generators.source(0) == Some(FDPLL) {
                "GCLK_GENCTRL: generator 0 is given FDPLL96M, which has not locked: DPLLSTATUS.LOCK comes first"
            } else {
                "GCLK_GENCTRL: generator 0 has no source that runs: the core stands still for ever"
            };
            return context.refuse(&self.name, address, what);
        }
        let set = self.flash().wait_states;
        let needed = self.part.wait_states(core_hz, context.board.supply_v);
        if needed.is_none_or(|needed| set < needed) {
            let needed = needed.map_or_else(|| "more than it has".into(), |needed| needed.to_string());
            let what = format!(
                "{set} wait states are too few: the flash needs {needed} at {} MHz; set them first",
                core_hz as f64 / 1e6
            );
            return context.refuse(&self.name, address, what);
        }
        // DFLL48M with a crystal of 32,768 Hz as its reference comes within a tenth of a percent of
        // 48 MHz.
        if !self.part.follows_clock() && core_hz > self.clock_hz + self.clock_hz / 1000 {
            let what = format!(
                "the program sets {} MHz, but the machine is run at {} MHz: run it at the program's clock",
                core_hz as f64 / 1e6,
                self.clock_hz as f64 / 1e6
            );
            return context.refuse(&self.name, address, what);
        }
        Ok(())
    }

    /// Tells the modules of their clocks.
    fn publish(&self, context: &mut Context<'_, '_>) {
        let clocks_hz = self.generators.modules_hz(&self.oscillators);
        context.events.set_controls(context.events.held, clocks_hz);
    }

    /// FDPLL96M may have locked.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        if self.oscillators.due().is_some_and(|due| due <= context.now) {
            self.oscillators.advance(context.now);
            self.publish(context);
        }
    }

    /// Reserved places read as zero.
    fn read_pm(&self, offset: u32, size: u8) -> u32 {
        let word = match offset & !3 {
            CTRL => self.sleep << 8,
            CPUSEL => self.dividers,
            mask @ AHBMASK..=APBCMASK => self.masks[((mask - AHBMASK) / 4) as usize],
            INTENCLR if self.is_ready => CKRDY,
            RCAUSE => self.cause,
            _ => 0,
        };
        part_of_word(word, offset, size)
    }

    fn write_pm(&mut self, offset: u32, size: u8, value: u32) -> Result<(), String> {
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CTRL => self.sleep = merge(self.sleep << 8) >> 8 & 3,
            CPUSEL => {
                self.dividers = merge(self.dividers) & 0x0707_0707;
                self.is_ready = true;
            }
            mask @ AHBMASK..=APBCMASK => {
                let index = ((mask - AHBMASK) / 4) as usize;
                self.masks[index] = merge(self.masks[index]) & MASK_BITS[index];
            }
            // INTENSET.
            INTENCLR if merge(0) >> 8 & 1 != 0 => {
                return Err("PM_INTENSET: its interrupt is not modelled".into());
            }
            INTENCLR => self.is_ready &= merge(0) & CKRDY == 0,
            RCAUSE => {}
            _ if merge(0) == 0 => {}
            _ => return Err("a reserved place".into()),
        }
        Ok(())
    }

    fn write_nvmctrl(&mut self, offset: u32, size: u8, value: u32) -> Result<(), String> {
        match offset & !3 {
            CTRLA if size < 2 || value & 0xff00 != CMDEX_KEY => {}
            CTRLA if value & 0x7f == CMD_INVALL => {
                self.invalidations = self.invalidations.wrapping_add(1);
            }
            CTRLA if matches!(value & 0x7f, CMD_PBC | CMD_CPRM) => {}
            CTRLA => return Err("NVMCTRL_CTRLA: programming and erasing the flash are not modelled".into()),
            CTRLB => self.control_b = merged_word(self.control_b, offset, size, value) & CTRLB_MASK,
            ADDR => self.address = merged_word(self.address, offset, size, value) & 0x003f_ffff,
            // INTENCLR, INTENSET, INTFLAG, STATUS: flags that are cleared, interrupts that are not
            // modelled.
            0x10 if value & 3 != 0 => return Err("NVMCTRL_INTENSET: its interrupts are not modelled".into()),
            PARAM..=STATUS | LOCK => {}
            _ if value == 0 => {}
            _ => return Err("a reserved place".into()),
        }
        Ok(())
    }

    fn read_nvmctrl(&self, offset: u32, size: u8) -> u32 {
        let word = match offset & !3 {
            CTRLB => self.control_b,
            PARAM => self.pages | PSZ_64,
            // READY.
            INTFLAG => 1,
            ADDR => self.address,
            // No region is locked.
            LOCK => 0xffff,
            _ => 0,
        };
        part_of_word(word, offset, size)
    }
}

impl Peripheral for System {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [
                self.pm..self.pm + PM_SIZE,
                self.sysctrl..self.sysctrl + oscillators::SIZE,
                self.gclk..self.gclk + generators::SIZE,
                self.nvmctrl..self.nvmctrl + NVMCTRL_SIZE,
            ],
        )
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let inside = |base: u32, bytes: u32| address.checked_sub(base).filter(|offset| *offset < bytes);
        Ok(if let Some(offset) = inside(self.pm, PM_SIZE) {
            self.read_pm(offset, size)
        } else if let Some(offset) = inside(self.sysctrl, oscillators::SIZE) {
            self.oscillators.read(offset, size, context.now)
        } else if let Some(offset) = inside(self.gclk, generators::SIZE) {
            self.generators.read(offset, size)
        } else {
            self.read_nvmctrl(address.wrapping_sub(self.nvmctrl), size)
        })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let inside = |base: u32, bytes: u32| address.checked_sub(base).filter(|offset| *offset < bytes);
        let written = if let Some(offset) = inside(self.pm, PM_SIZE) {
            self.write_pm(offset, size, value)
        } else if let Some(offset) = inside(self.sysctrl, oscillators::SIZE) {
            self.oscillators.write(offset, size, value, context.now)
        } else if let Some(offset) = inside(self.gclk, generators::SIZE) {
            self.generators.write(offset, size, value)
        } else {
            self.write_nvmctrl(address.wrapping_sub(self.nvmctrl), size, value)
        };
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.apply(address, context)
    }

    fn due(&self) -> Option<u64> {
        self.oscillators.due()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
            self.oscillators.set_clock(clock_hz, now);
        }
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    /// RCAUSE (section 16.8.14): POR, BOD33, EXT, WDT, SYST.
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        if matches!(cause, ResetCause::PowerOn | ResetCause::BrownOut) {
            let crystal_hz = self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0);
            self.oscillators = Oscillators::new(crystal_hz, self.clock_hz);
            self.generators = Generators::new();
        } else {
            self.oscillators.reset(now);
            self.generators.reset();
        }
        self.sleep = 0;
        self.dividers = 0;
        self.masks = MASKS;
        self.is_ready = false;
        self.control_b = 0;
        self.invalidations = 0;
        self.address = 0;
        self.cause = match cause {
            ResetCause::PowerOn => 1 << 0,
            ResetCause::BrownOut => 1 << 2,
            ResetCause::External => 1 << 4,
            ResetCause::Watchdog | ResetCause::WindowWatchdog => 1 << 5,
            ResetCause::Software | ResetCause::OptionBytes | ResetCause::Password(_) => 1 << 6,
        };
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for System {
    fn core_clock_hz(&self) -> Option<u64> {
        self.part.follows_clock().then(|| self.core_hz())
    }

    fn module_clocks(&self) -> Option<Vec<u64>> {
        Some(self.generators.modules_hz(&self.oscillators))
    }

    fn gates(&self) -> &'static [GateRegister] {
        GATES
    }

    fn gate_register(&self, offset: u32) -> u32 {
        self.masks[((offset - AHBMASK) / 4) as usize]
    }
}
