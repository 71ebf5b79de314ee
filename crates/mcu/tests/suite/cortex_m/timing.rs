//! Cycles of the Cortex-M processors, row by row as the manuals have them.
//!
//! Each case is a few instructions between no-operations; its cost is the difference to the
//! no-operations alone.

use mcu::{Fault, Image, Mcu, Part, Segment, Stop, Until, new_machine};
use std::path::Path;

const CODE: u32 = 0x0800_0100;
const RAM: u32 = 0x2000_0000;
/// MOV r8, r8: a no-operation proper goes by beside a load.
const NOP: u16 = 0x46c0;
const BKPT: u16 = 0xbe00;

fn part(name: &str) -> Part {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../targets/{name}.toml"));
    Part::from_toml(&std::fs::read_to_string(file).expect("a target file")).expect("a valid target file")
}

/// A machine with `code` at [`CODE`]; r1, r2, r3 point into RAM with zeros, r0 is 0, r4 is
/// 0x12345678, r5 is 3.
fn machine(target: &str, clock_hz: u64, code: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(&part(target), clock_hz).expect("a machine");
    let mut bytes = vec![0; 0x100];
    bytes[..4].copy_from_slice(&(RAM + 0x1000).to_le_bytes());
    bytes[4..8].copy_from_slice(&(CODE + 1).to_le_bytes());
    bytes.extend(code.iter().flat_map(|half| half.to_le_bytes()));
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    machine.set_pc(CODE);
    for (name, value) in
        [("r1", RAM + 0x100), ("r2", RAM + 0x200), ("r3", RAM + 0x300), ("r4", 0x1234_5678), ("r5", 3)]
    {
        assert!(machine.set_register(name, value));
    }
    machine
}

fn run(mut machine: Box<dyn Mcu>) -> u64 {
    let stop = machine.run(&Until { cycles: Some(1_000_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "at {:#x}", machine.pc());
    machine.cycles()
}

/// Cycles of `code` between four no-operations and one.
fn cost(target: &str, code: &[u16]) -> u64 {
    let around = |code: &[u16]| {
        let mut all = vec![NOP; 4];
        all.extend_from_slice(code);
        all.extend([NOP, BKPT]);
        run(machine(target, 8_000_000, &all))
    };
    around(code) - around(&[])
}

#[track_caller]
fn check(target: &str, rows: &[(&str, &[u16], u64)]) {
    for (text, code, cycles) in rows {
        assert_eq!(cost(target, code), *cycles, "{target}: {text}");
    }
}

/// DDI 0432C table 3-1.
#[test]
fn cortex_m0_table() {
    check(
        "stm32f051",
        &[
            ("MOVS r0, #1", &[0x2001], 1),
            ("ADDS r0, r0, r1", &[0x1840], 1),
            ("MULS r0, r1, r0", &[0x4348], 1),
            ("REV r0, r1", &[0xba08], 1),
            ("LDR r0, [r1]", &[0x6808], 2),
            ("two LDR", &[0x6808, 0x681a], 4),
            ("STR r0, [r1]", &[0x6008], 2),
            ("LDMIA r1!, {r6, r7}", &[0xc9c0], 3),
            ("PUSH {r0-r3}; POP {r0-r3}", &[0xb40f, 0xbc0f], 10),
            ("B over one", &[0xe000, BKPT], 3),
            ("BEQ not taken", &[0x2601, 0xd000], 2),
            ("BNE taken", &[0x2601, 0xd100, BKPT], 4),
            ("BL", &[0xf000, 0xf800], 4),
            ("MRS r0, PRIMASK", &[0xf3ef, 0x8010], 4),
            ("DSB", &[0xf3bf, 0x8f4f], 4),
        ],
    );
}

/// Rows that DDI 0337I table 3-1 and DDI 0439 table 3-1 have alike.
#[test]
fn cortex_m3_and_m4_table() {
    for target in ["stm32f100", "stm32f407"] {
        check(
            target,
            &[
                ("MOVS r0, #1", &[0x2001], 1),
                ("ADDS r0, r0, r1", &[0x1840], 1),
                ("MULS r0, r1, r0", &[0x4348], 1),
                ("UXTB.W r0, r4, ROR #8", &[0xfa5f, 0xf094], 1),
                ("LDR r0, [r1]", &[0x6808], 2),
                ("STR r0, [r1]", &[0x6008], 1),
                ("LDRD r6, r7, [r2]", &[0xe9d2, 0x6700], 3),
                ("STRD r6, r7, [r2]", &[0xe9c2, 0x6700], 3),
                ("LDMIA r1!, {r6, r7}", &[0xc9c0], 3),
                ("PUSH {r0-r3}; POP {r0-r3}", &[0xb40f, 0xbc0f], 10),
                ("UDIV r0, r5, r4: the quotient is zero", &[0xfbb5, 0xf0f4], 2),
                ("UDIV r0, r4, r0: by zero", &[0xfbb4, 0xf0f0], 2),
                ("BEQ not taken", &[0x2601, 0xd000], 2),
                ("LDREX r0, [r1]", &[0xe851, 0x0f00], 2),
            ],
        );
    }
}

/// DDI 0337I table 3-1: MLA 2, UMULL and SMULL 3 to 5, UMLAL and SMLAL 4 to 7; below 64K in
/// magnitude ends early.
#[test]
fn cortex_m3_multiplies_by_operand() {
    check(
        "stm32f100",
        &[
            ("MLA r0, r1, r2, r3", &[0xfb01, 0x3002], 2),
            ("UMULL r6, r7, r5, r5: both small", &[0xfba5, 0x6705], 3),
            ("UMULL r6, r7, r5, r4: one small", &[0xfba5, 0x6704], 4),
            ("UMULL r6, r7, r4, r4: both large", &[0xfba4, 0x6704], 5),
            ("UMLAL r6, r7, r5, r5", &[0xfbe5, 0x6705], 4),
            ("SMLAL r6, r7, r4, r4", &[0xfbc4, 0x6704], 7),
        ],
    );
}

/// DDI 0439 table 3-1: every multiply takes one cycle.
#[test]
fn cortex_m4_multiplies() {
    check(
        "stm32f407",
        &[
            ("MLA r0, r1, r2, r3", &[0xfb01, 0x3002], 1),
            ("UMULL r6, r7, r4, r4", &[0xfba4, 0x6704], 1),
            ("SMLAL r6, r7, r4, r4", &[0xfbc4, 0x6704], 1),
            ("UMAAL r6, r7, r4, r4", &[0xfbe4, 0x6764], 1),
        ],
    );
}

/// DDI 0337I section 3.3.3. A store after a load takes a cycle less than the manual's examples
/// ("normally three"): `pipeline_m3_m4.toml`.
#[test]
fn neighbouring_loads_and_stores_overlap() {
    for target in ["stm32f100", "stm32f407"] {
        check(
            target,
            &[
                ("LDR r0,[r1]; LDR r6,[r2]: three cycles", &[0x6808, 0x6816], 3),
                ("LDR r6,[r1,r0]; STR r6,[r3,r0]: three", &[0x580e, 0x501e], 3),
                ("LDR r6,[r1,r0]; LDR r7,[r2]; LDR r0,[r3,#4]: four", &[0x580e, 0x6817, 0x6858], 4),
                ("STR r0,[r1,r0]: two, nothing pipelined after", &[0x5008], 2),
                ("STR r0,[r1,r0]; LDR r6,[r2]", &[0x5008, 0x6816], 4),
                ("the address is what the first load brings", &[0x680e, 0x6836], 4),
                ("an address out of the instruction before waits a cycle", &[0x3104, 0x6808], 4),
                ("an instruction between", &[0x6808, NOP, 0x6816], 5),
            ],
        );
    }
}

/// DDI 0337I table 3-1: 1 + P, P 1 to 3 "depending on the alignment and width of the target
/// instruction, and whether the processor manages to speculate the address early".
#[test]
fn branches_refill_the_pipeline() {
    for target in ["stm32f100", "stm32f407"] {
        check(
            target,
            &[
                ("B", &[0xe000, BKPT], 2),
                ("B to a 32-bit instruction in one word", &[0xe000, BKPT, 0xf04f, 0x0001], 3),
                ("B to a 32-bit instruction across two words", &[NOP, 0xe000, BKPT, 0xf04f, 0x0001], 5),
                ("CBZ r0 taken", &[0xb100, BKPT], 2),
                ("BL", &[0xf000, 0xf800], 2),
                ("MOV r6, pc; ADDS r6, #5; BX r6", &[0x467e, 0x3605, 0x4730, BKPT], 5),
                (
                    "MOV r6, pc; ADDS r6, #9; PUSH {r6}; POP {pc}",
                    &[0x467e, 0x3609, 0xb440, 0xbd00, BKPT, BKPT],
                    1 + 1 + 2 + 5,
                ),
                ("TBB [pc, r0]", &[0xe8df, 0xf000, 0x0001], 6),
            ],
        );
    }
}

/// DDI 0439 table 3-1: IT takes a cycle or is folded; an instruction whose condition fails takes
/// one.
#[test]
fn if_then() {
    for target in ["stm32f100", "stm32f407"] {
        check(
            target,
            &[
                ("MOVS r6, #1; IT EQ; MOVEQ r0, #1", &[0x2601, 0xbf08, 0x2001], 2),
                ("MOV.W r6, #1; IT NE; MOVNE r0, #1", &[0xf04f, 0x0601, 0xbf18, 0x2001], 3),
                ("MOVS r6, #1; IT EQ; LDREQ r0, [r1]", &[0x2601, 0xbf08, 0x6808], 2),
            ],
        );
    }
}

/// A misaligned access is made of aligned ones.
#[test]
fn misaligned_data_costs_an_access_more() {
    for target in ["stm32f100", "stm32f407"] {
        check(
            target,
            &[
                ("LDR.W r0, [r1, #2]", &[0xf8d1, 0x0002], 3),
                ("LDR.W r0, [r1, #1]", &[0xf8d1, 0x0001], 4),
                ("LDRH.W r0, [r1, #1]", &[0xf8b1, 0x0001], 3),
                ("STR.W r0, [r1, #2]", &[0xf8c1, 0x0002], 2),
            ],
        );
    }
}

/// Cycles of a loop that depends on wait states: eight 32-bit instructions, run ten times.
fn loop_cycles(target: &str, clock_hz: u64, acr: (u32, u32)) -> u64 {
    let mut code = vec![
        0x600e, // STR r6, [r1]: FLASH_ACR
        0x270a, // MOVS r7, #10
    ];
    code.extend([0xf04f, 0x0001].repeat(8)); // MOV.W r0, #1
    code.extend([0x3f01, 0xd1ed, BKPT]); // SUBS r7, #1; BNE
    let mut machine = machine(target, clock_hz, &code);
    machine.set_register("r1", acr.0);
    machine.set_register("r6", acr.1);
    run(machine)
}

#[test]
fn wait_states_cost_and_the_accelerator_hides_them() {
    const ACR: u32 = 0x4002_3c00;
    let none = loop_cycles("stm32f407", 24_000_000, (ACR, 0));
    let bare = loop_cycles("stm32f407", 168_000_000, (ACR, 5));
    let ahead = loop_cycles("stm32f407", 168_000_000, (ACR, 5 | 1 << 8));
    let cached = loop_cycles("stm32f407", 168_000_000, (ACR, 5 | 1 << 9));
    // Ten rounds of eight moves, a subtraction and a branch of two cycles but for the last.
    assert_eq!(none - loop_cycles_of_nothing(), 10 * 11 - 1);
    // A round touches at least two lines of 128 bits: without help each costs five cycles, every
    // time.
    assert!(bare >= none + 10 * 2 * 5, "{bare} {none}");
    assert!(ahead < bare && ahead > none, "{ahead} {bare} {none}");
    // With the lines kept only the first round waits: four lines and the literal line of the stop.
    assert!(cached <= none + 5 * 6, "{cached} {none}");
}

/// RM0090 section 3.5.2: a loop that fits the accelerator runs as without wait states, prefetch or
/// not.
#[test]
fn a_loop_in_the_accelerator_takes_no_longer_with_prefetch() {
    let rounds = |acr: u32| {
        let mut code = vec![0x600e, 0xf44f, 0x777a]; // STR r6, [r1]; MOV.W r7, #1000
        code.extend([0xf04f, 0x0001].repeat(32)); // MOV.W r0, #1
        code.extend([0x3f01, 0xd1bd, BKPT]); // SUBS r7, #1; BNE
        let mut machine = machine("stm32f407", 168_000_000, &code);
        machine.set_register("r1", 0x4002_3c00);
        machine.set_register("r6", acr);
        run(machine)
    };
    let bare = rounds(0x600);
    // 32 moves, the subtraction, the branch, and the refill at a 32-bit instruction across two
    // words.
    assert_eq!(bare, 2 + 1000 * (32 + 1 + 2 + 1) - 2);
    for waits in 1..=5 {
        for prefetch in [0, 0x100] {
            let cycles = rounds(0x600 | prefetch | waits);
            assert!(cycles - bare < 80, "{waits} wait states, prefetch {prefetch:#x}: {cycles}, not {bare}");
        }
    }
}

/// RM0432, "Flash module - dual-bank organization (64 bits read width)", as the part is delivered;
/// RM0090 section 3.2: 128 bits.
#[test]
fn stm32l4r5_reads_its_flash_by_half_of_the_stm32f407_s_lines() {
    // 64 times MOV.W r0, #1: 256 bytes in a row, without prefetch or kept lines.
    let run_at = |target: &str, clock_hz, register, acr| {
        let code = [vec![0x600e], [0xf04f, 0x0001].repeat(64), vec![BKPT]].concat(); // STR r6, [r1]: FLASH_ACR
        let mut machine = machine(target, clock_hz, &code);
        machine.set_register("r1", register);
        machine.set_register("r6", acr);
        run(machine)
    };
    for (target, clock_hz, register, lines) in
        [("stm32l4r5", 120_000_000, 0x4002_2000, 32), ("stm32f407", 168_000_000, 0x4002_3c00, 16)]
    {
        let waits = run_at(target, clock_hz, register, 5) - run_at(target, 16_000_000, register, 0);
        // But for the line of the store, which may have come before, and the one behind the end.
        assert!((5 * (lines - 1)..=5 * (lines + 1)).contains(&waits), "{target}: {waits} cycles");
    }
}

/// pqm4, pull request 73 ("SRAM2 seems to slow down memory accesses") and issue 180 (about 10 % for
/// X25519).
#[test]
fn data_in_sram2_waits_a_cycle() {
    // As X25519 has it, an access of several words to five other instructions: LDM.W r2, {r0, r4,
    // r8}; MOV.W r6, #1.
    let code: Vec<u16> = [[0xe892, 0x0111].to_vec(), [0xf04f, 0x0601].repeat(5)]
        .concat()
        .repeat(16)
        .into_iter()
        .chain([BKPT])
        .collect();
    let at = |address| {
        let mut machine = machine("stm32f407", 16_000_000, &code);
        machine.set_register("r2", address);
        run(machine)
    };
    let ccm = at(0x1000_0000);
    assert_eq!(ccm, 16 * (4 + 5));
    assert_eq!(at(0x2001_bf00), ccm, "SRAM1");
    assert_eq!(at(0x2001_c000), ccm + 16, "SRAM2");
}

/// pqm4, pull request 193: SRAM1 "has slightly faster load timings" than SRAM2 and SRAM3.
#[test]
fn loads_of_the_stm32l4r5_wait_a_cycle_behind_sram1() {
    let at = |access: u16, address| {
        // The access, MOV.W r6, #1.
        let mut code: Vec<u16> = [access, 0xf04f, 0x0601].repeat(16);
        code.push(BKPT);
        let mut machine = machine("stm32l4r5", 4_000_000, &code);
        machine.set_register("r2", address);
        run(machine)
    };
    let (load, store) = (0x6811, 0x6011);
    assert_eq!(at(load, 0x2004_0000), at(load, 0x2000_0000) + 16);
    assert_eq!(at(store, 0x2004_0000), at(store, 0x2000_0000));
}

/// The store and the move before the loop.
fn loop_cycles_of_nothing() -> u64 {
    2
}

#[test]
fn a_wait_state_of_the_stm32f0_costs() {
    const ACR: u32 = 0x4002_2000;
    let code: Vec<u16> = [vec![0x600e, NOP], vec![NOP; 8], vec![0x6816, 0xe000, BKPT, NOP, BKPT]].concat();
    let run_at = |clock_hz, acr| {
        let mut machine = machine("stm32f051", clock_hz, &code);
        machine.set_register("r1", ACR);
        machine.set_register("r6", acr);
        run(machine)
    };
    let none = run_at(24_000_000, 0);
    let one = run_at(48_000_000, 1);
    let ahead = run_at(48_000_000, 1 | 1 << 4);
    assert_eq!(none, 2 + 9 + 2 + 3 + 1);
    assert!(ahead > none && ahead <= none + 3, "{ahead} {none}");
    // Seven words and the branch's target, each a cycle later.
    assert_eq!(one, none + 8);
}

/// The real part would misread; the model says so where the program makes it so.
#[test]
fn too_few_wait_states_are_refused() {
    // FLASH_ACR, then RCC_CR with the PLL, then RCC_CFGR to the PLL.
    let try_it = |latency: u32| {
        let mut machine = machine("stm32f407", 168_000_000, &[0x600e, 0x6015, 0x601c, BKPT]);
        machine.set_register("r1", 0x4002_3c00);
        machine.set_register("r6", latency);
        machine.set_register("r2", 0x4002_3800);
        machine.set_register("r5", 1 << 24 | 1);
        machine.set_register("r3", 0x4002_3808);
        machine.set_register("r4", 2);
        machine.run(&Until { cycles: Some(1000), ..Until::default() })
    };
    assert_eq!(try_it(5), Ok(Stop::Breakpoint));
    match try_it(4) {
        Err(Fault::Peripheral { device, what, .. }) => {
            assert_eq!(device, "RCC");
            assert!(what.contains("needs 5") && what.contains("168"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    assert!(new_machine(&part("stm32f407"), 200_000_000).is_err());
}

/// Data in the flash delays instructions out of the flash (RM0090 section 3.5.2), data in RAM does
/// not.
#[test]
fn tables_in_flash_compete_with_instructions() {
    // Eight times LDR.W r0, [r1]; MOV.W r6, #1 ten times.
    let code: Vec<u16> = (0..8)
        .flat_map(|_| [[0xf8d1, 0x0000].repeat(4), [0xf04f, 0x0601].repeat(10)].concat())
        .chain([BKPT])
        .collect();
    let run_with = |address| {
        let mut machine = machine("stm32f407", 16_000_000, &code);
        machine.set_register("r1", address);
        run(machine)
    };
    assert_eq!(run_with(RAM), 8 * (5 + 10));
    assert!(run_with(0x0800_0040) > 8 * (5 + 10));
}

/// A read of the flash for instructions is under way while the code goes on in RAM, which has none
/// left to take it: the next read of data waits for its end, and no longer.
#[test]
fn code_in_ram_waits_once_for_a_read_of_the_flash() {
    for (target, clock_hz, register, acr) in [
        ("stm32f051", 48_000_000, 0x4002_2000, 0x11),
        ("stm32f407", 168_000_000, 0x4002_3c00, 0x105),
        ("stm32l4r5", 120_000_000, 0x4002_2000, 0x105),
    ] {
        for moves in 0..16 {
            let mut code = vec![0x600e]; // STR r6, [r1]: FLASH_ACR
            code.extend(vec![0x2000; moves]); // MOVS r0, #0
            code.push(0x4718); // BX r3
            let mut machine = machine(target, clock_hz, &code);
            let in_ram = [0x6810u16, 0x6850, BKPT]; // LDR r0, [r2]; LDR r0, [r2, #4]
            let bytes: Vec<u8> = in_ram.iter().flat_map(|half| half.to_le_bytes()).collect();
            assert!(machine.poke(RAM + 0x300, &bytes));
            for (name, value) in [("r1", register), ("r2", CODE), ("r3", RAM + 0x301), ("r6", acr)] {
                assert!(machine.set_register(name, value));
            }
            let cycles = run(machine);
            assert!(cycles < 80 + moves as u64, "{target}, {moves} moves: {cycles} cycles");
        }
    }
}
