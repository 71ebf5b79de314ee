//! A decoded instruction.

use bytemuck::Zeroable;

/// Index of `A0` among the registers of a bank; `R0` to `R3` are 0 to 3.
pub const A0: u8 = 4;
/// Index of `A1`.
pub const A1: u8 = 5;
/// Index of `FB`.
pub const FB: u8 = 6;
/// Index of `SB`, of which there is one for both banks.
pub const SB: u8 = 7;

/// The width of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Width {
    /// 8 bits (`.B`).
    Byte,
    /// 16 bits (`.W`).
    Word,
    /// 32 bits (`.L`).
    Long,
}

impl Width {
    /// All ones of the width.
    #[inline(always)]
    pub fn mask(self) -> u32 {
        match self {
            Width::Byte => 0xff,
            Width::Word => 0xffff,
            Width::Long => 0xffff_ffff,
        }
    }

    /// The most significant bit.
    #[inline(always)]
    pub fn sign(self) -> u32 {
        match self {
            Width::Byte => 0x80,
            Width::Word => 0x8000,
            Width::Long => 0x8000_0000,
        }
    }

    /// Bytes.
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Word => 2,
            Width::Long => 4,
        }
    }
}

/// Addressing mode of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Mode {
    /// There is none.
    None,
    /// `value` itself.
    Immediate,
    /// The low byte of `register` (`R0L`, `R1L`, `A0`, `A1`).
    LowByte,
    /// The high byte of `register` (`R0H`, `R1H`).
    HighByte,
    /// `register` as a whole.
    Register,
    /// Two registers: `R2R0` (`register` 0), `R3R1` (1), `A1A0` (4).
    Pair,
    /// Memory at `value`, 20 bits.
    Absolute,
    /// Memory at `register` + `value`, 16 bits: `[An]`, `dsp:8[An]`, `dsp:8[SB/FB]`, `dsp:16[An]`,
    /// `dsp:16[SB]`.
    Based,
    /// Memory at `register` + `value`, 20 bits: `dsp:20[A0]`.
    FarBased,
    /// Memory at `A1A0`, 20 bits.
    FarIndirect,
    /// Memory at the stack pointer + `value`, 16 bits: `dsp:8[SP]`.
    Stack,
    /// Bit `value` of `register`.
    RegisterBit,
    /// Bit `value` & 7 of the byte at `register` + `value` >> 3 (signed): `bit,base:8[SB/FB]`,
    /// `bit,base:16[SB]`.
    BasedBit,
    /// Bit `register` contents & 7 of the byte at `value` + (`register` contents >> 3): `[An]`,
    /// `base:8[An]`.
    IndirectBit,
    /// Bit `value` & 7 of the byte at `value` >> 3: `bit,base:16`.
    AbsoluteBit,
    /// A control register, by its number in the instruction: 1 `INTBL`, 2 `INTBH`, 3 `FLG`, 4
    /// `ISP`, 5 `SP`, 6 `SB`, 7 `FB`.
    Control,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct Operand {
    /// Its addressing mode.
    pub mode: Mode,
    /// A register, where `mode` needs one.
    pub register: u8,
    /// The width of the operand.
    pub width: Width,
    /// Displacement, address, bit or immediate.
    pub value: u32,
}

impl Operand {
    /// No operand.
    pub const NONE: Operand = Operand { mode: Mode::None, register: 0, width: Width::Byte, value: 0 };

    /// An immediate.
    pub fn immediate(width: Width, value: u32) -> Operand {
        Operand { mode: Mode::Immediate, register: 0, width, value }
    }

    /// A 16-bit register.
    pub fn word(register: u8) -> Operand {
        Operand { mode: Mode::Register, register, width: Width::Word, value: 0 }
    }

    /// A byte register by its number in instructions: `R0L`, `R0H`, `R1L`, `R1H`.
    pub fn byte(number: u8) -> Operand {
        let mode = if number & 1 == 0 { Mode::LowByte } else { Mode::HighByte };
        Operand { mode, register: number >> 1, width: Width::Byte, value: 0 }
    }

    /// A pair of registers: 0 `R2R0`, 1 `R3R1`, 4 `A1A0`.
    pub fn pair(register: u8) -> Operand {
        Operand { mode: Mode::Pair, register, width: Width::Long, value: 0 }
    }

    /// Returns true if it lies in memory, as data.
    pub fn in_memory(&self) -> bool {
        matches!(self.mode, Mode::Absolute | Mode::Based | Mode::FarBased | Mode::FarIndirect | Mode::Stack)
    }
}

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Opcode {
    /// Absolute value.
    Abs,
    /// Add with carry.
    Adc,
    /// Add the carry.
    Adcf,
    /// Add.
    Add,
    /// Add to the stack pointer.
    AddSp,
    /// Add, and jump where the sum is not 0; `extra` is the target.
    Adjnz,
    /// Logical and.
    And,
    /// Carry and bit.
    Band,
    /// Clear a bit.
    Bclr,
    /// Set or clear a bit by condition `extra`.
    Bm,
    /// Set or clear the carry by condition `extra`.
    BmCarry,
    /// Carry and inverted bit.
    Bnand,
    /// Carry or inverted bit.
    Bnor,
    /// Invert a bit.
    Bnot,
    /// Test the inverted bit.
    Bntst,
    /// Carry exclusive-or inverted bit.
    Bnxor,
    /// Carry or bit.
    Bor,
    /// Break interrupt.
    Brk,
    /// Set a bit.
    Bset,
    /// Test a bit.
    Btst,
    /// Test and clear a bit.
    Btstc,
    /// Test and set a bit.
    Btsts,
    /// Carry exclusive-or bit.
    Bxor,
    /// Compare.
    Cmp,
    /// Decimal add with carry.
    Dadc,
    /// Decimal add.
    Dadd,
    /// Decrement.
    Dec,
    /// Signed division, remainder with the dividend's sign.
    Div,
    /// Unsigned division.
    Divu,
    /// Signed division, remainder with the divisor's sign.
    Divx,
    /// Decimal subtract with borrow.
    Dsbb,
    /// Decimal subtract.
    Dsub,
    /// Build a stack frame of `extra` bytes.
    Enter,
    /// Leave a stack frame and the subroutine.
    Exitd,
    /// Sign-extend to the next width.
    Exts,
    /// Clear flag bit mask `extra`.
    Fclr,
    /// Set flag bit mask `extra`.
    Fset,
    /// Increment.
    Inc,
    /// Software interrupt number `extra`.
    Int,
    /// Overflow interrupt, where O is set.
    Into,
    /// Jump to the target by condition `extra`; the target is the source.
    Jcnd,
    /// Jump.
    Jmp,
    /// Jump to an address in the source.
    JmpiA,
    /// Jump to the instruction's address plus the source.
    JmpiW,
    /// Jump by the special page vector at the source.
    Jmps,
    /// Call.
    Jsr,
    /// Call an address in the source.
    JsriA,
    /// Call the instruction's address plus the source.
    JsriW,
    /// Call by the special page vector at the source.
    Jsrs,
    /// Load a control register.
    Ldc,
    /// Load a task's context.
    Ldctx,
    /// Load from the 20-bit address space.
    Lde,
    /// Load the interrupt priority level `extra`.
    Ldipl,
    /// Transfer.
    Mov,
    /// Transfer an effective address.
    Mova,
    /// Transfer a nibble; `extra` bit 0: from the high one, bit 1: to the high one.
    MovDir,
    /// Signed multiplication.
    Mul,
    /// Unsigned multiplication.
    Mulu,
    /// Two's complement.
    Neg,
    /// No operation.
    Nop,
    /// One's complement.
    Not,
    /// Logical or.
    Or,
    /// Pop.
    Pop,
    /// Pop a control register.
    Popc,
    /// Pop the registers of list `extra`: bit 0 is `R0`, then `R1`, `R2`, `R3`, `A0`, `A1`, `SB`,
    /// `FB`.
    Popm,
    /// Push.
    Push,
    /// Push an effective address.
    Pusha,
    /// Push a control register.
    Pushc,
    /// Push the registers of list `extra`: bit 0 is `FB`, then `SB`, `A1`, `A0`, `R3`, `R2`, `R1`,
    /// `R0`.
    Pushm,
    /// Return from an interrupt.
    Reit,
    /// Sum of products.
    Rmpa,
    /// Rotate left by one with carry.
    Rolc,
    /// Rotate right by one with carry.
    Rorc,
    /// Rotate.
    Rot,
    /// Return from a subroutine.
    Rts,
    /// Subtract with borrow.
    Sbb,
    /// Arithmetic shift.
    Sha,
    /// Logical shift.
    Shl,
    /// Copy a string backward.
    Smovb,
    /// Copy a string forward.
    Smovf,
    /// Fill a string.
    Sstr,
    /// Store a control register.
    Stc,
    /// Store the program counter.
    StcPc,
    /// Store a task's context.
    Stctx,
    /// Store to the 20-bit address space.
    Ste,
    /// Store where Z is clear.
    Stnz,
    /// Store where Z is set.
    Stz,
    /// Store the source where Z is set, else `extra`.
    Stzx,
    /// Subtract.
    Sub,
    /// Logical and, for the flags alone.
    Tst,
    /// Undefined instruction interrupt.
    Und,
    /// Sleep.
    Wait,
    /// Exchange.
    Xchg,
    /// Exclusive or.
    Xor,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct Op {
    /// Its operation.
    pub kind: Opcode,
    /// Its size specifier.
    pub width: Width,
    /// Its length in bytes.
    pub length: u8,
    /// Its cycles, without what depends on registers and on whether a branch is taken.
    pub cycles: u8,
    /// Further cycles for each time something is repeated, or once where a branch is taken.
    pub further: u8,
    /// The least that it takes altogether.
    pub least: u8,
    /// First operand.
    pub source: Operand,
    /// Second operand.
    pub destination: Operand,
    /// Additional field, whose meaning depends on `kind`.
    pub extra: u32,
}
