//! Flash of the STM32L4+ (RM0432, section 3).
//!
//! It has double words, pages and banks, and operations beside the core.

use super::programs;
use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::{FlashChange, FlashStore, Mcu, ResetCause, Until, new_clocked_machine, new_machine};

const TARGET: &str = "stm32l4r5";
const FLASH: u32 = 0x4002_2000;
const KEYR: u32 = FLASH + 0x08;
const SR: u32 = FLASH + 0x10;
const CR: u32 = FLASH + 0x14;
const ECCR: u32 = FLASH + 0x18;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

const PG: u32 = 1 << 0;
const PER: u32 = 1 << 1;
const MER1: u32 = 1 << 2;
const BKER: u32 = 1 << 11;
const MER2: u32 = 1 << 15;
const STRT: u32 = 1 << 16;
const EOPIE: u32 = 1 << 24;
const ERRIE: u32 = 1 << 25;
const LOCKS: u32 = 3 << 30;

const EOP: u32 = 1 << 0;
const OPERR: u32 = 1 << 1;
const PROGERR: u32 = 1 << 3;
const PGAERR: u32 = 1 << 5;
const SIZERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const BSY: u32 = 1 << 16;

/// In bank 1, where the programs are, its page 8; in bank 2, its page 3.
const HERE: u32 = 0x0800_8000;
const THERE: u32 = 0x0810_3000;
/// DWT_CYCCNT, once it has been switched on.
const CYCLES: u32 = 0xe000_1004;
/// Nanoseconds of a double word, of a page, of a bank.
const PROGRAM: u64 = 81_690;
const ERASE: u64 = 22_020_000;
const MASS: u64 = 22_130_000;

/// Bits of CR for a page of a bank.
fn page(number: u32, bank: u32) -> u32 {
    number << 3 | bank | PER
}

fn cycles(machine: &dyn Mcu, nanoseconds: u64) -> u64 {
    nanoseconds * machine.clock_hz() / 1_000_000_000
}

/// CYCCNT on, the lock open.
fn begin() -> Vec<Step> {
    let mut steps = vec![Step::Write(0xe000_edfc, 1 << 24), Step::Write(0xe000_1000, 1)];
    steps.extend(KEYS.map(|key| Step::Write(KEYR, key)));
    steps
}

fn kept(machine: &dyn Mcu, count: u32) -> Vec<u32> {
    (0..count).map(|index| word(machine, KEPT + 4 * index)).collect()
}

fn unlocked() -> Bench {
    let mut bench = Bench::new(TARGET);
    assert_eq!(bench.read(CR), LOCKS);
    bench.write(CR, PG);
    assert_eq!(bench.read(CR), LOCKS, "locked");
    KEYS.iter().for_each(|key| bench.write(KEYR, *key));
    assert_eq!(bench.read(CR), 1 << 30);
    bench
}

/// A store into flash, as the core has it.
fn store(bench: &mut Bench, address: u32, size: u8, value: u32, before: u32) -> FlashChange {
    let store = FlashStore { pc: 0x0800_0000, from_flash: true, address, size, value, before };
    bench.bus.flash_store(&store, bench.now, None).expect("no fault")
}

/// SR, whose flags are cleared then.
fn flags(bench: &mut Bench) -> u32 {
    let flags = bench.read(SR);
    bench.write(SR, flags);
    flags
}

/// Code in bank 1 erases a page there and programs a double word: it stands still meanwhile, and
/// finds BSY clear. Nothing else has changed.
#[test]
fn code_waits_for_its_own_bank() {
    let mut steps = begin();
    steps.extend([
        Step::Write(CR, page(8, 0)),
        Step::Copy(KEPT, CYCLES),
        Step::Write(CR, page(8, 0) | STRT),
        Step::Copy(KEPT + 4, CYCLES),
        Step::Copy(KEPT + 8, SR),
        Step::Copy(KEPT + 12, CR),
        Step::Write(CR, PG),
        Step::Write(HERE + 8, 0x1234_5678),
        Step::Copy(KEPT + 16, CYCLES),
        Step::Write(HERE + 12, 0x9abc_def0),
        Step::Copy(KEPT + 20, CYCLES),
        Step::Copy(KEPT + 24, SR),
        Step::Write(CR, LOCKS),
        Step::Copy(KEPT + 28, CR),
        Step::Copy(KEPT + 32, HERE + 12),
    ]);
    let mut machine = machine(TARGET, &steps);
    for (offset, value) in [(-1, 0x11), (0, 0x22), (0xfff, 0x33), (0x1000, 0x44)] {
        assert!(machine.poke(HERE.wrapping_add_signed(offset), &[value]));
    }
    let (erase, program) = (cycles(&*machine, ERASE), cycles(&*machine, PROGRAM));
    run(&mut *machine, erase + program + 10_000);
    let kept = kept(&*machine, 9);
    assert!(u64::from(kept[1] - kept[0]).abs_diff(erase) < 50, "{kept:x?}");
    assert!(u64::from(kept[5] - kept[4]).abs_diff(program) < 50, "{kept:x?}");
    assert_eq!(kept[2..4], [0, 1 << 30 | page(8, 0)], "no BSY, no EOP without EOPIE, no STRT");
    assert_eq!(kept[6..], [0, LOCKS, 0x9abc_def0]);
    let words = [-4, 0, 8, 12, 0xffc, 0x1000].map(|offset| word(&*machine, HERE.wrapping_add_signed(offset)));
    assert_eq!(words, [0x11ff_ffff, u32::MAX, 0x1234_5678, 0x9abc_def0, u32::MAX, 0xffff_ff44]);
}

/// Section 3.3.6: code in bank 1 goes on beside an operation in bank 2, with BSY set; a read of
/// bank 2 waits for its end, and so does a write of FLASH_CR. The end interrupts.
#[test]
fn code_goes_on_beside_the_other_bank() {
    let mut steps = begin();
    steps.extend([
        Step::Write(CR, page(3, BKER) | EOPIE),
        Step::Copy(KEPT, CYCLES),
        Step::Write(CR, page(3, BKER) | EOPIE | STRT),
        Step::Copy(KEPT + 4, CYCLES),
        Step::Copy(KEPT + 8, SR),
        Step::Copy(KEPT + 12, CR),
        Step::Copy(KEPT + 16, HERE),
        Step::Copy(KEPT + 20, CYCLES),
        Step::Copy(KEPT + 24, THERE),
        Step::Copy(KEPT + 28, CYCLES),
        Step::Copy(KEPT + 32, SR),
        Step::Copy(KEPT + 36, 0xe000_e200),
        Step::Write(CR, PG),
        Step::Write(THERE, 1),
        Step::Write(THERE + 4, 2),
        Step::Copy(KEPT + 40, SR),
        Step::Copy(KEPT + 44, CYCLES),
        Step::Write(CR, EOPIE),
        Step::Copy(KEPT + 48, CYCLES),
        Step::Copy(KEPT + 52, CR),
        Step::Copy(KEPT + 56, THERE + 4),
    ]);
    let mut machine = machine(TARGET, &steps);
    assert!(machine.poke(THERE, &[0x11; 4]) && machine.poke(HERE, &[0x22; 4]));
    let (erase, program) = (cycles(&*machine, ERASE), cycles(&*machine, PROGRAM));
    run(&mut *machine, erase + program + 10_000);
    let kept = kept(&*machine, 15);
    let passed = |from: usize, to: usize| u64::from(kept[to] - kept[from]);
    assert!(passed(0, 1) < 200 && passed(0, 5) < 500, "{kept:x?}");
    assert_eq!(kept[2..5], [BSY, 1 << 30 | page(3, BKER) | EOPIE | STRT, 0x2222_2222]);
    assert!(passed(0, 7).abs_diff(erase) < 200, "{kept:x?}");
    assert_eq!(kept[6], u32::MAX, "what a read waited for");
    assert_eq!(kept[8..10], [EOP, 1 << 4]);
    assert_eq!(kept[10], BSY | EOP);
    assert!(passed(11, 12).abs_diff(program) < 200, "{kept:x?}");
    assert_eq!(kept[13..], [1 << 30 | EOPIE, 2]);
}

/// Code in RAM goes on beside both banks, until an interrupt wants its vector from one of them,
/// whose handler is in RAM, too.
#[test]
fn code_in_ram_goes_on_until_a_vector_is_needed() {
    let source = "
        .word 0x20001000, start + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2000010d
        start: ldr r0, =0x20000100
        adr r1, copied
        movs r2, #32
        next: subs r2, #4
        ldr r3, [r1, r2]
        str r3, [r0, r2]
        bne next
        ldr r4, =0x40022000
        ldr r5, =0x45670123
        str r5, [r4, #8]
        ldr r5, =0xcdef89ab
        str r5, [r4, #8]
        ldr r1, =0xe000e010
        ldr r2, =9999
        str r2, [r1, #4]
        movs r2, #0
        str r2, [r1, #8]
        ldr r7, =0x20000000
        ldr r5, =0x8004
        ldr r6, =0x18004
        movs r3, #7
        str r5, [r4, #0x14]
        adds r0, #1
        bx r0
        .align 2
        @ In RAM, at 0x20000100: SysTick on, STRT of both banks, and a count, which its handler, at 0x2000010c, ends.
        copied: str r3, [r1]
        str r6, [r4, #0x14]
        count: adds r2, #1
        str r2, [r7]
        b count
        nop
        ldr r3, [r4, #0x10]
        adds r3, #1
        str r3, [r7, #4]
        stop: b stop";
    let part = programs::part(TARGET);
    let mut machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    assert!(machine.poke(0x0800_0000, &programs::assemble("cortex-m4", "read-while-write", source)));
    machine.reset();
    // The vector is there again when the erasure is over.
    let code: Vec<u8> = {
        let mut bytes = vec![0; 0x200];
        assert!(machine.peek(0x0800_0000, &mut bytes));
        bytes
    };
    run(&mut *machine, 5_000);
    let counted = word(&*machine, KEPT);
    assert!(counted > 100, "it counts: {counted}");
    assert_eq!(word(&*machine, 0x0800_0000), u32::MAX, "both banks are erased");
    assert!(machine.poke(0x0800_0000, &code));
    run(&mut *machine, 100_000);
    let until_tick = word(&*machine, KEPT);
    assert!(until_tick > counted && until_tick < 5_000, "SysTick after 10,000 cycles: {until_tick}");
    let end = cycles(&*machine, MASS);
    run(&mut *machine, end - 1_000);
    assert_eq!((word(&*machine, KEPT), word(&*machine, KEPT + 4)), (until_tick, 0), "it stands still");
    run(&mut *machine, end + 2_000);
    assert_eq!((word(&*machine, KEPT), word(&*machine, KEPT + 4)), (until_tick, 1), "the handler, BSY clear");
}

/// Code that reads nothing of its bank waits for its own instructions: the count begins when the
/// page is erased.
#[test]
fn instructions_wait_for_their_bank() {
    let source = "
        .word 0x20001000, start + 1
        .thumb_func
        start: ldr r4, =0x40022000
        ldr r5, =0x45670123
        str r5, [r4, #8]
        ldr r5, =0xcdef89ab
        str r5, [r4, #8]
        ldr r6, =0x10042
        ldr r7, =0x20000000
        movs r2, #0
        str r6, [r4, #0x14]
        count: adds r2, #1
        str r2, [r7]
        b count
        .ltorg";
    let part = programs::part(TARGET);
    let mut machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    assert!(machine.poke(0x0800_0000, &programs::assemble("cortex-m4", "own-bank", source)));
    machine.reset();
    let end = cycles(&*machine, ERASE);
    run(&mut *machine, end);
    assert!(word(&*machine, KEPT) <= 1, "at most what follows the store in the pipeline");
    run(&mut *machine, end + 1_000);
    let counted = word(&*machine, KEPT);
    assert!(counted > 100, "{counted}");
}

/// A double word is two words of one aligned pair; what is not all ones can be made zero alone.
/// Each error has its flag.
#[test]
fn each_programming_error_sets_its_flag() {
    let all = u32::MAX;
    let mut bench = unlocked();
    assert_eq!(store(&mut bench, HERE, 4, 1, all), FlashChange::Kept);
    assert_eq!(flags(&mut bench), PGSERR, "without PG");
    bench.write(CR, PG);
    assert_eq!(store(&mut bench, HERE, 2, 1, 0xffff), FlashChange::Kept);
    assert_eq!(flags(&mut bench), SIZERR);
    assert_eq!(store(&mut bench, HERE + 4, 4, 1, all), FlashChange::Kept);
    assert_eq!(flags(&mut bench), PGAERR, "the second word first");
    store(&mut bench, HERE, 4, 1, all);
    assert_eq!(flags(&mut bench), 0);
    store(&mut bench, HERE + 12, 4, 2, all);
    assert_eq!(flags(&mut bench), PGAERR, "another double word's second");
    for (before, value) in [([all, 0x7fff_ffff], 1), ([0xffff_fff7, all], 1)] {
        store(&mut bench, HERE, 4, value, before[0]);
        assert_eq!(store(&mut bench, HERE + 4, 4, value, before[1]), FlashChange::Kept);
        assert_eq!(flags(&mut bench), PROGERR);
    }
    store(&mut bench, HERE, 4, 0, 0x1234);
    // At its alias, too.
    let FlashChange::Beside { bank, change } = store(&mut bench, HERE - 0x0800_0000 + 4, 4, 0, 0x5678) else {
        panic!("zeros can be written over anything")
    };
    assert_eq!(bank, 0x0800_0000..0x0810_0000);
    let FlashChange::Program { address, bytes, until } = *change else { panic!("a program") };
    assert_eq!((address, bytes, bench.read(SR)), (HERE, vec![0; 8], BSY));
    let busy = FlashStore { pc: 0, from_flash: true, address: HERE, size: 4, value: 0, before: 0 };
    assert!(bench.bus.flash_store(&busy, bench.now, None).is_err(), "a store while it is busy");
    bench.advance(until);
    assert_eq!(bench.read(SR), 0);
    // An error that stays is in the way of the next operation; OPERR and the interrupt come with
    // ERRIE.
    bench.write(CR, PG | ERRIE);
    store(&mut bench, HERE + 4, 4, 1, all);
    assert_eq!((bench.read(SR), bench.bus.requests), (PGAERR | OPERR, 1 << 4));
    store(&mut bench, HERE, 4, 1, all);
    assert_eq!(bench.read(SR), PGAERR | PGSERR | OPERR);
    bench.write(CR, page(8, 0));
    assert_eq!(bench.bus.requests, 0);
    bench.write(CR, page(8, 0) | STRT);
    assert_eq!(flags(&mut bench), PGAERR | PGSERR | OPERR);
    for cr in [PG | page(8, 0), MER1 | page(8, 0), PG | MER2] {
        bench.write(CR, cr | STRT);
        assert_eq!((flags(&mut bench), bench.bus.due), (PGSERR, u64::MAX), "{cr:#x}");
    }
    // PER is still set when a word is programmed.
    bench.write(CR, PG | page(8, 0));
    store(&mut bench, HERE, 4, 1, all);
    assert_eq!(flags(&mut bench), PGSERR);
}

/// Settings without a model stop the run.
#[test]
fn unmodelled_settings_are_refused() {
    let mut bench = unlocked();
    for (register, value) in [
        (FLASH + 0x04, 0x0415_2637),
        (CR, 1 << 18),
        (CR, STRT),
        (FLASH + 0x24, 0),
        (FLASH + 0x0c, KEYS[0]),
        (FLASH + 0x130, 1),
    ] {
        assert!(bench.try_write(register, value).is_err(), "{register:#x}");
    }
    bench.write(ECCR, 1 << 24 | 1 << 30);
    assert_eq!(bench.read(ECCR), 1 << 24, "there never is an error");
    bench.write(CR, PG);
    store(&mut bench, HERE, 4, 1, u32::MAX);
    assert!(bench.try_write(CR, 0).is_err(), "PG cleared between two words");
    // A write that waited, and is found to be none that can be done, stops what comes next.
    let mut bench = unlocked();
    bench.write(CR, page(3, BKER) | STRT);
    bench.write(CR, STRT);
    bench.advance(bench.bus.due);
    assert!(bench.try_write(CR, 0).is_err());
    let mut bench = Bench::new(TARGET);
    assert!(bench.try_write(KEYR, KEYS[1]).is_err(), "a wrong key");
}

/// Its time is told in cycles of the core's clock, which must stay: this program goes from the MSI
/// to the HSI16 meanwhile.
#[test]
fn the_clock_must_stay_while_it_is_busy() {
    let source = "
        .word 0x20001000, start + 1
        .thumb_func
        start: ldr r4, =0x40022000
        ldr r5, =0x45670123
        str r5, [r4, #8]
        ldr r5, =0xcdef89ab
        str r5, [r4, #8]
        ldr r6, =0x10802
        str r6, [r4, #0x14]
        ldr r1, =0x40021000
        ldr r2, =0x163
        str r2, [r1]
        movs r2, #1
        str r2, [r1, #8]
        ldr r0, [r4, #0x10]
        bkpt 0
        .ltorg";
    let mut machine = new_clocked_machine(&programs::part(TARGET), None).expect("a machine");
    assert!(machine.poke(0x0800_0000, &programs::assemble("cortex-m4", "flash-clock", source)));
    machine.reset();
    let fault = machine.run(&Until { cycles: Some(1_000), ..Until::default() }).expect_err("a refusal");
    assert!(fault.to_string().contains("clock was changed while the flash was busy"), "{fault}");
}

/// A page or a bank that is being erased, or a double word that is being programmed, stays half
/// done where the supply or a reset cuts it off, in either bank; after its end nothing happens to
/// it.
#[test]
fn erase_or_program_cut_off_by_power_stays_half_done() {
    for (place, cr) in [(HERE, page(8, 0)), (THERE, page(3, BKER)), (THERE, MER2)] {
        let mut steps = begin();
        steps.extend([
            Step::Write(CR, cr),
            Step::Write(CR, cr | STRT),
            Step::Write(CR, PG),
            Step::Write(place, 0),
            Step::Write(place + 4, 0),
        ]);
        let mut machine = machine(TARGET, &steps);
        assert!(machine.poke(place, &[0; 8]));
        let erase = if cr == MER2 { MASS } else { ERASE };
        let (erase, program) = (cycles(&*machine, erase), cycles(&*machine, PROGRAM));
        for (at, left) in
            [(erase / 2, 0xaaaa_aaaa), (erase + program / 2 + 500, 0x5555_5555), (erase + program + 1_000, 0)]
        {
            for power in [true, false] {
                let mut machine = machine.snapshot();
                run(&mut *machine, at);
                if power {
                    machine.cut_power(0xaa);
                } else {
                    machine.reset_by(ResetCause::External);
                }
                assert_eq!([0, 4].map(|offset| word(&*machine, place + offset)), [left; 2], "{cr:#x} {at}");
            }
        }
    }
}
