//! Emulated cycles per second of the AVR model, and of simavr on the same firmware in the same run.
//!
//! The firmware is compiled here by avr-gcc: substitution from a table in flash, schoolbook
//! multiplication, a CRC and a sort, for ever.
//!
//! `sampling` is a machine that sleeps and is woken by 2,500 conversions a second, for about
//! 500,000 active cycles: one iteration is a second of it.

use criterion::{Criterion, Throughput};
use mcu::{Image, Mcu, Part, Segment, Signal, Until, new_machine};
use object::read::elf::ElfFile32;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::oracles::simavr::Simavr;

const ATMEGA328P: &str = include_str!("../../../targets/atmega328p.toml");

/// Emulated cycles of one measured run.
const CYCLES: u64 = 2_000_000;
/// The same where the two take turns: so few that some runs are not interrupted even on a busy
/// host.
const TURN: u64 = 200_000;
/// Turns.
const TURNS: u32 = 300;

const FIRMWARE: &str = r#"
#include <avr/pgmspace.h>
#include <stdint.h>
static const uint8_t table[256] PROGMEM = { 99, 124, 119, 123, 242, 107, 111, 197, 48, 1, 103, 43, 254, 215, 171, 118 };
static uint8_t block[16];
static uint8_t a[32], b[32], product[64];
static uint16_t values[32];
volatile uint32_t sink;
static uint8_t twice(uint8_t x) { return (uint8_t)(x << 1) ^ ((x >> 7) * 0x1B); }
static __attribute__((noinline)) void rounds(void) {
    for (uint8_t n = 0; n < 10; n++) {
        for (uint8_t i = 0; i < 16; i++) block[i] = pgm_read_byte(&table[block[i]]) ^ n;
        for (uint8_t i = 0; i < 16; i += 4) {
            uint8_t all = block[i] ^ block[i + 1] ^ block[i + 2] ^ block[i + 3];
            for (uint8_t j = 0; j < 4; j++) block[i + j] ^= all ^ twice(block[i + j] ^ block[i + ((j + 1) & 3)]);
        }
    }
}
static __attribute__((noinline)) void multiply(void) {
    for (uint8_t i = 0; i < 64; i++) product[i] = 0;
    for (uint8_t i = 0; i < 32; i++) {
        uint8_t carry = 0;
        for (uint8_t j = 0; j < 32; j++) {
            uint16_t t = (uint16_t)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (uint8_t)t;
            carry = t >> 8;
        }
        product[i + 32] = carry;
    }
}
static __attribute__((noinline)) uint32_t crc(uint32_t value) {
    for (uint8_t i = 0; i < 64; i++) {
        value ^= product[i];
        for (uint8_t j = 0; j < 8; j++) value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
    }
    return value;
}
static __attribute__((noinline)) void sort(void) {
    for (uint8_t i = 1; i < 32; i++)
        for (uint8_t j = i; j && values[j - 1] > values[j]; j--) {
            uint16_t t = values[j]; values[j] = values[j - 1]; values[j - 1] = t;
        }
}
int main(void) {
    for (;;) {
        rounds();
        for (uint8_t i = 0; i < 32; i++) { a[i] += block[i & 15] + i; b[i] ^= a[i] + 3; }
        multiply();
        sink = crc(sink);
        for (uint8_t i = 0; i < 32; i++) values[i] = (uint16_t)(sink >> (i & 15)) * (i + 1);
        sort();
    }
}
"#;

const SAMPLING: &str = r#"
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>
static volatile uint8_t event;
static int64_t energy;
static uint16_t pairs, voltage;
ISR(ADC_vect) {
    uint16_t value = ADC;
    if (ADMUX & 1) {
        ADMUX = 1 << REFS0;
        TIFR0 = 1 << OCF0A;
        energy += (int32_t)((int16_t)voltage - 512) * ((int16_t)value - 512);
        if (++pairs == 1250) { pairs = 0; event = 1; }
    } else {
        ADMUX = 1 << REFS0 | 1;
        ADCSRA |= 1 << ADSC;
        voltage = value;
    }
}
ISR(TIMER1_COMPA_vect) { event = 1; }
int main(void) {
    TCCR1B = 5; OCR1A = 15625; TIMSK1 = 1 << OCIE1A;
    OCR0A = 199; TCCR0A = 1 << WGM01; TCCR0B = 3;
    ADMUX = 1 << REFS0; ADCSRB = 3; ADCSRA = 1 << ADEN | 1 << ADATE | 1 << ADIE | 7;
    for (;;) {
        cli();
        while (!event) { sleep_enable(); sei(); sleep_cpu(); sleep_disable(); cli(); }
        event = 0;
        sei();
    }
}
"#;

fn firmware(name: &str, text: &str) -> Image {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, elf) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.elf")));
    std::fs::write(&source, text).expect("the target folder can be written");
    let status = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-O2"])
        .arg(&source)
        .arg("-o")
        .arg(&elf)
        .status()
        .expect("avr-gcc is installed");
    assert!(status.success());
    let elf = std::fs::read(elf).expect("avr-gcc wrote it");
    let file = ElfFile32::<object::Endianness>::parse(&*elf).expect("an ELF file");
    let endian = file.endian();
    let segments = file
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type.get(endian) == object::elf::PT_LOAD && header.p_filesz.get(endian) > 0)
        .map(|header| {
            let (start, size) = (header.p_offset.get(endian) as usize, header.p_filesz.get(endian) as usize);
            Segment { address: header.p_paddr.get(endian), bytes: elf[start..start + size].to_vec() }
        })
        .collect();
    Image { segments }
}

fn model(firmware: Image) -> Box<dyn Mcu> {
    let part = Part::from_toml(ATMEGA328P).expect("the target file");
    let mut machine = new_machine(&part, part.default_clock_hz).expect("all peripherals have models");
    machine.load(&firmware).expect("the firmware fits");
    machine.reset();
    machine
}

fn simavr() -> Simavr {
    let mut simavr = Simavr::new("atmega328p", 16_000_000).expect("simavr knows the part");
    for segment in firmware("speed", FIRMWARE).segments {
        simavr.flash()[segment.address as usize..][..segment.bytes.len()].copy_from_slice(&segment.bytes);
    }
    simavr
}

fn run_model(machine: &mut dyn Mcu, cycles: u64) {
    let until = Until { cycles: Some(machine.cycles() + cycles), addresses: vec![] };
    machine.run(&until).expect("the firmware runs for ever");
}

fn run_simavr(simavr: &mut Simavr, cycles: u64) {
    let end = simavr.cycles() + cycles;
    assert!(simavr.run_to(end));
}

fn avr(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("avr");
    group.throughput(Throughput::Elements(CYCLES));
    let mut machine = model(firmware("speed", FIRMWARE));
    group.bench_function("model", |bencher| bencher.iter(|| run_model(&mut *machine, CYCLES)));
    let mut other = simavr();
    group.bench_function("simavr", |bencher| bencher.iter(|| run_simavr(&mut other, CYCLES)));
    group.finish();
}

fn sampling(criterion: &mut Criterion) {
    let mut machine = model(firmware("sampling", SAMPLING));
    let board = machine.board_mut();
    board.supply_v = 5.0;
    for (channel, amplitude_v) in [(0, 1.5), (1, 0.6)] {
        let signal = Signal::Mains {
            offset_v: 2.5,
            amplitude_v,
            hz: 50.0,
            phase_rad: 0.0,
            harmonics: Vec::new(),
            noise_v: 0.003,
            seed: channel.into(),
        };
        board.set_signal(channel, signal);
    }
    let second = Part::from_toml(ATMEGA328P).expect("the target file").default_clock_hz;
    let mut group = criterion.benchmark_group("sampling");
    group.throughput(Throughput::Elements(1));
    group.bench_function("a second", |bencher| bencher.iter(|| run_model(&mut *machine, second)));
    group.finish();
}

/// The ratio of the two, from runs that take turns so that both meet the same machine.
fn ratio() {
    let (mut machine, mut other) = (model(firmware("speed", FIRMWARE)), simavr());
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        let start = Instant::now();
        run_model(&mut *machine, TURN);
        ours = ours.min(start.elapsed());
        let start = Instant::now();
        run_simavr(&mut other, TURN);
        theirs = theirs.min(start.elapsed());
    }
    let rate = |time: Duration| TURN as f64 / time.as_secs_f64() / 1e6;
    println!(
        "avr: model {:.0} million cycles/s, simavr {:.0}, ratio {:.2} (best of {TURNS} turns)",
        rate(ours),
        rate(theirs),
        rate(ours) / rate(theirs)
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    avr(&mut criterion);
    sampling(&mut criterion);
    // `cargo test` only asks whether it runs.
    if std::env::args().any(|argument| argument == "--bench") {
        ratio();
    }
    criterion.final_summary();
}
