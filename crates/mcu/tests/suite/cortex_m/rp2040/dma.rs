//! DMA: transfers, their order and times, and the blocks that ask for them. RP2040 Datasheet,
//! section 2.5.

use super::programs::{STAGE_2, assemble, machine};
use super::*;
use mcu::{Mcu, Until};

const DMA: u32 = 0x5000_0000;
const CH1: u32 = DMA + 0x40;
const FROM: u32 = 0x2000_1000;
const TO: u32 = 0x2000_2000;
const PIO0: u32 = 0x5020_0000;
/// CTRL: on, words, both addresses go on; CHAIN_TO is the channel itself, TREQ_SEL none.
const WORDS: u32 = 0x3f << 15 | 1 << 5 | 1 << 4 | 2 << 2 | 1;
const CHAIN: u32 = 11;
const TREQ: u32 = 15;

/// A machine that has written these registers, with `source` at [`FROM`], in front of a loop.
fn written(name: &str, writes: &[(u32, u32)], source: &[u8]) -> Box<dyn Mcu> {
    let stores: String = writes
        .iter()
        .map(|(address, value)| format!("ldr r0, ={address:#x}\nldr r1, ={value:#x}\nstr r1, [r0]\n"))
        .collect();
    let code = format!("{STAGE_2}\n{stores}loop: b loop\n.ltorg");
    let mut machine = machine(&assemble(name, 0x1000_0000, &code));
    assert!(machine.poke(FROM, source) && machine.poke(TO, &[0xee; 512]));
    machine
}

fn run(machine: &mut dyn Mcu, cycles: u64) {
    let until = Until { cycles: Some(machine.cycles() + cycles), ..Until::default() };
    machine.run(&until).expect("nothing is refused");
}

fn found(machine: &dyn Mcu, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    assert!(machine.peek(TO, &mut bytes));
    bytes
}

fn release(blocks: u32) -> (u32, u32) {
    (RESETS + CLEAR, blocks | 1 << 2)
}

/// The cycles between the first and the last of some bytes, as they arrive.
fn duration(machine: &mut dyn Mcu, count: usize) -> u64 {
    let arrived = |machine: &mut dyn Mcu, at: usize| {
        for _ in 0..20_000 {
            if found(machine, count)[at] != 0xee {
                return machine.cycles();
            }
            run(machine, 1);
        }
        panic!("byte {at} never arrives");
    };
    let first = arrived(machine, 0);
    arrived(machine, count - 1) - first
}

/// Section 2.5: a transfer a cycle between RAMs, each of the size that CTRL says; the addresses are
/// behind the last, and INTR says the end.
#[test]
fn words_are_copied_one_a_cycle() {
    let source: Vec<u8> = (0..200).collect();
    let writes = [release(0), (DMA, FROM), (DMA + 4, TO), (DMA + 8, 50), (DMA + 0xc, WORDS)];
    let mut machine = written("words", &writes, &source);
    let cycles = duration(&mut *machine, 200);
    // The core's instructions are up to three cycles long.
    assert!(cycles.abs_diff(49) <= 3, "{cycles}");
    assert_eq!(found(&*machine, 200), source);
    assert_eq!(found(&*machine, 201)[200], 0xee);
}

/// Section 2.1.3: an APB peripheral takes three cycles to read, and the other port waits.
#[test]
fn peripheral_is_read_every_third_cycle() {
    let control = WORDS & !(1 << 4);
    // WATCHDOG.SCRATCH0.
    let writes = [
        (WATCHDOG + 0x0c, 0x1234_5678),
        release(0),
        (DMA, WATCHDOG + 0x0c),
        (DMA + 4, TO),
        (DMA + 8, 50),
        (DMA + 0xc, control),
    ];
    let mut machine = written("apb", &writes, &[]);
    let cycles = duration(&mut *machine, 200);
    assert!(cycles.abs_diff(49 * 3) <= 5, "{cycles}");
    assert_eq!(found(&*machine, 4), [0x78, 0x56, 0x34, 0x12]);
}

/// Section 2.5.2.1: RING_SIZE wraps an address; BSWAP turns the bytes of a halfword; CHAIN_TO
/// starts another channel; its alias registers are the same in another order.
#[test]
fn channel_wraps_swaps_and_chains() {
    let halves = WORDS & !(3 << 2) | 1 << 2;
    let writes = [
        release(0),
        // The second channel: a byte behind what the first one writes, started by it alone.
        (CH1, FROM),
        (CH1 + 4, TO + 16),
        (CH1 + 8, 1),
        (CH1 + 0x10, 0x3f << TREQ | 1 << CHAIN | 1),
        // AL1: CTRL, READ_ADDR, WRITE_ADDR, TRANS_COUNT_TRIG. The ring is of four bytes.
        (DMA + 0x10, halves | 1 << 22 | 2 << 6 | 1 << CHAIN),
        (DMA + 0x14, FROM),
        (DMA + 0x18, TO),
        (DMA + 0x1c, 4),
    ];
    let mut machine = written("chain", &writes, &[1, 2, 3, 4, 5]);
    run(&mut *machine, 2_000);
    assert_eq!(found(&*machine, 8), [2, 1, 4, 3, 2, 1, 4, 3]);
    assert_eq!(found(&*machine, 18)[16..], [1, 0xee]);
}

/// Section 2.1: SIO is a port of the core alone.
#[test]
fn channel_to_sio_stops_the_run() {
    let writes = [release(0), (DMA, FROM), (DMA + 4, SIO + 0x14), (DMA + 8, 1), (DMA + 0xc, WORDS)];
    let mut machine = written("sio", &writes, &[1]);
    let until = Until { cycles: Some(machine.cycles() + 2_000), ..Until::default() };
    let fault = format!("{:?}", machine.run(&until).expect_err("a fault"));
    assert!(fault.contains("SIO is not on the bus that DMA reaches"), "{fault}");
}

/// Section 2.5.3: DREQs pace the channels, so that no queue overflows: words go through a state
/// machine of PIO, one channel into its queue and another out of it.
#[test]
fn queues_of_pio_pace_two_channels() {
    let control =
        |dreq: u32, increment: u32, chain: u32| dreq << TREQ | chain << CHAIN | increment | 2 << 2 | 1;
    let writes = [
        release(1 << 10),
        // PULL BLOCK; MOV ISR, ~OSR; PUSH BLOCK, a cycle in 40.
        (PIO0 + 0x48, 0x80a0),
        (PIO0 + 0x4c, 0xa0cf),
        (PIO0 + 0x50, 0x8020),
        (PIO0 + 0xcc, 2 << 12),
        (PIO0 + 0xc8, 40 << 16),
        (PIO0, 1),
        (CH1, PIO0 + 0x20),
        (CH1 + 4, TO),
        (CH1 + 8, 20),
        (CH1 + 0xc, control(4, 1 << 5, 1)),
        (DMA, FROM),
        (DMA + 4, PIO0 + 0x10),
        (DMA + 8, 20),
        (DMA + 0xc, control(0, 1 << 4, 0)),
    ];
    let source: Vec<u8> = (0..80).collect();
    let mut machine = written("pio", &writes, &source);
    run(&mut *machine, 5_000);
    let inverted: Vec<u8> = source.iter().map(|byte| !byte).collect();
    assert_eq!(found(&*machine, 80), inverted);
}

/// Section 2.5.5.1: a pacing timer lets X / Y transfers a cycle through.
#[test]
fn timer_paces_a_channel() {
    let writes = [
        release(0),
        (DMA + 0x420, 2 << 16 | 25),
        (DMA, FROM),
        (DMA + 4, TO),
        (DMA + 8, 41),
        (DMA + 0xc, WORDS & !(0x3f << TREQ | 3 << 2) | 0x3b << TREQ),
    ];
    let source: Vec<u8> = (0..41).collect();
    let mut machine = written("paced", &writes, &source);
    let cycles = duration(&mut *machine, 41);
    assert!(cycles.abs_diff(500) <= 5, "{cycles}");
    assert_eq!(found(&*machine, 41), source);
}

/// Section 4.2.6.5: a UART asks for its characters.
#[test]
fn uart_is_fed() {
    let writes = [
        release(1 << 22),
        (CLK_PERI, 1 << 11),
        (UART0 + 0x24, 1),
        (UART0 + 0x2c, 0x70),
        (UART0 + 0x30, 0x301),
        (UART0 + 0x48, 2),
        (DMA, FROM),
        (DMA + 4, UART0),
        (DMA + 8, 50),
        (DMA + 0xc, 20 << TREQ | 1 << 4 | 1),
    ];
    let source: Vec<u8> = (b'0'..b'0' + 50).collect();
    let mut machine = written("uart", &writes, &source);
    machine.board_mut().take_sent();
    // The loop behind the program would be its end.
    machine.board_mut().outlives_program = true;
    run(&mut *machine, 12_000);
    let sent: Vec<u8> = machine.board_mut().take_sent().into_iter().map(|sent| sent.byte).collect();
    assert_eq!(sent, source);
}

/// Section 2.5.7: interrupts of each channel reach both lines where they are enabled, and a one
/// clears; IRQ_QUIET asks at a null trigger alone. Refused: requests that nobody makes.
#[test]
fn registers_of_the_controller() {
    let mut bench = bench();
    bench.write(RESETS, 0);
    assert_eq!((bench.read(DMA + 0xc), bench.read(CH1 + 0xc)), (0, 1 << CHAIN));
    bench.write(DMA + 0x414, 1);
    bench.write(DMA + 0x10, 1 << 21 | 1);
    bench.write(DMA + 0x1c, 0);
    assert_eq!((bench.read(DMA + 0x400), bench.bus.requests & 3 << 11), (1, 1 << 12));
    bench.write(DMA + 0x41c, 1);
    assert_eq!((bench.read(DMA + 0x400), bench.bus.requests & 3 << 11), (0, 0));
    bench.write(DMA + 8, 7);
    assert_eq!((bench.read(DMA + 8), bench.read(DMA + 0x804)), (0, 7), "TRANS_COUNT is what is left");
    says(bench.try_write(DMA + 0xc, 24 << TREQ | 1), "requests of PWM");
    says(bench.try_write(CH1 + 0xc, 0x3f << TREQ | 1), "TRANS_COUNT 0");
    says(bench.try_write(CH1 + 0xc, 3 << 2), "DATA_SIZE");
    // A channel that is asked for by nobody is busy, until it is aborted.
    bench.write(DMA + 0xc, 4 << TREQ | 1);
    assert_eq!(bench.read(DMA + 0xc) >> 24 & 1, 1);
    bench.write(DMA + 0x444, 1);
    assert_eq!(bench.read(DMA + 0xc) >> 24 & 1, 0);
}
