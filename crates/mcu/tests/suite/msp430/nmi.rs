//! User NMI by an oscillator's fault, system NMI by the MSP430FR5994's MPU.
//!
//! Sources: SLAU208 and SLAU367, chapters "Memory Protection Unit" and "System Resets, Interrupts,
//! and Operating Modes".

use super::programs::{mov, poke, register};
use mcu::{Mcu, Part, Until, new_clocked_machine, new_machine};

const PC: u32 = 0x2000;
const ISR: u32 = 0x2800;
/// Two jumps: at a jump to itself the program would have ended.
const END: [u16; 2] = [0x3c00, 0x3ffe];
const SFRIE1: u16 = 0x100;
const UNMI_VECTOR: u32 = 0xfffa;

/// Its handler counts in R9, reads SYSUNIV into R6 and again into R7, then SFRIFG1 into R8. GIE is
/// clear.
fn machine(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    load(&mut *machine, words);
    machine
}

fn load(machine: &mut dyn Mcu, words: &[u16]) {
    poke(machine, PC, &[&mov(0x5a80, 0x015c)[..], words, &END].concat());
    poke(machine, ISR, &[0x5319, 0x4216, 0x019a, 0x4217, 0x019a, 0x4218, 0x0102, 0x1300]);
    poke(machine, UNMI_VECTOR, &[ISR as u16]);
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
}

fn run(machine: &mut dyn Mcu, cycles: u64) {
    machine.run(&Until { cycles: Some(cycles), addresses: Vec::new() }).expect("no fault");
}

/// OFIFG is set by power-up; its oscillators are there at once, so reading SYSUNIV clears it for
/// good.
#[test]
fn ofie_interrupts_without_gie() {
    let part =
        Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file");
    let mut machine = machine(&part, &mov(2, SFRIE1));
    run(&mut *machine, 500);
    let seen = ["r9", "r6", "r7", "r8", "sp"].map(|name| register(&*machine, name));
    assert_eq!(seen, [1, 4, 0, 0, 0x3000]);
    let mut idle = self::machine(&part, &[&mov(0, 0x102)[..], &mov(2, SFRIE1)].concat());
    run(&mut *idle, 500);
    assert_eq!(register(&*idle, "r9"), 0, "no fault, no interrupt");
}

/// The MSP430F5438A's loop stands at its lowest tap for some ten milliseconds: the flag stays, and
/// the interrupt comes again, but not within itself.
#[test]
fn a_fault_that_stays_interrupts_after_reti() {
    let part = super::programs::part();
    let mut machine = new_clocked_machine(&part, None).expect("machine");
    load(&mut *machine, &mov(2, SFRIE1));
    run(&mut *machine, 1_000);
    let [count, first, again, flags, sp] =
        ["r9", "r6", "r7", "r8", "sp"].map(|name| register(&*machine, name));
    assert_eq!((first, again, flags), (4, 4, 2), "{count}, {sp:#x}");
    assert!(count > 5 && sp >= 0x3000 - 4, "{count}, {sp:#x}");
}

const MPUCTL0: u16 = 0x5a0;
const MPUCTL1: u16 = 0x5a2;
const MPUSEGB2: u16 = 0x5a4;
const MPUSEGB1: u16 = 0x5a6;
const MPUSAM: u16 = 0x5a8;

/// As TI's msp430fr599x_mpu_01.c: borders at 0x6000 and 0x8000; segments 1 and 2 can be read and
/// executed; `access` is for segment 3 and the information memory.
fn protected(enable: u16, access: u16, words: &[u16]) -> Box<dyn Mcu> {
    let part =
        Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file");
    let set_up = [
        &mov(0xa500, MPUCTL0)[..],
        &mov(0x600, MPUSEGB1),
        &mov(0x800, MPUSEGB2),
        &mov(access << 8 | 0x55, MPUSAM),
        &mov(0xa500 | enable, MPUCTL0),
        words,
    ];
    let mut machine = machine(&part, &set_up.concat());
    // The handler counts in R9, reads SYSSNIV into R6 and again into R7, then MPUCTL1 into R8.
    poke(&mut *machine, ISR, &[0x5319, 0x4216, 0x019c, 0x4217, 0x019c, 0x4218, 0x05a2, 0x1300]);
    poke(&mut *machine, 0xfffc, &[ISR as u16]);
    machine
}

/// A write into a segment without MPUSEGxWE is left out, and the system NMI comes with MPUSEGIE;
/// elsewhere nothing is different.
#[test]
fn the_mpu_keeps_segments_from_being_written() {
    for (address, access, number) in
        [(0x5ffe, 0x77, 0x0c), (0x6000, 0x77, 0x0e), (0x8000, 0x75, 0x10), (0x1900, 0x57, 0x0a)]
    {
        let mut machine = protected(0x11, access, &mov(0x88, address));
        run(&mut *machine, 500);
        let seen = ["r9", "r6", "r7", "r8", "sp"].map(|name| register(&*machine, name));
        assert_eq!(seen, [1, number, 0, 0, 0x3000], "{address:#x}");
        let mut bytes = [0; 2];
        assert!(machine.peek(address.into(), &mut bytes));
        assert_ne!(bytes, [0x88, 0], "{address:#x}");
    }
    for address in [0x8000, 0x1900, 0x2f00] {
        let mut machine = protected(0x11, 0x77, &mov(0x88, address));
        run(&mut *machine, 500);
        let mut bytes = [0; 2];
        assert!(machine.peek(address.into(), &mut bytes));
        assert_eq!((register(&*machine, "r9"), bytes), (0, [0x88, 0]), "{address:#x}");
    }
    // Without MPUSEGIE the flag alone, which stays until it is cleared.
    let read = [&mov(0x88, 0x6000)[..], &[0x4215, MPUCTL1], &mov(0, MPUCTL1), &[0x4218, MPUCTL1]].concat();
    let mut machine = protected(1, 0x77, &read);
    run(&mut *machine, 500);
    assert_eq!(["r5", "r8", "r9"].map(|name| register(&*machine, name)), [2, 0, 0]);
}

/// Settings of the MPU without a model, and settings that its locks hold.
#[test]
fn mpu_refuses_unmodelled_settings() {
    for (enable, access, words, said) in [
        (1, 0x73, Vec::new(), "cannot be executed"),
        (1, 0x7d, mov(1, 0x9000).to_vec(), "MPUSEGxVS"),
        (3, 0x77, mov(0x7777, MPUSAM).to_vec(), "MPULOCK"),
        (1, 0x77, mov(0x40, 0x5aa).to_vec(), "encapsulation"),
    ] {
        let mut machine = protected(enable, access, &words);
        let until = Until { cycles: Some(500), addresses: Vec::new() };
        let fault = machine.run(&until).expect_err(said).to_string();
        assert!(fault.contains(said), "{fault}");
    }
}

/// The NMI pin and access violations have no model.
#[test]
fn other_interrupts_of_sfrie1_are_refused() {
    for bit in [0x10, 0x20] {
        let mut machine = machine(&super::programs::part(), &mov(bit, SFRIE1));
        let said = machine.run(&Until { cycles: Some(500), addresses: Vec::new() }).unwrap_err().to_string();
        assert!(said.contains("only WDTIE and OFIE"), "{said}");
    }
}
