//! From bytes to [`Op`]s.
//!
//! Source: REJ09B0001, chapter 4, "Instruction Code/Number of Cycles". What the manual does not
//! list as selectable is no instruction: `None`.

mod groups;
mod operand;

use super::operation::{A0, A1, Mode, Op, Opcode, Operand, Width};
use super::timing::Form;
use operand::NamedOperand;

/// Conditions, in the order of the four bits of `JCnd` and `BMCnd C`.
pub mod condition {
    /// C = 1.
    pub const GEU: u32 = 0;
    /// C = 1 and Z = 0.
    pub const GTU: u32 = 1;
    /// Z = 1.
    pub const EQ: u32 = 2;
    /// S = 1.
    pub const N: u32 = 3;
    /// C = 0.
    pub const LTU: u32 = 4;
    /// C = 0 or Z = 1.
    pub const LEU: u32 = 5;
    /// Z = 0.
    pub const NE: u32 = 6;
    /// S = 0.
    pub const PZ: u32 = 7;
    /// (S xor O) or Z = 1.
    pub const LE: u32 = 8;
    /// O = 1.
    pub const O: u32 = 9;
    /// S xor O = 0.
    pub const GE: u32 = 10;
    /// (S xor O) or Z = 0.
    pub const GT: u32 = 12;
    /// O = 0.
    pub const NO: u32 = 13;
    /// S xor O = 1.
    pub const LT: u32 = 14;
}

/// The bytes of an instruction as they are read, one by one.
struct Code<F> {
    start: u32,
    length: u32,
    fetch: F,
}

impl<F: Fn(u32) -> Option<u8>> Code<F> {
    fn byte(&mut self) -> Option<u32> {
        let value = (self.fetch)((self.start + self.length) & 0xf_ffff)?;
        self.length += 1;
        Some(u32::from(value))
    }

    fn word(&mut self) -> Option<u32> {
        Some(self.byte()? | self.byte()? << 8)
    }

    /// Three bytes, of which 20 bits count.
    fn address(&mut self) -> Option<u32> {
        Some((self.word()? | self.byte()? << 16) & 0xf_ffff)
    }

    fn immediate(&mut self, width: Width) -> Option<Operand> {
        let value = if width == Width::Byte { self.byte()? } else { self.word()? };
        Some(Operand::immediate(width, value))
    }

    /// The target of a jump by a signed byte that counts from `base` bytes behind the instruction's
    /// start.
    fn byte_target(&mut self, base: u32) -> Option<u32> {
        let distance = self.byte()? as i8;
        Some(self.start.wrapping_add(base).wrapping_add_signed(distance.into()) & 0xf_ffff)
    }

    /// As [`Code::byte_target`], by a signed word that counts from one byte behind the
    /// instruction's start.
    fn word_target(&mut self) -> Option<u32> {
        let distance = self.word()? as i16;
        Some((self.start + 1).wrapping_add_signed(distance.into()) & 0xf_ffff)
    }
}

/// A decoded instruction and what its row in the manual's table is called.
pub struct Decoded {
    /// The instruction, its cycles 0.
    pub op: Op,
    /// Its row in the manual's table.
    pub form: Form,
}

/// Fields of an instruction, from which its [`Op`] is built.
struct Found {
    kind: Opcode,
    width: Width,
    source: Operand,
    destination: Operand,
    extra: u32,
    form: Form,
}

impl Found {
    fn new(kind: Opcode, width: Width, mnemonic: &'static str, format: &'static str) -> Found {
        Found {
            kind,
            width,
            source: Operand::NONE,
            destination: Operand::NONE,
            extra: 0,
            form: Form { mnemonic, width: None, format, source: "", destination: "" },
        }
    }

    /// With a size specifier.
    fn sized(mut self) -> Found {
        self.form.width = Some(self.width);
        self
    }

    fn source(mut self, named: NamedOperand) -> Found {
        self.source = named.operand;
        self.form.source = named.name;
        self
    }

    fn destination(mut self, named: NamedOperand) -> Found {
        self.destination = named.operand;
        self.form.destination = named.name;
        self
    }

    fn extra(mut self, extra: u32) -> Found {
        self.extra = extra;
        self
    }
}

/// Decodes the instruction at `pc`; `fetch` reads a byte of memory, where there is some.
pub fn decode(pc: u32, fetch: impl Fn(u32) -> Option<u8>) -> Option<Decoded> {
    let mut code = Code { start: pc, length: 0, fetch };
    let found = first(&mut code)?;
    let Found { kind, width, source, destination, extra, form } = found;
    let length = code.length as u8;
    let op = Op { kind, width, length, cycles: 0, further: 0, least: 0, source, destination, extra };
    Some(Decoded { op, form })
}

/// `.B` or `.W` by the lowest bit.
fn width_of(bit: u32) -> Width {
    if bit & 1 == 0 { Width::Byte } else { Width::Word }
}

/// A signed number of four bits, cut to the width.
fn signed4(bits: u32, width: Width) -> u32 {
    ((bits << 4) as u8 as i8 >> 4) as u32 & width.mask()
}

/// The count of a shift by an immediate: +1 to +8, -1 to -8.
fn count4(bits: u32) -> u32 {
    let count = (bits & 7) as i32 + 1;
    (if bits & 8 == 0 { count } else { -count }) as u32
}

/// By the first byte.
fn first<F: Fn(u32) -> Option<u8>>(code: &mut Code<F>) -> Option<Found> {
    let byte = code.byte()?;
    let width = width_of(byte);
    Some(match byte {
        0x00 => Found::new(Opcode::Brk, Width::Byte, "BRK", ""),
        0x04 => Found::new(Opcode::Nop, Width::Byte, "NOP", ""),
        // MOV.B:S R0L/R0H,dest
        0x01..=0x07 => {
            let source = NamedOperand::short_register(byte >> 2 & 1);
            let destination = code.short_memory(byte & 3)?;
            Found::new(Opcode::Mov, Width::Byte, "MOV", "S").sized().source(source).destination(destination)
        }
        0x08..=0x0f => short_to_byte(code, byte, Opcode::Mov, "MOV")?,
        0x10..=0x17 => short_to_byte(code, byte, Opcode::And, "AND")?,
        0x18..=0x1f => short_to_byte(code, byte, Opcode::Or, "OR")?,
        0x20..=0x27 => short_to_byte(code, byte, Opcode::Add, "ADD")?,
        0x28..=0x2f => short_to_byte(code, byte, Opcode::Sub, "SUB")?,
        // MOV.B:S src,A0/A1
        0x30..=0x37 => {
            let address = NamedOperand::short_address(byte >> 2 & 1);
            let source = code.short_source(byte & 3, byte >> 2 & 1)?;
            Found::new(Opcode::Mov, Width::Byte, "MOV", "S").sized().source(source).destination(address)
        }
        0x38..=0x3f => short_to_byte(code, byte, Opcode::Cmp, "CMP")?,
        0x40..=0x5f => {
            let (kind, mnemonic) = [
                (Opcode::Bclr, "BCLR"),
                (Opcode::Bset, "BSET"),
                (Opcode::Bnot, "BNOT"),
                (Opcode::Btst, "BTST"),
            ][(byte >> 3 & 3) as usize];
            let named = code.bit_sb(byte & 7)?;
            let mut found = Found::new(kind, Width::Byte, mnemonic, "S").destination(named);
            if kind == Opcode::Btst {
                (found.form.source, found.form.destination) = (named.name, "");
            }
            found
        }
        0x60..=0x67 => jump(Opcode::Jmp, "JMP", "S", code.start + 2 + (byte & 7)),
        0x68..=0x6f => {
            let target = code.byte_target(1)?;
            jump(Opcode::Jcnd, "JCnd", "1", target).extra(byte & 7)
        }
        0x70 | 0x71 => two(code, width, Opcode::Mulu, "MULU")?,
        0x72 | 0x73 => two(code, width, Opcode::Mov, "MOV")?,
        0x74 | 0x75 => code.group_74(width)?,
        0x76 | 0x77 => code.group_76(width)?,
        0x78 | 0x79 => two(code, width, Opcode::Mul, "MUL")?,
        0x7a => code.group_7a()?,
        0x7b => code.group_7b()?,
        0x7c => code.group_7c()?,
        0x7d => code.group_7d()?,
        0x7e => code.group_7e()?,
        0x80 | 0x81 => two(code, width, Opcode::Tst, "TST")?,
        0x82 | 0x8a => {
            short_one(Opcode::Push, Width::Byte, "PUSH", NamedOperand::short_register(byte >> 3 & 1))
        }
        0x83..=0x87 => short_immediate(code, byte, Opcode::Add, "ADD")?,
        0x88 | 0x89 => two(code, width, Opcode::Xor, "XOR")?,
        0x8b..=0x8f => short_immediate(code, byte, Opcode::Sub, "SUB")?,
        0x90 | 0x91 => two(code, width, Opcode::And, "AND")?,
        0x92 | 0x9a => {
            let named = NamedOperand::short_register(byte >> 3 & 1);
            Found::new(Opcode::Pop, Width::Byte, "POP", "S").sized().destination(named)
        }
        0x93..=0x97 => short_immediate(code, byte, Opcode::And, "AND")?,
        0x98 | 0x99 => two(code, width, Opcode::Or, "OR")?,
        0x9b..=0x9f => short_immediate(code, byte, Opcode::Or, "OR")?,
        0xa0 | 0xa1 => two(code, width, Opcode::Add, "ADD")?,
        // MOV.W:S #IMM16,A0/A1 and MOV.B:S #IMM8,A0/A1
        0xa2 | 0xaa | 0xe2 | 0xea => {
            let width = if byte & 0x40 == 0 { Width::Word } else { Width::Byte };
            let source = NamedOperand::immediate(code.immediate(width)?);
            let address = NamedOperand::short_address(byte >> 3 & 1);
            Found::new(Opcode::Mov, width, "MOV", "S").sized().source(source).destination(address)
        }
        0xa3..=0xa7 => {
            let named = code.short_destination(byte & 7)?;
            Found::new(Opcode::Inc, Width::Byte, "INC", "").sized().destination(named)
        }
        0xa8 | 0xa9 => two(code, width, Opcode::Sub, "SUB")?,
        0xab..=0xaf => {
            let named = code.short_destination(byte & 7)?;
            Found::new(Opcode::Dec, Width::Byte, "DEC", "").sized().destination(named)
        }
        0xb0 | 0xb1 => two(code, width, Opcode::Adc, "ADC")?,
        0xb2 | 0xba => {
            let address = NamedOperand::short_address(byte >> 3 & 1);
            Found::new(Opcode::Inc, Width::Word, "INC", "").sized().destination(address)
        }
        0xb3..=0xb7 => {
            let source = NamedOperand { operand: Operand::immediate(Width::Byte, 0), name: "#0" };
            let named = code.short_destination(byte & 7)?;
            Found::new(Opcode::Mov, Width::Byte, "MOV", "Z").sized().source(source).destination(named)
        }
        0xb8 | 0xb9 => two(code, width, Opcode::Sbb, "SBB")?,
        0xbb..=0xbf => {
            let named = code.short_destination(byte & 7)?;
            Found::new(Opcode::Not, Width::Byte, "NOT", "S").sized().destination(named)
        }
        0xc0 | 0xc1 => two(code, width, Opcode::Cmp, "CMP")?,
        0xc2 | 0xca => {
            short_one(Opcode::Push, Width::Word, "PUSH", NamedOperand::short_address(byte >> 3 & 1))
        }
        0xc3..=0xc7 => short_immediate(code, byte, Opcode::Mov, "MOV")?,
        0xc8 | 0xc9 => quick(code, width, Opcode::Add, "ADD")?,
        0xcb..=0xcf => short_store(code, byte, Opcode::Stz, "STZ")?,
        0xd0 | 0xd1 => quick(code, width, Opcode::Cmp, "CMP")?,
        0xd2 | 0xda => {
            let address = NamedOperand::short_address(byte >> 3 & 1);
            Found::new(Opcode::Pop, Width::Word, "POP", "S").sized().destination(address)
        }
        0xd3..=0xd7 => short_store(code, byte, Opcode::Stnz, "STNZ")?,
        0xd8 | 0xd9 => quick(code, width, Opcode::Mov, "MOV")?,
        0xdb..=0xdf => {
            let found = short_store(code, byte, Opcode::Stzx, "STZX")?;
            let second = code.byte()?;
            found.extra(second)
        }
        0xe0 | 0xe1 => shift(code, width, Opcode::Rot, "ROT")?,
        0xe3..=0xe7 => short_immediate(code, byte, Opcode::Cmp, "CMP")?,
        0xe8 | 0xe9 => shift(code, width, Opcode::Shl, "SHL")?,
        0xeb => code.group_eb()?,
        0xec | 0xed => {
            let list = code.byte()?;
            // At least one register is named.
            if list == 0 {
                return None;
            }
            let (kind, mnemonic) =
                if byte == 0xec { (Opcode::Pushm, "PUSHM") } else { (Opcode::Popm, "POPM") };
            Found::new(kind, Width::Word, mnemonic, "").extra(list)
        }
        0xee | 0xef => {
            let number = code.byte()?;
            if number < 18 {
                return None;
            }
            let (kind, mnemonic) = if byte == 0xee { (Opcode::Jmps, "JMPS") } else { (Opcode::Jsrs, "JSRS") };
            jump(kind, mnemonic, "", 0xf_fffe - 2 * number)
        }
        0xf0 | 0xf1 => shift(code, width, Opcode::Sha, "SHA")?,
        0xf2 | 0xfa => {
            let address = NamedOperand::short_address(byte >> 3 & 1);
            Found::new(Opcode::Dec, Width::Word, "DEC", "").sized().destination(address)
        }
        0xf3 => Found::new(Opcode::Rts, Width::Byte, "RTS", ""),
        0xf4 => jump(Opcode::Jmp, "JMP", "W", code.word_target()?),
        0xf5 => jump(Opcode::Jsr, "JSR", "W", code.word_target()?),
        0xf6 => Found::new(Opcode::Into, Width::Byte, "INTO", ""),
        0xf8 | 0xf9 => {
            let second = code.byte()?;
            let destination = code.operand(second & 15, width)?.not_byte_address()?;
            let target = code.byte_target(2)?;
            let addend = Operand::immediate(width, signed4(second >> 4, width));
            Found::new(Opcode::Adjnz, width, "ADJNZ", "")
                .sized()
                .source(NamedOperand::immediate(addend))
                .destination(destination)
                .extra(target)
        }
        0xfb => Found::new(Opcode::Reit, Width::Byte, "REIT", ""),
        0xfc => jump(Opcode::Jmp, "JMP", "A", code.address()?),
        0xfd => jump(Opcode::Jsr, "JSR", "A", code.address()?),
        0xfe => jump(Opcode::Jmp, "JMP", "B", code.byte_target(1)?),
        0xff => Found::new(Opcode::Und, Width::Byte, "UND", ""),
        _ => return None,
    })
}

/// A jump to an address that the instruction holds.
fn jump(kind: Opcode, mnemonic: &'static str, format: &'static str, target: u32) -> Found {
    let operand = Operand::immediate(Width::Long, target & 0xf_ffff);
    let mut found = Found::new(kind, Width::Word, mnemonic, format);
    found.source = operand;
    found
}

/// `:S` with one operand that is a source.
fn short_one(kind: Opcode, width: Width, mnemonic: &'static str, named: NamedOperand) -> Found {
    Found::new(kind, width, mnemonic, "S").sized().source(named)
}

/// `.B:S src,R0L/R0H`.
fn short_to_byte<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    byte: u32,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let destination = NamedOperand::short_register(byte >> 2 & 1);
    let source = code.short_source(byte & 3, byte >> 2 & 1)?;
    Some(Found::new(kind, Width::Byte, mnemonic, "S").sized().source(source).destination(destination))
}

/// `.B:S #IMM8,dest`.
fn short_immediate<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    byte: u32,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let source = NamedOperand::immediate(code.immediate(Width::Byte)?);
    let destination = code.short_destination(byte & 7)?;
    Some(Found::new(kind, Width::Byte, mnemonic, "S").sized().source(source).destination(destination))
}

/// `STZ`, `STNZ`, and the first part of `STZX`, which have no format.
fn short_store<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    byte: u32,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let source = NamedOperand::immediate(code.immediate(Width::Byte)?);
    let destination = code.short_destination(byte & 7)?;
    Some(Found::new(kind, Width::Byte, mnemonic, "").source(source).destination(destination))
}

/// `.size:G src,dest`.
fn two<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    width: Width,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let second = code.byte()?;
    let source = code.operand(second >> 4, width)?;
    let mut destination = code.operand(second & 15, width)?;
    // "If (.B) is selected, A0 and A1 cannot be chosen for src and dest simultaneously."
    let addresses =
        |named: &NamedOperand| matches!(named.operand.mode, Mode::LowByte if named.operand.register >= A0);
    if addresses(&source) && addresses(&destination) {
        return None;
    }
    let multiplies = matches!(kind, Opcode::Mul | Opcode::Mulu);
    if multiplies {
        destination.is_factor()?
    } else {
        destination.widen_address()
    }
    let format = if ["MUL", "MULU", "ADC", "SBB", "TST", "XOR"].contains(&mnemonic) { "" } else { "G" };
    Some(Found::new(kind, width, mnemonic, format).sized().source(source).destination(destination))
}

/// `.size:Q #IMM4,dest`.
fn quick<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    width: Width,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let second = code.byte()?;
    let mut destination = code.operand(second & 15, width)?;
    destination.widen_address();
    let source = NamedOperand::immediate(Operand::immediate(width, signed4(second >> 4, width)));
    Some(Found::new(kind, width, mnemonic, "Q").sized().source(source).destination(destination))
}

/// A shift or rotation by an immediate.
fn shift<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    width: Width,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let second = code.byte()?;
    let destination = code.operand(second & 15, width)?.not_byte_address()?;
    let source = NamedOperand::immediate(Operand::immediate(Width::Byte, count4(second >> 4)));
    Some(Found::new(kind, width, mnemonic, "").sized().source(source).destination(destination))
}

/// `A0` or `A1` by one bit.
fn address_register(bit: u32) -> u8 {
    if bit & 1 == 0 { A0 } else { A1 }
}
