//! Whole programs, compiled by sdcc with its start-up code.
//!
//! The model takes exactly the clocks of uCsim's s51 and leaves the same memory.

use mcu::{Image, Mcu, Part, Segment, Stop, Until, new_machine};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::oracles::ucsim::{Answer, Script, Simulator};

const I8051: &str = include_str!("../../../../../targets/i8051.toml");
const EXTERNAL: u32 = 0x1_0000;
const INTERNAL: u32 = 0x2_0000;

/// Substitution from a table in program memory, multiplication, division, a CRC, a sort and calls
/// by pointer.
const SOURCE: &str = r#"
#include <stdint.h>
static const __code uint8_t table[16] = { 99, 124, 119, 123, 242, 107, 111, 197, 48, 1, 103, 43, 254, 215, 171, 118 };
static uint8_t block[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
static __xdata uint16_t values[64];
static __data uint8_t near[8];
__xdata volatile uint32_t sink;
static __bit flag;
static uint8_t twice(uint8_t x) { return (uint8_t)(x << 1) ^ ((x >> 7) * 0x1B); }
static void rounds(void) {
    uint8_t n, i;
    for (n = 0; n < 10; n++)
        for (i = 0; i < 16; i++) {
            block[i] = table[block[i] & 15] ^ twice(block[(i + 1) & 15]) ^ n;
            near[i & 7] += block[i];
        }
}
static uint32_t crc(uint32_t value) {
    uint8_t i, j;
    for (i = 0; i < 16; i++) {
        value ^= block[i];
        for (j = 0; j < 8; j++) { flag = value & 1; value >>= 1; if (flag) value ^= 0xEDB88320; }
    }
    return value;
}
static void sort(void) {
    uint8_t i, j;
    for (i = 1; i < 64; i++)
        for (j = i; j && values[j - 1] > values[j]; j--) {
            uint16_t t = values[j]; values[j] = values[j - 1]; values[j - 1] = t;
        }
}
static void (*__code steps[2])(void) = { rounds, sort };
void main(void) {
    uint8_t turn, i;
    for (turn = 0; turn < 4; turn++) {
        steps[0]();
        sink = crc(sink + turn);
        for (i = 0; i < 64; i++) values[i] = (uint16_t)(sink >> (i & 15)) * (i + 1) + (uint16_t)(sink / (i + 3u));
        steps[1]();
        sink += values[turn];
    }
    for (;;) {}
}
"#;

fn compile(flags: &[&str]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mcs51_firmware{}", flags.concat()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("program.c"), SOURCE).expect("the source");
    let output = Command::new("sdcc")
        .current_dir(&folder)
        .args(["-mmcs51", "--iram-size", "128", "--xram-size", "65536"])
        .args(flags)
        .arg("program.c")
        .output()
        .expect("sdcc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.join("program.ihx")
}

/// The data records of an Intel hex file.
fn image(path: &Path) -> Image {
    let text = std::fs::read_to_string(path).expect("a hex file");
    let segments = text.lines().filter_map(|line| {
        let line = line.strip_prefix(':')?;
        let byte = |index: usize| u8::from_str_radix(&line[2 * index..2 * index + 2], 16).expect("a byte");
        let address = u32::from(byte(1)) << 8 | u32::from(byte(2));
        (byte(3) == 0).then(|| Segment { address, bytes: (4..4 + usize::from(byte(0))).map(byte).collect() })
    });
    Image { segments: segments.collect() }
}

fn compare(flags: &[&str]) {
    let hex = compile(flags);
    let part = Part::from_toml(I8051).expect("target file");
    let mut machine: Box<dyn Mcu> = new_machine(&part, part.default_clock_hz).expect("machine");
    machine.load(&image(&hex)).expect("it fits");
    machine.reset();
    assert_eq!(machine.run(&Until { cycles: Some(50_000_000), addresses: vec![] }), Ok(Stop::Halted));

    let mut script = Script::new(Simulator::S51);
    script.fill("iram", 0, 0x7f, 0);
    script.fill("xram", 0, 0xffff, 0);
    script.load(&hex);
    script.run_to(0, machine.pc());
    script.read("iram", 0, 0x80);
    script.read("xram", 0, 0x400);
    let answers = script.run(&hex.with_extension("commands")).expect("s51");
    let Answer::Step { ticks, registers } = &answers[0] else { panic!("{answers:?}") };
    println!("{flags:?}: {} machine cycles", machine.cycles());
    assert_eq!(u64::from(*ticks), machine.cycles() * 12, "{flags:?}");
    for (name, ours) in machine.registers() {
        let theirs = if name == "pc" { Some(registers.pc) } else { registers.get(&name) };
        assert_eq!(Some(ours), theirs, "{name} {flags:?}");
    }
    for (answer, start, size) in [(&answers[1], INTERNAL, 0x80), (&answers[2], EXTERNAL, 0x400)] {
        let mut ours = vec![0; size];
        assert!(machine.peek(start, &mut ours));
        assert_eq!(*answer, Answer::Bytes(ours), "{flags:?}");
    }
}

#[test]
fn compiled_programs_take_the_clocks_of_ucsim() {
    compare(&["--model-large"]);
    compare(&["--model-large", "--opt-code-speed", "--stack-auto"]);
    compare(&["--model-small", "--opt-code-speed"]);
}
