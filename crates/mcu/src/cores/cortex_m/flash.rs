//! Registers of the flash interface.
//!
//! They set wait states, prefetch and accelerator. The wait states must suffice for the clock.
//!
//! FLASH_ACR in RM0091 section 3.5.1 (STM32F0), RM0041 section 2.3.3 with RM0008 section 3.3.3
//! (STM32F1), RM0090 section 3.9.1 (STM32F4), RM0410 section 3.7.1 (STM32F7), RM0432 section 3.7.1
//! (STM32L4+). The clock control registers lie here, too, because the wait states that are needed
//! depend on the clock that runs: the internal oscillator after reset, the machine's clock once the
//! program has switched to a crystal or the PLL.

use super::flash_interface::Interface;
use super::rcc::Rcc;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Fault, MemoryKind, Part, ResetCause};
use std::ops::Range;

/// FLASH_ACR, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Extra cycles of a read of the flash.
    pub wait_states: u8,
    /// True if the line after the current one is read ahead.
    pub prefetch: bool,
    /// STM32F4: instruction lines; STM32F7: the accelerator of the ITCM view.
    pub instruction_lines: bool,
    /// STM32F4: data lines.
    pub data_lines: bool,
}

/// Effect of a write on the flash interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// FLASH_ACR.
    pub settings: bool,
    /// The instruction lines were emptied.
    pub instruction_reset: bool,
    /// The data lines were emptied.
    pub data_reset: bool,
}

/// The registers of flash interface and clock.
#[derive(Clone)]
pub(super) struct FlashRegisters {
    pub interface: Interface,
    part: Part,
    clock_hz: u64,
    pub rcc: Rcc,
    acr: u32,
}

const F0_PRFTBE: u32 = 1 << 4;
const F0_PRFTBS: u32 = 1 << 5;
const F1_HLFCYA: u32 = 1 << 3;
const F4_PRFTEN: u32 = 1 << 8;
const F4_ICEN: u32 = 1 << 9;
const F4_DCEN: u32 = 1 << 10;
const F4_ICRST: u32 = 1 << 11;
const F4_DCRST: u32 = 1 << 12;
const L4_RUN_PD: u32 = 1 << 13;
const L4_SLEEP_PD: u32 = 1 << 14;

impl FlashRegisters {
    /// The registers of `part`, whose core runs at `clock_hz` once it has left the internal
    /// oscillator.
    pub fn new(part: &Part, clock_hz: u64) -> Result<FlashRegisters, String> {
        let interface = Interface::of(part)?;
        part.check_clock(clock_hz)?;
        let tightly_coupled = part.memories.iter().any(|memory| memory.kind == MemoryKind::Tcm);
        let rcc = Rcc::new(interface, &part.name, tightly_coupled);
        let mut registers = FlashRegisters { interface, part: part.clone(), clock_hz, rcc, acr: 0 };
        registers.reset();
        Ok(registers)
    }

    pub fn reset(&mut self) {
        self.rcc.reset();
        self.acr = match self.interface {
            // RM0008 section 3.3.3: the prefetch buffer is on after reset.
            Interface::F1 => F0_PRFTBE | F0_PRFTBS,
            Interface::F0 | Interface::F4 | Interface::F7 => 0,
            // RM0432, 3.7.1: the caches are on.
            Interface::L4 => F4_ICEN | F4_DCEN,
        };
    }

    /// Addresses of the registers. Those behind FLASH_ACR belong to a peripheral.
    pub fn range(&self) -> Range<u32> {
        self.clock_base()..self.base() + 4
    }

    fn base(&self) -> u32 {
        match self.interface {
            Interface::F0 | Interface::F1 | Interface::L4 => 0x4002_2000,
            Interface::F4 | Interface::F7 => 0x4002_3c00,
        }
    }

    fn clock_base(&self) -> u32 {
        match self.interface {
            Interface::F0 | Interface::F1 | Interface::L4 => 0x4002_1000,
            Interface::F4 | Interface::F7 => 0x4002_3800,
        }
    }

    pub fn settings(&self) -> Settings {
        match self.interface {
            Interface::F0 | Interface::F1 => Settings {
                wait_states: (self.acr & 7) as u8,
                prefetch: self.acr & F0_PRFTBE != 0,
                instruction_lines: false,
                data_lines: false,
            },
            Interface::F4 | Interface::L4 => Settings {
                wait_states: (self.acr & 15) as u8,
                // Section 3.5.2: reading ahead is of use from one wait state up.
                prefetch: self.acr & F4_PRFTEN != 0 && self.acr & 15 != 0,
                instruction_lines: self.acr & F4_ICEN != 0,
                data_lines: self.acr & F4_DCEN != 0,
            },
            Interface::F7 => Settings {
                wait_states: (self.acr & 15) as u8,
                prefetch: self.acr & F4_PRFTEN != 0,
                instruction_lines: self.acr & F4_ICEN != 0,
                data_lines: false,
            },
        }
    }

    fn fault(&self, device: &str, address: u32, pc: u32, what: String) -> Fault {
        Fault::Peripheral { pc, address, device: device.into(), what }
    }

    pub fn read(&self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        let word = if address >= self.base() {
            self.acr
        } else if address - self.clock_base() < self.rcc.size() {
            self.rcc.read((address - self.clock_base()) & !3)
        } else {
            return Err(Fault::Unmapped { pc, address, size, kind: "read" });
        };
        Ok(part_of_word(word, address, size))
    }

    pub fn write(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<Changed, Fault> {
        let merge = |old: u32| merged_word(old, address, size, value);
        if address >= self.base() {
            return self.write_acr(merge(self.acr), address, pc);
        }
        if address - self.clock_base() >= self.rcc.size() {
            return Err(Fault::Unmapped { pc, address, size, kind: "write" });
        }
        let offset = (address - self.clock_base()) & !3;
        let before = self.rcc.on_internal_oscillator();
        let written = self.rcc.write(offset, merge(self.rcc.read(offset)));
        written.map_err(|what| self.fault("RCC", address, pc, what.into()))?;
        if self.part.follows_clock() || before && !self.rcc.on_internal_oscillator() {
            self.check("RCC", address, pc)?;
        }
        Ok(Changed::default())
    }

    /// See [`Rcc::set_reset_cause`].
    pub fn set_reset_cause(&mut self, cause: ResetCause) {
        self.rcc.set_reset_cause(cause);
    }

    /// See [`Rcc::bus_dividers`].
    pub fn bus_dividers(&self) -> (u64, u64) {
        self.rcc.bus_dividers()
    }

    /// HCLK and the clock of 48 MHz, as the registers have them; with the target file's crystal, or
    /// the one that is given.
    pub fn usb_clock(&self) -> (u64, u64) {
        let crystal_hz = self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0);
        (self.rcc.hclk_hz(crystal_hz), self.rcc.clock48_hz(crystal_hz))
    }

    /// The modules' clocks: [`Rcc::i2c_clocks`], [`Rcc::converter_hz`], [`Rcc::usart_clocks`].
    pub fn module_clocks(&self) -> Vec<u64> {
        let crystal_hz = self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0);
        let converter_hz = self.rcc.converter_hz(crystal_hz).unwrap_or(0);
        let i2c = self.rcc.i2c_clocks(crystal_hz).into_iter();
        i2c.chain([converter_hz]).chain(self.rcc.usart_clocks(crystal_hz)).collect()
    }

    /// See [`Rcc::rtc_clock`]; the LSI is the one that the watchdog counts.
    pub fn rtc_clock(&self) -> (u64, bool) {
        let crystal_hz = self.part.clock.as_ref().and_then(|clock| clock.crystal_hz).unwrap_or(0);
        let watchdog = self.part.peripherals.iter().find(|spec| spec.model == "stm32-iwdg");
        let lsi_hz = watchdog.and_then(|spec| spec.settings.get("lsi_hz")).copied().unwrap_or(0);
        self.rcc.rtc_clock(crystal_hz, lsi_hz as u64)
    }

    /// The core's clock, where it is what the program sets.
    pub fn core_clock_hz(&self) -> Option<u64> {
        self.part.followed_crystal_hz().map(|crystal_hz| self.rcc.hclk_hz(crystal_hz))
    }

    fn write_acr(&mut self, value: u32, address: u32, pc: u32) -> Result<Changed, Fault> {
        let known = match self.interface {
            Interface::F0 => 7 | F0_PRFTBE | F0_PRFTBS,
            Interface::F1 => 7 | F1_HLFCYA | F0_PRFTBE | F0_PRFTBS,
            Interface::F4 => 7 | F4_PRFTEN | F4_ICEN | F4_DCEN | F4_ICRST | F4_DCRST,
            Interface::F7 => 15 | F4_PRFTEN | F4_ICEN | F4_ICRST,
            Interface::L4 => {
                15 | F4_PRFTEN | F4_ICEN | F4_DCEN | F4_ICRST | F4_DCRST | L4_RUN_PD | L4_SLEEP_PD
            }
        };
        if value & !known != 0 {
            return Err(self.fault(
                "FLASH",
                address,
                pc,
                format!("FLASH_ACR: reserved bits set: {value:#010x}"),
            ));
        }
        let mut changed = Changed { settings: true, ..Changed::default() };
        match self.interface {
            Interface::F0 | Interface::F1 => {
                let status = if value & F0_PRFTBE == 0 { 0 } else { F0_PRFTBS };
                self.acr = value & !F0_PRFTBS | status;
                if value & F1_HLFCYA != 0
                    && self.interface == Interface::F1
                    && self.core_clock_hz().unwrap_or(self.clock_hz) > 8_000_000
                {
                    let what = "half-cycle access above 8 MHz (RM0041, section 2.3.3)".into();
                    return Err(self.fault("FLASH", address, pc, what));
                }
            }
            Interface::F4 | Interface::F7 | Interface::L4 => {
                // RM0090, section 3.9.1: ICRST of the STM32F4 is only written.
                self.acr = if self.interface == Interface::F4 { value & !F4_ICRST } else { value };
                changed.instruction_reset = value & F4_ICRST != 0;
                changed.data_reset = value & F4_DCRST != 0;
            }
        }
        self.check("FLASH", address, pc)?;
        Ok(changed)
    }

    /// Checks that the wait states suffice for the clock that runs; the real part would misread.
    fn check(&self, device: &str, address: u32, pc: u32) -> Result<(), Fault> {
        let clock_hz = if let Some(clock_hz) = self.core_clock_hz() {
            clock_hz
        } else if self.rcc.on_internal_oscillator() {
            self.clock_hz.min(self.rcc.internal_oscillator_hz())
        } else {
            self.clock_hz
        };
        let set = self.settings().wait_states;
        match self.part.wait_states(clock_hz, self.part.supply_v) {
            Some(needed) if set >= needed => Ok(()),
            needed => {
                let needed = needed.map_or_else(|| "more than it has".into(), |needed| needed.to_string());
                let instead = match self.part.followed_crystal_hz() {
                    Some(crystal_hz) if self.rcc.hclk_hz(2 * crystal_hz) != clock_hz => {
                        format!(
                            "say which crystal the board has, where it is not a crystal of {} MHz",
                            crystal_hz as f64 / 1e6
                        )
                    }
                    _ => "run the machine at the clock that the program sets".into(),
                };
                let what = format!(
                    "{set} wait states are too few: the flash needs {needed} at {} MHz and {} V; set them first, or {instead}",
                    clock_hz as f64 / 1e6,
                    self.part.supply_v
                );
                Err(self.fault(device, address, pc, what))
            }
        }
    }
}
