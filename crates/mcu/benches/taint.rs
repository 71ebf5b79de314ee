//! Taint tracking beside a plain run.
//!
//! The program is P-256's key generation with its seed labelled: most of its results have a label.
//!
//! The firmware is the project's own, built by its Makefile.

use criterion::{BatchSize, Criterion, Throughput};
use mcu::{Image, Mcu, Part, Segment, Stop, Until, new_machine};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A target of each family with a curve, and the build that runs there.
const TARGETS: [(&str, &str); 5] = [
    ("atmega328p", "fast"),
    ("msp430f5438a", "fast"),
    ("stm32f051", "fast"),
    ("stm32f407", "fast"),
    ("stm32f767", "fast"),
];

/// Turns that plain and followed runs take.
const TURNS: u32 = 10;
/// Bytes of the seed.
const SEED: u32 = 48;

/// The operation about to begin, with its seed where it lies.
struct Operation {
    machine: Box<dyn Mcu>,
    /// Address at which it is over.
    ready: u32,
    key: u32,
    instructions: u64,
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn build(target: &str, variant: &str) -> Vec<u8> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("taint");
    let status = Command::new("make")
        .arg("-C")
        .arg(project().join("device"))
        .args([format!("TARGET={target}"), format!("VARIANT={variant}"), "OP=p256-keygen".into()])
        .arg(format!("OUT={}", out.display()))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.expect("make is there").success(), "{target}");
    std::fs::read(out.join(target).join(variant).join("p256-keygen.elf")).expect("make wrote it")
}

fn operation(target: &str, variant: &str) -> Operation {
    let elf = build(target, variant);
    let file = object::read::elf::ElfFile32::<object::Endianness>::parse(&*elf).expect("an ELF file");
    let endian = file.endian();
    let symbol = |name: &str| {
        let symbol =
            file.symbols().find(|symbol| symbol.name() == Ok(name)).expect("a symbol of bench/main.c");
        symbol.address() as u32
    };
    let loaded = file
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type(endian) == object::elf::PT_LOAD && header.p_filesz(endian) > 0);
    let segments = loaded.map(|header| Segment {
        address: header.p_paddr(endian),
        bytes: header.data(endian, &*elf).expect("it is in the file").to_vec(),
    });
    let text = std::fs::read_to_string(project().join(format!("targets/{target}.toml")));
    let part = Part::from_toml(&text.expect("a target file")).expect("a valid target file");
    let mut machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    machine.load(&Image { segments: segments.collect() }).expect("it fits");
    machine.reset();
    let ready =
        symbol("ws_bench_ready") & !u32::from(file.elf_header().e_machine(endian) == object::elf::EM_ARM);
    let until = Until { cycles: None, addresses: vec![ready] };
    let (key, length) = (symbol("ws_bench_key"), symbol("ws_bench_key_len"));
    assert_eq!(machine.run(&until), Ok(Stop::Address(ready)));
    assert!(machine.poke(key, &[0x5a; SEED as usize]) && machine.poke(length, &[SEED as u8, 0]));
    let mut operation = Operation { machine, ready, key, instructions: 0 };
    let mut ran = operation.machine.snapshot();
    operation.plain(&mut *ran);
    operation.instructions = ran.instructions() - operation.machine.instructions();
    assert!(operation.instructions > 100_000, "{target}: no key was made");
    operation
}

impl Operation {
    fn until(&self) -> Until {
        Until { cycles: None, addresses: vec![self.ready] }
    }

    fn plain(&self, machine: &mut dyn Mcu) {
        assert_eq!(machine.run(&self.until()), Ok(Stop::Address(self.ready)));
    }

    fn followed(&self, machine: &mut dyn Mcu) {
        let mut taint = machine.taint();
        taint.label(self.key..self.key + SEED, 1);
        assert_eq!(machine.run_tainted(&self.until(), &mut taint), Ok(Stop::Address(self.ready)));
        taint.finish();
        assert_eq!(taint.unknown_instruction(), None);
    }

    /// The shortest of several runs that take turns, so that both meet the same host: how many
    /// times as long following takes.
    fn ratio(&self, target: &str) {
        let (mut plain, mut followed) = (Duration::MAX, Duration::MAX);
        for _ in 0..TURNS {
            let mut machine = self.machine.snapshot();
            let start = Instant::now();
            self.plain(&mut *machine);
            plain = plain.min(start.elapsed());
            let mut machine = self.machine.snapshot();
            let start = Instant::now();
            self.followed(&mut *machine);
            followed = followed.min(start.elapsed());
        }
        let rate = |time: Duration| self.instructions as f64 / time.as_secs_f64() / 1e6;
        println!(
            "{target}: plain {:.1} million instructions/s, followed {:.1}, 1/{:.2} (best of {TURNS} turns)",
            rate(plain),
            rate(followed),
            rate(plain) / rate(followed)
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let benched = std::env::args().any(|argument| argument == "--bench");
    for (target, variant) in TARGETS {
        let operation = operation(target, variant);
        let mut group = criterion.benchmark_group(target);
        group.throughput(Throughput::Elements(operation.instructions));
        let setup = || operation.machine.snapshot();
        group.bench_function("plain", |bencher| {
            bencher.iter_batched(
                setup,
                |mut machine| operation.plain(&mut *machine),
                BatchSize::PerIteration,
            );
        });
        group.bench_function("followed", |bencher| {
            bencher.iter_batched(
                setup,
                |mut machine| operation.followed(&mut *machine),
                BatchSize::PerIteration,
            );
        });
        group.finish();
        // `cargo test` only asks whether it runs.
        if benched {
            operation.ratio(target);
        }
    }
    criterion.final_summary();
}
