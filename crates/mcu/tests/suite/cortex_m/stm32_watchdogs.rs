//! The watchdogs of the STM32, with the times of the reference manuals.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::ClockUpdate;

const WWDG: u32 = 0x4000_2c00;
const IWDG: u32 = 0x4000_3000;

/// RM0090 section 22.4: t = tPCLK1 * 4096 * 2^WDGTB * (T[5:0] + 1); EWIF when the counter comes to
/// 0x40.
#[test]
fn the_window_watchdog_warns_and_resets() {
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, 0);
    assert_eq!((bench.read(WWDG), bench.read(WWDG + 4), bench.read(WWDG + 8)), (0x7f, 0x7f, 0));
    bench.write(WWDG + 4, 1 << 9 | 2 << 7 | 0x7f);
    bench.write(WWDG, 0x80 | 0x45);
    let (started, step) = (bench.now, 4096 * 4 * 4);
    assert!(bench.bus.has_running_watchdog());
    bench.advance(started + step - 1);
    assert_eq!(bench.read(WWDG), 0xc5);
    bench.advance(started + step);
    assert_eq!(bench.read(WWDG), 0xc4);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(started + 5 * step);
    assert_eq!((bench.bus.requests, bench.read(WWDG + 8), bench.read(WWDG)), (1, 1, 0xc0));
    bench.write(WWDG + 8, 0);
    assert_eq!(bench.bus.requests, 0);
    assert_eq!(bench.bus.due, started + 6 * step);
    // Fed: 64 counts from now on.
    bench.write(WWDG, 0xff);
    let fed = bench.now;
    bench.advance(fed + 62 * step);
    assert_eq!(bench.read(WWDG), 0xc1);
}

/// RCC_CSR as the program finds it at the begin of its last life within `cycles`.
fn cause(target: &str, csr: u32, writes: &[(u32, u32)], cycles: u64) -> u32 {
    let writes = writes.iter().map(|(address, value)| Step::Write(*address, *value));
    let steps: Vec<Step> = std::iter::once(Step::Copy(KEPT, csr)).chain(writes).collect();
    let mut machine = machine(target, &steps);
    run(&mut *machine, cycles);
    word(&*machine, KEPT) & 0xfc00_0000
}

const WWDGRSTF: u32 = 1 << 30;
const IWDGRSTF: u32 = 1 << 29;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;

/// RM0090 sections 22.3 and 7.3.21; RM0008 sections 20.3 and 7.3.10; RM0091 section 6.4.10.
#[test]
fn reset_names_the_watchdog_that_caused_it() {
    for (target, csr) in [("stm32f407", 0x4002_3874), ("stm32f103", 0x4002_1024), ("stm32f051", 0x4002_1024)]
    {
        let power_on = PORRSTF | PINRSTF;
        assert_eq!(cause(target, csr, &[(WWDG, 0xff)], 30_000) & power_on, power_on, "not yet");
        // 64 counts of 4096 clocks.
        assert_eq!(cause(target, csr, &[(WWDG, 0xff)], 300_000), WWDGRSTF | PINRSTF, "left alone");
        assert_eq!(cause(target, csr, &[(WWDG, 0xbf)], 1_000), WWDGRSTF | PINRSTF, "T6 is clear");
        let early = [(WWDG + 4, 0x50), (WWDG, 0xff), (WWDG, 0xff)];
        assert_eq!(cause(target, csr, &early, 1_000), WWDGRSTF | PINRSTF, "the counter is above the window");
        let in_time = [
            Step::Copy(KEPT, csr),
            Step::Write(WWDG + 4, 0x7e),
            Step::Write(WWDG, 0xff),
            Step::Wait(4096),
            Step::Write(WWDG, 0xff),
        ];
        let mut fed = machine(target, &in_time);
        run(&mut *fed, 100_000);
        assert_eq!(word(&*fed, KEPT) & WWDGRSTF, 0, "within the window");
        // 4 clocks of the LSI: 125 us at 32 kHz, 100 us at 40 kHz.
        let independent = [(IWDG, 0x5555), (IWDG + 8, 0), (IWDG, 0xcccc)];
        assert_eq!(cause(target, csr, &independent, 30_000), IWDGRSTF | PINRSTF);
    }
}

/// RM0008, table 96, and RM0090, table 107: 40 kHz and 32 kHz.
#[test]
fn the_independent_watchdog_counts_the_oscillator_of_its_part() {
    for (target, hz) in [
        ("stm32f051", 40_000),
        ("stm32f100", 40_000),
        ("stm32f103", 40_000),
        ("stm32f407", 32_000),
        ("stm32f767", 32_000),
        ("stm32l4r5", 32_000),
    ] {
        let mut bench = Bench::new(target);
        bench.write(IWDG, 0xcccc);
        assert_eq!(bench.bus.due, bench.now + 4096 * 4 * 1_000_000 / hz, "{target}");
    }
}

/// RM0091 section 24.3.2: the counter must be below the window when it is reloaded; the window's
/// register reloads it, too.
#[test]
fn the_independent_watchdog_has_a_window() {
    const CSR: u32 = 0x4002_1024;
    // 100 counts of 4 clocks; up to 50 of them it may be fed.
    let started = [(IWDG, 0x5555), (IWDG + 8, 99), (IWDG + 0x10, 49), (IWDG, 0xcccc)];
    let fed: Vec<(u32, u32)> = started.iter().copied().chain([(IWDG, 0xaaaa)]).collect();
    assert_eq!(cause("stm32f051", CSR, &fed, 10_000), IWDGRSTF | PINRSTF);
    assert_eq!(cause("stm32f051", CSR, &started, 10_000) & IWDGRSTF, 0);
    let mut bench = Bench::new("stm32f051");
    started.iter().for_each(|(address, value)| bench.write(*address, *value));
    let began = bench.now;
    bench.now = began + 5_001;
    bench.write(IWDG, 0xaaaa);
    assert_eq!(bench.bus.due, bench.now + 10_000);
}
