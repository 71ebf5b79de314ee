//! The instructions.

use super::memory::{BailOut, InstructionStart};
use super::opcode::{Op, Opcode, Rest, target};
use super::registers::Avr;
use super::timing;
use crate::machine::Machine;
use crate::{Fault, Flow, Observer, Step, Stop};

/// Reason for which the loop over the instructions was left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// The deadline is reached.
    Deadline,
    /// The fast path met an instruction that is not for it.
    Slow,
    /// On the fast path: the next basic block does not end before the deadline.
    DeadlineNear,
    /// The fault lies in [`Machine::fault`].
    Fault,
    /// A stop address, a breakpoint, the end of the program.
    Stop(Stop),
}

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    /// Returns true if the run ends at this instruction instead of executing it.
    fn stops_at(&self, op: Op, pc: u32) -> bool {
        match op.kind {
            Opcode::Stop | Opcode::Break => true,
            Opcode::Rjmp => target::<WORDS>(op.a, op.b) == pc && self.nothing_can_come(),
            _ => false,
        }
    }

    /// Executes instructions, at least one, until the deadline is reached or something else ends
    /// it.
    #[inline(never)]
    pub(super) fn execute<O: Observer, const FAST: bool>(
        &mut self,
        program: &[Op; WORDS],
        observer: &mut O,
    ) -> Exit {
        let mut pc = self.core.pc;
        let mut instructions = self.instructions;
        // Up to the current instruction; on the fast path up to the end of its basic block, which
        // is counted as one: a fifth faster (with the registers in the data space) than counting
        // and comparing after each.
        let mut cycles = self.cycles;
        let mut flow = self.flow;
        // On the fast path nothing moves the deadline.
        let deadline = self.deadline;

        // On the fast path: begins the basic block at `pc` if it ends in time; each of its
        // instructions then starts before the deadline.
        macro_rules! begin_block {
            () => {{
                let rest = program[pc as usize % WORDS].rest;
                let end = cycles + u64::from(rest.cycles);
                let fits = end <= deadline && rest != Rest::UNCOUNTED;
                if fits {
                    cycles = end;
                    instructions += u64::from(rest.instructions);
                }
                fits
            }};
        }
        if FAST && !begin_block!() {
            return Exit::DeadlineNear;
        }
        if !FAST && self.fetches_closed_flash(pc) {
            return Exit::Fault;
        }

        let exit = 'run: loop {
            macro_rules! attempt {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(BailOut) if FAST => break 'run Exit::Slow,
                        Err(BailOut) => break 'run Exit::Fault,
                    }
                };
            }
            macro_rules! not_fast {
                () => {
                    if FAST {
                        break 'run Exit::Slow;
                    }
                };
            }

            let op = program[pc as usize % WORDS];
            let Op { kind, mut a, mut b, .. } = op;
            let kind = if FAST { kind } else { kind.alone() };
            let at = InstructionStart { pc, cycles };
            if O::enabled() && !self.stops_at(op, pc) {
                let sp = self.core.sp.into();
                observer.step(&Step { pc: pc * 2, sp, cycles, flow });
                flow = Flow::Next;
            }
            let mut next = (pc + 1) % WORDS as u32;
            let length = timing::cycles::<WORDS>(kind);
            // Cycles of what is taken or skipped, and whether this ends the basic block.
            let mut taken = 0;
            let mut turned = false;

            macro_rules! rd {
                () => {
                    self.core.data[usize::from(a)]
                };
            }
            macro_rules! rr {
                () => {
                    self.core.data[usize::from(b as u8)]
                };
            }
            macro_rules! flags {
                () => {
                    self.core.flags
                };
            }
            macro_rules! jump {
                ($target:expr, $flow:expr) => {{
                    turned = true;
                    next = $target;
                    if O::enabled() {
                        flow = $flow;
                    }
                }};
            }
            // Goes on to the next instruction of those executed together.
            macro_rules! then {
                ($($operand:ident),+) => {
                    pc = next;
                    next = (pc + 1) % WORDS as u32;
                    Op { $($operand,)+ .. } = program[pc as usize % WORDS];
                };
            }
            macro_rules! branch {
                ($condition:expr) => {{
                    turned = true;
                    if $condition {
                        taken = timing::TAKEN;
                        jump!(target::<WORDS>(a, b), Flow::Jump);
                    }
                }};
            }
            macro_rules! skip {
                ($condition:expr) => {{
                    turned = true;
                    if $condition {
                        let words = b >> 8;
                        taken = u64::from(words) * timing::TAKEN;
                        jump!((next + u32::from(words)) % WORDS as u32, Flow::Jump);
                    }
                }};
            }
            // The pointer's low register of a load or store, and the address with its displacement.
            let pointer = (b >> 8) as u8;
            macro_rules! displaced {
                () => {
                    self.core.pair((b >> 8) as u8).wrapping_add(b & 0xFF)
                };
            }
            macro_rules! add_with_carry {
                () => {{
                    let carry = flags!().c();
                    rd!() = flags!().add(rd!(), rr!(), carry);
                }};
            }
            macro_rules! rotate {
                () => {{
                    let top = flags!().c() << 7;
                    rd!() = flags!().shift_right(rd!(), top);
                }};
            }
            macro_rules! move_pair {
                () => {{
                    let pair = self.core.pair(b as u8);
                    self.core.set_pair(a, pair);
                }};
            }
            macro_rules! load {
                ($address:expr) => {
                    rd!() = attempt!(self.load::<O, FAST>($address, at, observer))
                };
            }
            macro_rules! store {
                ($address:expr) => {
                    attempt!(self.store::<O, FAST>($address, rd!(), at, length, observer))
                };
            }
            macro_rules! product {
                ($product:expr) => {{
                    let product = $product;
                    let product = flags!().multiply(product);
                    self.core.set_pair(0, product);
                }};
            }
            macro_rules! fractional_product {
                ($product:expr) => {{
                    let product = $product;
                    let product = flags!().fractional_multiply(product);
                    self.core.set_pair(0, product);
                }};
            }
            macro_rules! signed {
                ($value:expr) => {
                    i16::from($value as i8)
                };
            }

            match kind {
                Opcode::Movw => move_pair!(),
                Opcode::Mul => product!(u16::from(rd!()) * u16::from(rr!())),
                Opcode::Muls => product!((signed!(rd!()) * signed!(rr!())) as u16),
                Opcode::Mulsu => product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Opcode::Fmul => fractional_product!(u16::from(rd!()) * u16::from(rr!())),
                Opcode::Fmuls => fractional_product!((signed!(rd!()) * signed!(rr!())) as u16),
                Opcode::Fmulsu => fractional_product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Opcode::Cpc => _ = flags!().subtract_with_carry(rd!(), rr!()),
                Opcode::Sbc => rd!() = flags!().subtract_with_carry(rd!(), rr!()),
                Opcode::Add => rd!() = flags!().add(rd!(), rr!(), 0),
                Opcode::Adc => add_with_carry!(),
                Opcode::Cpse => skip!(rd!() == rr!()),
                Opcode::Cp => _ = flags!().subtract(rd!(), rr!()),
                Opcode::Sub => rd!() = flags!().subtract(rd!(), rr!()),
                Opcode::And => rd!() = flags!().logic(rd!() & rr!()),
                Opcode::Eor => rd!() = flags!().logic(rd!() ^ rr!()),
                Opcode::Or => rd!() = flags!().logic(rd!() | rr!()),
                Opcode::Mov => rd!() = rr!(),
                Opcode::Cpi => _ = flags!().subtract(rd!(), b as u8),
                Opcode::Sbci => rd!() = flags!().subtract_with_carry(rd!(), b as u8),
                Opcode::Subi => rd!() = flags!().subtract(rd!(), b as u8),
                Opcode::Ori => rd!() = flags!().logic(rd!() | b as u8),
                Opcode::Andi => rd!() = flags!().logic(rd!() & b as u8),
                Opcode::Ldi => rd!() = b as u8,
                Opcode::Ldd => load!(displaced!()),
                // The pointer moves only once the access has succeeded: a fault leaves the machine
                // as it was.
                Opcode::LdInc => {
                    let address = self.core.pair(pointer);
                    load!(address);
                    self.core.set_pair(pointer, address.wrapping_add(1));
                }
                Opcode::LdDec => {
                    let address = self.core.pair(pointer).wrapping_sub(1);
                    load!(address);
                    self.core.set_pair(pointer, address);
                }
                Opcode::Lds => {
                    next = (next + 1) % WORDS as u32;
                    load!(b);
                }
                Opcode::Pop => {
                    let address = self.core.sp.wrapping_add(1);
                    load!(address);
                    self.core.sp = address;
                }
                Opcode::Lpm => {
                    rd!() =
                        attempt!(self.load_program::<O, FAST>(self.core.pair(b as u8).into(), at, observer));
                }
                Opcode::LpmInc => {
                    let z = self.core.pair(b as u8);
                    rd!() = attempt!(self.load_program::<O, FAST>(z.into(), at, observer));
                    self.core.set_pair(b as u8, z.wrapping_add(1));
                }
                Opcode::Elpm => {
                    let z = u32::from(self.core.rampz) << 16 | u32::from(self.core.pair(b as u8));
                    rd!() = attempt!(self.load_program::<O, FAST>(z, at, observer));
                }
                Opcode::ElpmInc => {
                    let z = u32::from(self.core.rampz) << 16 | u32::from(self.core.pair(b as u8));
                    rd!() = attempt!(self.load_program::<O, FAST>(z, at, observer));
                    self.core.set_pair(b as u8, (z + 1) as u16);
                    self.core.rampz = ((z + 1) >> 16) as u8 & self.core.rampz_bits();
                }
                Opcode::Std => store!(displaced!()),
                Opcode::StInc => {
                    let address = self.core.pair(pointer);
                    store!(address);
                    self.core.set_pair(pointer, address.wrapping_add(1));
                }
                Opcode::StDec => {
                    let address = self.core.pair(pointer).wrapping_sub(1);
                    store!(address);
                    self.core.set_pair(pointer, address);
                }
                Opcode::Sts => {
                    next = (next + 1) % WORDS as u32;
                    store!(b);
                }
                Opcode::Push => {
                    attempt!(self.push::<O, FAST>(rd!(), at, length, observer));
                }
                Opcode::Spm => {
                    not_fast!();
                    attempt!(self.store_program(at, observer));
                }
                Opcode::Com => rd!() = flags!().complement(rd!()),
                Opcode::Neg => rd!() = flags!().subtract(0, rd!()),
                Opcode::Swap => rd!() = rd!().rotate_left(4),
                Opcode::Inc => rd!() = flags!().increment(rd!()),
                Opcode::Dec => rd!() = flags!().decrement(rd!()),
                Opcode::Asr => rd!() = flags!().shift_right(rd!(), rd!() & 0x80),
                Opcode::Lsr => rd!() = flags!().shift_right(rd!(), 0),
                Opcode::Ror => rotate!(),
                Opcode::Adiw => {
                    let sum = flags!().add_word(self.core.pair(a), b);
                    self.core.set_pair(a, sum);
                }
                Opcode::Sbiw => {
                    let difference = flags!().subtract_word(self.core.pair(a), b);
                    self.core.set_pair(a, difference);
                }
                Opcode::Bset | Opcode::Bclr => {
                    if a == 7 {
                        not_fast!();
                    }
                    let before = flags!().i;
                    flags!().set(a, kind == Opcode::Bset);
                    if a == 7 {
                        self.interrupts_changed(before);
                    }
                }
                Opcode::Bld => {
                    let bit = if flags!().t { b as u8 } else { 0 };
                    rd!() = rd!() & !(b as u8) | bit;
                }
                Opcode::Bst => flags!().t = rd!() & b as u8 != 0,
                Opcode::Sbrc => skip!(rd!() & b as u8 == 0),
                Opcode::Sbrs => skip!(rd!() & b as u8 != 0),
                Opcode::In => rd!() = attempt!(self.load::<O, FAST>(b, at, observer)),
                Opcode::Out => attempt!(self.store::<O, FAST>(b, rd!(), at, length, observer)),
                Opcode::Sbi | Opcode::Cbi => {
                    attempt!(self.write_bit::<O, FAST>(b, a, kind == Opcode::Sbi, at, observer));
                }
                Opcode::Sbic | Opcode::Sbis => {
                    let value = attempt!(self.load::<O, FAST>(b & 0xFF, at, observer));
                    skip!((value >> (a & 7) & 1 == 1) == (kind == Opcode::Sbis));
                }
                Opcode::Rjmp => {
                    if target::<WORDS>(a, b) == pc {
                        not_fast!();
                        if self.nothing_can_come() {
                            break Exit::Stop(Stop::Halted);
                        }
                    }
                    jump!(target::<WORDS>(a, b), Flow::Jump);
                }
                Opcode::Jmp => {
                    jump!(target::<WORDS>(a, b), Flow::Jump);
                }
                Opcode::Ijmp => {
                    jump!(self.core.pair(30).into(), Flow::Jump);
                }
                Opcode::Eijmp => {
                    jump!(self.core.extended_z() % WORDS as u32, Flow::Jump);
                }
                Opcode::Rcall | Opcode::Icall | Opcode::Eicall => {
                    let target = match kind {
                        Opcode::Rcall => target::<WORDS>(a, b),
                        Opcode::Icall => self.core.pair(30).into(),
                        _ => self.core.extended_z() % WORDS as u32,
                    };
                    attempt!(self.push_address::<O, FAST>(next, at, length, observer));
                    jump!(target, Flow::Call { return_to: (pc + 1) * 2 });
                }
                Opcode::Call => {
                    attempt!(self.push_address::<O, FAST>((next + 1) % WORDS as u32, at, length, observer));
                    jump!(target::<WORDS>(a, b), Flow::Call { return_to: (pc + 2) * 2 });
                }
                Opcode::Ret => {
                    jump!(attempt!(self.pop_address::<O, FAST>(at, observer)), Flow::Return);
                }
                Opcode::Reti => {
                    not_fast!();
                    jump!(attempt!(self.pop_address::<O, FAST>(at, observer)), Flow::InterruptReturn);
                    flags!().i = true;
                    self.core.delay = true;
                    self.recheck();
                }
                Opcode::Brcs => branch!(flags!().c() != 0),
                Opcode::Brcc => branch!(flags!().c() == 0),
                Opcode::Breq => branch!(flags!().z()),
                Opcode::Brne => branch!(!flags!().z()),
                Opcode::Brmi => branch!(flags!().n()),
                Opcode::Brpl => branch!(!flags!().n()),
                Opcode::Brvs => branch!(flags!().v()),
                Opcode::Brvc => branch!(!flags!().v()),
                Opcode::Brlt => branch!(flags!().s()),
                Opcode::Brge => branch!(!flags!().s()),
                Opcode::Brhs => branch!(flags!().h()),
                Opcode::Brhc => branch!(!flags!().h()),
                Opcode::Brts => branch!(flags!().t),
                Opcode::Brtc => branch!(!flags!().t),
                Opcode::Brie => branch!(flags!().i),
                Opcode::Brid => branch!(!flags!().i),
                Opcode::Sleep => {
                    not_fast!();
                    attempt!(self.sleep(at, observer));
                }
                Opcode::Nop => {}
                Opcode::Wdr => {
                    not_fast!();
                    attempt!(self.reset_watchdog(at, observer));
                }
                Opcode::Break => break Exit::Stop(Stop::Breakpoint),
                Opcode::Undefined => {
                    not_fast!();
                    attempt!(self.no_such_instruction(pc))
                }
                Opcode::Outside => {
                    not_fast!();
                    let pc = pc * 2;
                    let what = "execution beyond the end of the flash".into();
                    attempt!(self.raise(Fault::Architecture { pc, address: pc, what }))
                }
                Opcode::AddAdc => {
                    rd!() = flags!().add(rd!(), rr!(), 0);
                    then!(a, b);
                    add_with_carry!();
                }
                Opcode::SubSbc => {
                    rd!() = flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    rd!() = flags!().subtract_with_carry(rd!(), rr!());
                }
                Opcode::SubiSbci => {
                    rd!() = flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    rd!() = flags!().subtract_with_carry(rd!(), b as u8);
                }
                Opcode::CpCpc => {
                    flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                }
                Opcode::CpCpcBrne => {
                    flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                    then!(a, b);
                    branch!(!flags!().z());
                }
                Opcode::CpiCpcBrne => {
                    flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                    then!(a, b);
                    branch!(!flags!().z());
                }
                Opcode::CpiBreq => {
                    flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    branch!(flags!().z());
                }
                Opcode::CpiBrne => {
                    flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    branch!(!flags!().z());
                }
                Opcode::SubiBrne => {
                    rd!() = flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    branch!(!flags!().z());
                }
                Opcode::DecBrne => {
                    rd!() = flags!().decrement(rd!());
                    then!(a, b);
                    branch!(!flags!().z());
                }
                Opcode::LsrRor => {
                    rd!() = flags!().shift_right(rd!(), 0);
                    then!(a);
                    rotate!();
                }
                Opcode::RorRor => {
                    rotate!();
                    then!(a);
                    rotate!();
                }
                Opcode::EorEor => {
                    rd!() = flags!().logic(rd!() ^ rr!());
                    then!(a, b);
                    rd!() = flags!().logic(rd!() ^ rr!());
                }
                Opcode::LdiLdi => {
                    rd!() = b as u8;
                    then!(a, b);
                    rd!() = b as u8;
                }
                Opcode::MovwMovw => {
                    move_pair!();
                    then!(a, b);
                    move_pair!();
                }
                Opcode::LddLdd => {
                    load!(displaced!());
                    then!(a, b);
                    load!(displaced!());
                }
                Opcode::StdStd => {
                    store!(displaced!());
                    then!(a, b);
                    store!(displaced!());
                }
                Opcode::Stop => break Exit::Stop(Stop::Address(pc * 2)),
            }
            debug_assert!(!FAST || turned == program[pc as usize % WORDS].kind.alone().turns());
            pc = next;
            if FAST {
                if turned {
                    cycles += taken;
                    if !begin_block!() {
                        break Exit::DeadlineNear;
                    }
                }
            } else {
                cycles += length + taken;
                instructions += 1;
                if cycles >= self.deadline {
                    break Exit::Deadline;
                }
            }
        };
        if FAST && exit != Exit::DeadlineNear {
            let rest = program[pc as usize % WORDS].rest;
            cycles -= u64::from(rest.cycles);
            instructions -= u64::from(rest.instructions);
        }
        self.core.pc = pc;
        self.cycles = cycles;
        self.instructions = instructions;
        self.flow = flow;
        exit
    }
}
