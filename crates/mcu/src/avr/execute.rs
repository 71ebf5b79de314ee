//! The instructions.

use super::boundary::Boundary;
use super::decode::{Kind, Op, Rest};
use super::memory::BailOut;
use super::{Avr, timing};
use crate::{Fault, Flow, NoObserver, Observer, Step, Stop};
use std::sync::Arc;

/// Where an instruction stands: its word address and the cycles before it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub pc: u16,
    pub cycles: u64,
}

/// Why the loop over the instructions was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The horizon is reached.
    Horizon,
    /// Racing, it met an instruction that is not for it.
    Slow,
    /// Racing, the next stretch of instructions does not end before the horizon.
    Near,
    /// The fault lies in `Avr::fault`.
    Fault,
    /// A stop address, a breakpoint, the end of the program.
    Stop(Stop),
}

impl Avr {
    /// Whether the run ends at this instruction instead of executing it.
    fn stops_at(&self, op: Op, pc: u16) -> bool {
        match op.kind {
            Kind::Stop | Kind::Break => true,
            Kind::Rjmp => op.b == pc && self.no_interrupt_can_come(),
            _ => false,
        }
    }

    /// Runs until `limit` cycles or `budget` instructions since reset, or a stop; `None` where the budget ran out.
    pub(super) fn run_loop<O: Observer>(
        &mut self,
        limit: u64,
        budget: u64,
        flow: &mut Flow,
        observer: &mut O,
    ) -> Result<Option<Stop>, Fault> {
        let program: Arc<[Op; 0x1_0000]> = Arc::clone(&self.program);
        loop {
            match self.boundary(limit, budget, *flow, observer) {
                Ok(Boundary::Run(how)) => *flow = how,
                Ok(Boundary::Stop(stop)) => return Ok(Some(stop)),
                Ok(Boundary::Spent) => return Ok(None),
                Err(BailOut) => return Err(self.taken_fault()),
            }
            if self.cycles >= limit {
                continue;
            }
            let mut exit = Exit::Slow;
            while !O::enabled() && self.cycles < self.horizon {
                exit = self.execute::<NoObserver, true>(&program, flow, &mut NoObserver);
                if exit == Exit::Near {
                    break;
                }
                self.horizon = 0;
                if exit == Exit::Slow {
                    exit = self.step_aside(program[usize::from(self.pc)]);
                    if exit == Exit::Horizon {
                        self.skip_boundary(limit, budget);
                    }
                }
            }
            if exit == Exit::Slow || exit == Exit::Near && self.cycles < self.horizon {
                exit = self.execute::<O, false>(&program, flow, observer);
            }
            match exit {
                Exit::Horizon | Exit::Slow | Exit::Near => {}
                Exit::Stop(stop) => return Ok(Some(stop)),
                Exit::Fault => return Err(self.taken_fault()),
            }
        }
    }

    /// Executes the instruction that the race was left for, if it is one of those that it is left for most: [`Exit::Horizon`]
    /// then, and [`Exit::Slow`] where it is another.
    #[inline(always)]
    fn step_aside(&mut self, op: Op) -> Exit {
        let at = Place { pc: self.pc, cycles: self.cycles };
        let length = timing::cycles(op.kind);
        let register = usize::from(op.a);
        let behind = |words: u16| Ok(at.pc.wrapping_add(words));
        let next = match op.kind {
            Kind::In | Kind::Lds => {
                self.load::<NoObserver, false>(op.b, at, &mut NoObserver).and_then(|value| {
                    self.state.data[register] = value;
                    behind(if op.kind == Kind::In { 1 } else { 2 })
                })
            }
            Kind::Out | Kind::Sts => {
                let done = self.store::<NoObserver, false>(
                    op.b,
                    self.state.data[register],
                    at,
                    length,
                    &mut NoObserver,
                );
                done.and_then(|()| behind(if op.kind == Kind::Out { 1 } else { 2 }))
            }
            Kind::Bset | Kind::Bclr if op.a == 7 => {
                let before = std::mem::replace(&mut self.state.flags.i, op.kind == Kind::Bset);
                self.interrupts_changed(before);
                behind(1)
            }
            Kind::Reti => self.pop_address::<NoObserver, false>(at, &mut NoObserver).inspect(|_| {
                self.state.flags.i = true;
                self.delay = true;
            }),
            Kind::Sleep => self.sleep(at, &mut NoObserver).and_then(|()| behind(1)),
            _ => return Exit::Slow,
        };
        let Ok(next) = next else { return Exit::Fault };
        self.pc = next;
        self.cycles += length;
        self.instructions += 1;
        Exit::Horizon
    }

    fn taken_fault(&mut self) -> Fault {
        let pc = u32::from(self.pc) * 2;
        let unexplained = || Fault::Architecture { pc, address: pc, what: "the model lost its fault".into() };
        self.fault.take().unwrap_or_else(unexplained)
    }

    /// Executes instructions, at least one, until the horizon is reached or something else ends it.
    #[inline(never)]
    fn execute<O: Observer, const FAST: bool>(
        &mut self,
        program: &[Op; 0x1_0000],
        flow_in_out: &mut Flow,
        observer: &mut O,
    ) -> Exit {
        let mut pc = self.pc;
        let mut instructions = self.instructions;
        // Up to the current instruction; racing, up to the end of its stretch, which is counted as one: a fifth faster
        // (with the registers in the data space) than counting and comparing after each.
        let mut cycles = self.cycles;
        let mut flow = *flow_in_out;
        // Racing, nothing moves the horizon.
        let horizon = self.horizon;

        // Racing, begins the stretch at `pc` if it ends in time: each of its instructions then starts before the
        // horizon.
        macro_rules! begin_stretch {
            () => {{
                let rest = program[usize::from(pc)].rest;
                let end = cycles + u64::from(rest.cycles);
                let fits = end <= horizon && rest != Rest::UNCOUNTED;
                if fits {
                    cycles = end;
                    instructions += u64::from(rest.instructions);
                }
                fits
            }};
        }
        if FAST && !begin_stretch!() {
            return Exit::Near;
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
            macro_rules! not_racing {
                () => {
                    if FAST {
                        break 'run Exit::Slow;
                    }
                };
            }

            let op = program[usize::from(pc)];
            let Op { kind, mut a, mut b, .. } = op;
            let kind = if FAST { kind } else { kind.alone() };
            let at = Place { pc, cycles };
            if O::enabled() && !self.stops_at(op, pc) {
                let sp = self.state.sp.into();
                observer.step(&Step { pc: u32::from(pc) * 2, sp, cycles, flow });
                flow = Flow::Next;
            }
            let mut next = pc.wrapping_add(1);
            let length = timing::cycles(kind);
            // Cycles of what is taken or skipped, and whether this ends the stretch.
            let mut taken = 0;
            let mut turned = false;

            macro_rules! rd {
                () => {
                    self.state.data[usize::from(a)]
                };
            }
            macro_rules! rr {
                () => {
                    self.state.data[usize::from(b as u8)]
                };
            }
            macro_rules! flags {
                () => {
                    self.state.flags
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
                    next = pc.wrapping_add(1);
                    Op { $($operand,)+ .. } = program[usize::from(pc)];
                };
            }
            macro_rules! branch {
                ($condition:expr) => {{
                    turned = true;
                    if $condition {
                        taken = timing::TAKEN;
                        jump!(b, Flow::Jump);
                    }
                }};
            }
            macro_rules! skip {
                ($condition:expr) => {{
                    turned = true;
                    if $condition {
                        let words = b >> 8;
                        taken = u64::from(words) * timing::TAKEN;
                        jump!(next.wrapping_add(words), Flow::Jump);
                    }
                }};
            }
            // The pointer's low register of a load or store, and the address with its displacement.
            let pointer = (b >> 8) as u8;
            macro_rules! displaced {
                () => {
                    self.state.pair((b >> 8) as u8).wrapping_add(b & 0xFF)
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
                    let pair = self.state.pair(b as u8);
                    self.state.set_pair(a, pair);
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
                    self.state.set_pair(0, product);
                }};
            }
            macro_rules! fractional_product {
                ($product:expr) => {{
                    let product = $product;
                    let product = flags!().fractional_multiply(product);
                    self.state.set_pair(0, product);
                }};
            }
            macro_rules! signed {
                ($value:expr) => {
                    i16::from($value as i8)
                };
            }

            match kind {
                Kind::Movw => move_pair!(),
                Kind::Mul => product!(u16::from(rd!()) * u16::from(rr!())),
                Kind::Muls => product!((signed!(rd!()) * signed!(rr!())) as u16),
                Kind::Mulsu => product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Kind::Fmul => fractional_product!(u16::from(rd!()) * u16::from(rr!())),
                Kind::Fmuls => fractional_product!((signed!(rd!()) * signed!(rr!())) as u16),
                Kind::Fmulsu => fractional_product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Kind::Cpc => _ = flags!().subtract_with_carry(rd!(), rr!()),
                Kind::Sbc => rd!() = flags!().subtract_with_carry(rd!(), rr!()),
                Kind::Add => rd!() = flags!().add(rd!(), rr!(), 0),
                Kind::Adc => add_with_carry!(),
                Kind::Cpse => skip!(rd!() == rr!()),
                Kind::Cp => _ = flags!().subtract(rd!(), rr!()),
                Kind::Sub => rd!() = flags!().subtract(rd!(), rr!()),
                Kind::And => rd!() = flags!().logic(rd!() & rr!()),
                Kind::Eor => rd!() = flags!().logic(rd!() ^ rr!()),
                Kind::Or => rd!() = flags!().logic(rd!() | rr!()),
                Kind::Mov => rd!() = rr!(),
                Kind::Cpi => _ = flags!().subtract(rd!(), b as u8),
                Kind::Sbci => rd!() = flags!().subtract_with_carry(rd!(), b as u8),
                Kind::Subi => rd!() = flags!().subtract(rd!(), b as u8),
                Kind::Ori => rd!() = flags!().logic(rd!() | b as u8),
                Kind::Andi => rd!() = flags!().logic(rd!() & b as u8),
                Kind::Ldi => rd!() = b as u8,
                Kind::Ldd => load!(displaced!()),
                // The pointer moves only once the access has succeeded: a fault leaves the machine as it was.
                Kind::LdInc => {
                    let address = self.state.pair(pointer);
                    load!(address);
                    self.state.set_pair(pointer, address.wrapping_add(1));
                }
                Kind::LdDec => {
                    let address = self.state.pair(pointer).wrapping_sub(1);
                    load!(address);
                    self.state.set_pair(pointer, address);
                }
                Kind::Lds => {
                    next = next.wrapping_add(1);
                    load!(b);
                }
                Kind::Pop => {
                    let address = self.state.sp.wrapping_add(1);
                    load!(address);
                    self.state.sp = address;
                }
                Kind::Lpm => {
                    rd!() =
                        attempt!(self.load_program::<O, FAST>(self.state.pair(b as u8).into(), at, observer));
                }
                Kind::LpmInc => {
                    let z = self.state.pair(b as u8);
                    rd!() = attempt!(self.load_program::<O, FAST>(z.into(), at, observer));
                    self.state.set_pair(b as u8, z.wrapping_add(1));
                }
                Kind::Elpm => {
                    let z = u32::from(self.state.rampz) << 16 | u32::from(self.state.pair(b as u8));
                    rd!() = attempt!(self.load_program::<O, FAST>(z, at, observer));
                }
                Kind::ElpmInc => {
                    let z = u32::from(self.state.rampz) << 16 | u32::from(self.state.pair(b as u8));
                    rd!() = attempt!(self.load_program::<O, FAST>(z, at, observer));
                    self.state.set_pair(b as u8, (z + 1) as u16);
                    self.state.rampz = ((z + 1) >> 16) as u8 & 1;
                }
                Kind::Std => store!(displaced!()),
                Kind::StInc => {
                    let address = self.state.pair(pointer);
                    store!(address);
                    self.state.set_pair(pointer, address.wrapping_add(1));
                }
                Kind::StDec => {
                    let address = self.state.pair(pointer).wrapping_sub(1);
                    store!(address);
                    self.state.set_pair(pointer, address);
                }
                Kind::Sts => {
                    next = next.wrapping_add(1);
                    store!(b);
                }
                Kind::Push => {
                    attempt!(self.push::<O, FAST>(rd!(), at, length, observer));
                }
                Kind::Spm => {
                    not_racing!();
                    let fault = Fault::Peripheral {
                        pc: u32::from(pc) * 2,
                        address: self.state.pair(30).into(),
                        device: "flash".into(),
                        what: "SPM: self-programming is not modelled".into(),
                    };
                    attempt!(self.raise(fault))
                }
                Kind::Com => rd!() = flags!().complement(rd!()),
                Kind::Neg => rd!() = flags!().subtract(0, rd!()),
                Kind::Swap => rd!() = rd!().rotate_left(4),
                Kind::Inc => rd!() = flags!().increment(rd!()),
                Kind::Dec => rd!() = flags!().decrement(rd!()),
                Kind::Asr => rd!() = flags!().shift_right(rd!(), rd!() & 0x80),
                Kind::Lsr => rd!() = flags!().shift_right(rd!(), 0),
                Kind::Ror => rotate!(),
                Kind::Adiw => {
                    let sum = flags!().add_word(self.state.pair(a), b);
                    self.state.set_pair(a, sum);
                }
                Kind::Sbiw => {
                    let difference = flags!().subtract_word(self.state.pair(a), b);
                    self.state.set_pair(a, difference);
                }
                Kind::Bset | Kind::Bclr => {
                    if a == 7 {
                        not_racing!();
                    }
                    let before = flags!().i;
                    flags!().set(a, kind == Kind::Bset);
                    if a == 7 {
                        self.interrupts_changed(before);
                    }
                }
                Kind::Bld => {
                    let bit = if flags!().t { b as u8 } else { 0 };
                    rd!() = rd!() & !(b as u8) | bit;
                }
                Kind::Bst => flags!().t = rd!() & b as u8 != 0,
                Kind::Sbrc => skip!(rd!() & b as u8 == 0),
                Kind::Sbrs => skip!(rd!() & b as u8 != 0),
                Kind::In => rd!() = attempt!(self.load::<O, FAST>(b, at, observer)),
                Kind::Out => attempt!(self.store::<O, FAST>(b, rd!(), at, length, observer)),
                Kind::Sbi | Kind::Cbi => {
                    attempt!(self.write_bit::<O, FAST>(b, a, kind == Kind::Sbi, at, observer));
                }
                Kind::Sbic | Kind::Sbis => {
                    let value = attempt!(self.load::<O, FAST>(b & 0xFF, at, observer));
                    skip!((value >> (a & 7) & 1 == 1) == (kind == Kind::Sbis));
                }
                Kind::Rjmp => {
                    if b == pc {
                        not_racing!();
                        if self.no_interrupt_can_come() {
                            break Exit::Stop(Stop::Halted);
                        }
                    }
                    jump!(b, Flow::Jump);
                }
                Kind::Jmp => {
                    jump!(b, Flow::Jump);
                }
                Kind::Ijmp => {
                    jump!(self.state.pair(30), Flow::Jump);
                }
                Kind::Rcall | Kind::Icall => {
                    let target = if kind == Kind::Rcall { b } else { self.state.pair(30) };
                    attempt!(self.push_address::<O, FAST>(next, at, length, observer));
                    jump!(target, Flow::Call { return_to: (u32::from(pc) + 1) * 2 });
                }
                Kind::Call => {
                    attempt!(self.push_address::<O, FAST>(next.wrapping_add(1), at, length, observer));
                    jump!(b, Flow::Call { return_to: (u32::from(pc) + 2) * 2 });
                }
                Kind::Ret => {
                    jump!(attempt!(self.pop_address::<O, FAST>(at, observer)), Flow::Return);
                }
                Kind::Reti => {
                    not_racing!();
                    jump!(attempt!(self.pop_address::<O, FAST>(at, observer)), Flow::InterruptReturn);
                    flags!().i = true;
                    self.delay = true;
                    self.recheck();
                }
                Kind::Brcs => branch!(flags!().c() != 0),
                Kind::Brcc => branch!(flags!().c() == 0),
                Kind::Breq => branch!(flags!().z()),
                Kind::Brne => branch!(!flags!().z()),
                Kind::Brmi => branch!(flags!().n()),
                Kind::Brpl => branch!(!flags!().n()),
                Kind::Brvs => branch!(flags!().v()),
                Kind::Brvc => branch!(!flags!().v()),
                Kind::Brlt => branch!(flags!().s()),
                Kind::Brge => branch!(!flags!().s()),
                Kind::Brhs => branch!(flags!().h()),
                Kind::Brhc => branch!(!flags!().h()),
                Kind::Brts => branch!(flags!().t),
                Kind::Brtc => branch!(!flags!().t),
                Kind::Brie => branch!(flags!().i),
                Kind::Brid => branch!(!flags!().i),
                Kind::Sleep => {
                    not_racing!();
                    attempt!(self.sleep(at, observer));
                }
                Kind::Nop => {}
                Kind::Wdr => {
                    not_racing!();
                    attempt!(self.reset_watchdog(at, observer));
                }
                Kind::Break => break Exit::Stop(Stop::Breakpoint),
                Kind::Undefined => {
                    not_racing!();
                    attempt!(self.no_such_instruction(pc))
                }
                Kind::Outside => {
                    not_racing!();
                    let pc = u32::from(pc) * 2;
                    let what = "execution beyond the end of the flash".into();
                    attempt!(self.raise(Fault::Architecture { pc, address: pc, what }))
                }
                Kind::AddAdc => {
                    rd!() = flags!().add(rd!(), rr!(), 0);
                    then!(a, b);
                    add_with_carry!();
                }
                Kind::SubSbc => {
                    rd!() = flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    rd!() = flags!().subtract_with_carry(rd!(), rr!());
                }
                Kind::SubiSbci => {
                    rd!() = flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    rd!() = flags!().subtract_with_carry(rd!(), b as u8);
                }
                Kind::CpCpc => {
                    flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                }
                Kind::CpCpcBrne => {
                    flags!().subtract(rd!(), rr!());
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                    then!(b);
                    branch!(!flags!().z());
                }
                Kind::CpiCpcBrne => {
                    flags!().subtract(rd!(), b as u8);
                    then!(a, b);
                    flags!().subtract_with_carry(rd!(), rr!());
                    then!(b);
                    branch!(!flags!().z());
                }
                Kind::CpiBreq => {
                    flags!().subtract(rd!(), b as u8);
                    then!(b);
                    branch!(flags!().z());
                }
                Kind::CpiBrne => {
                    flags!().subtract(rd!(), b as u8);
                    then!(b);
                    branch!(!flags!().z());
                }
                Kind::SubiBrne => {
                    rd!() = flags!().subtract(rd!(), b as u8);
                    then!(b);
                    branch!(!flags!().z());
                }
                Kind::DecBrne => {
                    rd!() = flags!().decrement(rd!());
                    then!(b);
                    branch!(!flags!().z());
                }
                Kind::LsrRor => {
                    rd!() = flags!().shift_right(rd!(), 0);
                    then!(a);
                    rotate!();
                }
                Kind::RorRor => {
                    rotate!();
                    then!(a);
                    rotate!();
                }
                Kind::EorEor => {
                    rd!() = flags!().logic(rd!() ^ rr!());
                    then!(a, b);
                    rd!() = flags!().logic(rd!() ^ rr!());
                }
                Kind::LdiLdi => {
                    rd!() = b as u8;
                    then!(a, b);
                    rd!() = b as u8;
                }
                Kind::MovwMovw => {
                    move_pair!();
                    then!(a, b);
                    move_pair!();
                }
                Kind::LddLdd => {
                    load!(displaced!());
                    then!(a, b);
                    load!(displaced!());
                }
                Kind::StdStd => {
                    store!(displaced!());
                    then!(a, b);
                    store!(displaced!());
                }
                Kind::Stop => break Exit::Stop(Stop::Address(u32::from(pc) * 2)),
            }
            debug_assert!(!FAST || turned == program[usize::from(pc)].kind.alone().turns());
            pc = next;
            if FAST {
                if turned {
                    cycles += taken;
                    if !begin_stretch!() {
                        break Exit::Near;
                    }
                }
            } else {
                cycles += length + taken;
                instructions += 1;
                if cycles >= self.horizon {
                    break Exit::Horizon;
                }
            }
        };
        if FAST && exit != Exit::Near {
            let rest = program[usize::from(pc)].rest;
            cycles -= u64::from(rest.cycles);
            instructions -= u64::from(rest.instructions);
        }
        self.pc = pc;
        self.cycles = cycles;
        self.instructions = instructions;
        *flow_in_out = flow;
        exit
    }
}
