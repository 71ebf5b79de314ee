//! MSP430FR5994.
//!
//! It has FRAM with wait states and cache, a clock system, pins that a reset holds, and eUSCI_A.

use super::programs::{mov, mov_byte, poke, register};
use mcu::{Fault, Mcu, Observer, Part, PinEdge, Step, Stop, Until, new_clocked_machine, new_machine};

pub const RAM: u32 = 0x2000;
const HOLD: u64 = 4;
const FRAM: u32 = 0x4400;
/// `jmp $`.
const END: u16 = 0x3fff;
/// `MOV R5, R5`, of one cycle.
const MOVE: u16 = 0x4505;
const FRCTL0: u16 = 0x0140;
const CSCTL0: u16 = 0x0160;
const CSCTL1: u16 = 0x0162;
const CSCTL3: u16 = 0x0166;
const PM5CTL0: u16 = 0x0130;
const P1OUT: u16 = 0x0202;
const P1DIR: u16 = 0x0204;
const P1SELC: u16 = 0x0216;
const UCA0: u16 = 0x05c0;

fn part() -> Part {
    Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file")
}

/// A machine with a program there, at its beginning; the watchdog is held, which took [`HOLD`]
/// cycles.
pub fn machine(at: u32, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(&part(), 16_000_000).expect("machine");
    poke(&mut *machine, RAM, &[&mov(0x5a80, 0x015c)[..], &[END]].concat());
    assert!(machine.set_register("pc", RAM));
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    poke(&mut *machine, at, &[words, &[END]].concat());
    assert!(machine.set_register("sp", 0x3c00) && machine.set_register("pc", at));
    machine
}

/// The cycles of a program up to its end.
fn cycles(at: u32, words: &[u16]) -> u64 {
    let mut machine = machine(at, words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine.cycles()
}

/// By how many cycles a program in FRAM is longer with a wait state; `words` begin in the last word
/// of a line.
fn waits(words: &[u16]) -> u64 {
    let with = |setting: u16| cycles(FRAM, &[&mov(setting, FRCTL0), words].concat());
    with(0xa510) - with(0xa500)
}

pub fn fault(words: &[u16]) -> String {
    match machine(RAM, words).run(&Until::default()) {
        Err(fault @ Fault::Peripheral { .. }) => fault.to_string(),
        other => panic!("no fault: {other:?}"),
    }
}

#[derive(Default)]
struct Seen {
    steps: Vec<(u32, u64)>,
    edges: Vec<(String, u8, bool, u64)>,
    bytes: Vec<(String, u8, u64)>,
}

impl Observer for Seen {
    fn step(&mut self, step: &Step) {
        self.steps.push((step.pc, step.cycles));
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.edges.push((edge.port.to_string(), edge.pin, edge.high, edge.cycles));
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.bytes.push((port.to_string(), byte, cycles));
    }
}

/// Observations of a program, and of 600 cycles after it: MOV #200, R6, DEC R6, JNZ.
fn seen(at: u32, words: &[u16]) -> Seen {
    let (mut machine, mut seen) =
        (machine(at, &[words, &[0x4036, 200, 0x8316, 0x23fe]].concat()), Seen::default());
    let stop = machine.run_observed(&Until { cycles: Some(10_000), ..Until::default() }, &mut seen);
    assert!(matches!(stop, Ok(Stop::Halted | Stop::Cycles)), "{stop:?}");
    seen
}

/// SLAU367, FRCTL_A: what is in the cache comes without wait states. Lines have four words.
#[test]
fn a_line_is_fetched_once() {
    // A word of the line that is there, two lines, and the end's.
    assert_eq!(waits(&[MOVE; 9]), 3);
    // MOV #100, R6, DEC R6, JNZ to it: 100 turns in one line.
    assert_eq!(waits(&[0x4036, 100, 0x8316, 0x23fe, MOVE]), 2);
    // In RAM nothing waits.
    assert_eq!(
        cycles(RAM, &[&mov(0xa510, FRCTL0)[..], &[MOVE; 9]].concat()),
        cycles(RAM, &[&mov(0xa500, FRCTL0)[..], &[MOVE; 9]].concat())
    );
}

#[test]
fn data_in_fram_waits_and_stays() {
    // MOV &0x5000, R7 twice, of two words each: lines of the program at 0x4408 and 0x4410, and the
    // data's once.
    assert_eq!(waits(&[MOVE, 0x4217, 0x5000, 0x4217, 0x5000]), 3);
    // MOV R7, &0x5000: a write waits each time.
    assert_eq!(waits(&[MOVE, 0x4782, 0x5000, 0x4782, 0x5000]), 4);
    // Code is executed as it was written last: a move, which the next turn finds to be INC R6. DEC
    // R7, JNZ to the start.
    let turn = [&[MOVE][..], &mov(0x5316, FRAM as u16), &[0x8317, 0x23fa]].concat();
    let mut machine = machine(FRAM, &turn);
    assert!(machine.set_register("r6", 4) && machine.set_register("r7", 2));
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(&*machine, "r6"), 5);
}

/// The waits of an instruction's fetch belong to it, also under an observer, and a run that is
/// stopped there has not begun it.
#[test]
fn waits_count_for_the_instruction() {
    let program = [&mov(0xa530, FRCTL0)[..], &[MOVE; 9]].concat();
    let steps = seen(FRAM, &program).steps;
    let of = |pc: u32| steps.iter().find(|(at, _)| *at == pc).expect("executed").1;
    assert_eq!([of(FRAM + 8), of(FRAM + 10), of(FRAM + 12)].map(|at| at - of(FRAM + 6)), [1, 5, 6]);
    let mut machine = machine(FRAM, &program);
    let until = Until { addresses: vec![FRAM + 8], ..Until::default() };
    assert_eq!(machine.run(&until), Ok(Stop::Address(FRAM + 8)));
    assert_eq!(machine.cycles(), of(FRAM + 8));
}

#[test]
fn frctl_a_wants_its_password() {
    assert!(fault(&mov_byte(0x10, FRCTL0)).contains("locked"));
    assert!(fault(&mov(0xa508, FRCTL0)).contains("automatic"));
    assert!(fault(&[mov_byte(0xa5, FRCTL0 + 1), mov(0x40, 0x0144)].concat()).contains("bit errors"));
    let read = [&mov(0xa570, FRCTL0)[..], &[0x4215, FRCTL0]].concat();
    let mut machine = machine(RAM, &read);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(&*machine, "r5"), 0x9670);
}

/// SLAU367, CS: an eighth of 8 MHz after a reset; DCORSEL with DCOFSEL 4 is 16 MHz.
#[test]
fn the_clock_system_makes_the_clock() {
    let hz = |words: &[u16]| {
        let mut machine = new_clocked_machine(&part(), None).expect("machine");
        poke(&mut *machine, RAM, &[&mov(0x5a80, 0x015c)[..], words, &[END]].concat());
        assert!(machine.set_register("pc", RAM));
        machine.run(&Until::default()).map(|_| machine.clock_hz()).map_err(|fault| fault.to_string())
    };
    assert_eq!(hz(&[]), Ok(1_000_000));
    let fast = [mov(0xa500, CSCTL0), mov(0x48, CSCTL1), mov(0, CSCTL3)].concat();
    assert_eq!(hz(&fast), Ok(16_000_000));
    assert_eq!(hz(&[mov(0xa500, CSCTL0), mov(0, CSCTL3)].concat()), Ok(8_000_000));
    assert!(hz(&mov(0, CSCTL3)).unwrap_err().contains("locked"));
    // SMCLK has a divider of its own.
    assert_eq!(hz(&[mov(0xa500, CSCTL0), mov(0x10, CSCTL3)].concat()), Ok(8_000_000));
}

/// SLAU367, PMM: LOCKLPM5 holds the pins until it is cleared; what their registers hold then shows.
#[test]
fn pins_are_held_until_they_are_released() {
    let on = [mov_byte(1, P1OUT), mov_byte(3, P1DIR)].concat();
    assert_eq!(seen(RAM, &on).edges, []);
    let released = seen(RAM, &[on.clone(), mov(0, PM5CTL0), mov_byte(2, P1OUT)].concat()).edges;
    let edges: Vec<_> = released.iter().map(|(port, pin, high, _)| (port.as_str(), *pin, *high)).collect();
    assert_eq!(edges, [("P1", 0, true), ("P1", 0, false), ("P1", 1, true)]);
    // P1SELC gives both to a module.
    let given = seen(RAM, &[on, mov(0, PM5CTL0), mov_byte(3, P1SELC)].concat()).edges;
    assert_eq!(given.len(), 2);
}

/// SLAU367, eUSCI_A: ten bits of 8 clocks; UCBRSx 0x80 makes the start bit and the last data bit a
/// clock longer.
#[test]
fn a_byte_takes_its_bits() {
    let send = |modulation: u16| {
        let set = [mov(8, UCA0 + 6), mov(modulation, UCA0 + 8), mov(0x0080, UCA0), mov(0x41, UCA0 + 0xe)];
        seen(RAM, &set.concat()).bytes
    };
    let plain = send(0);
    assert_eq!((plain.len(), plain[0].0.as_str(), plain[0].1), (1, "UCA0", 0x41));
    assert_eq!(plain[0].2, HOLD + 4 * 4 + 80);
    assert_eq!(send(0x8000)[0].2 - plain[0].2, 2);
    assert!(fault(&mov(0x41, UCA0 + 0xe)).contains("UCSWRST"));
    assert!(fault(&mov(0x8000, UCA0)).contains("parity"));
}

/// The check values of CRC-32 (ISO 3309: 0xcbf43926), CRC-32/BZIP2 (0xfc891918) and CRC-16/IBM-3740
/// (0x29b1), before the final inversion; words as TI's examples have them: msp430fr599x_crc32.c,
/// against zlib's crc32 of the same bytes, and msp430fr599x_crc16.c, the upper byte first, against
/// Python's binascii.crc_hqx.
#[test]
fn the_crc32_module_signs_bytes_and_words() {
    const CRC32: u16 = 0x0980;
    let signature = |data: &[u16], low: u16, high: u16| {
        let seed = [mov(0xffff, CRC32 + 8), mov(0xffff, CRC32 + 0xa), mov(0xffff, CRC32 + 0x18)];
        let mut machine =
            machine(RAM, &[&seed.concat()[..], data, &[0x4215, CRC32 + low, 0x4216, CRC32 + high]].concat());
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        register(&*machine, "r6") << 16 | register(&*machine, "r5")
    };
    let digits = |offset: u16| -> Vec<u16> {
        (0x31..0x3a).flat_map(|digit| mov_byte(digit, CRC32 + offset)).collect()
    };
    assert_eq!(signature(&digits(0), 0x0c, 0x0e), !0xcbf4_3926);
    assert_eq!(signature(&digits(4), 8, 0xa), !0xfc89_1918);
    // Of 16 bits, and their order reversed beside them.
    assert_eq!(signature(&digits(0x16), 0x18, 0x1e), 0x8d94_29b1);
    let words = [0xc00f, 0x9610, 0x5042, 0x0010, 0x7ff7, 0xf86a, 0xb58e, 0x7651];
    let pairs: Vec<u16> =
        words.chunks(2).flat_map(|pair| [mov(pair[0], CRC32), mov(pair[1], CRC32 + 2)].concat()).collect();
    assert_eq!(signature(&pairs, 0x0c, 0x0e), 0xa2d08257);
    let upper_first: Vec<u16> = words.iter().flat_map(|word| mov(*word, CRC32 + 0x16)).collect();
    assert_eq!(signature(&upper_first, 0x18, 0x18) & 0xffff, 0x7929);
    assert!(fault(&mov(1, CRC32 + 4)).contains("CRC32DIRB"));
    assert!(fault(&mov(1, CRC32 + 0x12)).contains("no such register"));
}

/// FIPS 197, appendices C.1 to C.3; busy for the cycles of SLAU367P, table 21-1, from the last word
/// of data.
#[test]
fn the_aes_module_encrypts_with_each_length_of_key() {
    const AES256: u16 = 0x09c0;
    let plain = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();
    let words = |bytes: &[u8], register: u16| -> Vec<u16> {
        let word = |pair: &[u8]| mov(u16::from_le_bytes([pair[0], pair[1]]), AES256 + register);
        bytes.chunks(2).flat_map(word).collect()
    };
    let key: Vec<u8> = (0..32).collect();
    for (length, busy, cipher) in [
        (16, 168, 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128),
        (24, 204, 0xdda9_7ca4_864c_dfe0_6eaf_70a0_ec0d_7191),
        (32, 234, 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089),
    ] {
        let setup = [mov((length as u16 / 8 - 2) << 2, AES256), words(&key[..length], 6)].concat();
        // BIT.W #1, &AESASTAT; JNZ $-6; then each word of AESADOUT into R4 to R11.
        let wait = [0xb392, AES256 + 4, 0x23fd];
        let output: Vec<u16> = (4..12).flat_map(|register| [0x4210 | register, AES256 + 0xa]).collect();
        let program = [&setup[..], &words(&plain, 8), &wait, &output].concat();
        let mut machine = machine(RAM, &program);
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        let bytes: Vec<u8> = (4..12)
            .flat_map(|index| (register(&*machine, &format!("r{index}")) as u16).to_le_bytes())
            .collect();
        assert_eq!(bytes, cipher.to_be_bytes(), "{length}");
        // Without the wait the first read comes too soon; with as many cycles between it does not.
        let after = |idle: usize| {
            let idle = vec![MOVE; idle];
            machine_after(&[&setup[..], &words(&plain, 8), &idle, &output].concat())
        };
        assert!(after(busy - 6).is_err_and(|fault| fault.contains("busy")), "{length}");
        assert!(after(busy).is_ok(), "{length}");
    }
    assert!(fault(&mov(1, AES256)).contains("decryption"));
    assert!(fault(&mov(0x8000, AES256)).contains("cipher modes"));
    assert!(fault(&mov(0, AES256 + 0xc)).contains("not modelled"));
}

/// Runs a program to its end, or to its fault.
fn machine_after(words: &[u16]) -> Result<Stop, String> {
    machine(RAM, words).run(&Until::default()).map_err(|fault| fault.to_string())
}
