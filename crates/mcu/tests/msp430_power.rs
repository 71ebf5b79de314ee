//! What the MSP430F5438A does with its power: where the cycles go, by the status register and the core voltage.

use mcu::{Fault, Machine, Part, Stop, Until, new_machine};

const PC: u16 = 0x6000;
const CLOCK_HZ: u64 = 1_000_000;
const TA0_CTL: u16 = 0x340;
const TA0_CCTL0: u16 = 0x342;
const TA0_CCR0: u16 = 0x352;
/// The vector of TA0's CCR0: number 54.
const TA0_VECTOR: u32 = 0xff80 + 2 * 54;
const LPM0: u16 = 0x18;
const LPM3: u16 = 0xd8;

/// `MOV #value, &register`.
fn mov(value: u16, register: u16) -> Vec<u16> {
    vec![0x40b2, value, register]
}

/// `MOV.B #value, &register`.
fn mov_byte(value: u16, register: u16) -> Vec<u16> {
    vec![0x40f2, value, register]
}

/// `BIS #bits, SR`.
fn sleep(bits: u16) -> Vec<u16> {
    vec![0xd032, bits]
}

/// The watchdog held, then `words` from the flash's 0x6000, then `jmp $`; TA0's interrupt wakes the core for good:
/// `BIC #0xf0, 0(SP)`, `RETI`.
fn machine(words: &[Vec<u16>]) -> Box<dyn Machine> {
    let part = Part::from_toml(include_str!("../../../targets/msp430f5438a.toml")).expect("target file");
    let mut machine = new_machine(&part, CLOCK_HZ).expect("machine");
    let program = [mov(0x5a80, 0x15c), words.concat(), vec![0x3fff]].concat();
    let handler = 0x7000;
    poke(machine.as_mut(), u32::from(PC), &program);
    poke(machine.as_mut(), u32::from(handler), &[0xc0b1, 0x00f0, 0x0000, 0x1300]);
    poke(machine.as_mut(), TA0_VECTOR, &[handler]);
    poke(machine.as_mut(), 0xfffe, &[PC]);
    machine.reset();
    assert!(machine.set_register("sp", 0x4000));
    machine
}

fn poke(machine: &mut dyn Machine, address: u32, words: &[u16]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(address, &bytes));
}

/// TA0 counts ACLK up to `ticks` and round, its interrupt enabled: it comes after `ticks` edges and then every `ticks + 1`.
fn interval(ticks: u16) -> Vec<u16> {
    [mov(ticks, TA0_CCR0), mov(0x10, TA0_CCTL0), mov(0x114, TA0_CTL)].concat()
}

#[test]
fn every_cycle_is_running_or_asleep() {
    let mut machine = machine(&[interval(33), sleep(LPM3), mov(0, TA0_CTL), sleep(LPM0)]);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    let residency = machine.residency();
    // Four MOV of 5 cycles less one, then BIS of 2: the core sleeps from cycle 18 on. The timer has been counting since
    // cycle 16, before the first edge of ACLK: the 33rd comes at cycle ceil(33 * 1e6 / 32768) = 1008.
    assert_eq!(residency.asleep_in("LPM3"), 1008 - 18);
    // Interrupt 6, BIC 5, RETI 5, MOV #0 (constant generator: 4, with a longer form 4), BIS 2.
    assert_eq!(residency.active, [18 + 6 + 5 + 5 + 4 + 2]);
    assert_eq!(residency.cycles(), machine.cycles());
}

#[test]
fn residency_tells_modes_and_levels_apart() {
    let raise = [mov_byte(0xa5, 0x121), mov_byte(1, 0x120)].concat();
    let mut machine = machine(&[interval(100), sleep(LPM0), raise, sleep(LPM3)]);
    // A third interrupt never comes: the core stays at the jump to itself.
    assert_eq!(machine.run(&Until { cycles: Some(4000), ..Until::default() }), Ok(Stop::Cycles));
    let before = machine.residency();
    assert_eq!(before.cycles(), 4000);
    let modes: Vec<_> = before.asleep.iter().map(|line| (line.mode, line.level)).collect();
    assert_eq!(modes, [("LPM0", 0), ("LPM3", 1)]);
    // Edge 100 of ACLK: ceil(100e6 / 32768) = 3052; LPM0 from cycle 18; then interrupt, BIC, RETI, two MOV.B.
    assert_eq!(before.asleep_in("LPM0"), 3052 - 18);
    assert_eq!(before.active, [18 + 6 + 5 + 5 + 4 + 4, 2]);
    assert_eq!(machine.run(&Until { cycles: Some(7000), ..Until::default() }), Ok(Stop::Cycles));
    let residency = machine.residency();
    assert_eq!(residency.cycles(), machine.cycles());
    let since = residency.since(&before);
    assert_eq!(since.cycles(), machine.cycles() - 4000);
    assert_eq!(since.asleep_in("LPM0"), 0);
    // Edge 201: ceil(201e6 / 32768) = 6135.
    assert_eq!(since.asleep_in("LPM3"), 6135 - 4000);
    machine.reset();
    assert_eq!(machine.residency().cycles(), 0);
}

#[test]
fn a_mode_that_the_manual_does_not_have_is_a_fault() {
    // OSCOFF and CPUOFF alone.
    let mut machine = machine(&[interval(33), sleep(0x38)]);
    let fault = machine.run(&Until::default());
    assert!(matches!(fault, Err(Fault::Architecture { .. })), "{fault:?}");
}
