//! Cycles of the instructions.
//!
//! AVR Instruction Set Manual, DS40002198, the columns "AVRe" of the instruction set summary, for parts with a
//! 16-bit program counter and internal SRAM.

/// Arithmetic, logic, moves between registers, `IN`, `OUT`, `NOP`, `SLEEP`, `WDR`.
pub(super) const SIMPLE: u64 = 1;
/// `ADIW`, `SBIW`.
pub(super) const WORD: u64 = 2;
/// `MUL` and its five relatives.
pub(super) const MULTIPLY: u64 = 2;
/// `LD`, `LDD`, `LDS`, `ST`, `STD`, `STS`, `PUSH`, `POP`.
pub(super) const MEMORY: u64 = 2;
/// `LPM`, `ELPM`.
pub(super) const PROGRAM_MEMORY: u64 = 3;
/// `SBI`, `CBI`.
pub(super) const IO_BIT: u64 = 2;
/// `RJMP`, `IJMP`.
pub(super) const SHORT_JUMP: u64 = 2;
/// `JMP`.
pub(super) const LONG_JUMP: u64 = 3;
/// `RCALL`, `ICALL`.
pub(super) const SHORT_CALL: u64 = 3;
/// `CALL`.
pub(super) const LONG_CALL: u64 = 4;
/// `RET`, `RETI`.
pub(super) const RETURN: u64 = 4;
/// What a taken branch adds to its one cycle, and a skip adds for each word that it skips.
pub(super) const TAKEN: u64 = 1;
/// Entering an interrupt: ATmega328P data sheet DS40002061, 7.7.1; ATmega128 data sheet 2467, "Interrupt Response
/// Time".
pub(super) const INTERRUPT: u64 = 4;
/// What an interrupt takes longer that wakes the core (same sections).
pub(super) const WAKE: u64 = 4;
