//! The DMA controllers of the STM32.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;

/// First address of results, apart from the moved data.
const RESULT: u32 = KEPT + 0x400;
/// NVIC_ISPR0.
const PENDING: u32 = 0xe000_e200;

/// RM0008 section 13.4: channel 1 of DMA1.
const F1: u32 = 0x4002_0000;
/// RM0090 section 10.5: stream 0 of DMA2.
const F4: u32 = 0x4002_6400;

fn words(machine: &dyn mcu::Mcu, address: u32, count: u32) -> Vec<u32> {
    (0..count).map(|index| word(machine, address + 4 * index)).collect()
}

/// RM0008 section 13.3.3, "Memory-to-memory mode": no request is waited for; flags and interrupt at
/// the half and at the end.
#[test]
fn a_channel_copies_memory() {
    for (target, irq) in [("stm32f103", 11), ("stm32f100", 11), ("stm32f051", 9)] {
        let steps = [
            Step::Write(KEPT, 0x0302_0100),
            Step::Write(KEPT + 4, 0x0706_0504),
            Step::Write(KEPT + 8, 0x0b0a_0908),
            Step::Write(F1 + 8 + 4, 3),
            Step::Write(F1 + 8 + 8, KEPT),
            Step::Write(F1 + 8 + 12, KEPT + 0x100),
            // MEM2MEM, words to words, both addresses go on, interrupt at the end.
            Step::Write(F1 + 8, 1 << 14 | 2 << 10 | 2 << 8 | 1 << 7 | 1 << 6 | 1 << 1 | 1),
            Step::Wait(20),
            Step::Copy(RESULT, F1),
            Step::Copy(RESULT + 4, F1 + 12),
            Step::Copy(RESULT + 8, PENDING),
            Step::Write(F1 + 4, 1),
            Step::Copy(RESULT + 12, F1),
        ];
        let mut machine = machine(target, &steps);
        run(&mut *machine, 2_000);
        assert_eq!(words(&*machine, KEPT + 0x100, 4), [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0], "{target}");
        let expected = [0x7, 0, 1 << irq, 0];
        assert_eq!(
            words(&*machine, RESULT, 4),
            expected,
            "{target}: GIF, TCIF and HTIF of channel 1; none left"
        );
    }
}

/// RM0008, table 76: bytes to halfwords get zeros, words to bytes lose what is above.
#[test]
fn items_are_widened_and_cut() {
    let copy = |sizes: u32| {
        let steps = [
            Step::Write(KEPT, 0xb3b2_b1b0),
            Step::Write(KEPT + 4, 0xb7b6_b5b4),
            Step::Write(F1 + 8 + 4, 2),
            Step::Write(F1 + 8 + 8, KEPT),
            Step::Write(F1 + 8 + 12, KEPT + 0x100),
            Step::Write(F1 + 8, 1 << 14 | sizes << 8 | 3 << 6 | 1),
        ];
        let mut machine = machine("stm32f103", &steps);
        run(&mut *machine, 2_000);
        words(&*machine, KEPT + 0x100, 2)
    };
    // MSIZE, PSIZE.
    assert_eq!(copy(0b01_00), [0x00b1_00b0, 0]);
    assert_eq!(copy(0b00_10), [0x0000_b4b0, 0]);
    assert_eq!(copy(0b10_01), [0x0000_b1b0, 0x0000_b3b2]);
}

/// The times that `peripherals/st/dma` gives: arbitration and address 2, memory 2; write 1 and 2;
/// acknowledge 1.
#[test]
fn an_item_takes_its_time() {
    let mut bench = Bench::new("stm32f103");
    bench.write(F1 + 8 + 4, 1);
    bench.write(F1 + 8 + 8, KEPT);
    bench.write(F1 + 8, 1 << 14 | 1);
    assert_eq!(bench.bus.due, bench.now + 4);
    // 40 items of 4 + 3 + 1 cycles: the last but one is written before 39 * 8 cycles are over, the
    // last after that.
    let steps = |turns| {
        [
            Step::Write(F1 + 8 + 4, 1_000),
            Step::Write(F1 + 8 + 8, KEPT),
            Step::Write(F1 + 8 + 12, KEPT + 0x100),
            Step::Write(F1 + 8, 1 << 14 | 1),
            Step::Copy(RESULT, 0xe000_1004),
            Step::Copy(RESULT + 4, F1 + 12),
            Step::Wait(turns),
            Step::Copy(RESULT + 8, 0xe000_1004),
            Step::Copy(RESULT + 12, F1 + 12),
        ]
    };
    let mut all = vec![Step::Write(0xe000_edfc, 1 << 24), Step::Write(0xe000_1000, 1)];
    all.extend(steps(1_000));
    let mut machine = machine("stm32f103", &all);
    run(&mut *machine, 20_000);
    let [from, left, to, left_then] = words(&*machine, RESULT, 4)[..] else { panic!() };
    let (cycles, items) = (to - from, left - left_then);
    assert!(cycles > 3_000 && items.abs_diff(cycles / 8) <= 1, "{items} items in {cycles} cycles");
}

/// RM0090 section 10.3.8: memory to memory by the FIFO; the stream switches itself off, and begins
/// with the same number again.
#[test]
fn a_stream_copies_memory() {
    let setup = 2 << 13 | 2 << 11 | 1 << 10 | 1 << 9 | 2 << 6 | 1 << 4 | 1;
    let steps = [
        Step::Write(KEPT, 0x1111_1111),
        Step::Write(KEPT + 4, 0x2222_2222),
        Step::Write(F4 + 0x14, 2),
        Step::Write(F4 + 0x18, KEPT),
        Step::Write(F4 + 0x1c, KEPT + 0x100),
        Step::Write(F4 + 0x24, 1 << 2 | 3),
        Step::Write(F4 + 0x10, setup),
        Step::Wait(20),
        Step::Copy(RESULT, F4),
        Step::Copy(RESULT + 4, F4 + 0x10),
        Step::Copy(RESULT + 8, F4 + 0x14),
        Step::Copy(RESULT + 12, PENDING + 4),
        Step::Write(F4 + 8, 0x3d),
        Step::Copy(RESULT + 16, F4),
        Step::Write(KEPT, 0x3333_3333),
        Step::Write(F4 + 0x10, setup),
        Step::Wait(20),
    ];
    let mut machine = machine("stm32f407", &steps);
    run(&mut *machine, 2_000);
    assert_eq!(words(&*machine, RESULT, 5), [0x30, setup & !1, 0, 1 << (56 - 32), 0]);
    assert_eq!(words(&*machine, KEPT + 0x100, 3), [0x3333_3333, 0x2222_2222, 0]);
}

/// RM0090 section 10.3.18 and 2.3.1: nothing answers a DMA controller in the CCM, and flash is not
/// written so.
#[test]
fn an_error_switches_a_stream_off() {
    for place in [0x1000_0000, 0x0800_8000, 0x3000_0000] {
        let steps = [
            Step::Write(F4 + 0x14, 2),
            Step::Write(F4 + 0x18, KEPT),
            Step::Write(F4 + 0x1c, place),
            Step::Write(F4 + 0x24, 1 << 2 | 3),
            Step::Write(F4 + 0x10, 2 << 6 | 1 << 2 | 1),
            Step::Wait(20),
            Step::Copy(RESULT, F4),
            Step::Copy(RESULT + 4, F4 + 0x10),
            Step::Copy(RESULT + 8, PENDING + 4),
        ];
        let mut machine = machine("stm32f407", &steps);
        run(&mut *machine, 2_000);
        assert_eq!(words(&*machine, RESULT, 3), [1 << 3, 2 << 6 | 1 << 2, 1 << (56 - 32)], "{place:#x}");
    }
}

/// USART2 sends by DMA: one frame after the other, without a gap, and TC when all are out.
#[test]
fn characters_are_sent() {
    let text = u32::from_le_bytes(*b"hey!");
    let channel = [
        Step::Write(KEPT, text),
        // Channel 7 of DMA1: memory to peripheral, memory goes on, bytes.
        Step::Write(F1 + 8 + 6 * 20 + 4, 4),
        Step::Write(F1 + 8 + 6 * 20 + 8, 0x4000_4404),
        Step::Write(F1 + 8 + 6 * 20 + 12, KEPT),
        Step::Write(F1 + 8 + 6 * 20, 1 << 7 | 1 << 4 | 1),
    ];
    let stream = [
        Step::Write(KEPT, text),
        // Stream 6 of DMA1, channel 4.
        Step::Write(0x4002_60a4, 4),
        Step::Write(0x4002_60a8, 0x4000_4404),
        Step::Write(0x4002_60ac, KEPT),
        Step::Write(0x4002_60a0, 4 << 25 | 1 << 10 | 1 << 6 | 1),
    ];
    for (target, dma) in [("stm32f103", channel), ("stm32f407", stream)] {
        let mut steps = vec![Step::Write(0x4000_4408, 100), Step::Write(0x4000_440c, 1 << 13 | 1 << 3)];
        steps.extend(dma);
        steps.extend([Step::Write(0x4000_4400, 0), Step::Write(0x4000_4414, 1 << 7)]);
        steps.extend([
            Step::Copy(RESULT, 0x4000_4400),
            Step::Wait(3_000),
            Step::Copy(RESULT + 4, 0x4000_4400),
        ]);
        let mut machine = machine(target, &steps);
        let seen = run(&mut *machine, 20_000);
        let text: Vec<u8> = seen.bytes.iter().map(|(_, byte, _)| *byte).collect();
        assert_eq!(text, b"hey!", "{target}");
        assert!(seen.bytes.windows(2).all(|pair| pair[1].2 - pair[0].2 == 1_000), "{:?}", seen.bytes);
        assert_eq!(
            words(&*machine, RESULT, 2).iter().map(|word| word & 1 << 6).collect::<Vec<_>>(),
            [0, 1 << 6]
        );
    }
}

/// USART2 receives by DMA into a circle of four bytes; half and end are flagged.
#[test]
fn characters_are_received_in_a_circle() {
    let steps = [
        Step::Write(0x4000_4408, 100),
        Step::Write(0x4000_4414, 1 << 6),
        Step::Write(0x4000_440c, 1 << 13 | 1 << 2),
        // Stream 5 of DMA1, channel 4: peripheral to memory, circular.
        Step::Write(0x4002_608c, 4),
        Step::Write(0x4002_6090, 0x4000_4404),
        Step::Write(0x4002_6094, KEPT),
        Step::Write(0x4002_6088, 4 << 25 | 1 << 10 | 1 << 8 | 1),
        Step::Wait(3_000),
        Step::Copy(RESULT, 0x4002_6004),
        Step::Copy(RESULT + 4, 0x4002_608c),
        Step::Copy(RESULT + 8, 0x4000_4400),
    ];
    let mut machine = machine("stm32f407", &steps);
    run(&mut *machine, 500);
    assert!(machine.uart_receive("USART2", b"abcdef"));
    run(&mut *machine, 20_000);
    assert_eq!(word(&*machine, KEPT).to_le_bytes(), *b"efcd");
    // HISR: HTIF5 and TCIF5; two of the second turn are left; nothing waits in the USART, whose
    // line is idle.
    assert_eq!(words(&*machine, RESULT, 3), [0x30 << 6, 2, 0xc0 | 1 << 4]);
}

/// SPI1 with both directions by DMA: nobody is selected, so that ones come back.
#[test]
fn bytes_go_over_spi() {
    let (spi, dma) = (0x4001_3000, F1 + 8);
    let steps = [
        Step::Write(KEPT, 0x4433_2211),
        Step::Write(spi, 0x0304 | 0x40),
        Step::Write(spi + 4, 3),
        // Channel 2 receives, channel 3 sends.
        Step::Write(dma + 24, 4),
        Step::Write(dma + 28, spi + 12),
        Step::Write(dma + 32, KEPT + 0x100),
        Step::Write(dma + 20, 1 << 7 | 1),
        Step::Write(dma + 44, 4),
        Step::Write(dma + 48, spi + 12),
        Step::Write(dma + 52, KEPT),
        Step::Write(dma + 40, 1 << 7 | 1 << 4 | 1),
        Step::Wait(200),
        Step::Copy(RESULT, F1),
        Step::Copy(RESULT + 4, spi + 8),
    ];
    let mut machine = machine("stm32f103", &steps);
    run(&mut *machine, 2_000);
    assert_eq!(words(&*machine, KEPT + 0x100, 2), [u32::MAX, 0]);
    assert_eq!(words(&*machine, RESULT, 2), [0x770, 2], "both at their ends; empty and idle");
}

/// TIM2's update fetches its next period from memory: each is as long as the word said.
#[test]
fn a_timer_asks_for_data() {
    let (timer, dma) = (0x4000_0000, F1 + 8 + 20);
    let steps = [
        Step::Write(KEPT, 199 | 299 << 16),
        Step::Write(dma + 4, 2),
        Step::Write(dma + 8, timer + 0x2c),
        Step::Write(dma + 12, KEPT),
        // Channel 2: halfwords of memory to words, memory goes on.
        Step::Write(dma, 1 << 10 | 2 << 8 | 1 << 7 | 1 << 4 | 1),
        Step::Write(timer + 0x2c, 99),
        Step::Write(timer + 0x0c, 1 << 8),
        Step::Write(timer, 1),
        Step::Wait(20),
        Step::Copy(RESULT, dma + 4),
        Step::Wait(60),
        Step::Copy(RESULT + 4, timer + 0x2c),
        Step::Wait(100),
        Step::Copy(RESULT + 8, timer + 0x2c),
    ];
    let mut machine = machine("stm32f103", &steps);
    run(&mut *machine, 5_000);
    assert_eq!(words(&*machine, RESULT, 3), [2, 199, 299]);
}

/// RM0432 section 12: DMAMUX gives channel 3 of DMA1 the request of USART2's transmitter, 27;
/// without it nothing is moved.
#[test]
fn a_multiplexer_gives_channels_their_requests() {
    for (request, sent) in [(27, &b"hey!"[..]), (26, b"")] {
        let steps = [
            Step::Write(KEPT, u32::from_le_bytes(*b"hey!")),
            Step::Write(0x4000_440c, 100),
            Step::Write(0x4000_4400, 1 << 3 | 1),
            Step::Write(0x4000_4408, 1 << 7),
            Step::Write(F1 + 8 + 2 * 20 + 4, 4),
            Step::Write(F1 + 8 + 2 * 20 + 8, 0x4000_4428),
            Step::Write(F1 + 8 + 2 * 20 + 12, KEPT),
            Step::Write(F1 + 8 + 2 * 20, 1 << 7 | 1 << 4 | 1),
            Step::Write(0x4002_0808, request),
            Step::Wait(3_000),
            Step::Copy(RESULT, F1),
            Step::Copy(RESULT + 4, 0x4002_0808),
        ];
        let mut machine = machine("stm32l4r5", &steps);
        let seen = run(&mut *machine, 40_000);
        let text: Vec<u8> = seen.bytes.iter().map(|(_, byte, _)| *byte).collect();
        assert_eq!(text, sent, "request {request}");
        let flags = if sent.is_empty() { 0 } else { 0x700 };
        assert_eq!(words(&*machine, RESULT, 2), [flags, request]);
    }
    let mut bench = Bench::new("stm32l4r5");
    assert!(bench.try_write(0x4002_0800, 1 << 16).is_err(), "synchronisation");
    assert!(bench.try_write(0x4002_0900, 1 << 16).is_err(), "the generator");
}

/// RM0410 sections 8 and 2.1: streams of the STM32F767 reach the DTCM, which is where the words
/// are, but not the ITCM.
#[test]
fn the_stm32f7_has_streams() {
    for (place, flags) in [(KEPT + 0x100, 0x30), (0x100, 1 << 3)] {
        let setup = 2 << 13 | 2 << 11 | 1 << 10 | 1 << 9 | 2 << 6 | 1;
        let steps = [
            Step::Write(KEPT, 0x1111_1111),
            Step::Write(KEPT + 4, 0x2222_2222),
            Step::Write(F4 + 0x14, 2),
            Step::Write(F4 + 0x18, KEPT),
            Step::Write(F4 + 0x1c, place),
            Step::Write(F4 + 0x24, 1 << 2 | 3),
            Step::Write(F4 + 0x10, setup),
            Step::Wait(40),
            Step::Copy(RESULT, F4),
        ];
        let mut machine = machine("stm32f767", &steps);
        run(&mut *machine, 2_000);
        assert_eq!(word(&*machine, RESULT), flags, "{place:#x}");
        if flags == 0x30 {
            assert_eq!(words(&*machine, KEPT + 0x100, 2), [0x1111_1111, 0x2222_2222]);
        }
    }
    let mut bench = Bench::new("stm32f767");
    bench.write(F4 + 0x10, 11 << 25);
    assert_eq!(bench.read(F4 + 0x10), 11 << 25, "CHSEL has four bits");
}

/// RM0090 section 2.1: words that the core copies in SRAM1 while a stream copies there, too, take
/// longer by a cycle for some of the stream's accesses; in the CCM, which is at the core's own bus,
/// and without the stream, they do not.
#[test]
fn the_core_and_a_stream_wait_for_each_other() {
    let cycles = |place: u32, moved: u32| {
        let mut steps = vec![Step::Write(0xe000_edfc, 1 << 24), Step::Write(0xe000_1000, 1)];
        if moved > 0 {
            steps.extend([
                Step::Write(F4 + 0x14, moved),
                Step::Write(F4 + 0x18, KEPT),
                Step::Write(F4 + 0x1c, KEPT + 0x800),
                Step::Write(F4 + 0x24, 1 << 2 | 3),
                Step::Write(F4 + 0x10, 2 << 13 | 2 << 11 | 2 << 6 | 1),
            ]);
        }
        steps.push(Step::Copy(RESULT, 0xe000_1004));
        steps.extend((0..100).map(|index| Step::Copy(place + 4 * index, place)));
        steps.push(Step::Copy(RESULT + 4, 0xe000_1004));
        let mut machine = machine("stm32f407", &steps);
        run(&mut *machine, 20_000);
        assert_eq!(machine.moved_by_dma(), moved > 0);
        word(&*machine, RESULT + 4) - word(&*machine, RESULT)
    };
    let (sram, ccm) = (KEPT + 0x400 + 0x100, 0x1000_0000);
    let (alone, beside) = (cycles(sram, 0), cycles(sram, 2_000));
    assert!(beside > alone + 10 && beside < alone + alone / 2, "{alone}, {beside}");
    // The marks at the two ends are in SRAM1.
    let (alone, beside) = (cycles(ccm, 0), cycles(ccm, 2_000));
    assert!(beside <= alone + 2, "{alone}, {beside}");
}

/// Settings that would be silently wrong are refused.
#[test]
fn unmodelled_settings_are_refused() {
    let mut bench = Bench::new("stm32f407");
    assert!(bench.try_write(F4 + 0x10, 2 << 6 | 1).is_err(), "memory to memory without the FIFO");
    assert!(bench.try_write(F4 + 0x10, 1 << 5 | 1).is_err(), "PFCTRL");
    bench.write(F4 + 0x24, 1 << 2);
    assert!(bench.try_write(F4 + 0x10, 1).is_err(), "the FIFO with requests");
}

/// RM0008, table 78: which channel of DMA1 TIM1's update, by EGR, and matches of its four channels
/// ask; by it ARR is read.
#[test]
fn requests_of_tim1_of_the_stm32f103() {
    const TIM1: u32 = 0x4001_2c00;
    for (request, channel) in (0..).zip([5, 2, 3, 6, 4]) {
        let registers = F1 + 8 + 20 * (channel - 1);
        let start = if request == 0 { Step::Write(TIM1 + 0x14, 1) } else { Step::Write(TIM1, 1) };
        let steps = [
            Step::Write(TIM1 + 0x2c, 0x1234),
            Step::Write(TIM1 + 0x30 + 4 * request, 50),
            Step::Write(registers + 4, 1),
            Step::Write(registers + 8, TIM1 + 0x2c),
            Step::Write(registers + 12, KEPT),
            Step::Write(registers, 2 << 10 | 2 << 8 | 1),
            Step::Write(TIM1 + 0x0c, 1 << (8 + request)),
            Step::Copy(RESULT, KEPT),
            start,
            Step::Wait(100),
        ];
        let mut machine = machine("stm32f103", &steps);
        run(&mut *machine, 2_000);
        assert_eq!((word(&*machine, RESULT), word(&*machine, KEPT)), (0, 0x1234), "channel {channel}");
    }
}
