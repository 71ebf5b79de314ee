//! The MSP430X.

use super::{Program, check_many, load, set};
use mcu::cores::msp430::decode::decode;
use mcu::cores::msp430::op::{Op, Opcode, Operand, Width};
use mcu::{Part, Segment, Until};
use testkit::random::Random;

const PART: &str = include_str!("../../../../../targets/msp430f5438a.toml");
const CODE: u32 = 0x6000;
/// Initial value of r10 and the stack pointer.
const MIDDLE: u32 = 0x2000;
const NOP: u16 = 0x4303;

/// Returns true if the instruction stays within the program and its data, and leaves r10 and the
/// modes as they are.
fn is_tame(op: &Op) -> bool {
    use Opcode::*;
    let control =
        matches!(op.kind, Jne | Jeq | Jnc | Jc | Jn | Jge | Jl | Jmp | Call | Calla | Reti | Unknown);
    let word = op.width != Width::Byte;
    let near = |value: u32| !((0x40..=0xf_ffc0).contains(&value) || word && value & 1 != 0);
    let from = match op.source {
        Operand::Register | Operand::Value => true,
        Operand::Indexed16 | Operand::Indexed20 => op.source_register == 10 && near(op.source_value),
        Operand::Indirect => op.source_register == 10,
        Operand::Increment => op.source_register == 1,
        Operand::At => false,
    };
    let to = match op.destination {
        Operand::Register => op.destination_register > 3 && op.destination_register != 10,
        Operand::Indexed16 | Operand::Indexed20 => {
            op.destination_register == 10 && near(op.destination_value)
        }
        _ => false,
    };
    match op.kind {
        _ if control => false,
        Pushm => op.destination_register.saturating_sub(op.source_value as u8) >= 3,
        Popm => {
            let last = op.destination_register + op.source_value as u8;
            op.destination_register > 3 && !(op.destination_register..last).contains(&10)
        }
        Push => from,
        Rrc | Rra | Sxt | Swpb => {
            from && (op.source != Operand::Register || op.source_register > 3 && op.source_register != 10)
        }
        _ => from && to,
    }
}

fn instruction(random: &mut Random) -> Vec<u16> {
    loop {
        let mut words =
            [random.word() as u16, random.word() as u16, random.word() as u16, random.word() as u16];
        match random.below(4) {
            0 => words[0] = 0x1800 | words[0] & 0x1cf,
            1 => words[0] = 0x1000 | words[0] & 0x5ff,
            _ => {}
        }
        // Small indices.
        words.iter_mut().skip(1).filter(|_| random.below(2) == 0).for_each(|word| *word &= 0x3e);
        let op = decode(CODE, |address| words.get((address - CODE) as usize / 2).copied());
        if let Some(op) = op.filter(is_tame) {
            return words[..usize::from(op.length) / 2].to_vec();
        }
    }
}

fn program(random: &mut Random) -> Program {
    let part = Part::from_toml(PART).expect("a part");
    let mut code = Vec::new();
    while code.len() < 40 {
        match random.below(24) {
            // A conditional jump over a NOP.
            0 => code.extend([0x2001 | (random.below(7) as u16) << 10, NOP]),
            _ => code.extend(instruction(random)),
        }
    }
    let listing = code.iter().map(|word| format!("{word:04x}")).collect::<Vec<_>>().join(" ");
    let end = CODE + 2 * code.len() as u32;
    let bytes = code.iter().chain(&[NOP, NOP]).flat_map(|word| word.to_le_bytes()).collect();
    let vector = (CODE as u16).to_le_bytes().to_vec();
    let segments = vec![Segment { address: CODE, bytes }, Segment { address: 0xfffe, bytes: vector }];
    let mut machine = load(&part, segments);
    let count = machine.register_names().len();
    for register in 3..count {
        set(&mut *machine, register, random.word() & [0xffff, 0xf_ffff, 0xff][random.below(3) as usize]);
    }
    let base = machine.register_names().iter().position(|register| register.name == "r10").expect("r10");
    set(&mut *machine, 1, MIDDLE);
    set(&mut *machine, 2, random.word() & 0x107);
    set(&mut *machine, base, MIDDLE);
    let data = MIDDLE - 0x80..MIDDLE + 0x80;
    for address in data.clone() {
        assert!(machine.poke(address, &[random.byte()]));
    }
    let mut registers: Vec<(usize, u32)> =
        (3..count).filter(|register| *register != base).map(|register| (register, 0xf_ffff)).collect();
    registers.push((2, 0x107));
    Program { machine, end, registers, data, listing }
}

/// The labels of some bits of a register behind one instruction, before which some bits of one have
/// a label.
fn behind(instruction: &[u16], labelled: (&str, u32)) -> impl Fn(&str, u32) -> u8 {
    let part = Part::from_toml(PART).expect("a part");
    let code = [instruction, &[NOP, NOP]].concat();
    let end = CODE + 2 * instruction.len() as u32 + 2;
    let bytes = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let vector = Segment { address: 0xfffe, bytes: (CODE as u16).to_le_bytes().to_vec() };
    let mut machine = load(&part, vec![Segment { address: CODE, bytes }, vector]);
    let names = machine.register_names();
    let index =
        move |name: &str| names.iter().position(|register| register.name == name).expect("a register");
    let mut taint = machine.taint();
    taint.label_register(index(labelled.0), labelled.1, 1);
    machine
        .run_tainted(&Until { cycles: None, addresses: vec![end] }, &mut taint)
        .expect("a program that runs");
    taint.finish();
    move |name, bits| taint.labels_in(index(name), bits)
}

/// Found by the seed 1795522441922765746: V says whether both operands of XOR were negative, which
/// a register and itself are at once.
#[test]
fn xor_of_a_register_with_itself_leaves_its_sign_in_v() {
    let labels = behind(&[0xe808], ("r8", 0xffff));
    assert_eq!((labels("sr", 0x100), labels("sr", 7), labels("r8", 0xffff)), (1, 0, 0));
}

/// CLRC is BIC #1, SR.
#[test]
fn clrc_clears_the_carry_s_label_and_no_other_s() {
    let labels = behind(&[0xc312], ("sr", 0x107));
    assert_eq!((labels("sr", 1), labels("sr", 2), labels("sr", 4), labels("sr", 0x100)), (0, 1, 1, 1));
    assert_eq!(labels("sr", 0xf8), 0, "GIE is nobody's secret");
}

/// SWPBX.A R8 exchanges bits 15:8 and 7:0, and keeps bits 19:16 (SLAU208, CPUX, SWPBX). Found by the
/// seed 1795990000000190056.
#[test]
fn swpbx_of_an_address_keeps_the_label_of_its_highest_bits() {
    let labels = behind(&[0x1800, 0x1088], ("r8", 0xf_0000));
    assert_eq!(labels("r8", 0xf_0000), 1);
}

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(300, program);
}
