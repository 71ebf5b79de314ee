//! C compiled by clang for the MSP430 gives the results that the host computes.

use super::programs::part;
use mcu::{Image, Mcu, Observer, Segment, Step, Stop, Until, new_machine};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = r#"
#include <stdint.h>
volatile uint32_t mixed, fibonacci;
volatile uint8_t table[256];
static uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void program(void)
{
    uint32_t sum = 1;
    for (uint16_t i = 0; i < 1000; i++)
        sum += (sum << 3) ^ i;
    mixed = sum;
    fibonacci = fib(15);
    for (uint16_t i = 0; i < 256; i++)
        table[i] = (uint8_t)(table[(uint8_t)(i - 1)] * 2 ^ i);
    for (;;)
        ;
}
__attribute__((naked, section(".start"))) void start(void)
{
    __asm__("mov #0x5c00, r1\n mov #0x5a80, &0x015c\n br #program");
}
"#;

const LAYOUT: &str = "SECTIONS {
    .text 0x5c00 : { *(.start) *(.text*) *(.rodata*) }
    .vectors 0xfffe : { SHORT(0x5c00) }
    .bss 0x1c00 (NOLOAD) : { *(.bss*) *(COMMON) }
}
ENTRY(start)";

/// The program's ELF file.
fn build() -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("msp430_clang");
    std::fs::create_dir_all(&folder).expect("folder");
    std::fs::write(folder.join("program.c"), SOURCE).expect("source");
    std::fs::write(folder.join("layout.ld"), LAYOUT).expect("layout");
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(&folder).status();
        assert!(status.expect("the toolchain is installed").success(), "{program} {arguments:?}");
    };
    run("clang", &["--target=msp430", "-O2", "-ffreestanding", "-c", "program.c", "-o", "program.o"]);
    run("ld.lld", &["-N", "-T", "layout.ld", "program.o", "-o", "program.elf"]);
    std::fs::read(folder.join("program.elf")).expect("ELF file")
}

#[derive(Default)]
struct Count {
    steps: u64,
    last: u64,
}

impl Observer for Count {
    fn step(&mut self, step: &Step) {
        self.steps += 1;
        assert!(step.cycles > self.last || self.steps == 1);
        self.last = step.cycles;
    }
}

#[test]
fn compiled_program_has_the_host_s_result() {
    let elf = build();
    let file = object::File::parse(&*elf).expect("ELF");
    let segments = file
        .segments()
        .map(|segment| Segment {
            address: segment.address() as u32,
            bytes: segment.data().expect("data").to_vec(),
        })
        .filter(|segment| !segment.bytes.is_empty())
        .collect();
    let mut machine = new_machine(&part(), 25_000_000).expect("machine");
    machine.load(&Image { segments }).expect("load");
    machine.reset();
    let mut observed = machine.snapshot();
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));

    let read = |machine: &dyn Mcu, name: &str, size: usize| {
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).expect("symbol");
        let mut bytes = vec![0; size];
        assert!(machine.peek(symbol.address() as u32, &mut bytes));
        bytes
    };
    let sum = (0..1000u32).fold(1u32, |sum, i| sum.wrapping_add((sum << 3) ^ i));
    assert_eq!(read(&*machine, "mixed", 4), sum.to_le_bytes());
    assert_eq!(read(&*machine, "fibonacci", 4), 610u32.to_le_bytes());
    let mut table = [0u8; 256];
    for i in 0..256usize {
        table[i] = table[i.wrapping_sub(1) & 255].wrapping_mul(2) ^ i as u8;
    }
    assert_eq!(read(&*machine, "table", 256), table);

    // Looked at or not, the run is the same.
    let mut count = Count::default();
    assert_eq!(observed.run_observed(&Until::default(), &mut count), Ok(Stop::Halted));
    assert_eq!(observed.cycles(), machine.cycles());
    assert_eq!(count.steps, machine.instructions());
}
