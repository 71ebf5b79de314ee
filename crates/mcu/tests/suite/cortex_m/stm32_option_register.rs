//! The option bytes of the STM32F4 and F7, written as libopencm3 and ST's HAL write them.

use super::steps::{KEPT, Step, machine_at_reset, run, word};
use super::stm32_peripherals::Bench;
use mcu::ResetCause;

const FLASH: u32 = 0x4002_3c00;
const KEYR: u32 = FLASH + 0x04;
const OPTKEYR: u32 = FLASH + 0x08;
const SR: u32 = FLASH + 0x0c;
const CR: u32 = FLASH + 0x10;
const OPTCR: u32 = FLASH + 0x14;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTKEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

const OPTLOCK: u32 = 1 << 0;
const OPTSTRT: u32 = 1 << 1;
const DELIVERED: u32 = 0x0fff_aaed;
/// A sector, STRT, PSIZE for words.
const SER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const STRT: u32 = 1 << 16;
const WORDS: u32 = 2 << 8;
const WRPERR: u32 = 1 << 4;

fn unlocked(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    let delivered = bench.read(OPTCR);
    OPTKEYS.iter().for_each(|key| bench.write(OPTKEYR, *key));
    assert_eq!(bench.read(OPTCR), delivered & !OPTLOCK, "{target}");
    bench
}

/// Until the operation under way is over.
fn wait(bench: &mut Bench) {
    if bench.bus.due != u64::MAX {
        bench.advance(bench.now.max(bench.bus.due));
    }
}

/// libopencm3's `flash_program_option_bytes`.
fn program(bench: &mut Bench, value: u32) {
    bench.write(OPTCR, value & !3);
    let value = bench.read(OPTCR);
    bench.write(OPTCR, value | OPTSTRT);
    wait(bench);
}

/// RM0090 section 3.7.2: OPTLOCK, which OPTKEYR alone opens; what OPTSTRT has stored comes back
/// with each reset, and nothing else.
#[test]
fn stored_options_are_loaded_at_each_reset() {
    for (target, delivered) in [
        ("stm32f401", DELIVERED),
        ("stm32f407", DELIVERED),
        ("stm32f411", DELIVERED),
        ("stm32f767", 0xffff_aafd),
    ] {
        let written = delivered & !(OPTLOCK | 4 << 16);
        let mut bench = Bench::new(target);
        assert_eq!(bench.read(OPTCR), delivered, "{target}");
        bench.write(OPTCR, written);
        assert_eq!(bench.read(OPTCR), delivered, "{target}: locked");
        assert!(bench.try_write(OPTKEYR, OPTKEYS[1]).is_err(), "{target}: a wrong key");
        let mut bench = unlocked(target);
        bench.write(OPTCR, written);
        assert_eq!(bench.read(OPTCR), written, "{target}");
        bench.bus.reset_by(ResetCause::External, bench.now, 0);
        assert_eq!(bench.read(OPTCR), delivered, "{target}: without OPTSTRT");
        let mut bench = unlocked(target);
        program(&mut bench, written);
        assert_eq!(bench.read(OPTCR), written, "{target}: OPTSTRT goes back");
        bench.write(OPTCR, written | OPTLOCK);
        bench.write(OPTCR, delivered);
        for cause in [ResetCause::External, ResetCause::PowerOn] {
            bench.bus.reset_by(cause, bench.now, 0);
            assert_eq!(bench.read(OPTCR), written | OPTLOCK, "{target}: {cause:?}");
        }
        assert_eq!(bench.bus.nonvolatile_writes(), 1, "{target}");
    }
}

/// ST's HAL, stm32f4xx_hal_flash_ex.c, writes parts of OPTCR: FLASH_OB_EnableWRP,
/// FLASH_OB_RDP_LevelConfig, HAL_FLASH_OB_Launch.
#[test]
fn the_hal_writes_parts_of_the_register() {
    let mut bench = unlocked("stm32f407");
    bench.write_part(OPTCR + 2, 2, 0x0ff7);
    bench.write_part(OPTCR + 1, 1, 0x55);
    bench.write_part(OPTCR, 1, 0xec | OPTSTRT);
    wait(&mut bench);
    bench.bus.reset_by(ResetCause::External, bench.now, 0);
    assert_eq!(bench.read(OPTCR), 0x0ff7_55ed);
}

/// RM0090 section 3.7.4; RM0402 section 3.6.4: everything cannot be erased while a sector is
/// protected.
#[test]
fn a_protected_sector_is_not_written() {
    let mut bench = unlocked("stm32f407");
    KEYS.iter().for_each(|key| bench.write(KEYR, *key));
    let erase = |bench: &mut Bench, cr: u32| {
        bench.write(SR, WRPERR);
        bench.write(CR, WORDS | cr);
        let done = bench.try_write(CR, WORDS | cr | STRT);
        done.map(|()| bench.read(SR))
    };
    let sector = |number: u32| number << 3 | SER;
    bench.write(OPTCR, 0x0fdb_aaec);
    assert!(erase(&mut bench, sector(2)).is_err(), "not stored: who knows");
    assert_eq!(erase(&mut bench, sector(1)), Ok(0));
    program(&mut bench, 0x0fdb_aaec);
    for (cr, sr) in [(sector(1), 0), (sector(2), WRPERR), (sector(5), WRPERR), (sector(6), 0), (MER, WRPERR)]
    {
        assert_eq!(erase(&mut bench, cr), Ok(sr), "{cr:#x}");
    }
    program(&mut bench, DELIVERED);
    assert_eq!(erase(&mut bench, MER), Ok(0));
}

/// The same by a program, with what the flash holds, and the time of storing (an estimate).
#[test]
fn a_program_protects_a_sector() {
    const PLACE: u32 = 0x0800_8000;
    const CYCLES: u32 = 0xe000_1004;
    let mut steps = vec![Step::Write(0xe000_edfc, 1 << 24), Step::Write(0xe000_1000, 1)];
    steps.extend(KEYS.map(|key| Step::Write(KEYR, key)));
    steps.extend(OPTKEYS.map(|key| Step::Write(OPTKEYR, key)));
    steps.extend([
        Step::Write(CR, WORDS | 1),
        Step::Copy(KEPT, CYCLES),
        Step::Write(OPTCR, 0x0ffb_aaec | OPTSTRT),
        Step::Copy(KEPT + 4, CYCLES),
        Step::Write(PLACE, 0),
        Step::Copy(KEPT + 8, SR),
        Step::Write(SR, WRPERR),
        Step::Write(CR, WORDS | 2 << 3 | SER),
        Step::Write(CR, WORDS | 2 << 3 | SER | STRT),
        Step::Copy(KEPT + 12, SR),
    ]);
    let mut machine = machine_at_reset("stm32f407", &steps);
    assert!(machine.poke(PLACE, &[0x11, 0x22, 0x33, 0x44]));
    let clock_hz = machine.clock_hz();
    run(&mut *machine, clock_hz / 2);
    let kept: Vec<u32> = (0..4).map(|index| word(&*machine, KEPT + 4 * index)).collect();
    assert!(u64::from(kept[1] - kept[0]).abs_diff(clock_hz / 4) < 100, "{kept:?}");
    assert_eq!(kept[2..], [WRPERR; 2]);
    assert_eq!(word(&*machine, PLACE), 0x4433_2211);
}

/// Settings without a model are refused when they are stored.
#[test]
fn settings_without_a_model_are_refused() {
    for (target, value, what) in [
        ("stm32f407", 0x0fff_aae0, "BOR_LEV"),
        ("stm32f407", 0x0fff_aacc, "WDG_SW = 0"),
        ("stm32f407", 0x0fff_aaac, "nRST_STOP = 0"),
        ("stm32f407", 0x0fff_aa6c, "nRST_STDBY = 0"),
        ("stm32f411", 0x8fff_aaec, "SPRMOD"),
        ("stm32f407", 0x0fff_ccec, "level 2"),
        ("stm32f767", 0xffff_aaec, "WWDG_SW = 0"),
        ("stm32f767", 0xffff_aadc, "IWDG_SW = 0"),
        ("stm32f767", 0xdfff_aafc, "nDBANK"),
        ("stm32f767", 0x7fff_aafc, "IWDG_STOP"),
    ] {
        let mut bench = unlocked(target);
        let delivered = bench.read(OPTCR) | OPTLOCK;
        bench.write(OPTCR, value);
        let fault = bench.try_write(OPTCR, value | OPTSTRT).expect_err("a refusal").to_string();
        assert!(fault.contains(what), "{fault}");
        bench.bus.reset_by(ResetCause::External, bench.now, 0);
        assert_eq!(bench.read(OPTCR), delivered, "{what}");
    }
    let mut bench = unlocked("stm32f407");
    program(&mut bench, 0x0fff_55ec);
    program(&mut bench, 0x0ffe_33ec);
    let fault = bench.try_write(OPTCR, DELIVERED & !OPTLOCK | OPTSTRT).expect_err("a refusal").to_string();
    assert!(fault.contains("read protection back"), "{fault}");
}

/// A supply that goes meanwhile leaves them erased: read protection of level 1.
#[test]
fn a_cut_while_they_are_stored() {
    let steps: Vec<Step> = std::iter::once(Step::Copy(KEPT, OPTCR))
        .chain(OPTKEYS.map(|key| Step::Write(OPTKEYR, key)))
        .chain([Step::Write(OPTCR, 0x0ffb_aaec | OPTSTRT)])
        .collect();
    let mut machine = machine_at_reset("stm32f407", &steps);
    // PSIZE is 8 bits after a reset, with which the smallest sector takes 400 ms.
    let clock_hz = machine.clock_hz();
    for (cycles, loaded) in [(clock_hz / 5, 0x0fff_ffed), (clock_hz / 2, 0x0ffb_aaed)] {
        let mut machine = machine.snapshot();
        run(&mut *machine, cycles);
        machine.cut_power(0);
        run(&mut *machine, 60);
        assert_eq!(word(&*machine, KEPT), loaded, "{cycles}");
    }
    run(&mut *machine, clock_hz / 5);
    machine.reset_by(ResetCause::External);
    let cycles = machine.cycles() + 60;
    run(&mut *machine, cycles);
    assert_eq!(word(&*machine, KEPT), 0x0fff_ffed);
}
