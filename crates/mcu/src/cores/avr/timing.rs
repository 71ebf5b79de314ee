//! Cycles of the instructions.
//!
//! AVR Instruction Set Manual, DS40002198, the columns "AVRe" of the instruction set summary, for
//! parts with internal SRAM. A program counter of 22 bits (parts with more than 64 k words) takes
//! calls, returns and interrupts a cycle longer.

use super::opcode::{Opcode, is_wide};

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
/// `RJMP`, `IJMP`, `EIJMP`.
const SHORT_JUMP: u64 = 2;
/// `JMP`.
const LONG_JUMP: u64 = 3;
/// `RCALL`, `ICALL`, `EICALL`, with a program counter of 16 bits.
const SHORT_CALL: u64 = 3;
/// `CALL`, alike.
const LONG_CALL: u64 = 4;
/// `RET`, `RETI`, alike.
const RETURN: u64 = 4;
/// Cycles that a taken branch adds to its one, and a skip for each word that it skips.
pub(super) const TAKEN: u64 = 1;
/// Cycles of an instruction, of a branch or skip while it is not taken.
#[inline(always)]
pub(super) const fn cycles<const WORDS: usize>(kind: Opcode) -> u64 {
    use Opcode::*;
    let third_byte = is_wide(WORDS) as u64;
    match kind {
        Adiw | Sbiw => WORD,
        Mul | Muls | Mulsu | Fmul | Fmuls | Fmulsu => MULTIPLY,
        Ldd | LdInc | LdDec | Lds | Pop | Std | StInc | StDec | Sts | Push => MEMORY,
        Lpm | LpmInc | Elpm | ElpmInc => PROGRAM_MEMORY,
        Sbi | Cbi => IO_BIT,
        Rjmp | Ijmp | Eijmp => SHORT_JUMP,
        Jmp => LONG_JUMP,
        Rcall | Icall | Eicall => SHORT_CALL + third_byte,
        Call => LONG_CALL + third_byte,
        Ret | Reti => RETURN + third_byte,
        _ => SIMPLE,
    }
}

/// Entering an interrupt: ATmega328P data sheet DS40002061, 7.7.1; ATmega128 data sheet 2467,
/// "Interrupt Response Time"; ATmega2560 data sheet 2549Q, 7.8.1, five cycles.
pub(super) const fn interrupt(words: usize) -> u64 {
    if is_wide(words) { 5 } else { 4 }
}

/// Cycles that an interrupt takes longer if it wakes the core (same sections).
pub(super) const fn wake(words: usize) -> u64 {
    interrupt(words)
}
