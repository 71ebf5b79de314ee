//! Runs up to addresses, changed code, resets, snapshots, and images at other places.

use super::*;
use mcu::vectors_behind_bootloader;

#[test]
fn runs_stop_at_addresses_and_go_on() {
    let mut machine =
        m4("stops", "start: movs r0, #0\n again: adds r0, r0, #1\n cmp r0, #5\n bne again\n bkpt 0");
    let again = machine.pc() + 2;
    let until = Until { addresses: vec![again], ..Until::default() };
    for count in 0..5 {
        assert_eq!(machine.run(&until), Ok(Stop::Address(again)));
        assert_eq!(register(machine.as_ref(), "r0"), count);
    }
    assert_eq!(machine.run(&until), Ok(Stop::Breakpoint));
    assert_eq!(machine.instructions(), 1 + 3 * 5);
}

#[test]
fn code_in_ram_may_be_rewritten() {
    let mut machine = m4(
        "rewrite",
        "start: ldr r0, =0x20000100
                ldr r1, =0x47702001
                str r1, [r0]
                adds r2, r0, #1
                blx r2
                mov r4, r0
                ldr r0, =0x20000100
                movs r1, #2
                strb r1, [r0]
                blx r2
                mov r5, r0
                bkpt 0
                .ltorg",
    );
    finish(machine.as_mut());
    assert_eq!((register(machine.as_ref(), "r4"), register(machine.as_ref(), "r5")), (1, 2));
}

#[test]
fn each_core_identifies_itself() {
    let program = "start: ldr r0, =0xe000ed00\n ldr r1, [r0]\n bkpt 0\n .ltorg";
    for (target, cpu, id) in [
        ("stm32f051", "cortex-m0", 0x410c_c200),
        ("stm32f100", "cortex-m3", 0x411f_c231),
        ("stm32f407", "cortex-m4", 0x410f_c241),
        ("stm32f767", "cortex-m7", 0x411f_c270),
    ] {
        let mut machine = machine_on(target, cpu, "cpuid", program);
        finish(machine.as_mut());
        assert_eq!(register(machine.as_ref(), "r1"), id, "{target}");
    }
}

#[test]
fn resets_and_snapshots_repeat_exactly() {
    let bytes = programs::build("cortex-m4", "-O2", 3);
    let mut machine = new_machine(&programs::part("stm32f407"), 8_000_000).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    assert_eq!(machine.run(&Until { cycles: Some(20_000), ..Until::default() }), Ok(Stop::Cycles));
    let mut other = machine.snapshot();
    finish(machine.as_mut());
    finish(other.as_mut());
    let end = (machine.registers(), machine.cycles(), machine.instructions());
    assert_eq!(end, (other.registers(), other.cycles(), other.instructions()));
    machine.reset();
    finish(machine.as_mut());
    assert_eq!(end, (machine.registers(), machine.cycles(), machine.instructions()));
}

/// RM0432, section 2.4: SRAM2 is at 0x20030000, after SRAM1, and at 0x10000000, where it has 64 kB.
#[test]
fn the_stm32l4_has_sram2_at_two_places() {
    let mut machine = machine_on(
        "stm32l4r5",
        "cortex-m4",
        "sram2",
        "start: ldr r0, =0x10000004
                ldr r1, =0x20030004
                movs r2, #42
                str r2, [r0]
                ldr r3, [r1]
                str r1, [r1, #4]
                ldr r4, [r0, #4]
                bkpt 0
                ldr r0, =0x10010000
                ldr r0, [r0]
                bkpt 0
                .ltorg",
    );
    finish(&mut *machine);
    assert_eq!(register(&*machine, "r3"), 42);
    assert_eq!(register(&*machine, "r4"), 0x2003_0004);
    machine.set_pc(machine.pc() + 2);
    assert!(matches!(machine.run(&limit()), Err(Fault::Unmapped { address: 0x1001_0000, .. })));
}

/// An image of which the first 64 kB are empty begins by its own vector table, which VTOR has; one
/// at the flash's start does not, nor does what is no table, nor any on a Cortex-M0.
#[test]
fn an_image_behind_a_bootloader_begins_by_its_own_vectors() {
    let source = ".global _start
        _start: .word 0x20001000, start - _start + 0x08010001
                .fill 9, 4, 0
                .word svc - _start + 0x08010001
        start:  ldr r0, =0xe000ed08
                ldr r1, [r0]
                svc 0
                bkpt 0
        svc:    movs r4, #7
                bx lr
                .ltorg";
    let bytes = programs::assemble("cortex-m4", "behind", source);
    let image =
        |address: u32, bytes: &[u8]| Image { segments: vec![Segment { address, bytes: bytes.to_vec() }] };
    let mut part = programs::part("stm32f407");
    let behind = image(0x0801_0000, &bytes);
    assert_eq!(vectors_behind_bootloader(&part, &behind), Some(0x0801_0000));
    assert_eq!(vectors_behind_bootloader(&part, &image(0x0800_0000, &bytes)), None);
    assert_eq!(vectors_behind_bootloader(&part, &image(0x0801_0000, &bytes[48..])), None);
    assert_eq!(vectors_behind_bootloader(&part, &image(0x0801_0010, &bytes)), None);
    assert_eq!(vectors_behind_bootloader(&programs::part("stm32f051"), &behind), None);
    part.vectors = Some(0x0801_0000);
    let mut machine = new_machine(&part, 8_000_000).expect("a machine");
    machine.load(&behind).expect("it fits");
    for _ in 0..2 {
        machine.reset();
        finish(&mut *machine);
        assert_eq!((register(&*machine, "r1"), register(&*machine, "r4")), (0x0801_0000, 7));
    }
}
