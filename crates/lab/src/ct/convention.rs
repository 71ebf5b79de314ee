//! Places of a function's arguments at its call, by the calling convention of each family.
//!
//! Sources: avr-gcc's ABI (wiki "avr-gcc", section "Calling Convention"), AAPCS (IHI 0042, section
//! 6.5), the RISC-V psABI for ILP32E, the MSP430 EABI (SLAA534, section 3.3), sdcc's manual
//! (section "Parameters and local variables") and what sdcc 4.2.0 does for the 68HC08, GCC's
//! `m32c_function_arg`. Arguments are numbers and pointers of up to eight bytes.

use crate::LabError;
use ::firmware::Firmware;
use ::firmware::c_types::Parameter;
use mcu::{CoreName, Mcu, Role};
use std::ops::Range;

/// Offset at which ELF files put an AVR's data space.
const AVR_DATA: u32 = 0x80_0000;
/// Addresses of the 8051's external and internal data.
const EXTERNAL: u32 = 0x1_0000;
const INTERNAL: u32 = 0x2_0000;

/// A part of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Bits of a register, by its index in [`Mcu::register_names`].
    Register {
        index: usize,
        bits: u32,
    },
    Memory(Range<u32>),
}

/// Registers and memory that arguments take, from the first on.
struct Walk<'a> {
    machine: &'a dyn Mcu,
    firmware: &'a Firmware,
    function: &'a str,
    /// Next register of those that arguments may have.
    next: u32,
    /// Address of the next argument on the stack.
    stack: u32,
    /// All further arguments are in memory.
    is_spilled: bool,
}

/// Returns the index of a register.
pub(super) fn register(machine: &dyn Mcu, name: &str) -> Option<usize> {
    machine.register_names().iter().position(|register| register.name.eq_ignore_ascii_case(name))
}

/// Returns the places of a function's arguments, the least significant part of each first; its
/// first instruction comes next.
///
/// # Errors
/// [`LabError::Usage`] where an argument cannot be found.
pub(super) fn arguments(
    machine: &dyn Mcu,
    core: CoreName,
    firmware: &Firmware,
    function: &str,
    sizes: &[u32],
) -> Result<Vec<Vec<Place>>, LabError> {
    let is_linked = machine.register_names().iter().any(|register| register.role == Role::Link);
    let return_bytes = match core {
        _ if is_linked => 0,
        CoreName::Avr6 | CoreName::R8c => 3,
        _ => 2,
    };
    // An AVR's stack pointer points below what was pushed last.
    let stack = if core.is_avr() { AVR_DATA + machine.sp() + 1 } else { machine.sp() };
    let next = if core.is_avr() { 26 } else { 0 };
    let mut walk = Walk { machine, firmware, function, next, stack: stack + return_bytes, is_spilled: false };
    let place = |(index, size): (usize, &u32)| match core {
        _ if core.is_avr() => walk.avr(*size),
        _ if core.is_cortex_m() => walk.cortex_m(*size),
        CoreName::QingkeV2 => walk.riscv(*size),
        CoreName::Msp430x => walk.msp430(*size),
        CoreName::Mcs51 => walk.mcs51(index, *size),
        CoreName::Hc08 => walk.hc08(index, *size),
        _ => walk.r8c(index, *size),
    };
    sizes.iter().enumerate().map(place).collect()
}

/// Bytes of an argument whose type is not known.
fn natural_size(core: CoreName) -> u32 {
    if core.is_cortex_m() || core == CoreName::QingkeV2 { 4 } else { 2 }
}

/// Bytes of each parameter; of those that the debug information does not name as many as an `int`
/// or a pointer has, up to the parameter `last`.
pub(super) fn sizes(core: CoreName, parameters: &[Parameter], last: usize) -> Vec<u32> {
    let natural = natural_size(core);
    // A pointer of sdcc's for the 8051 has a byte that says the memory.
    let pointer = if core == CoreName::Mcs51 { 3 } else { natural };
    let size = |parameter: &Parameter| match parameter.bytes {
        _ if parameter.is_pointer => pointer,
        Some(bytes) => u32::try_from(bytes).unwrap_or(natural),
        None => natural,
    };
    let known = parameters.iter().map(size);
    known.chain(std::iter::repeat(natural)).take(parameters.len().max(last + 1)).collect()
}

/// Returns the number that an argument is.
pub(super) fn value(machine: &dyn Mcu, core: CoreName, places: &[Place]) -> u64 {
    let registers = machine.registers();
    let mut bytes: Vec<u8> = Vec::new();
    for place in places {
        match place {
            Place::Register { index, bits } => {
                let value = (registers[*index].1 & bits) >> bits.trailing_zeros();
                let width = (bits.count_ones() / 8).max(1) as usize;
                bytes.extend(&value.to_le_bytes()[..width.min(4)]);
            }
            Place::Memory(range) => {
                let mut held = vec![0; range.len()];
                machine.peek(range.start, &mut held);
                if core.is_big_endian() {
                    held.reverse();
                }
                bytes.extend(held);
            }
        }
    }
    bytes.resize(8, 0);
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Returns the address, as ELF files have it, of the data that a pointer points to.
pub(super) fn pointed_to(core: CoreName, pointer: u64) -> u32 {
    let low = (pointer & 0xffff) as u32;
    match core {
        _ if core.is_avr() => AVR_DATA + low,
        // The tag of sdcc's generic pointers: 0x40 is internal data, 0x80 code.
        CoreName::Mcs51 => match pointer >> 16 & 0xff {
            0x40 => INTERNAL + low,
            0x80 => low,
            _ => EXTERNAL + low,
        },
        CoreName::Hc08 | CoreName::Msp430x | CoreName::R8c => low,
        _ => pointer as u32,
    }
}

impl Walk<'_> {
    fn named(&self, name: &str, bits: u32) -> Result<Place, LabError> {
        let index = register(self.machine, name)
            .ok_or_else(|| LabError::Usage(format!("the core has no register {name}")))?;
        Ok(Place::Register { index, bits })
    }

    /// An argument on the stack, which takes a multiple of `unit` bytes.
    fn on_stack(&mut self, size: u32, unit: u32) -> Place {
        let start = self.stack;
        self.stack += size.next_multiple_of(unit);
        Place::Memory(start..start + size)
    }

    /// From R25 downward to R8, each of an even number of bytes.
    fn avr(&mut self, size: u32) -> Result<Vec<Place>, LabError> {
        let taken = size.next_multiple_of(2);
        if self.is_spilled || self.next < 8 + taken {
            self.is_spilled = true;
            return Ok(vec![self.on_stack(size, 1)]);
        }
        self.next -= taken;
        (self.next..self.next + size).map(|number| self.named(&format!("r{number}"), 0xff)).collect()
    }

    /// R0 to R3; eight bytes begin in an even one.
    fn cortex_m(&mut self, size: u32) -> Result<Vec<Place>, LabError> {
        let words = size.div_ceil(4);
        if words == 2 {
            self.next = self.next.next_multiple_of(2);
        }
        if self.next + words > 4 {
            self.next = 4;
            self.stack = self.stack.next_multiple_of(4 * words.min(2));
            return Ok(vec![self.on_stack(size, 4)]);
        }
        self.next += words;
        (self.next - words..self.next).map(|number| self.named(&format!("r{number}"), !0)).collect()
    }

    /// A0 to A5; of eight bytes the upper word may be on the stack.
    fn riscv(&mut self, size: u32) -> Result<Vec<Place>, LabError> {
        let mut places = Vec::new();
        for _ in 0..size.div_ceil(4) {
            if self.next < 6 {
                places.push(self.named(&format!("a{}", self.next), !0)?);
                self.next += 1;
            } else {
                places.push(self.on_stack(4, 4));
            }
        }
        Ok(places)
    }

    /// R12 to R15. Of four bytes the upper half may be on the stack, and then so is all that
    /// follows.
    fn msp430(&mut self, size: u32) -> Result<Vec<Place>, LabError> {
        let words = size.div_ceil(2);
        let left = if self.is_spilled { 0 } else { 4 - self.next };
        let is_split = words == 2 && left == 1;
        if words > left && !is_split {
            return Ok(vec![self.on_stack(size, 2)]);
        }
        let mut places = Vec::new();
        for _ in 0..words.min(left) {
            places.push(self.named(&format!("r{}", 12 + self.next), 0xffff)?);
            self.next += 1;
        }
        if is_split {
            self.is_spilled = true;
            places.push(self.on_stack(2, 2));
        }
        Ok(places)
    }

    /// DPL, DPH, B and A for the first, variables for the others.
    fn mcs51(&mut self, index: usize, size: u32) -> Result<Vec<Place>, LabError> {
        if index > 0 || size > 4 {
            return self.variable(index, size);
        }
        let all = [("dptr", 0xff), ("dptr", 0xff00), ("b", 0xff), ("a", 0xff)];
        all.iter().take(size as usize).map(|(name, bits)| self.named(name, *bits)).collect()
    }

    /// A and X, of two bytes X the upper one, as long as both have room; then variables.
    fn hc08(&mut self, index: usize, size: u32) -> Result<Vec<Place>, LabError> {
        if self.is_spilled || self.next + size > 2 {
            self.is_spilled = true;
            return self.variable(index, size);
        }
        let first = self.next;
        self.next += size;
        (first..self.next).map(|number| self.named(["a", "x"][number as usize], 0xff)).collect()
    }

    /// R1 for the first and R2 for the second, of at most two bytes.
    fn r8c(&mut self, index: usize, size: u32) -> Result<Vec<Place>, LabError> {
        let bits = if size == 1 { 0xff } else { 0xffff };
        match index {
            0 if size <= 2 => Ok(vec![self.named("r1", bits)?]),
            1 if size == 2 => Ok(vec![self.named("r2", bits)?]),
            _ => Ok(vec![self.on_stack(size, 1)]),
        }
    }

    /// The variable that sdcc has for a parameter.
    fn variable(&self, index: usize, size: u32) -> Result<Vec<Place>, LabError> {
        let name = format!("{}_PARM_{}", self.function, index + 1);
        let symbol = self.firmware.symbol(&name)?;
        Ok(vec![Place::Memory(symbol.address..symbol.address + size)])
    }
}
