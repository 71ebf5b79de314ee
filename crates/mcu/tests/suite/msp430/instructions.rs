//! Instructions that mspdebug cannot check: SLAU208, chapter CPUX.
//!
//! Each test names the section.

use super::programs::{HOLD, part};
use mcu::{Fault, Flow, Mcu, Observer, Step, Stop, Until, new_machine};

const PC: u32 = 0x2000;
const C: u32 = 1;
const Z: u32 = 2;
const N: u32 = 4;
const GIE: u32 = 8;
const CPUOFF: u32 = 0x10;
const V: u32 = 0x100;

struct Bench(Box<dyn Mcu>);

impl Bench {
    /// A machine with these registers, the words at [`PC`].
    fn new(words: &[u16], registers: &[(&str, u32)]) -> Bench {
        let part = part();
        let mut bench = Bench(new_machine(&part, 1_000_000).expect("machine"));
        bench.poke(PC, words);
        bench.set("sp", 0x4000);
        bench.set("pc", PC);
        for (name, value) in registers {
            bench.set(name, *value);
        }
        bench
    }

    fn set(&mut self, name: &str, value: u32) {
        assert!(self.0.set_register(name, value), "{name}");
    }

    fn get(&self, name: &str) -> u32 {
        self.0.registers().into_iter().find(|(other, _)| other == name).expect("register").1
    }

    fn poke(&mut self, address: u32, words: &[u16]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.0.poke(address, &bytes));
    }

    fn word(&self, address: u32) -> u32 {
        let mut bytes = [0; 2];
        assert!(self.0.peek(address, &mut bytes));
        u32::from(u16::from_le_bytes(bytes))
    }

    fn step(&mut self) -> Result<Stop, Fault> {
        let until = Until { cycles: Some(self.0.cycles() + 1), addresses: Vec::new() };
        self.0.run(&until)
    }

    /// Executes one instruction and gives the registers asked for.
    fn after<const COUNT: usize>(mut self, names: [&str; COUNT]) -> [u32; COUNT] {
        assert_eq!(self.step(), Ok(Stop::Cycles));
        names.map(|name| self.get(name))
    }
}

#[test]
fn byte_and_word_results_clear_the_upper_bits() {
    // "CPU Registers": byte operations clear bits 19:8, word operations bits 19:16.
    assert_eq!(Bench::new(&[0x4546], &[("r5", 0xabcde), ("r6", 0x12345)]).after(["r6"]), [0xde]);
    assert_eq!(Bench::new(&[0x4506], &[("r5", 0xabcde), ("r6", 0x12345)]).after(["r6"]), [0xbcde]);
    assert_eq!(Bench::new(&[0x1800, 0x4546], &[("r5", 0xabcde)]).after(["r6"]), [0xabcde]);
}

#[test]
fn push_sp_stores_the_new_sp_and_pop_sp_keeps_it() {
    // "Stack Pointer", figure "PUSH SP – POP SP Sequence".
    let mut bench = Bench::new(&[0x1201, 0x4131], &[]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.get("sp"), bench.word(0x3ffe)), (0x3ffe, 0x3ffe));
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(bench.get("sp"), 0x3ffe);
}

#[test]
fn push_of_a_byte_leaves_the_high_byte() {
    let mut bench = Bench::new(&[0x1245], &[("r5", 0x1234)]);
    bench.poke(0x3ffe, &[0xa5a5]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.word(0x3ffe), bench.get("sp")), (0xa534, 0x3ffe));
}

#[test]
fn bytes_from_the_stack_count_it_by_two() {
    // "Indirect Autoincrement Mode".
    assert_eq!(Bench::new(&[0x4175], &[]).after(["sp"]), [0x4002]);
    assert_eq!(Bench::new(&[0x4675], &[("r6", 0x3001)]).after(["r6"]), [0x3002]);
}

#[test]
fn sign_extension() {
    // "SXT": Rn.7 into Rn.19:8; "SXTX".
    assert_eq!(Bench::new(&[0x1185], &[("r5", 0x12380)]).after(["r5", "sr"]), [0xfff80, N | C]);
    assert_eq!(Bench::new(&[0x1185], &[("r5", 0x12300)]).after(["r5", "sr"]), [0, Z]);
    // "SXTX.W": Rn.7 into Rn.19:8 all the same; a word in memory has 16 bits.
    assert_eq!(Bench::new(&[0x1840, 0x1185], &[("r5", 0x12380)]).after(["r5", "sr"]), [0xfff80, N | C]);
    assert_eq!(Bench::new(&[0x1840, 0x1185], &[("r5", 0xf237f)]).after(["r5", "sr"]), [0x7f, C]);
    assert_eq!(Bench::new(&[0x1800, 0x1185], &[("r5", 0x12380)]).after(["r5"]), [0xfff80]);
}

/// TI E2E 1489338, tried on an MSP430FR5969: `ADDA R3, R15`, which TI's compiler makes of `p += 1`,
/// adds 2.
#[test]
fn adda_and_suba_take_constants_for_r2_and_r3() {
    for (word, expected) in [(0x03ef, 0x12347), (0x02ef, 0x12349), (0x03ff, 0x12343), (0x02ff, 0x12341)] {
        let bench = Bench::new(&[word], &[("r15", 0x12345), ("sr", C)]);
        assert_eq!(bench.after(["r15"]), [expected], "{word:04x}");
    }
    // CMPA has R3 as 0, by the manual.
    assert_eq!(Bench::new(&[0x03df], &[("r15", 0)]).after(["sr"]), [Z | C]);
}

/// openMSP430's RTL: PC is the next instruction's address, behind the index.
#[test]
fn pc_as_a_source_is_the_next_instruction() {
    let next = |words: &[u16], address: u32| {
        let mut bench = Bench::new(words, &[("r5", 0x3000)]);
        assert_eq!(bench.step(), Ok(Stop::Cycles));
        let expected = PC + 2 * words.len() as u32;
        assert_eq!((bench.word(address), bench.get("pc")), (expected & 0xffff, expected), "{words:04x?}");
    };
    next(&[0x4085, 0x0010], 0x3010); // MOV PC, 16(R5)
    next(&[0x4082, 0x3020], 0x3020); // MOV PC, &3020h
    next(&[0x1840, 0x4085, 0x0030], 0x3030); // MOVX.W PC, 48(R5)
    next(&[0x0075, 0x0040], 0x3040); // MOVA PC, 64(R5)
    assert_eq!(Bench::new(&[0x4006], &[]).after(["r6"]), [PC + 2]); // MOV PC, R6
}

/// openMSP430's RTL, MSPSim and the description tried on an MSP430FR5994: x(SP) of PUSH and CALL is
/// of the SP that has counted down.
#[test]
fn push_and_call_index_the_sp_that_has_counted_down() {
    for (words, pushed) in [
        (vec![0x1211, 6], 2),         // PUSH 6(SP)
        (vec![0x1840, 0x1211, 6], 2), // PUSHX.W 6(SP)
        (vec![0x1800, 0x1251, 6], 4), // PUSHX.A 6(SP)
    ] {
        let mut bench = Bench::new(&words, &[("sp", 0x3000)]);
        (0x2ff0..0x3010).step_by(2).for_each(|address| bench.poke(address, &[address as u16]));
        assert_eq!(bench.step(), Ok(Stop::Cycles));
        let sp = 0x3000 - pushed;
        assert_eq!((bench.get("sp"), bench.word(sp)), (sp, sp + 6), "{words:04x?}");
    }
    // CALL 6(SP): to what stands 6 above the return address.
    let mut bench = Bench::new(&[0x1291, 6], &[("sp", 0x3000)]);
    bench.poke(0x3004, &[0x2100, 0x2200]);
    assert_eq!(bench.after(["pc", "sp"]), [0x2100, 0x2ffe]);
}

#[test]
fn instruction_with_contradicting_sources_is_refused_by_name() {
    for (words, said) in [
        (vec![0x1221u16], "counts down"),         // PUSH @SP
        (vec![0x1231], "counts down"),            // PUSH @SP+
        (vec![0x1840, 0x1221], "counts down"),    // PUSHX.W @SP
        (vec![0x1281], "counts down"),            // CALL SP
        (vec![0x12a1], "counts down"),            // CALL @SP
        (vec![0x1801, 0x1255, 0], "figure 4-31"), // PUSHX.A x(R5), 3:0 = 1
        (vec![0x1880, 0x1055, 0], "figure 4-31"), // RRCX.A x(R5), 10:7 = 1
    ] {
        let mut bench = Bench::new(&words, &[("r5", 0x3000)]);
        let stop = bench.step();
        assert!(
            matches!(&stop, Err(Fault::Architecture { pc: PC, what, .. }) if what.contains(said)),
            "{words:04x?}: {stop:?}"
        );
        assert_eq!((bench.get("pc"), bench.get("sp")), (PC, 0x4000));
    }
    // Where the two fields are the same it does not matter which is meant.
    let mut bench = Bench::new(&[0x1840 | 1 << 7 | 1, 0x1215, 0x0010], &[("r5", 0x3000)]); // PUSHX.W 10010h(R5)
    bench.poke(0x1_3010, &[0x1234]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(bench.word(0x3ffe), 0x1234);
}

/// SLAU208, figure 4-31: bits 19:16 of a single operand's address or value stand in 3:0 of the
/// extension word.
#[test]
fn single_operand_takes_bits_19_to_16_from_the_extension_word() {
    let mut bench = Bench::new(&[0x1841, 0x1212, 0x3010], &[]); // PUSHX.W &13010h
    bench.poke(0x1_3010, &[0x1234]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(bench.word(0x3ffe), 0x1234);
    let mut bench = Bench::new(&[0x1805, 0x1270, 0x4321], &[]); // PUSHX.A #54321h
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.word(0x3ffc), bench.word(0x3ffe)), (0x4321, 5));
}

/// The part takes the word below (tried on an MSP430FR5994); here only where that is asked for, and
/// it is counted.
#[test]
fn lenient_run_reads_the_word_below_an_odd_address() {
    // MOV @R5, R6; MOV R6, 1(R7); MOV.B @R5, R8.
    let mut bench = Bench::new(&[0x4526, 0x4687, 1, 0x4568], &[("r5", 0x3001), ("r7", 0x3100)]);
    bench.poke(0x3000, &[0x1234]);
    assert!(matches!(bench.step(), Err(Fault::Architecture { address: 0x3001, .. })));
    assert!(bench.0.tolerated().is_empty());
    bench.0.set_lenient(true);
    for _ in 0..3 {
        assert_eq!(bench.step(), Ok(Stop::Cycles));
    }
    assert_eq!((bench.get("r6"), bench.word(0x3100), bench.get("r8")), (0x1234, 0x1234, 0x12));
    assert_eq!(bench.0.tolerated(), [("a word access at an odd address", 2)]);
    bench.0.set_lenient(false);
    bench.set("pc", PC);
    assert!(bench.step().is_err());
}

#[test]
fn rotations_by_several_positions() {
    // "RRCM", "RRAM", "RLAM", "RRUM" with the manual's examples.
    assert_eq!(
        Bench::new(&[0x0845], &[("r5", 0x12345), ("sr", C)]).after(["r5"]),
        [(0x12345 >> 3) | 1 << 17 | 1 << 18]
    );
    assert_eq!(Bench::new(&[0x0555], &[("r5", 0xf8001)]).after(["r5", "sr"]), [0xe000, N]);
    assert_eq!(Bench::new(&[0x0945], &[("r5", 0x80004)]).after(["r5", "sr"]), [0xf0000, N | C]);
    assert_eq!(Bench::new(&[0x0a55], &[("r5", 0x12000)]).after(["r5", "sr"]), [0, Z | C]);
    assert_eq!(Bench::new(&[0x0f45], &[("r5", 0x80008)]).after(["r5", "sr"]), [0x08000, C]);
}

#[test]
fn zero_carry_and_repetition() {
    // "Register Mode Extension Word": RRUX is RRCX with ZC; RPT #4 ADDX.
    assert_eq!(Bench::new(&[0x1940, 0x1005], &[("r5", 0x8003), ("sr", C)]).after(["r5", "sr"]), [0x4001, C]);
    assert_eq!(Bench::new(&[0x1943, 0x1005], &[("r5", 0x8000), ("sr", C)]).after(["r5"]), [0x0800]);
    assert_eq!(Bench::new(&[0x1843, 0x5506], &[("r5", 3), ("r6", 1)]).after(["r6"]), [13]);
    assert_eq!(Bench::new(&[0x1802, 0x5545], &[("r5", 0x20001)]).after(["r5", "sr"]), [0x00008, C | V]);
    let by_register = Bench::new(&[0x18c9, 0x5506], &[("r5", 3), ("r6", 1), ("r9", 0x12)]);
    assert_eq!(by_register.after(["r6"]), [10]);
}

#[test]
fn twenty_bit_arithmetic() {
    // "ADDA", "SUBA", "CMPA", "DADDX".
    assert_eq!(
        Bench::new(&[0x05e6], &[("r5", 0x80000), ("r6", 0x80000)]).after(["r6", "sr"]),
        [0, Z | C | V]
    );
    assert_eq!(Bench::new(&[0x05f6], &[("r5", 1), ("r6", 0)]).after(["r6", "sr"]), [0xfffff, N]);
    assert_eq!(Bench::new(&[0x05d6], &[("r5", 7), ("r6", 7)]).after(["r6", "sr"]), [7, Z | C]);
    let decimal = Bench::new(&[0x1800, 0xa546], &[("r5", 0x99999), ("r6", 0x00001)]);
    assert_eq!(decimal.after(["r6", "sr"]), [0, Z | C]);
    assert_eq!(Bench::new(&[0x01b6, 0x2345], &[("r6", 0x22345)]).after(["r6"]), [0x10000]);
}

#[test]
fn address_moves() {
    // "MOVA": the 20 bits stand in two words, the low one first.
    let mut bench = Bench::new(&[0x0576, 0x0010], &[("r5", 0xabcde), ("r6", 0x3000)]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.word(0x3010), bench.word(0x3012)), (0xbcde, 0x000a));
    let load = |words: &[u16], registers: &[(&str, u32)]| {
        let mut bench = Bench::new(words, registers);
        bench.poke(0x3010, &[0xbcde, 0xfffa]);
        bench
    };
    assert_eq!(load(&[0x0636, 0xfff0], &[("r6", 0x3020)]).after(["r6"]), [0xabcde]);
    assert_eq!(load(&[0x0617], &[("r6", 0x3010)]).after(["r6", "r7"]), [0x3014, 0xabcde]);
    assert_eq!(load(&[0x0027, 0x3010], &[]).after(["r7"]), [0xabcde]);
    assert_eq!(load(&[0x0a87, 0xbcde], &[]).after(["r7"]), [0xabcde]);
}

#[test]
fn calls_and_returns_of_twenty_bits() {
    // "CALLA": bits 19:16 at the higher address; "RETA".
    let mut bench = Bench::new(&[0x13b1, 0x2340], &[]);
    bench.poke(0x12340, &[0x0110]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.get("pc"), bench.get("sp")), (0x12340, 0x3ffc));
    assert_eq!((bench.word(0x3ffc), bench.word(0x3ffe)), (PC + 4, 0));
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!((bench.get("pc"), bench.get("sp")), (PC + 4, 0x4000));
}

#[test]
fn registers_pushed_and_popped_together() {
    // "PUSHM", "POPM": the highest first, so that it ends at the highest address.
    let mut bench = Bench::new(&[0x142a, 0x1628], &[("r8", 0x88888), ("r9", 0x99999), ("r10", 0xaaaaa)]);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    let words: Vec<u32> = (0..6).map(|word| bench.word(0x3ff4 + 2 * word)).collect();
    assert_eq!(words, [0x8888, 8, 0x9999, 9, 0xaaaa, 10]);
    for name in ["r8", "r9", "r10"] {
        bench.set(name, 0);
    }
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(["r8", "r9", "r10", "sp"].map(|name| bench.get(name)), [0x88888, 0x99999, 0xaaaaa, 0x4000]);
    // Words clear bits 19:16.
    let mut bench = Bench::new(&[0x1708], &[("r8", 0x88888)]);
    bench.poke(0x4000, &[0x1234]);
    assert_eq!(bench.after(["r8", "sp"]), [0x1234, 0x4002]);
}

#[test]
fn indexed_addresses() {
    // "Indexed Mode in Lower 64KB Memory": the sum is cut to 16 bits.
    let mut bench = Bench::new(&[0x4516, 0xf000], &[("r5", 0x4010)]);
    bench.poke(0x3010, &[0xcafe]);
    assert_eq!(bench.after(["r6"]), [0xcafe]);
    // "MSP430 Instruction With Indexed Mode in Upper Memory", the manual's 23456h + F8346h =
    // 1B79Ch.
    let mut bench = Bench::new(&[0x4516, 0x8346], &[("r5", 0x23456)]);
    bench.poke(0x1b79c, &[0x5432]);
    assert_eq!(bench.after(["r6"]), [0x5432]);
    // "MSP430X Instruction With Indexed Mode": 20-bit index 18346h.
    let mut bench = Bench::new(&[0x18c0, 0x4516, 0x8346], &[("r5", 0x03456)]);
    bench.poke(0x1b79c, &[0x5432]);
    assert_eq!(bench.after(["r6"]), [0x5432]);
}

#[test]
fn reserved_encodings_are_refused() {
    for words in [
        vec![0x13a0u16],         // reserved: 0001001110 10xxxx
        vec![0x13c5],            // reserved: 00010011 11xxxxxx
        vec![0x1800, 0x4506],    // A/L = 0 with B/W = 0 is reserved
        vec![0x1850, 0x4506],    // reserved bit of the extension word
        vec![0x1840, 0x12b0, 0], // CALL has no extended form
        vec![0x1840, 0x1300],    // nor has RETI
        vec![0x1032],            // RRC of a constant
        vec![0x11c5],            // SXT.B
        vec![0x4583, 0x0010],    // a destination x(R3)
        vec![0x15f4],            // PUSHM #16, R4
        vec![0x0210],            // MOVA @SR+
    ] {
        let mut bench = Bench::new(&words, &[("r5", 0x3000)]);
        assert!(matches!(bench.step(), Err(Fault::Opcode { pc: PC, .. })), "{words:04x?}");
        assert_eq!(bench.get("pc"), PC);
    }
    let odd = Bench::new(&[0x4526], &[("r5", 0x3001)]).step();
    assert!(matches!(odd, Err(Fault::Architecture { address: 0x3001, .. })), "{odd:?}");
    let flash = Bench::new(&[0x4586, 0], &[("r6", 0x8000)]).step();
    assert!(matches!(flash, Err(Fault::Peripheral { address: 0x8000, .. })), "{flash:?}");
    let nowhere = Bench::new(&[0x4526], &[("r5", 0xa00)]).step();
    assert!(matches!(nowhere, Err(Fault::Unmapped { address: 0xa00, .. })), "{nowhere:?}");
    let fetch = Bench::new(&[], &[("pc", 0xa00)]).step();
    assert!(matches!(fetch, Err(Fault::Unmapped { kind: "fetch", .. })), "{fetch:?}");
}

#[derive(Default)]
struct Steps(Vec<Step>);

impl Observer for Steps {
    fn step(&mut self, step: &Step) {
        self.0.push(*step);
    }
}

#[test]
fn flow_is_told_as_it_was() {
    // CALL #0x2100; there NOP, RET; back to the end.
    let mut bench = Bench::new(&[0x12b0, 0x2100, 0x3fff], &[]);
    bench.poke(0x2100, &[0x4303, 0x4130]);
    let mut steps = Steps::default();
    let end = PC + 4;
    let until = Until { cycles: None, addresses: vec![end] };
    assert_eq!(bench.0.run_observed(&until, &mut steps), Ok(Stop::Address(end)));
    let flows: Vec<(u32, u64, Flow)> = steps.0.iter().map(|step| (step.pc, step.cycles, step.flow)).collect();
    let call = Flow::Call { return_to: PC + 4 };
    assert_eq!(flows, [(PC, 0, Flow::Start), (0x2100, 4, call), (0x2102, 5, Flow::Next)]);
    assert_eq!(bench.0.pc(), PC + 4);
    assert_eq!(bench.0.cycles(), 9);
}

#[test]
fn a_run_stops_at_an_address_and_goes_on_from_it() {
    let mut bench = Bench::new(&[0x5315, 0x5315, 0x3ffd], &[("r5", 0)]);
    let until = Until { cycles: None, addresses: vec![PC + 2] };
    for round in 1..=3 {
        assert_eq!(bench.0.run(&until), Ok(Stop::Address(PC + 2)));
        assert_eq!(bench.get("r5"), 2 * round - 1);
    }
}

#[test]
fn code_that_writes_itself_runs_as_written() {
    // MOV #0x5326 (INCD R6), over the INC R6 at the third word, after that was executed once.
    let words = [0x4303, 0x4303, 0x5316, 0x40b0, 0x5326, 0xfff8, 0x3ff9];
    let mut bench = Bench::new(&words, &[("r6", 0)]);
    let until = Until { cycles: None, addresses: vec![PC + 6] };
    assert_eq!(bench.0.run(&until), Ok(Stop::Address(PC + 6)));
    assert_eq!(bench.get("r6"), 1);
    assert_eq!(bench.word(PC + 4), 0x5316);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(bench.word(PC + 2), 0x5326);
    assert_eq!(bench.step(), Ok(Stop::Cycles));
    assert_eq!(bench.get("pc"), PC);
    assert_eq!(bench.0.run(&until), Ok(Stop::Address(PC + 6)));
    assert_eq!(bench.get("r6"), 1 + 2 + 1);
}

/// Timer_A0 with an interrupt every 100 cycles of SMCLK (base 0x0340, vector 54 at 0xffec), its
/// handler at 0x2200.
fn with_timer(words: &[u16]) -> Bench {
    let mut start = vec![
        0x40b2, 0x5a80, 0x015c, // MOV #WDTPW+WDTHOLD, &WDTCTL
        0x40b2, 99, 0x0352, // MOV #99, &TA0CCR0
        0x40b2, 0x0010, 0x0342, // MOV #CCIE, &TA0CCTL0
        0x40b2, 0x0214, 0x0340, // MOV #TASSEL_2 + MC_1 + TACLR, &TA0CTL
    ];
    start.extend(words);
    let mut bench = Bench::new(&start, &[]);
    bench.poke(0xffec, &[0x2200]);
    bench.poke(0x2200, &[0x5315, 0x1300]);
    bench
}

#[test]
fn an_interrupt_wakes_the_core_and_returns_to_sleep() {
    // BIS #GIE+CPUOFF, SR.
    let mut bench = with_timer(&[0xd032, 0x0018, 0x4303]);
    let until = Until { cycles: Some(1000), addresses: Vec::new() };
    let mut steps = Steps::default();
    assert_eq!(bench.0.run_observed(&until, &mut steps), Ok(Stop::Cycles));
    assert_eq!(bench.0.cycles(), 1000);
    // The last write of the start ends at cycle 16: the counter is at 0 there, and at CCR0 every
    // 100 cycles from 115.
    let entries: Vec<u64> = steps.0.iter().filter(|step| step.pc == 0x2200).map(|step| step.cycles).collect();
    assert_eq!(entries, (0..9).map(|n| 115 + 100 * n + 6).collect::<Vec<u64>>());
    assert_eq!(bench.get("r5"), 9);
    assert_eq!(bench.get("sr") & (GIE | CPUOFF), GIE | CPUOFF);
    let entry = steps.0.iter().find(|step| step.pc == 0x2200).expect("an interrupt");
    assert_eq!(entry.flow, Flow::Interrupt { return_to: PC + 28 });
    assert_eq!((bench.word(0x3ffe), bench.word(0x3ffc)), (PC + 28, GIE | CPUOFF));
}

#[test]
fn instruction_after_eint_precedes_a_pending_interrupt() {
    // "Interrupt Acceptance": wait with interrupts off, then EINT and NOPs.
    let mut bench = with_timer(&[0x4036, 40, 0x8316, 0x23fe, 0xd232, 0x5317, 0x5317, 0x3fff]);
    let mut steps = Steps::default();
    let until = Until { cycles: Some(400), addresses: vec![0x2200] };
    assert_eq!(bench.0.run_observed(&until, &mut steps), Ok(Stop::Address(0x2200)));
    let last: Vec<u32> = steps.0.iter().rev().take(2).map(|step| step.pc).collect();
    assert_eq!(last, [PC + 34, PC + 32], "EINT, then one instruction");
    assert_eq!(bench.get("r7"), 1);
}

#[test]
fn a_program_that_can_go_nowhere_has_ended() {
    // JMP $, or a sleep that nothing ends: CPUOFF without GIE.
    const JUMP: &[u16] = &[0x3fff];
    const SLEEP: &[u16] = &[0xd032, 0x0010, 0x3fff];
    for end in [JUMP, SLEEP] {
        assert_eq!(Bench::new(&[&HOLD[..], end].concat(), &[]).0.run(&Until::default()), Ok(Stop::Halted));
        // A watchdog that nobody holds ends it 2^15 clocks after the start: MOV &SYSRSTIV, R5 then
        // tells of it.
        let mut bench = Bench::new(end, &[("r5", 0)]);
        bench.poke(0x3000, &[&[0x4215, 0x019e][..], &HOLD, JUMP].concat());
        bench.poke(0xfffe, &[0x3000]);
        assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
        assert_eq!(bench.get("r5"), 0x16);
        assert!(bench.0.cycles() > 1 << 15);
    }
}
