//! The Cortex-M.

use super::{Program, check_many, load, set};
use crate::cortex_m::programs::part;
use mcu::cores::cortex_m::decode::{Architecture, advance, decode, is_wide};
use mcu::cores::cortex_m::fpu::decode::{Operation, needs_double_unit, operation};
use mcu::cores::cortex_m::op::{Op, Opcode};
use mcu::{Segment, Until};
use std::collections::HashMap;
use testkit::random::Random;

const FLASH: u32 = 0x0800_0000;
const START: u32 = FLASH + 0x200;
const RAM: u32 = 0x2000_0000;
/// Initial value of r7 and the stack pointer; r6 is a small number.
const MIDDLE: u32 = RAM + 0x800;

/// Switches the floating-point unit on: CPACR.
const PRELUDE: [u16; 9] = [0xf64e, 0x5088, 0xf2ce, 0x0000, 0xf44f, 0x0170, 0x6001, 0xbf00, 0xbf00];

#[derive(Clone, Copy)]
struct Core {
    target: &'static str,
    architecture: Architecture,
    float: bool,
    double: bool,
}

/// Returns true if the instruction stays within the program and its data.
fn is_tame(core: Core, op: &Op) -> bool {
    use Opcode::*;
    let operands = op.operands();
    let system = matches!(
        op.inner,
        Undefined
            | Undecoded
            | B
            | Loop
            | Bl
            | Bx
            | Blx
            | MovPc
            | AddPc
            | Tbb
            | Tbh
            | LdmPc
            | LdrPc
            | LdrSp
            | Wfi
            | Wfe
            | Cps
            | Svc
            | Bkpt
            | Strex
            | Strexb
            | Strexh
            | Cbz
            | Cbnz
            | It
            | AddSpShift
            | SubSpShift
            | MovSp
    ) || (matches!(op.inner, Mrs | Msr) && op.imm > 3)
        || (op.inner as u8 >= Beq as u8 && op.inner as u8 <= Ble as u8);
    let kept = operands.writes & (1 << 6 | 1 << 7 | 1 << 13 | 1 << 15) == 0
        || (operands.writes & (1 << 6 | 1 << 7 | 1 << 15) == 0
            && matches!(op.inner, Ldm | Stmdb)
            && op.n == 13);
    let based = operands.addresses & !(1 << 6 | 1 << 7 | 1 << 13) == 0;
    let small = operands.addresses != 1 << 6 && operands.addresses != 1 << 6 | 1 << 13;
    let float = op.inner != Float
        || (core.float
            && (core.double || !needs_double_unit(op))
            && !(matches!(operation(op), Operation::Vldr | Operation::Vstr) && op.n == 15));
    let loads = operands.addresses != 0
        || !matches!(op.inner, LdrLit | LdrbLit | LdrhLit | LdrsbLit | LdrshLit | Ldrd);
    !system && kept && based && small && float && loads
}

/// Occurrences of each opcode, of floating point each operation: the next is one that came seldom.
type Counts = HashMap<(Opcode, u8), u32>;

/// A random instruction for an ITSTATE.
fn instruction(core: Core, random: &mut Random, counts: &mut Counts, it: u8) -> Vec<u16> {
    loop {
        let (mut first, mut second) = (random.word() as u16, random.word() as u16);
        match random.below(8) {
            0..3 => first |= 0xe800,
            3 if core.float => {
                first = [0xee00, 0xed00][random.below(2) as usize] | first & 0xff;
                second = second & !0x0f00 | [0x0a00, 0x0b00][random.below(2) as usize];
            }
            // Loads and stores at r7.
            4 => first = 0x6000 + (first & 0x3fff) & !0x38 | 7 << 3,
            _ => {}
        }
        let op = decode(first, second, START, it, core.architecture);
        let count = counts.entry((op.inner, if op.inner == Opcode::Float { op.a } else { 0 })).or_default();
        let least = random.below(*count + 1) == 0;
        if least && is_tame(core, &op) {
            *count += 1;
            return if is_wide(first) { vec![first, second] } else { vec![first] };
        }
    }
}

fn instructions(core: Core, random: &mut Random, counts: &mut Counts) -> Vec<u16> {
    let mut code = Vec::new();
    while code.len() < 24 {
        match random.below(40) {
            // A conditional branch over a NOP, CBZ alike.
            0 => code.extend([0xd000 | (random.below(14) as u16) << 8, 0xbf00]),
            1 if core.architecture > Architecture::V6M => {
                code.extend([0xb100 | random.below(6) as u16, 0xbf00]);
            }
            2..5 if core.architecture > Architecture::V6M => {
                let it = (random.below(14) << 4 | 1 + random.below(15)) as u8;
                code.push(0xbf00 | u16::from(it));
                let mut state = it;
                while state != 0 {
                    code.extend(instruction(core, random, counts, state));
                    state = advance(state);
                }
            }
            _ => code.extend(instruction(core, random, counts, 0)),
        }
    }
    code
}

fn program(core: Core, random: &mut Random, counts: &mut Counts) -> Program {
    let code = instructions(core, random, counts);
    let listing = code.iter().map(|half| format!("{half:04x}")).collect::<Vec<_>>().join(" ");
    let prelude = if core.float { &PRELUDE[..] } else { &[] };
    let begin = START + 2 * prelude.len() as u32;
    let end = begin + 2 * code.len() as u32;
    let halves = prelude.iter().chain(&code).chain(&[0xbf00, 0xbf00]);
    let bytes = halves.flat_map(|half| half.to_le_bytes()).collect();
    let vectors = [MIDDLE, START | 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let segments = vec![Segment { address: FLASH, bytes: vectors }, Segment { address: START, bytes }];
    let mut machine = load(&part(core.target), segments);
    if core.float {
        machine.run(&Until { addresses: vec![begin], ..Until::default() }).expect("the prelude");
    }
    let count = machine.register_names().len();
    for register in (0..count).filter(|register| !(13..23).contains(register) || *register == 14) {
        let value = match random.below(3) {
            0 => random.below(64),
            _ => random.word(),
        };
        set(&mut *machine, register, value);
    }
    set(&mut *machine, 6, random.below(16) * 4);
    set(&mut *machine, 7, MIDDLE);
    set(&mut *machine, 13, MIDDLE);
    if core.float {
        // FPSCR: the flags alone.
        set(&mut *machine, count - 1, random.word() & 0xf000_009f);
    }
    let data = MIDDLE - 0x80..MIDDLE + 0x80;
    for address in data.clone() {
        assert!(machine.poke(address, &[random.byte()]));
    }
    let flags = if core.architecture == Architecture::V7EM { 0xf80f_0000 } else { 0xf000_0000 };
    let mut registers: Vec<(usize, u32)> = (0..count)
        .filter(|register| ![6, 7, 13, 15].contains(register) && !(17..23).contains(register))
        .map(|register| (register, if register == 16 { flags } else { u32::MAX }))
        .collect();
    if core.float {
        registers.last_mut().expect("FPSCR").1 = 0xf7c0_009f;
    }
    Program { machine, end, registers, data, listing }
}

fn check(count: u32, core: Core) {
    let mut counts = Counts::new();
    check_many(count, |random| program(core, random, &mut counts));
}

#[test]
fn all_that_a_secret_changes_has_a_label_on_the_m0_and_m0plus() {
    let core = |target| Core { target, architecture: Architecture::V6M, float: false, double: false };
    check(200, core("stm32f051"));
}

#[test]
fn all_that_a_secret_changes_has_a_label_on_the_m3() {
    check(150, Core { target: "stm32f100", architecture: Architecture::V7M, float: false, double: false });
}

#[test]
fn all_that_a_secret_changes_has_a_label_on_the_m4() {
    check(150, Core { target: "stm32f407", architecture: Architecture::V7EM, float: true, double: false });
}

#[test]
fn all_that_a_secret_changes_has_a_label_on_the_m7() {
    check(150, Core { target: "stm32f767", architecture: Architecture::V7EM, float: true, double: true });
}
