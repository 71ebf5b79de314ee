//! The real-time clocks of the STM32.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::ClockUpdate;

/// RM0008 section 18.4.
mod f1 {
    use super::*;

    const RTC: u32 = 0x4000_2800;
    const CRL: u32 = RTC + 4;

    fn configured(bench: &mut Bench, writes: &[(u32, u32)]) {
        bench.write(CRL, 1 << 4);
        writes.iter().for_each(|(offset, value)| bench.write(RTC + offset, *value));
        bench.write(CRL, 0);
    }

    /// At 1 MHz with a clock of 1 kHz: a period of it is 1,000 cycles. PRL 9: ten periods a count.
    #[test]
    fn rtc_counts_and_interrupts() {
        let mut bench = Bench::new("stm32f103");
        bench.bus.update_clocks(ClockUpdate::Rtc { clock_hz: 1_000, in_reset: false }, 0);
        configured(&mut bench, &[(0x08, 0), (0x0c, 9), (0x18, 1), (0x1c, 0xffff), (0x20, 2), (0x24, 1)]);
        let began = bench.now;
        assert_eq!(bench.read(CRL) & 1 << 5, 0, "RTOFF: the write goes on");
        bench.advance(began + 3_000);
        assert_eq!(bench.read(CRL), 1 << 5 | 1 << 3, "written, and synchronised");
        assert_eq!((bench.read(RTC + 0x10), bench.read(RTC + 0x14)), (0, 6), "DIV counts down");
        bench.write(RTC, 1 << 1);
        bench.advance(began + 10_000);
        assert_eq!((bench.read(RTC + 0x18), bench.read(RTC + 0x1c)), (2, 0));
        assert_eq!((bench.read(CRL) & 7, bench.bus.requests), (1, 0), "SECF, without its interrupt");
        bench.advance(began + 19_000);
        assert_eq!(bench.bus.requests, 0);
        bench.advance(began + 20_000);
        assert_eq!((bench.read(CRL) & 7, bench.bus.requests), (3, 1 << 3), "the alarm");
        bench.write(CRL, 0);
        assert_eq!((bench.read(CRL) & 7, bench.bus.requests), (0, 0));
    }

    /// It overflows; what is written outside configuration mode is not taken.
    #[test]
    fn rtc_counter_overflows() {
        let mut bench = Bench::new("stm32f100");
        bench.bus.update_clocks(ClockUpdate::Rtc { clock_hz: 1_000, in_reset: false }, 0);
        configured(&mut bench, &[(0x08, 0), (0x0c, 0), (0x18, 0xffff), (0x1c, 0xffff)]);
        bench.write(RTC + 0x1c, 7);
        bench.write(RTC, 1 << 2);
        let now = bench.now;
        bench.advance(now + 1_000);
        assert_eq!((bench.read(CRL) & 4, bench.bus.requests, bench.read(RTC + 0x1c)), (4, 1 << 3, 0));
    }

    /// A program switches it on with the LSI (40 kHz), PRL 39,999: a count each second, of which
    /// the core has 8 million cycles; a reset by software leaves it alone.
    #[test]
    fn a_program_sets_it_up() {
        const RCC: u32 = 0x4002_1000;
        let steps = [
            Step::Copy(KEPT, RTC + 0x1c),
            Step::Write(RCC + 0x24, 1),
            Step::Write(RCC + 0x20, 1 << 15 | 2 << 8),
            Step::Write(CRL, 1 << 4),
            Step::Write(RTC + 8, 0),
            Step::Write(RTC + 12, 39_999),
            Step::Write(CRL, 0),
            Step::Wait(7_000_000),
            Step::Copy(KEPT + 4, RTC + 0x1c),
            Step::Write(0xe000_ed0c, 0x05fa_0004),
        ];
        let mut machine = machine("stm32f103", &steps);
        let second = machine.clock_hz();
        run(&mut *machine, second / 2);
        assert_eq!(word(&*machine, KEPT), 0);
        // The loop takes three cycles a turn.
        let cycles = 7_000_000 * 3;
        run(&mut *machine, cycles + 10_000);
        let counted = word(&*machine, KEPT + 4);
        assert_eq!(u64::from(counted), cycles / second);
        assert_eq!(word(&*machine, KEPT), counted, "still there after the reset");
    }
}

/// RM0090 section 26.
mod f4 {
    use super::*;

    const RTC: u32 = 0x4000_2800;
    const ISR: u32 = RTC + 0x0c;
    const EXTI: u32 = 0x4001_3c00;
    /// Cycles of a second: 1 MHz.
    const SECOND: u64 = 1_000_000;

    /// On a clock of 1 kHz with PREDIV_A 9 and PREDIV_S 99, two seconds before the end of
    /// 2023-12-31, a Sunday.
    fn bench() -> Bench {
        let mut bench = Bench::new("stm32f407");
        bench.bus.update_clocks(ClockUpdate::Rtc { clock_hz: 1_000, in_reset: false }, 0);
        assert_eq!((bench.read(RTC + 4), bench.read(ISR), bench.read(RTC + 0x10)), (0x2101, 7, 0x007f_00ff));
        bench.write(RTC + 8, 1);
        assert_eq!(bench.read(RTC + 8), 0, "it is protected");
        bench.write(RTC + 0x24, 0xca);
        bench.write(RTC + 0x24, 0x53);
        bench.write(ISR, 1 << 7);
        assert_eq!(bench.read(ISR) & 0xc0, 0x80);
        bench.advance(bench.now + 2_000);
        assert_eq!(bench.read(ISR) & 0xc0, 0xc0, "two periods later");
        bench.write(RTC + 0x10, 9 << 16 | 99);
        bench.write(RTC, 0x23_5958);
        bench.write(RTC + 4, 0x23_0000 | 7 << 13 | 0x1231);
        bench.write(ISR, 0);
        bench
    }

    #[test]
    fn the_year_ends() {
        let mut bench = bench();
        let began = bench.now;
        bench.advance(began + 2_000);
        assert_eq!(bench.read(ISR) & 0xf0, 1 << 5 | 1 << 4, "RSF and INITS");
        assert_eq!(
            (bench.read(RTC + 0x28), bench.read(RTC), bench.read(RTC + 4)),
            (99, 0x23_5958, 0x23_f231)
        );
        bench.advance(began + SECOND / 2);
        assert_eq!(bench.read(RTC + 0x28), 49, "the sub-seconds count down");
        // What was read first keeps the others.
        bench.advance(began + 2 * SECOND);
        assert_eq!((bench.read(RTC), bench.read(RTC + 4)), (0x23_5958, 0x23_f231));
        assert_eq!((bench.read(RTC), bench.read(RTC + 4)), (0, 0x24_2101));
    }

    /// Alarm A with the beginning of each minute; line 17, interrupt 41.
    #[test]
    fn an_alarm_interrupts() {
        let mut bench = bench();
        let began = bench.now;
        assert_eq!(bench.read(ISR) & 1, 1);
        bench.write(RTC + 0x1c, 1 << 31 | 1 << 23 | 1 << 15);
        bench.write(EXTI, 1 << 17);
        bench.write(EXTI + 8, 1 << 17);
        bench.write(RTC + 8, 1 << 12 | 1 << 8);
        assert_eq!(bench.read(ISR) & 1, 0);
        for turn in 0..2 {
            let at = began + 2 * SECOND + turn * 60 * SECOND;
            bench.advance(at - 1_000);
            assert_eq!((bench.read(ISR) & 1 << 8, bench.bus.requests), (0, 0));
            bench.advance(at);
            assert_eq!((bench.read(ISR) & 1 << 8, bench.bus.requests), (1 << 8, 1 << 41));
            bench.write(ISR, !(1 << 8 | 1 << 7));
            bench.write(EXTI + 0x14, 1 << 17);
            assert_eq!((bench.read(ISR) & 1 << 8, bench.bus.requests), (0, 0));
        }
    }

    /// The wake-up timer: five counts of sixteen periods, and three seconds; line 22, interrupt 3.
    #[test]
    fn the_wake_up_timer_interrupts() {
        for (select, counts, period) in [(0, 5, 5 * 16_000), (4, 3, 3 * SECOND)] {
            let mut bench = bench();
            let began = bench.now;
            bench.write(EXTI, 1 << 22);
            bench.write(EXTI + 8, 1 << 22);
            bench.write(RTC + 0x14, counts - 1);
            bench.write(RTC + 8, 1 << 14 | 1 << 10 | select);
            for turn in 1..4 {
                bench.advance(began + turn * period - 1_000);
                assert_eq!(bench.bus.requests, 0);
                bench.advance(began + turn * period);
                assert_eq!((bench.read(ISR) & 1 << 10, bench.bus.requests), (1 << 10, 1 << 3));
                bench.write(ISR, !(1 << 10 | 1 << 7));
                bench.write(EXTI + 0x14, 1 << 22);
            }
        }
    }

    /// LSI, the reset values: a second is 128 * 256 periods of 32 kHz. Backup registers and
    /// calendar outlast a reset.
    #[test]
    fn a_program_sets_it_up() {
        const RCC: u32 = 0x4002_3800;
        for (target, second) in [("stm32f407", 168_000_000), ("stm32f411", 100_000_000)] {
            let steps = [
                Step::Copy(KEPT, RTC),
                Step::Copy(KEPT + 4, RTC + 0x50),
                Step::Write(RCC + 0x74, 1),
                Step::Write(RCC + 0x70, 1 << 15 | 2 << 8),
                Step::Write(RTC + 0x50, 0x1234_5678),
                // A turn takes three cycles: a second and a half.
                Step::Wait(second / 2),
                Step::Write(0xe000_ed0c, 0x05fa_0004),
            ];
            let mut machine = machine(target, &steps);
            run(&mut *machine, 100_000);
            assert_eq!((word(&*machine, KEPT), word(&*machine, KEPT + 4)), (0, 0), "{target}");
            run(&mut *machine, u64::from(second) / 2 * 3 + 100_000);
            assert_eq!((word(&*machine, KEPT), word(&*machine, KEPT + 4)), (1, 0x1234_5678), "{target}");
        }
    }

    /// RM0090 section 7.3.20, RM0008 section 7.3.9, RM0432 section 6.4.29: once the clock is chosen
    /// it stays until the backup domain is reset. embassy writes a zero over it.
    #[test]
    fn its_clock_is_chosen_once() {
        for (target, bdcr) in
            [("stm32f407", 0x4002_3870), ("stm32f103", 0x4002_1020), ("stm32l4r5", 0x4002_1090)]
        {
            let steps = [
                Step::Write(bdcr, 1 << 15 | 2 << 8),
                Step::Write(bdcr, 1 << 15),
                Step::Copy(KEPT, bdcr),
                Step::Write(bdcr, 1 << 16),
                Step::Write(bdcr, 0),
                Step::Write(bdcr, 1 << 15 | 1 << 8),
                Step::Copy(KEPT + 4, bdcr),
            ];
            let mut machine = machine(target, &steps);
            run(&mut *machine, 10_000);
            assert_eq!((word(&*machine, KEPT), word(&*machine, KEPT + 4)), (0x8200, 0x8100), "{target}");
        }
    }

    #[test]
    fn unmodelled_settings_are_refused() {
        let mut bench = bench();
        for (offset, value) in [(8, 1 << 16), (0x2c, 1), (0x3c, 1), (0x40, 1), (0x44, 1 << 24), (0x4c, 0)] {
            assert!(bench.try_write(RTC + offset, value).is_err(), "{offset:#x}");
        }
    }
}

/// RM0091 section 25, RM0383 section 17, RM0410 section 32, RM0432 section 46.
mod others {
    use super::*;

    const RTC: u32 = 0x4000_2800;
    const ISR: u32 = RTC + 0x0c;
    const SECOND: u64 = 1_000_000;

    /// On a clock of 1 kHz at 1 MHz, with PREDIV_A 9 and PREDIV_S 99, two seconds before the end of
    /// 2023-12-31.
    fn bench(target: &str) -> Bench {
        let mut bench = Bench::new(target);
        bench.bus.update_clocks(ClockUpdate::Rtc { clock_hz: 1_000, in_reset: false }, 0);
        for (offset, value) in [(0x24, 0xca), (0x24, 0x53), (0x0c, 1 << 7)] {
            bench.write(RTC + offset, value);
        }
        bench.advance(bench.now + 2_000);
        for (offset, value) in [(0x10, 9 << 16 | 99), (0x00, 0x23_5958), (0x04, 0x23_f231), (0x0c, 0)] {
            bench.write(RTC + offset, value);
        }
        bench
    }

    /// Alarm A at the beginning of the minute, by its line of EXTI; the year ends; the last backup
    /// register is kept.
    #[test]
    fn an_alarm_interrupts() {
        for (target, exti, line, irq, last) in [
            ("stm32f051", 0x4001_0400, 17, 2, 4),
            ("stm32f411", 0x4001_3c00, 17, 41, 19),
            ("stm32f767", 0x4001_3c00, 17, 41, 31),
            ("stm32l4r5", 0x4001_0400, 18, 41, 31),
        ] {
            let mut bench = bench(target);
            let began = bench.now;
            let mask = bench.read(exti) | 1 << line;
            bench.write(exti, mask);
            bench.write(exti + 8, 1 << line);
            bench.write(RTC + 0x1c, 1 << 31 | 1 << 23 | 1 << 15);
            bench.write(RTC + 8, 1 << 12 | 1 << 8);
            bench.advance(began + 2 * SECOND - 1_000);
            assert_eq!(bench.bus.requests, 0, "{target}");
            bench.advance(began + 2 * SECOND);
            assert_eq!((bench.read(ISR) & 1 << 8, bench.bus.requests), (1 << 8, 1 << irq), "{target}");
            assert_eq!((bench.read(RTC), bench.read(RTC + 4)), (0, 0x24_2101), "{target}");
            bench.write(RTC + 0x50 + 4 * last, 0x1234_5678);
            assert_eq!(bench.read(RTC + 0x50 + 4 * last), 0x1234_5678);
            assert!(bench.try_write(RTC + 0x54 + 4 * last, 1).is_err(), "{target}");
        }
    }

    /// Five counts of sixteen periods; the STM32F051 has no such timer.
    #[test]
    fn the_wake_up_timer_interrupts() {
        for (target, exti, line) in
            [("stm32f411", 0x4001_3c00, 22), ("stm32f767", 0x4001_3c00, 22), ("stm32l4r5", 0x4001_0400, 20)]
        {
            let mut bench = bench(target);
            let began = bench.now;
            let mask = bench.read(exti) | 1 << line;
            bench.write(exti, mask);
            bench.write(exti + 8, 1 << line);
            bench.write(RTC + 0x14, 4);
            bench.write(RTC + 8, 1 << 14 | 1 << 10);
            bench.advance(began + 79_000);
            assert_eq!(bench.bus.requests, 0, "{target}");
            bench.advance(began + 80_000);
            assert_eq!((bench.read(ISR) & 1 << 10, bench.bus.requests), (1 << 10, 1 << 3), "{target}");
        }
        let mut bench = bench("stm32f051");
        assert!(bench.try_write(RTC + 0x14, 4).is_err());
        assert!(bench.try_write(RTC + 8, 1 << 10).is_err());
        assert_eq!(bench.read(ISR) & 7, 1);
    }
}
