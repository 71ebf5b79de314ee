//! The backup SRAM of the STM32F4 and F7: RM0090 sections 5.1.2 and 7.3.10, RM0410 section 4.1.3.

use super::steps::{KEPT, Step, machine_at_reset, run, word};
use mcu::Until;

const BKPSRAM: u32 = 0x4002_4000;
const LAST: u32 = BKPSRAM + 0xffc;
const RCC_AHB1ENR: u32 = 0x4002_3830;
const PWR_CR: u32 = 0x4000_7000;
const AIRCR: u32 = 0xe000_ed0c;

/// RCC_APB1ENR.PWREN; RCC_AHB1ENR.BKPSRAMEN beside what a reset leaves there; PWR_CR.DBP beside the
/// voltage scale.
const POWERED: Step = Step::Write(0x4002_3840, 1 << 28);
const CLOCKED: Step = Step::Write(RCC_AHB1ENR, 1 << 20 | 1 << 18);
const WRITABLE: Step = Step::Write(PWR_CR, 0xc000 | 1 << 8);
const RESET: Step = Step::Write(AIRCR, 0x05fa_0004);

const PARTS: [&str; 2] = ["stm32f407", "stm32f767"];

#[test]
fn a_system_reset_leaves_it() {
    for target in PARTS {
        // Each life reads what the one before wrote.
        let steps = [
            POWERED,
            CLOCKED,
            Step::Copy(KEPT, BKPSRAM),
            Step::Copy(KEPT + 4, LAST),
            WRITABLE,
            Step::Write(BKPSRAM, 0x1234_5678),
            Step::WriteHalf(LAST + 2, 0xabcd),
            RESET,
        ];
        let mut machine = machine_at_reset(target, &steps);
        run(&mut *machine, 5_000);
        assert_eq!(
            [word(&*machine, KEPT), word(&*machine, KEPT + 4)],
            [0x1234_5678, 0xabcd_0000],
            "{target}"
        );
        assert_eq!(word(&*machine, BKPSRAM), 0x1234_5678, "a debugger sees it");
        machine.reset();
        assert_eq!(word(&*machine, BKPSRAM), 0, "power-up");
    }
}

/// It is written with the clock and the leave of the power control, and read with the clock.
#[test]
fn backup_sram_needs_its_clock_and_leave_to_write() {
    let ends = |steps: &[Step], lenient: bool| {
        let mut machine = machine_at_reset("stm32f407", steps);
        machine.set_lenient(lenient);
        let ended = machine.run(&Until { cycles: Some(1_000), ..Until::default() });
        let tolerated: Vec<_> = machine.tolerated().into_iter().map(|(what, _)| what.to_string()).collect();
        (ended.map_err(|fault| fault.to_string()), tolerated, word(&*machine, BKPSRAM), word(&*machine, KEPT))
    };
    let write = || Step::Write(BKPSRAM, 7);
    let (protected, unclocked) = ("PWR_CR.DBP protects", "without a clock");
    for (steps, kind, words) in [
        (vec![CLOCKED, write()], protected, protected),
        (vec![POWERED, WRITABLE, write()], unclocked, "set BKPSRAMEN, bit 18 of RCC_AHB1ENR"),
        (vec![Step::Write(KEPT, 1), Step::Copy(KEPT, BKPSRAM)], unclocked, "set BKPSRAMEN"),
        // A reset takes the leave away; the clock as well.
        (vec![CLOCKED, Step::Copy(KEPT, BKPSRAM), write()], protected, protected),
    ] {
        let (ended, tolerated, held, _) = ends(&steps, false);
        let fault = ended.expect_err("a fault");
        assert!(fault.contains(words) && tolerated.is_empty(), "{fault}");
        assert_eq!(held, 0);
        let (ended, tolerated, held, kept) = ends(&steps, true);
        assert!(ended.is_ok() && tolerated.len() == 1 && tolerated[0].contains(kind), "{tolerated:?}");
        assert_eq!((held, kept), (0, 0), "what is written is lost, what is read is 0");
    }
    let (ended, _, held, _) = ends(&[POWERED, WRITABLE, CLOCKED, write()], false);
    assert_eq!((ended.is_ok(), held), (true, 7));
}

/// The parts of both families that have none.
#[test]
fn others_have_none() {
    let mut machine = machine_at_reset("stm32f411", &[CLOCKED, Step::Copy(KEPT, BKPSRAM)]);
    let fault = machine.run(&Until { cycles: Some(1_000), ..Until::default() }).expect_err("a fault");
    assert!(fault.to_string().contains("0x40024000"), "{fault}");
}
