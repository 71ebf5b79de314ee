//! The instructions, and what happens between them.

use super::decode::{Kind, Op, is_long};
use super::state::{Flags, unmapped};
use super::{Avr, timing};
use crate::peripherals::avr_watchdog::WATCHDOG_RESET;
use crate::{Access, AccessKind, Fault, Flow, Observer, PinEdge, Step, Stop};
use std::sync::Arc;

/// Someone who looks on, or no one: the run is compiled apart for each.
pub(super) trait Eye {
    /// Whether anyone is told anything.
    const OPEN: bool;
    /// Who is told.
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)>;
}

/// Nobody looks on.
pub(super) struct Blind;

impl Eye for Blind {
    const OPEN: bool = false;
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)> {
        None
    }
}

/// An observer looks on.
pub(super) struct Watching<'a>(pub &'a mut dyn Observer);

impl Eye for Watching<'_> {
    const OPEN: bool = true;
    fn observer(&mut self) -> Option<&mut (dyn Observer + '_)> {
        Some(self.0)
    }
}

/// Reports pins at the end of the instruction that moved them; the bus knows only when it began.
struct AtEnd<'a> {
    observer: &'a mut dyn Observer,
    end: u64,
}

impl Observer for AtEnd<'_> {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.observer.pin(&PinEdge { cycles: self.end, ..*edge });
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.observer.uart(port, byte, cycles);
    }
}

/// Data-space addresses of the core's own registers.
const RAMPZ: u16 = 0x5B;
const SPL: u16 = 0x5D;
const SPH: u16 = 0x5E;
const SREG: u16 = 0x5F;

/// Where an instruction stands: its word address and the cycles before it.
#[derive(Clone, Copy)]
struct Place {
    pc: u16,
    cycles: u64,
}

/// What comes next at an instruction boundary.
enum Boundary {
    Run(Flow),
    Stop(Stop),
    /// The instruction budget is used up.
    Spent,
}

impl Avr {
    /// The horizon is the cycle count at which the loop looks up from the instructions.
    fn look_up(&mut self) {
        self.horizon = 0;
    }

    fn report<E: Eye>(&self, eye: &mut E, at: Place, address: u32, value: u64, kind: AccessKind, size: u8) {
        if let Some(observer) = eye.observer() {
            let pc = u32::from(at.pc) * 2;
            observer.access(&Access { pc, address, size, kind, value, cycles: at.cycles });
        }
    }

    #[inline(always)]
    fn load<E: Eye>(&mut self, address: u16, at: Place, eye: &mut E) -> Result<u8, Fault> {
        let value = if self.state.is_ram(address) {
            self.state.data[usize::from(address)]
        } else {
            self.load_register(address, at, eye)?
        };
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    #[inline(always)]
    fn store<E: Eye>(
        &mut self,
        address: u16,
        value: u8,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Fault> {
        if self.state.is_ram(address) {
            self.state.data[usize::from(address)] = value;
        } else {
            self.store_register(address, value, at, length, eye)?;
        }
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    /// A read below the RAM: working registers, the core's registers, peripherals.
    #[inline(never)]
    fn load_register<E: Eye>(&mut self, address: u16, at: Place, eye: &mut E) -> Result<u8, Fault> {
        match address {
            0..0x20 => Ok(self.state.registers[usize::from(address)]),
            SREG => Ok(self.state.flags.to_byte()),
            SPL => Ok(self.state.sp as u8),
            SPH => Ok((self.state.sp >> 8) as u8),
            RAMPZ if self.extended => Ok(self.state.rampz),
            _ if address >= self.state.ram_start => Err(unmapped(at.pc, address, "read")),
            _ => {
                self.look_up();
                let pc = u32::from(at.pc) * 2;
                let value = self.bus.read(address.into(), 1, at.cycles, pc, eye.observer())?;
                Ok(value as u8)
            }
        }
    }

    /// A write below the RAM; `length` is the instruction's cycles.
    #[inline(never)]
    fn store_register<E: Eye>(
        &mut self,
        address: u16,
        value: u8,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Fault> {
        match address {
            0..0x20 => self.state.registers[usize::from(address)] = value,
            SREG => {
                let before = self.state.flags.i;
                self.state.flags = Flags::from_byte(value);
                self.interrupts_changed(before);
            }
            SPL => self.state.sp = self.state.sp & 0xFF00 | u16::from(value),
            SPH => self.state.sp = self.state.sp & 0x00FF | u16::from(value) << 8,
            // ATmega128 data sheet 2467, "RAM Page Z Select Register": bit 0 alone exists.
            RAMPZ if self.extended => self.state.rampz = value & 1,
            _ if address >= self.state.ram_start => return Err(unmapped(at.pc, address, "write")),
            _ => {
                self.look_up();
                let pc = u32::from(at.pc) * 2;
                let end = at.cycles + length;
                let value = value.into();
                match eye.observer() {
                    None => self.bus.write(address.into(), 1, value, at.cycles, pc, None)?,
                    Some(observer) => {
                        let mut at_end = AtEnd { observer, end };
                        self.bus.write(address.into(), 1, value, at.cycles, pc, Some(&mut at_end))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `SBI` and `CBI`, to whom flags that are cleared by writing ones are something else than to a store.
    fn write_bit<E: Eye>(
        &mut self,
        address: u16,
        bit: u8,
        on: bool,
        at: Place,
        eye: &mut E,
    ) -> Result<(), Fault> {
        self.look_up();
        let pc = u32::from(at.pc) * 2;
        let address32 = u32::from(address);
        match eye.observer() {
            None => self.bus.write_bit(address32, bit, on, at.cycles, pc, None)?,
            Some(observer) => {
                let mut at_end = AtEnd { observer, end: at.cycles + timing::IO_BIT };
                self.bus.write_bit(address32, bit, on, at.cycles, pc, Some(&mut at_end))?;
            }
        }
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + address32, on.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    #[inline(always)]
    fn push<E: Eye>(&mut self, value: u8, at: Place, length: u64, eye: &mut E) -> Result<(), Fault> {
        self.store(self.state.sp, value, at, length, eye)?;
        self.state.sp = self.state.sp.wrapping_sub(1);
        Ok(())
    }

    #[inline(always)]
    fn push_address<E: Eye>(
        &mut self,
        address: u16,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Fault> {
        let [low, high] = address.to_le_bytes();
        let sp = self.state.sp;
        self.store(sp, low, at, length, eye)?;
        self.store(sp.wrapping_sub(1), high, at, length, eye)?;
        self.state.sp = sp.wrapping_sub(2);
        Ok(())
    }

    #[inline(always)]
    fn pop_address<E: Eye>(&mut self, at: Place, eye: &mut E) -> Result<u16, Fault> {
        let sp = self.state.sp;
        let high = self.load(sp.wrapping_add(1), at, eye)?;
        let low = self.load(sp.wrapping_add(2), at, eye)?;
        self.state.sp = sp.wrapping_add(2);
        Ok(u16::from_le_bytes([low, high]))
    }

    #[inline(always)]
    fn load_program<E: Eye>(&mut self, address: u32, at: Place, eye: &mut E) -> Result<u8, Fault> {
        let Some(&value) = self.flash.get(address as usize) else {
            return Err(Fault::Unmapped { pc: u32::from(at.pc) * 2, address, size: 1, kind: "read" });
        };
        if E::OPEN {
            self.report(eye, at, address, value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    /// The I flag may have changed. Where it was set, one more instruction comes before any interrupt (DS40002198,
    /// `SEI`).
    fn interrupts_changed(&mut self, before: bool) {
        if self.state.flags.i && !before {
            self.delay = true;
        }
        self.look_up();
    }

    /// Cycles of skipping the instruction at `next`, and where that leads.
    #[inline(always)]
    fn skip(&self, next: u16) -> (u64, u16) {
        let at = usize::from(next) * 2;
        let word = match self.flash.get(at..at + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        };
        if is_long(word) {
            (2 * timing::TAKEN, next.wrapping_add(2))
        } else {
            (timing::TAKEN, next.wrapping_add(1))
        }
    }

    /// Whether no interrupt can come any more, whatever happens.
    fn no_interrupt_can_come(&self) -> bool {
        !self.state.flags.i || self.bus.requests == 0 && self.bus.due == u64::MAX
    }

    /// Whether the run ends at this instruction instead of executing it.
    fn stops_at(&self, op: Op, pc: u16) -> bool {
        match op.kind {
            Kind::Stop | Kind::Break => true,
            Kind::Rjmp => op.b == pc && self.no_interrupt_can_come(),
            _ => false,
        }
    }

    fn no_such_instruction(&self, pc: u16) -> Fault {
        let at = usize::from(pc) * 2;
        Fault::Opcode { pc: at as u32, bytes: self.flash[at..at + 2].to_vec() }
    }

    fn sleep<E: Eye>(&mut self, at: Place, eye: &mut E) -> Result<(), Fault> {
        let pc = u32::from(at.pc) * 2;
        let Some(register) = self.sleep_register else {
            return Err(Fault::Opcode { pc, bytes: vec![0x88, 0x95] });
        };
        let setting = self.bus.read(register.address, 1, at.cycles, pc, eye.observer())?;
        self.look_up();
        if setting & register.enable == 0 {
            return Ok(());
        }
        if self.state.flags.i && setting & register.mode != 0 {
            return Err(Fault::Peripheral {
                pc,
                address: register.address,
                device: "sleep".into(),
                what: format!("sleep mode bits {:#04x}: only idle is modelled", setting & register.mode),
            });
        }
        self.sleeping = true;
        Ok(())
    }

    /// `WDR` reaches the watchdog as a write to an address beyond the data space.
    fn reset_watchdog<E: Eye>(&mut self, at: Place, eye: &mut E) -> Result<(), Fault> {
        if self.bus.claims(WATCHDOG_RESET) {
            let pc = u32::from(at.pc) * 2;
            self.bus.write(WATCHDOG_RESET, 1, 0, at.cycles, pc, eye.observer())?;
        }
        Ok(())
    }

    /// What happens between two instructions: ticks of peripherals, limits, sleep, interrupts.
    fn boundary<E: Eye>(
        &mut self,
        limit: u64,
        budget: u64,
        flow: Flow,
        eye: &mut E,
    ) -> Result<Boundary, Fault> {
        if self.delay {
            self.delay = false;
            self.blocked_until = self.instructions + 1;
        }
        loop {
            let pc = u32::from(self.pc) * 2;
            if self.bus.due <= self.cycles {
                self.bus.tick(self.cycles, pc, eye.observer());
            }
            if self.cycles >= limit {
                return Ok(Boundary::Stop(Stop::Cycles));
            }
            if self.instructions >= budget {
                return Ok(Boundary::Spent);
            }
            if self.state.flags.i && self.bus.requests != 0 && self.instructions >= self.blocked_until {
                return self.interrupt(limit, eye);
            }
            if !self.sleeping {
                let waiting = self.state.flags.i && self.bus.requests != 0;
                self.horizon = if waiting || budget != u64::MAX { 0 } else { limit.min(self.bus.due) };
                return Ok(Boundary::Run(flow));
            }
            if self.no_interrupt_can_come() {
                return Ok(Boundary::Stop(Stop::Halted));
            }
            self.cycles = self.bus.due.min(limit).max(self.cycles);
        }
    }

    /// Enters the interrupt of the lowest vector that is requested.
    fn interrupt<E: Eye>(&mut self, limit: u64, eye: &mut E) -> Result<Boundary, Fault> {
        let irq = self.bus.requests.trailing_zeros() as u8;
        let at = Place { pc: self.pc, cycles: self.cycles };
        let mut length = timing::INTERRUPT;
        if self.sleeping {
            length += timing::WAKE;
        }
        self.push_address(self.pc, at, length, eye)?;
        let return_to = u32::from(self.pc) * 2;
        self.sleeping = false;
        self.bus.taken(irq);
        self.state.flags.i = false;
        self.cycles += length;
        // Vectors are two words apart on parts with more than 8 kB of flash.
        self.pc = u16::from(irq) * 2;
        self.horizon = if self.cycles >= limit { 0 } else { limit.min(self.bus.due) };
        Ok(Boundary::Run(Flow::Interrupt { return_to }))
    }

    /// Runs until `limit` cycles or `budget` instructions since reset, or a stop; `None` where the budget ran out.
    #[inline(never)]
    pub(super) fn run_loop<E: Eye>(
        &mut self,
        limit: u64,
        budget: u64,
        first: &mut Flow,
        eye: &mut E,
    ) -> Result<Option<Stop>, Fault> {
        let program: Arc<[Op; 0x1_0000]> = Arc::clone(&self.program);
        let mut pc = self.pc;
        let mut cycles = self.cycles;
        let mut instructions = self.instructions;
        let mut flow = *first;
        self.horizon = 0;

        let result = 'run: loop {
            macro_rules! attempt {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(fault) => break 'run Err(fault),
                    }
                };
            }
            if cycles >= self.horizon {
                (self.pc, self.cycles, self.instructions) = (pc, cycles, instructions);
                let boundary = self.boundary(limit, budget, flow, eye);
                (pc, cycles) = (self.pc, self.cycles);
                match boundary {
                    Ok(Boundary::Run(how)) => flow = how,
                    Ok(Boundary::Stop(stop)) => break Ok(Some(stop)),
                    Ok(Boundary::Spent) => break Ok(None),
                    Err(fault) => break Err(fault),
                }
                if cycles >= limit {
                    continue;
                }
            }

            let Op { kind, a, b } = program[usize::from(pc)];
            let at = Place { pc, cycles };
            let d = usize::from(a) & 31;
            let r = usize::from(b) & 31;
            if E::OPEN && !self.stops_at(program[usize::from(pc)], pc) {
                if let Some(observer) = eye.observer() {
                    observer.step(&Step { pc: u32::from(pc) * 2, sp: self.state.sp.into(), cycles, flow });
                }
                flow = Flow::Next;
            }
            let mut next = pc.wrapping_add(1);
            let mut length = timing::SIMPLE;

            macro_rules! rd {
                () => {
                    self.state.registers[d]
                };
            }
            macro_rules! rr {
                () => {
                    self.state.registers[r]
                };
            }
            macro_rules! flags {
                () => {
                    self.state.flags
                };
            }
            macro_rules! jump {
                ($target:expr, $flow:expr) => {{
                    next = $target;
                    if E::OPEN {
                        flow = $flow;
                    }
                }};
            }
            macro_rules! branch {
                ($condition:expr) => {
                    if $condition {
                        length += timing::TAKEN;
                        jump!(b, Flow::Jump);
                    }
                };
            }
            macro_rules! skip {
                ($condition:expr) => {
                    if $condition {
                        let (more, target) = self.skip(next);
                        length += more;
                        jump!(target, Flow::Jump);
                    }
                };
            }
            macro_rules! load {
                ($address:expr) => {{
                    length = timing::MEMORY;
                    rd!() = attempt!(self.load($address, at, eye));
                }};
            }
            // The pointer moves only once the access has succeeded: a fault leaves the machine as it was.
            macro_rules! load_then_move {
                ($pointer:expr) => {{
                    let address = self.state.pair($pointer);
                    load!(address);
                    self.state.set_pair($pointer, address.wrapping_add(1));
                }};
            }
            macro_rules! move_then_load {
                ($pointer:expr) => {{
                    let address = self.state.pair($pointer).wrapping_sub(1);
                    load!(address);
                    self.state.set_pair($pointer, address);
                }};
            }
            macro_rules! store {
                ($address:expr) => {{
                    length = timing::MEMORY;
                    attempt!(self.store($address, rd!(), at, length, eye));
                }};
            }
            macro_rules! store_then_move {
                ($pointer:expr) => {{
                    let address = self.state.pair($pointer);
                    store!(address);
                    self.state.set_pair($pointer, address.wrapping_add(1));
                }};
            }
            macro_rules! move_then_store {
                ($pointer:expr) => {{
                    let address = self.state.pair($pointer).wrapping_sub(1);
                    store!(address);
                    self.state.set_pair($pointer, address);
                }};
            }
            macro_rules! product {
                ($product:expr) => {{
                    length = timing::MULTIPLY;
                    let product = $product;
                    let product = flags!().multiply(product);
                    self.state.set_pair(0, product);
                }};
            }
            macro_rules! fractional_product {
                ($product:expr) => {{
                    length = timing::MULTIPLY;
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
                Kind::Movw => {
                    let pair = self.state.pair(r);
                    self.state.set_pair(d, pair);
                }
                Kind::Mul => product!(u16::from(rd!()) * u16::from(rr!())),
                Kind::Muls => product!((signed!(rd!()) * signed!(rr!())) as u16),
                Kind::Mulsu => product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Kind::Fmul => fractional_product!(u16::from(rd!()) * u16::from(rr!())),
                Kind::Fmuls => fractional_product!((signed!(rd!()) * signed!(rr!())) as u16),
                Kind::Fmulsu => fractional_product!((signed!(rd!()) * i16::from(rr!())) as u16),
                Kind::Cpc => _ = flags!().subtract_with_carry(rd!(), rr!()),
                Kind::Sbc => rd!() = flags!().subtract_with_carry(rd!(), rr!()),
                Kind::Add => rd!() = flags!().add(rd!(), rr!(), 0),
                Kind::Adc => {
                    let carry = flags!().c;
                    rd!() = flags!().add(rd!(), rr!(), carry);
                }
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
                Kind::LdX => load!(self.state.pair(26)),
                Kind::LdXInc => load_then_move!(26),
                Kind::LdXDec => move_then_load!(26),
                Kind::LddY => load!(self.state.pair(28).wrapping_add(b)),
                Kind::LdYInc => load_then_move!(28),
                Kind::LdYDec => move_then_load!(28),
                Kind::LddZ => load!(self.state.pair(30).wrapping_add(b)),
                Kind::LdZInc => load_then_move!(30),
                Kind::LdZDec => move_then_load!(30),
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
                    length = timing::PROGRAM_MEMORY;
                    rd!() = attempt!(self.load_program(self.state.pair(30).into(), at, eye));
                }
                Kind::LpmInc => {
                    length = timing::PROGRAM_MEMORY;
                    let z = self.state.pair(30);
                    rd!() = attempt!(self.load_program(z.into(), at, eye));
                    self.state.set_pair(30, z.wrapping_add(1));
                }
                Kind::Elpm => {
                    length = timing::PROGRAM_MEMORY;
                    let z = u32::from(self.state.rampz) << 16 | u32::from(self.state.pair(30));
                    rd!() = attempt!(self.load_program(z, at, eye));
                }
                Kind::ElpmInc => {
                    length = timing::PROGRAM_MEMORY;
                    let z = u32::from(self.state.rampz) << 16 | u32::from(self.state.pair(30));
                    rd!() = attempt!(self.load_program(z, at, eye));
                    self.state.set_pair(30, (z + 1) as u16);
                    self.state.rampz = ((z + 1) >> 16) as u8 & 1;
                }
                Kind::StX => store!(self.state.pair(26)),
                Kind::StXInc => store_then_move!(26),
                Kind::StXDec => move_then_store!(26),
                Kind::StdY => store!(self.state.pair(28).wrapping_add(b)),
                Kind::StYInc => store_then_move!(28),
                Kind::StYDec => move_then_store!(28),
                Kind::StdZ => store!(self.state.pair(30).wrapping_add(b)),
                Kind::StZInc => store_then_move!(30),
                Kind::StZDec => move_then_store!(30),
                Kind::Sts => {
                    next = next.wrapping_add(1);
                    store!(b);
                }
                Kind::Push => {
                    length = timing::MEMORY;
                    attempt!(self.push(rd!(), at, length, eye));
                }
                Kind::Spm => {
                    break Err(Fault::Peripheral {
                        pc: u32::from(pc) * 2,
                        address: self.state.pair(30).into(),
                        device: "flash".into(),
                        what: "SPM: self-programming is not modelled".into(),
                    });
                }
                Kind::Com => rd!() = flags!().complement(rd!()),
                Kind::Neg => rd!() = flags!().subtract(0, rd!()),
                Kind::Swap => rd!() = rd!().rotate_left(4),
                Kind::Inc => rd!() = flags!().increment(rd!()),
                Kind::Dec => rd!() = flags!().decrement(rd!()),
                Kind::Asr => rd!() = flags!().shift_right(rd!(), rd!() & 0x80),
                Kind::Lsr => rd!() = flags!().shift_right(rd!(), 0),
                Kind::Ror => {
                    let top = flags!().c << 7;
                    rd!() = flags!().shift_right(rd!(), top);
                }
                Kind::Adiw => {
                    length = timing::WORD;
                    let sum = flags!().add_word(self.state.pair(d), b);
                    self.state.set_pair(d, sum);
                }
                Kind::Sbiw => {
                    length = timing::WORD;
                    let difference = flags!().subtract_word(self.state.pair(d), b);
                    self.state.set_pair(d, difference);
                }
                Kind::Bset | Kind::Bclr => {
                    let before = flags!().i;
                    flags!().set(a, kind == Kind::Bset);
                    if a == 7 {
                        self.interrupts_changed(before);
                    }
                }
                Kind::Bld => {
                    let bit = if flags!().t == 0 { 0 } else { b as u8 };
                    rd!() = rd!() & !(b as u8) | bit;
                }
                Kind::Bst => flags!().t = u8::from(rd!() & b as u8 != 0),
                Kind::Sbrc => skip!(rd!() & b as u8 == 0),
                Kind::Sbrs => skip!(rd!() & b as u8 != 0),
                Kind::In => rd!() = attempt!(self.load(b, at, eye)),
                Kind::Out => attempt!(self.store(b, rd!(), at, length, eye)),
                Kind::Sbi | Kind::Cbi => {
                    length = timing::IO_BIT;
                    attempt!(self.write_bit(b, a, kind == Kind::Sbi, at, eye));
                }
                Kind::Sbic | Kind::Sbis => {
                    let value = attempt!(self.load(b, at, eye));
                    skip!((value >> (a & 7) & 1 == 1) == (kind == Kind::Sbis));
                }
                Kind::Rjmp => {
                    length = timing::SHORT_JUMP;
                    if self.stops_at(Op { kind, a, b }, pc) {
                        break Ok(Some(Stop::Halted));
                    }
                    jump!(b, Flow::Jump);
                }
                Kind::Jmp => {
                    length = timing::LONG_JUMP;
                    jump!(b, Flow::Jump);
                }
                Kind::Ijmp => {
                    length = timing::SHORT_JUMP;
                    jump!(self.state.pair(30), Flow::Jump);
                }
                Kind::Rcall | Kind::Icall => {
                    length = timing::SHORT_CALL;
                    let target = if kind == Kind::Rcall { b } else { self.state.pair(30) };
                    attempt!(self.push_address(next, at, length, eye));
                    jump!(target, Flow::Call { return_to: (u32::from(pc) + 1) * 2 });
                }
                Kind::Call => {
                    length = timing::LONG_CALL;
                    attempt!(self.push_address(next.wrapping_add(1), at, length, eye));
                    jump!(b, Flow::Call { return_to: (u32::from(pc) + 2) * 2 });
                }
                Kind::Ret => {
                    length = timing::RETURN;
                    jump!(attempt!(self.pop_address(at, eye)), Flow::Return);
                }
                Kind::Reti => {
                    length = timing::RETURN;
                    jump!(attempt!(self.pop_address(at, eye)), Flow::InterruptReturn);
                    flags!().i = true;
                    self.delay = true;
                    self.look_up();
                }
                Kind::Brcs => branch!(flags!().c != 0),
                Kind::Brcc => branch!(flags!().c == 0),
                Kind::Breq => branch!(flags!().z == 0),
                Kind::Brne => branch!(flags!().z != 0),
                Kind::Brmi => branch!(flags!().n & 0x80 != 0),
                Kind::Brpl => branch!(flags!().n & 0x80 == 0),
                Kind::Brvs => branch!(flags!().v & 0x80 != 0),
                Kind::Brvc => branch!(flags!().v & 0x80 == 0),
                Kind::Brlt => branch!(flags!().s & 0x80 != 0),
                Kind::Brge => branch!(flags!().s & 0x80 == 0),
                Kind::Brhs => branch!(flags!().h & 0x10 != 0),
                Kind::Brhc => branch!(flags!().h & 0x10 == 0),
                Kind::Brts => branch!(flags!().t != 0),
                Kind::Brtc => branch!(flags!().t == 0),
                Kind::Brie => branch!(flags!().i),
                Kind::Brid => branch!(!flags!().i),
                Kind::Sleep => {
                    attempt!(self.sleep(at, eye));
                }
                Kind::Nop => {}
                Kind::Wdr => {
                    self.look_up();
                    attempt!(self.reset_watchdog(at, eye));
                }
                Kind::Break => break Ok(Some(Stop::Breakpoint)),
                Kind::Undefined => break Err(self.no_such_instruction(pc)),
                Kind::Outside => {
                    break Err(Fault::Architecture {
                        pc: u32::from(pc) * 2,
                        address: u32::from(pc) * 2,
                        what: "execution beyond the end of the flash".into(),
                    });
                }
                Kind::Stop => break Ok(Some(Stop::Address(u32::from(pc) * 2))),
            }
            cycles += length;
            instructions += 1;
            pc = next;
        };
        (self.pc, self.cycles, self.instructions) = (pc, cycles, instructions);
        *first = flow;
        result
    }
}
