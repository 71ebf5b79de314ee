//! Floating-point unit: access, registers, state at exceptions.

use super::programs;
use mcu::{Fault, Image, Mcu, Segment, Stop, Until, new_machine};

const RESULTS: u32 = 0x2000_0100;
const ENABLE: &str = "ldr r0, =0xe000ed88\nldr r1, =0xf00000\nstr r1, [r0]\ndsb\nisb\n";
const FPCCR: u32 = 0xe000_ef34;

/// A machine with `program` behind a vector table with SVC, PendSV and SysTick, at its reset.
fn machine(target: &str, cpu: &str, name: &str, program: &str) -> Box<dyn Mcu> {
    let fpu = match cpu {
        "cortex-m4" => ".fpu fpv4-sp-d16\n",
        "cortex-m7" => ".fpu fpv5-d16\n",
        _ => ".cpu cortex-m4\n.fpu fpv4-sp-d16\n",
    };
    let source = format!(
        "{fpu}.global _start
        .weak svcall, pendsv
        _start: .word 0x20001000, start + 1
        .space 36
        .word svcall + 1, 0, 0, pendsv + 1, 0
        {program}\n.ltorg"
    );
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::assemble(cpu, name, &source);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn run(machine: &mut dyn Mcu) -> Result<Stop, Fault> {
    machine.run(&Until { cycles: Some(100_000), ..Until::default() })
}

/// Runs on the Cortex-M4 and M7 to BKPT.
fn run_both(name: &str, program: &str, check: impl Fn(&dyn Mcu, &str)) {
    for (target, cpu) in [("stm32f407", "cortex-m4"), ("stm32f767", "cortex-m7")] {
        let mut machine = machine(target, cpu, name, program);
        let stop = run(machine.as_mut());
        assert_eq!(stop, Ok(Stop::Breakpoint), "{target}: {:x?}", machine.registers());
        check(machine.as_ref(), target);
    }
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

fn word(machine: &dyn Mcu, address: u32) -> u32 {
    let mut bytes = [0; 4];
    assert!(machine.peek(address, &mut bytes));
    u32::from_le_bytes(bytes)
}

#[test]
fn a_part_without_a_unit_says_how_to_build() {
    for (target, cpu) in [("stm32f100", "cortex-m3"), ("stm32f051", "cortex-m0")] {
        let mut machine = machine(target, cpu, "float-none", "start: vpush {s16}\nbkpt");
        let fault = run(machine.as_mut()).expect_err("no unit").to_string();
        let expected = "this part has no floating-point unit; build with -mfloat-abi=soft";
        assert!(fault.contains(expected), "{target}: {fault}");
        assert!(machine.registers().iter().all(|(name, _)| name != "s0" && name != "fpscr"));
    }
}

#[test]
fn the_unit_is_off_until_cpacr_lets_it() {
    for (target, cpu) in [("stm32f407", "cortex-m4"), ("stm32f767", "cortex-m7")] {
        let mut machine = machine(target, cpu, "float-off", "start: vadd.f32 s0, s1, s2\nbkpt");
        let fault = run(machine.as_mut()).expect_err("off").to_string();
        let expected = "the floating-point unit is off; enable it in CPACR (0xE000ED88) before";
        assert!(fault.contains(expected), "{target}: {fault}");
    }
}

#[test]
fn privileged_access_alone_ends_with_the_privilege() {
    let program = "start: ldr r0, =0xe000ed88\nldr r1, =0x500000\nstr r1, [r0]\nvmov s0, r1
        movs r2, #1\nmsr control, r2\nisb\nvmov s1, r1\nbkpt";
    let mut machine = machine("stm32f407", "cortex-m4", "float-privileged", program);
    let fault = run(machine.as_mut()).expect_err("unprivileged").to_string();
    assert!(fault.contains("the floating-point unit is off"), "{fault}");
    assert_eq!(register(machine.as_ref(), "s0"), 0x50_0000);
}

#[test]
fn the_cortex_m4_has_neither_double_precision_nor_fpv5() {
    for instruction in [".inst.w 0xee300b00", ".inst.w 0xfe000a00", ".inst.w 0xeeb60a40"] {
        let program = format!("start: {ENABLE}{instruction}\nbkpt");
        let mut machine = machine("stm32f407", "cortex-m4", "float-double", &program);
        assert!(matches!(run(machine.as_mut()), Err(Fault::Opcode { .. })), "{instruction}");
    }
}

#[test]
fn registers_of_the_system_block_are_those_of_the_parts() {
    let program = format!(
        "start: ldr r2, =0xe000ef34\nldr r3, [r2]\nldr r4, [r2, #12]\nldr r5, [r2, #16]\nldr r6, [r2, #20]
        ldr r7, =0xffffffff\nstr r7, [r2, #8]\nldr r7, [r2, #8]\nldr r0, =0xe000ed88\nldr r8, [r0]\n{ENABLE}ldr r9, [r0]
        vmov s0, s0\nvmrs r10, fpscr\nmrs r11, control\nbkpt"
    );
    run_both("float-registers", &program, |machine, target| {
        let value = |name: &str| register(machine, name);
        let features = if target == "stm32f767" {
            [0x1011_0221, 0x1200_0011, 0x40]
        } else {
            [0x1011_0021, 0x1100_0011, 0]
        };
        assert_eq!([value("r4"), value("r5"), value("r6")], features, "{target}: MVFR");
        assert_eq!(value("r3"), 0xc000_0000, "FPCCR: ASPEN and LSPEN");
        assert_eq!(value("r7"), 0x07c0_0000, "FPDSCR");
        assert_eq!([value("r8"), value("r9")], [0, 0xf0_0000], "CPACR");
        assert_eq!(value("r10"), 0x07c0_0000, "a new context has the modes of FPDSCR");
        assert_eq!(value("r11"), 4, "CONTROL.FPCA");
    });
}

/// Puts 1 to 32 into s0 to s31 and a mode into FPSCR, then calls SVC; afterwards counts in r7 what
/// is no longer so.
fn around_svc(before: &str, handlers: &str) -> String {
    let fill: String = (0..32).map(|s| format!("movs r1, #{}\nvmov s{s}, r1\n", s + 1)).collect();
    let check: String =
        (0..32).map(|s| format!("vmov r1, s{s}\ncmp r1, #{}\nit ne\naddne r7, r7, #1\n", s + 1)).collect();
    format!(
        "start: {ENABLE}{before}\nmovs r7, #0\n{fill}\nldr r1, =0x00800000\nvmsr fpscr, r1\nldr r6, ={RESULTS}
        mov r9, sp\nsvc 0\nmov r10, sp\nmrs r11, control\nvmrs r5, fpscr\n{check}bkpt\n.ltorg\n{handlers}"
    )
}

const LAZY: &str = "";
const EAGER: &str = "ldr r0, =0xe000ef34\nldr r1, =0x80000000\nstr r1, [r0]";

/// The state is as it was before the SVC, and so is the stack.
fn assert_preserved(machine: &dyn Mcu, target: &str) {
    assert_eq!(register(machine, "r7"), 0, "{target}: registers changed: {:x?}", machine.registers());
    assert_eq!(register(machine, "r5"), 0x80_0000, "{target}: FPSCR");
    assert_eq!(register(machine, "r9"), register(machine, "r10"), "{target}: stack pointer");
    assert_eq!(register(machine, "r11"), 4, "{target}: CONTROL.FPCA");
}

#[test]
fn a_handler_without_floating_point_saves_nothing() {
    // r6: EXC_RETURN, FPCCR, FPCAR, SP, the first word of the state.
    let handler = "svcall: str lr, [r6]\nldr r0, =0xe000ef34\nldr r1, [r0]\nldr r2, [r0, #4]
        str r1, [r6, #4]\nstr r2, [r6, #8]\nstr sp, [r6, #12]\nldr r3, [sp, #0x20]\nstr r3, [r6, #16]
        mrs r3, control\nstr r3, [r6, #20]\nbx lr";
    run_both("float-lazy", &around_svc(LAZY, handler), |machine, target| {
        assert_preserved(machine, target);
        assert_eq!(word(machine, RESULTS), 0xffff_ffe9, "{target}: EXC_RETURN");
        assert_eq!(word(machine, RESULTS + 4), 0xc000_0009, "{target}: FPCCR: LSPACT, THREAD");
        let sp = word(machine, RESULTS + 12);
        assert_eq!(sp, register(machine, "r9") - 0x68, "{target}: 26 words");
        assert_eq!(word(machine, RESULTS + 8), sp + 0x20, "{target}: FPCAR");
        assert_eq!(word(machine, RESULTS + 16), 0, "{target}: nothing is saved");
        assert_eq!(word(machine, RESULTS + 20), 0, "{target}: CONTROL.FPCA");
    });
}

#[test]
fn a_handler_with_floating_point_saves_the_state_first() {
    let handler = "svcall: movs r1, #0\nvmov s0, r1\nvmov s15, r1\nvmrs r2, fpscr\nstr r2, [r6]
        ldr r0, =0xe000ef34\nldr r1, [r0]\nstr r1, [r6, #4]\nldr r3, [sp, #0x20]\nstr r3, [r6, #8]
        ldr r3, [sp, #0x5c]\nstr r3, [r6, #12]\nldr r3, [sp, #0x60]\nstr r3, [r6, #16]
        ldr r1, =0x01c00000\nvmsr fpscr, r1\nbx lr";
    for (name, before, fpccr) in [("float-saved", LAZY, 0xc000_0008u32), ("float-eager", EAGER, 0x8000_0000)]
    {
        run_both(name, &around_svc(before, handler), |machine, target| {
            assert_preserved(machine, target);
            assert_eq!(word(machine, RESULTS), 0, "{target}: FPSCR of the handler is FPDSCR's");
            assert_eq!(word(machine, RESULTS + 4) & !0x170, fpccr, "{target}: FPCCR");
            assert_eq!(word(machine, RESULTS + 8), 1, "{target}: S0 in the frame");
            assert_eq!(word(machine, RESULTS + 12), 16, "{target}: S15 in the frame");
            assert_eq!(word(machine, RESULTS + 16), 0x80_0000, "{target}: FPSCR in the frame");
        });
    }
}

#[test]
fn nested_and_chained_handlers_keep_the_state() {
    // SVC's handler lets PendSV in: at once where it preempts, else behind it.
    let handlers = "svcall: {first}\nldr r0, =0xe000ed04\nldr r1, =0x10000000\nstr r1, [r0]\ndsb\nisb\n{then}\nbx lr
        .ltorg
        pendsv: str lr, [r6]\nmovs r1, #99\nvmov s1, r1\nvmov s14, r1\nldr r1, =0x01000000\nvmsr fpscr, r1\nbx lr";
    let uses = "movs r1, #77\nvmov s0, r1\nvmov s2, r1";
    // SVCall at priority 0x80, PendSV at 0.
    let preempts = "ldr r0, =0xe000ed1c\nldr r1, =0x80000000\nstr r1, [r0]";
    for (first, then) in [("", ""), (uses, ""), ("", uses), (uses, uses)] {
        for mode in [LAZY, EAGER] {
            for order in ["", preempts] {
                let handlers = handlers.replace("{first}", first).replace("{then}", then);
                let before = format!("{mode}\n{order}");
                run_both("float-nested", &around_svc(&before, &handlers), |machine, target| {
                    assert_preserved(machine, target);
                    // PendSV preempts with a frame of the context that the first handler has begun,
                    // if it has.
                    let link = match (order.is_empty(), first.is_empty()) {
                        (true, _) => 0xffff_ffe9,
                        (false, true) => 0xffff_fff1,
                        (false, false) => 0xffff_ffe1,
                    };
                    assert_eq!(word(machine, RESULTS), link, "{target}: {first:?}, {then:?}, {order:?}");
                });
            }
        }
    }
}

#[test]
fn a_misaligned_access_faults() {
    for instruction in ["vldr s0, [r2]", "vstr s0, [r2]", "vldmia r2, {s0, s1}", "vpush {s0}"] {
        let program = format!("start: {ENABLE}ldr r2, =0x20000102\n{instruction}\nbkpt");
        let mut machine = machine("stm32f407", "cortex-m4", "float-misaligned", &program);
        let result = run(machine.as_mut());
        let expected = !instruction.contains("r2");
        assert_eq!(result == Ok(Stop::Breakpoint), expected, "{instruction}: {result:?}");
    }
}

#[test]
fn without_state_preservation_the_frame_is_the_plain_one() {
    // FPCCR.ASPEN and LSPEN clear: the program looks after the registers itself.
    let program = format!(
        "start: {ENABLE}ldr r0, ={FPCCR}\nmovs r1, #0\nstr r1, [r0]\nvmov s0, r1\nldr r6, ={RESULTS}\nsvc 0\nbkpt
        svcall: str lr, [r6]\nbx lr"
    );
    run_both("float-plain", &program, |machine, target| {
        assert_eq!(word(machine, RESULTS), 0xffff_fff9, "{target}");
    });
}
