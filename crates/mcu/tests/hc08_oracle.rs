//! Random 68HC08 instructions on the model and on uCsim's `shc08`: the same registers, flags, cycles and written memory
//! after each one, and the same 64 kB at the end of each batch.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it. `WATTSEAL_ORACLE=long` runs
//! a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS` says.

use mcu::{Access, AccessKind, Machine, Observer, Part, Stop, Until, new_machine};
use oracle::ucsim::{Answer, Script, Simulator};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: usize = 16;
/// Instructions of one run of the simulator.
const BATCH: usize = 10_000;

const PART: &str = r#"
name = "oracle"
description = "RAM everywhere, as the simulator has it"
core = "hc08"
default_clock_hz = 8000000
[[memory]]
name = "ram"
kind = "ram"
start = 0
size = 0x10000
"#;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }
}

/// Collects what an instruction writes.
#[derive(Default)]
struct Writes(Vec<Access>);

impl Observer for Writes {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            self.0.push(*access);
        }
    }
}

/// The registers that both print.
const NAMES: [&str; 5] = ["a", "h", "x", "sp", "ccr"];

fn get(machine: &dyn Machine, name: &str) -> u32 {
    machine.registers().into_iter().find(|(other, _)| other == name).expect("register").1
}

/// What the model has after an instruction.
struct Outcome {
    opcode: u16,
    what: String,
    pc: u32,
    registers: [u32; 5],
    cycles: u64,
    writes: Vec<(u32, u8)>,
}

/// An Intel hex file of all 64 kB.
fn intel_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let address = line * 16;
        let mut record = vec![bytes.len() as u8, (address >> 8) as u8, address as u8, 0];
        record.extend(bytes);
        let sum = record.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        text.push(':');
        for byte in record.iter().chain(&[sum.wrapping_neg()]) {
            let _ = write!(text, "{byte:02X}");
        }
        text.push('\n');
    }
    text.push_str(":00000001FF\n");
    text
}

/// Sets all registers on both sides.
fn synchronise(machine: &dyn Machine, script: &mut Script) {
    let byte = |name| get(machine, name) as u8;
    script.write("regs8", 0, &[byte("a"), byte("ccr"), byte("h"), byte("x")]);
    script.write_word("regs16", 0, machine.sp() as u16);
    script.jump(machine.pc());
}

/// Runs `count` instructions on both; differences by opcode are added.
fn compare(
    random: &mut Random,
    count: usize,
    differences: &mut BTreeMap<u16, BTreeMap<String, (usize, String)>>,
) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 8_000_000).expect("machine");
    let mut script = Script::new(Simulator::Shc08);
    let mut outcomes = Vec::new();

    let image: Vec<u8> = (0..0x1_0000).map(|_| random.next() as u8).collect();
    assert!(machine.poke(0, &image));
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("hc08_oracle_{}_{}", std::process::id(), random.next());
    let file = folder.join(&name).with_extension("ihx");
    std::fs::write(&file, intel_hex(&image)).expect("image");
    script.load(&file);

    while outcomes.len() < count {
        for (name, value) in [
            ("a", random.next()),
            ("h", random.next()),
            ("x", random.next()),
            ("ccr", random.next()),
            ("sp", 0x7100 + random.below(0x8e00)),
            ("pc", 0x100 + random.below(0xfe00)),
        ] {
            assert!(machine.set_register(name, value & if name.len() == 2 { 0xffff } else { 0xff }));
        }
        synchronise(&*machine, &mut script);
        'sequence: for _ in 0..SEQUENCE {
            let pc = machine.pc();
            if !(0x100..0xfff0).contains(&pc) || !(0x7080..0xffff).contains(&machine.sp()) {
                break;
            }
            let mut kept = [0; 4];
            assert!(machine.peek(pc, &mut kept));
            for _ in 0..60 {
                let mut bytes = random.next().to_be_bytes();
                if random.below(8) == 0 {
                    bytes[0] = 0x9e;
                    bytes[1] = [0x60, 0xd0, 0xe0][random.below(3) as usize] | bytes[1] & 15;
                }
                if matches!(bytes[0], 0x8e | 0x8f) {
                    continue;
                }
                assert!(machine.poke(pc, &bytes));
                let before: Vec<u32> = NAMES.iter().map(|name| get(&*machine, name)).collect();
                let cycles = machine.cycles();
                let mut writes = Writes::default();
                let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
                if machine.run_observed(&until, &mut writes) != Ok(Stop::Cycles) {
                    assert!(machine.poke(pc, &kept));
                    continue;
                }
                script.write("rom", pc, &bytes);
                script.step();
                let writes: Vec<(u32, u8)> = writes
                    .0
                    .iter()
                    .flat_map(|write| {
                        let value = (write.value as u16).to_be_bytes();
                        let bytes = value[2 - usize::from(write.size)..].to_vec();
                        let address = write.address;
                        bytes
                            .into_iter()
                            .enumerate()
                            .map(move |(offset, byte)| (address.wrapping_add(offset as u32) & 0xffff, byte))
                    })
                    .collect();
                for (address, _) in &writes {
                    script.read("rom", *address, 1);
                }
                outcomes.push(Outcome {
                    opcode: if bytes[0] == 0x9e { 0x9e00 | u16::from(bytes[1]) } else { bytes[0].into() },
                    what: format!("{bytes:02x?} at {pc:#06x}, before {before:02x?}"),
                    pc: machine.pc(),
                    registers: NAMES.map(|name| get(&*machine, name)),
                    cycles: machine.cycles() - cycles,
                    writes,
                });
                synchronise(&*machine, &mut script);
                continue 'sequence;
            }
            break;
        }
    }

    let answers = script.run(&folder.join(&name).with_extension("commands")).expect("shc08");
    let mut answers = answers.into_iter();
    for outcome in &outcomes {
        let Some(Answer::Step { ticks, registers }) = answers.next() else {
            panic!("no step {}", outcome.what)
        };
        let mut differ = |what: String, detail: String| {
            let entry = differences.entry(outcome.opcode).or_default().entry(what);
            entry.or_insert((0, format!("{detail}: {}", outcome.what))).0 += 1;
        };
        for (name, ours) in NAMES.iter().zip(outcome.registers) {
            let theirs = registers.get(name).expect("register");
            if ours != theirs {
                let what =
                    if *name == "ccr" { format!("ccr {:02x}", ours ^ theirs) } else { name.to_string() };
                differ(what, format!("{ours:#x}, not {theirs:#x}"));
            }
        }
        if outcome.pc != registers.pc {
            differ("pc".into(), format!("{:#x}, not {:#x}", outcome.pc, registers.pc));
        }
        if outcome.cycles != u64::from(ticks) {
            differ("cycles".into(), format!("{}, not {ticks}", outcome.cycles));
        }
        for (address, ours) in &outcome.writes {
            let Some(Answer::Bytes(theirs)) = answers.next() else {
                panic!("no memory for {}", outcome.what)
            };
            if theirs[0] != *ours {
                differ("memory".into(), format!("{ours:#x}, not {:#x} at {address:#x}", theirs[0]));
            }
        }
    }
    let _ = std::fs::remove_file(&file);
}

#[test]
fn random_instructions_end_as_on_shc08() {
    let long = std::env::var("WATTSEAL_ORACLE").is_ok_and(|length| length == "long");
    let count = std::env::var("WATTSEAL_ORACLE_INSTRUCTIONS").ok().and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or(if long { 1_000_000 } else { 20_000 });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("clock").as_nanos() as u64;
    let seed = std::env::var("WATTSEAL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now | 1);
    println!("WATTSEAL_SEED={seed}");
    let mut random = Random(seed);
    let mut differences = BTreeMap::new();
    let mut done = 0;
    while done < count {
        let batch = BATCH.min(count - done);
        compare(&mut random, batch, &mut differences);
        done += batch;
    }
    for (opcode, kinds) in &differences {
        for (kind, (count, example)) in kinds {
            println!("{opcode:04x} {kind}: {count} times, {example}");
        }
    }
    assert!(differences.is_empty());
    println!("{done} instructions agree");
}
