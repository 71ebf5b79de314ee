//! Registers, flags, data space and program memory.

use super::decode::{InstructionSet, TOGETHER, decode, link};
use super::fuses::Programmed;
use super::opcode::{Op, Opcode, is_wide};
use super::sleep_modes::SleepRegister;
use crate::{Fault, Register, Role};
use std::sync::Arc;

/// The status register, each flag in a byte of its own in the form that arithmetic yields it in,
/// and put together only when it is read as a whole. An instruction writes all its flags in one
/// store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// H (bit 4), C (0 or 1), Z (set when zero), N, V (bit 7 each), S (bit 7 says that it is not N
    /// xor V, which only a program that writes it by itself can bring about), two unused.
    bytes: [u8; 8],
    pub t: bool,
    pub i: bool,
}

const H: usize = 0;
const C: usize = 1;
const Z: usize = 2;
const N: usize = 3;
const V: usize = 4;
const S: usize = 5;

impl Flags {
    pub fn to_byte(self) -> u8 {
        self.c()
            | u8::from(self.z()) << 1
            | u8::from(self.n()) << 2
            | u8::from(self.v()) << 3
            | u8::from(self.s()) << 4
            | u8::from(self.h()) << 5
            | u8::from(self.t) << 6
            | u8::from(self.i) << 7
    }

    pub fn from_byte(byte: u8) -> Flags {
        let mut flags = Flags { bytes: [0; 8], t: byte & 0x40 != 0, i: byte & 0x80 != 0 };
        flags.bytes[C] = byte & 1;
        flags.bytes[Z] = !byte & 2;
        flags.bytes[N] = byte << 5 & 0x80;
        flags.bytes[V] = byte << 4 & 0x80;
        flags.bytes[S] = (byte << 3 ^ byte << 4 ^ byte << 5) & 0x80;
        flags.bytes[H] = byte >> 1 & 0x10;
        flags
    }

    #[inline(always)]
    pub fn c(&self) -> u8 {
        self.bytes[C]
    }

    #[inline(always)]
    pub fn z(&self) -> bool {
        self.bytes[Z] == 0
    }

    #[inline(always)]
    pub fn n(&self) -> bool {
        self.bytes[N] >= 0x80
    }

    #[inline(always)]
    pub fn v(&self) -> bool {
        self.bytes[V] >= 0x80
    }

    #[inline(always)]
    pub fn s(&self) -> bool {
        self.bytes[N] ^ self.bytes[V] ^ self.bytes[S] >= 0x80
    }

    #[inline(always)]
    pub fn h(&self) -> bool {
        self.bytes[H] & 0x10 != 0
    }

    /// Z, N, V, S in the order of the bytes; S as N and V have it.
    #[inline(always)]
    fn zero_and_sign(z: u8, n: u8, v: u8) -> u32 {
        u32::from(z) | u32::from(n) << 8 | u32::from(v) << 16
    }

    /// All flags of an addition or subtraction: bit 4 of `carries` is the carry out of bit 3, bit 8
    /// that out of bit 7.
    #[inline(always)]
    fn arithmetic(&mut self, carries: u16, z: u8, n: u8, v: u8) {
        let word = u64::from(carries & 0x01FF) | u64::from(Self::zero_and_sign(z, n, v)) << 16;
        self.bytes = word.to_le_bytes();
    }

    /// Z, N, V and S alone.
    #[inline(always)]
    fn sign(&mut self, z: u8, n: u8, v: u8) {
        self.bytes[Z..=S].copy_from_slice(&Self::zero_and_sign(z, n, v).to_le_bytes());
    }

    #[inline(always)]
    pub fn add(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let sum = u16::from(d) + u16::from(r) + u16::from(carry);
        let result = sum as u8;
        let v = (d ^ result) & (r ^ result);
        self.arithmetic(sum ^ u16::from(d ^ r), result, result, v);
        result
    }

    #[inline(always)]
    pub fn subtract(&mut self, d: u8, r: u8) -> u8 {
        let difference = u16::from(d).wrapping_sub(u16::from(r));
        let result = difference as u8;
        self.arithmetic(difference ^ u16::from(d ^ r), result, result, (d ^ r) & (d ^ result));
        result
    }

    /// `SBC`, `SBCI`, `CPC`: Z stays clear once it is clear.
    #[inline(always)]
    pub fn subtract_with_carry(&mut self, d: u8, r: u8) -> u8 {
        let difference = u16::from(d).wrapping_sub(u16::from(r)).wrapping_sub(u16::from(self.c()));
        let result = difference as u8;
        let z = self.bytes[Z] | result;
        self.arithmetic(difference ^ u16::from(d ^ r), z, result, (d ^ r) & (d ^ result));
        result
    }

    #[inline(always)]
    pub fn logic(&mut self, result: u8) -> u8 {
        self.sign(result, result, 0);
        result
    }

    #[inline(always)]
    pub fn complement(&mut self, d: u8) -> u8 {
        self.bytes[C] = 1;
        self.logic(!d)
    }

    #[inline(always)]
    pub fn increment(&mut self, d: u8) -> u8 {
        let result = d.wrapping_add(1);
        self.sign(result, result, !d & result);
        result
    }

    #[inline(always)]
    pub fn decrement(&mut self, d: u8) -> u8 {
        let result = d.wrapping_sub(1);
        self.sign(result, result, d & !result);
        result
    }

    /// `LSR`, `ROR`, `ASR`: `top` comes in as bit 7.
    #[inline(always)]
    pub fn shift_right(&mut self, d: u8, top: u8) -> u8 {
        let result = d >> 1 | top;
        self.bytes[C] = d & 1;
        self.sign(result, result, result ^ d << 7);
        result
    }

    #[inline(always)]
    pub fn add_word(&mut self, d: u16, k: u16) -> u16 {
        let result = d.wrapping_add(k);
        self.bytes[C] = ((!result & d) >> 15) as u8;
        self.sign((result | result >> 8) as u8, (result >> 8) as u8, ((!d & result) >> 8) as u8);
        result
    }

    #[inline(always)]
    pub fn subtract_word(&mut self, d: u16, k: u16) -> u16 {
        let result = d.wrapping_sub(k);
        self.bytes[C] = ((result & !d) >> 15) as u8;
        self.sign((result | result >> 8) as u8, (result >> 8) as u8, ((d & !result) >> 8) as u8);
        result
    }

    #[inline(always)]
    pub fn multiply(&mut self, product: u16) -> u16 {
        self.bytes[C] = (product >> 15) as u8;
        self.bytes[Z] = (product | product >> 8) as u8;
        product
    }

    /// C is bit 15 of the product before the shift.
    #[inline(always)]
    pub fn fractional_multiply(&mut self, product: u16) -> u16 {
        let result = product << 1;
        self.bytes[C] = (product >> 15) as u8;
        self.bytes[Z] = (result | result >> 8) as u8;
        result
    }

    /// `BSET` and `BCLR`.
    #[inline(always)]
    pub fn set(&mut self, bit: u8, on: bool) {
        match bit {
            0 => self.bytes[C] = u8::from(on),
            1 => self.bytes[Z] = u8::from(!on),
            6 => self.t = on,
            _ => *self = Flags::from_byte(self.to_byte() & !(1 << bit) | u8::from(on) << bit),
        }
    }
}

/// Offset of the data space in ELF files.
pub const DATA: u32 = 0x80_0000;

/// An AVR core with its memories. `WORDS` is how many words of program memory its program counter
/// reaches: 64 k with 16 bits; of 22 bits 17 are used.
#[derive(Clone)]
pub(crate) struct Avr<const WORDS: usize> {
    pub flags: Flags,
    pub sp: u16,
    pub rampz: u8,
    pub eind: u8,
    /// The data space; only the working registers, its first 32 bytes, and `ram_start..ram_start +
    /// ram_size` are used. Any register number is within it, which spares every operand a check,
    /// and it lies in here so that one base address reaches all.
    pub data: [u8; 0x1_0000],
    pub ram_start: u16,
    pub ram_size: u16,
    /// Word address of the next instruction.
    pub pc: u32,
    pub instruction_set: InstructionSet,
    /// Words from one interrupt vector to the next.
    pub vector_words: u32,
    pub sleep_register: Option<SleepRegister>,
    pub reset_sp: u16,
    pub programmed: Programmed,
    pub flash: Arc<[u8]>,
    pub program: Arc<[Op; WORDS]>,
    /// Word addresses at which [`Avr::program`] has breakpoints.
    pub breakpoints: Vec<u32>,
    /// Operations replaced by breakpoints, with their indices, in the order in which they were
    /// replaced.
    pub replaced: Vec<(usize, Op)>,
    /// The number of the mode that it sleeps in, or last did, in
    /// [`super::sleep_modes::SLEEP_MODES`].
    pub sleep_mode: usize,
    pub sleeping: bool,
    /// The instruction just executed lets one more go first before any interrupt.
    pub delay: bool,
}

/// The registers by their names.
pub(crate) const fn registers(words: usize) -> [Register; 35] {
    let pc_bits = if is_wide(words) { 18 } else { 17 };
    [
        Register::new("r0", 8),
        Register::new("r1", 8),
        Register::new("r2", 8),
        Register::new("r3", 8),
        Register::new("r4", 8),
        Register::new("r5", 8),
        Register::new("r6", 8),
        Register::new("r7", 8),
        Register::new("r8", 8),
        Register::new("r9", 8),
        Register::new("r10", 8),
        Register::new("r11", 8),
        Register::new("r12", 8),
        Register::new("r13", 8),
        Register::new("r14", 8),
        Register::new("r15", 8),
        Register::new("r16", 8),
        Register::new("r17", 8),
        Register::new("r18", 8),
        Register::new("r19", 8),
        Register::new("r20", 8),
        Register::new("r21", 8),
        Register::new("r22", 8),
        Register::new("r23", 8),
        Register::new("r24", 8),
        Register::new("r25", 8),
        Register::new("r26", 8),
        Register::new("r27", 8),
        Register::new("r28", 8),
        Register::new("r29", 8),
        Register::new("r30", 8),
        Register::new("r31", 8),
        Register::with("sreg", 8, Role::Status),
        Register::with("sp", 16, Role::StackPointer),
        Register::with("pc", pc_bits, Role::ProgramCounter),
    ]
}

impl<const WORDS: usize> Avr<WORDS> {
    /// RAMPZ's bits that the flash needs.
    pub(super) fn rampz_bits(&self) -> u8 {
        ((self.flash.len() - 1) >> 16) as u8
    }

    /// EIND and Z: where `EIJMP` and `EICALL` go.
    pub(super) fn extended_z(&self) -> u32 {
        u32::from(self.eind) << 16 | u32::from(self.pair(30))
    }

    pub(super) fn words(&self) -> u32 {
        self.flash.len() as u32 / 2
    }

    /// Decodes anew the flash bytes from `start` to `end`, and the word before, whose operand may
    /// have changed.
    pub(super) fn decode_flash(&mut self, start: usize, end: usize) {
        let words = self.words();
        let flash = Arc::clone(&self.flash);
        let word = |index: usize| match flash.get(index * 2..index * 2 + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        };
        let program = Arc::make_mut(&mut self.program);
        let first = (start / 2).saturating_sub(1);
        for (index, op) in program.iter_mut().enumerate().take(end.div_ceil(2)).skip(first) {
            *op = decode(word(index), word(index + 1), index as u32, words, self.instruction_set);
        }
        link(program, end.div_ceil(2));
    }

    /// Marks these word addresses in the program, and no others.
    pub(super) fn place_breakpoints(&mut self, mut breakpoints: Vec<u32>) {
        breakpoints.sort_unstable();
        breakpoints.dedup();
        if !self.replaced.is_empty() {
            let program = Arc::make_mut(&mut self.program);
            for (index, op) in self.replaced.drain(..).rev() {
                program[index] = op;
            }
        }
        self.breakpoints = breakpoints;
        if self.breakpoints.is_empty() {
            return;
        }
        let program = Arc::make_mut(&mut self.program);
        // What lies before a breakpoint must not run into it.
        for &breakpoint in &self.breakpoints {
            for index in (0..=TOGETHER).map(|before| breakpoint.wrapping_sub(before) as usize % WORDS) {
                self.replaced.push((index, program[index]));
                program[index].kind = program[index].kind.alone();
            }
        }
        for &breakpoint in &self.breakpoints {
            program[breakpoint as usize % WORDS].kind = Opcode::Stop;
        }
    }

    /// The part of the data array that `size` bytes at an ELF address are, if they are RAM.
    pub(super) fn ram_range(&self, address: u32, size: usize) -> Option<std::ops::Range<usize>> {
        let start = address.checked_sub(DATA)? as usize;
        let end = start.checked_add(size)?;
        let ram_start = usize::from(self.ram_start);
        let ram_end = ram_start + usize::from(self.ram_size);
        (start >= ram_start && end <= ram_end).then_some(start..end)
    }

    /// The pair whose low register is `low`, an even number. Two loads of a byte, which `|` instead
    /// of `+` keeps the compiler from joining: one of two bytes would wait for the stores of its
    /// halves to leave the host's store buffer.
    #[inline(always)]
    pub fn pair(&self, low: u8) -> u16 {
        u16::from_le_bytes([self.data[usize::from(low)], self.data[usize::from(low | 1)]])
    }

    /// Sets the pair whose low register is `low`, an even number.
    #[inline(always)]
    pub fn set_pair(&mut self, low: u8, value: u16) {
        let low = usize::from(low);
        self.data[low..low + 2].copy_from_slice(&value.to_le_bytes());
    }

    #[inline(always)]
    pub fn is_ram(&self, address: u16) -> bool {
        address.wrapping_sub(self.ram_start) < self.ram_size
    }
}

/// The fault of an access to data space where the part has nothing.
#[cold]
pub(super) fn unmapped(pc: u32, address: u16, kind: &'static str) -> Fault {
    Fault::Unmapped { pc: pc * 2, address: 0x80_0000 + u32::from(address), size: 1, kind }
}
