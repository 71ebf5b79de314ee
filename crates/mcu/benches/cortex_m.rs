//! Emulated instructions per second of the Cortex-M models on compiled code.
//!
//! Nobody observes the runs.

#[path = "../tests/suite/cortex_m/programs.rs"]
mod programs;

use criterion::{Criterion, Throughput};
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};

/// Emulated cycles of one measured run.
const CYCLES: u64 = 2_000_000;

/// A machine well into the firmware.
fn machine(target: &str, cpu: &str) -> Box<dyn Mcu> {
    let mut machine = new_machine(&programs::part(target), 8_000_000).expect("a machine");
    let bytes = programs::build(cpu, "-O2", u32::MAX);
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    forward(machine.as_mut());
    machine
}

fn forward(machine: &mut dyn Mcu) {
    let until = Until { cycles: Some(machine.cycles() + CYCLES), ..Until::default() };
    assert_eq!(machine.run(&until), Ok(Stop::Cycles));
}

fn speed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("instructions");
    for (target, cpu) in [
        ("stm32f407", "cortex-m4"),
        ("stm32f100", "cortex-m3"),
        ("stm32f051", "cortex-m0"),
        ("stm32f767", "cortex-m7"),
    ] {
        let mut machine = machine(target, cpu);
        // The firmware repeats itself, so runs of equally many cycles have much the same
        // instructions.
        let before = machine.instructions();
        for _ in 0..16 {
            forward(machine.as_mut());
        }
        group.throughput(Throughput::Elements((machine.instructions() - before) / 16));
        group.bench_function(cpu, |bencher| bencher.iter(|| forward(machine.as_mut())));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    speed(&mut criterion);
    criterion.final_summary();
}
