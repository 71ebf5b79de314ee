//! The DMA controller of the MSP430F5438A and the MSP430FR5994.

use super::programs::{mov, mov_byte, poke, register, word};
use mcu::{Mcu, Observer, Part, PinEdge, Stop, Until, new_machine};

const PC: u32 = 0x2000;
const END: u16 = 0x3fff;
const FROM: u16 = 0x2800;
const TO: u16 = 0x2900;
const DMACTL0: u16 = 0x0500;
const DMAIV: u16 = 0x050e;
const DMA0CTL: u16 = 0x0510;
/// Both addresses counting up; DMAEN with DMAREQ; DMADT_1 and DMADT_2.
const UP: u16 = 0x0f00;
const BEGIN: u16 = 0x0011;
const BLOCK: u16 = 0x1000;
const BURST: u16 = 0x2000;

fn f5438a() -> Part {
    super::programs::part()
}

fn fr5994() -> Part {
    Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file")
}

/// With words 0x1100, 0x1101 and so on to be moved.
fn machine(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    poke(&mut *machine, PC, &[&mov(0x5a80, 0x015c)[..], words, &[END]].concat());
    poke(&mut *machine, FROM.into(), &(0x1100..0x1180).collect::<Vec<u16>>());
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    machine
}

/// Source, destination, size and control of a channel.
fn channel(number: u16, from: u16, to: u16, size: u16, control: u16) -> Vec<u16> {
    let base = DMA0CTL + 0x10 * number;
    [mov(from, base + 2), mov(to, base + 6), mov(size, base + 0xa), mov(control, base)].concat()
}

fn ran(words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = machine(&f5438a(), words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine
}

fn moved(machine: &dyn Mcu, words: u16) -> Vec<u16> {
    (0..words).map(|at| word(machine, u32::from(TO) + 2 * u32::from(at))).collect()
}

#[derive(Default)]
struct Seen {
    edges: Vec<(bool, u64)>,
    bytes: Vec<u8>,
}

impl Observer for Seen {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.edges.push((edge.high, edge.cycles));
    }
    fn uart(&mut self, _port: &str, byte: u8, _cycles: u64) {
        self.bytes.push(byte);
    }
}

fn seen(part: &Part, words: &[u16], cycles: u64) -> Seen {
    // Two jumps: at a jump to itself the program would have ended.
    let (mut machine, mut seen) = (machine(part, &[words, &[0x3c00, 0x3ffe]].concat()), Seen::default());
    machine
        .run_observed(&Until { cycles: Some(cycles), addresses: Vec::new() }, &mut seen)
        .expect("no fault");
    seen
}

/// SLAU208, "DMA Transfer Cycle Time": two cycles a word, and two for a block.
#[test]
fn a_block_holds_the_core() {
    let block = |size: u16, control: u16| ran(&channel(0, FROM, TO, size, control));
    let idle = block(8, BLOCK | UP).cycles();
    let machine = block(8, BLOCK | UP | BEGIN);
    assert_eq!(machine.cycles() - idle, 2 * 8 + 2);
    assert_eq!(moved(&*machine, 9), [0x1100, 0x1101, 0x1102, 0x1103, 0x1104, 0x1105, 0x1106, 0x1107, 0]);
    assert_eq!(block(3, BLOCK | UP | BEGIN).cycles() - idle, 2 * 3 + 2);
    // One word for each DMAREQ: 4 cycles, "Maximum Single-Transfer DMA Cycle Time" in active mode.
    let machine = block(8, UP | BEGIN);
    assert_eq!((machine.cycles() - idle, moved(&*machine, 2)), (4, vec![0x1100, 0]));
    // DMASRCBYTE and DMADSTBYTE; a byte that becomes a word has 0 above it; down instead of up.
    assert_eq!(moved(&*block(3, BLOCK | UP | 0xc0 | BEGIN), 2), [0x1100, 0x0001]);
    assert_eq!(moved(&*block(3, BLOCK | UP | 0x40 | BEGIN), 3), [0x0000, 0x0011, 0x0001]);
    let down = ran(&channel(0, FROM + 4, TO, 3, BLOCK | 0x0e00 | BEGIN));
    assert_eq!(moved(&*down, 3), [0x1102, 0x1101, 0x1100]);
}

/// "DMAxIFG is set when DMAxSZ counts to zero"; DMAEN falls, DMAxSZ is what it was.
#[test]
fn transfer_that_ends_sets_its_flag_and_clears_its_enable() {
    let block = channel(0, FROM, TO, 8, BLOCK | UP | BEGIN | 4);
    let read = |register: u16| [0x4215, register];
    let r5 = |words: &[u16]| register(&*ran(words), "r5");
    assert_eq!(r5(&[&block[..], &read(DMA0CTL)].concat()), u32::from(BLOCK | UP | 0x0c));
    assert_eq!(r5(&[&block[..], &read(DMA0CTL + 0xa)].concat()), 8);
    assert_eq!(r5(&[&block[..], &read(DMAIV)].concat()), 2);
    assert_eq!(r5(&[&block[..], &read(DMAIV), &read(DMAIV)].concat()), 0);
    // Halfway: a single transfer leaves seven.
    let single = channel(0, FROM, TO, 8, UP | BEGIN);
    assert_eq!(r5(&[&single[..], &read(DMA0CTL + 0xa)].concat()), 7);
    // A repeated block stays enabled, and begins anew with the next DMAREQ.
    let repeated = channel(0, FROM, TO, 2, 0x5000 | UP | BEGIN);
    let again = [&repeated[..], &mov(0x5000 | UP | BEGIN, DMA0CTL)].concat();
    assert_eq!(r5(&[&again[..], &read(DMA0CTL)].concat()), u32::from(0x5000 | UP | 0x18));
    // Addresses of 20 bits: MOVX.A #0x5c000, &DMA0SA; a word clears what is above it.
    let high = [0x1a80, 0x40f2, 0xc000, DMA0CTL + 2];
    assert_eq!(r5(&[&high[..], &read(DMA0CTL + 4)].concat()), 5);
    assert_eq!(r5(&[&high[..], &mov(1, DMA0CTL + 2), &read(DMA0CTL + 4)].concat()), 0);
}

/// "The CPU executes at 20 % of its capacity" in between the bursts, and not at all in a block.
#[test]
fn the_core_goes_on_between_bursts() {
    // INC R5; BIT #DMAIFG, &DMA0CTL; JZ back.
    let turns = |mode: u16| {
        let words =
            [&channel(0, FROM, TO, 100, mode | UP | BEGIN)[..], &[0x5315, 0xb2b2, DMA0CTL, 0x27fc]].concat();
        let machine = ran(&words);
        assert_eq!(moved(&*machine, 100).last(), Some(&0x1163));
        register(&*machine, "r5")
    };
    assert_eq!(turns(BLOCK), 1);
    // 24 gaps, in each of which an instruction of up to 4 cycles begins, of three in a turn.
    assert!((8..20).contains(&turns(BURST)), "{}", turns(BURST));
}

/// A repeated single transfer by TA0CCR0's flag, which the transfer clears: P1OUT gets 1 and 0
/// every hundred cycles.
#[test]
fn a_timer_moves_bytes_to_a_port() {
    let words = [
        &mov_byte(1, 0x0204)[..],
        &mov(0x0001, FROM),
        &mov(1, DMACTL0),
        &channel(0, FROM, 0x0202, 2, 0x4000 | 0x0300 | 0xc0 | 0x10),
        &mov(99, 0x0352),
        &mov(0x0214, 0x0340),
    ]
    .concat();
    let edges = seen(&f5438a(), &words, 1_000).edges;
    assert_eq!(edges.len(), 9, "{edges:?}");
    // The timer starts at cycle 40, and counts to 99; the jump under way ends before the bus is
    // free.
    for (place, (high, at)) in edges.into_iter().enumerate() {
        assert_eq!(high, place % 2 == 0);
        let due = 40 + 99 + 100 * place as u64;
        assert!((due..due + 8).contains(&at), "{at} and {due}");
    }
}

/// As TI's demo msp430x54xA_dma_05 says: UCTXIFG is set after a reset, so its edge is lost, and
/// DMALEVEL sends the string all the same.
#[test]
fn a_uart_is_fed() {
    let send = |part: &Part, uart: u16, select: Vec<u16>, number: u16, control: u16| {
        let set = [mov(8, uart + 6), mov(0x0080, uart)].concat();
        let words = [&set[..], &select, &channel(number, FROM, uart + 0xe, 4, control)].concat();
        seen(part, &words, 2_000).bytes
    };
    let f5438a = f5438a();
    assert_eq!(send(&f5438a, 0x05c0, mov(17, DMACTL0), 0, 0x03d0), [0_u8; 0]);
    assert_eq!(send(&f5438a, 0x05c0, mov(17, DMACTL0), 0, 0x03f0), [0x00, 0x11, 0x01, 0x11]);
    // Of DMA3 to DMA5 the triggers are others: 15 is UCA2TXIFG.
    assert_eq!(send(&fr5994(), 0x0600, mov(15 << 8, DMACTL0 + 2), 3, 0x03f0), [0x00, 0x11, 0x01, 0x11]);
    // UCA2 is not let go of, and its flag falls with the first transfer.
    assert_eq!(send(&fr5994(), 0x05c0, mov(15 << 8, DMACTL0 + 2), 3, 0x03f0), [0x00]);
}

#[test]
fn a_channel_starts_the_next() {
    let words = [
        &mov(0x1e00, DMACTL0)[..],
        &channel(1, FROM + 0x20, TO + 8, 1, UP | 0x10),
        &channel(0, FROM, TO, 2, BLOCK | UP | BEGIN),
    ]
    .concat();
    assert_eq!(moved(&*ran(&words), 5), [0x1100, 0x1101, 0, 0, 0x1110]);
}

#[test]
fn trigger_that_never_comes_is_refused() {
    let fault =
        |words: &[u16]| machine(&f5438a(), words).run(&Until::default()).expect_err("a fault").to_string();
    let waiting = [&mov(29, DMACTL0)[..], &channel(0, FROM, TO, 1, 0x10)].concat();
    assert!(fault(&waiting).contains("DMA0TSEL is 29"));
    assert!(fault(&channel(0, FROM, 0x6000, 1, BEGIN)).contains("flash"));
    assert!(fault(&channel(0, 0x0c00, TO, 1, BEGIN)).contains("c00"));
}
