//! Execution of floating-point instructions.

use super::super::core_state::CortexM;
use super::super::fault_status::Trap;
use super::super::fpu::arithmetic::Environment;
use super::super::fpu::conversions::Fixed;
use super::super::fpu::decode::{self, DECREMENT, Operation, WRITE_BACK, rounding};
use super::super::fpu::formats::{DOUBLE, Format, HALF, Rounding, SINGLE};
use super::super::fpu::registers::{Fpu, Unit};
use super::super::op::Op;
use super::super::timing::{Retired, Timing};
use crate::machine::Machine;
use crate::{Access, AccessKind, Observer};

impl<T: Timing> Machine<CortexM<T>> {
    /// Executes an [`super::super::op::Opcode::Float`]. `None`: it cannot be, with the reason in
    /// `fault`, or none where the core does not have it. The state must have been published;
    /// `cycles` may have moved on.
    #[inline(never)]
    pub(in super::super) fn float<O: Observer>(&mut self, op: &Op, observer: &mut O) -> Option<Retired> {
        use Operation::*;
        if self.core.fpu.unit == Unit::None {
            let pc = self.core.state.pc;
            let what = "this part has no floating-point unit; build with -mfloat-abi=soft";
            self.fault = Some(self.trap(Trap::Coprocessor, pc, pc, what));
            return None;
        }
        if let Err(fault) = self.check_float() {
            self.fault = Some(fault);
            return None;
        }
        if self.core.fpu.unit < Unit::Double && decode::needs_double_unit(op) {
            return None;
        }
        let (d, n, m) = (usize::from(op.d & 31), usize::from(op.n & 15), usize::from(op.m & 15));
        let r = &mut self.core.state.r;
        let s = &mut self.core.fpu.s;
        match decode::operation(op) {
            Vldr | Vstr | Vldm | Vstm => return self.float_access(op, observer),
            VmovToCore => r[n] = s[d],
            VmovFromCore => s[d] = r[n],
            VmovToCores => (r[n], r[m]) = (s[d], s[d + 1]),
            VmovFromCores => (s[d], s[d + 1]) = (r[n], r[m]),
            Vmrs if n == 15 => self.core.state.set_nzcv(self.core.fpu.fpscr()),
            Vmrs => r[n] = self.core.fpu.fpscr(),
            Vmsr => self.core.fpu.set_fpscr(r[n]),
            Vsel => {
                let from = if self.core.state.holds(op.imm as u8) { op.n } else { op.m };
                let value = self.core.fpu.get(from, decode::is_double(op));
                self.core.fpu.set(op.d, decode::is_double(op), value);
            }
            operation => {
                self.core.fpu.computed = true;
                self.core.fpu.process(operation, op);
            }
        }
        Some(Retired::Plain)
    }

    fn float_access<O: Observer>(&mut self, op: &Op, observer: &mut O) -> Option<Retired> {
        use Operation::*;
        let operation = decode::operation(op);
        let (first, count) = (usize::from(op.d & 31), op.m);
        let base = if op.n == 15 { 0 } else { self.core.state.r[usize::from(op.n & 15)] };
        let bytes = 4 * u32::from(count);
        let multiple = matches!(operation, Vldm | Vstm);
        let address = match (multiple, op.imm & DECREMENT != 0) {
            (false, _) => base.wrapping_add(op.imm),
            (true, false) => base,
            (true, true) => base.wrapping_sub(bytes),
        };
        let load = matches!(operation, Vldr | Vldm);
        for word in 0..usize::from(count) {
            let (index, at) = (first + word, address.wrapping_add(4 * word as u32));
            if load {
                self.core.fpu.s[index & 31] = self.float_load(at, observer)?;
            } else {
                self.float_store(at, self.core.fpu.s[index & 31], observer)?;
            }
        }
        if multiple && op.imm & WRITE_BACK != 0 {
            let end = if op.imm & DECREMENT != 0 { address } else { base.wrapping_add(bytes) };
            self.core.state.r[usize::from(op.n & 15)] = if op.n == 13 { end & !3 } else { end };
        }
        Some(if load {
            Retired::Load { address, size: 4, count }
        } else {
            Retired::Store { address, size: 4, count }
        })
    }

    fn report<O: Observer>(&self, address: u32, kind: AccessKind, value: u32, observer: &mut O) {
        if O::enabled() {
            let (pc, cycles) = (self.core.state.pc, self.cycles);
            observer.access(&Access { pc, address, size: 4, kind, value: u64::from(value), cycles });
        }
    }

    fn float_load<O: Observer>(&mut self, address: u32, observer: &mut O) -> Option<u32> {
        let value = match self.core.memory.ram.locate(address, 4) {
            Some(offset) if address & 3 == 0 => self.core.memory.word(offset),
            _ => self.read_slow(address, 4, !0, observer)?,
        };
        self.report(address, AccessKind::Read, value, observer);
        Some(value)
    }

    fn float_store<O: Observer>(&mut self, address: u32, value: u32, observer: &mut O) -> Option<()> {
        self.report(address, AccessKind::Write, value, observer);
        match self.core.memory.ram.locate(address, 4) {
            Some(offset) if address & 3 == 0 && !self.core.code.covers(offset) => {
                self.core.memory.set_word(offset, value);
                Some(())
            }
            _ => self.write_slow(address, 4, value, !0, observer),
        }
    }
}

/// Rounding that an instruction's rounding field selects.
fn rounding_of(field: u32, mode: Rounding) -> Rounding {
    match field {
        rounding::AWAY => Rounding::Away,
        1 => Rounding::Nearest,
        2 => Rounding::Up,
        3 => Rounding::Down,
        rounding::MODE => mode,
        _ => Rounding::Zero,
    }
}

fn format(double: bool) -> Format {
    if double { DOUBLE } else { SINGLE }
}

impl Fpu {
    /// Data processing: what needs nothing of the core.
    fn process(&mut self, operation: Operation, op: &Op) {
        use Operation::*;
        let double = decode::is_double(op);
        let f = format(double);
        let mut env = Environment::new(self.fpscr());
        let mode = env.rounding;
        let (d, n, m) = (self.get(op.d, double), self.get(op.n, double), self.get(op.m, double));
        let result = match operation {
            Vadd => env.add(f, n, m),
            Vsub => env.subtract(f, n, m),
            Vmul => env.multiply(f, n, m),
            Vnmul => f.negated(env.multiply(f, n, m)),
            Vdiv => env.divide(f, n, m),
            // The product is rounded, then the sum: a stage of its own each (DDI 0403E, A7.7.240).
            Vmla | Vmls | Vnmla | Vnmls => {
                let product = env.multiply(f, n, m);
                let product = if matches!(operation, Vmls | Vnmla) { f.negated(product) } else { product };
                let addend = if matches!(operation, Vnmla | Vnmls) { f.negated(d) } else { d };
                env.add(f, addend, product)
            }
            Vfma | Vfms | Vfnma | Vfnms => {
                let factor = if matches!(operation, Vfms | Vfnma) { f.negated(n) } else { n };
                let addend = if matches!(operation, Vfnma | Vfnms) { f.negated(d) } else { d };
                env.multiply_add(f, addend, factor, m)
            }
            Vmaxnm => env.extremum(f, n, m, false),
            Vminnm => env.extremum(f, n, m, true),
            Vabs => f.absolute(m),
            Vneg => f.negated(m),
            Vmov => m,
            Vsqrt => env.square_root(f, m),
            VmovImm => u64::from(op.imm) << if double { 32 } else { 0 },
            Vrint => env.round_to_integer(f, m, rounding_of(op.imm, mode), op.n == 1),
            VcvtFromFixed => {
                env.rounding = Rounding::Nearest;
                env.convert_from_fixed(f, d, Fixed { size: op.m.into(), fraction: op.imm, signed: op.n == 1 })
            }
            VcvtToFixed => {
                let to = Fixed { size: op.m.into(), fraction: op.imm, signed: op.n == 1 };
                env.convert_to_fixed(f, d, to, Rounding::Zero)
            }
            _ => {
                self.process_mixed(operation, op, &mut env);
                self.set_fpscr(self.fpscr() | env.flags);
                return;
            }
        };
        self.set(op.d, double, result);
        self.set_fpscr(self.fpscr() | env.flags);
    }

    /// Comparisons, and conversions whose result has another precision than their operand.
    fn process_mixed(&mut self, operation: Operation, op: &Op, env: &mut Environment) {
        use Operation::*;
        let double = decode::is_double(op);
        let f = format(double);
        let m = self.get(op.m, double);
        match operation {
            Vcmp => {
                let other = if op.imm == 1 { 0 } else { m };
                let flags = env.compare(f, self.get(op.d, double), other, op.n == 1);
                self.set_fpscr(self.fpscr() & 0x0fff_ffff | flags);
            }
            VcvtToHalf => {
                let half = env.convert(f, HALF, m) as u32;
                let before = self.get(op.d, false) as u32;
                let kept = before & !(0xffff << op.imm);
                self.set(op.d, false, u64::from(kept | half << op.imm));
            }
            VcvtFromHalf => {
                let half = self.get(op.m, false) >> op.imm & 0xffff;
                let value = env.convert(HALF, f, half);
                self.set(op.d, double, value);
            }
            VcvtPrecision => {
                let value = env.convert(f, format(!double), m);
                self.set(op.d, !double, value);
            }
            VcvtFromInt => {
                let from = Fixed { size: 32, fraction: 0, signed: op.n == 1 };
                let value = env.convert_from_fixed(f, self.get(op.m, false), from);
                self.set(op.d, double, value);
            }
            VcvtToInt => {
                let to = Fixed { size: 32, fraction: 0, signed: op.n == 1 };
                let rounding = rounding_of(op.imm, env.rounding);
                let value = env.convert_to_fixed(f, m, to, rounding);
                self.set(op.d, false, value);
            }
            _ => unreachable!("a transfer, an access or data processing"),
        }
    }
}
