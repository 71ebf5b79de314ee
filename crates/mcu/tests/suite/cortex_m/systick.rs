//! SysTick read by polling, with its exception off, on every core.
//!
//! Sources: DDI 0403E, B3.3; DDI 0419E, B3.3.

use super::programs;
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};

const CORES: [(&str, &str); 4] = [
    ("stm32f051", "cortex-m0"),
    ("stm32f100", "cortex-m3"),
    ("stm32f407", "cortex-m4"),
    ("stm32f767", "cortex-m7"),
];

/// Runs `program` with r0 = SYST_CSR to its BKPT; it writes SYST_RVR, SYST_CVR and SYST_CSR itself.
fn run(target: &str, cpu: &str, name: &str, program: &str) -> Box<dyn Mcu> {
    let vectors = ".word 0x20001000, start + 1, none + 1, none + 1\n.space 0x2c\n.word none + 1\n";
    let source = format!(
        ".global _start\n_start: {vectors}start: ldr r0, =0xe000e010\n{program}\nnone: bkpt 99\n.ltorg"
    );
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::assemble(cpu, name, &source);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    let stop = machine.run(&Until { cycles: Some(100_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "{target}: {:x?}", machine.registers());
    machine
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

#[test]
fn the_current_value_counts_down_while_it_is_polled() {
    for (target, cpu) in CORES {
        let program = "ldr r1, =0xffffff
            str r1, [r0, #4]
            str r1, [r0, #8]
            movs r1, #5
            str r1, [r0]
            .balign 8
            movs r4, #100
            movs r6, #0
            ldr r2, [r0, #8]
    again:  subs r4, r4, #1
            bne again
            ldr r3, [r0, #8]
            subs r5, r2, r3
            bkpt 0";
        let machine = run(target, cpu, "systick-value", program);
        // A hundred turns of a subtraction and a branch.
        let passed = register(machine.as_ref(), "r5");
        let turns = match cpu {
            // DDI 0432C table 3-1: LDR 2, a turn 1 + 3, the last 1 + 1.
            "cortex-m0" => 2 + 99 * 4 + 2..=2 + 99 * 4 + 2,
            // Out of flash without caches: more than a cycle a turn, less than all that the program
            // has taken.
            "cortex-m7" => 100..=machine.cycles() as u32,
            _ => 2 + 99 * 3 + 2..=2 + 99 * 3 + 2,
        };
        assert!(turns.contains(&passed), "{target}: {passed}");
    }
}

#[test]
fn a_program_that_waits_for_countflag_goes_on() {
    for (target, cpu) in CORES {
        // Three periods of 1,000 cycles; then COUNTFLAG is clear, because it was read.
        let program = "ldr r1, =999
            str r1, [r0, #4]
            str r1, [r0, #8]
            movs r1, #5
            str r1, [r0]
            movs r6, #0
            movs r4, #3
    again:  ldr r2, [r0]
            lsrs r2, r2, #17
            bcc again
            adds r6, r6, #1
            cmp r6, r4
            bne again
            ldr r5, [r0]
            ldr r7, [r0, #8]
            bkpt 0";
        let machine = run(target, cpu, "systick-flag", program);
        assert_eq!(register(machine.as_ref(), "r6"), 3, "{target}");
        assert_eq!(register(machine.as_ref(), "r5"), 5, "{target}: reading has cleared COUNTFLAG");
        let value = register(machine.as_ref(), "r7");
        assert!((950..1000).contains(&value), "{target}: {value}");
        let cycles = machine.cycles();
        assert!((3_000..3_100).contains(&cycles), "{target}: {cycles}");
    }
}

#[test]
fn the_reference_clock_is_an_eighth() {
    for (target, cpu) in CORES {
        let program = "ldr r1, =999
            str r1, [r0, #4]
            str r1, [r0, #8]
            movs r1, #1
            str r1, [r0]
    again:  ldr r2, [r0]
            lsrs r2, r2, #17
            bcc again
            bkpt 0";
        let cycles = run(target, cpu, "systick-reference", program).cycles();
        assert!((8_000..8_100).contains(&cycles), "{target}: {cycles}");
    }
}

#[test]
fn polling_loses_no_exception() {
    for (target, cpu) in CORES {
        // With PRIMASK set the exception stays pending: ICSR.PENDSTSET.
        let program = "ldr r1, =99
            cpsid i
            str r1, [r0, #4]
            str r1, [r0, #8]
            movs r1, #7
            str r1, [r0]
            ldr r3, =0xe000ed04
    again:  ldr r2, [r0]
            lsrs r2, r2, #17
            bcc again
            ldr r4, [r3]
            bkpt 0";
        let machine = run(target, cpu, "systick-pending", program);
        assert_eq!(register(machine.as_ref(), "r4") >> 26 & 1, 1, "{target}");
    }
}

#[test]
fn systick_stands_still_while_it_is_off() {
    for (target, cpu) in CORES {
        let program = "ldr r1, =999
            str r1, [r0, #4]
            str r1, [r0, #8]
            movs r1, #5
            str r1, [r0]
            movs r4, #20
    again:  subs r4, r4, #1
            bne again
            movs r1, #4
            str r1, [r0]
            ldr r2, [r0, #8]
            movs r4, #20
    more:   subs r4, r4, #1
            bne more
            ldr r3, [r0, #8]
            bkpt 0";
        let machine = run(target, cpu, "systick-off", program);
        let (before, after) = (register(machine.as_ref(), "r2"), register(machine.as_ref(), "r3"));
        assert_eq!(before, after, "{target}");
        assert!((800..990).contains(&before), "{target}: {before}");
    }
}
