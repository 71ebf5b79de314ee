//! A decoded instruction: operation, operands, times.

use bytemuck::Zeroable;

/// Operand width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Width {
    /// `.B`, 8 bits.
    Byte,
    /// `.W`, 16 bits.
    Word,
    /// `.A`, 20 bits; two words in memory.
    Address,
}

impl Width {
    /// All ones.
    #[must_use]
    #[inline(always)]
    pub fn mask(self) -> u32 {
        match self {
            Width::Byte => 0xff,
            Width::Word => 0xffff,
            Width::Address => 0xf_ffff,
        }
    }

    /// The sign bit.
    #[must_use]
    #[inline(always)]
    pub fn sign(self) -> u32 {
        match self {
            Width::Byte => 0x80,
            Width::Word => 0x8000,
            Width::Address => 0x8_0000,
        }
    }
}

/// Operation of an instruction. `MOVA`, `ADDA`, `CMPA`, `SUBA` are [`Opcode::Mov`] and so on with
/// [`Width::Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the manual's mnemonics")]
pub enum Opcode {
    Mov,
    Add,
    Addc,
    Subc,
    Sub,
    Cmp,
    Dadd,
    Bit,
    Bic,
    Bis,
    Xor,
    And,
    Rrc,
    Swpb,
    Rra,
    Sxt,
    Push,
    Call,
    Calla,
    Reti,
    Jne,
    Jeq,
    Jnc,
    Jc,
    Jn,
    Jge,
    Jl,
    Jmp,
    Pushm,
    Popm,
    Rrcm,
    Rram,
    Rlam,
    Rrum,
    /// No instruction: [`UNKNOWN`] at `source_value` says what is not known of it.
    Unknown,
}

/// Contradictions between sources tried on silicon, the manual and the assemblers, which leave a
/// part's behaviour unknown. Indices are in `source_value` of [`Opcode::Unknown`].
pub const UNKNOWN: [&str; 2] = [
    "bits 3:0 and 10:7 of the extension word differ: SLAU208's figure 4-31 has bits 19:16 of the index of a single operand in 3:0, \
     assemblers put them into 10:7, and the description tried on an MSP430FR5994 uses neither: which one the part takes is not known",
    "PUSH or CALL of @SP, or CALL SP: whether the part takes SP before or after it counts down is not known (openMSP430's RTL: \
     after; SLAU208 and simulators: before)",
];
pub(super) const INDEX_HIGH: u32 = 0;
pub(super) const OF_SP: u32 = 1;

/// Location of an operand when the instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Operand {
    /// In the register.
    Register,
    /// It is the value: immediate, constant generator, or the program counter as a source.
    Value,
    /// At the value: absolute and symbolic modes.
    At,
    /// At register + value, kept in the lower 64 KB where the register points there (MSP430
    /// instructions; section "Indexed Mode in Lower 64KB Memory").
    Indexed16,
    /// At register + value, 20 bits (MSP430X instructions, address instructions).
    Indexed20,
    /// At the register.
    Indirect,
    /// At the register, which then grows by the operand's size.
    Increment,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct Op {
    /// Its operation.
    pub kind: Opcode,
    /// Operand width.
    pub width: Width,
    /// The source operand (single-operand instructions: their operand).
    pub source: Operand,
    /// Source register.
    pub source_register: u8,
    /// Value, address or index of the source; target of a jump; how many registers or positions
    /// (`PUSHM`, `RRCM` and the like).
    pub source_value: u32,
    /// The destination operand.
    pub destination: Operand,
    /// Destination register.
    pub destination_register: u8,
    /// Address or index of the destination.
    pub destination_value: u32,
    /// MCLK cycles, where not repeated.
    pub cycles: u8,
    /// Bytes.
    pub length: u8,
    /// The cycle, from 1, in which memory is read for the source.
    pub source_cycle: u8,
    /// Repetitions less one.
    pub count: u8,
    /// The register whose low four bits are the repetitions less one, or 0 for none.
    pub count_register: u8,
    /// The extension word's ZC bit: the carry counts as zero.
    pub zero_carry: bool,
}

/// Register + index as MSP430 instructions add them: within the lower 64 KB where the register
/// points there, else 20 bits.
#[must_use]
#[inline(always)]
pub fn indexed16(register: u32, index: u32) -> u32 {
    let sum = register.wrapping_add(index);
    if register < 0x1_0000 { sum & 0xffff } else { sum & 0xf_ffff }
}
