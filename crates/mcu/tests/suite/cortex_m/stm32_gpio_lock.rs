//! LCKR of a port: RM0090 section 8.4.8, RM0351 section 8.4.8, RM0008 section 9.2.7.

use super::steps::{KEPT, Step, machine, run, word};
use mcu::Until;

const KEY: u32 = 1 << 16;

struct Port {
    target: &'static str,
    clock: (u32, u32),
    base: u32,
    lock: u32,
    /// Registers with what all pins have there after the lock, where pins 1 and 9 are locked and
    /// all ones are written.
    registers: [(u32, u32); 2],
}

/// RCC_AHB1ENR; RCC_APB2ENR; RCC_AHB2ENR. GPIOC, whose pins are all the same after a reset.
const PORTS: [Port; 3] = [
    Port {
        target: "stm32f407",
        clock: (0x4002_3830, 1 << 20 | 4),
        base: 0x4002_0800,
        lock: 0x1c,
        // MODER, AFRL.
        registers: [(0x00, 0xfff3_fff3), (0x20, 0xffff_ff0f)],
    },
    Port {
        target: "stm32f103",
        clock: (0x4002_1018, 16),
        base: 0x4001_1000,
        lock: 0x18,
        // CRL, CRH: floating inputs are 4.
        registers: [(0x00, 0xffff_ff4f), (0x04, 0xffff_ff4f)],
    },
    Port {
        target: "stm32l4r5",
        clock: (0x4002_104c, 4),
        base: 0x4800_0800,
        lock: 0x1c,
        // OTYPER, AFRH.
        registers: [(0x04, 0xfdfd), (0x24, 0xffff_ff0f)],
    },
];

fn steps(port: &Port, key: &[u32]) -> Vec<Step> {
    let mut steps = vec![Step::Write(port.clock.0, port.clock.1)];
    steps.extend(key.iter().map(|word| Step::Write(port.base + port.lock, *word)));
    steps.extend([Step::Copy(KEPT, port.base + port.lock), Step::Copy(KEPT + 4, port.base + port.lock)]);
    for (at, (register, _)) in (8..).step_by(4).zip(port.registers) {
        steps.push(Step::Write(port.base + register, u32::MAX));
        steps.push(Step::Copy(KEPT + at, port.base + register));
    }
    steps
}

#[test]
fn the_sequence_freezes_pins_until_a_reset() {
    for port in &PORTS {
        let mut machine = machine(port.target, &steps(port, &[KEY | 0x202, 0x202, KEY | 0x202]));
        run(&mut *machine, 1_000);
        let [(_, first), (_, second)] = port.registers;
        let seen = [0, 4, 8, 12].map(|at| word(&*machine, KEPT + at));
        assert_eq!(seen, [0x202, KEY | 0x202, first, second], "{}", port.target);
    }
}

/// Drivers write the register's reset value, too (ChibiOS on an STM32L4).
#[test]
fn without_the_key_nothing_is_frozen() {
    for port in &PORTS {
        let not_locked = [&[0][..], &[0x202], &[KEY | 0x202, 0x202]];
        for key in not_locked {
            let mut machine = machine(port.target, &steps(port, key));
            run(&mut *machine, 1_000);
            let seen = [0, 4, 8, 12].map(|at| word(&*machine, KEPT + at));
            let last = key[key.len() - 1];
            // OTYPER has 16 bits; the others are of all pins.
            assert_eq!(seen[..2], [last, last], "{}", port.target);
            assert!(
                seen[2..].iter().all(|word| [u32::MAX, 0xffff].contains(word)),
                "{}: {seen:x?}",
                port.target
            );
        }
    }
}

#[test]
fn half_a_word_is_told() {
    let port = &PORTS[0];
    let steps = [Step::Write(port.clock.0, port.clock.1), Step::WriteHalf(port.base + port.lock, 2)];
    let mut machine = machine(port.target, &steps);
    let fault = machine.run(&Until { cycles: Some(1_000), ..Until::default() }).expect_err("a fault");
    assert!(fault.to_string().contains("words of 32 bits"), "{fault}");
}
