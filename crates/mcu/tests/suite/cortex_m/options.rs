//! Options that Arm leaves to the maker of a part.
//!
//! They are bits of a priority, interrupts, units and identification.

use super::programs;
use crate::clock_gates::enabling;
use mcu::{Image, Mcu, Part, Segment, Stop, Until, new_machine};

const UNTIL: Until = Until { cycles: Some(100_000), addresses: Vec::new() };

/// A program at `start` with vectors for interrupts 0 and 1, on a part whose flash the test puts at
/// `base`.
fn machine(target: &str, base: u32, program: &str) -> Box<dyn Mcu> {
    machine_of(&programs::part(target), base, program)
}

fn machine_of(part: &Part, base: u32, program: &str) -> Box<dyn Mcu> {
    let source = format!(
        ".global _start\n_start: .word 0x20001000, start - 0x08000000 + {base:#x} + 1
        .space 0x38
        .word first - 0x08000000 + {base:#x} + 1, second - 0x08000000 + {base:#x} + 1
        start: {program}
        .ltorg"
    );
    let bytes = programs::assemble("cortex-m3", &format!("options-{}-{}", part.name, program.len()), &source);
    let mut machine = new_machine(part, part.default_clock_hz).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: base, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

/// The first interrupt, of priority 0x30, pends the second, of 0x20, which is more urgent where
/// 0x10 is a bit of a priority.
const NESTED: &str = "ldr r0, =0xe000e400
    ldr r1, =0x2030
    str r1, [r0]
    ldr r6, [r0]
    ldr r0, =0xe000e100
    movs r1, #3
    str r1, [r0]
    ldr r0, =0xe000e200
    movs r1, #1
    str r1, [r0]
    dsb
    isb
    bkpt 0
    .thumb_func
    first: movs r1, #2
    str r1, [r0]
    dsb
    isb
    mov r5, r4
    bx lr
    .thumb_func
    second: movs r4, #1
    bx lr";

#[test]
fn priorities_have_the_bits_of_the_part() {
    for (target, base, nested, kept) in [
        ("nrf52840", 0, 0, 0x2020),
        ("stm32f407", 0x0800_0000, 1, 0x2030),
        ("stm32f103", 0x0800_0000, 1, 0x2030),
    ] {
        let mut machine = machine(target, base, NESTED);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint), "{target}");
        let seen = ["r5", "r4", "r6"].map(|name| register(&*machine, name));
        assert_eq!(seen, [nested, 1, kept], "{target}");
    }
}

/// CPUID, SYST_CALIB, ICTR, MPU_TYPE, FP_CTRL and DWT_CTRL of each part.
#[test]
fn identification_is_that_of_the_part() {
    let read = |target: &str, address: u32| {
        let part = programs::part(target);
        let machine = new_machine(&part, part.default_clock_hz).expect("a machine");
        let mut word = [0; 4];
        machine.inspect(address, &mut word).then(|| u32::from_le_bytes(word))
    };
    let common = [0xe000_ed00, 0xe000_e01c, 0xe000_ed90];
    for (target, expected) in [
        ("stm32f051", [0x410c_c200, 0x4000_1770, 0]),
        ("samd21", [0x410c_c601, 0x4000_0000, 0]),
        ("rp2040", [0x410c_c601, 0, 0x800]),
        ("stm32f103", [0x411f_c231, 0x4000_2328, 0]),
        ("stm32f401", [0x410f_c241, 0x4000_2904, 0x800]),
        ("stm32f407", [0x410f_c241, 0x4000_493e, 0x800]),
        ("stm32f767", [0x411f_c270, 0x4000_493e, 0x800]),
        ("nrf52840", [0x410f_c241, 0xc000_0000, 0x800]),
    ] {
        assert_eq!(common.map(|address| read(target, address)), expected.map(Some), "{target}");
    }
    for (target, expected) in [
        ("stm32f103", [0x260, 4 << 28]),
        ("nrf52840", [0x260, 4 << 28]),
        ("stm32f767", [0x1000_0080, 4 << 28]),
    ] {
        assert_eq!(
            [0xe000_2000, 0xe000_1000].map(|address| read(target, address)),
            expected.map(Some),
            "{target}"
        );
    }
}

/// Without a reference clock SYST_CSR.CLKSOURCE reads as one; the STM32's divides the core's clock
/// by eight.
#[test]
fn systick_has_the_reference_clock_of_the_part() {
    let program = "ldr r0, =0xe000e010
        movs r1, #0
        str r1, [r0]
        ldr r4, [r0]
        bkpt 0
        first:
        second: bkpt 1";
    for (target, base, source) in [("nrf52840", 0, 4), ("stm32f407", 0x0800_0000, 0)] {
        let mut machine = machine(target, base, program);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint));
        assert_eq!(register(&*machine, "r4"), source, "{target}");
    }
}

/// RAM at address 0, as an image behind a bootloader brings its vectors there on a Cortex-M0.
#[test]
fn ram_appears_at_address_0_for_the_vectors() {
    let program = "ldr r0, =0x40021018
        movs r1, #1
        str r1, [r0]
        ldr r0, =0x20000040
        ldr r1, =first + 1
        str r1, [r0]
        ldr r0, =0x40010000
        movs r1, #3
        str r1, [r0]
        ldr r0, =0xe000e100
        movs r1, #1
        str r1, [r0]
        ldr r0, =0xe000e200
        str r1, [r0]
        nop
        nop
        bkpt 0
        .thumb_func
        first: movs r4, #1
        bx lr
        second: bkpt 1";
    let mut machine = machine("stm32f051", 0x0800_0000, program);
    // The vector in the flash leads elsewhere.
    assert!(machine.poke(0x0800_0040, &[0; 4]));
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint));
    assert_eq!(register(&*machine, "r4"), 1);
    machine.reset();
    let mut word = [0; 4];
    assert!(machine.peek(0x40, &mut word));
    assert_eq!(word, [0; 4], "a reset shows the flash again");
}

/// A write that the part ignores is a mistake, which ends the run, and with `lenient` is counted.
#[test]
fn lenient_run_counts_ignored_writes() {
    // IWDG_PR without the key; GPIOA_IDR.
    for (address, kind) in [(0x4000_3004, "without the key 0x5555"), (0x4002_0010, "IDR of a port")] {
        let enabling = enabling("stm32f407");
        let program = format!(
            "{enabling}ldr r0, ={address:#x}\nmovs r1, #3\nstr r1, [r0]\nldr r4, [r0]\nbkpt 0\nfirst:\nsecond: bkpt 1"
        );
        let mut strict = machine("stm32f407", 0x0800_0000, &program);
        assert!(strict.run(&UNTIL).is_err());
        assert!(strict.refused().is_some_and(|said| said.contains(kind)), "{:?}", strict.refused());
        let mut lenient = machine("stm32f407", 0x0800_0000, &program);
        lenient.set_lenient(true);
        assert_eq!(lenient.run(&UNTIL), Ok(Stop::Breakpoint));
        assert!(
            matches!(lenient.tolerated()[..], [(said, 1)] if said.contains(kind)),
            "{:?}",
            lenient.tolerated()
        );
        assert_eq!(register(&*lenient, "r4") & 3, 0, "nothing was written");
    }
}

/// A stub also stands for what the private peripheral bus has no model of, and leaves what has one.
#[test]
fn stub_reaches_the_system_control_space() {
    // DCRDR; VTOR.
    let program = "ldr r0, =0xe000edf8
        movs r1, #5
        str r1, [r0]
        ldr r4, [r0]
        ldr r0, =0xe000ed08
        ldr r5, [r0]
        bkpt 0
        first:
        second: bkpt 1";
    assert!(machine("stm32f407", 0x0800_0000, program).run(&UNTIL).is_err());
    let mut part = programs::part("stm32f407");
    assert!(part.stub("0xe000ed00-0xe000edff"));
    let mut machine = machine_of(&part, 0x0800_0000, program);
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint));
    assert_eq!(["r4", "r5"].map(|name| register(&*machine, name)), [5, 0]);
    assert_eq!(machine.stub_uses().len(), 1);
}

#[test]
fn memories_beyond_the_model_s_table_are_refused() {
    let mut part = programs::part("stm32f407");
    part.memories[0].size = 256 << 20;
    let refused = new_machine(&part, part.default_clock_hz).err().expect("it is refused");
    assert!(refused.contains("MiB of addresses"), "{refused}");
}
