//! The real-time clocks of the MSP430F5438A (RTC_A) and the MSP430FR5994 (RTC_C).

use super::programs::{mov, mov_byte, poke, register};
use mcu::{Mcu, Part, Stop, Until, new_machine};

const PC: u32 = 0x2000;
/// Two jumps: at a jump to itself the program would have ended.
const END: [u16; 2] = [0x3c00, 0x3ffe];
const RTC: u16 = 0x04a0;
const PS1CTL: u16 = RTC + 0x0a;
const IV: u16 = RTC + 0x0e;
const TIM0: u16 = RTC + 0x10;
const TIM1: u16 = RTC + 0x12;
const DATE: u16 = RTC + 0x14;
const YEAR: u16 = RTC + 0x16;
const AMINHR: u16 = RTC + 0x18;

fn f5438a() -> Part {
    super::programs::part()
}

fn fr5994() -> Part {
    Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file")
}

fn machine(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    poke(&mut *machine, PC, &[&mov(0x5a80, 0x015c)[..], words, &END].concat());
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    machine
}

/// Runs on for so long, then reads a register.
fn after(machine: &mut dyn Mcu, cycles: u64, address: u16) -> u32 {
    let cycle = machine.cycles() + cycles;
    at(machine, cycle, address)
}

/// Runs on to a cycle, then reads a register.
fn at(machine: &mut dyn Mcu, cycle: u64, address: u16) -> u32 {
    machine.run(&Until { cycles: Some(cycle), addresses: Vec::new() }).expect("no fault");
    poke(machine, PC + 0x400, &[&[0x4215, address][..], &END].concat());
    machine.set_pc(PC + 0x400);
    let until = Until { cycles: Some(machine.cycles() + 20), addresses: Vec::new() };
    machine.run(&until).expect("no fault");
    register(machine, "r5")
}

/// 23:59:59 on the last day of 2026, a Saturday.
fn new_year(bcd: bool) -> Vec<u16> {
    let words = if bcd { [0x5959, 0x0623, 0x1231, 0x2026] } else { [0x3b3b, 0x0617, 0x0c1f, 2026] };
    [mov(words[0], TIM0), mov(words[1], TIM1), mov(words[2], DATE), mov(words[3], YEAR)].concat()
}

/// SLAU208, RTC_A: RTCMODE; a second is 32,768 periods of ACLK.
#[test]
fn a_second_changes_all() {
    for (bcd, control, year) in [(false, 0x2000, 2027), (true, 0xa000, 0x2027)] {
        let words = [&mov(control | 0x4000, RTC)[..], &new_year(bcd), &mov(control, RTC)].concat();
        let mut machine = machine(&f5438a(), &words);
        assert_eq!(after(&mut *machine, 990_000, TIM0), if bcd { 0x5959 } else { 0x3b3b });
        assert_eq!(after(&mut *machine, 12_000, TIM0), 0);
        let read = [TIM1, DATE, YEAR].map(|register| after(&mut *machine, 10, register));
        assert_eq!(read, [0, 0x0101, year]);
        // RTCTEVIFG for the minute, and RTCRDYIFG, 64 periods after the change.
        assert_eq!(after(&mut *machine, 10, RTC) & 0x100f, 0x1005);
    }
    // RTCBCD and RTCMODE, when they change, begin anew.
    let words = [&mov(0x6000, RTC)[..], &new_year(false), &mov(0xe000, RTC)].concat();
    assert_eq!(after(&mut *machine(&f5438a(), &words), 100, DATE), 0x0101);
    // RTCHOLD stops it.
    let words = [&mov(0x6000, RTC)[..], &new_year(false)].concat();
    assert_eq!(after(&mut *machine(&f5438a(), &words), 3_000_000, TIM0), 0x3b3b);
}

/// RTCRDY falls 64 periods of ACLK before the second changes; RTCIV names RTCRDYIFG, RTCTEVIFG and
/// RTCAIFG with 2, 4 and 6.
#[test]
fn the_time_can_be_read_outside_the_keep_out_window() {
    let start = [&mov(0x6000, RTC)[..], &new_year(false), &mov(0x80, AMINHR), &mov(0x2070, RTC)].concat();
    let mut machine = machine(&f5438a(), &start);
    // The clock begins at cycle 32, after the first period; 32,768 - 64 more end at cycle 998,078,
    // 64 after the change at 1,001,984.
    assert_eq!(at(&mut *machine, 998_000, RTC) & 0x1000, 0x1000);
    // It has been so since the beginning of the second.
    assert_eq!(after(&mut *machine, 10, IV), 2);
    assert_eq!(at(&mut *machine, 998_150, RTC) & 0x1000, 0);
    assert_eq!(at(&mut *machine, 1_001_900, RTC) & 0x1007, 6);
    assert_eq!(at(&mut *machine, 1_002_050, RTC) & 0x1007, 0x1007);
    assert_eq!([0; 4].map(|_| after(&mut *machine, 10, IV)), [2, 4, 6, 0]);
}

/// RT1PS counts 128 Hz: RT1IP_6 is a second. It wakes from LPM3, and RTCIV says 10.
#[test]
fn a_prescaler_wakes_the_core() {
    let words = [&mov(0x2000, RTC)[..], &mov(0x001a, PS1CTL), &[0xd032, 0x00d8]].concat();
    let mut machine = machine(&f5438a(), &words);
    // MOV &RTCIV, R6; INC R7; RETI.
    poke(&mut *machine, 0x2200, &[0x4216, IV, 0x5317, 0x1300]);
    // SLAS655, "Interrupt Vector Addresses": 0xffd2.
    poke(&mut *machine, 0xffd2, &[0x2200]);
    let until = Until { cycles: Some(3_500_000), addresses: Vec::new() };
    assert_eq!(machine.run(&until), Ok(Stop::Cycles));
    assert_eq!((register(&*machine, "r6"), register(&*machine, "r7")), (10, 3));
}

/// Counter mode: from SMCLK, and behind both prescalers; RTCTEVx = 0 is the overflow of eight bits.
#[test]
fn rtc_a_counts() {
    // As a timer: the counter starts at cycle 8 and is read in the third cycle of the next MOV.
    let r5 = |words: &[u16]| {
        let mut machine = machine(&f5438a(), words);
        machine.run(&Until { cycles: Some(50_000), addresses: Vec::new() }).expect("no fault");
        register(&*machine, "r5")
    };
    let read = |register: u16| [0x4215, register];
    assert_eq!(r5(&[&mov(0x0400, RTC)[..], &[0x4303; 20], &read(TIM0)].concat()), 23);
    // SMCLK an eighth of MCLK (DIVS = 3) from cycle 8 on.
    let eighth = [mov(0x30, 0x16a), mov(0x0400, RTC)].concat();
    assert_eq!([16, 17].map(|nops| r5(&[&eighth[..], &vec![0x4303; nops], &read(TIM0)].concat())), [2, 3]);
    assert_eq!(r5(&[&mov(0x0400, RTC)[..], &[0x4303; 252], &read(RTC)].concat()) & 4, 0);
    assert_eq!(r5(&[&mov(0x0400, RTC)[..], &[0x4303; 253], &read(RTC)].concat()) & 4, 4);
    // RT0PS from SMCLK by 4, RT1PS from that by 2: the counter counts every eighth cycle. RT0PS is
    // let go last.
    let cascade =
        [&mov(0x8000, PS1CTL)[..], &mov(0x0800, RTC), &mov(0x4800, RTC + 8), &[0x4303; 45]].concat();
    assert_eq!(r5(&[&cascade[..], &read(TIM0)].concat()), 48 / 8);
    assert_eq!(r5(&[&cascade[..], &read(RTC + 0xc)].concat()), 48 / 4 << 8 | 48);
    // 32 bits, of which RTCTIM1 is the upper half.
    let set = [mov(0x4400, RTC), mov(0xfff0, TIM0), mov(1, TIM1), mov(0x0400, RTC)].concat();
    assert_eq!(r5(&[&set[..], &[0x4303; 20], &read(TIM1)].concat()), 2);
}

/// SLAU367, RTC_C: behind a key; an alarm at 00:00; RTCIV says 8 of it; conversions.
#[test]
fn rtc_c_wants_its_key() {
    let run =
        |words: &[u16]| machine(&fr5994(), words).run(&Until { cycles: Some(1_000), addresses: Vec::new() });
    assert!(run(&mov(0x20, RTC + 2)).expect_err("locked").to_string().contains("0xa5"));
    assert!(run(&mov_byte(0x10, RTC)).expect_err("locked").to_string().contains("locked"));
    let unlocked =
        [&mov(0xa500, RTC)[..], &mov(0x0060, RTC + 2), &new_year(false), &mov(0x8080, AMINHR)].concat();
    let start =
        [&unlocked[..], &mov_byte(0x20, RTC), &mov_byte(0x20, RTC + 2), &mov_byte(0, RTC + 1)].concat();
    // It counts the crystal itself, also where ACLK is half of it (CSCTL3, DIVA = 1).
    let halved = [&mov(0xa500, 0x160)[..], &mov(0x133, 0x166), &start].concat();
    assert_eq!(at(&mut *machine(&fr5994(), &halved), 1_000_200, YEAR), 2027);
    let mut machine = machine(&fr5994(), &start);
    assert_eq!(after(&mut *machine, 100, RTC), 0x9620);
    assert_eq!(at(&mut *machine, 1_000_100, YEAR), 2027);
    assert_eq!([0; 2].map(|_| after(&mut *machine, 10, IV)), [8, 0]);
    let converted = |value: u16, register: u16| {
        after(&mut *self::machine(&fr5994(), &mov(value, register)), 100, register)
    };
    assert_eq!(converted(2026, RTC + 0x1c), 0x2026);
    assert_eq!(converted(0x2026, RTC + 0x1e), 2026);
}

#[test]
fn calibration_is_refused() {
    let run = |part: &Part, words: &[u16]| {
        machine(part, words)
            .run(&Until { cycles: Some(1_000), addresses: Vec::new() })
            .expect_err("a fault")
            .to_string()
    };
    assert!(run(&f5438a(), &mov(0x0081, RTC + 2)).contains("calibration"));
    assert!(run(&fr5994(), &[mov(0xa500, RTC), mov(0x8001, RTC + 4)].concat()).contains("calibration"));
    assert!(run(&fr5994(), &[mov(0xa500, RTC), mov(0x0160, RTC + 2)].concat()).contains("RTCCLK"));
}
