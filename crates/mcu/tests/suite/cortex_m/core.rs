//! Small assembly programs on the cores.
//!
//! They test exceptions, sleep, the system control space, faults, and reports to observers.

mod runs;

use super::programs;
use mcu::{Access, AccessKind, Fault, Flow, Image, Mcu, Observer, Segment, Step, Stop, Until, new_machine};

const STACK: u32 = 0x2000_1000;

/// A vector table for what the tests use, and the program after it; handlers that a program lacks
/// are `none`.
fn source(program: &str) -> String {
    let handler = |name: &str| {
        if program.contains(&format!("{name}:")) { format!("{name} + 1") } else { "none + 1".into() }
    };
    let vectors: Vec<String> = (0..24)
        .map(|vector| match vector {
            0 => format!("{STACK:#x}"),
            1 => "start + 1".into(),
            11 => handler("svc"),
            14 => handler("pendsv"),
            15 => handler("systick"),
            16 => handler("irq0"),
            17 => handler("irq1"),
            _ => "none + 1".into(),
        })
        .collect();
    format!(".global _start\n_start:\n.word {}\n{program}\nnone: bkpt 99\n", vectors.join(", "))
}

fn machine_on(target: &str, cpu: &str, name: &str, program: &str) -> Box<dyn Mcu> {
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::assemble(cpu, name, &source(program));
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn m4(name: &str, program: &str) -> Box<dyn Mcu> {
    machine_on("stm32f407", "cortex-m4", name, program)
}

fn limit() -> Until {
    Until { cycles: Some(1_000_000), ..Until::default() }
}

/// Runs to the program's BKPT.
fn finish(machine: &mut dyn Mcu) {
    let stop = machine.run(&limit());
    assert_eq!(stop, Ok(Stop::Breakpoint), "{:x?}", machine.registers());
    let mut code = [0; 2];
    assert!(machine.peek(machine.pc(), &mut code));
    assert_eq!(code[0], 0, "the BKPT of the program, not that of unused vectors");
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

fn word(machine: &dyn Mcu, address: u32) -> u32 {
    let mut bytes = [0; 4];
    assert!(machine.peek(address, &mut bytes), "{address:#x}");
    u32::from_le_bytes(bytes)
}

#[test]
fn it_blocks_execute_by_their_conditions() {
    let mut machine = m4(
        "it",
        "start: movs r0, #5
                cmp r0, #5
                ittet eq
                moveq r1, #1
                addeq r1, r1, #2
                movne r1, #99
                lsleq r2, r0, #3
                ite gt
                movgt r3, #1
                movle r3, #2
                bkpt 0",
    );
    finish(machine.as_mut());
    assert_eq!(register(machine.as_ref(), "r1"), 3);
    assert_eq!(register(machine.as_ref(), "r2"), 40);
    assert_eq!(register(machine.as_ref(), "r3"), 2);
}

#[test]
fn an_exception_within_an_it_block_comes_back_into_it() {
    let program = "start: ldr r0, =0xe000ed04
                ldr r1, =0x10000000
                movs r2, #0
                cmp r2, #0
                itete eq
                streq r1, [r0]
                movne r3, #99
                moveq r4, #7
                movne r5, #99
                bkpt 0
        pendsv: cmp r0, #0
                ldr r6, [sp, #28]
                bx lr
                .ltorg";
    let mut machine = m4("it-exception", program);
    finish(machine.as_mut());
    // ITSTATE after STREQ: condition EQ's base 000, the rest 1 0 1 1 0 shifted on: NE next.
    let xpsr = register(machine.as_ref(), "r6");
    let it = xpsr >> 25 & 3 | xpsr >> 8 & 0xfc;
    assert_eq!(it >> 4, 1, "the next instruction's condition is NE: {xpsr:#x}");
    assert_ne!(it & 15, 0);
    assert_eq!(register(machine.as_ref(), "r3"), 0);
    assert_eq!(register(machine.as_ref(), "r4"), 7);
    assert_eq!(register(machine.as_ref(), "r5"), 0);

    // A snapshot taken in the block goes on in it.
    let mut machine = m4("it-exception", program);
    let mut other = loop {
        let until = Until { cycles: Some(machine.cycles() + 1), ..Until::default() };
        assert_eq!(machine.run(&until), Ok(Stop::Cycles));
        if register(machine.as_ref(), "r6") != 0 && register(machine.as_ref(), "xpsr") & 0x0600_fc00 != 0 {
            break machine.snapshot();
        }
    };
    finish(machine.as_mut());
    finish(other.as_mut());
    assert_eq!(machine.registers(), other.registers());
    assert_eq!(machine.cycles(), other.cycles());
}

#[test]
fn exception_entry_stacks_eight_words_on_an_aligned_stack() {
    let mut machine = m4(
        "entry",
        "start: sub sp, #4
                movs r0, #10
                movs r1, #11
                movs r2, #12
                movs r3, #13
                mov r12, r0
                mvn lr, #0
                mov r7, sp
                svc 3
        after:  mov r8, sp
                adr r9, after
                bkpt 0
        svc:    mov r4, lr
                mov r5, sp
                mrs r6, ipsr
                movs r0, #0
                movs r3, #0
                bx lr",
    );
    finish(machine.as_mut());
    let get = |name: &str| register(machine.as_ref(), name);
    assert_eq!(get("r4"), 0xffff_fff9, "to thread mode and the main stack");
    assert_eq!(get("r6"), 11);
    let frame = get("r5");
    assert_eq!(frame, STACK - 4 - 32 - 4, "padded to a multiple of eight");
    let words: Vec<u32> = (0..8).map(|index| word(machine.as_ref(), frame + 4 * index)).collect();
    assert_eq!(words[..6], [10, 11, 12, 13, 10, 0xffff_ffff]);
    assert_eq!(words[6], get("r9"));
    assert_eq!(words[7] & 1 << 9, 1 << 9, "xPSR tells of the padding");
    assert_eq!(words[7] & 0x1ff, 0, "interrupted in thread mode");
    assert_eq!(get("r8"), get("r7"), "the stack pointer is back");
    assert_eq!((get("r0"), get("r3"), get("lr")), (10, 13, 0xffff_ffff));
}

#[test]
fn thread_mode_may_use_the_process_stack() {
    let mut machine = m4(
        "process-stack",
        "start: ldr r0, =0x20000800
                msr psp, r0
                movs r0, #2
                msr control, r0
                isb
                mov r1, sp
                svc 0
                mov r2, sp
                mrs r3, msp
                mrs r6, control
                bkpt 0
        svc:    mov r4, lr
                mov r5, sp
                mrs r7, psp
                mrs r8, control
                bx lr
                .ltorg",
    );
    finish(machine.as_mut());
    let get = |name: &str| register(machine.as_ref(), name);
    assert_eq!((get("r1"), get("r2"), get("r3")), (0x2000_0800, 0x2000_0800, STACK));
    assert_eq!(get("r4"), 0xffff_fffd);
    assert_eq!(get("r5"), STACK, "handlers use the main stack");
    assert_eq!(get("r7"), 0x2000_0800 - 32);
    assert_eq!((get("r6"), get("r8")), (2, 0));
}

#[test]
fn priorities_decide_about_preemption_and_order() {
    // irq1 (priority 0x40) preempts irq0 (0x80); PendSV (0xf0) waits for both and is chained.
    let program = "start: ldr r0, =0xe000e400
                ldr r1, =0x00004080
                str r1, [r0]
                ldr r0, =0xe000ed20
                ldr r1, =0x00f00000
                str r1, [r0]
                ldr r0, =0xe000e100
                movs r1, #3
                str r1, [r0]
                movs r6, #0
                ldr r4, =0xe000e200
                ldr r5, =0xe000ed04
                cpsid i
                movs r1, #1
                str r1, [r4]
                ldr r1, =0x10000000
                str r1, [r5]
                adds r6, r6, #1
                cpsie i
                nop
                mov r7, r6
                bkpt 0
        irq0:   lsls r6, r6, #4
                adds r6, r6, #2
                movs r1, #2
                str r1, [r4]
                nop
                lsls r6, r6, #4
                adds r6, r6, #4
                bx lr
        irq1:   lsls r6, r6, #4
                adds r6, r6, #3
                mrs r8, ipsr
                mov r9, lr
                bx lr
        pendsv: lsls r6, r6, #4
                adds r6, r6, #5
                bx lr
                .ltorg";
    let mut machine = m4("priorities", program);
    finish(machine.as_mut());
    assert_eq!(register(machine.as_ref(), "r7"), 0x12345);
    assert_eq!(register(machine.as_ref(), "r8"), 17);
    assert_eq!(register(machine.as_ref(), "r9"), 0xffff_fff1, "back into a handler");
    // BASEPRI 0x80 keeps irq0 out but not irq1.
    let masked = program.replace("movs r6, #0", "movs r6, #0\n movs r1, #0x80\n msr basepri, r1");
    let mut machine =
        m4("basepri", &masked.replace("mov r7, r6", "movs r1, #2\n str r1, [r4]\n nop\n mov r7, r6"));
    finish(machine.as_mut());
    assert_eq!(register(machine.as_ref(), "r7"), 0x13);
}

#[test]
fn systick_comes_every_reload_plus_one_cycles_and_wakes() {
    let mut machine = m4(
        "systick",
        "start: ldr r0, =0xe000e010
                ldr r1, =999
                str r1, [r0, #4]
                str r1, [r0, #8]
                movs r1, #7
                str r1, [r0]
                movs r6, #0
        again:  wfi
                cmp r6, #10
                bne again
                ldr r2, [r0]
                bkpt 0
        systick: adds r6, r6, #1
                bx lr
                .ltorg",
    );
    finish(machine.as_mut());
    assert_eq!(register(machine.as_ref(), "r6"), 10);
    assert_eq!(register(machine.as_ref(), "r2"), 0x1_0007, "COUNTFLAG");
    // It counts from 0 to the reload value first, then ten times down: 10 * 1000 cycles after it
    // was enabled, give or take the instructions around.
    let cycles = machine.cycles();
    assert!((10_000..10_100).contains(&cycles), "{cycles}");
}

#[test]
fn cycle_counter_counts_the_machine_s_cycles() {
    let mut machine = m4(
        "cyccnt",
        "start: ldr r0, =0xe000edfc
                ldr r1, =0x01000000
                str r1, [r0]
                ldr r0, =0xe0001000
                movs r1, #1
                str r1, [r0]
        first:  ldr r2, [r0, #4]
                movs r3, #20
        again:  subs r3, r3, #1
                bne again
                udiv r4, r0, r1
        second: ldr r5, [r0, #4]
                subs r5, r5, r2
                bkpt 0
                .ltorg",
    );
    #[derive(Default)]
    struct Reads(Vec<u64>);
    impl Observer for Reads {
        fn access(&mut self, access: &Access) {
            if access.address == 0xe000_1004 {
                assert_eq!((access.kind, access.size), (AccessKind::Read, 4));
                self.0.push(access.cycles);
            }
        }
    }
    let mut reads = Reads::default();
    assert_eq!(machine.run_observed(&limit(), &mut reads), Ok(Stop::Breakpoint));
    assert_eq!(u64::from(register(machine.as_ref(), "r5")), reads.0[1] - reads.0[0]);
    assert!(reads.0[1] - reads.0[0] > 60);
}

#[test]
fn programs_that_end_are_halted() {
    for (name, program) in [
        ("loop", "start: b ."),
        ("sleep", "start: wfi\n b start"),
        ("masked", "start: cpsid i\n b ."),
        ("event", "start: sev\n wfe\n wfe\n b ."),
    ] {
        let mut machine = m4(name, program);
        assert_eq!(machine.run(&limit()), Ok(Stop::Halted), "{name}");
        assert!(machine.cycles() < 100, "{name}");
    }
    // LR is 0xffffffff after a reset (DDI 0403E, B1.5.5): nobody called the reset handler.
    for (name, program) in [("bx", "start: bx lr"), ("pop", "start: push {r7, lr}\n pop {r7, pc}")] {
        let returned = m4(name, program).run(&limit());
        assert!(matches!(returned, Err(Fault::Returned { .. })), "{name}: {returned:?}");
    }
    // With SysTick running a loop to itself is no end.
    let mut machine = m4(
        "loop-systick",
        "start: ldr r0, =0xe000e010
                movs r1, #200
                str r1, [r0, #4]
                movs r1, #7
                str r1, [r0]
                b .
        systick: bkpt 0
                .ltorg",
    );
    finish(machine.as_mut());
}

#[test]
fn bit_band_aliases_are_single_bits() {
    let program = "start: ldr r0, =0x20000400
                ldr r1, =0xa5000010
                str r1, [r0]
                ldr r2, =0x22008000
                movs r3, #1
                str r3, [r2, #4]
                strb r3, [r2, #8]
                movs r3, #0
                str r3, [r2, #16]
                ldr r4, [r2, #124]
                ldr r5, [r2, #120]
                ldr r6, [r0]
                bkpt 0
                .ltorg";
    for (target, cpu) in [("stm32f407", "cortex-m4"), ("stm32f100", "cortex-m3")] {
        let mut machine = machine_on(target, cpu, "bit-band", program);
        finish(machine.as_mut());
        assert_eq!(register(machine.as_ref(), "r6"), 0xa500_0006);
        assert_eq!((register(machine.as_ref(), "r4"), register(machine.as_ref(), "r5")), (1, 0));
    }
    let mut machine = machine_on("stm32f767", "cortex-m7", "bit-band", program);
    assert!(matches!(machine.run(&limit()), Err(Fault::Unmapped { address: 0x2200_8004, .. })));
}

/// Bit 3 of the byte at 0x40003401, where the STM32F407's I2S2ext has no model: the alias is what
/// the program's text has.
#[test]
fn a_fault_behind_a_bit_band_alias_names_both_addresses() {
    for access in ["ldr r1, [r0]", "str r1, [r0]"] {
        let program = format!(".thumb_func\nstart: ldr r0, =0x4206802c\n{access}\nbkpt 0\n.ltorg");
        let mut machine = machine_on("stm32f407", "cortex-m4", "bit-band-fault", &program);
        let said = machine.run(&limit()).expect_err(access).to_string();
        assert!(said.contains("at 0x40003400") && said.contains("alias 0x4206802c"), "{said}");
    }
}

#[test]
fn instruction_that_a_core_lacks_is_an_opcode_fault() {
    let cases: [(&str, &str, &str, &[u8]); 7] = [
        ("stm32f407", "cortex-m4", ".inst.n 0xde07", &[0x07, 0xde]),
        ("stm32f407", "cortex-m4", ".inst.w 0xee000010", &[0x00, 0xee, 0x10, 0x00]), // MCR p0
        ("stm32f407", "cortex-m4", ".inst.w 0xf7f0a000", &[0xf0, 0xf7, 0x00, 0xa0]), // UDF.W
        ("stm32f100", "cortex-m3", ".inst.w 0xfa90f000", &[0x90, 0xfa, 0x00, 0xf0]), // SADD16: DSP
        ("stm32f100", "cortex-m3", ".inst.w 0xfbe01062", &[0xe0, 0xfb, 0x62, 0x10]), // UMAAL: DSP
        ("stm32f051", "cortex-m0", ".inst.n 0xb118", &[0x18, 0xb1]),                 // CBZ
        ("stm32f051", "cortex-m0", ".inst.w 0xea000001", &[0x00, 0xea, 0x01, 0x00]), // AND.W
    ];
    for (index, (target, cpu, code, bytes)) in cases.into_iter().enumerate() {
        let mut machine = machine_on(target, cpu, &format!("opcode{index}"), &format!("start: nop\n{code}"));
        let start = machine.pc();
        let fault = Fault::Opcode { pc: start + 2, bytes: bytes.to_vec() };
        assert_eq!(machine.run(&limit()), Err(fault));
        assert_eq!(machine.pc(), start + 2, "it stays there");
        assert_eq!(machine.instructions(), 1);
    }
}

#[test]
fn misaligned_accesses_follow_the_architecture() {
    let program = "start: ldr r0, =0x20000401
                ldr r1, =0x11223344
                str r1, [r0]
                ldrh r2, [r0, #1]
                bkpt 0
                .ltorg";
    let mut machine = m4("unaligned", program);
    finish(machine.as_mut());
    assert_eq!(register(machine.as_ref(), "r2"), 0x2233);
    let faults = |mut machine: Box<dyn Mcu>, at: u32| {
        let result = machine.run(&limit());
        assert!(matches!(result, Err(Fault::Architecture { address, .. }) if address == at), "{result:?}");
    };
    let odd = program.replace("ldrh r2, [r0, #1]", "ldrh r2, [r0]");
    faults(machine_on("stm32f051", "cortex-m0", "unaligned", &odd), 0x2000_0401);
    for access in
        ["ldm r0, {r1, r2}", "ldrd r1, r2, [r0]", "strd r1, r2, [r0]", "stm r0, {r1, r2}", "ldrex r1, [r0]"]
    {
        let name = format!("unaligned-{}", &access[..4].trim());
        faults(m4(&name, &program.replace("str r1, [r0]", access)), 0x2000_0401);
    }
    let trap = "ldr r3, =0xe000ed14\n ldr r4, [r3]\n orr r4, r4, #8\n str r4, [r3]\n str r1, [r0]";
    faults(m4("unaligned-trap", &program.replace("str r1, [r0]", trap)), 0x2000_0401);
}

/// DDI 0403E, A3.4.1 and A3.4.5. The monitors of these cores hold no address, "any access" matches
/// the one marked (DDI 0337I, 3.6; DDI 0439D, 3.6; DDI 0489F, 2.5), so neither sizes nor plain
/// stores between make a difference.
#[test]
fn exclusive_stores_succeed_once_after_an_exclusive_load() {
    // What stands between a mark of 0x2000_0400 and the end, and the status and the word there it
    // must leave.
    let cases = [
        ("pair", "ldrex r3, [r0]\n strex r2, r1, [r0]", 0, 0x1122_3344),
        ("pair-byte", "ldrexb r3, [r0]\n strexb r2, r1, [r0]", 0, 0x5555_5544),
        ("pair-half", "ldrexh r3, [r0]\n strexh r2, r1, [r0]", 0, 0x5555_3344),
        ("open", "strex r2, r1, [r0]", 1, 0x5555_5555),
        ("open-byte", "strexb r2, r1, [r0]", 1, 0x5555_5555),
        ("open-half", "strexh r2, r1, [r0]", 1, 0x5555_5555),
        ("clrex", "ldrex r3, [r0]\n clrex\n strex r2, r1, [r0]", 1, 0x5555_5555),
        ("twice", "ldrex r3, [r0]\n strex r2, r5, [r0]\n strex r2, r1, [r0]", 1, 0x5555_5555),
        ("exception", "ldrex r3, [r0]\n svc 0\n strex r2, r1, [r0]", 1, 0x5555_5555),
        ("store-between", "ldrex r3, [r0]\n str r2, [r0]\n strex r2, r1, [r0]", 0, 0x1122_3344),
        ("store-elsewhere", "ldrex r3, [r0]\n str r2, [r0, #4]\n strex r2, r1, [r0]", 0, 0x1122_3344),
        ("byte-then-half", "ldrexb r3, [r0]\n strexh r2, r1, [r0]", 0, 0x5555_3344),
        ("word-then-byte", "ldrex r3, [r0]\n strexb r2, r1, [r0]", 0, 0x5555_5544),
    ];
    for (name, between, status, stored) in cases {
        let program = format!(
            "start: ldr r0, =0x20000400
                    ldr r1, =0x11223344
                    mov r2, #99
                    mov r5, #0x55555555
                    str r5, [r0]
                    {between}
                    ldr r4, [r0]
                    bkpt 0
            svc:    bx lr
                    .ltorg"
        );
        let parts = [("stm32f100", "cortex-m3"), ("stm32f407", "cortex-m4"), ("stm32f767", "cortex-m7")];
        for (target, cpu) in parts {
            let mut machine = machine_on(target, cpu, &format!("exclusive-{name}-{cpu}"), &program);
            finish(machine.as_mut());
            assert_eq!(register(machine.as_ref(), "r2"), status, "{name} on {target}");
            assert_eq!(register(machine.as_ref(), "r4"), stored, "{name} on {target}");
        }
    }
    // To another address it is UNPREDICTABLE (A3.4.5): the model stops.
    let elsewhere = "start: ldr r0, =0x20000400\n ldrex r3, [r0]\n strex r2, r1, [r0, #4]\n .ltorg";
    let result = m4("exclusive-elsewhere", elsewhere).run(&limit());
    assert!(matches!(result, Err(Fault::Architecture { address: 0x2000_0404, .. })), "{result:?}");
}

#[test]
fn flash_cannot_be_written_and_gaps_cannot_be_read() {
    let mut machine = m4("flash-write", "start: ldr r0, =0x08000100\n str r0, [r0]\n .ltorg");
    assert!(matches!(machine.run(&limit()), Err(Fault::Architecture { address: 0x0800_0100, .. })));
    let mut machine = m4("gap", "start: ldr r0, =0x30000000\n ldrb r0, [r0]\n .ltorg");
    assert!(matches!(
        machine.run(&limit()),
        Err(Fault::Unmapped { address: 0x3000_0000, size: 1, kind: "read", .. })
    ));
    let mut machine = m4("arm-state", "start: movs r0, #0\n bx r0");
    assert!(matches!(machine.run(&limit()), Err(Fault::Architecture { .. })));
}

#[test]
fn observers_see_the_control_flow() {
    let mut machine = m4(
        "flow",
        "start: bl leaf
                bl nest
                svc 0
                ldr r3, =leaf + 1
                blx r3
                b 1f
                nop
        1:      bkpt 0
        leaf:   bx lr
        nest:   push {r4, lr}
                bl thumb1
                pop {r4, pc}
        thumb1: push {lr}
                pop {r3}
                bx r3
        svc:    bx lr
                .ltorg",
    );
    #[derive(Default)]
    struct Flows(Vec<Flow>, Vec<u32>);
    impl Observer for Flows {
        fn step(&mut self, step: &Step) {
            self.0.push(step.flow);
            self.1.push(step.pc);
        }
    }
    let mut flows = Flows::default();
    let start = machine.pc();
    assert_eq!(machine.run_observed(&limit(), &mut flows), Ok(Stop::Breakpoint));
    let call = |offset: u32| Flow::Call { return_to: start + offset };
    let nest = flows.1[3] - start;
    use Flow::{InterruptReturn, Jump, Next, Return, Start};
    let expected = vec![
        Start,
        call(4),
        Return, // leaf
        call(8),
        Next,
        call(nest + 6),
        Next,
        Next,
        Return, // thumb1: BX r3 to where its call returns
        Return, // nest: POP {pc}
        Flow::Interrupt { return_to: start + 10 },
        InterruptReturn,
        Next,
        call(14),
        Return,
        Jump,
    ];
    // The last step is the BKPT, which is looked at but not executed.
    assert_eq!(flows.0, expected);
}
