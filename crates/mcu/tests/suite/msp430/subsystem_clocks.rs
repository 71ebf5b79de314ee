//! SMCLK and ACLK beside MCLK.
//!
//! The clock systems of the MSP430F5438A and the MSP430FR5994 set them, and peripherals count them.

use super::programs::{mov, mov_byte, poke, register};
use mcu::{Mcu, Observer, Part, Stop, Until, new_clocked_machine, new_machine};

const PC: u32 = 0x2000;
const ISR: u32 = 0x2800;
const TA0CTL: u16 = 0x340;
const TA0CCTL0: u16 = 0x342;
const TA0R: u16 = 0x350;
const TA0CCR0: u16 = 0x352;
/// TASSEL_2, MC_2, TACLR: continuous from SMCLK; TASSEL_1: from ACLK; MC_1: up to CCR0.
const FROM_SMCLK: u16 = 0x0224;
const FROM_ACLK: u16 = 0x0124;
const UP_FROM_SMCLK: u16 = 0x0214;
const UCA0: u16 = 0x5c0;

/// A part, its clock system's registers of sources and of dividers, and the vector of TA0's CCR0.
struct Clocked {
    part: Part,
    sources: u16,
    dividers: u16,
    /// The fields for the DCO as MCLK's and SMCLK's source, and the watch crystal as ACLK's.
    dco: u16,
    vector: u32,
    enhanced: bool,
}

fn both() -> [Clocked; 2] {
    let fr5994 =
        Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file");
    let vector = |part: &Part| {
        let timer = part.peripherals.iter().find(|spec| spec.name == "TA0").expect("TA0");
        0xff80 + 2 * u32::from(timer.irq.expect("a vector"))
    };
    let f5438a = super::programs::part();
    [
        Clocked {
            vector: vector(&f5438a),
            part: f5438a,
            sources: 0x168,
            dividers: 0x16a,
            dco: 0x44,
            enhanced: false,
        },
        Clocked {
            vector: vector(&fr5994),
            part: fr5994,
            sources: 0x164,
            dividers: 0x166,
            dco: 0x33,
            enhanced: true,
        },
    ]
}

#[derive(Default)]
struct Sent(Vec<(u8, u64)>);

impl Observer for Sent {
    fn uart(&mut self, _: &str, byte: u8, cycles: u64) {
        self.0.push((byte, cycles));
    }
}

impl Clocked {
    /// Lets the watchdog be and, on the MSP430FR5994, the clock system's registers be written, with
    /// all dividers 1: 12 cycles.
    fn start(&self) -> Vec<u16> {
        let key = if self.enhanced { 0xa500 } else { 0 };
        let key_register = if self.enhanced { 0x160 } else { 0x166 };
        [mov(0x5a80, 0x15c), mov(key, key_register), mov(0, self.dividers)].concat()
    }

    fn machine(&self, words: &[u16]) -> Box<dyn Mcu> {
        let mut machine = new_machine(&self.part, 1_000_000).expect("machine");
        self.load(&mut *machine, words);
        machine
    }

    fn load(&self, machine: &mut dyn Mcu, words: &[u16]) {
        // Two jumps: at a jump to itself the program would have ended.
        poke(machine, PC, &[&self.start()[..], words, &[0x3c00, 0x3ffe]].concat());
        // INC R7; RETI.
        poke(machine, ISR, &[0x5317, 0x1300]);
        poke(machine, self.vector, &[ISR as u16]);
        assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    }

    /// TA0R in the third cycle of a MOV behind these words.
    fn count(&self, words: &[u16]) -> u32 {
        let mut machine = self.machine(&[words, &[0x4215, TA0R]].concat());
        let end = PC + 2 * (self.start().len() + words.len() + 2) as u32;
        assert_eq!(machine.run(&until(100_000, end)), Ok(Stop::Address(end)));
        register(&*machine, "r5")
    }

    /// The cycles at which interrupts of TA0's CCR0 begin.
    fn interrupts(&self, words: &[u16], count: usize) -> Vec<u64> {
        let mut machine = self.machine(&[words, &[0xd232]].concat());
        let next = |_| {
            assert_eq!(machine.run(&until(1_000_000, ISR)), Ok(Stop::Address(ISR)));
            let at = machine.cycles();
            assert_eq!(machine.run(&until(at + 1, 0)), Ok(Stop::Cycles));
            at
        };
        (0..count).map(next).collect()
    }

    /// UCA0 as UART from SMCLK with ten bits of 8 clocks, then a byte.
    fn send(&self) -> Vec<u16> {
        let control = |bits: u16| if self.enhanced { mov(bits, UCA0) } else { mov_byte(bits, UCA0) };
        let modulation = if self.enhanced { mov(0, UCA0 + 8) } else { mov_byte(0, UCA0 + 8) };
        [control(0x81), mov(8, UCA0 + 6), modulation, control(0x80), mov_byte(0x41, UCA0 + 0xe)].concat()
    }

    /// The cycle at which the byte is complete that these instructions send.
    fn sent(&self, words: &[u16]) -> u64 {
        let (mut machine, mut sent) = (self.machine(words), Sent::default());
        assert_eq!(machine.run_observed(&until(5_000, 0), &mut sent), Ok(Stop::Cycles));
        let [(0x41, at)] = sent.0[..] else { panic!("one byte: {:?}", sent.0) };
        at
    }

    fn fault(&self, words: &[u16]) -> String {
        self.machine(words).run(&until(10_000, 0)).expect_err("a fault").to_string()
    }
}

fn until(cycles: u64, address: u32) -> Until {
    Until { cycles: Some(cycles), addresses: if address == 0 { Vec::new() } else { vec![address] } }
}

fn nops(count: usize) -> Vec<u16> {
    vec![0x4303; count]
}

/// SLAU208, UCSCTL5, and SLAU367, CSCTL3: DIVS 1 is half, 3 an eighth. Periods of SMCLK begin where
/// DIVS is written; the counter is cleared 4 cycles later, and read after the NOPs and 3 more.
#[test]
fn a_timer_counts_a_divided_smclk() {
    for part in both() {
        let count = |divs: u16, waits: usize| {
            part.count(&[mov(divs << 4, part.dividers), mov(FROM_SMCLK, TA0CTL), nops(waits)].concat())
        };
        assert_eq!([0, 15, 16, 17].map(|waits| count(0, waits)), [3, 18, 19, 20]);
        assert_eq!([0, 1, 14, 15, 16].map(|waits| count(1, waits)), [1, 2, 8, 9, 9]);
        assert_eq!([0, 1, 8, 9, 17].map(|waits| count(3, waits)), [0, 1, 1, 2, 3]);
        // MCLK is a quarter, SMCLK half of the oscillator: two clocks a cycle.
        let faster = [mov(0x12, part.dividers), mov(FROM_SMCLK, TA0CTL), nops(16)].concat();
        assert_eq!(part.count(&faster), 2 * 19);
    }
}

/// The counter goes on from where it is when DIVS changes, and again when it changes back.
#[test]
fn timer_goes_on_when_smclk_changes() {
    for part in both() {
        let run = [mov(FROM_SMCLK, TA0CTL), nops(10), mov(0x30, part.dividers)].concat();
        assert_eq!(
            [4, 5, 12, 13].map(|waits| part.count(&[&run[..], &nops(waits)].concat())),
            [14, 15, 15, 16]
        );
        let back = [&run[..], &nops(12), &mov(0, part.dividers)].concat();
        assert_eq!([0, 7].map(|waits| part.count(&[&back[..], &nops(waits)].concat())), [16 + 3, 16 + 10]);
    }
}

/// CCR0 of 99 in up mode: every 100 clocks of SMCLK. The interrupt that is due comes later when
/// SMCLK becomes slower meanwhile.
#[test]
fn interrupts_come_by_smclk() {
    for part in both() {
        let timer = [mov(0x10, TA0CCTL0), mov(99, TA0CCR0), mov(UP_FROM_SMCLK, TA0CTL)].concat();
        let every = |divs: u16| {
            let at = part.interrupts(&[&mov(divs << 4, part.dividers)[..], &timer].concat(), 4);
            (at[3] - at[0]) / 3
        };
        assert_eq!([0, 1, 3, 5].map(every), [100, 200, 800, 3200]);
        // The counter is cleared in cycle 24, SMCLK an eighth from 36 on: 12 clocks before, 87
        // after that until the flag in 36 + 87 * 8; it is seen at the end of a jump, of two cycles,
        // and taken in six.
        let changed = [&timer[..], &nops(8), &mov(0x30, part.dividers)].concat();
        let first = part.interrupts(&changed, 1)[0];
        assert!((36 + 87 * 8 + 6..36 + 87 * 8 + 6 + 4).contains(&first), "{first}");
    }
}

/// Ten bits of 8 clocks: 80 cycles, 160, 640; and where SMCLK becomes an eighth 24 cycles after the
/// byte has begun, 24 + 56 * 8.
#[test]
fn a_uart_sends_by_smclk() {
    for part in both() {
        let frame = |divs: u16| {
            let start = [mov(divs << 4, part.dividers), part.send()].concat();
            // The periods of SMCLK began with DIVS, in cycle 16; the byte is written in 36, and
            // begins with the edge before.
            part.sent(&start) - (36 - 20 % (1 << divs))
        };
        assert_eq!([0, 1, 3].map(frame), [80, 160, 640]);
        let changed = [&part.send()[..], &nops(20), &mov(0x30, part.dividers)].concat();
        assert_eq!(part.sent(&changed), 32 + 24 + 56 * 8);
        let faster = [&mov(0x30, part.dividers)[..], &part.send(), &nops(4), &mov(0, part.dividers)].concat();
        // Begun at 32, of 80 clocks one is over at 40, and half of the next at 44: half of a cycle.
        assert_eq!(part.sent(&faster), 44 + 79);
    }
}

/// Another oscillator is what it is, whatever MCLK is: at 1 MHz edges of 32,768 Hz come by cycles
/// 31 and 62, of 16,384 Hz by 62.
#[test]
fn smclk_and_aclk_have_oscillators_of_their_own() {
    for part in both() {
        let timer = |sources: u16, dividers: u16, control: u16, waits: usize| {
            let clocks = [mov(sources, part.sources), mov(dividers, part.dividers)].concat();
            part.count(&[clocks, mov(control, TA0CTL), nops(waits)].concat())
        };
        // SELS 0: the watch crystal. SMCLK has it from cycle 16 on, the counter is read in cycle 27
        // and later.
        let crystal = part.dco & 0x0f;
        assert_eq!([0, 19, 20, 50, 51].map(|waits| timer(crystal, 0, FROM_SMCLK, waits)), [0, 0, 1, 1, 2]);
        // DIVA 1 halves ACLK, of whose period 0.66 are over in cycle 20: edges in 41.03 and each
        // 61.04 cycles after that.
        let aclk = |waits| timer(part.dco, 0x100, FROM_ACLK, waits);
        assert_eq!([14, 15, 75, 76, 136, 137].map(aclk), [0, 1, 1, 2, 2, 3]);
        // SELA and SELS 1: VLOCLK with 9.4 kHz, 106.38 cycles, from 16 on, where 0.52 of ACLK's
        // period are over.
        let vlo = |control, waits| timer(0x110 | part.dco & 0x0f, 0, control, waits);
        assert_eq!([39, 40, 145, 147].map(|waits| vlo(FROM_ACLK, waits)), [0, 1, 1, 2]);
        assert_eq!([95, 96, 201, 202].map(|waits| vlo(FROM_SMCLK, waits)), [0, 1, 1, 2]);
    }
}

/// MCLK becomes an eighth of the DCO in mid-run while SMCLK stays one, on a machine whose core
/// follows the program. A byte takes as long.
#[test]
fn smclk_stays_when_only_mclk_changes() {
    for part in both() {
        let run = |words: &[u16]| {
            let mut machine = new_clocked_machine(&part.part, None).expect("machine");
            part.load(&mut *machine, &[&mov(0x30, part.dividers)[..], words].concat());
            let mut sent = Sent::default();
            assert_eq!(machine.run_observed(&until(5_000, 0), &mut sent), Ok(Stop::Cycles));
            (sent.0[0].1, machine.clock_hz())
        };
        let (slow, before_hz) = run(&part.send());
        // The byte begins at the edge in cycle 32.
        assert_eq!(slow, 32 + 640);
        let (changed, after_hz) = run(&[&part.send()[..], &nops(8), &mov(0x33, part.dividers)].concat());
        assert_eq!(after_hz, before_hz / 8);
        // 16 cycles of two clocks, then a cycle for each of the 78.
        assert_eq!(changed, 48 + 78);
    }
}

#[test]
fn the_watchdog_counts_smclk_as_it_is() {
    for part in both() {
        // As an interval timer of 2^6 clocks, WDTIFG: 64 / 8 turns in 512 cycles. MOV &SFRIFG1, R5.
        let start = [mov(0x30, part.dividers), mov(0x5a1f, 0x15c)].concat();
        let flag = |waits: usize| {
            let words = [&start[..], &mov(0, 0x102), &nops(waits), &[0x4215, 0x102]].concat();
            let mut machine = part.machine(&words);
            assert_eq!(machine.run(&until(2_000, 0)), Ok(Stop::Cycles));
            register(&*machine, "r5") & 1
        };
        // SMCLK's periods begin in cycle 16, the counter in 20 with the edge of 16: the 64th one
        // after that comes in 528, between two instructions.
        assert_eq!([528 - 24 - 4, 528 - 24].map(flag), [0, 1]);
    }
}

#[test]
fn settings_that_the_clock_systems_lack_are_refused() {
    let [f5438a, fr5994] = both();
    assert!(f5438a.fault(&mov(0x344, 0x168)).contains("ACLK from the DCO"));
    assert!(f5438a.fault(&[mov(0x0703, 0x170), mov(0xc1cf, 0x16c)].concat()).contains("SMCLKREQEN"));
    assert!(fr5994.fault(&mov(0x0353, 0x164)).contains("HFXT"));
    assert!(fr5994.fault(&mov(0x0333, 0x164)).contains("SELA"));
    assert!(fr5994.fault(&[mov(0xcdcb, 0x168), mov(0x0b, 0x16c)].concat()).contains("SMCLKREQEN"));
    // SMCLKOFF: a timer requests the clock all the same.
    let off = [mov(0xcdcb, 0x168), mov(FROM_SMCLK, TA0CTL), nops(16)].concat();
    assert_eq!(fr5994.count(&off), 19);
}
