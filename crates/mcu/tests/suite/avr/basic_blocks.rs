//! Basic blocks of the AVR model.
//!
//! Without an observer it counts them at once, and executes some instructions together.
//!
//! Random programs must end up the same as with an observer, for any limits and stop addresses,
//! with a timer that interrupts them. `oracle` shows that each instruction by itself is right.

use super::programs::ATMEGA328P;
use mcu::{Mcu, NoObserver, Part, Until, new_machine};
use testkit::random::{self, Random};

/// Word address of what comes first, behind the interrupt vectors.
const START: usize = 0x40;
/// Word address of the random code.
const CODE: usize = 0x60;
const WORDS: usize = 200;

fn below(random: &mut Random, bound: u16) -> u16 {
    random.below(bound.into()) as u16
}

/// Instructions that come one behind the other; the spaces part them.
const SEQUENCES: [&str; 35] = [
    "add adc",
    "sub sbc",
    "subi sbci",
    "cp cpc",
    "cp cpc brne",
    "cpi cpc brne",
    "cpi breq",
    "cpi brne",
    "subi brne",
    "dec brne",
    "lsr ror",
    "lsr ror ror ror",
    "eor eor",
    "ldi ldi",
    "movw movw",
    "ldd ldd",
    "std std",
    "add",
    "adc",
    "sbc",
    "cp",
    "cpc",
    "eor",
    "dec",
    "ror",
    "brne",
    "breq",
    "sbrc",
    "cpse",
    "mul",
    "lds",
    "sts",
    "in",
    "std ldd",
    "rjmp",
];

/// The words of one instruction. Its registers are below X, so that Y keeps pointing into the RAM.
fn encode(name: &str, random: &mut Random, words: &mut Vec<u16>) {
    let (d, r) = (below(random, 26), below(random, 26));
    let two = |opcode: u16| opcode | (r & 0x10) << 5 | d << 4 | r & 0x0F;
    let (high, constant) = (below(random, 10), below(random, 256));
    let immediate = |opcode: u16| opcode | (constant & 0xF0) << 4 | high << 4 | constant & 0x0F;
    let q = below(random, 64);
    let displaced = |opcode: u16| opcode | d << 4 | q & 7 | (q & 0x18) << 7 | (q & 0x20) << 8;
    // Two to nine words on, or now and then back.
    let offset = if below(random, 4) == 0 { 0x7F - below(random, 8) } else { 1 + below(random, 8) };
    let address = 0x200 + constant;
    words.push(match name {
        "add" => two(0x0C00),
        "adc" => two(0x1C00),
        "sub" => two(0x1800),
        "sbc" => two(0x0800),
        "cp" => two(0x1400),
        "cpc" => two(0x0400),
        "eor" => two(0x2400),
        "cpse" => two(0x1000),
        "mul" => two(0x9C00),
        "subi" => immediate(0x5000),
        "sbci" => immediate(0x4000),
        "cpi" => immediate(0x3000),
        "ldi" => immediate(0xE000),
        "dec" => 0x940A | d << 4,
        "lsr" => 0x9406 | d << 4,
        "ror" => 0x9407 | d << 4,
        "movw" => 0x0100 | d / 2 << 4 | r / 2,
        "ldd" => displaced(0x8008),
        "std" => displaced(0x8208),
        "lds" => 0x9000 | d << 4,
        "sts" => 0x9200 | d << 4,
        // SREG: what leaves a basic block in its middle.
        "in" => 0xB60F | d << 4,
        "sbrc" => 0xFC00 | d << 4 | q & 7,
        "brne" => 0xF401 | offset << 3,
        "breq" => 0xF001 | offset << 3,
        "rjmp" => 0xC000 | offset & 7,
        _ => unreachable!("{name}"),
    });
    if matches!(name, "lds" | "sts") {
        words.push(address);
    }
}

fn program(random: &mut Random) -> Vec<u16> {
    let mut words = vec![0xC000 | (START as u16 - 1)];
    // TIMER0 OVF, vector 16 (DS40002061, table 12-6): INC r25, RETI.
    words.resize(0x20, 0);
    words.extend([0x9593, 0x9518]);
    words.resize(START, 0);
    // Y = 0x200; TIMSK0 = 1; TCCR0B = 1, an overflow every 256 cycles; SEI.
    words.extend([0xE0C0, 0xE0D2, 0xE001, 0x9300, 0x006E, 0xBD05, 0x9478]);
    // Jumps back land on NOPs at worst.
    words.resize(CODE, 0);
    while words.len() < CODE + WORDS {
        let sequence = SEQUENCES[usize::from(below(random, SEQUENCES.len() as u16))];
        for name in sequence.split(' ') {
            encode(name, random, &mut words);
        }
    }
    // Whatever jumps over the end slides to the RJMP back to the random code.
    words.resize(words.len() + 16, 0);
    let back = CODE as i32 - (words.len() as i32 + 1);
    words.push(0xC000 | back as u16 & 0x0FFF);
    words
}

fn state(machine: &dyn Mcu) -> (Vec<(String, u32)>, u64, u64, Vec<u8>) {
    let mut ram = vec![0; 0x200];
    assert!(machine.peek(0x80_0200, &mut ram));
    (machine.registers(), machine.cycles(), machine.instructions(), ram)
}

#[test]
fn looking_on_changes_nothing() {
    let seed = random::seed_or(1);
    let part = Part::from_toml(ATMEGA328P).unwrap();
    let (mut seeds, mut executed) = (Random::new(seed), 0);
    for number in 0..200 {
        let mut random = Random::new(seeds.word64());
        let words = program(&mut random);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut alone = new_machine(&part, part.default_clock_hz).unwrap();
        assert!(alone.poke(0, &bytes));
        let mut observed = alone.snapshot();
        for run in 0..60 {
            let cycles = alone.cycles() + 1 + u64::from(random.below(if run % 2 == 0 { 40 } else { 4000 }));
            let stops = random.below(4);
            let stop = |random: &mut Random| (CODE as u32 + random.below(WORDS as u32)) * 2;
            let addresses = (0..stops).map(|_| stop(&mut random)).collect();
            let until = Until { cycles: Some(cycles), addresses };
            let context = || format!("seed {seed} program {number} run {run} {until:?}");
            let outcome = alone.run(&until);
            assert_eq!(outcome, observed.run_observed(&until, &mut NoObserver), "{}", context());
            assert!(outcome.is_ok(), "{outcome:?} {}", context());
            assert_eq!(state(&*alone), state(&*observed), "{}", context());
        }
        executed += alone.instructions();
    }
    assert!(executed > 1_000_000, "{executed} instructions are few");
}
