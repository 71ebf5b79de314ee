//! The opcodes of two bytes: 0x74 to 0x77, 0x7a to 0x7e, 0xeb.

use super::super::operation::{A0, Kind, Mode, Operand, Width};
use super::operand::Place;
use super::{Code, Found, condition, count4, jump};

/// Where `LDE` and `STE` reach beyond the first 64 kB.
fn far<F: Fn(u32) -> Option<u8>>(code: &mut Code<F>, field: u32, width: Width) -> Option<Place> {
    let (mode, register, name) = match field {
        0 => (Mode::Absolute, 0, "abs20"),
        1 => (Mode::FarBased, A0, "dsp:20[A0]"),
        _ => (Mode::FarIndirect, A0, "[A1A0]"),
    };
    let value = if field < 2 { code.address()? } else { 0 };
    Some(Place::new(Operand { mode, register, width, value }, name))
}

/// `dsp:8[SP]`.
fn stack<F: Fn(u32) -> Option<u8>>(code: &mut Code<F>, width: Width) -> Option<Place> {
    let value = code.byte()? as i8 as u32;
    Some(Place::new(Operand { mode: Mode::Stack, register: 0, width, value }, "dsp:8[SP]"))
}

/// A shift or rotation by `R1H`, which can shift neither `R1H` nor `R1`.
fn by_r1h(kind: Kind, mnemonic: &'static str, width: Width, place: Place) -> Option<Found> {
    let operand = place.operand;
    let itself = operand.register == 1 && matches!(operand.mode, Mode::HighByte | Mode::Register);
    if itself {
        return None;
    }
    let count = Place::new(Operand::byte(3), "R1H");
    let place = place.not_byte_address()?;
    Some(Found::new(kind, width, mnemonic, "").sized().source(count).destination(place))
}

/// `JMPI`, `JSRI`.
fn indirect<F: Fn(u32) -> Option<u8>>(
    code: &mut Code<F>,
    field: u32,
    kind: Kind,
    mnemonic: &'static str,
) -> Option<Found> {
    let near = matches!(kind, Kind::JmpiW | Kind::JsriW);
    let place = code.jump_source(field, if near { Width::Word } else { Width::Long })?;
    Some(Found::new(kind, Width::Word, mnemonic, if near { "W" } else { "A" }).source(place))
}

/// An instruction without operands but with a size.
fn bare(kind: Kind, width: Width, mnemonic: &'static str) -> Found {
    Found::new(kind, width, mnemonic, "").sized()
}

impl<F: Fn(u32) -> Option<u8>> Code<F> {
    /// 0x74, 0x75.
    pub fn group_74(&mut self, width: Width) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        let mut place = self.place(field, width)?;
        Some(match second >> 4 {
            number @ 0..=2 => {
                let target = far(self, number, width)?;
                bare(Kind::Ste, width, "STE").source(place).destination(target)
            }
            3 => {
                let target = stack(self, width)?;
                Found::new(Kind::Mov, width, "MOV", "G").sized().source(place).destination(target)
            }
            4 => Found::new(Kind::Push, width, "PUSH", "G").sized().source(place),
            5 => bare(Kind::Neg, width, "NEG").destination(place.not_byte_address()?),
            6 => by_r1h(Kind::Rot, "ROT", width, place)?,
            7 => {
                let place = place.not_byte_address()?;
                Found::new(Kind::Not, width, "NOT", "G").sized().destination(place)
            }
            number @ 8..=10 => {
                place.widen_address();
                let from = far(self, number - 8, width)?;
                bare(Kind::Lde, width, "LDE").source(from).destination(place)
            }
            11 => {
                place.widen_address();
                let from = stack(self, width)?;
                Found::new(Kind::Mov, width, "MOV", "G").sized().source(from).destination(place)
            }
            12 => {
                place.widen_address();
                let source = Place::immediate(self.immediate(width)?);
                Found::new(Kind::Mov, width, "MOV", "G").sized().source(source).destination(place)
            }
            13 => {
                place.widen_address();
                Found::new(Kind::Pop, width, "POP", "G").sized().destination(place)
            }
            14 => by_r1h(Kind::Shl, "SHL", width, place)?,
            _ => by_r1h(Kind::Sha, "SHA", width, place)?,
        })
    }

    /// 0x76, 0x77.
    pub fn group_76(&mut self, width: Width) -> Option<Found> {
        let second = self.byte()?;
        let mut place = self.place(second & 15, width)?;
        let (kind, mnemonic, format) = match second >> 4 {
            0 => (Kind::Tst, "TST", ""),
            1 => (Kind::Xor, "XOR", ""),
            2 => (Kind::And, "AND", "G"),
            3 => (Kind::Or, "OR", "G"),
            4 => (Kind::Add, "ADD", "G"),
            5 => (Kind::Sub, "SUB", "G"),
            6 => (Kind::Adc, "ADC", ""),
            7 => (Kind::Sbb, "SBB", ""),
            8 => (Kind::Cmp, "CMP", "G"),
            9 => return Some(bare(Kind::Divx, width, "DIVX").source(place)),
            10 => return Some(bare(Kind::Rolc, width, "ROLC").destination(place.not_byte_address()?)),
            11 => return Some(bare(Kind::Rorc, width, "RORC").destination(place.not_byte_address()?)),
            12 => return Some(bare(Kind::Divu, width, "DIVU").source(place)),
            13 => return Some(bare(Kind::Div, width, "DIV").source(place)),
            14 => return Some(bare(Kind::Adcf, width, "ADCF").destination(place.not_byte_address()?)),
            _ => return Some(bare(Kind::Abs, width, "ABS").destination(place.not_byte_address()?)),
        };
        place.widen_address();
        let source = Place::immediate(self.immediate(width)?);
        Some(Found::new(kind, width, mnemonic, format).sized().source(source).destination(place))
    }

    /// 0x7a: `LDC src,dest` and `XCHG.B`.
    pub fn group_7a(&mut self) -> Option<Found> {
        let second = self.byte()?;
        if second & 0x80 == 0 {
            return self.exchange(second, Width::Byte);
        }
        let place = self.place(second & 15, Width::Word)?;
        let register = self.control(second >> 4)?;
        Some(Found::new(Kind::Ldc, Width::Word, "LDC", "").source(place).destination(register))
    }

    /// 0x7b: `STC src,dest` and `XCHG.W`.
    pub fn group_7b(&mut self) -> Option<Found> {
        let second = self.byte()?;
        if second & 0x80 == 0 {
            return self.exchange(second, Width::Word);
        }
        let place = self.place(second & 15, Width::Word)?;
        let register = self.control(second >> 4)?;
        Some(Found::new(Kind::Stc, Width::Word, "STC", "").source(register).destination(place))
    }

    fn exchange(&mut self, second: u32, width: Width) -> Option<Found> {
        if second & 0x40 != 0 {
            return None;
        }
        let source = self.place(second >> 4 & 3, width)?;
        let place = self.place(second & 15, width)?;
        Some(bare(Kind::Xchg, width, "XCHG").source(source).destination(place))
    }

    /// 0x7c.
    pub fn group_7c(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        match second >> 4 {
            direction @ (0..=3 | 8..=11) => {
                let place = self.place(field, Width::Byte)?.not_byte_address()?;
                if field == 0 {
                    return None;
                }
                let r0l = Place::new(Operand::byte(0), "R0L");
                let (from, to) = if direction < 4 { (place, r0l) } else { (r0l, place) };
                let mnemonic = ["MOVLL", "MOVHL", "MOVLH", "MOVHH"][(direction & 3) as usize];
                let found = Found::new(Kind::MovDir, Width::Byte, mnemonic, "").extra(direction & 3);
                Some(found.source(from).destination(to))
            }
            6 => {
                let place = self.place(field, Width::Byte)?.not_byte_address()?;
                // R0H and R1H have no high half to extend into.
                (place.operand.mode != Mode::HighByte)
                    .then(|| bare(Kind::Exts, Width::Byte, "EXTS").destination(place))
            }
            12 => {
                let place = match field {
                    0 | 1 => Place::new(Operand::pair(field as u8), "Rn"),
                    4 => Place::new(Operand::pair(A0), "An"),
                    2 | 3 | 5 => return None,
                    _ => self.memory(field, Width::Long)?,
                };
                let pc = Place::new(Operand::NONE, "PC");
                Some(Found::new(Kind::StcPc, Width::Word, "STC", "").source(pc).destination(place))
            }
            14 => self.group_7c_e(field, Width::Byte),
            15 => Some(match field {
                0 => {
                    let number = Place::new(self.memory(15, Width::Byte)?.operand, "");
                    let table = self.address()?;
                    Found::new(Kind::Ldctx, Width::Word, "LDCTX", "").source(number).extra(table)
                }
                1 => bare(Kind::Rmpa, Width::Byte, "RMPA"),
                2 => Found::new(Kind::Enter, Width::Byte, "ENTER", "").extra(self.byte()?),
                3 => bare(Kind::Exts, Width::Word, "EXTS").destination(Place::new(Operand::word(0), "Rn")),
                _ => return None,
            }),
            4 => self.multiply(field, Width::Byte, Kind::Mulu, "MULU"),
            5 => self.multiply(field, Width::Byte, Kind::Mul, "MUL"),
            _ => None,
        }
    }

    /// 0x7d.
    pub fn group_7d(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let field = second & 15;
        match second >> 4 {
            0 => indirect(self, field, Kind::JmpiA, "JMPI"),
            1 => indirect(self, field, Kind::JsriA, "JSRI"),
            2 => indirect(self, field, Kind::JmpiW, "JMPI"),
            3 => indirect(self, field, Kind::JsriW, "JSRI"),
            4 => self.multiply(field, Width::Word, Kind::Mulu, "MULU"),
            5 => self.multiply(field, Width::Word, Kind::Mul, "MUL"),
            9 => {
                if field < 8 {
                    return None;
                }
                let place = self.memory(field, Width::Word)?;
                Some(Found::new(Kind::Pusha, Width::Word, "PUSHA", "").source(place))
            }
            10 if field < 8 => Some(Found::new(Kind::Ldipl, Width::Byte, "LDIPL", "").extra(field)),
            11 => {
                let value = (field << 4) as u8 as i8 >> 4;
                let source = Place::immediate(Operand::immediate(Width::Word, value as u16 as u32));
                let mut found = Found::new(Kind::AddSp, Width::Word, "ADD", "Q").source(source);
                found.form.destination = "SP";
                Some(found)
            }
            12 => {
                let allowed = [condition::LE, condition::O, condition::GE];
                let negated = [condition::GT, condition::NO, condition::LT];
                if !allowed.contains(&field) && !negated.contains(&field) {
                    return None;
                }
                let target = self.near(2)?;
                // The second form of the manual: four bits of condition.
                Some(jump(Kind::Jcnd, "JCnd", "2", target).extra(field))
            }
            13 => {
                is_condition(field)?;
                let mut found = Found::new(Kind::BmCarry, Width::Byte, "BMCnd", "").extra(field);
                found.form.destination = "C";
                Some(found)
            }
            14 => self.group_7c_e(field, Width::Word),
            15 => Some(match field {
                0 => {
                    let number = Place::new(self.memory(15, Width::Byte)?.operand, "");
                    let table = self.address()?;
                    Found::new(Kind::Stctx, Width::Word, "STCTX", "").source(number).extra(table)
                }
                1 => bare(Kind::Rmpa, Width::Word, "RMPA"),
                2 => Found::new(Kind::Exitd, Width::Word, "EXITD", ""),
                3 => Found::new(Kind::Wait, Width::Byte, "WAIT", ""),
                _ => return None,
            }),
            _ => None,
        }
    }

    /// 0x7c and 0x7d with 0xe_ behind.
    fn group_7c_e(&mut self, field: u32, width: Width) -> Option<Found> {
        let decimal =
            [(Kind::Dadd, "DADD"), (Kind::Dsub, "DSUB"), (Kind::Dadc, "DADC"), (Kind::Dsbb, "DSBB")];
        let accumulator = match width {
            Width::Byte => Place::new(Operand::byte(0), "Rn"),
            _ => Place::new(Operand::word(0), "Rn"),
        };
        Some(match field {
            0 | 1 | 3 => {
                let (kind, mnemonic) = match field {
                    0 => (Kind::Divu, "DIVU"),
                    1 => (Kind::Div, "DIV"),
                    _ => (Kind::Divx, "DIVX"),
                };
                bare(kind, width, mnemonic).source(Place::immediate(self.immediate(width)?))
            }
            2 => {
                let source = Place::immediate(self.immediate(width)?);
                Found::new(Kind::Push, width, "PUSH", "G").sized().source(source)
            }
            4..=7 => {
                let (kind, mnemonic) = decimal[(field & 3) as usize];
                let source = match width {
                    Width::Byte => Place::new(Operand::byte(1), "Rn"),
                    _ => Place::new(Operand::word(1), "Rn"),
                };
                bare(kind, width, mnemonic).source(source).destination(accumulator)
            }
            8 => bare(Kind::Smovf, width, "SMOVF"),
            9 => bare(Kind::Smovb, width, "SMOVB"),
            10 => bare(Kind::Sstr, width, "SSTR"),
            11 => {
                let mut source = self.immediate(width)?;
                if width == Width::Byte {
                    source = Operand::immediate(Width::Word, source.value as u8 as i8 as u16 as u32);
                }
                let found = Found::new(Kind::AddSp, width, "ADD", "G").sized();
                let mut found = found.source(Place::immediate(source));
                found.form.destination = "SP";
                found
            }
            12..=15 => {
                let (kind, mnemonic) = decimal[(field & 3) as usize];
                let source = Place::immediate(self.immediate(width)?);
                bare(kind, width, mnemonic).source(source).destination(accumulator)
            }
            _ => return None,
        })
    }

    /// `MUL` and `MULU` by an immediate.
    fn multiply(&mut self, field: u32, width: Width, kind: Kind, mnemonic: &'static str) -> Option<Found> {
        let place = self.place(field, width)?;
        place.is_factor()?;
        let source = Place::immediate(self.immediate(width)?);
        Some(bare(kind, width, mnemonic).source(source).destination(place))
    }

    /// 0x7e: bits.
    pub fn group_7e(&mut self) -> Option<Found> {
        let second = self.byte()?;
        let (kind, mnemonic, format) = match second >> 4 {
            0 => (Kind::Btstc, "BTSTC", ""),
            1 => (Kind::Btsts, "BTSTS", ""),
            2 => (Kind::Bm, "BMCnd", ""),
            3 => (Kind::Bntst, "BNTST", ""),
            4 => (Kind::Band, "BAND", ""),
            5 => (Kind::Bnand, "BNAND", ""),
            6 => (Kind::Bor, "BOR", ""),
            7 => (Kind::Bnor, "BNOR", ""),
            8 => (Kind::Bclr, "BCLR", "G"),
            9 => (Kind::Bset, "BSET", "G"),
            10 => (Kind::Bnot, "BNOT", "G"),
            11 => (Kind::Btst, "BTST", "G"),
            12 => (Kind::Bxor, "BXOR", ""),
            13 => (Kind::Bnxor, "BNXOR", ""),
            _ => return None,
        };
        let place = self.bit(second & 15)?;
        let mut found = Found::new(kind, Width::Byte, mnemonic, format).destination(place);
        if !matches!(kind, Kind::Bclr | Kind::Bset | Kind::Bnot | Kind::Btstc | Kind::Btsts | Kind::Bm) {
            // The manual calls a bit that is only read the source.
            (found.form.source, found.form.destination) = (place.name, "");
        }
        if kind != Kind::Bm {
            return Some(found);
        }
        let condition = match self.byte()? {
            // In this byte the conditions stand in another order, and the second half is the first one inverted.
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
            (12..=15, _) => Found::new(Kind::Int, Width::Byte, "INT", "").extra(second & 0x3f),
            (8..=11, count) => {
                let (kind, mnemonic) = if middle < 10 { (Kind::Shl, "SHL") } else { (Kind::Sha, "SHA") };
                let count = Place::immediate(Operand::immediate(Width::Byte, count4(count)));
                let pair = Place::new(Operand::pair(middle as u8 & 1), "Rn");
                bare(kind, Width::Long, mnemonic).source(count).destination(pair)
            }
            (0..=3, 1) => {
                let (kind, mnemonic) = if middle < 2 { (Kind::Shl, "SHL") } else { (Kind::Sha, "SHA") };
                let pair = Place::new(Operand::pair(middle as u8 & 1), "Rn");
                let count = Place::new(Operand::byte(3), "R1H");
                bare(kind, Width::Long, mnemonic).source(count).destination(pair)
            }
            (_, 0) => {
                let register = self.control(middle)?;
                let source = Place::immediate(self.immediate(Width::Word)?);
                Found::new(Kind::Ldc, Width::Word, "LDC", "").source(source).destination(register)
            }
            (_, 2) => Found::new(Kind::Pushc, Width::Word, "PUSHC", "").source(self.control(middle)?),
            (_, 3) => Found::new(Kind::Popc, Width::Word, "POPC", "").destination(self.control(middle)?),
            (_, 4) => Found::new(Kind::Fset, Width::Word, "FSET", "").extra(1 << middle),
            (_, 5) => Found::new(Kind::Fclr, Width::Word, "FCLR", "").extra(1 << middle),
            (0..=5, field @ 8..=15) => {
                let source = self.memory(field, Width::Word)?;
                let name = if middle < 4 { "Rn" } else { "An" };
                let target = Place::new(Operand::word(middle as u8), name);
                Found::new(Kind::Mova, Width::Word, "MOVA", "").source(source).destination(target)
            }
            _ => return None,
        })
    }
}

/// Whether four bits are a condition.
fn is_condition(field: u32) -> Option<()> {
    (field != 11 && field != 15).then_some(())
}
