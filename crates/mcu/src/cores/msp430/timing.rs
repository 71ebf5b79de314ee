//! MCLK cycles of instructions: the tables of the manual, as data.
//!
//! Source: Texas Instruments, *MSP430x5xx and MSP430x6xx Family User's Guide* (SLAU208), chapter
//! CPUX. The F5xx core is the CPUXV2; the same tables stand, with the same section titles, in the
//! CPUX chapters of SLAU367 and SLAU445 for the later families with that core. The table numbers
//! below are those of SLAU445I, chapter 4, a transcription of which the figures were checked
//! against; SLAU208's own text could not be had. The 2xx and 4xx families (SLAU144, SLAU056) have
//! an older CPUX with other figures.
//!
//! Operands from a constant generator (R2, R3) count as register mode: they need no extension word.

use super::op::{Opcode, Width};

/// Addressing mode of an operand, as the rows of the tables name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `Rn`, and the constant generators.
    Register,
    /// `@Rn`.
    Indirect,
    /// `@Rn+`.
    Increment,
    /// `#N` with its extension word.
    Immediate,
    /// `x(Rn)`.
    Indexed,
    /// `EDE`, that is `x(PC)`.
    Symbolic,
    /// `&EDE`.
    Absolute,
}

/// Destination of a double-operand instruction, as the rows of the tables distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// `Rm`, any register but the program counter.
    Register,
    /// `PC`.
    ProgramCounter,
    /// `x(Rm)`, `EDE` or `&EDE`.
    Memory,
}

/// Rows: source `Rn`, `@Rn`, `@Rn+`, `#N`, `x(Rn)`, `EDE`, `&EDE`. Columns: destination `Rm`, `PC`,
/// memory.
type DoubleOperand = [[u8; 3]; 7];

/// Table 4-10, MSP430 Format I. `MOV`, `BIT`, `CMP` with a destination in memory take one cycle
/// less.
const FORMAT_I: DoubleOperand = [
    [1, 3, 4], // Rn
    [2, 4, 5], // @Rn
    [2, 4, 5], // @Rn+
    [2, 3, 5], // #N
    [3, 5, 6], // x(Rn)
    [3, 5, 6], // EDE
    [3, 5, 6], // &EDE
];

/// Table 4-18, MSP430X Format I, `.B` and `.W`. `MOV`, `BIT`, `CMP` with a destination in memory
/// take one less; `MOV`, `ADD`, `SUB` from `#N`, `x(Rn)`, `EDE`, `&EDE` to `PC` take one less.
const EXTENDED_I: DoubleOperand = [
    [2, 4, 5], // Rn
    [3, 5, 6], // @Rn
    [3, 5, 6], // @Rn+
    [3, 4, 6], // #N
    [4, 6, 7], // x(Rn)
    [4, 6, 7], // EDE
    [4, 6, 7], // &EDE
];

/// Table 4-18, MSP430X Format I, `.A`. `MOV`, `BIT`, `CMP` with a destination in memory take two
/// less; to `PC` as in [`EXTENDED_I`].
const EXTENDED_I_ADDRESS: DoubleOperand = [
    [2, 4, 7],  // Rn
    [4, 6, 9],  // @Rn
    [4, 6, 9],  // @Rn+
    [3, 4, 8],  // #N
    [5, 7, 10], // x(Rn)
    [5, 7, 10], // EDE
    [5, 7, 10], // &EDE
];

/// Table 4-19a, `MOVA` (and so `BRA`, `RETA`). No instruction has memory on both sides.
const MOVA: DoubleOperand = [
    [1, 3, 4], // Rn
    [3, 5, 0], // @Rn
    [3, 5, 0], // @Rn+
    [2, 3, 0], // #N
    [4, 6, 0], // x(Rn)
    [4, 6, 0], // EDE
    [4, 6, 0], // &EDE
];

/// Table 4-19a, `ADDA`, `SUBA`, `CMPA`: from a register and from `#N`, to a register and to `PC`.
const ADDA_SUBA_CMPA: [[u8; 2]; 2] = [[1, 3], [3, 3]];

/// By addressing mode: `Rn`, `@Rn`, `@Rn+`, `#N`, `x(Rn)`, `EDE`, `&EDE`; 0 where the manual has no
/// such form.
type SingleOperand = [u8; 7];

/// Table 4-9: `RRA`, `RRC`, `SWPB`, `SXT`.
const ROTATE: SingleOperand = [1, 3, 3, 0, 4, 4, 4];
/// Table 4-9: `PUSH`.
const PUSH: SingleOperand = [3, 3, 3, 3, 4, 4, 4];
/// Table 4-9: `CALL`.
const CALL: SingleOperand = [4, 4, 4, 4, 5, 5, 6];
/// Table 4-17a: `RRAX`, `RRCX`, `.B` and `.W`; in register mode `1 + n` for `n` repetitions.
/// `SWPBX` and `SXTX` are not in the table; they have the same form and the same bus cycles.
const EXTENDED_ROTATE: SingleOperand = [2, 4, 4, 0, 5, 5, 5];
/// Table 4-17a: the same, `.A`.
const EXTENDED_ROTATE_ADDRESS: SingleOperand = [2, 6, 6, 0, 7, 7, 7];
/// Table 4-17a: `PUSHX`, `.B` and `.W`; `x(SP)` takes one more.
const PUSHX: SingleOperand = [4, 4, 4, 4, 5, 5, 5];
/// Table 4-17a: `PUSHX.A`; `x(SP)` takes one more.
const PUSHX_ADDRESS: SingleOperand = [5, 6, 6, 5, 7, 7, 7];
/// Table 4-17a: `CALLA`; `x(SP)` takes one more. The manual's 5 for `x(Rn)` is fewer than the six
/// bus cycles of that form, and likely a misprint for the 7 of `EDE`, which is the same form with
/// PC: TI's own cycle counter for the first CPUX (MSPDebugStack, `CycleCounter.cpp`) gives both the
/// same. It is kept as printed.
const CALLA: SingleOperand = [5, 6, 6, 5, 5, 7, 7];

/// Section "Jump Instructions Cycles and Lengths": taken or not.
pub const JUMP: u8 = 2;
/// Table 4-8: return from interrupt.
pub const RETI: u8 = 5;
/// Table 4-8: interrupt request service, up to the first instruction of the handler.
pub const INTERRUPT_CYCLES: u8 = 6;

/// Cycles of an MSP430 Format I instruction.
#[must_use]
pub fn format_i(kind: Opcode, source: Mode, destination: Destination) -> u8 {
    let cycles = FORMAT_I[source as usize][destination as usize];
    cycles - u8::from(destination == Destination::Memory && skips_a_memory_cycle(kind))
}

/// Cycles of an MSP430X Format I instruction, executed once; each repetition adds one.
#[must_use]
pub fn extended_format_i(kind: Opcode, width: Width, source: Mode, destination: Destination) -> u8 {
    let table = if width == Width::Address { &EXTENDED_I_ADDRESS } else { &EXTENDED_I };
    let cycles = table[source as usize][destination as usize];
    match destination {
        Destination::Register => cycles,
        Destination::Memory if skips_a_memory_cycle(kind) => {
            cycles - if width == Width::Address { 2 } else { 1 }
        }
        Destination::Memory => cycles,
        Destination::ProgramCounter => {
            let from_words =
                matches!(source, Mode::Immediate | Mode::Indexed | Mode::Symbolic | Mode::Absolute);
            cycles - u8::from(from_words && matches!(kind, Opcode::Mov | Opcode::Add | Opcode::Sub))
        }
    }
}

/// `MOV` does not read its destination, `BIT` and `CMP` do not write theirs.
fn skips_a_memory_cycle(kind: Opcode) -> bool {
    matches!(kind, Opcode::Mov | Opcode::Bit | Opcode::Cmp)
}

/// Cycles of `MOVA`.
#[must_use]
pub fn mova(source: Mode, destination: Destination) -> u8 {
    MOVA[source as usize][destination as usize]
}

/// Cycles of `ADDA`, `SUBA`, `CMPA`.
#[must_use]
pub fn address_arithmetic(immediate: bool, to_pc: bool) -> u8 {
    ADDA_SUBA_CMPA[usize::from(immediate)][usize::from(to_pc)]
}

/// Cycles of an MSP430 Format II instruction; `None` where the manual has no such form.
#[must_use]
pub fn format_ii(kind: Opcode, mode: Mode) -> Option<u8> {
    let table = match kind {
        Opcode::Push => &PUSH,
        Opcode::Call => &CALL,
        _ => &ROTATE,
    };
    Some(table[mode as usize]).filter(|cycles| *cycles != 0)
}

/// Cycles of an MSP430X Format II instruction, executed once; each repetition adds one. `None`
/// where the manual has no such form.
#[must_use]
pub fn extended_format_ii(kind: Opcode, width: Width, mode: Mode, of_sp: bool) -> Option<u8> {
    let table = match (kind, width) {
        (Opcode::Push, Width::Address) => &PUSHX_ADDRESS,
        (Opcode::Push, _) => &PUSHX,
        (_, Width::Address) => &EXTENDED_ROTATE_ADDRESS,
        _ => &EXTENDED_ROTATE,
    };
    let of_sp = kind == Opcode::Push && mode == Mode::Indexed && of_sp;
    Some(table[mode as usize]).filter(|cycles| *cycles != 0).map(|cycles| cycles + u8::from(of_sp))
}

/// Cycles of `CALLA`.
#[must_use]
pub fn calla(mode: Mode, of_sp: bool) -> u8 {
    CALLA[mode as usize] + u8::from(mode == Mode::Indexed && of_sp)
}

/// Table 4-17a: cycles of `PUSHM` and `POPM` of `count` registers.
#[must_use]
pub fn multiple(width: Width, count: u8) -> u8 {
    2 + count * if width == Width::Address { 2 } else { 1 }
}

/// Table 4-17a: cycles of `RRCM`, `RRAM`, `RLAM`, `RRUM` by `count` positions.
#[must_use]
pub fn rotate_multiple(count: u8) -> u8 {
    count
}
