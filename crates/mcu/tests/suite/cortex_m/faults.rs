//! Faults that the core takes itself.
//!
//! They enter a handler with a status, or end the run all the same.

use super::programs;
use mcu::{Fault, Image, Mcu, Segment, Stop, Until, new_machine};

const UNTIL: Until = Until { cycles: Some(100_000), addresses: Vec::new() };

/// A machine with a program whose four fault handlers are one: it takes IPSR into r4, CFSR into r5,
/// HFSR into r6, BFAR into r7 and the stacked program counter into r3, and ends. `start` runs it.
fn machine(target: &str, cpu: &str, name: &str, program: &str, handler: &str) -> Box<dyn Mcu> {
    let source = format!(
        ".global _start\n_start: .word 0x20001000, start + 1, fault + 1, fault + 1, fault + 1, fault + 1, fault + 1
        .space 0x24
        start: {program}
        bkpt 0
        .align 2
        .thumb_func
        fault: {handler}
        .ltorg"
    );
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::assemble(cpu, name, &source);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine.set_stop_on_fault(false);
    machine
}

const LOGGER: &str = "mrs r4, ipsr
    ldr r0, =0xe000ed28
    ldr r5, [r0]
    ldr r6, [r0, #4]
    ldr r7, [r0, #16]
    ldr r3, [sp, #24]
    bkpt 0";

/// ARMv6-M has no status registers.
const V6M_LOGGER: &str = "mrs r4, ipsr
    ldr r3, [sp, #24]
    bkpt 0";

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

/// IPSR, CFSR, HFSR and BFAR in the handler, and what was entered.
fn logged(machine: &mut dyn Mcu) -> ([u32; 4], String) {
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint));
    let entered = machine.faults_entered();
    assert_eq!(entered.len(), 1, "{entered:?}");
    (["r4", "r5", "r6", "r7"].map(|name| register(machine, name)), entered[0].exception.into())
}

/// SHCSR enables all three.
const ENABLE: &str = "ldr r0, =0xe000ed24
    ldr r1, =0x70000
    str r1, [r0]\n";

#[test]
fn faults_enter_their_handlers_with_their_status() {
    const FORCED: u32 = 1 << 30;
    let programs = [
        ("undefined", "udf #0", 6, 1 << 16, 0),
        (
            "zero",
            "ldr r0, =0xe000ed14\nldr r1, =0x210\nstr r1, [r0]\nmovs r1, #0\nudiv r0, r0, r1",
            6,
            1 << 25,
            0,
        ),
        (
            "aligned",
            "ldr r0, =0xe000ed14\nldr r1, =0x208\nstr r1, [r0]\nldr r0, =0x20000001\nldr r1, [r0]",
            6,
            1 << 24,
            0,
        ),
        ("state", "ldr r0, =0x08000000\nbx r0", 6, 1 << 17, 0),
        ("read", "ldr r0, =0x30000000\nldr r1, [r0]", 5, 1 << 15 | 1 << 9, 0x3000_0000),
        ("write", "ldr r0, =0x30000000\nstr r1, [r0]", 5, 1 << 10, 0),
        ("fetch", "ldr r0, =0x30000001\nbx r0", 5, 1 << 8, 0),
        ("never", "ldr r0, =0x40000001\nbx r0", 4, 1, 0),
    ];
    for (target, cpu) in [("stm32f103", "cortex-m3"), ("stm32f407", "cortex-m4"), ("stm32f767", "cortex-m7")]
    {
        for (name, program, exception, status, address) in programs {
            let enabled = format!("{ENABLE}{program}");
            let mut machine = machine(target, cpu, &format!("fault-{name}-{target}"), &enabled, LOGGER);
            let (seen, said) = logged(&mut *machine);
            assert_eq!(seen, [exception, status, 0, address], "{target} {name}");
            let names = ["MemManage", "BusFault", "UsageFault"];
            assert_eq!(said, names[exception as usize - 4], "{target} {name}");
            // Without its enable it escalates.
            let mut machine = self::machine(target, cpu, &format!("hard-{name}-{target}"), program, LOGGER);
            assert_eq!(logged(&mut *machine).0, [3, status, FORCED, address], "{target} {name}, escalated");
        }
    }
}

#[test]
fn svc_under_primask_is_a_hard_fault() {
    for (target, cpu, logger) in [("stm32f051", "cortex-m0", V6M_LOGGER), ("stm32f407", "cortex-m4", LOGGER)]
    {
        let mut machine = machine(target, cpu, &format!("svc-{target}"), "cpsid i\nsvc #1", logger);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint), "{target}");
        // The stacked program counter is that of the SVC, behind CPSID.
        assert_eq!([register(&*machine, "r4"), register(&*machine, "r3")], [3, 0x0800_0042], "{target}");
    }
}

#[test]
fn handler_that_returns_goes_on_behind_the_fault() {
    // The handler steps over the instruction.
    let handler = "ldr r1, [sp, #24]
        adds r1, #2
        str r1, [sp, #24]
        bx lr";
    for (target, cpu) in [("stm32f051", "cortex-m0"), ("stm32f407", "cortex-m4")] {
        let mut machine = machine(target, cpu, &format!("return-{target}"), "udf #0\nmovs r4, #7", handler);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint), "{target}");
        assert_eq!([register(&*machine, "r4"), register(&*machine, "xpsr") & 0x1ff], [7, 0], "{target}");
    }
}

fn with_handler(name: &str, program: &str, handler: &str) -> Box<dyn Mcu> {
    machine("stm32f407", "cortex-m4", name, program, handler)
}

/// The run ends at the fault where it is asked to, and where the handler goes nowhere: at once, or
/// later.
#[test]
fn fault_ends_the_run_if_its_handler_goes_nowhere() {
    let mut asked = with_handler("asked", "udf #0", LOGGER);
    asked.set_stop_on_fault(true);
    let idle = with_handler("idle", "udf #0", "b .");
    let late = with_handler("late", "udf #0", "nop\nlate: b late");
    for mut machine in [asked, idle, late] {
        let stop = machine.run(&UNTIL);
        assert!(matches!(stop, Err(Fault::Opcode { pc: 0x0800_0040, .. })), "{stop:?}");
    }
}

/// DDI 0403E, B1.5.15: lockup.
#[test]
fn fault_within_hard_fault_ends_the_run() {
    let mut machine = with_handler("again", "udf #0", "udf #1");
    let stop = machine.run(&UNTIL);
    assert!(matches!(stop, Err(Fault::Opcode { pc, .. }) if pc != 0x0800_0040), "{stop:?}");
    assert_eq!(machine.faults_entered().len(), 1);
}

/// SDIO has no model; the system memory is the manufacturer's: whether an access faults there is
/// not known.
#[test]
fn access_to_an_unmodelled_address_ends_the_run() {
    for address in ["0x40012c00", "0x1fff0000"] {
        let program = format!("ldr r0, ={address}\nldr r1, [r0]");
        let mut machine = with_handler(&format!("unknown-{address}"), &program, LOGGER);
        assert!(matches!(machine.run(&UNTIL), Err(Fault::Unmapped { .. })), "{address}");
        assert!(machine.faults_entered().is_empty());
    }
}
