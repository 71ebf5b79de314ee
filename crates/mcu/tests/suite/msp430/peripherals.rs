//! The peripherals of the MSP430F5438A, driven by instructions as firmware drives them.

use super::programs::{HOLD, mov, mov_byte, part};
use mcu::{Fault, Mcu, Observer, Part, PinEdge, Stop, Until, new_clocked_machine, new_machine};

const PC: u32 = 0x2000;
/// `jmp $`.
const END: u16 = 0x3fff;

/// `MOV &register, R5`.
fn read(register: u16) -> [u16; 2] {
    [0x4215, register]
}

fn machine(words: &[u16]) -> Box<dyn Mcu> {
    let part = part();
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let bytes: Vec<u8> = words.iter().chain(&[END]).flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(PC, &bytes));
    assert!(machine.set_register("sp", 0x4000) && machine.set_register("pc", PC));
    machine
}

/// Runs to the end, with the watchdog held, and gives R5.
fn r5(words: &[u16]) -> u32 {
    let mut machine = machine(&[words, &HOLD].concat());
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine.registers().into_iter().find(|(name, _)| name == "r5").expect("R5").1
}

fn fault(words: &[u16]) -> String {
    let result = machine(words).run(&Until::default());
    match result {
        Err(fault @ Fault::Peripheral { .. }) => fault.to_string(),
        other => panic!("no fault: {other:?}"),
    }
}

#[derive(Default)]
struct Seen {
    edges: Vec<(String, u8, bool, u64)>,
    bytes: Vec<(String, u8, u64)>,
}

impl Observer for Seen {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.edges.push((edge.port.to_string(), edge.pin, edge.high, edge.cycles));
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.bytes.push((port.to_string(), byte, cycles));
    }
}

#[test]
fn the_watchdog_wants_words_and_bites() {
    assert_eq!(r5(&[&mov(0x5a80, 0x15c)[..], &read(0x15c)].concat()), 0x6980);
    assert!(fault(&mov_byte(0x80, 0x15c)).contains("words only"));
    // Left alone it expires after 2^15 cycles of SMCLK: DEC R6 and JMP take three.
    // What it resets to reads the cause, SYSRSTIV_WDTTO, then nothing.
    let mut machine = machine(&[0x8316, 0x3ffe]);
    let begin = [&read(0x19e)[..], &[0x4506], &read(0x19e), &HOLD, &[END]].concat();
    let bytes: Vec<u8> = begin.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(0x3000, &bytes) && machine.poke(0xfffe, &[0x00, 0x30]));
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert!((32_768..32_800).contains(&machine.cycles()), "{}", machine.cycles());
    let registers = machine.registers();
    let value = |name: &str| registers.iter().find(|(register, _)| register == name).map(|(_, value)| *value);
    assert_eq!((value("r6"), value("r5")), (Some(0x16), Some(0)));
}

/// WDTKEY, KEYV and PMMKEY of SYSRSTIV, and the MSP430FR5994's WDTPW, FRCTLPW, PMMPW, MPUPW and
/// CSPW. RAM holds the program through the reset, which reads SYSRSTIV twice.
#[test]
fn write_without_the_password_resets_and_names_the_module() {
    let other =
        Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file");
    let f5438a = [(0x15c, 0x18), (0x140, 0x1a), (0x120, 0x20)];
    let fr5994 = [(0x15c, 0x18), (0x140, 0x1a), (0x120, 0x20), (0x5a0, 0x22), (0x160, 0x24)];
    for (part, registers) in [(part(), &f5438a[..]), (other, &fr5994)] {
        for (register, cause) in registers {
            let mut machine = new_machine(&part, 1_000_000).expect("machine");
            let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
            let begin = [&read(0x19e)[..], &[0x4506], &read(0x19e), &HOLD, &[END]].concat();
            assert!(machine.poke(PC, &bytes(&[&mov(0x1200, *register)[..], &[END]].concat())));
            assert!(machine.poke(0x2800, &bytes(&begin)) && machine.poke(0xfffe, &[0x00, 0x28]));
            assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
            assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted), "{register:#x}");
            let registers = machine.registers();
            let value =
                |name: &str| registers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            assert_eq!((value("r6"), value("r5")), (Some(*cause), Some(0)), "{} {register:#x}", part.name);
        }
    }
}

#[test]
fn the_program_can_ask_for_a_reset() {
    // PMMSWBOR.
    let mut machine = machine(&mov(0xa504, 0x120));
    let bytes: Vec<u8> =
        [&read(0x19e)[..], &HOLD, &[END]].concat().iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(0x3000, &bytes) && machine.poke(0xfffe, &[0x00, 0x30]));
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    let registers = machine.registers();
    assert!(registers.contains(&("r5".to_string(), 6)), "SYSRSTIV_DOBOR: {registers:?}");
}

#[test]
fn the_core_voltage_rises_step_by_step() {
    // SLAU208, "Increasing VCORE": unlock, levels, wait for the flags, PMMCOREV = 1, lock.
    let raise = [
        &mov_byte(0xa5, 0x121)[..],
        &mov(0x4501, 0x124),
        &mov(0x4401, 0x126),
        &mov(0, 0x12c),
        &mov_byte(1, 0x120),
    ]
    .concat();
    assert_eq!(r5(&[&raise[..], &read(0x12c)].concat()) & 4, 4, "SVMLVLRIFG");
    assert_eq!(r5(&[&raise[..], &read(0x120)].concat()), 0x9601);
    assert!(fault(&[&mov_byte(0xa5, 0x121)[..], &mov_byte(2, 0x120)].concat()).contains("one step"));
    assert!(fault(&mov(0x4501, 0x124)).contains("locked"));
}

#[test]
fn clock_registers_read_back_modelled_settings() {
    assert_eq!(r5(&[&mov(0x244, 0x168)[..], &read(0x168)].concat()), 0x244);
    assert_eq!(r5(&[&mov(0x114, 0x168)[..], &read(0x168)].concat()), 0x114);
    assert_eq!(r5(&[&mov(0x0110, 0x16a)[..], &read(0x16a)].concat()), 0x0110);
    // Fault flags stay clear once cleared.
    assert_eq!(r5(&[&mov(0, 0x16e)[..], &read(0x16e)].concat()), 0);
}

/// SLAU208, FLL: DCOx and MODx, as one number, move by one in each period of the reference, of 32
/// cycles at 1,048,576 Hz; DCOFFG is set at the lowest tap, and OFIFG stays set with it. After 32 x
/// 32 periods the loop has settled.
#[test]
fn the_loop_settles_tap_by_tap() {
    let after = |periods: u64, words: &[u16]| {
        let mut machine = new_clocked_machine(&part(), None).expect("machine");
        let run = |machine: &mut dyn Mcu, words: &[u16], cycles: u64| {
            // Two jumps: at a jump to itself the program would have ended.
            let words = [&mov(0x5a80, 0x15c)[..], words, &[0x3c00, 0x3ffe]].concat();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(machine.poke(PC, &bytes) && machine.set_register("sp", 0x4000));
            machine.set_pc(PC);
            let until = Until { cycles: Some(machine.cycles() + cycles), addresses: Vec::new() };
            assert_eq!(machine.run(&until), Ok(Stop::Cycles));
        };
        run(&mut *machine, &[], 32 * periods);
        run(&mut *machine, words, 30);
        machine.registers().into_iter().find(|(name, _)| name == "r5").expect("R5").1
    };
    let cleared = [&mov(0, 0x16e)[..], &mov(0, 0x102)].concat();
    assert_eq!(after(10, &read(0x160)), 10 << 3);
    assert_eq!(after(100, &read(0x160)), 3 << 8 | 4 << 3);
    assert_eq!(after(30, &[&cleared[..], &read(0x102)].concat()), 2);
    assert_eq!(after(30, &[&cleared[..], &read(0x16e)].concat()), 1);
    assert_eq!(after(33, &[&cleared[..], &read(0x102)].concat()), 0);
    assert_eq!(after(33, &read(0x102)), 2, "it stays set until it is cleared");
    assert_eq!(after(1024, &read(0x160)), after(2000, &read(0x160)));
    // By hand back to the lowest tap.
    let by_hand = [&mov(0, 0x160)[..], &cleared, &read(0x16e)].concat();
    assert_eq!(after(1024, &by_hand), 1);
}

#[test]
fn ports_drive_their_pins() {
    // P2DIR (0x205) = 0x03; P2OUT (0x203) = 0x05: only bit 0 is driven; then both ports by words.
    let words = [
        &mov(0x5a80, 0x15c)[..],
        &mov_byte(0x03, 0x205),
        &mov_byte(0x05, 0x203),
        &mov_byte(0x01, 0x204),
        &mov(0x0201, 0x202),
        &read(0x200),
    ]
    .concat();
    let mut machine = machine(&words);
    let mut seen = Seen::default();
    assert_eq!(machine.run_observed(&Until::default(), &mut seen), Ok(Stop::Halted));
    // Each MOV takes 4 cycles and writes in its last.
    let expected = [("P2", 0, true, 12), ("P1", 0, true, 20), ("P2", 0, false, 20), ("P2", 1, true, 20)];
    let edges: Vec<_> =
        seen.edges.iter().map(|(port, pin, high, at)| (port.as_str(), *pin, *high, *at)).collect();
    assert_eq!(edges, expected);
    assert_eq!(r5(&words), 0x0201, "P2IN and P1IN read the pins driven");
    assert!(fault(&mov_byte(1, 0x23a)).contains("no interrupts"));
    assert!(fault(&read(0x210)).contains("not modelled"));
}

#[test]
fn a_uart_sends_at_its_rate() {
    // SMCLK 1 MHz, UCBR = 104, UCBRS = 1: 104 clocks a bit, one more in bits 1 and 9: 1042 a frame.
    let words = [
        &mov(0x5a80, 0x15c)[..],
        &mov_byte(0x81, 0x5c0),
        &mov_byte(104, 0x5c6),
        &mov_byte(0x02, 0x5c8),
        &mov_byte(0x80, 0x5c0),
        &mov_byte(0x55, 0x5ce),
        &mov_byte(0xaa, 0x5ce),
    ]
    .concat();
    let mut machine = machine(&words);
    let mut seen = Seen::default();
    let until = Until { cycles: Some(3000), addresses: Vec::new() };
    // Interrupts are off, so that the program has ended at its last jump: stay in a loop of two
    // jumps.
    assert!(machine.poke(PC + 42, &[0x00, 0x3c, 0xfe, 0x3f]));
    assert_eq!(machine.run_observed(&until, &mut seen), Ok(Stop::Cycles));
    // The sixth MOV ends at cycle 24.
    assert_eq!(seen.bytes, [("UCA0".into(), 0x55, 24 + 1042), ("UCA0".into(), 0xaa, 24 + 2 * 1042)]);
}

/// `BR #0x0350`: TA0R.
#[test]
fn a_fetch_from_registers_names_the_peripheral() {
    let said = machine(&[0x4030, 0x0350]).run(&Until::default()).expect_err("a fault").to_string();
    assert!(said.contains("registers of TA0") && said.contains("pc 0x00350"), "{said}");
}

#[test]
fn timers_count_their_clocks() {
    let start = |control: u16| [&mov(0x5a80, 0x15c)[..], &mov(9, 0x392), &mov(control, 0x380)].concat();
    // Continuous from SMCLK: the counter is cleared at cycle 12 and read in the third cycle of the
    // next MOV.
    assert_eq!(r5(&[&start(0x0224)[..], &read(0x390)].concat()), 3);
    // SMCLK / 8 (ID = 3), after 16 more cycles of NOP.
    assert_eq!(r5(&[&start(0x02e4)[..], &[0x4303; 16], &read(0x390)].concat()), 2);
    // Up to 9 and round: 3 + 20 clocks later.
    assert_eq!(r5(&[&start(0x0214)[..], &[0x4303; 20], &read(0x390)].concat()), 3);
    // TAIFG and CCR0's CCIFG came by.
    assert_eq!(r5(&[&start(0x0214)[..], &[0x4303; 20], &read(0x380)].concat()), 0x0211);
    assert_eq!(r5(&[&start(0x0214)[..], &[0x4303; 20], &read(0x382)].concat()), 1);
    assert_eq!(r5(&[&start(0x0214)[..], &read(0x382)].concat()), 0);
    // Up to 9 and down again: three clocks, fifteen of eighteen, five of the next eighteen.
    let after =
        |nops: usize, register| r5(&[&start(0x0234)[..], &vec![0x4303; nops], &read(register)].concat());
    assert_eq!([0, 12, 20].map(|nops| after(nops, 0x390)), [3, 3, 5]);
    // CCR0's CCIFG comes at the top, TAIFG at the bottom.
    assert_eq!([5, 6, 12].map(|nops| after(nops, 0x382)), [0, 1, 1]);
    assert_eq!([12, 14, 15].map(|nops| after(nops, 0x380)), [0x0230, 0x0230, 0x0231]);
    // On the way down the counter goes on down where settings change: here CCR1's.
    let down = [&start(0x0234)[..], &[0x4303; 8], &mov(7, 0x394), &read(0x390)].concat();
    assert_eq!(r5(&down), 3);
    let beyond = [&start(0x0224)[..], &[0x4303; 20], &mov(0x0230, 0x380)].concat();
    assert!(fault(&beyond).contains("beyond CCR0"));
}

#[test]
fn timer_b_may_be_shorter() {
    // Continuous from SMCLK with eight bits (CNTL = 3), then with ten.
    let after = |control: u16, nops: usize| {
        let start = [&mov(0x5a80, 0x15c)[..], &mov(control, 0x3c0)].concat();
        r5(&[&start[..], &vec![0x4303; nops], &read(0x3d0)].concat())
    };
    assert_eq!([after(0x1a24, 250), after(0x1a24, 260)], [253, 7]);
    assert_eq!([after(0x1224, 260), after(0x1224, 1030)], [263, 9]);
    assert!(fault(&mov(0x2000, 0x3c0)).contains("groups of compare latches"));
    assert!(fault(&mov(0x0200, 0x3c2)).contains("compare latches"));
}

/// SLAU208, "CRC Module", assembler examples: 0x89f6 by CRCDI, 0x29b1 by CRCDIRB. The digits as
/// words by CRCDIRB: read on an MSP430F5438A (TI's E2E forum, thread 373270).
#[test]
fn the_crc_module_signs_the_nine_digits() {
    let bytes = |register: u16| {
        let words: Vec<u16> = (0x31..0x3a).flat_map(|digit| mov_byte(digit, register)).collect();
        [&mov(0xffff, 0x154)[..], &words].concat()
    };
    assert_eq!(r5(&[&bytes(0x150)[..], &read(0x154)].concat()), 0x89f6);
    assert_eq!(r5(&[&bytes(0x152)[..], &read(0x154)].concat()), 0x29b1);
    let words: Vec<u16> = (0x31..0x3a).flat_map(|digit| mov(digit, 0x152)).collect();
    let signed = [&mov(0xffff, 0x154)[..], &words].concat();
    assert_eq!(r5(&[&signed[..], &read(0x154)].concat()), 0x4d64);
    assert_eq!(r5(&[&signed[..], &read(0x156)].concat()), 0x26b2);
}

#[test]
fn aclk_ticks_at_32768_hz() {
    // At 1 MHz the first edge of ACLK comes by cycle 31, the second by 62: 24 NOPs, then the
    // counter at cycle 12+24+3.
    let start = [&mov(0x5a80, 0x15c)[..], &mov(9, 0x392), &mov(0x0124, 0x380)].concat();
    assert_eq!(r5(&[&start[..], &[0x4303; 15], &read(0x390)].concat()), 0);
    assert_eq!(r5(&[&start[..], &[0x4303; 16], &read(0x390)].concat()), 1);
    assert_eq!(r5(&[&start[..], &[0x4303; 46], &read(0x390)].concat()), 1);
    assert_eq!(r5(&[&start[..], &[0x4303; 47], &read(0x390)].concat()), 2);
}

/// SLAU208, MPY32: a 16×16-bit result is there for the next instruction, unless that reads it in
/// indirect mode.
#[test]
fn the_multiplier_is_read_in_time_or_not_at_all() {
    let multiply = [&mov(1234, 0x4c0)[..], &mov(567, 0x4c8)].concat();
    assert_eq!(r5(&[&multiply[..], &read(0x4ca)].concat()), (1234 * 567) & 0xffff);
    let pointer = [0x4036, 0x04ca];
    let indirect = [&pointer[..], &multiply, &[0x4625]].concat();
    assert!(fault(&indirect).contains("RESLO is read 1 cycle(s) before it is there"));
    let with_nop = [&pointer[..], &multiply, &[0x4303, 0x4625]].concat();
    assert_eq!(r5(&with_nop), (1234 * 567) & 0xffff);
    let indexed = [&pointer[..], &multiply, &[0x4615, 0]].concat();
    assert_eq!(r5(&indexed), (1234 * 567) & 0xffff);
}

#[test]
fn without_a_multiplier_its_registers_are_not_there() {
    let text = include_str!("../../../../../targets/msp430f5438a.toml");
    let mut part = Part::from_toml(text).expect("target file");
    part.peripherals.retain(|spec| spec.model != "mpy32");
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let bytes: Vec<u8> = mov(1, 0x4c0).iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(PC, &bytes) && machine.set_register("pc", PC));
    let unmapped = machine.run(&Until::default());
    assert!(matches!(unmapped, Err(Fault::Unmapped { address: 0x4c0, .. })), "{unmapped:?}");
}
