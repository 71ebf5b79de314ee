//! Programs from avr-gcc on the model.

use super::programs::{ATMEGA128L, ATMEGA328P, compile, image, loaded};
use mcu::{Stop, Until};
use object::{Object, ObjectSymbol, read::elf::ElfFile32};
use std::path::PathBuf;
use std::process::Command;
use testkit::oracles::simavr::Simavr;

fn symbol(elf: &[u8], name: &str) -> u32 {
    let file = ElfFile32::<object::Endianness>::parse(elf).unwrap();
    file.symbols().find(|symbol| symbol.name() == Ok(name)).expect(name).address() as u32
}

/// Sieves, divides, sorts; leaves a checksum.
const MIX: &str = r#"
#include <stdint.h>
#include <stdlib.h>
volatile uint32_t checksum;
static uint8_t sieve[256];
static int16_t values[40] = { 5, -3, 1000, 77 };
static int compare(const void *a, const void *b) { return *(const int16_t *)a - *(const int16_t *)b; }
__attribute__((noinline)) void done(void) { __asm__ volatile(""); }
int main(void) {
    uint32_t sum = 1;
    for (uint16_t i = 2; i < 256; i++)
        if (!sieve[i]) {
            sum = sum * 31 + i;
            for (uint16_t j = i + i; j < 256; j += i) sieve[j] = 1;
        }
    for (uint8_t i = 4; i < 40; i++) values[i] = (int16_t)(sum / (i + 7) % 2000) - 1000;
    qsort(values, 40, sizeof values[0], compare);
    for (uint8_t i = 0; i < 40; i++) sum = sum * 33 + (uint16_t)values[i];
    checksum = sum;
    done();
    return 0;
}
"#;

/// The same in Rust, for the value that the firmware must leave.
fn mix() -> u32 {
    let mut sum = 1u32;
    let mut sieve = [false; 256];
    for i in 2..256 {
        if !sieve[i] {
            sum = sum.wrapping_mul(31).wrapping_add(i as u32);
            (2 * i..256).step_by(i).for_each(|j| sieve[j] = true);
        }
    }
    let mut values = [5i16, -3, 1000, 77].to_vec();
    values.extend((4..40u32).map(|i| (sum / (i + 7) % 2000) as i16 - 1000));
    values.sort_unstable();
    values.iter().fold(sum, |sum, &value| sum.wrapping_mul(33).wrapping_add(u32::from(value as u16)))
}

#[test]
fn compiled_programs_have_the_expected_results() {
    for (part, mcu) in [(ATMEGA328P, "atmega328p"), (ATMEGA128L, "atmega128")] {
        for level in ["-O0", "-Os", "-O3"] {
            let elf = compile(&format!("mix{level}"), mcu, MIX, &[level]);
            let mut machine = loaded(part, &image(&elf));
            let until = Until { cycles: Some(10_000_000), addresses: vec![symbol(&elf, "done")] };
            assert_eq!(machine.run(&until), Ok(Stop::Address(symbol(&elf, "done"))), "{mcu} {level}");
            let mut checksum = [0; 4];
            assert!(machine.peek(symbol(&elf, "checksum"), &mut checksum));
            assert_eq!(u32::from_le_bytes(checksum), mix(), "{mcu} {level}");
            // Past `done`, crt0's exit loops with interrupts off.
            assert_eq!(machine.run(&until), Ok(Stop::Halted), "{mcu} {level}");
        }
    }
}

/// Runs both from reset to `symbol`, `times` over, and compares the cycle counts at each arrival.
fn same_cycles_as_simavr(part: &str, simavr: &str, elf: &[u8], name: &str, times: u32) {
    let mut machine = loaded(part, &image(elf));
    let mut other =
        Simavr::new(simavr, machine.part().default_clock_hz as u32).expect("simavr knows the part");
    for segment in image(elf).segments {
        other.flash()[segment.address as usize..][..segment.bytes.len()].copy_from_slice(&segment.bytes);
    }
    let stop = symbol(elf, name);
    let until = Until { cycles: Some(100_000_000), addresses: vec![stop] };
    for time in 0..times {
        assert_eq!(machine.run(&until), Ok(Stop::Address(stop)), "{simavr}");
        while other.step() && other.pc() != stop {}
        assert_eq!(machine.cycles(), other.cycles(), "{simavr}: {name}, arrival {time}");
        assert!(machine.cycles() > 500, "nothing has run");
    }
}

#[test]
fn whole_programs_take_the_cycles_that_they_take_on_simavr() {
    for (part, mcu) in [(ATMEGA328P, "atmega328p"), (ATMEGA128L, "atmega128")] {
        for level in ["-O0", "-Os", "-O3"] {
            let elf = compile(&format!("cycles{level}"), mcu, MIX, &[level]);
            same_cycles_as_simavr(part, mcu, &elf, "done", 1);
        }
    }
}

/// The firmware that is measured: each operation once, from one `ws_bench_ready` to the next.
#[test]
fn measured_firmware_takes_the_same_cycles_as_on_simavr() {
    let device = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../device");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("firmware");
    for (part, target, mcu) in
        [(ATMEGA328P, "atmega328p", "atmega328p"), (ATMEGA128L, "atmega128l", "atmega128")]
    {
        for (variant, operation) in
            [("portable", "aes128-encrypt"), ("fast", "aes128-encrypt"), ("fast", "sha256"), ("O0", "sha1")]
        {
            let status = Command::new("make")
                .args(["-s", "-C", device, "APP=bench"])
                .arg(format!("TARGET={target}"))
                .arg(format!("OP={operation}"))
                .arg(format!("VARIANT={variant}"))
                .arg(format!("OUT={}", out.display()))
                .status()
                .expect("make runs");
            assert!(status.success(), "{target} {variant} {operation}");
            let elf = std::fs::read(out.join(target).join(variant).join(format!("{operation}.elf"))).unwrap();
            same_cycles_as_simavr(part, mcu, &elf, "ws_bench_ready", 2);
        }
    }
}
