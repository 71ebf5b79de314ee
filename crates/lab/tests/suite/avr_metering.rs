//! The assembly of `ws_metering_add` on the ATmega328P's model against its contract, in numbers of
//! the host.

use firmware::Firmware;
use firmware::build_app;
use lab::workspace::Workspace;
use mcu::{Stop, Until, new_machine};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const SEED: u64 = 20261122;
/// Addresses of the structure and of the stack for the test.
const SUMS: u32 = 0x80_0600;
const STACK: u32 = 0x0500;
/// Return address of the function: a word address that the test stops at.
const RETURN_TO: u16 = 0x3ffe;

/// `ws_metering_sums`, what `ws_metering_add` changes of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    offset: [u32; 2],
    /// P0, P1, squares of voltage and current.
    window: [i32; 4],
    last_i: i16,
    samples: u8,
}

impl Sums {
    /// `metering.h`: offsets follow in 2^-20 steps with 1/1024 of the difference, sums are of
    /// quarters of a step.
    fn add(&mut self, samples: [u16; 2]) {
        let mut quarters = [0i16; 2];
        for ((quarter, offset), sample) in quarters.iter_mut().zip(&mut self.offset).zip(samples) {
            let over = (i64::from(sample) << 20) - i64::from(*offset);
            *offset = (i64::from(*offset) + over.div_euclid(1024)) as u32;
            *quarter = (over + (1 << 17)).div_euclid(1 << 18) as i16;
        }
        let [u, i] = quarters.map(i32::from);
        let products = [u * i, u * i32::from(self.last_i), u * u, i * i];
        for (sum, product) in self.window.iter_mut().zip(products) {
            *sum = sum.wrapping_add(product);
        }
        self.last_i = quarters[1];
        self.samples += 1;
    }

    fn from_bytes(bytes: &[u8; 45]) -> Sums {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Sums {
            offset: [word(0), word(4)],
            window: [word(8), word(12), word(16), word(20)].map(|word| word as i32),
            last_i: i16::from_le_bytes([bytes[40], bytes[41]]),
            samples: bytes[44],
        }
    }
}

#[test]
fn a_pair_is_added_as_the_contract_says() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let emontx = workspace.board("emontx").expect("a board");
    let target = workspace.target(&emontx.target).expect("a target");
    let source = workspace.board_source(&emontx, &target, None).expect("its clock");
    let elf = build_app(&source, "small", "meter").expect("it builds");
    let firmware = Firmware::read(&elf, target.part.core).expect("an ELF file");
    let mut machine = new_machine(&target.part, emontx.clock_hz).expect("a model");
    machine.load(firmware.image()).expect("it fits");
    machine.reset();
    let entry = firmware.symbol("ws_metering_add").expect("the function").address;

    let mut rng = StdRng::seed_from_u64(SEED);
    println!("seed {SEED}");
    let mut sums = Sums { offset: [512 << 20; 2], ..Sums::default() };
    let mut bytes = [0; 45];
    bytes[..8].copy_from_slice(&[0, 0, 0, 0x20, 0, 0, 0, 0x20]);
    assert!(machine.poke(SUMS, &bytes));
    let (mut least, mut most) = (u64::MAX, 0);
    for call in 0..2000 {
        // Extremes among them; at the window's end the test begins another, because the sums then
        // go elsewhere.
        let sample = |rng: &mut StdRng| match rng.random_range(0..4) {
            0 => 0,
            1 => 1023,
            _ => rng.random_range(0..1024),
        };
        let samples = [sample(&mut rng), sample(&mut rng)];
        if sums.samples == 124 {
            (sums.window, sums.samples) = ([0; 4], 0);
            assert!(machine.poke(SUMS + 8, &[0; 16]) && machine.poke(SUMS + 44, &[0]));
        }
        sums.add(samples);
        let [low, high] = RETURN_TO.to_le_bytes();
        assert!(machine.poke(0x80_0000 + STACK - 1, &[high, low]));
        machine.set_pc(entry);
        assert!(machine.set_register("sp", STACK - 2));
        let words = [SUMS as u16, samples[0], samples[1]];
        for (first, word) in [24, 22, 20].into_iter().zip(words) {
            for (at, byte) in word.to_le_bytes().into_iter().enumerate() {
                assert!(machine.set_register(&format!("r{}", first + at), byte.into()));
            }
        }
        let kept = [2, 16, 17, 28, 29].map(|register| format!("r{register}"));
        for name in &kept {
            machine.set_register(name, 0xa5);
        }
        let begin = machine.cycles();
        let until = Until { cycles: Some(begin + 10_000), addresses: vec![2 * u32::from(RETURN_TO)] };
        assert_eq!(machine.run(&until).expect("it runs"), Stop::Address(2 * u32::from(RETURN_TO)));
        let took = machine.cycles() - begin;
        (least, most) = (least.min(took), most.max(took));
        assert!(machine.peek(SUMS, &mut bytes));
        assert_eq!(Sums::from_bytes(&bytes), sums, "call {call}, samples {samples:?}");
        let registers = machine.registers();
        let value = |name: &str| registers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        assert_eq!((value("r1"), value("sp")), (Some(0), Some(STACK)));
        assert!(kept.iter().all(|name| value(name) == Some(0xa5)), "call {call}");
    }
    // Every call the same, but for the branch at the window's end; the call instruction's 4 cycles
    // come on top.
    println!("{least} to {most} cycles");
    assert_eq!(least, most);
}
