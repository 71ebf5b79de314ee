//! The opcodes of two bytes: 0x74 to 0x77, 0x7a to 0x7e, 0xeb.

use super::super::operation::{A0, Mode, Opcode, Operand, Width};
use super::operand::NamedOperand;
use super::{Code, Found, condition, count4, jump};

/// Operand of `LDE` and `STE`, which reach beyond the first 64 kB.
fn far<F: Fn(u32) -> Option<u8>>(code: &mut Code<F>, field: u32, width: Width) -> Option<NamedOperand> {
    let (mode, register, name) = match field {
        0 => (Mode::Absolute, 0, "abs20"),
        1 => (Mode::FarBased, A0, "dsp:20[A0]"),
        _ => (Mode::FarIndirect, A0, "[A1A0]"),
    };
    let value = if field < 2 { code.address()? } else { 0 };
    Some(NamedOperand::new(Operand { mode, register, width, value }, name))
}

/// `dsp:8[SP]`.
fn stack<F: Fn(u32) -> Option<u8>>(code: &mut Code<F>, width: Width) -> Option<NamedOperand> {
    let value = code.byte()? as i8 as u32;
    Some(NamedOperand::new(Operand { mode: Mode::Stack, register: 0, width, value }, "dsp:8[SP]"))
}

/// A shift or rotation by `R1H`, which can shift neither `R1H` nor `R1`.
fn by_r1h(kind: Opcode, mnemonic: &'static str, width: Width, named: NamedOperand) -> Option<Found> {
    let operand = named.operand;
    let itself = operand.register == 1 && matches!(operand.mode, Mode::HighByte | Mode::Register);
    if itself {
        return None;
    }
    let count = NamedOperand::new(Operand::byte(3), "R1H");
    let named = named.not_byte_address()?;
    Some(Found::new(kind, width, mnemonic, "").sized().source(count).destination(named))
}

/// `JMPI`, `JSRI`.
fn indirect<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    field: u32,
    kind: Opcode,
    mnemonic: &'static str,
) -> Option<Found> {
    let is_word = matches!(kind, Opcode::JmpiW | Opcode::JsriW);
    let named = code.jump_source(field, if is_word { Width::Word } else { Width::Long })?;
    Some(Found::new(kind, Width::Word, mnemonic, if is_word { "W" } else { "A" }).source(named))
}

/// An instruction without operands but with a size.
fn bare(kind: Opcode, width: Width, mnemonic: &'static str) -> Found {
    Found::new(kind, width, mnemonic, "").sized()
}

impl<F: Fn(u32) -> Option<u8>> Code<F> {
    /// 0x74, 0x75.
    pub fn group_74(&mut self, width: Width) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        let mut named = self.operand(field, width)?;
        Some(match second >> 4 {
            number @ 0..=2 => {
                let target = far(self, number, width)?;
                bare(Opcode::Ste, width, "STE").source(named).destination(target)
            }
            3 => {
                let target = stack(self, width)?;
                Found::new(Opcode::Mov, width, "MOV", "G").sized().source(named).destination(target)
            }
            4 => Found::new(Opcode::Push, width, "PUSH", "G").sized().source(named),
            5 => bare(Opcode::Neg, width, "NEG").destination(named.not_byte_address()?),
            6 => by_r1h(Opcode::Rot, "ROT", width, named)?,
            7 => {
                let named = named.not_byte_address()?;
                Found::new(Opcode::Not, width, "NOT", "G").sized().destination(named)
            }
            number @ 8..=10 => {
                named.widen_address();
                let from = far(self, number - 8, width)?;
                bare(Opcode::Lde, width, "LDE").source(from).destination(named)
            }
            11 => {
                named.widen_address();
                let from = stack(self, width)?;
                Found::new(Opcode::Mov, width, "MOV", "G").sized().source(from).destination(named)
            }
            12 => {
                named.widen_address();
                let source = NamedOperand::immediate(self.immediate(width)?);
                Found::new(Opcode::Mov, width, "MOV", "G").sized().source(source).destination(named)
            }
            13 => {
                named.widen_address();
                Found::new(Opcode::Pop, width, "POP", "G").sized().destination(named)
            }
            14 => by_r1h(Opcode::Shl, "SHL", width, named)?,
            _ => by_r1h(Opcode::Sha, "SHA", width, named)?,
        })
    }

    /// 0x76, 0x77.
    pub fn group_76(&mut self, width: Width) -> Option<Found> {
        let second = self.byte()?;
        let mut named = self.operand(second & 15, width)?;
        let (kind, mnemonic, format) = match second >> 4 {
            0 => (Opcode::Tst, "TST", ""),
            1 => (Opcode::Xor, "XOR", ""),
            2 => (Opcode::And, "AND", "G"),
            3 => (Opcode::Or, "OR", "G"),
            4 => (Opcode::Add, "ADD", "G"),
            5 => (Opcode::Sub, "SUB", "G"),
            6 => (Opcode::Adc, "ADC", ""),
            7 => (Opcode::Sbb, "SBB", ""),
            8 => (Opcode::Cmp, "CMP", "G"),
            9 => return Some(bare(Opcode::Divx, width, "DIVX").source(named)),
            10 => return Some(bare(Opcode::Rolc, width, "ROLC").destination(named.not_byte_address()?)),
            11 => return Some(bare(Opcode::Rorc, width, "RORC").destination(named.not_byte_address()?)),
            12 => return Some(bare(Opcode::Divu, width, "DIVU").source(named)),
            13 => return Some(bare(Opcode::Div, width, "DIV").source(named)),
            14 => return Some(bare(Opcode::Adcf, width, "ADCF").destination(named.not_byte_address()?)),
            _ => return Some(bare(Opcode::Abs, width, "ABS").destination(named.not_byte_address()?)),
        };
        named.widen_address();
        let source = NamedOperand::immediate(self.immediate(width)?);
        Some(Found::new(kind, width, mnemonic, format).sized().source(source).destination(named))
    }

    /// 0x7a: `LDC src,dest` and `XCHG.B`.
    pub fn group_7a(&mut self) -> Option<Found> {
        let second = self.byte()?;
        if second & 0x80 == 0 {
            return self.exchange(second, Width::Byte);
        }
        let named = self.operand(second & 15, Width::Word)?;
        let register = self.control(second >> 4)?;
        Some(Found::new(Opcode::Ldc, Width::Word, "LDC", "").source(named).destination(register))
    }

    /// 0x7b: `STC src,dest` and `XCHG.W`.
    pub fn group_7b(&mut self) -> Option<Found> {
        let second = self.byte()?;
        if second & 0x80 == 0 {
            return self.exchange(second, Width::Word);
        }
        let named = self.operand(second & 15, Width::Word)?;
        let register = self.control(second >> 4)?;
        Some(Found::new(Opcode::Stc, Width::Word, "STC", "").source(register).destination(named))
    }

    fn exchange(&mut self, second: u32, width: Width) -> Option<Found> {
        if second & 0x40 != 0 {
            return None;
        }
        let source = self.operand(second >> 4 & 3, width)?;
        let named = self.operand(second & 15, width)?;
        Some(bare(Opcode::Xchg, width, "XCHG").source(source).destination(named))
    }

    /// 0x7c.
    pub fn group_7c(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        match second >> 4 {
            direction @ (0..=3 | 8..=11) => {
                let named = self.operand(field, Width::Byte)?.not_byte_address()?;
                if field == 0 {
                    return None;
                }
                let r0l = NamedOperand::new(Operand::byte(0), "R0L");
                let (from, to) = if direction < 4 { (named, r0l) } else { (r0l, named) };
                let mnemonic = ["MOVLL", "MOVHL", "MOVLH", "MOVHH"][(direction & 3) as usize];
                let found = Found::new(Opcode::MovDir, Width::Byte, mnemonic, "").extra(direction & 3);
                Some(found.source(from).destination(to))
            }
            6 => {
                let named = self.operand(field, Width::Byte)?.not_byte_address()?;
                // R0H and R1H have no high half to extend into.
                (named.operand.mode != Mode::HighByte)
                    .then(|| bare(Opcode::Exts, Width::Byte, "EXTS").destination(named))
            }
            12 => {
                let named = match field {
                    0 | 1 => NamedOperand::new(Operand::pair(field as u8), "Rn"),
                    4 => NamedOperand::new(Operand::pair(A0), "An"),
                    2 | 3 | 5 => return None,
                    _ => self.memory(field, Width::Long)?,
                };
                let pc = NamedOperand::new(Operand::NONE, "PC");
                Some(Found::new(Opcode::StcPc, Width::Word, "STC", "").source(pc).destination(named))
            }
            14 => self.group_7c_e(field, Width::Byte),
            15 => Some(match field {
                0 => {
                    let number = NamedOperand::new(self.memory(15, Width::Byte)?.operand, "");
                    let table = self.address()?;
                    Found::new(Opcode::Ldctx, Width::Word, "LDCTX", "").source(number).extra(table)
                }
                1 => bare(Opcode::Rmpa, Width::Byte, "RMPA"),
                2 => Found::new(Opcode::Enter, Width::Byte, "ENTER", "").extra(self.byte()?),
                3 => bare(Opcode::Exts, Width::Word, "EXTS")
                    .destination(NamedOperand::new(Operand::word(0), "Rn")),
                _ => return None,
            }),
            4 => self.multiply(field, Width::Byte, Opcode::Mulu, "MULU"),
            5 => self.multiply(field, Width::Byte, Opcode::Mul, "MUL"),
            _ => None,
        }
    }

    /// 0x7d.
    pub fn group_7d(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        match second >> 4 {
            0 => indirect(self, field, Opcode::JmpiA, "JMPI"),
            1 => indirect(self, field, Opcode::JsriA, "JSRI"),
            2 => indirect(self, field, Opcode::JmpiW, "JMPI"),
            3 => indirect(self, field, Opcode::JsriW, "JSRI"),
            4 => self.multiply(field, Width::Word, Opcode::Mulu, "MULU"),
            5 => self.multiply(field, Width::Word, Opcode::Mul, "MUL"),
            9 => {
                if field < 8 {
                    return None;
                }
                let named = self.memory(field, Width::Word)?;
                Some(Found::new(Opcode::Pusha, Width::Word, "PUSHA", "").source(named))
            }
            10 if field < 8 => Some(Found::new(Opcode::Ldipl, Width::Byte, "LDIPL", "").extra(field)),
            11 => {
                let value = (field << 4) as u8 as i8 >> 4;
                let source = NamedOperand::immediate(Operand::immediate(Width::Word, value as u16 as u32));
                let mut found = Found::new(Opcode::AddSp, Width::Word, "ADD", "Q").source(source);
                found.form.destination = "SP";
                Some(found)
            }
            12 => {
                let allowed = [condition::LE, condition::O, condition::GE];
                let negated = [condition::GT, condition::NO, condition::LT];
                if !allowed.contains(&field) && !negated.contains(&field) {
                    return None;
                }
                let target = self.byte_target(2)?;
                // The second form of the manual: four bits of condition.
                Some(jump(Opcode::Jcnd, "JCnd", "2", target).extra(field))
            }
            13 => {
                is_condition(field)?;
                let mut found = Found::new(Opcode::BmCarry, Width::Byte, "BMCnd", "").extra(field);
                found.form.destination = "C";
                Some(found)
            }
            14 => self.group_7c_e(field, Width::Word),
            15 => Some(match field {
                0 => {
                    let number = NamedOperand::new(self.memory(15, Width::Byte)?.operand, "");
                    let table = self.address()?;
                    Found::new(Opcode::Stctx, Width::Word, "STCTX", "").source(number).extra(table)
                }
                1 => bare(Opcode::Rmpa, Width::Word, "RMPA"),
                2 => Found::new(Opcode::Exitd, Width::Word, "EXITD", ""),
                3 => Found::new(Opcode::Wait, Width::Byte, "WAIT", ""),
                _ => return None,
            }),
            _ => None,
        }
    }

    /// 0x7c and 0x7d with 0xe_ behind.
    fn group_7c_e(&mut self, field: u32, width: Width) -> Option<Found> {
        let decimal =
            [(Opcode::Dadd, "DADD"), (Opcode::Dsub, "DSUB"), (Opcode::Dadc, "DADC"), (Opcode::Dsbb, "DSBB")];
        let accumulator = match width {
            Width::Byte => NamedOperand::new(Operand::byte(0), "Rn"),
            _ => NamedOperand::new(Operand::word(0), "Rn"),
        };
        Some(match field {
            0 | 1 | 3 => {
                let (kind, mnemonic) = match field {
                    0 => (Opcode::Divu, "DIVU"),
                    1 => (Opcode::Div, "DIV"),
                    _ => (Opcode::Divx, "DIVX"),
                };
                bare(kind, width, mnemonic).source(NamedOperand::immediate(self.immediate(width)?))
            }
            2 => {
                let source = NamedOperand::immediate(self.immediate(width)?);
                Found::new(Opcode::Push, width, "PUSH", "G").sized().source(source)
            }
            4..=7 => {
                let (kind, mnemonic) = decimal[(field & 3) as usize];
                let source = match width {
                    Width::Byte => NamedOperand::new(Operand::byte(1), "Rn"),
                    _ => NamedOperand::new(Operand::word(1), "Rn"),
                };
                bare(kind, width, mnemonic).source(source).destination(accumulator)
            }
            8 => bare(Opcode::Smovf, width, "SMOVF"),
            9 => bare(Opcode::Smovb, width, "SMOVB"),
            10 => bare(Opcode::Sstr, width, "SSTR"),
            11 => {
                let mut source = self.immediate(width)?;
                if width == Width::Byte {
                    source = Operand::immediate(Width::Word, source.value as u8 as i8 as u16 as u32);
                }
                let found = Found::new(Opcode::AddSp, width, "ADD", "G").sized();
                let mut found = found.source(NamedOperand::immediate(source));
                found.form.destination = "SP";
                found
            }
            12..=15 => {
                let (kind, mnemonic) = decimal[(field & 3) as usize];
                let source = NamedOperand::immediate(self.immediate(width)?);
                bare(kind, width, mnemonic).source(source).destination(accumulator)
            }
            _ => return None,
        })
    }

    /// `MUL` and `MULU` by an immediate.
    fn multiply(&mut self, field: u32, width: Width, kind: Opcode, mnemonic: &'static str) -> Option<Found> {
        let named = self.operand(field, width)?;
        named.is_factor()?;
        let source = NamedOperand::immediate(self.immediate(width)?);
        Some(bare(kind, width, mnemonic).source(source).destination(named))
    }

    /// 0x7e: bits.
    pub fn group_7e(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let (kind, mnemonic, format) = match second >> 4 {
            0 => (Opcode::Btstc, "BTSTC", ""),
            1 => (Opcode::Btsts, "BTSTS", ""),
            2 => (Opcode::Bm, "BMCnd", ""),
            3 => (Opcode::Bntst, "BNTST", ""),
            4 => (Opcode::Band, "BAND", ""),
            5 => (Opcode::Bnand, "BNAND", ""),
            6 => (Opcode::Bor, "BOR", ""),
            7 => (Opcode::Bnor, "BNOR", ""),
            8 => (Opcode::Bclr, "BCLR", "G"),
            9 => (Opcode::Bset, "BSET", "G"),
            10 => (Opcode::Bnot, "BNOT", "G"),
            11 => (Opcode::Btst, "BTST", "G"),
            12 => (Opcode::Bxor, "BXOR", ""),
            13 => (Opcode::Bnxor, "BNXOR", ""),
            _ => return None,
        };
        let named = self.bit(second & 15)?;
        let mut found = Found::new(kind, Width::Byte, mnemonic, format).destination(named);
        if !matches!(
            kind,
            Opcode::Bclr | Opcode::Bset | Opcode::Bnot | Opcode::Btstc | Opcode::Btsts | Opcode::Bm
        ) {
            // The manual calls a bit that is only read the source.
            (found.form.source, found.form.destination) = (named.name, "");
        }
        if kind != Opcode::Bm {
            return Some(found);
        }
        let condition = match self.byte()? {
            // In this byte the conditions stand in another order, and the second half is the first
            // one inverted.
            code @ 0..=3 => code,
            code @ 4..=6 => code + 4,
            code @ 0xf8..=0xfb => code - 0xf8 + 4,
            code @ 0xfc..=0xfe => code - 0xfc + 12,
            _ => return None,
        };
        Some(found.extra(condition))
    }

    /// 0xeb.
    pub fn group_eb(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let middle = second >> 4;
        Some(match (middle, second & 15) {
            (12..=15, _) => Found::new(Opcode::Int, Width::Byte, "INT", "").extra(second & 0x3f),
            (8..=11, count) => {
                let (kind, mnemonic) = if middle < 10 { (Opcode::Shl, "SHL") } else { (Opcode::Sha, "SHA") };
                let count = NamedOperand::immediate(Operand::immediate(Width::Byte, count4(count)));
                let pair = NamedOperand::new(Operand::pair(middle as u8 & 1), "Rn");
                bare(kind, Width::Long, mnemonic).source(count).destination(pair)
            }
            (0..=3, 1) => {
                let (kind, mnemonic) = if middle < 2 { (Opcode::Shl, "SHL") } else { (Opcode::Sha, "SHA") };
                let pair = NamedOperand::new(Operand::pair(middle as u8 & 1), "Rn");
                let count = NamedOperand::new(Operand::byte(3), "R1H");
                bare(kind, Width::Long, mnemonic).source(count).destination(pair)
            }
            (_, 0) => {
                let register = self.control(middle)?;
                let source = NamedOperand::immediate(self.immediate(Width::Word)?);
                Found::new(Opcode::Ldc, Width::Word, "LDC", "").source(source).destination(register)
            }
            (_, 2) => Found::new(Opcode::Pushc, Width::Word, "PUSHC", "").source(self.control(middle)?),
            (_, 3) => Found::new(Opcode::Popc, Width::Word, "POPC", "").destination(self.control(middle)?),
            (_, 4) => Found::new(Opcode::Fset, Width::Word, "FSET", "").extra(1 << middle),
            (_, 5) => Found::new(Opcode::Fclr, Width::Word, "FCLR", "").extra(1 << middle),
            (0..=5, field @ 8..=15) => {
                let source = self.memory(field, Width::Word)?;
                let name = if middle < 4 { "Rn" } else { "An" };
                let target = NamedOperand::new(Operand::word(middle as u8), name);
                Found::new(Opcode::Mova, Width::Word, "MOVA", "").source(source).destination(target)
            }
            _ => return None,
        })
    }
}

/// Accepts the four bits of a condition.
fn is_condition(field: u32) -> Option<()> {
    (field != 11 && field != 15).then_some(())
}
