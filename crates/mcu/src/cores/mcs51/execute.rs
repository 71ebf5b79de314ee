//! Execution of instructions.
//!
//! Source: Intel, *MCS 51 Microcontroller Family User's Manual* (272383-002), chapter "MCS 51
//! Programmer's Guide and Instruction Set", section "Instruction Definitions".

mod bus;

use super::memory::{INTERNAL, TRAP, Trapped};
use super::registers::{AC, CY, Mcs51, OV, Port};
use super::timing::{BYTES, CYCLES};
use crate::machine::Machine;
use crate::{Fault, Flow, Observer, Step, Stop};

/// The accumulator's direct address, which `MOV A,direct` must not have.
const ACC: u8 = 0xe0;

impl Machine<Mcs51> {
    /// Executes the instruction at `pc` whose opcode is given; the program counter already points
    /// behind it.
    #[inline(always)]
    pub fn execute<O: Observer>(&mut self, observer: &mut O, pc: u16, opcode: u8) -> Result<(), Fault> {
        let n = opcode & 7;
        // The bytes behind the opcode, where it has any.
        let first = self.core.memory.code(pc.wrapping_add(1));
        let second = self.core.memory.code(pc.wrapping_add(2));
        let a = self.core.a;
        match opcode {
            // NOP
            0x00 => {}

            // ADD A
            0x24 => self.add(first, 0),
            0x25 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.add(value, 0);
            }
            0x26 | 0x27 => {
                let value = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?;
                self.add(value, 0);
            }
            0x28..=0x2f => self.add(self.core.bank_register(n), 0),
            // ADDC A
            0x34 => self.add(first, self.core.carry()),
            0x35 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.add(value, self.core.carry());
            }
            0x36 | 0x37 => {
                let value = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?;
                self.add(value, self.core.carry());
            }
            0x38..=0x3f => self.add(self.core.bank_register(n), self.core.carry()),
            // SUBB A
            0x94 => self.subtract(first),
            0x95 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.subtract(value);
            }
            0x96 | 0x97 => {
                let value = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?;
                self.subtract(value);
            }
            0x98..=0x9f => self.subtract(self.core.bank_register(n)),
            // INC
            0x04 => self.core.a = a.wrapping_add(1),
            0x05 => self.change_direct(observer, pc, first, |value| value.wrapping_add(1))?,
            0x06 | 0x07 => self.change_indirect(observer, pc, opcode & 1, |value| value.wrapping_add(1))?,
            0x08..=0x0f => self.core.set_bank_register(n, self.core.bank_register(n).wrapping_add(1)),
            0xa3 => self.core.dptr = self.core.dptr.wrapping_add(1),
            // DEC
            0x14 => self.core.a = a.wrapping_sub(1),
            0x15 => self.change_direct(observer, pc, first, |value| value.wrapping_sub(1))?,
            0x16 | 0x17 => self.change_indirect(observer, pc, opcode & 1, |value| value.wrapping_sub(1))?,
            0x18..=0x1f => self.core.set_bank_register(n, self.core.bank_register(n).wrapping_sub(1)),
            // MUL AB
            0xa4 => {
                let [low, high] = (u16::from(a) * u16::from(self.core.b)).to_le_bytes();
                (self.core.a, self.core.b) = (low, high);
                self.core.flag(CY, false);
                self.core.flag(OV, high != 0);
            }
            // DIV AB
            0x84 => self.divide(pc)?,
            // DA A
            0xd4 => self.decimal_adjust(),

            // ORL
            0x42 => self.change_direct(observer, pc, first, |value| value | a)?,
            0x43 => self.change_direct(observer, pc, first, |value| value | second)?,
            0x44 => self.core.a |= first,
            0x45 => self.core.a |= self.read_direct(observer, pc, first, Port::Pins)?,
            0x46 | 0x47 => {
                self.core.a |= self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?
            }
            0x48..=0x4f => self.core.a |= self.core.bank_register(n),
            // ANL
            0x52 => self.change_direct(observer, pc, first, |value| value & a)?,
            0x53 => self.change_direct(observer, pc, first, |value| value & second)?,
            0x54 => self.core.a &= first,
            0x55 => self.core.a &= self.read_direct(observer, pc, first, Port::Pins)?,
            0x56 | 0x57 => {
                self.core.a &= self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?
            }
            0x58..=0x5f => self.core.a &= self.core.bank_register(n),
            // XRL
            0x62 => self.change_direct(observer, pc, first, |value| value ^ a)?,
            0x63 => self.change_direct(observer, pc, first, |value| value ^ second)?,
            0x64 => self.core.a ^= first,
            0x65 => self.core.a ^= self.read_direct(observer, pc, first, Port::Pins)?,
            0x66 | 0x67 => {
                self.core.a ^= self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?
            }
            0x68..=0x6f => self.core.a ^= self.core.bank_register(n),
            // CLR A, CPL A, RL A, RLC A, RR A, RRC A, SWAP A
            0xe4 => self.core.a = 0,
            0xf4 => self.core.a = !a,
            0x23 => self.core.a = a.rotate_left(1),
            0x33 => {
                self.core.a = a << 1 | self.core.carry();
                self.core.flag(CY, a & 0x80 != 0);
            }
            0x03 => self.core.a = a.rotate_right(1),
            0x13 => {
                self.core.a = a >> 1 | self.core.carry() << 7;
                self.core.flag(CY, a & 0x01 != 0);
            }
            0xc4 => self.core.a = a.rotate_left(4),

            // MOV
            0xe5 => {
                if first == ACC {
                    let what = "MOV A,ACC, which the manual calls not a valid instruction".into();
                    return Err(Fault::Architecture { pc: pc.into(), address: pc.into(), what });
                }
                self.core.a = self.read_direct(observer, pc, first, Port::Pins)?;
            }
            0xe6 | 0xe7 => {
                self.core.a = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?
            }
            0xe8..=0xef => self.core.a = self.core.bank_register(n),
            0x74 => self.core.a = first,
            0xf5 => self.write_direct(observer, pc, first, a)?,
            0xf6 | 0xf7 => self.write_indirect(observer, pc, self.core.bank_register(opcode & 1), a)?,
            0xf8..=0xff => self.core.set_bank_register(n, a),
            0x75 => self.write_direct(observer, pc, first, second)?,
            0x76 | 0x77 => self.write_indirect(observer, pc, self.core.bank_register(opcode & 1), first)?,
            0x78..=0x7f => self.core.set_bank_register(n, first),
            // MOV direct,direct: the source comes first in the code.
            0x85 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.write_direct(observer, pc, second, value)?;
            }
            0x86 | 0x87 => {
                let value = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?;
                self.write_direct(observer, pc, first, value)?;
            }
            0x88..=0x8f => self.write_direct(observer, pc, first, self.core.bank_register(n))?,
            0xa6 | 0xa7 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.write_indirect(observer, pc, self.core.bank_register(opcode & 1), value)?;
            }
            0xa8..=0xaf => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.core.set_bank_register(n, value);
            }
            0x90 => self.core.dptr = u16::from_be_bytes([first, second]),
            // MOVC A
            0x93 => self.core.a = self.read_code(observer, pc, self.core.dptr.wrapping_add(a.into()))?,
            0x83 => self.core.a = self.read_code(observer, pc, self.core.pc.wrapping_add(a.into()))?,
            // MOVX
            0xe0 => self.core.a = self.read_external(observer, pc, self.core.dptr)?,
            0xf0 => self.write_external(observer, pc, self.core.dptr, a)?,
            0xe2 | 0xe3 => {
                let address = self.paged(observer, pc, self.core.bank_register(opcode & 1))?;
                self.core.a = self.read_external(observer, pc, address)?;
            }
            0xf2 | 0xf3 => {
                let address = self.paged(observer, pc, self.core.bank_register(opcode & 1))?;
                self.write_external(observer, pc, address, a)?;
            }
            // PUSH, POP
            0xc0 => self.push_direct(observer, pc, first)?,
            0xd0 => {
                // The pointer counts before the value arrives, so that POP SP leaves the value
                // popped ("POP").
                let sp = self.core.sp;
                let value = self.pop(observer, pc)?;
                if let Err(fault) = self.write_direct(observer, pc, first, value) {
                    self.core.sp = sp;
                    return Err(fault);
                }
            }
            // XCH, XCHD
            0xc5 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.write_direct(observer, pc, first, a)?;
                self.core.a = value;
            }
            0xc6 | 0xc7 => {
                let address = self.core.bank_register(opcode & 1);
                let value = self.read_indirect(observer, pc, address)?;
                self.write_indirect(observer, pc, address, a)?;
                self.core.a = value;
            }
            0xc8..=0xcf => {
                self.core.a = self.core.bank_register(n);
                self.core.set_bank_register(n, a);
            }
            0xd6 | 0xd7 => {
                let address = self.core.bank_register(opcode & 1);
                let value = self.read_indirect(observer, pc, address)?;
                self.write_indirect(observer, pc, address, value & 0xf0 | a & 0x0f)?;
                self.core.a = a & 0xf0 | value & 0x0f;
            }

            // CLR, SETB, CPL
            0xc3 => self.core.flag(CY, false),
            0xd3 => self.core.flag(CY, true),
            0xb3 => self.core.psw ^= CY,
            0xc2 => self.write_bit(observer, pc, first, false)?,
            0xd2 => self.write_bit(observer, pc, first, true)?,
            0xb2 => {
                let bit = self.read_bit(observer, pc, first, Port::Latch)?;
                self.write_bit(observer, pc, first, !bit)?;
            }
            // ANL C, ORL C, MOV C, MOV bit,C
            0x82 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.core.flag(CY, bit && self.core.carry() != 0);
            }
            0xb0 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.core.flag(CY, !bit && self.core.carry() != 0);
            }
            0x72 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.core.flag(CY, bit || self.core.carry() != 0);
            }
            0xa0 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.core.flag(CY, !bit || self.core.carry() != 0);
            }
            0xa2 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.core.flag(CY, bit);
            }
            0x92 => self.write_bit(observer, pc, first, self.core.carry() != 0)?,

            // JC, JNC, JB, JNB, JBC, JZ, JNZ
            0x40 => self.branch::<O>(first, self.core.carry() != 0),
            0x50 => self.branch::<O>(first, self.core.carry() == 0),
            0x20 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.branch::<O>(second, bit);
            }
            0x30 => {
                let bit = self.read_bit(observer, pc, first, Port::Pins)?;
                self.branch::<O>(second, !bit);
            }
            0x10 => {
                let bit = self.read_bit(observer, pc, first, Port::Latch)?;
                if bit {
                    self.write_bit(observer, pc, first, false)?;
                }
                self.branch::<O>(second, bit);
            }
            0x60 => self.branch::<O>(first, a == 0),
            0x70 => self.branch::<O>(first, a != 0),
            // CJNE
            0xb4 => self.compare::<O>(a, first, second),
            0xb5 => {
                let value = self.read_direct(observer, pc, first, Port::Pins)?;
                self.compare::<O>(a, value, second);
            }
            0xb6 | 0xb7 => {
                let value = self.read_indirect(observer, pc, self.core.bank_register(opcode & 1))?;
                self.compare::<O>(value, first, second);
            }
            0xb8..=0xbf => self.compare::<O>(self.core.bank_register(n), first, second),
            // DJNZ
            0xd5 => {
                let value = self.read_direct(observer, pc, first, Port::Latch)?.wrapping_sub(1);
                self.write_direct(observer, pc, first, value)?;
                self.branch::<O>(second, value != 0);
            }
            0xd8..=0xdf => {
                let value = self.core.bank_register(n).wrapping_sub(1);
                self.core.set_bank_register(n, value);
                self.branch::<O>(first, value != 0);
            }

            // SJMP, LJMP, JMP @A+DPTR
            0x80 => self.branch::<O>(first, true),
            0x02 => self.jump::<O>(u16::from_be_bytes([first, second]), Flow::Jump),
            0x73 => self.jump::<O>(self.core.dptr.wrapping_add(a.into()), Flow::Jump),
            // LCALL, RET, RETI
            0x12 => self.call(observer, pc, u16::from_be_bytes([first, second]))?,
            // Without an interrupt in progress RETI is RET ("RETI").
            0x22 | 0x32 => {
                let high = self.read_indirect(observer, pc, self.core.sp)?;
                let low = self.read_indirect(observer, pc, self.core.sp.wrapping_sub(1))?;
                self.core.sp = self.core.sp.wrapping_sub(2);
                self.jump::<O>(u16::from_be_bytes([high, low]), Flow::Return);
            }
            _ => match opcode & 0x1f {
                // AJMP, ACALL
                0x01 => self.jump::<O>(self.in_page(opcode, first), Flow::Jump),
                0x11 => self.call(observer, pc, self.in_page(opcode, first))?,
                // 0xa5
                _ => return Err(Fault::Opcode { pc: pc.into(), bytes: vec![opcode] }),
            },
        }
        Ok(())
    }

    /// `ADD` (with no carry) and `ADDC`.
    #[inline(always)]
    fn add(&mut self, value: u8, carry: u8) {
        let a = self.core.a;
        let sum = u16::from(a) + u16::from(value) + u16::from(carry);
        self.core.a = sum as u8;
        // The carry out of bit 3 shows in bit 4.
        self.core.flag(AC, (a ^ value ^ self.core.a) & 0x10 != 0);
        self.core.flag(CY, sum > 0xff);
        self.core.flag(OV, (a ^ self.core.a) & (value ^ self.core.a) & 0x80 != 0);
    }

    /// `SUBB`.
    #[inline(always)]
    fn subtract(&mut self, value: u8) {
        let a = self.core.a;
        let difference = i16::from(a) - i16::from(value) - i16::from(self.core.carry());
        self.core.a = difference as u8;
        self.core.flag(AC, (a ^ value ^ self.core.a) & 0x10 != 0);
        self.core.flag(CY, difference < 0);
        self.core.flag(OV, (a ^ value) & (a ^ self.core.a) & 0x80 != 0);
    }

    fn divide(&mut self, pc: u16) -> Result<(), Fault> {
        let (Some(quotient), Some(remainder)) =
            (self.core.a.checked_div(self.core.b), self.core.a.checked_rem(self.core.b))
        else {
            let what = "a division by zero, whose result is undefined".into();
            return Err(Fault::Architecture { pc: pc.into(), address: pc.into(), what });
        };
        (self.core.a, self.core.b) = (quotient, remainder);
        self.core.flag(CY | OV, false);
        Ok(())
    }

    /// `DA A`: each of the two additions may set the carry, neither clears it.
    fn decimal_adjust(&mut self) {
        let mut carry = self.core.carry() != 0;
        if self.core.a & 0x0f > 9 || self.core.psw & AC != 0 {
            let (sum, over) = self.core.a.overflowing_add(0x06);
            self.core.a = sum;
            carry |= over;
        }
        if self.core.a >> 4 > 9 || carry {
            let (sum, over) = self.core.a.overflowing_add(0x60);
            self.core.a = sum;
            carry |= over;
        }
        self.core.flag(CY, carry);
    }

    #[inline(always)]
    fn change_direct<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        change: impl FnOnce(u8) -> u8,
    ) -> Result<(), Fault> {
        let value = self.read_direct(observer, pc, address, Port::Latch)?;
        self.write_direct(observer, pc, address, change(value))
    }

    #[inline(always)]
    fn change_indirect<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        pointer: u8,
        change: impl FnOnce(u8) -> u8,
    ) -> Result<(), Fault> {
        let address = self.core.bank_register(pointer);
        let value = self.read_indirect(observer, pc, address)?;
        self.write_indirect(observer, pc, address, change(value))
    }

    /// `PUSH`: the pointer counts before the source is read ("PUSH"), which shows where the source
    /// is the pointer.
    #[inline(always)]
    fn push_direct<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u8) -> Result<(), Fault> {
        let sp = self.core.sp;
        self.core.sp = sp.wrapping_add(1);
        let pushed = match self.read_direct(observer, pc, address, Port::Pins) {
            Ok(value) => self.write_indirect(observer, pc, self.core.sp, value),
            Err(fault) => Err(fault),
        };
        if pushed.is_err() {
            self.core.sp = sp;
        }
        pushed
    }

    /// `CJNE`.
    #[inline(always)]
    fn compare<O: Observer>(&mut self, left: u8, right: u8, offset: u8) {
        self.core.flag(CY, left < right);
        self.branch::<O>(offset, left != right);
    }

    #[inline(always)]
    fn branch<O: Observer>(&mut self, offset: u8, taken: bool) {
        if taken {
            self.jump::<O>(self.core.pc.wrapping_add_signed((offset as i8).into()), Flow::Jump);
        }
    }

    #[inline(always)]
    fn jump<O: Observer>(&mut self, target: u16, flow: Flow) {
        self.core.pc = target;
        if O::enabled() {
            self.flow = flow;
        }
    }

    /// `LCALL` and `ACALL`: the low byte of the return address is pushed first.
    #[inline(always)]
    fn call<O: Observer>(&mut self, observer: &mut O, pc: u16, target: u16) -> Result<(), Fault> {
        let return_to = self.core.pc;
        let [low, high] = return_to.to_le_bytes();
        // Both or none: the instruction can be looked at as it was.
        self.require_internal(pc, self.core.sp.wrapping_add(2))?;
        self.push(observer, pc, low)?;
        self.push(observer, pc, high)?;
        self.jump::<O>(target, Flow::Call { return_to: return_to.into() });
        Ok(())
    }

    /// The target of `AJMP` and `ACALL`: in the 2 KB of the instruction that follows.
    #[inline(always)]
    fn in_page(&self, opcode: u8, low: u8) -> u16 {
        self.core.pc & 0xf800 | u16::from(opcode >> 5) << 8 | u16::from(low)
    }
}

impl Machine<Mcs51> {
    /// The loop over the instructions.
    pub fn run_loop<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        let mut first = true;
        let mut bank = None;
        loop {
            if self.cycles >= self.deadline
                && let Some(stop) = self.service(observer)?
            {
                return Ok(stop);
            }
            let pc = self.core.pc;
            let mut opcode = self.core.memory.planned(pc);
            if opcode == TRAP {
                match self.core.memory.trapped(pc, first)? {
                    Trapped::Stop => return Ok(Stop::Address(pc.into())),
                    Trapped::Halt => return Ok(Stop::Halted),
                    Trapped::Opcode(there) => opcode = there,
                }
            }
            first = false;
            if O::enabled() {
                if bank != Some(self.core.bank()) {
                    bank = Some(self.core.bank());
                    observer.bank(self.core.bank());
                }
                let sp = INTERNAL + u32::from(self.core.sp);
                observer.step(&Step { pc: pc.into(), sp, cycles: self.cycles, flow: self.flow });
                self.flow = Flow::Next;
            }
            self.core.pc = pc.wrapping_add(BYTES[usize::from(opcode)].into());
            if let Err(fault) = self.execute(observer, pc, opcode) {
                self.core.pc = pc;
                return Err(fault);
            }
            self.cycles += u64::from(CYCLES[usize::from(opcode)]);
            self.instructions += 1;
        }
    }
}
