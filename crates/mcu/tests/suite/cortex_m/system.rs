//! Private peripheral bus beside NVIC and SysTick: MPU, ITM, FPB, TPIU; and semihosting.

use super::programs;
use crate::clock_gates::enabling;
use mcu::{Fault, Image, Mcu, Observer, Segment, Stop, Until, new_machine};

/// Bytes that came out, by port.
#[derive(Default)]
struct Console(Vec<(String, u8)>);

impl Observer for Console {
    fn uart(&mut self, port: &str, byte: u8, _cycles: u64) {
        self.0.push((port.into(), byte));
    }
}

impl Console {
    fn text(&self, port: &str) -> String {
        self.0.iter().filter(|(from, _)| from == port).map(|(_, byte)| char::from(*byte)).collect()
    }
}

/// A machine at the start of `program`, whose stack is at the end of the first 4 KB of RAM.
fn machine(target: &str, cpu: &str, name: &str, program: &str) -> Box<dyn Mcu> {
    let source = format!(
        ".global _start\n_start: .word 0x20001000, start + 1\n.space 0x38\nstart: {program}\nbkpt 0\n.ltorg"
    );
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::assemble(cpu, name, &source);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

const UNTIL: Until = Until { cycles: Some(100_000), addresses: Vec::new() };

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(found, _)| found == name).expect("a register").1
}

#[test]
fn a_program_speaks_and_exits_by_semihosting() {
    // SYS_OPEN of :tt for writing, SYS_WRITE, SYS_WRITE0, SYS_WRITEC; SYS_EXIT_EXTENDED with code
    // 3.
    let program = "movs r0, #1
        ldr r1, =opened
        bkpt 0xab
        movs r6, r0
        ldr r2, =0x20000100
        str r0, [r2]
        ldr r0, =text
        str r0, [r2, #4]
        movs r0, #5
        str r0, [r2, #8]
        mov r1, r2
        bkpt 0xab
        movs r5, r0
        movs r0, #4
        ldr r1, =more
        bkpt 0xab
        movs r0, #3
        ldr r1, =text
        bkpt 0xab
        movs r0, #0x20
        ldr r1, =ended
        bkpt 0xab
        .balign 4
opened: .word name, 4, 3
ended:  .word 0x20026, 3
name:   .asciz \":tt\"
text:   .ascii \"hello\"
more:   .asciz \" there\"
        .balign 4";
    for (target, cpu) in [("stm32f051", "cortex-m0"), ("stm32f407", "cortex-m4"), ("stm32f767", "cortex-m7")]
    {
        let mut machine = machine(target, cpu, "semihosting", program);
        let mut console = Console::default();
        assert_eq!(machine.run_observed(&UNTIL, &mut console), Ok(Stop::Exit(3)), "{target}");
        assert_eq!(console.text("semihosting"), "hello thereh", "{target}");
        // The handle of output, and nothing left to be written.
        assert_eq!((register(machine.as_ref(), "r6"), register(machine.as_ref(), "r5")), (2, 0), "{target}");
    }
}

#[test]
fn semihosting_exit_is_0_without_an_error_and_else_1() {
    for (reason, code) in [(0x2_0026u32, 0), (0x2_0023, 1)] {
        let program = format!("movs r0, #0x18\nldr r1, ={reason:#x}\nbkpt 0xab");
        let mut machine = machine("stm32f100", "cortex-m3", "exit", &program);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Exit(code)));
    }
}

#[test]
fn semihosting_refuses_unknown_operations() {
    // No files; time in hundredths of a second; no command line; an operation that does not exist.
    let program = "movs r0, #1
        ldr r1, =0x20000100
        ldr r2, =0x08000000
        str r2, [r1]
        movs r2, #4
        str r2, [r1, #8]
        bkpt 0xab
        movs r4, r0
        movs r0, #0x31
        bkpt 0xab
        movs r5, r0
        movs r0, #0x77
        bkpt 0xab";
    let mut machine = machine("stm32f407", "cortex-m4", "refused", program);
    let Err(Fault::Architecture { what, .. }) = machine.run(&UNTIL) else { panic!("no such operation") };
    assert_eq!(what, "semihosting has no operation 0x77");
    let of = |name| register(machine.as_ref(), name);
    assert_eq!((of("r4"), of("r5")), (u32::MAX, 8_000_000));
}

#[test]
fn itm_takes_words_while_it_is_on() {
    // DEMCR.TRCENA, the lock, ITM_TER, ITM_TCR; a byte and a halfword at port 0, a byte at port 1,
    // which is off. What is written before the lock is off is lost.
    let program = "ldr r0, =0xe0000000
        ldr r1, =0xe000edfc
        ldr r2, =0x01000000
        str r2, [r1]
        movs r3, #1
        ldr r1, =0xe0000e00
        str r3, [r1]
        ldr r7, [r1]
        movs r2, #'x'
        strb r2, [r0]
        ldr r1, =0xe0000fb0
        ldr r2, =0xc5acce55
        str r2, [r1]
        ldr r1, =0xe0000e00
        str r3, [r1]
        str r3, [r1, #0x80]
        ldr r6, [r0]
        ldr r5, [r0, #4]
        movs r2, #'A'
        strb r2, [r0]
        ldr r2, =0x4342
        strh r2, [r0]
        strb r2, [r0, #4]";
    for (target, cpu) in [("stm32f100", "cortex-m3"), ("stm32f767", "cortex-m7")] {
        let mut machine = machine(target, cpu, "itm", program);
        let mut console = Console::default();
        assert_eq!(machine.run_observed(&UNTIL, &mut console), Ok(Stop::Breakpoint), "{target}");
        assert_eq!(console.text("ITM.0"), "ABC", "{target}");
        assert_eq!(console.0.len(), 3, "{target}");
        let of = |name| register(machine.as_ref(), name);
        // Locked ITM_TER stays; FIFOREADY of port 0, not of port 1.
        assert_eq!((of("r7"), of("r6"), of("r5")), (0, 1, 0), "{target}");
    }
}

/// Region 0 of the MPU: from 0x20000800 on 32 bytes with these attributes, the rest as by default.
fn with_region(attributes: u32, rest: &str) -> String {
    format!(
        "ldr r0, =0xe000ed90
        ldr r1, =0x20000810
        str r1, [r0, #0xc]
        ldr r1, ={:#x}
        str r1, [r0, #0x10]
        movs r1, #5
        str r1, [r0, #4]
        dsb
        isb
        ldr r2, =0x20000800
        ldr r4, [r2, #0x20]
        str r4, [r2, #0x20]
        {rest}",
        attributes | 4 << 1 | 1
    )
}

#[test]
fn access_that_the_mpu_forbids_is_a_fault_that_says_so() {
    let verdict = |attributes: u32, rest: &str| {
        let mut machine = machine("stm32f407", "cortex-m4", "mpu", &with_region(attributes, rest));
        match machine.run(&UNTIL) {
            Ok(stop) => format!("{stop:?}"),
            Err(Fault::Architecture { what, .. }) => what,
            Err(fault) => panic!("{fault}"),
        }
    };
    let (read_only, none, never) = (6 << 24, 0, 3 << 24 | 1 << 28);
    assert_eq!(verdict(read_only, "ldr r3, [r2]"), "Breakpoint");
    assert_eq!(verdict(read_only, "str r3, [r2]"), "region 0 of the MPU forbids writing (MemManage)");
    assert_eq!(verdict(none, "ldrb r3, [r2, #31]"), "region 0 of the MPU forbids reading (MemManage)");
    // BKPT at the region's start, to which the program jumps.
    let jump = "movw r3, #0xbe00\nstrh r3, [r2]\nadds r2, #1\nbx r2";
    assert_eq!(verdict(3 << 24, jump), "Breakpoint");
    assert_eq!(verdict(never, jump), "the MPU forbids execution there (MemManage)");
    // A stack that grows into the region.
    let call = "ldr r3, =0x20000820\nmov sp, r3\npush {r0}";
    assert_eq!(verdict(read_only, call), "region 0 of the MPU forbids writing (MemManage)");
}

#[test]
fn region_decides_on_the_data_cache() {
    // A hundred loads of one word of SRAM2 behind AXI, all 64 KB of which the region makes
    // write-back or uncached.
    let cycles = |type_: u32| {
        let program = format!(
            "ldr r0, =0xe000ed90
            ldr r1, =0x2007c010
            str r1, [r0, #0xc]
            ldr r1, ={:#x}
            str r1, [r0, #0x10]
            movs r1, #5
            str r1, [r0, #4]
            ldr r0, =0xe000ed14
            ldr r1, [r0]
            orr r1, #0x30000
            str r1, [r0]
            dsb
            isb
            ldr r2, =0x2007c000
            movs r4, #100
    again:  ldr r3, [r2]
            adds r5, r3
            subs r4, #1
            bne again",
            3u32 << 24 | type_ << 16 | 15 << 1 | 1
        );
        let mut machine = machine("stm32f767", "cortex-m7", "mpu-cache", &program);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint));
        machine.cycles()
    };
    // TEX, S, C, B: write-back with allocation; not cacheable. An access over AXI takes six cycles
    // (`tcm.rs`), and 99 more are made.
    let (cached, uncached) = (cycles(0b001_011), cycles(0b001_000));
    assert!(uncached >= cached + 99 * 5, "{cached} {uncached}");
}

#[test]
fn units_of_a_debugger_are_there_and_do_nothing() {
    // FP_CTRL, DWT_CTRL, TPIU's formatter; a watchpoint is refused.
    let program = "ldr r0, =0xe0002000
        ldr r4, [r0]
        ldr r0, =0xe0001000
        ldr r5, [r0]
        ldr r0, =0xe0040000
        movs r1, #2
        str r1, [r0, #0xf0]
        ldr r6, [r0, #0xf0]
        ldr r0, =0xe0001000
        movs r1, #4
        str r1, [r0, #0x28]";
    let mut machine = machine("stm32f407", "cortex-m4", "debug", program);
    let Err(Fault::Peripheral { what, .. }) = machine.run(&UNTIL) else { panic!("a watchpoint") };
    assert_eq!(what, "DWT's watchpoints are not modelled");
    let of = |name| register(machine.as_ref(), name);
    // DDI 0439D, tables 9-1 and 11-1.
    assert_eq!((of("r4"), of("r5"), of("r6")), (0x260, 0x4000_0000, 2));
}

#[test]
fn debug_support_identifies_the_device() {
    // RM0091 32.4.1, RM0041 25.6.1, RM0090 38.6.1, RM0410 40.6.1, RM0432.
    for (target, cpu, base, identity) in [
        ("stm32f051", "cortex-m0", 0x4001_5800u32, 0x2000_0440),
        ("stm32f100", "cortex-m3", 0xe004_2000, 0x1001_0420),
        ("stm32f407", "cortex-m4", 0xe004_2000, 0x1007_0413),
        ("stm32l4r5", "cortex-m4", 0xe004_2000, 0x1003_0470),
        ("stm32f767", "cortex-m7", 0xe004_2000, 0x1001_0451),
    ] {
        let program = format!(
            "{}ldr r0, ={base:#x}\nldr r4, [r0]\nmovs r1, #7\nstr r1, [r0, #4]\nldr r5, [r0, #4]",
            enabling(target)
        );
        let mut machine = machine(target, cpu, "dbgmcu", &program);
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Breakpoint), "{target}");
        let of = |name| register(machine.as_ref(), name);
        assert_eq!((of("r4"), of("r5")), (identity, 7), "{target}");
    }
}
