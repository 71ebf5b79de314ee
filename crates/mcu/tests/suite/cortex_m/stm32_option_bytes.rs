//! The option bytes of the STM32F0 and F1, written as libopencm3 and ST's HAL write them.

use super::steps::{KEPT, Step, machine_at_reset, run, word};
use super::stm32_peripherals::Bench;
use mcu::{FlashChange, FlashStore, Mcu, ResetCause, Until};

const FLASH: u32 = 0x4002_2000;
const KEYR: u32 = FLASH + 0x04;
const OPTKEYR: u32 = FLASH + 0x08;
const SR: u32 = FLASH + 0x0c;
const CR: u32 = FLASH + 0x10;
const AR: u32 = FLASH + 0x14;
const OBR: u32 = FLASH + 0x1c;
const WRPR: u32 = FLASH + 0x20;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

const PG: u32 = 1 << 0;
const PER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const OPTPG: u32 = 1 << 4;
const OPTER: u32 = 1 << 5;
const STRT: u32 = 1 << 6;
const OPTWRE: u32 = 1 << 9;
const OBL_LAUNCH: u32 = 1 << 13;
const PGERR: u32 = 1 << 2;
const WRPRTERR: u32 = 1 << 4;
const EOP: u32 = 1 << 5;

const RDP: u32 = 0x1fff_f800;
const USER: u32 = RDP + 2;
const DATA0: u32 = RDP + 4;
const WRP0: u32 = RDP + 8;

/// Target, RDP without protection, OBR as delivered, and with RDP not so.
const PARTS: [(&str, u32, u32, u32); 3] = [
    ("stm32f051", 0xaa, 0xffff_ff00, 0xffff_ff02),
    ("stm32f100", 0xa5, 0x03ff_fffc, 0x03ff_fffe),
    ("stm32f103", 0xa5, 0x03ff_fffc, 0x03ff_fffe),
];

/// With both locks open.
fn unlocked(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    for register in [KEYR, OPTKEYR] {
        KEYS.iter().for_each(|key| bench.write(register, *key));
    }
    assert_eq!(bench.read(CR), OPTWRE, "{target}");
    bench
}

/// Until the operation under way is over.
fn wait(bench: &mut Bench) {
    if bench.bus.due != u64::MAX {
        bench.advance(bench.now.max(bench.bus.due));
    }
}

/// libopencm3's `flash_erase_option_bytes`.
fn erase(bench: &mut Bench) {
    bench.write(CR, OPTWRE | OPTER);
    bench.write(CR, OPTWRE | OPTER | STRT);
    bench.write(CR, OPTWRE);
    wait(bench);
}

/// libopencm3's `flash_program_option_bytes`; SR after it.
fn program(bench: &mut Bench, address: u32, value: u32) -> u32 {
    bench.write(SR, PGERR | WRPRTERR | EOP);
    bench.write(CR, OPTWRE | OPTPG);
    bench.write_part(address, 2, value);
    bench.write(CR, OPTWRE);
    wait(bench);
    bench.read(SR)
}

/// Resets by power, which loads the option bytes anew on every part.
fn power_on(bench: &mut Bench) {
    bench.bus.reset();
}

/// A store into flash, as the core has it.
fn store(bench: &mut Bench, address: u32, value: u16) -> FlashChange {
    let before = 0xffff;
    let store = FlashStore { pc: 0, from_flash: true, address, size: 2, value: value.into(), before };
    bench.bus.flash_store(&store, bench.now, None).expect("no fault")
}

/// RM0091 section 4, PM0075 section 2.5: production values; OBR's fields in each family's places.
#[test]
fn they_read_as_delivered() {
    for (target, rdp, obr, _) in PARTS {
        let mut bench = Bench::new(target);
        let first = 0x00ff_0000 | (!rdp & 0xff) << 8 | rdp;
        let words = [RDP, DATA0, WRP0].map(|address| bench.read(address));
        assert_eq!(words, [first, 0x00ff_00ff, 0x00ff_00ff], "{target}");
        assert_eq!((bench.read(OBR), bench.read(WRPR)), (obr, u32::MAX), "{target}");
        let f0 = target == "stm32f051";
        assert_eq!(bench.bus.claims(RDP + 12), !f0, "{target}: WRP2 and WRP3 are for 128 kB and for the F1");
    }
}

/// The controller makes the complement; what is written counts once it is loaded: on the F1 with
/// every reset (PM0075 section 2.5), on the F0 at power-on and with OBL_LAUNCH (RM0091 section 4).
#[test]
fn they_count_once_they_are_loaded() {
    for (target, rdp, obr, protected) in PARTS {
        let mut bench = unlocked(target);
        erase(&mut bench);
        let erased = [RDP, DATA0, WRP0].map(|address| bench.read(address));
        assert_eq!(erased, [u32::MAX; 3], "{target}");
        assert_eq!(program(&mut bench, RDP, rdp), EOP, "{target}");
        assert_eq!(program(&mut bench, DATA0, 0x1234), EOP, "{target}");
        assert_eq!(program(&mut bench, WRP0, 0x00fb), EOP, "{target}");
        assert_eq!(bench.read(DATA0) & 0xffff, 0xcb34, "{target}: the low half and its complement");
        assert_eq!((bench.read(OBR), bench.read(WRPR)), (obr, u32::MAX), "{target}: not yet");
        let f0 = target == "stm32f051";
        let written = if f0 { obr & !0xff_0000 | 0x34 << 16 } else { obr & !0x3_fc00 | 0x34 << 10 };
        bench.bus.reset_by(ResetCause::External, bench.now, 0);
        assert_eq!(bench.read(OBR), if f0 { obr } else { written }, "{target}: any reset");
        bench.bus.reset_by(ResetCause::OptionBytes, bench.now, 0);
        assert_eq!((bench.read(OBR), bench.read(WRPR)), (written, 0xffff_fffb), "{target}");
        // All erased: no error, and read protection (PM0075, section 2.4.1).
        let mut bench = unlocked(target);
        erase(&mut bench);
        power_on(&mut bench);
        assert_eq!((bench.read(OBR), bench.read(WRPR)), (protected, u32::MAX), "{target}: erased");
    }
}

/// OPTERR: a byte that is not the complement of the other counts as 0xff.
#[test]
fn a_byte_that_does_not_match_is_an_error() {
    for (target, _, obr, _) in PARTS {
        let mut bench = Bench::new(target);
        let cells = bench.bus.memory_mut(DATA0, 2).expect("option bytes");
        cells.copy_from_slice(&[0x34, 0x34]);
        power_on(&mut bench);
        assert_eq!(bench.read(OBR), obr | 1, "{target}");
    }
}

/// SR says it where a byte is not erased; what has not been unlocked, and words, are faults.
#[test]
fn programming_out_of_order_changes_nothing() {
    for (target, _, obr, _) in PARTS {
        let mut bench = Bench::new(target);
        assert!(bench.try_write(OPTKEYR, KEYS[0]).is_err(), "{target}: KEYR comes first");
        KEYS.iter().for_each(|key| bench.write(KEYR, *key));
        bench.write(CR, OPTWRE | OPTPG);
        assert_eq!(bench.read(CR), OPTPG, "{target}: OPTWRE is for the keys to set");
        assert!(bench.bus.write(DATA0, 2, 0x12, 1, 0, None).is_err(), "{target}: OPTWRE is clear");
        assert!(bench.try_write(CR, OPTER | STRT).is_err(), "{target}: OPTWRE is clear");
        assert!(bench.try_write(OPTKEYR, KEYS[1]).is_err(), "{target}: a wrong key");
        let mut bench = unlocked(target);
        assert!(bench.bus.write(DATA0, 2, 0x12, 1, 0, None).is_err(), "{target}: OPTPG is clear");
        bench.write(CR, OPTWRE | OPTPG);
        assert!(bench.try_write(DATA0, 0x12).is_err(), "{target}: a word");
        assert!(bench.try_write(CR, OPTWRE | OPTER | PER | STRT).is_err(), "{target}: what is to be erased?");
        assert_eq!(program(&mut bench, DATA0, 0x12), PGERR, "{target}");
        assert_eq!(bench.read(DATA0), 0x00ff_00ff, "{target}");
        bench.write(CR, 0);
        assert_eq!(bench.read(CR), 0, "{target}: OPTWRE can be cleared");
        power_on(&mut bench);
        assert_eq!(bench.read(OBR), obr, "{target}");
    }
}

fn refused(bench: &mut Bench, address: u32, value: u32) -> String {
    bench.write(CR, OPTWRE | OPTPG);
    let fault = bench.bus.write(address, 2, value, bench.now, 0, None).expect_err("a refusal");
    fault.to_string()
}

/// Settings without a model are refused when they are programmed.
#[test]
fn settings_without_a_model_are_refused() {
    for (target, rdp, _, protected) in PARTS {
        let mut bench = unlocked(target);
        erase(&mut bench);
        let what = [(0xfe, "WDG_SW = 0"), (0xfd, "nRST_STOP = 0"), (0xfb, "nRST_STDBY = 0")];
        for (user, what) in what {
            assert!(refused(&mut bench, USER, user).contains(what), "{target}: {what}");
        }
        assert_eq!(bench.read(RDP), u32::MAX, "{target}: nothing was programmed");
        if target == "stm32f051" {
            assert!(refused(&mut bench, USER, 0xbf).contains("RAM_PARITY_CHECK = 0"));
            assert!(refused(&mut bench, RDP, 0xcc).contains("level 2"));
            // VDDA is the supply, and the machine starts from flash.
            assert_eq!(program(&mut bench, USER, 0xcf), EOP);
        }
        // As long as level 0 is loaded, RDP may be erased and programmed again, as ST's HAL does.
        assert_eq!(program(&mut bench, RDP, rdp), EOP, "{target}");
        erase(&mut bench);
        power_on(&mut bench);
        for register in [KEYR, OPTKEYR] {
            KEYS.iter().for_each(|key| bench.write(register, *key));
        }
        assert_eq!(bench.read(OBR), protected, "{target}");
        assert!(refused(&mut bench, RDP, rdp).contains("read protection back"), "{target}");
        assert_eq!(program(&mut bench, RDP, 0xbb), EOP, "{target}: level 1 may stay");
    }
    let mut bench = unlocked("stm32f103");
    assert!(bench.try_write(CR, OPTWRE | OBL_LAUNCH).is_err(), "the F0's alone");
}

/// So is what an image has at their addresses, before the program begins.
#[test]
fn a_part_does_not_begin_with_them() {
    for (target, ..) in PARTS {
        let mut machine = machine_at_reset(target, &[]);
        assert!(machine.poke(USER, &[0xfe, 0x01]));
        machine.reset();
        let until = Until { cycles: Some(1_000), ..Until::default() };
        let fault = machine.run(&until).expect_err("a hardware watchdog").to_string();
        assert!(fault.contains("WDG_SW = 0"), "{target}: {fault}");
        assert!(machine.poke(USER, &[0xff, 0x00]));
        machine.reset();
        run(&mut *machine, 1_000);
    }
}

/// RM0091 section 3.3.2, PM0075 section 2.4.2: a bit for four pages of 1 kB; read protection of the
/// F1 takes the first four.
#[test]
fn protected_pages_are_not_written() {
    const PLACE: u32 = 0x0800_2000;
    for (target, _, _, protected) in PARTS {
        let mut bench = unlocked(target);
        bench.bus.memory_mut(WRP0, 2).expect("option bytes").copy_from_slice(&[0xfb, 0x04]);
        power_on(&mut bench);
        KEYS.iter().for_each(|key| bench.write(KEYR, *key));
        bench.write(CR, PG);
        for (address, sr) in [
            (PLACE - 2, EOP),
            (PLACE, WRPRTERR),
            (PLACE + 0xffe, WRPRTERR),
            (0x2000, WRPRTERR),
            (PLACE + 0x1000, EOP),
        ] {
            let kept = store(&mut bench, address, 0x1234) == FlashChange::Kept;
            assert_eq!((bench.read(SR), kept), (sr, sr == WRPRTERR), "{target}: {address:#x}");
            bench.write(SR, EOP | WRPRTERR);
        }
        for (cr, page, sr) in [
            (PER, PLACE - 0x400, EOP),
            (PER, PLACE + 0xc00, WRPRTERR),
            (PER, PLACE + 0x1000, EOP),
            (MER, 0, WRPRTERR),
        ] {
            bench.write(CR, cr);
            bench.write(AR, page);
            bench.write(CR, cr | STRT);
            assert_eq!(bench.read(SR), sr, "{target}: {page:#x}");
            bench.write(SR, EOP | WRPRTERR);
        }
        // Read protection.
        bench.bus.memory_mut(RDP, 2).expect("option bytes").copy_from_slice(&[0xff, 0xff]);
        bench.bus.memory_mut(WRP0, 2).expect("option bytes").copy_from_slice(&[0xff, 0x00]);
        power_on(&mut bench);
        assert_eq!(bench.read(OBR), protected);
        KEYS.iter().for_each(|key| bench.write(KEYR, *key));
        bench.write(CR, PG);
        let first = if target == "stm32f051" { EOP } else { WRPRTERR };
        for (address, sr) in [(0x0800_0ffe, first), (0x0800_1000, EOP)] {
            store(&mut bench, address, 0x1234);
            assert_eq!(bench.read(SR), sr, "{target}: {address:#x}");
            bench.write(SR, EOP | WRPRTERR);
        }
    }
}

fn unlock() -> Vec<Step> {
    [KEYR, OPTKEYR].into_iter().flat_map(|register| KEYS.map(|key| Step::Write(register, key))).collect()
}

fn bytes(machine: &dyn Mcu, address: u32) -> [u8; 2] {
    let mut bytes = [0; 2];
    assert!(machine.peek(address, &mut bytes));
    bytes
}

/// ST's HAL, stm32f0xx_hal_flash_ex.c: HAL_FLASHEx_OBProgram with OPTIONBYTE_WRP, then
/// HAL_FLASH_OB_Launch. The program begins anew, with OBLRSTF set (RM0091 section 6.4.10), and its
/// first sector is protected.
#[test]
fn the_hal_protects_a_sector_and_launches() {
    const PLACE: u32 = 0x0800_0f00;
    const CSR: u32 = 0x4002_1024;
    let mut steps = vec![Step::Copy(KEPT, WRPR), Step::Copy(KEPT + 4, CSR)];
    steps.extend(unlock());
    steps.extend([
        Step::Write(CR, OPTWRE | PG),
        Step::WriteHalf(PLACE, 0x1234),
        Step::Copy(KEPT + 8, SR),
        Step::Write(SR, EOP | WRPRTERR | PGERR),
        Step::Write(CR, OPTWRE),
    ]);
    for _ in 0..2 {
        steps.extend([
            Step::Write(CR, OPTWRE | OPTER),
            Step::Write(CR, OPTWRE | OPTER | STRT),
            Step::Write(CR, OPTWRE),
        ]);
    }
    steps.extend([
        Step::Write(CR, OPTWRE | OPTPG),
        Step::WriteHalf(RDP, 0xaa),
        Step::WriteHalf(WRP0, 0x00fe),
        Step::Write(CR, OPTWRE),
        Step::Write(CR, OPTWRE | OBL_LAUNCH),
    ]);
    let mut machine = machine_at_reset("stm32f051", &steps);
    let clock_hz = machine.clock_hz();
    // Twice 30 ms, three halfwords.
    run(&mut *machine, clock_hz * 60 / 1000);
    let kept = [0, 8].map(|offset| word(&*machine, KEPT + offset));
    assert_eq!(kept, [u32::MAX, EOP]);
    assert_eq!(word(&*machine, KEPT + 4) >> 25 & 1, 0);
    run(&mut *machine, clock_hz * 61 / 1000);
    let kept = [0, 8].map(|offset| word(&*machine, KEPT + offset));
    assert_eq!(kept, [0xffff_fffe, WRPRTERR]);
    assert_eq!(word(&*machine, KEPT + 4) >> 25 & 3, 3, "OBLRSTF, PINRSTF");
    assert_eq!(bytes(&*machine, PLACE), [0x34, 0x12]);
}

/// The core stands still for as long as a page and a halfword take (an estimate).
#[test]
fn they_take_their_time() {
    const CYCLES: u32 = 0xe000_1004;
    let mut steps = vec![Step::Write(0xe000_edfc, 1 << 24), Step::Write(0xe000_1000, 1)];
    steps.extend(unlock());
    steps.extend([
        Step::Write(CR, OPTWRE | OPTER),
        Step::Copy(KEPT, CYCLES),
        Step::Write(CR, OPTWRE | OPTER | STRT),
        Step::Copy(KEPT + 4, CYCLES),
        Step::Write(CR, OPTWRE | OPTPG),
        Step::Copy(KEPT + 8, CYCLES),
        Step::WriteHalf(DATA0, 0x12),
        Step::Copy(KEPT + 12, CYCLES),
    ]);
    let mut machine = machine_at_reset("stm32f103", &steps);
    let clock_hz = machine.clock_hz();
    run(&mut *machine, clock_hz / 20);
    let kept: Vec<u64> = (0..4).map(|index| word(&*machine, KEPT + 4 * index).into()).collect();
    assert!((kept[1] - kept[0]).abs_diff(clock_hz * 30 / 1000) < 100, "{kept:?}");
    assert!((kept[3] - kept[2]).abs_diff(clock_hz * 52 / 1_000_000) < 100, "{kept:?}");
}

/// They outlive the supply; what is being written when it goes is torn, and an error when it is
/// loaded.
#[test]
fn they_are_not_volatile() {
    for (target, rdp, obr, protected) in PARTS {
        let mut steps = vec![Step::Copy(KEPT, OBR)];
        steps.extend(unlock());
        steps.extend([
            Step::Write(CR, OPTWRE | OPTER),
            Step::Write(CR, OPTWRE | OPTER | STRT),
            Step::Write(CR, OPTWRE | OPTPG),
            Step::WriteHalf(RDP, rdp as u16),
            Step::WriteHalf(DATA0, 0x12),
            Step::Write(CR, OPTWRE),
        ]);
        let mut machine = machine_at_reset(target, &steps);
        let clock_hz = machine.clock_hz();
        let (page, half) = (clock_hz * 30 / 1000, clock_hz * 52 / 1_000_000);
        let f0 = target == "stm32f051";
        let data0 = |value: u32| if f0 { value << 16 } else { value << 10 };
        let cause = ResetCause::External;
        for (cycles, torn, cells, loaded) in [
            (page / 2, Some(0x77), [0x77; 2], protected | 1),
            (page / 2, Some(0xff), [0xff; 2], protected),
            (page / 2, None, [0xff, 0xaa], protected | 1),
            (page + half + half / 2 + 130, Some(0x77), [0x77; 2], obr | 1),
            (page + half + half / 2 + 130, None, [0x57, 0xfd], obr | 1),
            (page + 2 * half + 1000, Some(0x77), [0x12, 0xed], obr & !data0(0xff) | data0(0x12)),
        ] {
            let mut machine = machine.snapshot();
            run(&mut *machine, cycles);
            let begun = machine.nonvolatile_writes();
            assert_eq!(begun, if cycles < page { 1 } else { 3 }, "{target}: {cycles}");
            match torn {
                Some(torn) => machine.cut_power(torn),
                None => machine.reset_by(cause),
            }
            assert_eq!(bytes(&*machine, DATA0), cells, "{target}: {cycles} {torn:?}");
            let cycles = machine.cycles() + 60;
            run(&mut *machine, cycles);
            let loaded = if f0 && torn.is_none() { obr } else { loaded };
            assert_eq!(word(&*machine, KEPT), loaded, "{target}: {cycles} {torn:?}");
            assert_eq!(machine.nonvolatile_writes(), begun, "{target}");
        }
        run(&mut *machine, page / 2);
        machine.reset();
        assert_ne!(bytes(&*machine, RDP), [0xff; 2], "{target}: a reset stops it, too");
    }
}
