//! The option bytes of the STM32L4+, written as ST's HAL writes them (RM0432, section 3.4).

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::{ResetCause, Stop, Until};

const TARGET: &str = "stm32l4r5";
const FLASH: u32 = 0x4002_2000;
const KEYR: u32 = FLASH + 0x08;
const OPTKEYR: u32 = FLASH + 0x0c;
const SR: u32 = FLASH + 0x10;
const CR: u32 = FLASH + 0x14;
const OPTR: u32 = FLASH + 0x20;
const WRP1AR: u32 = FLASH + 0x2c;
const WRP2BR: u32 = FLASH + 0x50;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTKEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

const PG: u32 = 1 << 0;
const PER: u32 = 1 << 1;
const MER1: u32 = 1 << 2;
const BKER: u32 = 1 << 11;
const MER2: u32 = 1 << 15;
const STRT: u32 = 1 << 16;
const OPTSTRT: u32 = 1 << 17;
const OBL_LAUNCH: u32 = 1 << 27;
const OPTLOCK: u32 = 1 << 30;
const LOCK: u32 = 1 << 31;
const WRPERR: u32 = 1 << 4;
const PGSERR: u32 = 1 << 7;

const DELIVERED: u32 = 0xffef_f8aa;
const NO_PAGE: u32 = 0xff00_ffff;

fn unlocked() -> Bench {
    let mut bench = Bench::new(TARGET);
    assert!(bench.try_write(OPTKEYR, OPTKEYS[0]).is_err(), "KEYR comes first");
    KEYS.iter().for_each(|key| bench.write(KEYR, *key));
    bench.write(OPTR, 0);
    assert_eq!(bench.read(OPTR), DELIVERED, "OPTLOCK");
    OPTKEYS.iter().for_each(|key| bench.write(OPTKEYR, *key));
    assert_eq!(bench.read(CR), 0);
    bench
}

/// Until the operation under way is over.
fn wait(bench: &mut Bench) {
    if bench.bus.due != u64::MAX {
        bench.advance(bench.now.max(bench.bus.due));
    }
}

/// OPTSTRT, and its end.
fn program(bench: &mut Bench) {
    bench.write(CR, OPTSTRT);
    wait(bench);
    assert_eq!((bench.read(CR), bench.read(SR)), (0, 0), "OPTSTRT goes back");
}

/// Section 3.4.3: what is stored counts when it is loaded, at power-on or for OBL_LAUNCH; what is
/// not stored is gone after any reset.
#[test]
fn they_count_once_they_are_loaded() {
    let mut bench = unlocked();
    assert_eq!([WRP1AR, WRP2BR].map(|register| bench.read(register)), [NO_PAGE; 2]);
    bench.write(WRP1AR, 5 << 16 | 4);
    bench.bus.reset_by(ResetCause::External, bench.now, 0);
    assert_eq!(bench.read(WRP1AR), NO_PAGE, "without OPTSTRT");
    for cause in [ResetCause::OptionBytes, ResetCause::PowerOn] {
        let mut bench = unlocked();
        bench.write(OPTR, DELIVERED & !0xff | 0x55);
        bench.write(WRP1AR, 5 << 16 | 4);
        program(&mut bench);
        assert_eq!(bench.read(WRP1AR), 0xff05_ff04);
        bench.bus.reset_by(ResetCause::External, bench.now, 0);
        assert_eq!((bench.read(OPTR), bench.read(WRP1AR)), (DELIVERED, NO_PAGE), "not loaded");
        bench.bus.reset_by(cause, bench.now, 0);
        assert_eq!(
            (bench.read(OPTR), bench.read(WRP1AR)),
            (DELIVERED & !0xff | 0x55, 0xff05_ff04),
            "{cause:?}"
        );
        assert_eq!((bench.read(CR), bench.bus.nonvolatile_writes()), (LOCK | OPTLOCK, 1));
    }
}

/// Section 3.4.2: OPTLOCK closes with LOCK, and opens by its keys alone; OPTSTRT and OBL_LAUNCH do
/// nothing while it is closed.
#[test]
fn locks_close() {
    let mut bench = unlocked();
    bench.write(CR, OPTLOCK);
    for bit in [OPTSTRT, OBL_LAUNCH] {
        bench.write(CR, bit);
        assert_eq!((bench.read(CR), bench.bus.due), (OPTLOCK, u64::MAX));
    }
    OPTKEYS.iter().for_each(|key| bench.write(OPTKEYR, *key));
    assert_eq!(bench.read(CR), 0);
    bench.write(CR, LOCK);
    assert_eq!(bench.read(CR), LOCK | OPTLOCK);
    KEYS.iter().for_each(|key| bench.write(KEYR, *key));
    assert_eq!(bench.read(CR), OPTLOCK);
    assert!(bench.try_write(OPTKEYR, OPTKEYS[1]).is_err(), "a wrong key");
}

/// Areas A and B of both banks, whose first and last pages are in them; a bank with a protected
/// page cannot be erased.
#[test]
fn protected_pages_are_not_written() {
    let mut bench = unlocked();
    bench.write(WRP1AR, 5 << 16 | 4);
    bench.write(WRP2BR, 255 << 16 | 255);
    program(&mut bench);
    let page = |number: u32, bank: u32| number << 3 | bank | PER;
    let erase = |bench: &mut Bench, cr: u32| {
        bench.write(CR, cr);
        bench.write(CR, cr | STRT);
        wait(bench);
        let flags = bench.read(SR);
        bench.write(SR, flags);
        flags
    };
    assert_eq!(erase(&mut bench, page(4, 0)), 0, "not loaded");
    bench.bus.reset_by(ResetCause::OptionBytes, bench.now, 0);
    KEYS.iter().for_each(|key| bench.write(KEYR, *key));
    for (cr, flags) in [
        (page(3, 0), 0),
        (page(4, 0), WRPERR),
        (page(5, 0), WRPERR),
        (page(6, 0), 0),
        (page(4, BKER), 0),
        (page(254, BKER), 0),
        (page(255, BKER), WRPERR),
        (MER1, WRPERR),
        (MER2, WRPERR),
        (MER1 | MER2, WRPERR),
    ] {
        assert_eq!(erase(&mut bench, cr), flags, "{cr:#x}");
    }
}

/// The same by a program, which loads them by OBL_LAUNCH; it finds the protection after the reset,
/// of which RCC_CSR tells.
#[test]
fn a_program_protects_a_page() {
    const PLACE: u32 = 0x0800_8000;
    let mut steps = vec![Step::Copy(KEPT, WRP1AR), Step::Copy(KEPT + 4, 0x4002_1094)];
    steps.extend(KEYS.map(|key| Step::Write(KEYR, key)));
    steps.extend(OPTKEYS.map(|key| Step::Write(OPTKEYR, key)));
    steps.extend([
        Step::Write(CR, PG),
        Step::Write(PLACE, 0x1234_5678),
        Step::Write(PLACE + 4, 0x9abc_def0),
        Step::Copy(KEPT + 8, SR),
        Step::Write(CR, 0),
        Step::Write(WRP1AR, 8 << 16 | 8),
        Step::Write(CR, OPTSTRT),
        Step::Write(CR, OBL_LAUNCH),
    ]);
    let mut machine = machine(TARGET, &steps);
    let clock_hz = machine.clock_hz();
    run(&mut *machine, clock_hz * 22 / 1000);
    assert_eq!([0, 8].map(|offset| word(&*machine, KEPT + offset)), [NO_PAGE, 0]);
    run(&mut *machine, clock_hz * 23 / 1000);
    assert_eq!([0, 8].map(|offset| word(&*machine, KEPT + offset)), [0xff08_ff08, WRPERR | PGSERR]);
    assert_eq!(word(&*machine, KEPT + 4) >> 25 & 1, 1, "OBLRSTF");
    assert_eq!(word(&*machine, PLACE), 0x1234_5678);
}

/// Settings without a model are refused when they are stored.
#[test]
fn settings_without_a_model_are_refused() {
    for (changed, what) in [
        (1 << 8, "BOR_LEV"),
        (1 << 12, "nRST_STOP"),
        (1 << 16, "IWDG_SW"),
        (1 << 17, "IWDG_STOP"),
        (1 << 19, "WWDG_SW"),
        (1 << 20, "BFB2"),
        (1 << 22, "DBANK"),
        (1 << 25, "SRAM2_RST"),
        (1 << 26, "nSWBOOT0"),
        (0xaa ^ 0xcc, "level 2"),
    ] {
        let mut bench = unlocked();
        bench.write(OPTR, DELIVERED ^ changed);
        let fault = bench.try_write(CR, OPTSTRT).expect_err("a refusal").to_string();
        assert!(fault.contains(what), "{fault}");
    }
    let mut bench = unlocked();
    bench.write(OPTR, DELIVERED ^ 0xff);
    program(&mut bench);
    bench.write(OPTR, DELIVERED);
    let fault = bench.try_write(CR, OPTSTRT).expect_err("a refusal").to_string();
    assert!(fault.contains("read protection back"), "{fault}");
}

/// A supply that goes, or a reset that comes, while they are stored leaves what the model cannot
/// begin with.
#[test]
fn a_cut_while_they_are_stored() {
    let steps: Vec<Step> = KEYS
        .map(|key| Step::Write(KEYR, key))
        .into_iter()
        .chain(OPTKEYS.map(|key| Step::Write(OPTKEYR, key)))
        .chain([Step::Write(WRP1AR, 8 << 16 | 8), Step::Write(CR, OPTSTRT)])
        .collect();
    let machine = machine(TARGET, &steps);
    let clock_hz = machine.clock_hz();
    for (at, power, begins) in [
        (clock_hz / 100, true, false),
        (clock_hz / 100, false, false),
        (clock_hz / 40, true, true),
        (clock_hz / 40, false, true),
    ] {
        let mut machine = machine.snapshot();
        run(&mut *machine, at);
        if power {
            machine.cut_power(0);
        } else {
            machine.reset_by(ResetCause::External);
        }
        let until = Until { cycles: Some(machine.cycles() + 100), ..Until::default() };
        let result = machine.run(&until);
        if begins {
            assert_eq!(result, Ok(Stop::Cycles), "{at} {power}");
        } else {
            let fault = result.expect_err("a refusal").to_string();
            assert!(fault.contains("lock it for ever"), "{fault}");
        }
    }
}
