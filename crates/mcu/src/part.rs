//! Description of a microcontroller, as `targets/*.toml` states it.
//!
//! The file has more tables than these (`[toolchain]`, `[supply]`); each is read by the crate that
//! needs it.

use crate::{ClockSources, Fuses};
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use thiserror::Error;

/// The processor cores that have a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreName {
    /// AVR with up to 8 kB of flash: no `MUL`, no `JMP` and `CALL`, vectors of one word (avr25).
    Avr25,
    /// AVR with up to 64 kB of flash reachable by `LPM`, 16-bit program counter (avr5).
    Avr5,
    /// AVR with RAMPZ and `ELPM`, 128 kB of flash, 16-bit program counter (avr51).
    Avr51,
    /// AVR with RAMPZ and EIND, 256 kB of flash, 22-bit program counter (avr6).
    Avr6,
    /// Motorola (Freescale) CPU08, the processor of the MC68HC08 and MC68HC908.
    Hc08,
    /// MCS-51 with twelve clocks to a machine cycle, the processor of the 8051 and 80C51.
    Mcs51,
    /// MSP430X, the CPUX of the MSP430F5xx (20-bit addresses).
    Msp430x,
    /// R8C/Tiny, 16-bit CPU with the instruction set of the M16C/60.
    R8c,
    /// QingKe V2A of WCH, RISC-V RV32EC with the instructions `xw`.
    QingkeV2,
    /// ARM Cortex-M0 (ARMv6-M).
    CortexM0,
    /// ARM Cortex-M0+ (ARMv6-M with VTOR).
    #[serde(rename = "cortex-m0plus")]
    CortexM0Plus,
    /// ARM Cortex-M3 (ARMv7-M).
    CortexM3,
    /// ARM Cortex-M4 (ARMv7E-M).
    CortexM4,
    /// ARM Cortex-M7 (ARMv7E-M, dual issue).
    CortexM7,
}

impl CoreName {
    /// Returns true if a push moves the stack pointer up, as only on the 8051.
    #[must_use]
    pub fn stack_grows_up(self) -> bool {
        self == CoreName::Mcs51
    }

    /// Returns true for a Cortex-M.
    #[must_use]
    pub fn is_cortex_m(self) -> bool {
        matches!(
            self,
            CoreName::CortexM0
                | CoreName::CortexM0Plus
                | CoreName::CortexM3
                | CoreName::CortexM4
                | CoreName::CortexM7
        )
    }

    /// Returns true for an AVR.
    #[must_use]
    pub fn is_avr(self) -> bool {
        matches!(self, CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6)
    }

    /// The address of a register as target files have it: on an AVR without the ELF's 0x800000.
    fn register_address(self, address: u32) -> u32 {
        if self.is_avr() { address & 0xffff } else { address }
    }

    /// Returns true if the more significant byte of a number comes first in memory, as only on the
    /// 68HC08.
    #[must_use]
    pub fn is_big_endian(self) -> bool {
        self == CoreName::Hc08
    }
}

/// Kind of a memory, which decides on its timing and on the writers that it admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Program memory behind the flash interface of [`FlashTiming`].
    Flash,
    /// RAM on the bus.
    Ram,
    /// Tightly coupled memory: no wait states, never cached (Cortex-M7; also STM32F4's CCM).
    Tcm,
    /// Byte-erasable non-volatile memory.
    Eeprom,
    /// Ferroelectric memory: written as RAM, kept without power, with wait states and a cache
    /// (MSP430FR5xx).
    Fram,
    /// The manufacturer's program (RP2040): what is there in its place is in
    /// `cores/cortex_m/boot_rom.rs`.
    Rom,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its name in the data sheet, lower case.
    pub name: String,
    /// The technology of its cells.
    pub kind: MemoryKind,
    /// First address, in ELF addresses.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// Other addresses at which the same bytes appear (STM32: flash at 0, too; STM32F7: ITCM view
    /// of the flash).
    #[serde(default)]
    pub aliases: Vec<u32>,
    /// A second block of the same memory, with a port of its own at the bus (STM32F4: SRAM2 after
    /// SRAM1).
    #[serde(default)]
    pub second_bank: Option<SecondBank>,
}

/// The part of a RAM whose data comes a cycle later, unless the instruction before had it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondBank {
    /// Its first address; it ends with the memory.
    pub start: u32,
    /// Stores wait like loads.
    pub stores_wait: bool,
    /// Other addresses at which its bytes appear (STM32L4: on the code bus, too).
    #[serde(default)]
    pub aliases: Vec<BankAlias>,
}

/// Second address range of the first bytes of a second block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankAlias {
    /// First address.
    pub start: u32,
    /// Bytes.
    pub size: u32,
}

impl Memory {
    /// Address ranges of the memory's bytes: first address, size, and offset in the memory.
    pub(crate) fn appearances(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let whole = std::iter::once(self.start).chain(self.aliases.iter().copied());
        let banks = self.second_bank.iter().flat_map(move |bank| {
            let inside = bank.start - self.start;
            bank.aliases.iter().map(move |alias| (alias.start, alias.size.min(self.size - inside), inside))
        });
        whole.map(|start| (start, self.size, 0)).chain(banks)
    }
}

/// The wait states of the flash up to a clock, at a supply from `min_v` up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitStates {
    /// Extra cycles of one flash access.
    pub cycles: u8,
    /// Highest clock for this many, in Hz.
    pub max_hz: u64,
    /// Lowest supply for this row, in volts.
    #[serde(default)]
    pub min_v: f64,
}

/// Timing of the flash. Absent for parts whose flash keeps up with the core at every clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashTiming {
    /// Manual, document number and table.
    pub source: String,
    /// Interface: `stm32f0`, `stm32f1` (both: prefetch buffer), `stm32f4` (ART), `stm32f7` (ART on
    /// ITCM, caches on AXI), `stm32l4` (as the F4's), `samd21` (cache of eight lines), `nrf52`
    /// (instruction cache), `rp2040` (serial flash behind a cache), `frctl-a` (FRAM behind a
    /// cache).
    pub interface: String,
    /// Bits of one flash line as the interface reads it: 32, 64, 128 or 256.
    pub line_bits: u16,
    /// By clock and supply, rising.
    pub wait_states: Vec<WaitStates>,
}

/// A peripheral: which model, where, and its settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeripheralSpec {
    /// Its name in the data sheet: `PORTB`, `USART1`.
    pub name: String,
    /// Model: the name of a file in `crates/mcu/src/peripherals`, with dashes.
    pub model: String,
    /// First register address, in ELF addresses without AVR's 0x800000.
    pub base: u32,
    /// Interrupt vector or IRQ number, where it has one.
    #[serde(default)]
    pub irq: Option<u8>,
    /// Further settings that only its model knows, integers by name.
    #[serde(default)]
    pub settings: std::collections::BTreeMap<String, i64>,
    /// The pins at which its signals may be, by the signal's name in the data sheet without its own
    /// (`CH1`): `PA8 AF1` for alternate function 1 of that pin, `PA8 REMAP0` where a field of
    /// AFIO_MAPR must be 0 (STM32F1), `P1.2 SEL1` for PxSEL1:PxSEL0 (MSP430).
    #[serde(default)]
    pub pins: std::collections::BTreeMap<String, Vec<String>>,
    /// In place of its model there are registers that remember what was written.
    #[serde(default)]
    pub stub: bool,
}

impl PeripheralSpec {
    /// Its interrupts, a bit each: `irq`, and the settings whose names begin or end with that.
    pub(crate) fn interrupt_lines(&self) -> u128 {
        let named = |(name, _): &(&String, &i64)| name.starts_with("irq") || name.ends_with("_irq");
        let settings = self.settings.iter().filter(named).filter_map(|(_, irq)| u8::try_from(*irq).ok());
        settings.chain(self.irq).filter(|irq| *irq < 128).fold(0, |lines, irq| lines | 1 << irq)
    }
}

/// Clock source of a bridge's peripheral bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BridgeClock {
    /// The core's clock.
    Core,
    /// STM32: HCLK divided as RCC sets it for APB1.
    Apb1,
    /// STM32: HCLK divided as RCC sets it for APB2.
    Apb2,
    /// SAM D21: the main clock divided by PM's APBASEL, with the core's divided by CPUSEL.
    Apba,
    /// SAM D21: as above, by APBBSEL.
    Apbb,
    /// SAM D21: as above, by APBCSEL.
    Apbc,
}

/// A bridge from the core's bus (AHB) to a peripheral bus (APB).
///
/// A transfer takes two clocks of the peripheral bus, SETUP and ACCESS (AMBA 3 APB, IHI 0024B,
/// section 2.1), and begins with one of its edges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// The bus's name in the data sheet.
    pub name: String,
    /// First address behind it.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// The clock of the bus behind it.
    pub clock: BridgeClock,
    /// Cycles of the core for which the bridge itself keeps a read.
    pub read_cycles: u8,
    /// Cycles of the core for which the bridge itself keeps a write.
    pub write_cycles: u8,
    /// Manual or measurement.
    pub source: String,
}

impl Bridge {
    /// Cycles that an access waits beyond one to RAM, where a clock of the peripheral bus is
    /// `divider` of the core's.
    #[must_use]
    pub fn waits(&self, store: bool, now: u64, divider: u64) -> u32 {
        let kept = u64::from(if store { self.write_cycles } else { self.read_cycles });
        let edge = now.next_multiple_of(divider) - now;
        u32::try_from(edge + 2 * divider - 1 + kept).unwrap_or(u32::MAX)
    }
}

/// A block of the part's registers that has no model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unmodelled {
    /// Its name in the data sheet: `RNG`, `DMA1`.
    pub name: String,
    /// First register address, as in [`PeripheralSpec::base`].
    pub base: u32,
    /// Bytes.
    pub size: u32,
    /// There are registers that remember what was written; otherwise an access is a fault.
    #[serde(default)]
    pub stub: bool,
    /// It is a USB controller: boards have their console there.
    #[serde(default)]
    pub usb: bool,
}

impl Unmodelled {
    /// Its addresses.
    #[must_use]
    pub fn range(&self) -> Range<u32> {
        self.base..self.base.saturating_add(self.size)
    }
}

/// The maker's choices where Arm leaves the core open: `[cortex_m]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreOptions {
    /// Manual, document number and sections.
    pub source: String,
    /// Interrupts of the NVIC, 128 at most.
    pub interrupts: u8,
    /// Bits of a priority.
    pub priority_bits: u8,
    /// CPUID.
    pub cpuid: u32,
    /// SYST_CALIB.
    pub systick_calibration: u32,
    /// Cycles of the core in one of SysTick's reference clock; absent where there is no such clock,
    /// or none in the model.
    #[serde(default)]
    pub systick_divider: Option<u8>,
    /// Regions of the memory protection unit; 0 where the part has none.
    #[serde(default)]
    pub mpu_regions: u8,
    /// Comparators of the FPB for instructions (ARMv7-M).
    #[serde(default)]
    pub breakpoints: u8,
    /// Comparators of the FPB for literals (ARMv7-M).
    #[serde(default)]
    pub literals: u8,
    /// Comparators of the DWT (ARMv7-M).
    #[serde(default)]
    pub watchpoints: u8,
}

impl CoreOptions {
    /// The options of a part whose target file names none: as many of each as the core can have in
    /// common parts.
    fn usual(core: CoreName) -> CoreOptions {
        let v7 = matches!(core, CoreName::CortexM3 | CoreName::CortexM4 | CoreName::CortexM7);
        let m7 = core == CoreName::CortexM7;
        CoreOptions {
            source: String::new(),
            interrupts: if v7 { 128 } else { 32 },
            priority_bits: if v7 { 4 } else { 2 },
            cpuid: match core {
                CoreName::CortexM0 => 0x410c_c200,
                CoreName::CortexM0Plus => 0x410c_c601,
                CoreName::CortexM3 => 0x411f_c231,
                CoreName::CortexM7 => 0x411f_c270,
                _ => 0x410f_c241,
            },
            systick_calibration: 0,
            systick_divider: Some(8),
            mpu_regions: if matches!(core, CoreName::CortexM4 | CoreName::CortexM7) { 8 } else { 0 },
            breakpoints: if m7 { 8 } else { 6 },
            literals: if m7 { 0 } else { 2 },
            watchpoints: 4,
        }
    }

    /// The option that no core has.
    fn problem(&self) -> Option<String> {
        let within = [
            ("interrupts", self.interrupts, 1..=128),
            ("priority_bits", self.priority_bits, 2..=8),
            ("systick_divider", self.systick_divider.unwrap_or(1), 1..=u8::MAX),
            ("mpu_regions", self.mpu_regions, 0..=8),
            ("breakpoints", self.breakpoints, 0..=8),
            ("literals", self.literals, 0..=2),
            ("watchpoints", self.watchpoints, 0..=4),
        ];
        let (name, value, range) = within.into_iter().find(|(_, value, range)| !range.contains(value))?;
        Some(format!("[cortex_m]: {name} = {value}; it is {} to {}", range.start(), range.end()))
    }
}

/// A microcontroller, as the processor models need it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Part {
    /// Target name, as on the command line.
    pub name: String,
    /// Manufacturer and part, for a person.
    pub description: String,
    /// Its core.
    pub core: CoreName,
    /// Clock where none is asked for, in Hz.
    pub default_clock_hz: u64,
    /// Clocks of one cycle as [`crate::Mcu::cycles`] counts them: 12 on an 8051, which counts
    /// machine cycles.
    #[serde(default = "one")]
    pub clocks_per_cycle: u8,
    /// Its memories.
    #[serde(rename = "memory")]
    pub memories: Vec<Memory>,
    /// Its flash interface.
    #[serde(default)]
    pub flash: Option<FlashTiming>,
    /// Sources of its clocks; absent where the program cannot choose, or the choice is not
    /// modelled.
    #[serde(default)]
    pub clock: Option<ClockSources>,
    /// Its fuses and its signature (AVR).
    #[serde(default)]
    pub fuses: Option<Fuses>,
    /// Its peripherals.
    #[serde(rename = "peripheral", default)]
    pub peripherals: Vec<PeripheralSpec>,
    /// Its bridges to peripheral buses. An access to a peripheral behind none takes what one to RAM
    /// takes.
    #[serde(rename = "bridge", default)]
    pub bridges: Vec<Bridge>,
    /// Blocks of the part without a model.
    #[serde(default)]
    pub unmodelled: Vec<Unmodelled>,
    /// Supply in volts, at which a machine begins: the target file's `default_v`, until somebody
    /// asks for another one.
    #[serde(rename = "supply", default = "usual_supply", deserialize_with = "default_supply")]
    pub supply_v: f64,
    /// The options of its core (Cortex-M).
    #[serde(rename = "cortex_m", default)]
    pub core_options: Option<CoreOptions>,
    /// Vector table from which a reset starts, as a bootloader does: see
    /// [`crate::vectors_behind_bootloader`].
    #[serde(skip)]
    pub vectors: Option<u32>,
}

/// First address and bytes of `0x50050000-0x500503ff`.
fn base_and_size(addresses: &str) -> Option<(u32, u32)> {
    let number = |text: &str| u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
    let (first, last) = addresses.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    Some((first, last.checked_sub(first)?.checked_add(1)?))
}

fn one() -> u8 {
    1
}

fn usual_supply() -> f64 {
    3.3
}

/// `default_v` of the table `[supply]`.
fn default_supply<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    struct Supply {
        default_v: Option<f64>,
    }
    Ok(Supply::deserialize(deserializer)?.default_v.unwrap_or_else(usual_supply))
}

/// A target file that does not say what it must.
#[derive(Clone, Debug, Error)]
#[error("target file: {0}")]
pub struct PartError(String);

impl Part {
    /// Reads the part out of a target file.
    ///
    /// # Errors
    /// A field is missing or wrong; the text has its line.
    pub fn from_toml(text: &str) -> Result<Part, PartError> {
        let part: Part = toml::from_str(text).map_err(|error| PartError(error.to_string()))?;
        if part.clocks_per_cycle == 0 {
            return Err(PartError("clocks_per_cycle must be at least 1".into()));
        }
        if let Some(problem) = part.core_options.as_ref().and_then(CoreOptions::problem) {
            return Err(PartError(problem));
        }
        for memory in &part.memories {
            let inside = memory.start..memory.start.saturating_add(memory.size);
            if memory.second_bank.as_ref().is_some_and(|bank| !inside.contains(&bank.start)) {
                return Err(PartError(format!("second_bank is outside of memory {}", memory.name)));
            }
        }
        Ok(part)
    }

    /// The memory that an address lies in, also at another of its addresses.
    #[must_use]
    pub fn memory_at(&self, address: u32) -> Option<&Memory> {
        self.memories.iter().find(|memory| {
            let mut appearances = memory.appearances();
            appearances.any(|(start, size, _)| address.checked_sub(start).is_some_and(|offset| offset < size))
        })
    }

    /// The bridge that an address lies behind.
    #[inline]
    pub(crate) fn bridge_at(&self, address: u32) -> Option<&Bridge> {
        self.bridges.iter().find(|bridge| address.wrapping_sub(bridge.start) < bridge.size)
    }

    /// The block without a model that a register address lies in.
    #[must_use]
    pub fn unmodelled_at(&self, address: u32) -> Option<&Unmodelled> {
        let address = self.core.register_address(address);
        self.unmodelled.iter().find(|block| block.range().contains(&address))
    }

    /// Gives a peripheral or a block without a model registers that remember what was written, by
    /// its name or, where it has none in the target file, by its addresses,
    /// `0x50050000-0x500503ff`, of which what has a model keeps it. False where there is no such
    /// name.
    pub fn stub(&mut self, name: &str) -> bool {
        if let Some(spec) = self.peripherals.iter_mut().find(|spec| spec.name == name) {
            spec.stub = true;
        } else if let Some(block) = self.unmodelled.iter_mut().find(|block| block.name == name) {
            block.stub = true;
        } else if let Some((base, size)) = base_and_size(name) {
            let base = self.core.register_address(base);
            self.unmodelled.push(Unmodelled { name: name.into(), base, size, stub: true, usb: false });
        } else {
            return false;
        }
        true
    }

    /// The options of its core: the target file's, or the usual ones.
    pub(crate) fn core_options(&self) -> CoreOptions {
        self.core_options.clone().unwrap_or_else(|| CoreOptions::usual(self.core))
    }

    /// Returns true if the core runs at the clock that the program sets.
    pub(crate) fn follows_clock(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| clock.followed)
    }

    /// The crystal's frequency, where the core runs at the clock that the program sets.
    pub(crate) fn followed_crystal_hz(&self) -> Option<u64> {
        self.clock.as_ref().filter(|clock| clock.followed).map(|clock| clock.crystal_hz.unwrap_or(0))
    }

    /// Checks that the flash allows the clock at the part's supply. A part whose program sets its
    /// clock passes.
    pub(crate) fn check_clock(&self, clock_hz: u64) -> Result<(), String> {
        if self.follows_clock() || self.wait_states(clock_hz, self.supply_v).is_some() {
            return Ok(());
        }
        let flash = self.flash.as_ref();
        let rows = flash.iter().flat_map(|flash| &flash.wait_states).filter(|row| self.supply_v >= row.min_v);
        let limit = rows.map(|row| row.max_hz).max().unwrap_or(0);
        let source = flash.map_or("", |flash| flash.source.as_str());
        let (name, supply_v) = (&self.name, self.supply_v);
        Err(format!("{name}: {clock_hz} Hz is above its limit of {limit} Hz at {supply_v} V ({source})"))
    }

    /// The wait states that the flash needs at this clock and supply; `None` where the part allows
    /// no such pair.
    #[must_use]
    pub fn wait_states(&self, clock_hz: u64, supply_v: f64) -> Option<u8> {
        let Some(flash) = &self.flash else { return Some(0) };
        flash
            .wait_states
            .iter()
            .filter(|row| clock_hz <= row.max_hz && supply_v >= row.min_v)
            .map(|row| row.cycles)
            .min()
    }
}
