//! Power of the MSP430F5438A: use of the cycles, by the status register and the core voltage.

use super::programs::{mov, mov_byte, part, poke, word};
use mcu::{Fault, Mcu, Stop, Until, new_machine};

const PC: u16 = 0x6000;
const CLOCK_HZ: u64 = 1_000_000;
const TA0_CTL: u16 = 0x340;
const TA0_CCTL0: u16 = 0x342;
const TA0_CCR0: u16 = 0x352;
/// The vector of TA0's CCR0: number 54.
const TA0_VECTOR: u32 = 0xff80 + 2 * 54;
const SVSMLCTL: u16 = 0x126;
const FCTL1: u16 = 0x140;
const FCTL3: u16 = 0x144;
const LPM0: u16 = 0x18;
const LPM3: u16 = 0xd8;
const LPM4: u16 = 0xf8;

/// `BIS #bits, SR`.
fn sleep(bits: u16) -> Vec<u16> {
    vec![0xd032, bits]
}

/// The watchdog held, then `words` from the flash's 0x6000, then `jmp $`; TA0's interrupt wakes the
/// core for good: `BIC #0xf0, 0(SP)`, `RETI`.
fn machine(words: &[Vec<u16>]) -> Box<dyn Mcu> {
    let part = part();
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

fn run(machine: &mut dyn Mcu) {
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
}

/// Message of the fault that ends the program.
fn fault(words: &[Vec<u16>]) -> String {
    match machine(words).run(&Until::default()) {
        Err(fault) => fault.to_string(),
        stop => panic!("no fault: {stop:?}"),
    }
}

/// TA0 counts ACLK up to `ticks` and round, its interrupt enabled: it comes after `ticks` edges and
/// then every `ticks + 1`.
fn interval(ticks: u16) -> Vec<u16> {
    [mov(ticks, TA0_CCR0), mov(0x10, TA0_CCTL0), mov(0x114, TA0_CTL)].concat()
}

#[test]
fn every_cycle_is_running_or_asleep() {
    let mut machine = machine(&[interval(33), sleep(LPM3), mov(0, TA0_CTL), sleep(LPM0)]);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    let residency = machine.residency();
    // Four MOV of 5 cycles less one, then BIS of 2: the core sleeps from cycle 18 on. The timer has
    // been counting since cycle 16, before the first edge of ACLK: the 33rd comes at cycle 1008,
    // which is ceil(33 * 1e6 / 32768).
    assert_eq!(residency.asleep_in("LPM3"), 1008 - 18);
    // Waking up 150 us with SVSLFP = 0 as after a reset, interrupt 6, BIC 5, RETI 5, MOV 4, BIS 2.
    assert_eq!(residency.active, [18 + 150 + 6 + 5 + 5 + 4 + 2]);
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
    // Edge 100 of ACLK: ceil(100e6 / 32768) = 3052; LPM0 from cycle 18; then interrupt, BIC, RETI,
    // two MOV.B.
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

#[test]
fn waking_takes_the_time_that_the_supervisor_leaves() {
    // SLAS655H: 150 us with SVSLFP = 0; with SVSLFP = 1 and below 4 MHz 4.5 us, that is 5 cycles of
    // 1 MHz; from LPM0 none.
    let unlock = mov_byte(0xa5, 0x121);
    for (control, mode, cycles) in
        [(0x4400, LPM3, 150), (0x4c00, LPM3, 5), (0x4000, LPM3, 5), (0x4400, LPM0, 0)]
    {
        let mut machine =
            machine(&[unlock.clone(), mov(control, SVSMLCTL), interval(33), sleep(mode), sleep(LPM0)]);
        // The handler's first instruction: 6 cycles after the wake-up, which begins at edge 33 of
        // ACLK.
        let until = Until { addresses: vec![0x7000], ..Until::default() };
        assert_eq!(machine.run(&until), Ok(Stop::Address(0x7000)));
        assert_eq!(machine.cycles(), 1008 + cycles + 6);
    }
}

#[test]
fn a_clock_that_a_timer_needs_is_not_stopped() {
    let on_smclk = [mov(1000, TA0_CCR0), mov(0x10, TA0_CCTL0), mov(0x214, TA0_CTL)].concat();
    assert!(
        fault(&[on_smclk.clone(), sleep(LPM3)]).contains("TA0 counts SMCLK and keeps it running in LPM3")
    );
    assert!(fault(&[interval(33), sleep(LPM4)]).contains("TA0 counts ACLK and keeps it running in LPM4"));
    let mut machine = machine(&[on_smclk, sleep(LPM0), mov(0, TA0_CTL), sleep(LPM0)]);
    run(machine.as_mut());
    // Counting from cycle 16 on.
    assert_eq!(machine.residency().asleep_in("LPM0"), 1016 - 18);
}

/// FCTL3 unlocked and FCTL1 in `mode`, then `stores`, then locked.
fn flash(mode: u16, stores: &[Vec<u16>]) -> Vec<u16> {
    let unlocked = [mov(0xa500, FCTL3), mov(0xa500 | mode, FCTL1)].concat();
    [unlocked, stores.concat(), mov(0xa500, FCTL1), mov(0xa510, FCTL3)].concat()
}

#[test]
fn flash_is_written_from_1_to_0_and_erased_by_segments() {
    let program = [
        flash(0x40, &[mov(0x1234, 0x1800), mov(0x0ff0, 0x1800), mov_byte(0x56, 0x1903), mov(0x55aa, 0x6a00)]),
        flash(0x80, &[mov(0x1111, 0x1910), mov(0x2222, 0x1912)]),
        flash(0x02, &[mov(0, 0x187e), mov(0, 0x6bfe)]),
    ];
    let mut machine = machine(&program[..1]);
    run(machine.as_mut());
    assert_eq!(word(machine.as_ref(), 0x1800), 0x0230);
    assert_eq!(word(machine.as_ref(), 0x1902), 0x56ff);
    assert_eq!(word(machine.as_ref(), 0x6a00), 0x55aa);
    // Nine MOV of 4 cycles, and 85 us for each of four writes; the core stands still but does not
    // sleep.
    assert_eq!(machine.cycles(), 36 + 4 * 85);
    assert_eq!(machine.residency().active, [36 + 4 * 85]);

    let mut machine = self::machine(&program);
    poke(machine.as_mut(), 0x69fe, &[0x1111]);
    poke(machine.as_mut(), 0x6c00, &[0x2222]);
    run(machine.as_mut());
    assert_eq!([0x1910, 0x1912].map(|at| word(machine.as_ref(), at)), [0x1111, 0x2222]);
    // Information segment D of 128 bytes and a main segment of 512 bytes are gone, their neighbours
    // are not.
    assert_eq!(
        [0x1800, 0x6a00, 0x69fe, 0x6c00].map(|at| word(machine.as_ref(), at)),
        [0xffff, 0xffff, 0x1111, 0x2222]
    );
    assert_eq!(word(machine.as_ref(), 0x1902), 0x56ff);
    // MOV #0 is shorter but takes 4 cycles, too: 9 + 6 + 6 of them; a long word takes as long as a
    // word.
    assert_eq!(machine.cycles(), 21 * 4 + 5 * 85 + 2 * 32_000);
    // Flash outlasts a reset; the controller is locked again.
    machine.reset();
    assert_eq!(word(machine.as_ref(), 0x1910), 0x1111);
}

#[test]
fn access_that_the_flash_controller_forbids_is_a_fault() {
    assert!(fault(&[mov(0, 0x1800)]).contains("locked"));
    assert!(fault(&[mov_byte(0x40, FCTL1)]).contains("in words only"));
    assert!(fault(&[flash(0, &[mov(0, 0x1800)])]).contains("neither ERASE nor WRT"));
    assert!(fault(&[flash(0x40, &[mov(0, 0x19fe)])]).contains("LOCKA"));
    assert!(fault(&[flash(0x02, &[mov(0, 0x1980)])]).contains("LOCKA"));
    assert!(fault(&[mov(0xa580, 0x146), flash(0x40, &[mov(0, 0x1800)])]).contains("LOCKINFO"));
    assert!(fault(&[flash(0x80, &[mov(0, 0x1800), mov(0, 0x1804)])]).contains("other half"));
    assert!(fault(&[flash(0xc0, &[])]).contains("alone"));
    // Segment A opens when LOCKA, which reads 1, is written 1.
    let mut machine = machine(&[mov(0xa540, FCTL3), flash(0x40, &[mov(0, 0x19fe)])]);
    run(machine.as_mut());
    assert_eq!(word(machine.as_ref(), 0x19fe), 0);
    // Code in RAM would have to run on while flash is busy.
    let mut machine = self::machine(&[]);
    poke(machine.as_mut(), 0x2000, &flash(0x40, &[mov(0, 0x1800)]));
    assert!(machine.set_register("pc", 0x2000));
    let fault = machine.run(&Until::default()).expect_err("fault").to_string();
    assert!(fault.contains("code in RAM"), "{fault}");
}

#[test]
fn a_write_that_the_power_cuts_short_stays_torn() {
    let program = [flash(0x40, &[mov(0x0000, 0x1800)])];
    for (cycles, value) in [(20, 0x5555), (16 + 84, 0x5555), (16 + 85, 0x0000)] {
        let mut machine = machine(&program);
        assert_eq!(machine.run(&Until { cycles: Some(cycles), ..Until::default() }), Ok(Stop::Cycles));
        assert_eq!(machine.cycles(), cycles);
        machine.reset();
        assert_eq!(word(machine.as_ref(), 0x1800), value, "power lost at cycle {cycles}");
    }
    let mut machine = machine(&[flash(0x02, &[mov(0, 0x1800)])]);
    poke(machine.as_mut(), 0x1800, &[0, 0x1234]);
    assert_eq!(machine.run(&Until { cycles: Some(30_000), ..Until::default() }), Ok(Stop::Cycles));
    // A copy meets the same fate.
    let mut copy = machine.snapshot();
    machine.reset();
    copy.reset();
    for machine in [machine, copy] {
        assert_eq!([0x1800, 0x1802].map(|at| word(machine.as_ref(), at)), [0xaaaa, 0xbabe]);
    }
}

const SVSMHCTL: u16 = 0x124;
const PMMIFG: u32 = 0x12c;

/// Lets the machine run on for a while at this supply.
fn at(machine: &mut dyn Mcu, supply_v: f64) -> Result<Stop, Fault> {
    machine.board_mut().supply_v = supply_v;
    let cycles = Some(machine.cycles() + 5);
    machine.run(&Until { cycles, ..Until::default() })
}

/// Raises the core voltage to `level`, supervised (SLAU208, "Increasing VCORE"), or with the high
/// side off.
fn raise(level: u16, supervised: bool) -> Vec<u16> {
    let high_side = |level: u16| if supervised { 0x4400 | level << 8 | level } else { 0x4000 };
    let step = |level: u16| [mov(high_side(level), SVSMHCTL), mov(0xa500 | level, 0x120)].concat();
    [mov(0xa500, 0x120), (1..=level).map(step).collect::<Vec<_>>().concat()].concat()
}

/// `NOP`, for ever: a jump back over it.
fn idle() -> Vec<u16> {
    vec![0x4303, 0x3ffe]
}

#[test]
fn supervisor_resets_below_one_level_and_ends_above_another() {
    // SVSH 0, as after a reset: 1.68 V falling, 1.74 V rising.
    let mut machine = machine(&[idle()]);
    let machine = machine.as_mut();
    assert_eq!(at(machine, 1.73), Ok(Stop::PowerLost), "not up yet");
    assert_eq!(machine.cycles(), 0);
    assert_eq!(at(machine, 1.75), Ok(Stop::Cycles));
    assert_eq!(at(machine, 1.69), Ok(Stop::Cycles));
    let cycles = machine.cycles();
    assert_eq!(at(machine, 1.67), Ok(Stop::PowerLost));
    assert_eq!(at(machine, 3.0), Ok(Stop::PowerLost), "not before the reset");
    assert_eq!(machine.cycles(), cycles);
    machine.reset();
    assert_eq!(at(machine, 1.70), Ok(Stop::PowerLost));
    assert_eq!(at(machine, 1.75), Ok(Stop::Cycles));
}

#[test]
fn the_release_level_outlasts_a_reset_but_not_a_brown_out() {
    // SVSHRVL 3 and SVSMHRRL 3: 2.18 V and 2.30 V.
    let mut machine = machine(&[raise(3, true), idle()]);
    let machine = machine.as_mut();
    machine.board_mut().supply_v = 3.0;
    assert_eq!(machine.run(&Until { cycles: Some(100), ..Until::default() }), Ok(Stop::Cycles));
    let limits = machine.supply_limits().expect("limits");
    assert_eq!((limits.falling_v, limits.rising_v), (2.18, 2.30));
    // Guarded by the supervisor the part runs on below 2.4 V.
    assert_eq!(at(machine, 2.19), Ok(Stop::Cycles));
    for (lowest_v, rising_v) in [(2.17, 2.30), (1.44, 1.74)] {
        assert_eq!(at(machine, lowest_v), Ok(Stop::PowerLost));
        machine.reset();
        assert_eq!(machine.supply_limits().expect("limits").rising_v, rising_v);
        assert_eq!(at(machine, rising_v - 0.01), Ok(Stop::PowerLost));
        assert_eq!(at(machine, rising_v), Ok(Stop::Cycles));
        // Into the next round with the levels set again.
        machine.board_mut().supply_v = 3.0;
        let until = Until { cycles: Some(machine.cycles() + 100), ..Until::default() };
        assert_eq!(machine.run(&until), Ok(Stop::Cycles));
    }
    // A supply that is too low for the level shows where the program sets it: at the second step,
    // 2.08 V.
    machine.reset();
    machine.board_mut().supply_v = 2.0;
    assert_eq!(machine.run(&Until { cycles: Some(100), ..Until::default() }), Ok(Stop::PowerLost));
    // Four MOV: hold the watchdog, unlock, SVSMHCTL 1, PMMCOREV 1; then SVSMHCTL 2.
    assert_eq!(machine.cycles(), 20);
}

#[test]
fn unguarded_core_below_the_data_sheet_s_voltage_is_a_fault() {
    // Recommended operating conditions: PMMCOREV 1 needs 2.0 V.
    let mut machine = machine(&[raise(1, false), idle()]);
    machine.board_mut().supply_v = 2.0;
    assert_eq!(machine.run(&Until { cycles: Some(100), ..Until::default() }), Ok(Stop::Cycles));
    let fault = at(machine.as_mut(), 1.99).expect_err("fault").to_string();
    assert!(fault.contains("1.99 V is below the 2 V"), "{fault}");
    // Without a supervisor only the brown-out circuit resets: 1.45 V falling, 1.74 V cold.
    assert_eq!(at(machine.as_mut(), 1.44), Ok(Stop::PowerLost));
}

#[test]
fn the_monitor_warns_before() {
    // SVMH at level 5, 2.7 V, supervisor at level 0.
    let mut machine = machine(&[mov(0xa500, 0x120), mov(0x4405, SVSMHCTL), mov(0, PMMIFG as u16), idle()]);
    let flags = |machine: &mut dyn Mcu| {
        // MOV &PMMIFG, R5 in RAM, at the end of a copy.
        let mut copy = machine.snapshot();
        poke(copy.as_mut(), 0x2000, &[0x4215, PMMIFG as u16, 0x3fff]);
        assert!(copy.set_register("pc", 0x2000));
        run(copy.as_mut());
        copy.registers().into_iter().find(|(name, _)| name == "r5").expect("R5").1 & 0x20
    };
    let machine = machine.as_mut();
    assert_eq!(machine.run(&Until { cycles: Some(50), ..Until::default() }), Ok(Stop::Cycles));
    assert_eq!(flags(machine), 0);
    assert_eq!(at(machine, 2.69), Ok(Stop::Cycles));
    assert_eq!(flags(machine), 0x20);
    let nmi = [mov(0xa500, 0x120), mov(0x1120, 0x12e)];
    assert!(fault(&nmi).contains("poll PMMIFG"));
}

#[test]
fn flash_is_not_written_below_its_supply() {
    let mut machine = machine(&[flash(0x40, &[mov(0, 0x1800)])]);
    machine.board_mut().supply_v = 1.79;
    let fault = machine.run(&Until::default()).expect_err("fault").to_string();
    assert!(fault.contains("1.8 V"), "{fault}");
}
