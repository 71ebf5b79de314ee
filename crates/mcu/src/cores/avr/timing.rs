//! Cycles of the instructions.
//!
//! AVR Instruction Set Manual, DS40002198, the columns "AVRe" of the instruction set summary, for parts with a
//! 16-bit program counter and internal SRAM.

use super::decode::Opcode;

/// Arithmetic, logic, moves between registers, `IN`, `OUT`, `NOP`, `SLEEP`, `WDR`.
const SIMPLE: u64 = 1;
/// `ADIW`, `SBIW`.
const WORD: u64 = 2;
/// `MUL` and its five relatives.
const MULTIPLY: u64 = 2;
/// `LD`, `LDD`, `LDS`, `ST`, `STD`, `STS`, `PUSH`, `POP`.
const MEMORY: u64 = 2;
/// `LPM`, `ELPM`.
const PROGRAM_MEMORY: u64 = 3;
/// `SBI`, `CBI`.
pub(super) const IO_BIT: u64 = 2;
/// `RJMP`, `IJMP`.
const SHORT_JUMP: u64 = 2;
/// `JMP`.
const LONG_JUMP: u64 = 3;
/// `RCALL`, `ICALL`.
const SHORT_CALL: u64 = 3;
/// `CALL`.
const LONG_CALL: u64 = 4;
/// `RET`, `RETI`.
const RETURN: u64 = 4;
/// What a taken branch adds to its one cycle, and a skip adds for each word that it skips.
pub(super) const TAKEN: u64 = 1;
/// Cycles of an instruction, of a branch or skip while it is not taken.
#[inline(always)]
pub(super) const fn cycles(kind: Opcode) -> u64 {
    use Opcode::*;
    match kind {
        Adiw | Sbiw => WORD,
        Mul | Muls | Mulsu | Fmul | Fmuls | Fmulsu => MULTIPLY,
        Ldd | LdInc | LdDec | Lds | Pop | Std | StInc | StDec | Sts | Push => MEMORY,
        Lpm | LpmInc | Elpm | ElpmInc => PROGRAM_MEMORY,
        Sbi | Cbi => IO_BIT,
        Rjmp | Ijmp => SHORT_JUMP,
        Jmp => LONG_JUMP,
        Rcall | Icall => SHORT_CALL,
        Call => LONG_CALL,
        Ret | Reti => RETURN,
        _ => SIMPLE,
    }
}

/// Entering an interrupt: ATmega328P data sheet DS40002061, 7.7.1; ATmega128 data sheet 2467, "Interrupt Response
/// Time".
pub(super) const INTERRUPT_CYCLES: u64 = 4;
/// What an interrupt takes longer that wakes the core (same sections).
pub(super) const WAKE: u64 = 4;
