//! Random instructions on the model and on simavr: after each one, both must be in the same state.
//!
//! `WATTSEAL_ORACLE=long` runs two million instructions; `WATTSEAL_SEED` chooses another stream.
//!
//! Exclusions, with their reasons:
//! - `SPM`, which does nothing without SPMCSR. `BREAK`: a stop to the model, a debugger's trap to
//!   simavr.
//! - `SLEEP`: simavr sleeps whether SE is set or not (DS40002198: only if it is set). Tested in
//!   `instructions`.
//! - Encodings that the manual leaves undefined (`LD r26, X+`): faults to the model.
//! - Bits of RAMPZ and EIND that the part does not have (2467, "RAM Page Z Select Register"; 2549Q,
//!   7.6) and simavr keeps: they are cleared in simavr after each instruction.
//! - `ST X` onto X itself: simavr then writes X back as it was; the instruction changes no pointer
//!   (DS40002198).
//! - `RJMP .`: the end of the program to the model when interrupts are off.

use super::programs::{ATMEGA128L, ATMEGA328P, ATMEGA2560, ATTINY85};
use mcu::{Fault, Mcu, Part, Until, new_machine};
use testkit::oracles::simavr::Simavr;
use testkit::random::{self, Random};

/// Properties of a part that the stream needs.
struct Bench {
    name: &'static str,
    toml: &'static str,
    flash_words: u32,
    ram: std::ops::Range<u32>,
    /// Bits of RAMPZ; none where there is no ELPM.
    rampz: u8,
    /// Bits of EIND; none where the program counter has 16 bits.
    eind: u8,
    /// MUL, JMP and CALL.
    enhanced: bool,
    /// I/O addresses (0 to 63) that keep what is written and do nothing else in both simulators.
    plain_io: &'static [u16],
}

const BENCHES: [Bench; 4] = [
    Bench {
        name: "atmega328p",
        toml: ATMEGA328P,
        flash_words: 0x4000,
        ram: 0x100..0x900,
        rampz: 0,
        eind: 0,
        enhanced: true,
        // DDRB, PORTB, DDRC, GPIOR0, GPIOR1, GPIOR2.
        plain_io: &[0x04, 0x05, 0x0A, 0x0B, 0x1E, 0x2A, 0x2B],
    },
    Bench {
        name: "atmega128",
        toml: ATMEGA128L,
        flash_words: 0x1_0000,
        ram: 0x100..0x1100,
        rampz: 1,
        eind: 0,
        enhanced: true,
        // DDRE, PORTE, DDRD, PORTD, DDRA, PORTA.
        plain_io: &[0x02, 0x03, 0x11, 0x12, 0x1A, 0x1B],
    },
    Bench {
        name: "atmega2560",
        toml: ATMEGA2560,
        flash_words: 0x2_0000,
        ram: 0x200..0x2200,
        rampz: 3,
        eind: 1,
        enhanced: true,
        // DDRB, PORTB, DDRE, GPIOR0, GPIOR1, GPIOR2.
        plain_io: &[0x04, 0x05, 0x0D, 0x1E, 0x2A, 0x2B],
    },
    Bench {
        name: "attiny85",
        toml: ATTINY85,
        flash_words: 0x1000,
        ram: 0x60..0x260,
        rampz: 0,
        eind: 0,
        enhanced: false,
        // GPIOR0, GPIOR1, GPIOR2.
        plain_io: &[0x11, 0x12, 0x13],
    },
];

const SPL: u16 = 0x3D;
const SPH: u16 = 0x3E;
const SREG: u16 = 0x3F;
const RAMPZ: u16 = 0x3B;
const EIND: u16 = 0x3C;

impl Bench {
    fn io(&self, random: &mut Random, low: bool) -> u16 {
        loop {
            let pick = self.plain_io[random.below(self.plain_io.len() as u32) as usize];
            let address = match random.below(8) {
                0 if !low => SREG,
                1 if !low => SPL,
                2 if !low => SPH,
                3 if !low && self.rampz != 0 => RAMPZ,
                4 if !low && self.eind != 0 => EIND,
                _ => pick,
            };
            if !low || address < 0x20 {
                return address;
            }
        }
    }

    /// One instruction, one or two words.
    fn instruction(&self, random: &mut Random) -> (u16, Option<u16>) {
        loop {
            let word = random.word() as u16;
            let d = word & 0x01F0;
            let pointer_clash = |pointer: u16| d >> 4 & !1 == pointer;
            let word = match word >> 12 {
                0x0 if word < 0x0100 && word != 0 => continue,
                0x0 if !self.enhanced && matches!(word >> 8, 2 | 3) => continue,
                // Offset -1 is `rjmp .`.
                0xC if word == 0xCFFF => continue,
                0xF if word & 0x0C08 == 0x0808 || word & 0x0C08 == 0x0C08 => continue,
                0xB => {
                    let io = self.io(random, false);
                    word & 0xF9F0 | io & 0x0F | io << 5 & 0x0600
                }
                0x9 => match word >> 8 & 0x0F {
                    0x0..=0x3 => {
                        let store = word & 0x0200 != 0;
                        match word & 0x0F {
                            0x0 => {
                                let address = match random.below(16) {
                                    0 => random.below(0x20) as u16,
                                    1 => 0x20 + self.io(random, false),
                                    _ => (self.ram.start + random.below(self.ram.len() as u32)) as u16,
                                };
                                return (word, Some(address));
                            }
                            0x1 | 0x2 if pointer_clash(30) => continue,
                            0x9 | 0xA if pointer_clash(28) => continue,
                            0xD | 0xE if pointer_clash(26) => continue,
                            0x1 | 0x2 | 0x9 | 0xA | 0xC | 0xD | 0xE | 0xF => word,
                            0x4 if !store => word,
                            0x5 if !store && !pointer_clash(30) => word,
                            0x6 if !store && (self.rampz != 0) => word,
                            0x7 if !store && (self.rampz != 0) && !pointer_clash(30) => word,
                            _ => continue,
                        }
                    }
                    0x4 | 0x5 => match word & 0x0F {
                        0x0 | 0x1 | 0x2 | 0x3 | 0x5 | 0x6 | 0x7 | 0xA => word,
                        0x8 => match random.below(6) {
                            0 => 0x9508,
                            1 => 0x9518,
                            2 => 0x95A8,
                            3 => 0x95C8,
                            4 if (self.rampz != 0) => 0x95D8,
                            _ => 0x9408 | word & 0x00F0,
                        },
                        0x9 => 0x9409 | word & 0x0100 | if self.eind != 0 { word & 0x0010 } else { 0 },
                        0xC..=0xF if self.enhanced => {
                            let target = self.target(random);
                            return (0x940C | word & 2 | (target >> 16) as u16, Some(target as u16));
                        }
                        _ => continue,
                    },
                    0x8..=0xB => word & 0xFF07 | self.io(random, true) << 3,
                    0xC..=0xF if !self.enhanced => continue,
                    _ => word,
                },
                _ => word,
            };
            return (word, None);
        }
    }

    fn target(&self, random: &mut Random) -> u32 {
        random.below(self.flash_words)
    }

    /// Returns true if an I/O address is one of the core's own registers.
    fn is_core_io(&self, io: u16) -> bool {
        io >= SPL || self.rampz != 0 && io == RAMPZ || self.eind != 0 && io == EIND
    }

    /// A flash full of instructions. Where a jump lands on the second word of one, that word is
    /// data; the run puts an instruction there before it is executed.
    fn flash(&self, random: &mut Random) -> Vec<u8> {
        let mut words = Vec::new();
        while words.len() < self.flash_words as usize {
            let (first, second) = self.instruction(random);
            words.push(first);
            words.extend(second);
        }
        words.truncate(self.flash_words as usize);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The model and simavr, side by side.
struct Pair {
    model: Box<dyn Mcu>,
    simavr: Simavr,
}

impl Pair {
    fn new(bench: &Bench) -> Pair {
        let part = Part::from_toml(bench.toml).unwrap();
        let simavr = Simavr::new(bench.name, part.default_clock_hz as u32).expect("simavr knows the part");
        Pair { model: new_machine(&part, part.default_clock_hz).unwrap(), simavr }
    }

    fn poke_flash(&mut self, address: u32, bytes: &[u8]) {
        assert!(self.model.poke(address, bytes));
        self.simavr.flash()[address as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn set_register(&mut self, number: u16, value: u8) {
        assert!(self.model.set_register(&format!("r{number}"), value.into()));
        self.simavr.data()[usize::from(number)] = value;
    }

    fn set_pair(&mut self, low: u16, value: u16) {
        let [l, h] = value.to_le_bytes();
        self.set_register(low, l);
        self.set_register(low + 1, h);
    }

    fn set_sp(&mut self, value: u16) {
        self.model.set_register("sp", value.into());
        self.simavr.set_sp(value);
    }

    fn poke_ram(&mut self, address: u32, bytes: &[u8]) {
        assert!(self.model.poke(0x80_0000 + address, bytes));
        self.simavr.data()[address as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn word(&mut self, address: u32) -> u16 {
        let flash = self.simavr.flash();
        let at = address as usize;
        u16::from_le_bytes([flash[at], flash[at + 1]])
    }

    /// One instruction on the model, to the end of which simavr already is. Every other one ends at
    /// an address instead of a cycle count: then the model executes it in the way it does in the
    /// midst of a long run.
    fn step_model(&mut self, to_address: bool) -> Result<(), Fault> {
        let next = self.simavr.pc();
        let until = if to_address && next != self.model.pc() {
            Until { cycles: Some(self.model.cycles() + 1000), addresses: vec![next] }
        } else {
            Until { cycles: Some(self.model.cycles() + 1), addresses: vec![] }
        };
        self.model.run(&until).map(|_| ())
    }
}

/// Makes the pointers, the stack and the return address fit for the instruction that comes next.
fn prepare(pair: &mut Pair, bench: &Bench, random: &mut Random) -> (u16, u16) {
    let pc = pair.model.pc();
    if pc + 4 > bench.flash_words * 2 || pc < 8 {
        let target = 4 + random.below(bench.flash_words - 16);
        pair.model.set_pc(target * 2);
        pair.simavr.set_pc(target * 2);
        return prepare(pair, bench, random);
    }
    let (first, second) = (pair.word(pc), pair.word(pc + 2));
    let (word, next) = match legal(bench, first, second) {
        true => (first, second),
        false => {
            let (word, next) = loop {
                let (word, next) = bench.instruction(random);
                if next.is_none() {
                    break (word, second);
                }
            };
            pair.poke_flash(pc, &word.to_le_bytes());
            (word, next)
        }
    };
    // Anywhere in RAM, now and then among the registers.
    let span = bench.ram.len() as u32;
    let anywhere = |random: &mut Random| match random.below(16) {
        0 => random.below(0x20),
        1 => 0x5D + random.below(3),
        _ => bench.ram.start + random.below(span),
    };
    match word >> 12 {
        0x8 | 0xA => {
            let q = u32::from(word & 7 | word >> 7 & 0x18 | word >> 8 & 0x20);
            let address = anywhere(random).max(q) - q;
            // Small addresses plus a large displacement would reach the I/O registers.
            let address = if address + q >= bench.ram.start || address + q < 0x20 || address + q >= 0x5D {
                address
            } else {
                bench.ram.start
            };
            pair.set_pair(if word & 8 == 0 { 30 } else { 28 }, address as u16);
        }
        0x9 if word & 0x0C00 == 0 => {
            let address = anywhere(random) as u16;
            match word & 0x0F {
                0x1 => pair.set_pair(30, address),
                0x2 => pair.set_pair(30, address + 1),
                0x4 | 0x5 => pair.set_pair(30, random.below(bench.flash_words.min(0x8000) * 2) as u16),
                0x6 | 0x7 => pair.set_pair(30, random.word() as u16),
                0x9 => pair.set_pair(28, address),
                0xA => pair.set_pair(28, address + 1),
                0xC if word & 0x0200 != 0 && matches!(address, 26 | 27) => {
                    pair.set_pair(26, bench.ram.start as u16)
                }
                0xC | 0xD => pair.set_pair(26, address),
                0xE => pair.set_pair(26, address + 1),
                _ => {}
            }
        }
        0x9 if matches!(word, 0x9409 | 0x9509 | 0x9419 | 0x9519) => {
            // IJMP and ICALL reach the first 64 k words.
            let target = bench.target(random) as u16;
            pair.set_pair(30, target);
        }
        0x9 if matches!(word, 0x95C8 | 0x95D8) => {
            pair.set_pair(30, random.below(bench.flash_words.min(0x8000) * 2) as u16);
        }
        _ => {}
    }
    let sp = pair.model.sp();
    if sp < bench.ram.start + 8 || sp + 8 > bench.ram.end {
        let new = bench.ram.start + 8 + random.below(span - 16);
        pair.set_sp(new as u16);
    }
    if matches!(word, 0x9508 | 0x9518) {
        let target = bench.target(random);
        let sp = pair.model.sp();
        pair.poke_ram(sp + 1, &target.to_be_bytes()[if bench.eind != 0 { 1 } else { 2 }..]);
    }
    (word, next)
}

/// Returns true if the stream may execute this word as it stands: it may be the second word of
/// another instruction.
fn legal(bench: &Bench, word: u16, next: u16) -> bool {
    let io = match word >> 12 {
        0x0 => return word == 0 || word >= 0x0400 || word >= 0x0100 && (bench.enhanced || word < 0x0200),
        0xB => word & 0x0F | word >> 5 & 0x30,
        0xC => return word != 0xCFFF,
        0xF => return word & 0x0808 != 0x0808,
        0x9 => {
            let register = word >> 4 & 0x1F;
            let clash = |pointer| register & !1 == pointer;
            match word >> 8 & 0x0F {
                0x0..=0x3 => {
                    let store = word & 0x0200 != 0;
                    return match word & 0x0F {
                        0x0 if next < 0x20 => true,
                        0x0 if next < 0x60 => {
                            let io = next - 0x20;
                            bench.plain_io.contains(&io) || bench.is_core_io(io)
                        }
                        0x0 => bench.ram.contains(&next.into()),
                        0x1 | 0x2 => !clash(30),
                        0x9 | 0xA => !clash(28),
                        0xD | 0xE => !clash(26),
                        0xC | 0xF => true,
                        0x4 => !store,
                        0x5 => !store && !clash(30),
                        0x6 => !store && (bench.rampz != 0),
                        0x7 => !store && (bench.rampz != 0) && !clash(30),
                        _ => false,
                    };
                }
                0x4 | 0x5 => {
                    return match word & 0x0F {
                        0x4 | 0xB => false,
                        0x8 => {
                            matches!(word, 0x9508 | 0x9518 | 0x95A8 | 0x95C8)
                                || (bench.rampz != 0) && word == 0x95D8
                                || word < 0x9500
                        }
                        0x9 => {
                            matches!(word, 0x9409 | 0x9509)
                                || bench.eind != 0 && matches!(word, 0x9419 | 0x9519)
                        }
                        0xC..=0xF => {
                            let target = u32::from(word & 1) << 16 | u32::from(next);
                            bench.enhanced && word & 0x01F0 == 0 && target < bench.flash_words
                        }
                        _ => true,
                    };
                }
                0x8..=0xB => word >> 3 & 0x1F,
                0xC..=0xF => return bench.enhanced,
                _ => return true,
            }
        }
        _ => return true,
    };
    bench.plain_io.contains(&io) || word >> 12 == 0xB && bench.is_core_io(io)
}

fn compare(bench: &Bench, count: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut pair = Pair::new(bench);
    let flash = bench.flash(&mut random);
    pair.poke_flash(0, &flash);
    let mut ram = vec![0; bench.ram.len()];
    for executed in 0..count {
        if executed % 64 == 0 {
            for number in 0..32 {
                let value = random.byte();
                pair.set_register(number, value);
            }
            let sreg = random.byte();
            pair.model.set_register("sreg", sreg.into());
            pair.simavr.set_sreg(sreg);
        }
        let (word, next) = prepare(&mut pair, bench, &mut random);
        let pc = pair.model.pc();
        let before = pair.model.registers();
        let (model_cycles, simavr_cycles) = (pair.model.cycles(), pair.simavr.cycles());

        assert!(pair.simavr.step(), "simavr stopped at {pc:#06x}");
        let outcome = pair.step_model(executed % 2 == 1);

        if bench.rampz != 0 {
            pair.simavr.data()[0x20 + usize::from(RAMPZ)] &= bench.rampz;
        }
        if bench.eind != 0 {
            pair.simavr.data()[0x20 + usize::from(EIND)] &= bench.eind;
        }
        let mut expected: Vec<(String, u32)> =
            (0..32).map(|n| (format!("r{n}"), u32::from(pair.simavr.data()[n]))).collect();
        expected.push(("sreg".into(), pair.simavr.sreg().into()));
        expected.push(("sp".into(), pair.simavr.sp().into()));
        expected.push(("pc".into(), pair.simavr.pc()));
        let context = || {
            format!(
                "{} seed {seed} instruction {executed}: {word:#06x} {next:#06x} at {pc:#06x}, before: {before:?}",
                bench.name
            )
        };
        assert_eq!(outcome, Ok(()), "{}", context());
        let after = pair.model.registers();
        if after != expected {
            let differing: Vec<_> =
                after.iter().zip(&expected).filter(|(ours, theirs)| ours != theirs).collect();
            panic!("(model, simavr) {differing:?} in {}", context());
        }
        assert_eq!(
            pair.model.cycles() - model_cycles,
            pair.simavr.cycles() - simavr_cycles,
            "cycles (model, simavr) in {}",
            context()
        );
        assert!(pair.model.peek(0x80_0000 + bench.ram.start, &mut ram));
        let theirs = &pair.simavr.data()[bench.ram.start as usize..bench.ram.end as usize];
        assert!(ram == theirs, "RAM in {}", context());
    }
    println!("{}: {count} instructions, seed {seed}: the same state after each", bench.name);
}

#[test]
fn every_instruction_ends_in_simavrs_state() {
    let (seed, count) = (random::seed_or(1), random::instructions(50_000, 1_000_000));
    for bench in &BENCHES {
        compare(bench, count, seed);
    }
}
