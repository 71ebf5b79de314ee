//! Opcodes to compact operations, once, when the flash is written.
//!
//! Encodings: AVR Instruction Set Manual, DS40002198. Combinations that the manual calls undefined
//! (`LD r26, X+` and its like) decode to [`Opcode::Undefined`], as do instructions that these parts
//! do not have.

use super::opcode::{Op, Opcode, Rest};
use super::timing;

/// Instructions of a core beyond those that all cores have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructionSet {
    /// `MUL` and its relatives.
    pub multiplier: bool,
    /// `JMP` and `CALL`.
    pub long_jumps: bool,
    /// `ELPM`, with RAMPZ.
    pub extended_load: bool,
    /// `EIJMP` and `EICALL`, with EIND.
    pub extended_jumps: bool,
}

/// Words before a word that it can be executed together with: see [`Opcode::with`].
pub(super) const TOGETHER: u32 = 2;

/// Links the operations below `end` to what comes behind them, after any of them has changed.
pub(super) fn link<const WORDS: usize>(program: &mut [Op; WORDS], end: usize) {
    let behind = |index: usize, words| (index + words) % WORDS;
    for index in (0..end.min(program.len())).rev() {
        let kind = program[index].kind.alone();
        let none = Rest { cycles: 0, instructions: 0 };
        let rest = if kind.turns() { none } else { program[behind(index, kind.words())].rest };
        program[index].rest = rest.after(timing::cycles::<WORDS>(kind));
        let [second, third] = [1, 2].map(|words| program[behind(index, words)].kind.alone());
        program[index].kind = kind.with(second, third);
    }
}

/// Words of the instruction whose first is `word`: `LDS`, `STS`, `JMP` and `CALL` have two.
fn length(word: u16) -> u16 {
    if word & 0xFC0F == 0x9000 || word & 0xFE0C == 0x940C { 2 } else { 1 }
}

/// The low registers of the pointers.
const X: u16 = 26;
const Y: u16 = 28;
const Z: u16 = 30;

/// Decodes `word` at word address `pc`, followed by `next`. `words` is the flash size in words, a
/// power of two.
pub(super) fn decode(word: u16, next: u16, pc: u32, words: u32, set: InstructionSet) -> Op {
    use Opcode::*;
    let op = |kind, a: u16, b| Op::new(kind, a as u8, b);
    let undefined = op(Undefined, 0, 0);
    let d5 = word >> 4 & 0x1F;
    let r5 = word & 0x0F | word >> 5 & 0x10;
    let two = |kind| op(kind, d5, r5);
    let skip = length(next) << 8;
    let immediate = |kind| op(kind, 16 + (word >> 4 & 0x0F), word >> 4 & 0xF0 | word & 0x0F);
    let relative = |offset: i16| pc.wrapping_add(1).wrapping_add_signed(offset.into()) & (words - 1);
    match word >> 12 {
        0x0 => match word >> 8 {
            0x00 if word == 0 => op(Nop, 0, 0),
            0x01 => op(Movw, (word >> 4 & 0x0F) * 2, (word & 0x0F) * 2),
            0x02 | 0x03 if !set.multiplier => undefined,
            0x02 => op(Muls, 16 + (word >> 4 & 0x0F), 16 + (word & 0x0F)),
            0x03 => {
                let kind = match word & 0x88 {
                    0x00 => Mulsu,
                    0x08 => Fmul,
                    0x80 => Fmuls,
                    _ => Fmulsu,
                };
                op(kind, 16 + (word >> 4 & 7), 16 + (word & 7))
            }
            0x04..=0x07 => two(Cpc),
            0x08..=0x0B => two(Sbc),
            0x0C..=0x0F => two(Add),
            _ => undefined,
        },
        0x1 if word & 0x0C00 == 0 => op(Cpse, d5, skip | r5),
        0x1 => two([Cpse, Cp, Sub, Adc][usize::from(word >> 10 & 3)]),
        0x2 => two([And, Eor, Or, Mov][usize::from(word >> 10 & 3)]),
        0x3 => immediate(Cpi),
        0x4 => immediate(Sbci),
        0x5 => immediate(Subi),
        0x6 => immediate(Ori),
        0x7 => immediate(Andi),
        0x8 | 0xA => {
            let q = word & 7 | word >> 7 & 0x18 | word >> 8 & 0x20;
            let pointer = if word & 8 == 0 { Z } else { Y };
            op(if word & 0x0200 == 0 { Ldd } else { Std }, d5, pointer << 8 | q)
        }
        0x9 => decode_9(word, next, words, set),
        0xB => {
            let address = 0x20 + (word & 0x0F | word >> 5 & 0x30);
            op(if word & 0x0800 == 0 { In } else { Out }, d5, address)
        }
        0xC | 0xD => {
            let target = relative(((word << 4) as i16) >> 4);
            Op::jump(if word & 0x1000 == 0 { Rjmp } else { Rcall }, target)
        }
        0xE => immediate(Ldi),
        _ => {
            let target = relative(((word << 6) as i16) >> 9);
            let bit = usize::from(word & 7);
            match word >> 9 & 7 {
                0 | 1 => Op::jump([Brcs, Breq, Brmi, Brvs, Brlt, Brhs, Brts, Brie][bit], target),
                2 | 3 => Op::jump([Brcc, Brne, Brpl, Brvc, Brge, Brhc, Brtc, Brid][bit], target),
                _ if word & 8 != 0 => undefined,
                4 => op(Bld, d5, 1 << bit),
                5 => op(Bst, d5, 1 << bit),
                6 => op(Sbrc, d5, skip | 1 << bit),
                _ => op(Sbrs, d5, skip | 1 << bit),
            }
        }
    }
}

/// The opcodes 0x9000 to 0x9FFF.
fn decode_9(word: u16, next: u16, words: u32, set: InstructionSet) -> Op {
    use Opcode::*;
    let op = |kind, a: u16, b| Op::new(kind, a as u8, b);
    let undefined = op(Undefined, 0, 0);
    let register = word >> 4 & 0x1F;
    let extended = set.extended_load;
    // The manual leaves the result undefined where the pointer itself is loaded or stored while it
    // changes.
    let moving =
        |kind, pointer| if register & !1 == pointer { undefined } else { op(kind, register, pointer << 8) };
    match word >> 8 & 0x0F {
        0x0 | 0x1 => match word & 0x0F {
            0x0 => op(Lds, register, next),
            0x1 => moving(LdInc, Z),
            0x2 => moving(LdDec, Z),
            0x4 => op(Lpm, register, Z),
            0x5 if register & !1 != Z => op(LpmInc, register, Z),
            0x6 if extended => op(Elpm, register, Z),
            0x7 if extended && register & !1 != Z => op(ElpmInc, register, Z),
            0x9 => moving(LdInc, Y),
            0xA => moving(LdDec, Y),
            0xC => op(Ldd, register, X << 8),
            0xD => moving(LdInc, X),
            0xE => moving(LdDec, X),
            0xF => op(Pop, register, 0),
            _ => undefined,
        },
        0x2 | 0x3 => match word & 0x0F {
            0x0 => op(Sts, register, next),
            0x1 => moving(StInc, Z),
            0x2 => moving(StDec, Z),
            0x9 => moving(StInc, Y),
            0xA => moving(StDec, Y),
            0xC => op(Std, register, X << 8),
            0xD => moving(StInc, X),
            0xE => moving(StDec, X),
            0xF => op(Push, register, 0),
            _ => undefined,
        },
        0x4 | 0x5 => match word & 0x0F {
            0x0 => op(Com, register, 0),
            0x1 => op(Neg, register, 0),
            0x2 => op(Swap, register, 0),
            0x3 => op(Inc, register, 0),
            0x5 => op(Asr, register, 0),
            0x6 => op(Lsr, register, 0),
            0x7 => op(Ror, register, 0),
            0xA => op(Dec, register, 0),
            0x8 => match word {
                0x9508 => op(Ret, 0, 0),
                0x9518 => op(Reti, 0, 0),
                0x9588 => op(Sleep, 0, 0),
                0x9598 => op(Break, 0, 0),
                0x95A8 => op(Wdr, 0, 0),
                0x95C8 => op(Lpm, 0, Z),
                0x95D8 if extended => op(Elpm, 0, Z),
                0x95E8 => op(Spm, 0, 0),
                0x9400..0x9480 => op(Bset, word >> 4 & 7, 0),
                0x9480..0x9500 => op(Bclr, word >> 4 & 7, 0),
                _ => undefined,
            },
            0x9 => match word {
                0x9409 => op(Ijmp, 0, 0),
                0x9509 => op(Icall, 0, 0),
                0x9419 if set.extended_jumps => op(Eijmp, 0, 0),
                0x9519 if set.extended_jumps => op(Eicall, 0, 0),
                _ => undefined,
            },
            0xC..=0xF if !set.long_jumps => undefined,
            0xC..=0xF => {
                let high = u32::from(word >> 3 & 0x3E | word & 1);
                let target = high << 16 | u32::from(next);
                if target >= words {
                    undefined
                } else {
                    Op::jump(if word & 2 == 0 { Jmp } else { Call }, target)
                }
            }
            _ => undefined,
        },
        0x6 | 0x7 => {
            let kind = if word & 0x0100 == 0 { Adiw } else { Sbiw };
            op(kind, 24 + (word >> 4 & 3) * 2, word & 0x0F | word >> 2 & 0x30)
        }
        0x8..=0xB => {
            let kind = [Cbi, Sbic, Sbi, Sbis][usize::from(word >> 8 & 3)];
            let skip = if word & 0x0100 == 0 { 0 } else { length(next) << 8 };
            op(kind, word & 7, skip | (0x20 + (word >> 3 & 0x1F)))
        }
        _ if !set.multiplier => undefined,
        _ => op(Mul, register, word & 0x0F | word >> 5 & 0x10),
    }
}
