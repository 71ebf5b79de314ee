//! Reset and clock control (RCC), with the wait states of the flash (`FLASH_ACTLR`), because the
//! clock decides how many are needed: oscillators that are ready as soon as they are on, and the
//! switch of the system clock. HSE is never ready on a board without a crystal.
//!
//! CH32V003RM V1.4, sections 3.4 (RCC) and 16.3 (FLASH). The flash stays locked. Offsets without a
//! register read as zero and take zero.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockControl, ClockUpdate, Context, ControlRegister, Fault, GateRegister, Part, Peripheral,
    PeripheralSpec, ResetCause, Roles, Spec,
};

/// Section 3.3.4: the internal oscillator, and by how much the PLL multiplies its source.
const HSI_HZ: u64 = 24_000_000;
const PLL_FACTOR: u64 = 2;

/// The index of the register at an offset in bytes.
const fn word(offset: usize) -> usize {
    offset / 4
}

/// RCC_CTLR, its bits, and what it is after a reset; HSICAL differs from part to part and reads as
/// 0.
const CTLR: usize = word(0x00);
const HSION: u32 = 1 << 0;
const HSIRDY: u32 = 1 << 1;
const HSEON: u32 = 1 << 16;
const HSERDY: u32 = 1 << 17;
const PLLON: u32 = 1 << 24;
const PLLRDY: u32 = 1 << 25;
const CTLR_WRITABLE: u32 = PLLON | CSSON | HSEBYP | HSEON | 0xf8 | HSION;
const HSEBYP: u32 = 1 << 18;
const CSSON: u32 = 1 << 19;
const CTLR_RESET: u32 = 0x83;

/// RCC_CFGR0.
const CFGR0: usize = word(0x04);
const SW: u32 = 3;
const SWS_SHIFT: u32 = 2;
const SWS: u32 = SW << SWS_SHIFT;
const HPRE_SHIFT: u32 = 4;
const PLLSRC: u32 = 1 << 16;
const SW_HSE: u32 = 1;
const SW_PLL: u32 = 2;
/// RCC_CFGR0 after a reset: HCLK is a third of SYSCLK, 8 MHz. The register description of CH32V00XRM,
/// 3.4.2, has it, and microzig measured it (its pull request 520); ch32v003.svd has zero.
const CFGR0_RESET: u32 = 2 << HPRE_SHIFT;

/// RCC_INTR: the enables of interrupts, whose flags never rise.
const INTR: usize = word(0x08);
const INTR_ENABLES: u32 = 0x1d << 8;

const AHBPCENR: usize = word(0x14);
const AHBPCENR_RESET: u32 = 0x04;

/// RCC_RSTSCKR: the low-speed oscillator, and what the last reset's cause was.
const RSTSCKR: usize = word(0x24);
const LSION: u32 = 1 << 0;
const LSIRDY: u32 = 1 << 1;
const RMVF: u32 = 1 << 24;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const IWDGRSTF: u32 = 1 << 29;
const WWDGRSTF: u32 = 1 << 30;
const CAUSES: u32 = 0xfe00_0000;

const WORDS: usize = RSTSCKR + 1;
/// Bytes of each of the two blocks, as the memory map has them.
const BLOCK: u32 = 0x400;
/// The bits that keep what is written, register by register, those of CTLR and RSTSCKR aside.
const KEPT: [u32; WORDS] = [0, 0x0701_fff3, 0, 0x5a35, 0x1020_0801, 0x5, 0x5a35, 0x1020_0801, 0, 0];

/// The enables of peripherals' clocks, and their resets: sections 3.4.4 to 3.4.8; TIM2RST: WCH's
/// header as ch32fun has it (ch32v003hw.h).
static GATES: &[GateRegister] = &[
    GateRegister {
        enable: ControlRegister::new("RCC_AHBPCENR", 0x14, "EN"),
        reset: None,
        in_sleep: None,
        is_bus_only: false,
        fields: &[(0, "DMA1")],
    },
    GateRegister {
        enable: ControlRegister::new("RCC_APB2PCENR", 0x18, "EN"),
        reset: Some(ControlRegister::new("RCC_APB2PRSTR", 0x0c, "RST")),
        in_sleep: None,
        is_bus_only: false,
        fields: &[
            (0, "AFIO"),
            (2, "IOPA"),
            (4, "IOPC"),
            (5, "IOPD"),
            (9, "ADC1"),
            (11, "TIM1"),
            (12, "SPI1"),
            (14, "USART1"),
        ],
    },
    GateRegister {
        enable: ControlRegister::new("RCC_APB1PCENR", 0x1c, "EN"),
        reset: Some(ControlRegister::new("RCC_APB1PRSTR", 0x10, "RST")),
        in_sleep: None,
        is_bus_only: false,
        fields: &[(0, "TIM2"), (11, "WWDG"), (21, "I2C1"), (28, "PWR")],
    },
];

/// FLASH_ACTLR and FLASH_STATR, from the flash's base.
const ACTLR: u32 = 0x00;
const STATR: u32 = 0x0c;
const LATENCY: u32 = 3;
/// FLASH_STATR after a reset: BOOT_LOCK; BOOT_MODE.
const STATR_RESET: u32 = 0x8000;
const BOOT_MODE: u32 = 1 << 14;
/// FLASH_CTLR after a reset: FLOCK and LOCK; what it starts.
const FLASH_CTLR: u32 = 0x10;
const FLASH_CTLR_RESET: u32 = 0x8080;
const FLASH_COMMANDS: u32 = 0x000f_1677;
/// FLASH_OBR and FLASH_WPR as the option bytes of a new part leave them.
const OBR: u32 = 0x1c;
const OBR_RESET: u32 = 0x03ff_fffe;
const WPR: u32 = 0x20;
/// FLASH_KEYR, OBKEYR, ADDR, MODEKEYR, BOOT_MODEKEYP: only written.
const KEYS: [u32; 5] = [0x04, 0x08, 0x14, 0x24, 0x28];

/// The registers.
#[derive(Clone)]
pub struct Rcc {
    name: String,
    base: u32,
    flash_base: u32,
    part: Part,
    clock_hz: u64,
    words: [u32; WORDS],
    latency: u32,
}

impl Rcc {
    /// RCC at `spec.base`, FLASH at `settings.flash_base`.
    ///
    /// # Errors
    /// No base for the flash, or a clock above what the target file allows.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Rcc, String> {
        let flash_base = spec.settings.get("flash_base").and_then(|base| u32::try_from(*base).ok());
        let flash_base =
            flash_base.ok_or_else(|| format!("{}: {} needs flash_base", part.name, spec.name))?;
        if part.wait_states(part.default_clock_hz, f64::MAX).is_none() {
            return Err(format!("{}: {} Hz is above its limit", part.name, part.default_clock_hz));
        }
        let mut rcc = Rcc {
            name: spec.name.clone(),
            base: spec.base,
            flash_base,
            part: part.clone(),
            clock_hz: part.default_clock_hz,
            words: [0; WORDS],
            latency: 0,
        };
        rcc.reset();
        Ok(rcc)
    }

    /// The crystal's frequency; 0 on a board without one.
    fn hse_hz(&self) -> u64 {
        self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0)
    }

    fn sysclk_hz(&self) -> u64 {
        let is_hse = self.words[CFGR0] & PLLSRC != 0;
        match (self.words[CFGR0] & SWS) >> SWS_SHIFT {
            SW_HSE => self.hse_hz(),
            SW_PLL => PLL_FACTOR * if is_hse { self.hse_hz() } else { HSI_HZ },
            _ => HSI_HZ,
        }
    }

    /// The bits of CTLR of what makes the system clock.
    fn in_use(&self) -> u32 {
        match (self.words[CFGR0] & SWS) >> SWS_SHIFT {
            SW_HSE => HSEON,
            SW_PLL if self.words[CFGR0] & PLLSRC != 0 => PLLON | HSEON,
            SW_PLL => PLLON,
            _ => 0,
        }
    }

    /// RCC_CFGR0.HPRE: 1 to 8, then powers of two up to 256, without 32.
    fn hclk_hz(&self) -> u64 {
        let divider = match self.words[CFGR0] >> HPRE_SHIFT & 15 {
            setting @ 0..8 => u64::from(setting) + 1,
            setting => 1 << (setting - 7),
        };
        self.sysclk_hz() / divider
    }

    /// Ready bits and the switch of the system clock follow what was written.
    fn follow(&mut self) {
        let ctlr = self.words[CTLR] & CTLR_WRITABLE;
        let ready = |on: u32, ready: u32| if ctlr & on != 0 { ready } else { 0 };
        let has_crystal = self.hse_hz() != 0;
        let hse = if has_crystal { ready(HSEON, HSERDY) } else { 0 };
        let has_source = self.words[CFGR0] & PLLSRC == 0 || hse != 0;
        let pll = if has_source { ready(PLLON, PLLRDY) } else { 0 };
        self.words[CTLR] = ctlr | ready(HSION, HSIRDY) | hse | pll;
        let source = self.words[CFGR0] & SW;
        let is_ready = source == 0 || source == SW_HSE && hse != 0 || source == SW_PLL && pll != 0;
        if is_ready {
            self.words[CFGR0] = self.words[CFGR0] & !SWS | source << SWS_SHIFT;
        }
        let lsi = self.words[RSTSCKR] & LSION;
        self.words[RSTSCKR] = self.words[RSTSCKR] & !LSIRDY | lsi << 1;
    }

    /// Refuses wait states that are too few for the clock: the part would misread.
    fn check(&self, address: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        let (sysclk_hz, set) = (self.sysclk_hz(), self.latency);
        let needed = self.part.wait_states(sysclk_hz, context.board.supply_v).map(u32::from);
        if needed.is_none_or(|needed| set < needed) {
            let needed = needed.map_or_else(|| "more than it has".into(), |needed| needed.to_string());
            let what = format!(
                "{set} wait states are too few: the flash needs {needed} while SYSCLK is {} MHz; set them first",
                sysclk_hz as f64 / 1e6
            );
            return context.refuse(&self.name, address, what);
        }
        let given = !self.part.follows_clock();
        let is_changed = self.words[CFGR0] & (SWS | 15 << HPRE_SHIFT) != CFGR0_RESET;
        if given && self.hclk_hz() > self.clock_hz && is_changed {
            let what = format!(
                "the program sets HCLK to {} MHz, but the machine is run at {} MHz: run it at the program's clock",
                self.hclk_hz() as f64 / 1e6,
                self.clock_hz as f64 / 1e6
            );
            return context.refuse(&self.name, address, what);
        }
        Ok(())
    }

    fn write_flash(&mut self, address: u32, value: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let offset = (address - self.flash_base) & !3;
        if offset != ACTLR {
            let what = match offset {
                STATR if value & BOOT_MODE == 0 => return Ok(()),
                FLASH_CTLR if value & FLASH_COMMANDS == 0 => return Ok(()),
                OBR | WPR => return Ok(()),
                STATR => "FLASH_STATR: the start from the boot memory is not modelled",
                offset if offset == FLASH_CTLR || KEYS.contains(&offset) => {
                    "FLASH_CTLR and its keys: programming and erasing the flash are not modelled"
                }
                _ if value == 0 => return Ok(()),
                _ => "a reserved place",
            };
            return context.refuse(&self.name, address, what);
        }
        if value > 1 {
            // CH32V003RM: other values are invalid. jnk0le/random found 3 or 4 wait states with 2
            // and with 3.
            let what = format!("FLASH_ACTLR {value:#x}: the manual has 0 and 1");
            return context.refuse(&self.name, address, what);
        }
        self.latency = value & LATENCY;
        context.events.flash.wait_states = self.latency as u8;
        self.check(address, context)
    }
}

impl Peripheral for Rcc {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [self.base..self.base + BLOCK, self.flash_base..self.flash_base + BLOCK],
        )
    }

    fn read(&mut self, address: u32, size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let value = if address >= self.flash_base {
            match (address - self.flash_base) & !3 {
                ACTLR => self.latency,
                STATR => STATR_RESET,
                FLASH_CTLR => FLASH_CTLR_RESET,
                OBR => OBR_RESET,
                WPR => u32::MAX,
                _ => 0,
            }
        } else {
            self.words.get((address - self.base) as usize / 4).copied().unwrap_or(0)
        };
        Ok(part_of_word(value, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if address >= self.flash_base {
            let held = if (address - self.flash_base) & !3 == ACTLR { self.latency } else { 0 };
            return self.write_flash(address, merged_word(held, address, size, value), context);
        }
        let index = (address - self.base) as usize / 4;
        let Some(before) = self.words.get(index).copied() else {
            let reserved = context.refuse(&self.name, address, "a reserved place");
            return if value == 0 { Ok(()) } else { reserved };
        };
        let value = merged_word(before, address, size, value);
        self.words[index] = match index {
            CFGR0 if value & SW == 3 => {
                return context.refuse(&self.name, address, "RCC_CFGR0: no such source of the clock (SW)");
            }
            CFGR0 if (before ^ value) & PLLSRC != 0 && self.words[CTLR] & PLLON != 0 => {
                let what = "RCC_CFGR0.PLLSRC can be written while the PLL is off alone";
                return context.refuse(&self.name, address, what);
            }
            CFGR0 => value & KEPT[CFGR0] | before & SWS,
            INTR if value & INTR_ENABLES != 0 => {
                return context.refuse(&self.name, address, "RCC_INTR: its interrupts are not modelled");
            }
            // Section 3.4.1: what makes the system clock cannot be switched off.
            CTLR => value | HSION | self.in_use(),
            // The causes of the last reset stay until RMVF clears them.
            RSTSCKR => value & LSION | if value & RMVF != 0 { 0 } else { before & CAUSES },
            AHBPCENR => value & KEPT[index] | AHBPCENR_RESET & !KEPT[index],
            _ => value & KEPT[index],
        };
        self.follow();
        if index == CFGR0 { self.check(address, context) } else { Ok(()) }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.words = [0; WORDS];
        self.words[CTLR] = CTLR_RESET;
        self.words[CFGR0] = CFGR0_RESET;
        self.words[AHBPCENR] = AHBPCENR_RESET;
        self.words[RSTSCKR] = PORRSTF | PINRSTF;
        self.latency = 0;
    }

    /// All but power-up and brown-out leave PORRSTF, and every reset but that of the pin leaves its
    /// own flag.
    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        self.reset();
        self.words[RSTSCKR] = match cause {
            ResetCause::PowerOn | ResetCause::BrownOut => PORRSTF | PINRSTF,
            ResetCause::External => PINRSTF,
            ResetCause::Watchdog => IWDGRSTF | PINRSTF,
            ResetCause::WindowWatchdog => WWDGRSTF | PINRSTF,
            ResetCause::Software | ResetCause::OptionBytes | ResetCause::Password(_) => SFTRSTF | PINRSTF,
        };
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for Rcc {
    fn core_clock_hz(&self) -> Option<u64> {
        self.part.follows_clock().then(|| self.hclk_hz())
    }

    fn gates(&self) -> &'static [GateRegister] {
        GATES
    }

    fn gate_register(&self, offset: u32) -> u32 {
        self.words.get(word(offset as usize)).copied().unwrap_or(0)
    }
}
