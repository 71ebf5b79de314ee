//! The dispatch loop: what each instruction does.

use super::arithmetic::{add_with_carry, shift, shift_c, shift_register};
use super::code::{self, At};
use super::core_state::CortexM;
use super::fault_status::Trap;
use super::nvic;
use super::op::Opcode;
use super::registers::Sleep;
use super::semihosting;
use super::timing::{Retired, Timing};
use crate::machine::Machine;
use crate::{Access, AccessKind, Fault, Flow, Observer, Step, Stop};

/// The loop over the instructions of the processor that a [`Timing`] is for.
///
/// It is a method of the timing's and not of the machine's because a type's generic methods are
/// compiled as one unit, in the module of that type: so those of four processors are built side by
/// side.
pub(super) trait Execute: Timing {
    /// The loop itself. The state's `pc` and `it` and the machine's `cycles` are kept in locals
    /// within it and written back wherever something outside may look at them.
    fn run_loop<O: Observer>(machine: &mut Machine<CortexM<Self>>, observer: &mut O) -> Result<Stop, Fault> {
        use Opcode::*;

        let start = machine.instructions;
        let mut cycles = machine.cycles;
        let mut flow = machine.flow;
        let mut here = machine.enter()?;
        let first = here;

        'run: loop {
            if cycles >= machine.deadline {
                machine.cycles = cycles;
                machine.core.state.pc = machine.core.code.address(here);
                let index = machine.core.code.index(here);
                machine.core.state.it = machine.core.code.op(index).it;
                machine.flow = Flow::Next;
                if let Some(stop) = machine.service(observer)? {
                    if machine.flow == Flow::Next {
                        machine.flow = flow;
                    }
                    return Ok(stop);
                }
                cycles = machine.cycles;
                // What an IT block holds may just have been rewritten, and must be decoded as its
                // part.
                here = if machine.flow != Flow::Next || machine.core.state.it != 0 {
                    machine.enter()?
                } else {
                    machine.core.code.at(index)
                };
                if O::enabled() && machine.flow != Flow::Next {
                    flow = machine.flow;
                }
            }

            // SAFETY: `here` comes from `find` or `at`, or is `after` a decoded one. Until the loop
            // turns, only `fill` changes the table, and `op` and `slot` are not used after it.
            let mut slot = unsafe { &*here };
            let mut op = &slot.op;
            let mut kind = op.kind;

            macro_rules! address {
                () => {
                    slot.address
                };
            }
            macro_rules! r {
                ($register:expr) => {
                    // SAFETY: `Code::fill` makes `d`, `n` and `m` less than 16; others are made so
                    // where they stand.
                    unsafe { *machine.core.state.r.get_unchecked(usize::from($register)) }
                };
            }
            macro_rules! w {
                ($register:expr) => {
                    // SAFETY: as above.
                    *unsafe { machine.core.state.r.get_unchecked_mut(usize::from($register)) }
                };
            }
            // Puts the locals where the rest of the core finds them.
            macro_rules! publish {
                () => {
                    publish!(address!())
                };
                ($pc:expr) => {
                    machine.cycles = cycles;
                    machine.core.state.pc = $pc;
                    machine.core.state.it = op.it;
                    if O::enabled() {
                        machine.flow = flow;
                    }
                };
            }
            macro_rules! fail {
                () => {{
                    publish!();
                    return Err(machine.take_fault(op.length));
                }};
            }
            macro_rules! cost {
                ($at:expr, $outcome:expr) => {
                    u64::from(if O::enabled() {
                        machine.core.timing.retire_observed(op, &slot.note, $at, $outcome)
                    } else {
                        machine.core.timing.retire(op, &slot.note, $at, $outcome)
                    })
                };
            }
            // The instruction is done; the next in memory follows.
            macro_rules! next {
                ($outcome:expr) => {{
                    cycles += cost!(address!(), $outcome);
                    // SAFETY: it is decoded.
                    here = unsafe { code::after(here) };
                    machine.instructions += 1;
                    continue 'run;
                }};
            }
            // The instruction is done; execution goes on at `target`.
            macro_rules! jump {
                ($target:expr, $outcome:expr, $flow:expr) => {{
                    let target: u32 = $target;
                    let at = address!();
                    let Some(found) = machine.core.code.find(target) else {
                        machine.fault =
                            Some(Fault::Unmapped { pc: at, address: target, size: 2, kind: "fetch" });
                        fail!();
                    };
                    here = found;
                    cycles += cost!(at, $outcome);
                    machine.instructions += 1;
                    if O::enabled() {
                        flow = $flow;
                    }
                    continue 'run;
                }};
            }
            // As `jump!`, of a branch to `op.imm`.
            macro_rules! branch {
                ($target:expr, $outcome:expr, $flow:expr) => {{
                    if slot.jump == 0 {
                        jump!($target, $outcome, $flow);
                    }
                    cycles += cost!(address!(), $outcome);
                    // SAFETY: `jump` leads to a slot of the same region.
                    here = unsafe { here.byte_offset(slot.jump as isize) };
                    machine.instructions += 1;
                    if O::enabled() {
                        flow = $flow;
                    }
                    continue 'run;
                }};
            }
            // A branch to what is no Thumb code address. Cycles that are lent would lie in memory
            // for the whole loop.
            macro_rules! return_or_fail {
                ($value:expr, $outcome:expr) => {{
                    cycles += u64::from(machine.core.timing.retire(op, &slot.note, address!(), $outcome));
                    publish!();
                    let Some(found) = machine.special_branch($value, observer)? else { fail!() };
                    (here, cycles) = (found, machine.cycles);
                    if O::enabled() {
                        flow = machine.core.return_flow;
                    }
                    continue 'run;
                }};
            }
            macro_rules! report {
                ($address:expr, $size:expr, $kind:expr, $value:expr) => {
                    if O::enabled() {
                        observer.access(&Access {
                            pc: address!(),
                            address: $address,
                            size: $size,
                            kind: $kind,
                            value: u64::from($value),
                            cycles,
                        });
                    }
                };
            }
            macro_rules! load {
                ($address:expr, $size:literal, $fast:ident, $strict:expr) => {{
                    let at: u32 = $address;
                    let misaligned = at & $strict & ($size - 1) != 0;
                    let value = if let Some(offset) = machine.core.memory.ram.locate(at, $size)
                        && !misaligned
                    {
                        u32::from(machine.core.memory.$fast(offset))
                    } else if let Some(offset) = machine.core.memory.flash.locate(at, $size)
                        && !misaligned
                    {
                        u32::from(machine.core.memory.$fast(offset))
                    } else {
                        publish!();
                        let Some(value) = machine.read_slow(at, $size, $strict, observer) else { fail!() };
                        cycles = machine.cycles;
                        value
                    };
                    report!(at, $size, AccessKind::Read, value);
                    value
                }};
            }
            macro_rules! store {
                ($address:expr, $value:expr, $size:literal, $fast:ident, $type:ty, $strict:expr) => {{
                    let at: u32 = $address;
                    let value: u32 = $value;
                    report!(at, $size, AccessKind::Write, value as $type);
                    if let Some(offset) = machine.core.memory.ram.locate(at, $size)
                        && at & $strict & ($size - 1) == 0
                        && !machine.core.code.covers(offset)
                    {
                        machine.core.memory.$fast(offset, value as $type);
                    } else {
                        publish!();
                        if machine.write_slow(at, $size, value, $strict, observer).is_none() {
                            fail!();
                        }
                        cycles = machine.cycles;
                    }
                }};
            }
            macro_rules! load_word {
                ($a:expr) => {
                    load!($a, 4, word, machine.core.strict)
                };
            }
            macro_rules! load_half {
                ($a:expr) => {
                    load!($a, 2, half, machine.core.strict)
                };
            }
            macro_rules! load_byte {
                ($a:expr) => {
                    load!($a, 1, byte, 0)
                };
            }
            macro_rules! load_signed_half {
                ($a:expr) => {
                    load!($a, 2, half, machine.core.strict) as i16 as u32
                };
            }
            macro_rules! load_signed_byte {
                ($a:expr) => {
                    load!($a, 1, byte, 0) as i8 as u32
                };
            }
            macro_rules! store_word {
                ($a:expr, $v:expr) => {
                    store!($a, $v, 4, set_word, u32, machine.core.strict)
                };
            }
            macro_rules! store_half {
                ($a:expr, $v:expr) => {
                    store!($a, $v, 2, set_half, u16, machine.core.strict)
                };
            }
            macro_rules! store_byte {
                ($a:expr, $v:expr) => {
                    store!($a, $v, 1, set_byte, u8, 0)
                };
            }
            // Flags.
            macro_rules! nz {
                ($value:expr) => {{
                    let value: u32 = $value;
                    machine.core.state.n = value;
                    machine.core.state.z = value;
                    value
                }};
            }
            macro_rules! add_flags {
                ($a:expr, $b:expr) => {{
                    let (a, b): (u32, u32) = ($a, $b);
                    let (sum, carry) = a.overflowing_add(b);
                    machine.core.state.c = carry;
                    machine.core.state.v = (a as i32).overflowing_add(b as i32).1;
                    nz!(sum)
                }};
            }
            macro_rules! sub_flags {
                ($a:expr, $b:expr) => {{
                    let (a, b): (u32, u32) = ($a, $b);
                    let difference = a.wrapping_sub(b);
                    machine.core.state.c = a >= b;
                    machine.core.state.v = (a as i32).overflowing_sub(b as i32).1;
                    nz!(difference)
                }};
            }
            macro_rules! carry_flags {
                ($a:expr, $b:expr) => {{
                    let (sum, c, v) = add_with_carry($a, $b, machine.core.state.c);
                    machine.core.state.c = c;
                    machine.core.state.v = v;
                    nz!(sum)
                }};
            }
            macro_rules! carried {
                ($a:expr, $b:expr) => {
                    $a.wrapping_add($b).wrapping_add(u32::from(machine.core.state.c))
                };
            }
            macro_rules! constant_carry {
                () => {
                    if op.a != 0 {
                        machine.core.state.c = op.a == 2;
                    }
                };
            }
            macro_rules! shifted {
                () => {
                    shift(r!(op.m), op.a, op.imm, machine.core.state.c)
                };
            }
            macro_rules! shifted_carry {
                () => {{
                    let (value, carry) = shift_c(r!(op.m), op.a, op.imm, machine.core.state.c);
                    machine.core.state.c = carry;
                    value
                }};
            }
            macro_rules! set {
                ($value:expr) => {{
                    let value: u32 = $value;
                    w!(op.d) = value;
                }};
            }
            macro_rules! shift_flags {
                ($shifted:expr) => {{
                    let (value, carry) = $shifted;
                    machine.core.state.c = carry;
                    set!(nz!(value));
                }};
            }
            macro_rules! multiplied {
                ($n:expr, $m:expr) => {
                    next!(Retired::Multiply { n: $n, m: $m })
                };
            }

            macro_rules! begin {
                () => {
                    if O::enabled() {
                        observer.step(&Step { pc: address!(), sp: machine.core.state.r[13], cycles, flow });
                        flow = Flow::Next;
                    }
                    if Self::FETCHES {
                        cycles += u64::from(machine.core.timing.fetch(address!(), op.length));
                    }
                };
            }

            if (O::enabled() || Self::FETCHES) && !matches!(kind, Undecoded | Marked) {
                begin!();
            }
            // Two arms come back here with another kind. The state must look changed to the
            // compiler there, lest it computes the conditions of all branches before each dispatch.
            macro_rules! reschedule {
                () => {
                    std::hint::black_box(&mut machine.core.state)
                };
            }
            let outcome = 'dispatch: loop {
                // The addressing modes.
                macro_rules! loads {
                    ($how:ident, $size:literal, imm) => {{
                        let address = r!(op.n).wrapping_add(op.imm);
                        w!(op.d) = $how!(address);
                        break 'dispatch Retired::Load { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, reg) => {{
                        let address = r!(op.n).wrapping_add(r!(op.m) << (op.imm & 3));
                        w!(op.d) = $how!(address);
                        break 'dispatch Retired::Load { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, pre) => {{
                        let address = r!(op.n).wrapping_add(op.imm);
                        let value = $how!(address);
                        w!(op.n) = address;
                        w!(op.d) = value;
                        break 'dispatch Retired::Load { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, post) => {{
                        let address = r!(op.n);
                        let value = $how!(address);
                        w!(op.n) = address.wrapping_add(op.imm);
                        w!(op.d) = value;
                        break 'dispatch Retired::Load { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, lit) => {{
                        let address = op.imm;
                        w!(op.d) = $how!(address);
                        break 'dispatch Retired::Load { address, size: $size, count: 1 };
                    }};
                }
                macro_rules! stores {
                    ($how:ident, $size:literal, imm) => {{
                        let address = r!(op.n).wrapping_add(op.imm);
                        $how!(address, r!(op.d));
                        break 'dispatch Retired::Store { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, reg) => {{
                        let address = r!(op.n).wrapping_add(r!(op.m) << (op.imm & 3));
                        $how!(address, r!(op.d));
                        break 'dispatch Retired::Store { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, pre) => {{
                        let address = r!(op.n).wrapping_add(op.imm);
                        $how!(address, r!(op.d));
                        w!(op.n) = address;
                        break 'dispatch Retired::Store { address, size: $size, count: 1 };
                    }};
                    ($how:ident, $size:literal, post) => {{
                        let address = r!(op.n);
                        $how!(address, r!(op.d));
                        w!(op.n) = address.wrapping_add(op.imm);
                        break 'dispatch Retired::Store { address, size: $size, count: 1 };
                    }};
                }
                macro_rules! branch_if {
                    ($condition:expr) => {{
                        if $condition {
                            break 'dispatch Retired::Branch { target: op.imm };
                        }
                        break 'dispatch Retired::NotTaken;
                    }};
                }
                // What is asked below is `op.inner`: `kind` would take one of the host's registers.
                match kind {
                    Undecoded => {
                        let index = machine.core.code.index(here);
                        if !machine.core.code.fill(&machine.core.memory, &machine.core.timing, index, 0) {
                            let pc = machine.core.code.address(here);
                            publish!(pc);
                            machine.fault = Some(machine.not_executable(pc));
                            return Err(machine.take_fault(0));
                        }
                        continue 'run;
                    }
                    Marked => {
                        let index = machine.core.code.index(here);
                        let pc = machine.core.code.address(here);
                        if is_later((here, machine.instructions), (first, start)) {
                            publish!(pc);
                            return Ok(Stop::Address(pc));
                        }
                        if machine.core.code.op(index).kind == Undecoded {
                            machine.core.code.fill(&machine.core.memory, &machine.core.timing, index, 0);
                        }
                        here = machine.core.code.lift(index);
                        // SAFETY: as above.
                        slot = unsafe { &*here };
                        op = &slot.op;
                        kind = op.kind;
                        if kind == Undecoded {
                            publish!(pc);
                            return Err(machine.take_fault(0));
                        }
                        begin!();
                        reschedule!();
                        continue 'dispatch;
                    }
                    Conditional => {
                        if machine.core.state.holds(op.it >> 4) {
                            kind = op.inner;
                            reschedule!();
                            continue 'dispatch;
                        }
                        if O::enabled() {
                            observer.skipped();
                        }
                        next!(Retired::Skipped);
                    }
                    Undefined => fail!(),

                    AndImm => set!(r!(op.n) & op.imm),
                    AndReg => set!(r!(op.n) & r!(op.m)),
                    AndShift => set!(r!(op.n) & shifted!()),
                    AndImmS => {
                        constant_carry!();
                        set!(nz!(r!(op.n) & op.imm));
                    }
                    AndRegS => set!(nz!(r!(op.n) & r!(op.m))),
                    AndShiftS => set!(nz!(r!(op.n) & shifted_carry!())),
                    BicImm => set!(r!(op.n) & !op.imm),
                    BicReg => set!(r!(op.n) & !r!(op.m)),
                    BicShift => set!(r!(op.n) & !shifted!()),
                    BicImmS => {
                        constant_carry!();
                        set!(nz!(r!(op.n) & !op.imm));
                    }
                    BicRegS => set!(nz!(r!(op.n) & !r!(op.m))),
                    BicShiftS => set!(nz!(r!(op.n) & !shifted_carry!())),
                    OrrImm => set!(r!(op.n) | op.imm),
                    OrrReg => set!(r!(op.n) | r!(op.m)),
                    OrrShift => set!(r!(op.n) | shifted!()),
                    OrrImmS => {
                        constant_carry!();
                        set!(nz!(r!(op.n) | op.imm));
                    }
                    OrrRegS => set!(nz!(r!(op.n) | r!(op.m))),
                    OrrShiftS => set!(nz!(r!(op.n) | shifted_carry!())),
                    OrnImm => set!(r!(op.n) | !op.imm),
                    OrnShift => set!(r!(op.n) | !shifted!()),
                    OrnImmS => {
                        constant_carry!();
                        set!(nz!(r!(op.n) | !op.imm));
                    }
                    OrnShiftS => set!(nz!(r!(op.n) | !shifted_carry!())),
                    EorImm => set!(r!(op.n) ^ op.imm),
                    EorReg => set!(r!(op.n) ^ r!(op.m)),
                    EorShift => set!(r!(op.n) ^ shifted!()),
                    EorImmS => {
                        constant_carry!();
                        set!(nz!(r!(op.n) ^ op.imm));
                    }
                    EorRegS => set!(nz!(r!(op.n) ^ r!(op.m))),
                    EorShiftS => set!(nz!(r!(op.n) ^ shifted_carry!())),
                    AddImm => set!(r!(op.n).wrapping_add(op.imm)),
                    AddReg => set!(r!(op.n).wrapping_add(r!(op.m))),
                    AddShift => set!(r!(op.n).wrapping_add(shifted!())),
                    AddImmS => set!(add_flags!(r!(op.n), op.imm)),
                    AddRegS => set!(add_flags!(r!(op.n), r!(op.m))),
                    AddShiftS => set!(add_flags!(r!(op.n), shifted!())),
                    AdcImm => set!(carried!(r!(op.n), op.imm)),
                    AdcReg => set!(carried!(r!(op.n), r!(op.m))),
                    AdcShift => set!(carried!(r!(op.n), shifted!())),
                    AdcImmS => set!(carry_flags!(r!(op.n), op.imm)),
                    AdcRegS => set!(carry_flags!(r!(op.n), r!(op.m))),
                    AdcShiftS => set!(carry_flags!(r!(op.n), shifted!())),
                    SbcImm => set!(carried!(r!(op.n), !op.imm)),
                    SbcReg => set!(carried!(r!(op.n), !r!(op.m))),
                    SbcShift => set!(carried!(r!(op.n), !shifted!())),
                    SbcImmS => set!(carry_flags!(r!(op.n), !op.imm)),
                    SbcRegS => set!(carry_flags!(r!(op.n), !r!(op.m))),
                    SbcShiftS => set!(carry_flags!(r!(op.n), !shifted!())),
                    SubImm => set!(r!(op.n).wrapping_sub(op.imm)),
                    SubReg => set!(r!(op.n).wrapping_sub(r!(op.m))),
                    SubShift => set!(r!(op.n).wrapping_sub(shifted!())),
                    SubImmS => set!(sub_flags!(r!(op.n), op.imm)),
                    SubRegS => set!(sub_flags!(r!(op.n), r!(op.m))),
                    SubShiftS => set!(sub_flags!(r!(op.n), shifted!())),
                    RsbImm => set!(op.imm.wrapping_sub(r!(op.n))),
                    RsbReg => set!(r!(op.m).wrapping_sub(r!(op.n))),
                    RsbShift => set!(shifted!().wrapping_sub(r!(op.n))),
                    RsbImmS => set!(sub_flags!(op.imm, r!(op.n))),
                    RsbRegS => set!(sub_flags!(r!(op.m), r!(op.n))),
                    RsbShiftS => set!(sub_flags!(shifted!(), r!(op.n))),
                    TstImm => {
                        constant_carry!();
                        nz!(r!(op.n) & op.imm);
                    }
                    TstReg => {
                        nz!(r!(op.n) & r!(op.m));
                    }
                    TstShift => {
                        nz!(r!(op.n) & shifted_carry!());
                    }
                    TeqImm => {
                        constant_carry!();
                        nz!(r!(op.n) ^ op.imm);
                    }
                    TeqShift => {
                        nz!(r!(op.n) ^ shifted_carry!());
                    }
                    CmpImm => {
                        sub_flags!(r!(op.n), op.imm);
                    }
                    CmpReg => {
                        sub_flags!(r!(op.n), r!(op.m));
                    }
                    CmpShift => {
                        sub_flags!(r!(op.n), shifted!());
                    }
                    CmnImm => {
                        add_flags!(r!(op.n), op.imm);
                    }
                    CmnReg => {
                        add_flags!(r!(op.n), r!(op.m));
                    }
                    CmnShift => {
                        add_flags!(r!(op.n), shifted!());
                    }
                    MovImm => set!(op.imm),
                    MovImmS => {
                        constant_carry!();
                        set!(nz!(op.imm));
                    }
                    MovReg => set!(r!(op.m)),
                    MovRegS => set!(nz!(r!(op.m))),
                    MvnImm => set!(!op.imm),
                    MvnImmS => {
                        constant_carry!();
                        set!(nz!(!op.imm));
                    }
                    MvnReg => set!(!r!(op.m)),
                    MvnRegS => set!(nz!(!r!(op.m))),
                    MvnShift => set!(!shifted!()),
                    MvnShiftS => set!(nz!(!shifted_carry!())),
                    Movt => set!(r!(op.d) & 0xffff | op.imm),
                    MovSp => machine.core.state.r[13] = r!(op.m) & !3,
                    AddSpShift => {
                        let by = r!(op.m) << (op.imm & 31);
                        let sp = machine.core.state.r[13];
                        let sum = if op.a != 0 { add_flags!(sp, by) } else { sp.wrapping_add(by) };
                        machine.core.state.r[13] = sum & !3;
                    }
                    SubSpShift => {
                        let by = r!(op.m) << (op.imm & 31);
                        let sp = machine.core.state.r[13];
                        let rest = if op.a != 0 { sub_flags!(sp, by) } else { sp.wrapping_sub(by) };
                        machine.core.state.r[13] = rest & !3;
                    }
                    LslImm => set!(shift(r!(op.m), 0, op.imm, false)),
                    LsrImm => set!(shift(r!(op.m), 1, op.imm, false)),
                    AsrImm => set!(shift(r!(op.m), 2, op.imm, false)),
                    RorImm => set!(shift(r!(op.m), 3, op.imm, false)),
                    Rrx => set!(shift(r!(op.m), 4, 0, machine.core.state.c)),
                    LslImmS => shift_flags!(shift_c(r!(op.m), 0, op.imm, machine.core.state.c)),
                    LsrImmS => shift_flags!(shift_c(r!(op.m), 1, op.imm, machine.core.state.c)),
                    AsrImmS => shift_flags!(shift_c(r!(op.m), 2, op.imm, machine.core.state.c)),
                    RorImmS => shift_flags!(shift_c(r!(op.m), 3, op.imm, machine.core.state.c)),
                    RrxS => shift_flags!(shift_c(r!(op.m), 4, op.imm, machine.core.state.c)),
                    LslReg => set!(shift_register(r!(op.n), 0, r!(op.m), false).0),
                    LsrReg => set!(shift_register(r!(op.n), 1, r!(op.m), false).0),
                    AsrReg => set!(shift_register(r!(op.n), 2, r!(op.m), false).0),
                    RorReg => set!(shift_register(r!(op.n), 3, r!(op.m), false).0),
                    LslRegS => shift_flags!(shift_register(r!(op.n), 0, r!(op.m), machine.core.state.c)),
                    LsrRegS => shift_flags!(shift_register(r!(op.n), 1, r!(op.m), machine.core.state.c)),
                    AsrRegS => shift_flags!(shift_register(r!(op.n), 2, r!(op.m), machine.core.state.c)),
                    RorRegS => shift_flags!(shift_register(r!(op.n), 3, r!(op.m), machine.core.state.c)),
                    Bfi | Bfc => {
                        let mask = ((1u64 << op.a) - 1) as u32;
                        let source = if op.inner == Bfi { r!(op.n) & mask } else { 0 };
                        set!(r!(op.d) & !(mask << (op.imm & 31)) | source << (op.imm & 31));
                    }
                    Ubfx => set!(r!(op.n) >> (op.imm & 31) & ((1u64 << op.a) - 1) as u32),
                    Sbfx => {
                        let top = r!(op.n) << ((32 - op.imm - u32::from(op.a)) & 31);
                        set!((top as i32 >> ((32 - u32::from(op.a)) & 31)) as u32);
                    }
                    Clz => set!(r!(op.m).leading_zeros()),
                    Rbit => set!(r!(op.m).reverse_bits()),
                    Rev => set!(r!(op.m).swap_bytes()),
                    Rev16 => set!(r!(op.m).swap_bytes().rotate_right(16)),
                    Revsh => set!((r!(op.m) as u16).swap_bytes() as i16 as u32),
                    Sxtb => set!(r!(op.m).rotate_right(op.imm) as i8 as u32),
                    Sxth => set!(r!(op.m).rotate_right(op.imm) as i16 as u32),
                    Uxtb => set!(r!(op.m).rotate_right(op.imm) & 0xff),
                    Uxth => set!(r!(op.m).rotate_right(op.imm) & 0xffff),
                    Uxtb16 => set!(r!(op.m).rotate_right(op.imm) & 0xff_00ff),
                    Sxtab => set!(r!(op.n).wrapping_add(r!(op.m).rotate_right(op.imm) as i8 as u32)),
                    Sxtah => set!(r!(op.n).wrapping_add(r!(op.m).rotate_right(op.imm) as i16 as u32)),
                    Uxtab => set!(r!(op.n).wrapping_add(r!(op.m).rotate_right(op.imm) & 0xff)),
                    Uxtah => set!(r!(op.n).wrapping_add(r!(op.m).rotate_right(op.imm) & 0xffff)),
                    Pkhbt => set!(r!(op.n) & 0xffff | (r!(op.m) << (op.imm & 31)) & 0xffff_0000),
                    Pkhtb => set!(r!(op.n) & 0xffff_0000 | shift(r!(op.m), 2, op.imm, false) & 0xffff),
                    Sel | Sxtb16 | Sxtab16 | Uxtab16 | Ssat | Usat | Sat16 | Qadd | Qsub | Qdadd | Qdsub
                    | Usad8 | Usada8 | Parallel => machine.core.state.dsp(op.inner, op),

                    Mul => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        set!(n.wrapping_mul(m));
                        multiplied!(n, m);
                    }
                    MulS => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        set!(nz!(n.wrapping_mul(m)));
                        multiplied!(n, m);
                    }
                    Mla => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        set!(r!(op.a & 15).wrapping_add(n.wrapping_mul(m)));
                        multiplied!(n, m);
                    }
                    Mls => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        set!(r!(op.a & 15).wrapping_sub(n.wrapping_mul(m)));
                        multiplied!(n, m);
                    }
                    Umull | Umlal | Umaal => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        let (low, high) = (r!(op.d), r!(op.a & 15));
                        let product = u64::from(n) * u64::from(m);
                        let result = match op.inner {
                            Umull => product,
                            Umlal => product.wrapping_add(u64::from(high) << 32 | u64::from(low)),
                            _ => product + u64::from(high) + u64::from(low),
                        };
                        w!(op.d) = result as u32;
                        w!(op.a & 15) = (result >> 32) as u32;
                        multiplied!(n, m);
                    }
                    Smull | Smlal => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        let product = (i64::from(n as i32) * i64::from(m as i32)) as u64;
                        let before = u64::from(r!(op.a & 15)) << 32 | u64::from(r!(op.d));
                        let result = if op.inner == Smull { product } else { product.wrapping_add(before) };
                        w!(op.d) = result as u32;
                        w!(op.a & 15) = (result >> 32) as u32;
                        multiplied!(n, m);
                    }
                    Smulxy | Smlaxy | Smlalxy | Smulwy | Smlawy | Smuad | Smusd | Smlad | Smlsd | Smlald
                    | Smlsld | Smmul | Smmla | Smmls => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        machine.core.state.dsp_multiply(op.inner, op);
                        multiplied!(n, m);
                    }
                    Sdiv => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        if m == 0 && machine.core.system.divide_by_zero_traps() {
                            let fault = machine.trap(Trap::DivideByZero, address!(), 0, "division by zero");
                            machine.fault = Some(fault);
                            fail!();
                        }
                        set!(if m == 0 { 0 } else { (n as i32).wrapping_div(m as i32) as u32 });
                        next!(Retired::Divide { n, m });
                    }
                    Udiv => {
                        let (n, m) = (r!(op.n), r!(op.m));
                        if m == 0 && machine.core.system.divide_by_zero_traps() {
                            let fault = machine.trap(Trap::DivideByZero, address!(), 0, "division by zero");
                            machine.fault = Some(fault);
                            fail!();
                        }
                        set!(n.checked_div(m).unwrap_or(0));
                        next!(Retired::Divide { n, m });
                    }

                    LdrImm => loads!(load_word, 4, imm),
                    LdrReg => loads!(load_word, 4, reg),
                    LdrPre => loads!(load_word, 4, pre),
                    LdrPost => loads!(load_word, 4, post),
                    LdrLit => loads!(load_word, 4, lit),
                    LdrbImm => loads!(load_byte, 1, imm),
                    LdrbReg => loads!(load_byte, 1, reg),
                    LdrbPre => loads!(load_byte, 1, pre),
                    LdrbPost => loads!(load_byte, 1, post),
                    LdrbLit => loads!(load_byte, 1, lit),
                    LdrhImm => loads!(load_half, 2, imm),
                    LdrhReg => loads!(load_half, 2, reg),
                    LdrhPre => loads!(load_half, 2, pre),
                    LdrhPost => loads!(load_half, 2, post),
                    LdrhLit => loads!(load_half, 2, lit),
                    LdrsbImm => loads!(load_signed_byte, 1, imm),
                    LdrsbReg => loads!(load_signed_byte, 1, reg),
                    LdrsbPre => loads!(load_signed_byte, 1, pre),
                    LdrsbPost => loads!(load_signed_byte, 1, post),
                    LdrsbLit => loads!(load_signed_byte, 1, lit),
                    LdrshImm => loads!(load_signed_half, 2, imm),
                    LdrshReg => loads!(load_signed_half, 2, reg),
                    LdrshPre => loads!(load_signed_half, 2, pre),
                    LdrshPost => loads!(load_signed_half, 2, post),
                    LdrshLit => loads!(load_signed_half, 2, lit),
                    StrImm => stores!(store_word, 4, imm),
                    StrReg => stores!(store_word, 4, reg),
                    StrPre => stores!(store_word, 4, pre),
                    StrPost => stores!(store_word, 4, post),
                    StrbImm => stores!(store_byte, 1, imm),
                    StrbReg => stores!(store_byte, 1, reg),
                    StrbPre => stores!(store_byte, 1, pre),
                    StrbPost => stores!(store_byte, 1, post),
                    StrhImm => stores!(store_half, 2, imm),
                    StrhReg => stores!(store_half, 2, reg),
                    StrhPre => stores!(store_half, 2, pre),
                    StrhPost => stores!(store_half, 2, post),
                    LdrSp | LdrPc => {
                        let base = r!(op.n);
                        let address = match op.a {
                            0 | 2 => base.wrapping_add(op.imm),
                            1 => base.wrapping_add(r!(op.m) << (op.imm & 3)),
                            3 => base,
                            _ => op.imm,
                        };
                        // LDR PC must be aligned; LDR SP as any other.
                        let strict = if op.inner == LdrPc { !0 } else { machine.core.strict };
                        let value = load!(address, 4, word, strict);
                        if matches!(op.a, 2 | 3) {
                            w!(op.n) = base.wrapping_add(op.imm);
                        }
                        if op.inner == LdrSp {
                            machine.core.state.r[13] = value & !3;
                            break 'dispatch Retired::Load { address, size: 4, count: 1 };
                        }
                        let outcome = Retired::LoadBranch { address, size: 4, count: 1, target: value & !1 };
                        if value & 1 == 0 || value >> 28 == 15 {
                            return_or_fail!(value, outcome);
                        }
                        let kind = if op.n == 13 { Flow::Return } else { Flow::Jump };
                        jump!(value & !1, outcome, machine.indirect(kind, value & !1));
                    }
                    Ldrd => {
                        let base = r!(op.n);
                        let address = match op.m {
                            0 | 2 => base.wrapping_add(op.imm),
                            3 => base,
                            _ => op.imm,
                        };
                        let low = load!(address, 4, word, !0);
                        let high = load!(address.wrapping_add(4), 4, word, !0);
                        if matches!(op.m, 2 | 3) {
                            w!(op.n) = base.wrapping_add(op.imm);
                        }
                        w!(op.d) = low;
                        w!(op.a & 15) = high;
                        break 'dispatch Retired::Load { address, size: 4, count: 2 };
                    }
                    Strd => {
                        let base = r!(op.n);
                        let address = if op.m == 3 { base } else { base.wrapping_add(op.imm) };
                        store!(address, r!(op.d), 4, set_word, u32, !0);
                        store!(address.wrapping_add(4), r!(op.a & 15), 4, set_word, u32, !0);
                        if op.m != 0 {
                            w!(op.n) = base.wrapping_add(op.imm);
                        }
                        break 'dispatch Retired::Store { address, size: 4, count: 2 };
                    }
                    Ldm | Ldmdb | LdmPc => {
                        let base = r!(op.n);
                        let count = (op.imm & 0xffff).count_ones();
                        let down = op.inner == Ldmdb || (op.inner == LdmPc && op.m == 1);
                        let address = if down { base.wrapping_sub(4 * count) } else { base };
                        let mut at = address;
                        let mut list = op.imm & 0x7fff;
                        // The base last, so that a fault leaves it as it was.
                        let mut new_base = if down { address } else { base.wrapping_add(4 * count) };
                        let mut back = op.a == 1;
                        while list != 0 {
                            let register = list.trailing_zeros() as u8;
                            list &= list - 1;
                            let value = load!(at, 4, word, !0);
                            if register == op.n {
                                new_base = value;
                                back = true;
                            } else {
                                w!(register) = value;
                            }
                            at = at.wrapping_add(4);
                        }
                        if op.inner != LdmPc {
                            if back {
                                w!(op.n) = new_base;
                            }
                            break 'dispatch Retired::Load { address, size: 4, count: count as u8 };
                        }
                        let value = load!(at, 4, word, !0);
                        if back {
                            w!(op.n) = new_base;
                        }
                        let outcome =
                            Retired::LoadBranch { address, size: 4, count: count as u8, target: value & !1 };
                        if value & 1 == 0 || value >> 28 == 15 {
                            return_or_fail!(value, outcome);
                        }
                        let kind = if op.n == 13 { Flow::Return } else { Flow::Jump };
                        jump!(value & !1, outcome, machine.indirect(kind, value & !1));
                    }
                    Stm | Stmdb => {
                        let base = r!(op.n);
                        let count = (op.imm & 0xffff).count_ones();
                        let address = if op.inner == Stmdb { base.wrapping_sub(4 * count) } else { base };
                        let mut at = address;
                        let mut list = op.imm & 0xffff;
                        while list != 0 {
                            let register = list.trailing_zeros() as u8;
                            list &= list - 1;
                            store!(at, r!(register), 4, set_word, u32, !0);
                            at = at.wrapping_add(4);
                        }
                        if op.a == 1 {
                            w!(op.n) = if op.inner == Stmdb { address } else { at };
                        }
                        break 'dispatch Retired::Store { address, size: 4, count: count as u8 };
                    }
                    Ldrex => {
                        let address = r!(op.n).wrapping_add(op.imm);
                        set!(load!(address, 4, word, !0));
                        machine.core.state.exclusive = Some(address);
                        break 'dispatch Retired::Load { address, size: 4, count: 1 };
                    }
                    Ldrexh => {
                        let address = r!(op.n);
                        set!(load!(address, 2, half, !0));
                        machine.core.state.exclusive = Some(address);
                        break 'dispatch Retired::Load { address, size: 2, count: 1 };
                    }
                    Ldrexb => {
                        let address = r!(op.n);
                        set!(load!(address, 1, byte, 0));
                        machine.core.state.exclusive = Some(address);
                        break 'dispatch Retired::Load { address, size: 1, count: 1 };
                    }
                    Strex | Strexh | Strexb => {
                        let size = match op.inner {
                            Strex => 4,
                            Strexh => 2,
                            _ => 1,
                        };
                        let address = r!(op.n).wrapping_add(op.imm);
                        if address & (size - 1) != 0 {
                            let fault =
                                machine.trap(Trap::Unaligned, address!(), address, "misaligned exclusive");
                            machine.fault = Some(fault);
                            fail!();
                        }
                        let Some(marked) = machine.core.state.exclusive else {
                            set!(1);
                            break 'dispatch Retired::Store { address, size: size as u8, count: 1 };
                        };
                        if marked != address {
                            // DDI 0403E, A3.4.5: UNPREDICTABLE.
                            let what = "STREX to another address than LDREX marked";
                            machine.fault = Some(machine.architecture(address!(), address, what));
                            fail!();
                        }
                        match op.inner {
                            Strex => store_word!(address, r!(op.a & 15)),
                            Strexh => store_half!(address, r!(op.a & 15)),
                            _ => store_byte!(address, r!(op.a & 15)),
                        }
                        machine.core.state.exclusive = None;
                        set!(0);
                        break 'dispatch Retired::Store { address, size: size as u8, count: 1 };
                    }
                    Clrex => {
                        machine.core.state.exclusive = None;
                        break 'dispatch Retired::System;
                    }

                    B => break 'dispatch Retired::Branch { target: op.imm },
                    Loop => {
                        publish!();
                        if machine.nothing_can_come() {
                            return Ok(Stop::Halted);
                        }
                        break 'dispatch Retired::Branch { target: op.imm };
                    }
                    Beq => branch_if!(machine.core.state.z == 0),
                    Bne => branch_if!(machine.core.state.z != 0),
                    Bcs => branch_if!(machine.core.state.c),
                    Bcc => branch_if!(!machine.core.state.c),
                    Bmi => branch_if!(machine.core.state.n >> 31 != 0),
                    Bpl => branch_if!(machine.core.state.n >> 31 == 0),
                    Bvs => branch_if!(machine.core.state.v),
                    Bvc => branch_if!(!machine.core.state.v),
                    Bhi => branch_if!(machine.core.state.c && machine.core.state.z != 0),
                    Bls => branch_if!(!machine.core.state.c || machine.core.state.z == 0),
                    Bge => branch_if!((machine.core.state.n >> 31 != 0) == machine.core.state.v),
                    Blt => branch_if!((machine.core.state.n >> 31 != 0) != machine.core.state.v),
                    Bgt => branch_if!(
                        (machine.core.state.n >> 31 != 0) == machine.core.state.v
                            && machine.core.state.z != 0
                    ),
                    Ble => branch_if!(
                        (machine.core.state.n >> 31 != 0) != machine.core.state.v
                            || machine.core.state.z == 0
                    ),
                    Cbz => branch_if!(r!(op.n) == 0),
                    Cbnz => branch_if!(r!(op.n) != 0),
                    Bl => {
                        let return_to = address!().wrapping_add(4);
                        machine.core.state.r[14] = return_to | 1;
                        branch!(op.imm, Retired::Branch { target: op.imm }, machine.call(return_to));
                    }
                    Bx | Blx => {
                        let value = r!(op.m);
                        let outcome = Retired::Branch { target: value & !1 };
                        if value & 1 == 0 || (op.inner == Bx && value >> 28 == 15) {
                            return_or_fail!(value, outcome);
                        }
                        if op.inner == Blx {
                            let return_to = address!().wrapping_add(2);
                            machine.core.state.r[14] = return_to | 1;
                            jump!(value & !1, outcome, machine.call(return_to));
                        }
                        let kind = if op.m == 14 { Flow::Return } else { Flow::Jump };
                        jump!(value & !1, outcome, machine.indirect(kind, value & !1));
                    }
                    MovPc => {
                        let target = r!(op.m) & !1;
                        let kind = if op.m == 14 { Flow::Return } else { Flow::Jump };
                        jump!(target, Retired::Branch { target }, machine.indirect(kind, target));
                    }
                    AddPc => {
                        let target = op.imm.wrapping_add(r!(op.m)) & !1;
                        jump!(target, Retired::Branch { target }, Flow::Jump);
                    }
                    Tbb => {
                        let base = if op.n == 15 { op.imm } else { r!(op.n) };
                        let address = base.wrapping_add(r!(op.m));
                        let target = op.imm.wrapping_add(2 * load_byte!(address));
                        let outcome = Retired::LoadBranch { address, size: 1, count: 1, target };
                        jump!(target, outcome, Flow::Jump);
                    }
                    Tbh => {
                        let base = if op.n == 15 { op.imm } else { r!(op.n) };
                        let address = base.wrapping_add(r!(op.m) << 1);
                        let target = op.imm.wrapping_add(2 * load_half!(address));
                        let outcome = Retired::LoadBranch { address, size: 2, count: 1, target };
                        jump!(target, outcome, Flow::Jump);
                    }

                    It | Nop | Dmb | Dsb | Isb => break 'dispatch Retired::System,
                    Wfi => {
                        machine.core.state.sleep = Sleep::Interrupt;
                        machine.deadline = 0;
                        break 'dispatch Retired::System;
                    }
                    Wfe => {
                        if !std::mem::take(&mut machine.core.state.event) {
                            machine.core.state.sleep = Sleep::Event;
                            machine.deadline = 0;
                        }
                        break 'dispatch Retired::System;
                    }
                    Sev => {
                        machine.core.state.event = true;
                        break 'dispatch Retired::System;
                    }
                    Cps => {
                        if machine.core.state.privileged() {
                            if op.imm & 2 != 0 {
                                machine.core.state.primask = op.a != 0;
                            }
                            if op.imm & 1 != 0 {
                                machine.set_faultmask(op.a != 0);
                            }
                            machine.deadline = 0;
                        }
                        break 'dispatch Retired::System;
                    }
                    Mrs => {
                        set!(machine.core.state.read_special(op.imm));
                        break 'dispatch Retired::System;
                    }
                    Msr => {
                        machine.write_special(op.imm, op.a, r!(op.n));
                        machine.deadline = 0;
                        break 'dispatch Retired::System;
                    }
                    Svc => {
                        if !machine.core.system.nvic.takes(nvic::SVCALL, &machine.core.state) {
                            let what = "SVC where its priority does not allow it (escalates to HardFault)";
                            let fault = machine.trap(Trap::Blocked, address!(), op.imm, what);
                            machine.fault = Some(fault);
                            fail!();
                        }
                        machine.core.system.nvic.system_pending |= 1 << nvic::SVCALL;
                        machine.deadline = 0;
                        break 'dispatch Retired::System;
                    }
                    Bkpt => {
                        publish!();
                        let pc = machine.core.state.pc;
                        if let Some(what) = machine.core.boot_rom.as_ref().and_then(|rom| rom.refused(pc)) {
                            return Err(machine.architecture(machine.core.state.r[14], pc, &what));
                        }
                        if op.imm != semihosting::CALL {
                            return Ok(Stop::Breakpoint);
                        }
                        if let Some(code) = machine.semihosting(observer)? {
                            return Ok(Stop::Exit(code));
                        }
                        break 'dispatch Retired::System;
                    }
                    Float => {
                        publish!();
                        let Some(outcome) = machine.float(op, observer) else { fail!() };
                        cycles = machine.cycles;
                        let cost = machine.core.timing.float(op, &slot.note, address!(), outcome, cycles);
                        cycles += u64::from(cost);
                        // SAFETY: it is decoded.
                        here = unsafe { code::after(here) };
                        machine.instructions += 1;
                        continue 'run;
                    }
                }
                next!(Retired::Plain);
            };
            // Once for many instructions: a copy in each would take long to build.
            match outcome {
                Retired::Branch { target } => branch!(target, outcome, Flow::Jump),
                Retired::NotTaken => next!(Retired::NotTaken),
                Retired::Load { address, size, count: 1 } => next!(Retired::Load { address, size, count: 1 }),
                Retired::Store { address, size, count: 1 } => {
                    next!(Retired::Store { address, size, count: 1 })
                }
                other => next!(other),
            }
        }
    }
}

impl<T: Timing> Execute for T {}

/// Returns true if an instruction is not the first of a run: slot and count of both. A call, lest
/// the compiler asks before each dispatch.
#[cold]
#[inline(never)]
fn is_later<N>(now: (At<N>, u64), first: (At<N>, u64)) -> bool {
    now != first
}

impl<T: Timing> Machine<CortexM<T>> {
    /// Returns the slot of `state.pc`, decoded with `state.it`, for the loop to go on there.
    pub(super) fn enter(&mut self) -> Result<At<T::Note>, Fault> {
        let (pc, it) = (self.core.state.pc, self.core.state.it);
        let unmapped = Fault::Unmapped { pc, address: pc, size: 2, kind: "fetch" };
        let at = self.core.code.enter(pc).ok_or(unmapped)?;
        let index = self.core.code.index(at);
        let op = self.core.code.op(index);
        if op.it != it && (it != 0 || op.kind != Opcode::Undecoded) {
            self.core.code.fill(&self.core.memory, &self.core.timing, index, it);
        }
        Ok(at)
    }

    /// The fault of the instruction under way, which has `length` bytes.
    #[cold]
    fn take_fault(&mut self, length: u8) -> Fault {
        self.fault.take().unwrap_or_else(|| self.undefined(length))
    }
}
