//! RISC-V core where Unicorn cannot check it.
//!
//! That is WCH's instructions, CSRs, traps, sleep, and the faults of the CH32V003.

use mcu::{Fault, Flow, Mcu, Observer, Part, Step, Stop, Until, new_clocked_machine, new_machine};

const CODE: u32 = 0x400;
const RAM: u32 = 0x2000_0000;
const CLOCK_HZ: u64 = 24_000_000;

struct Bench(Box<dyn Mcu>);

impl Bench {
    /// A CH32V003 with these halfwords at [`CODE`] in flash, where it goes on.
    fn new(code: &[u16], registers: &[(&str, u32)]) -> Bench {
        let part =
            Part::from_toml(include_str!("../../../../../targets/ch32v003.toml")).expect("target file");
        let mut bench = Bench(new_machine(&part, CLOCK_HZ).expect("machine"));
        bench.put(CODE, code);
        bench.set("sp", RAM + 0x100);
        bench.set("pc", CODE);
        for (name, value) in registers {
            bench.set(name, *value);
        }
        bench
    }

    /// The same with 32-bit instructions.
    fn words(code: &[u32], registers: &[(&str, u32)]) -> Bench {
        let halves: Vec<u16> = code.iter().flat_map(|word| [*word as u16, (word >> 16) as u16]).collect();
        Bench::new(&halves, registers)
    }

    fn put(&mut self, address: u32, code: &[u16]) {
        let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
        assert!(self.0.poke(address, &bytes));
    }

    fn set(&mut self, name: &str, value: u32) {
        assert!(self.0.set_register(name, value), "{name}");
    }

    fn get(&self, name: &str) -> u32 {
        self.0.registers().into_iter().find(|(other, _)| other == name).expect("register").1
    }

    fn word(&self, address: u32) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.0.peek(address, &mut bytes));
        u32::from_le_bytes(bytes)
    }

    fn step(&mut self) -> Result<Stop, Fault> {
        self.0.run(&Until { cycles: Some(self.0.cycles() + 1), addresses: Vec::new() })
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            assert_eq!(self.step(), Ok(Stop::Cycles));
        }
    }

    /// Fault with which the run stops.
    fn fault(mut self) -> String {
        loop {
            match self.step() {
                Ok(Stop::Cycles) => {}
                Ok(stop) => panic!("{stop:?}"),
                Err(fault) => return fault.to_string(),
            }
        }
    }
}

/// Fills RAM around the addresses below: every byte its own offset, so that the value shows which
/// bytes were read.
fn numbered(bench: &mut Bench) {
    let bytes: Vec<u8> = (0..128).collect();
    assert!(bench.0.poke(RAM, &bytes));
}

#[test]
fn xw_loads_have_the_published_encodings() {
    // CaiB/CH32V003-Architecture-Exploration, NewInstructionNotes.md: opcode, destination, base,
    // offset, bytes.
    let loads = [
        (0x201c, "a5", "s0", 0, 1),
        (0x2380, "s0", "a5", 0, 1),
        (0x3000, "s0", "s0", 1, 1),
        (0x2020, "s0", "s0", 2, 1),
        (0x2040, "s0", "s0", 4, 1),
        (0x2400, "s0", "s0", 8, 1),
        (0x2800, "s0", "s0", 16, 1),
        (0x3c60, "s0", "s0", 31, 1),
        (0x201e, "a5", "s0", 0, 2),
        (0x2382, "s0", "a5", 0, 2),
        (0x2022, "s0", "s0", 2, 2),
        (0x2042, "s0", "s0", 4, 2),
        (0x2402, "s0", "s0", 8, 2),
        (0x2802, "s0", "s0", 16, 2),
        (0x3002, "s0", "s0", 32, 2),
        (0x3c62, "s0", "s0", 62, 2),
        (0x801c, "a5", "sp", 0, 1),
        (0x8080, "s0", "sp", 1, 1),
        (0x8100, "s0", "sp", 2, 1),
        (0x8200, "s0", "sp", 4, 1),
        (0x8400, "s0", "sp", 8, 1),
        (0x8780, "s0", "sp", 15, 1),
        (0x803c, "a5", "sp", 0, 2),
        (0x8120, "s0", "sp", 2, 2),
        (0x8220, "s0", "sp", 4, 2),
        (0x8420, "s0", "sp", 8, 2),
        (0x80a0, "s0", "sp", 16, 2),
        (0x87a0, "s0", "sp", 30, 2),
    ];
    for (opcode, destination, base, offset, size) in loads {
        let mut bench = Bench::new(&[opcode], &[(base, RAM)]);
        numbered(&mut bench);
        bench.steps(1);
        let expected = if size == 1 { offset } else { (offset + 1) << 8 | offset };
        assert_eq!(bench.get(destination), expected, "{opcode:04x}");
        assert_eq!(bench.0.pc(), CODE + 2, "{opcode:04x}");
    }
}

#[test]
fn xw_stores_have_the_published_encodings() {
    let stores = [
        (0xa01c, "a5", "s0", 0, 1),
        (0xa380, "s0", "a5", 0, 1),
        (0xb01c, "a5", "s0", 1, 1),
        (0xa03c, "a5", "s0", 2, 1),
        (0xa05c, "a5", "s0", 4, 1),
        (0xa41c, "a5", "s0", 8, 1),
        (0xa81c, "a5", "s0", 16, 1),
        (0xbc7c, "a5", "s0", 31, 1),
        (0xa01e, "a5", "s0", 0, 2),
        (0xa382, "s0", "a5", 0, 2),
        (0xa03e, "a5", "s0", 2, 2),
        (0xb01e, "a5", "s0", 32, 2),
        (0xbc7e, "a5", "s0", 62, 2),
        (0x805c, "a5", "sp", 0, 1),
        (0x80c0, "s0", "sp", 1, 1),
        (0x87c0, "s0", "sp", 15, 1),
        (0x807c, "a5", "sp", 0, 2),
        (0x8160, "s0", "sp", 2, 2),
        (0x80e0, "s0", "sp", 16, 2),
        (0x87e0, "s0", "sp", 30, 2),
    ];
    for (opcode, source, base, offset, size) in stores {
        let mut bench = Bench::new(&[opcode], &[(source, 0xffff_a5c3), (base, RAM)]);
        bench.steps(1);
        let expected = if size == 1 { 0xc3 } else { 0xa5c3 };
        let shift = 8 * (offset & 3);
        assert_eq!(bench.word(RAM + (offset & !3)), expected << shift, "{opcode:04x}");
    }
}

#[test]
fn csr_instructions_read_and_change() {
    // csrrw a0, mscratch, a1; csrrs a2, mscratch, a3; csrrci a4, mscratch, 5; csrrs a5, mscratch,
    // x0.
    let code = [0x3405_9573, 0x3406_a673, 0x3402_f773, 0x3400_27f3];
    let mut bench = Bench::words(&code, &[("a1", 0x1234_5670), ("a3", 0xf), ("mscratch", 7)]);
    bench.steps(4);
    let values = ["a0", "a2", "a4", "a5"].map(|name| bench.get(name));
    assert_eq!(values, [7, 0x1234_5670, 0x1234_567f, 0x1234_567a]);
}

#[test]
fn mie_is_set_together_with_mpie_alone() {
    // csrw mstatus, a0: jnk0le/random, "ch32v003_(qkv2).md".
    let mut bench = Bench::words(&[0x3005_1073], &[("a0", 0x8)]);
    bench.steps(1);
    assert_eq!(bench.get("mstatus"), 0);
    let mut bench = Bench::words(&[0x3005_1073], &[("a0", 0x88)]);
    bench.steps(1);
    assert_eq!(bench.get("mstatus"), 0x88);
}

#[derive(Default)]
struct Flows(Vec<Flow>);

impl Observer for Flows {
    fn step(&mut self, step: &Step) {
        self.0.push(step.flow);
    }
}

#[test]
fn ecall_goes_through_the_vector_table_and_mret_comes_back() {
    // Vectors of addresses: the exception's is number 3 (CH32V003RM, table 6-1). ecall; then mret
    // at the handler.
    let mut bench = Bench::words(&[0x0000_0073, 0x0000_0013], &[("mtvec", 0x3), ("mstatus", 0x88)]);
    bench.put(0xc, &[0x800, 0]);
    bench.put(0x800, &[0x0073, 0x3020]);
    let mut flows = Flows::default();
    let until = Until { cycles: None, addresses: vec![0x800] };
    assert_eq!(bench.0.run_observed(&until, &mut flows), Ok(Stop::Address(0x800)));
    assert_eq!((bench.get("mepc"), bench.get("mcause"), bench.get("mstatus")), (CODE, 11, 0x80));
    bench.set("mepc", CODE + 4);
    let until = Until { cycles: Some(bench.0.cycles() + 10), addresses: vec![CODE + 8] };
    assert_eq!(bench.0.run_observed(&until, &mut flows), Ok(Stop::Address(CODE + 8)));
    assert_eq!(bench.get("mstatus"), 0x88);
    assert!(flows.0.contains(&Flow::InterruptReturn), "{:?}", flows.0);
}

/// STK: compare at 100, interrupt 12 enabled in the PFIC, counting HCLK and starting over; then
/// `after`.
fn with_systick(after: u32, mstatus: u32) -> Bench {
    let code = [
        0x00e5_2823, // sw a4, 16(a0)   STK_CMPLR
        0x10f5_a023, // sw a5, 256(a1)  PFIC_IENR1
        0x00c5_2023, // sw a2, 0(a0)    STK_CTLR
        after,
        0x0000_0013, // nop
        0xffdf_f06f, // j -4
    ];
    let registers = [
        ("a0", 0xe000_f000),
        ("a1", 0xe000_e000),
        ("a2", 0xf),
        ("a4", 100),
        ("a5", 1 << 12),
        ("mtvec", 1),
        ("mstatus", mstatus),
    ];
    let mut bench = Bench::words(&code, &registers);
    // Vectors of jumps: number 12 clears STK_SR and returns.
    bench.put(0x30, &[0x2223, 0x0005]); // sw zero, 4(a0)
    bench.put(0x34, &[0x0073, 0x3020]); // mret
    bench
}

#[test]
fn wfi_sleeps_until_the_timer_and_takes_its_interrupt() {
    let mut bench = with_systick(0x1050_0073, 0x88);
    let until = Until { cycles: Some(1_000), addresses: vec![0x30] };
    assert_eq!(bench.0.run(&until), Ok(Stop::Address(0x30)));
    assert_eq!((bench.get("mcause"), bench.get("mepc")), (0x8000_000c, CODE + 16));
    assert!((100..120).contains(&bench.0.cycles()), "{}", bench.0.cycles());
    let asleep = bench.0.residency().asleep.iter().map(|mode| mode.cycles).sum::<u64>();
    assert!((70..100).contains(&asleep), "{asleep}");
    // It comes again after as many ticks and one, because the timer starts over.
    let first = bench.0.cycles();
    assert_eq!(bench.0.run(&until), Ok(Stop::Address(0x30)));
    assert!((96..106).contains(&(bench.0.cycles() - first)), "{}", bench.0.cycles() - first);
}

#[test]
fn enabled_interrupt_ends_wfi_even_if_it_is_not_taken() {
    let mut bench = with_systick(0x1050_0073, 0);
    let until = Until { cycles: Some(1_000), addresses: vec![CODE + 16] };
    assert_eq!(bench.0.run(&until), Ok(Stop::Address(CODE + 16)));
    assert!((100..120).contains(&bench.0.cycles()), "{}", bench.0.cycles());
}

#[test]
fn sleep_without_an_end_and_a_jump_to_itself_halt() {
    assert_eq!(Bench::words(&[0x1050_0073], &[]).0.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(Bench::new(&[0xa001], &[]).0.run(&Until::default()), Ok(Stop::Halted));
}

#[test]
fn ebreak_is_a_breakpoint() {
    for code in [vec![0x9002], vec![0x0073, 0x0010]] {
        let mut bench = Bench::new(&code, &[]);
        assert_eq!(bench.step(), Ok(Stop::Breakpoint));
        assert_eq!(bench.0.pc(), CODE);
    }
}

#[test]
fn unmodelled_instructions_and_settings_are_faults() {
    let fault = |word: u32, registers: &[(&str, u32)]| Bench::words(&[word], registers).fault();
    // mul a0, a0, a1; addi a6, a0, 0: RV32EC has neither.
    assert!(fault(0x02b5_0533, &[]).contains("no such instruction"));
    assert!(fault(0x0005_0813, &[]).contains("no such instruction"));
    // lw a0, 0(a1)
    assert!(fault(0x0005_a503, &[("a1", RAM + 2)]).contains("no multiple of 4"));
    assert!(fault(0x0005_a503, &[("a1", 0x1000_0000)]).contains("where nothing is modelled"));
    // csrr a0, misa
    assert!(fault(0x3010_2573, &[]).contains("register 0x301, which is not modelled"));
    // sw a0, 0(a1): the flash, its controller, priorities of the PFIC, 2 in FLASH_ACTLR, no source
    // of the clock.
    let store = |address: u32, value: u32| fault(0x00a5_a023, &[("a1", address), ("a0", value)]);
    assert!(store(0x100, 0).contains("a write to flash"));
    assert!(store(0x4002_2010, 0x40).contains("programming and erasing"));
    assert!(store(0xe000_e400, 0x80).contains("not modelled"));
    assert!(store(0x4002_2000, 2).contains("the manual has 0 and 1"));
    assert!(store(0x4002_1004, 3).contains("no such source"));
    // An interrupt with the hardware's prologue.
    let mut bench = with_systick(0x8041_d073, 0x88); // csrwi 0x804, 3
    let said = loop {
        match bench.step() {
            Ok(Stop::Cycles) => {}
            Ok(stop) => panic!("{stop:?}"),
            Err(fault) => break fault.to_string(),
        }
    };
    assert!(said.contains("HWSTKEN"), "{said}");
}

#[test]
fn the_pll_needs_a_wait_state_and_a_machine_at_its_clock() {
    // sw a2, 0(a1) twice: RCC_CTLR.PLLON; sw a3, 4(a1): RCC_CFGR0.SW.
    let code = [0x00e5_2023, 0x00c5_a023, 0x00d5_a223];
    let with = |latency: u32| {
        let registers =
            [("a0", 0x4002_2000), ("a1", 0x4002_1000), ("a2", 1 << 24 | 0x83), ("a3", 2), ("a4", latency)];
        Bench::words(&code, &registers)
    };
    assert!(with(0).fault().contains("wait states are too few: the flash needs 1 while SYSCLK is 48 MHz"));
    assert!(with(1).fault().contains("the machine is run at 24 MHz: run it at the program's clock"));
}

/// Section 3.3: HSE is ready where the board has a crystal, and the core runs from it or from the
/// PLL on it; without one a program waits in vain, and stays on HSI.
#[test]
fn a_crystal_clocks_the_core_where_there_is_one() {
    let clock = |crystal: &str, source: u32| {
        let text = include_str!("../../../../../targets/ch32v003.toml");
        let text = text.replace("crystal_hz = 24_000_000\n", crystal);
        let part = Part::from_toml(&text).expect("a part");
        let mut bench = Bench(new_clocked_machine(&part, None).expect("a machine"));
        // sw a4, 0(a0): FLASH_ACTLR; sw a2, 0(a1): RCC_CTLR; sw a3, 4(a1): RCC_CFGR0; both are
        // read.
        let code = [0x00e5_2023, 0x00d5_a223, 0x00c5_a023, 0x0005_a783, 0x0045_a703];
        let halves: Vec<u16> = code.iter().flat_map(|word| [*word as u16, (*word >> 16) as u16]).collect();
        bench.put(CODE, &halves);
        let (on, chosen) = (1 << 24 | 1 << 16 | 0x83, 1 << 16 | source);
        let registers = [("a0", 0x4002_2000), ("a1", 0x4002_1000), ("a2", on), ("a3", chosen), ("a4", 1)];
        registers.into_iter().for_each(|(name, value)| bench.set(name, value));
        bench.set("pc", CODE);
        bench.steps(code.len());
        (bench.0.clock_hz(), bench.get("a5") >> 17 & 1, bench.get("a4") >> 2 & 3)
    };
    assert_eq!(clock("crystal_hz = 16_000_000\n", 1), (16_000_000, 1, 1));
    assert_eq!(clock("crystal_hz = 16_000_000\n", 2), (32_000_000, 1, 2));
    assert_eq!(clock("", 1), (24_000_000, 0, 0));
    assert_eq!(clock("", 2), (24_000_000, 0, 0));
}

#[test]
fn the_system_reset_begins_anew_and_leaves_its_cause() {
    // sw a0, 0(a1): PFIC_CFGR with KEY3; lw a2, 0(a3): RCC_RSTSCKR.
    let mut bench = Bench::words(&[0x00a5_a023], &[("a0", 0xbeef_0080), ("a1", 0xe000_e048)]);
    bench.put(0, &[0xa001]);
    assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!((bench.0.pc(), bench.get("a0")), (0, 0));
    bench.put(0, &[0xa603, 0x0006]);
    bench.set("pc", 0);
    bench.set("a3", 0x4002_1024);
    bench.steps(1);
    assert_eq!(bench.get("a2"), 1 << 28 | 1 << 26);
}

#[test]
fn a_load_from_flash_waits_for_the_fetch() {
    // Ten times lw a0, 0(a1), compressed, from RAM and from flash, without wait states: 2 cycles
    // each, and no more.
    let cycles = |address: u32| {
        let mut bench = Bench::new(&[0x4188; 10], &[("a1", address)]);
        bench.steps(2);
        let begin = bench.0.cycles();
        bench.steps(8);
        bench.0.cycles() - begin
    };
    assert_eq!((cycles(RAM), cycles(0x100)), (16, 16));
}
