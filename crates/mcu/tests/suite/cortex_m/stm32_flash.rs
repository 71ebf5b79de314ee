//! Programs that erase and program the STM32's flash.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::{Mcu, Until};

const KEY1: u32 = 0x4567_0123;
const KEY2: u32 = 0xcdef_89ab;
/// DWT_CYCCNT, once it has been switched on.
const CYCLES: u32 = 0xe000_1004;

/// SR, CR, and a page or sector that the program does not lie in.
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
const PLACE: u32 = 0x0800_8000;

fn half(machine: &dyn Mcu, address: u32) -> u16 {
    word(machine, address & !3).to_le_bytes()[(address & 2) as usize..][..2]
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u16::from(*byte))
}

/// PM0075 section 2.3.3 and 2.3.4, RM0091 section 3.2.2: a page, halfwords in it, one of which is
/// not erased.
#[test]
fn pages_are_erased_and_programmed() {
    const FLASH: u32 = 0x4002_2000;
    for target in ["stm32f103", "stm32f100", "stm32f051"] {
        let steps = [
            Step::Copy(KEPT, FLASH + CR),
            Step::Write(FLASH + 4, KEY1),
            Step::Write(FLASH + 4, KEY2),
            Step::Copy(KEPT + 4, FLASH + CR),
            Step::Write(FLASH + CR, 2),
            Step::Write(FLASH + 0x14, PLACE + 0x123),
            Step::Write(FLASH + CR, 1 << 6 | 2),
            Step::Copy(KEPT + 8, FLASH + SR),
            Step::Write(FLASH + SR, 1 << 5),
            Step::Write(FLASH + CR, 1),
            Step::WriteHalf(PLACE + 2, 0x1234),
            Step::Copy(KEPT + 12, FLASH + SR),
            Step::Write(FLASH + SR, 1 << 5),
            Step::WriteHalf(PLACE + 2, 0x0234),
            Step::Copy(KEPT + 16, FLASH + SR),
            Step::WriteHalf(PLACE + 2, 0),
            Step::Write(FLASH + CR, 1 << 7),
            Step::Copy(KEPT + 20, FLASH + CR),
        ];
        let mut machine = machine(target, &steps);
        for (offset, value) in [(0, 0x11), (0x3ff, 0x22), (0x400, 0x33)] {
            assert!(machine.poke(PLACE + offset, &[value]));
        }
        let clock_hz = machine.clock_hz();
        run(&mut *machine, clock_hz / 34);
        assert_eq!(word(&*machine, KEPT + 8), 0, "{target}: a page takes 30 ms");
        run(&mut *machine, clock_hz / 25);
        let kept: Vec<u32> = (0..6).map(|index| word(&*machine, KEPT + 4 * index)).collect();
        assert_eq!(kept, [0x80, 0, 1 << 5, 1 << 5, 1 << 2, 0x80], "{target}: LOCK, EOP, EOP, PGERR, LOCK");
        let place = |offset| half(&*machine, PLACE + offset);
        assert_eq!([place(0), place(2), place(0x3fe), place(0x400)], [0xffff, 0, 0xffff, 0xff33], "{target}");
    }
}

/// RM0090 section 3.6: sector 2 at 32 bits, a word, and the time of both; what is in the wrong
/// order is an error.
#[test]
fn sectors_are_erased_and_programmed() {
    const FLASH: u32 = 0x4002_3c00;
    let steps = [
        Step::Write(0xe000_edfc, 1 << 24),
        Step::Write(0xe000_1000, 1),
        Step::Write(FLASH + 4, KEY1),
        Step::Write(FLASH + 4, KEY2),
        Step::Copy(KEPT, CYCLES),
        Step::Write(FLASH + CR, 1 << 16 | 2 << 8 | 2 << 3 | 2),
        Step::Copy(KEPT + 4, CYCLES),
        Step::Write(FLASH + CR, 2 << 8 | 1),
        Step::Write(PLACE + 4, 0x1234_5678),
        Step::Copy(KEPT + 8, CYCLES),
        Step::Copy(KEPT + 12, FLASH + SR),
        Step::WriteHalf(PLACE + 8, 0),
        Step::Copy(KEPT + 16, FLASH + SR),
        Step::Write(FLASH + SR, 0xf2),
        Step::Write(FLASH + CR, 2 << 8),
        Step::Write(PLACE + 8, 0),
        Step::Copy(KEPT + 20, FLASH + SR),
        Step::Copy(KEPT + 24, FLASH + 0x14),
    ];
    let mut machine = machine("stm32f407", &steps);
    for (offset, value) in [(0, 0x11), (0x3fff, 0x22), (0x4000, 0x33)] {
        assert!(machine.poke(PLACE + offset, &[value]));
    }
    let clock_hz = machine.clock_hz();
    run(&mut *machine, clock_hz);
    let kept: Vec<u32> = (0..7).map(|index| word(&*machine, KEPT + 4 * index)).collect();
    // 250 ms and 16 us.
    let erase = u64::from(kept[1] - kept[0]);
    assert!(erase.abs_diff(clock_hz / 4) < 50, "{erase}");
    let program = u64::from(kept[2] - kept[1]);
    assert!(program.abs_diff(clock_hz * 16 / 1_000_000) < 50, "{program}");
    assert_eq!(kept[3..], [0, 1 << 6, 1 << 7, 0x0fff_aaed], "no EOP without EOPIE; PGPERR; PGSERR; OPTCR");
    let words = [0, 4, 8, 0x3ffc, 0x4000].map(|offset| word(&*machine, PLACE + offset));
    assert_eq!(words, [u32::MAX, 0x1234_5678, u32::MAX, u32::MAX, 0xffff_ff33]);
}

/// RM0410 section 3.3: sector 1 of 32 kB in one bank, a word; ERSERR, PGPERR; what OPTCR and OPTCR1
/// read.
#[test]
fn sectors_of_the_f7_are_twice_as_large() {
    const FLASH: u32 = 0x4002_3c00;
    const SER_1: u32 = 2 << 8 | 1 << 3 | 2;
    let steps = [
        Step::Write(FLASH + 4, KEY1),
        Step::Write(FLASH + 4, KEY2),
        Step::Write(FLASH + CR, 1 << 16 | 2 << 8),
        Step::Copy(KEPT, FLASH + SR),
        Step::Write(FLASH + SR, 0xf2),
        Step::Write(FLASH + CR, SER_1),
        Step::Write(FLASH + CR, 1 << 16 | SER_1),
        Step::Copy(KEPT + 4, FLASH + CR),
        Step::Write(FLASH + CR, 2 << 8 | 1),
        Step::Write(PLACE + 4, 0x1234_5678),
        Step::WriteHalf(PLACE + 8, 0),
        Step::Copy(KEPT + 8, FLASH + SR),
        Step::Copy(KEPT + 12, FLASH + 0x14),
        Step::Copy(KEPT + 16, FLASH + 0x18),
    ];
    let mut machine = machine("stm32f767", &steps);
    for (offset, value) in [(0, 0x11), (0x7fff, 0x22), (0x8000, 0x33)] {
        assert!(machine.poke(PLACE + offset, &[value]));
    }
    let clock_hz = machine.clock_hz();
    run(&mut *machine, clock_hz * 199 / 1000);
    assert_eq!(word(&*machine, KEPT + 4), 0, "200 ms");
    run(&mut *machine, clock_hz * 202 / 1000);
    let kept: Vec<u32> = (0..5).map(|index| word(&*machine, KEPT + 4 * index)).collect();
    assert_eq!(kept, [1 << 7, SER_1, 1 << 6, 0xffff_aafd, 0x0040_0080]);
    let words = [0, 4, 8, 0x7ffc, 0x8000].map(|offset| word(&*machine, PLACE + offset));
    assert_eq!(words, [u32::MAX, 0x1234_5678, u32::MAX, u32::MAX, 0xffff_ff33]);
    // Not at the ITCM bus, and only with PG.
    for (cr, place) in [(2 << 8 | 1, 0x0020_8000), (2 << 8, PLACE)] {
        let steps = [
            Step::Write(FLASH + 4, KEY1),
            Step::Write(FLASH + 4, KEY2),
            Step::Write(FLASH + CR, cr),
            Step::Write(place, 0),
        ];
        let until = Until { cycles: Some(100_000), ..Until::default() };
        assert!(self::machine("stm32f767", &steps).run(&until).is_err(), "{place:#x}");
    }
    let mut bench = Bench::new("stm32f767");
    bench.write(FLASH + 4, KEY1);
    bench.write(FLASH + 4, KEY2);
    // ST's HAL erases everything so; the second bank alone there is not.
    bench.write(FLASH + CR, 1 << 16 | 1 << 15 | 2 << 8 | 1 << 2);
    assert!(bench.try_write(FLASH + CR, 1 << 16 | 1 << 15 | 2 << 8).is_err());
    assert!(bench.try_write(FLASH + 0x18, 0).is_err(), "OPTCR1");
}

/// The end interrupts; a wrong key and a store that was not prepared stop the run.
#[test]
fn interrupts_and_mistakes() {
    const FLASH: u32 = 0x4002_3c00;
    let mut bench = Bench::new("stm32f407");
    bench.write(FLASH + 4, KEY1);
    bench.write(FLASH + 4, KEY2);
    bench.write(FLASH + CR, 1 << 24 | 2 << 8 | 2);
    assert_eq!(bench.bus.requests, 0);
    bench.write(FLASH + CR, 1 << 24 | 1 << 16 | 2 << 8 | 2);
    assert_eq!((bench.read(FLASH + SR), bench.bus.requests), (1, 1 << 4));
    bench.write(FLASH + SR, 1);
    assert_eq!(bench.bus.requests, 0);
    let until = Until { cycles: Some(1_000), ..Until::default() };
    for steps in [[Step::Write(0x4002_2004, KEY2)], [Step::WriteHalf(PLACE, 0)]] {
        assert!(machine("stm32f103", &steps).run(&until).is_err());
    }
}
