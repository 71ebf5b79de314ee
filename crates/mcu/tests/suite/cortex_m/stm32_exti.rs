//! Events of the external interrupts: what a program waits for with WFE.

use super::programs;
use mcu::{Image, Mcu, Pin, Segment, Stop, Until, new_machine};

const UNTIL: Until = Until { cycles: Some(100_000), addresses: Vec::new() };

/// A machine at the start of a program that has line 1 of EXTI, at PA1, in `registers`, waits with
/// WFE and then sleeps with r5 = 1.
fn machine(name: &str, registers: &str) -> Box<dyn Mcu> {
    let source = format!(
        ".global _start\n_start: .word 0x20001000, start + 1\n.space 0x38
        start: ldr r0, =0x40010400
        movs r1, #2
        {registers}
        wfe
        movs r5, #1
        wfi
        b .
        .ltorg"
    );
    let mut machine = new_machine(&programs::part("stm32f103"), 8_000_000).expect("a machine");
    let bytes = programs::assemble("cortex-m3", name, &source);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

/// RM0008, section 10.3.2, EMR; by SWIER, of which a bit that rises is an event where EMR has it.
#[test]
fn a_software_event_ends_wfe() {
    for (name, registers, awake) in [
        ("exti_event", "str r1, [r0, #4]\nldr r6, [r0, #4]\nstr r1, [r0, #0x10]", 1),
        ("exti_no_event", "ldr r6, [r0, #4]\nstr r1, [r0, #0x10]", 0),
    ] {
        let mut machine = machine(name, registers);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Halted), "{name}");
        let of = |register_name| register(machine.as_ref(), register_name);
        assert_eq!((of("r5"), of("r6")), (awake, 2 * awake), "{name}");
    }
}

/// An edge that RTSR selects.
#[test]
fn an_edge_ends_wfe() {
    let mut machine = machine("exti_edge", "str r1, [r0, #4]\nstr r1, [r0, #8]");
    let pin = Pin::new("GPIOA", 1);
    machine.board_mut().set_input(pin.clone(), Some(false));
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Halted));
    assert_eq!(register(machine.as_ref(), "r5"), 0);
    machine.board_mut().set_input(pin, Some(true));
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Halted));
    assert_eq!(register(machine.as_ref(), "r5"), 1);
}
