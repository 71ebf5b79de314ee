//! Serial interfaces beside the UART, the converter, USB without a host and the second core as a
//! program meets them. RP2040 Datasheet, sections 4.3, 4.4, 4.9, 4.1 and 2.3.1.4.

use super::*;
use crate::i2c_bus::Device;

const I2C0: u32 = 0x4004_4000;
const DATA_CMD: u32 = I2C0 + 0x10;
const RAW: u32 = I2C0 + 0x34;
const ENABLE: u32 = I2C0 + 0x6c;
const READ: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
/// A period of SCL: 60 + 6 + 7 and 100 + 1.
const BIT: u64 = 174;
const SPI0: u32 = 0x4003_c000;
const ADC: u32 = 0x4004_c000;
const FIFO_ST: u32 = SIO + 0x50;

fn i2c(address: u32) -> Bench {
    let mut bench = bench();
    bench.bus.board.mount_two_wire("I2C0", Box::new(Device::default()));
    bench.write(RESETS, 0);
    for (register, value) in [(0x00, 0x165), (0x04, address), (0x1c, 60), (0x20, 100), (0xa0, 6)] {
        bench.write(I2C0 + register, value);
    }
    bench.write(ENABLE, 1);
    bench
}

fn device(bench: &mut Bench) -> Device {
    let device = bench.bus.board.two_wire_device_mut("device").expect("it is mounted");
    device.downcast_ref::<Device>().expect("a device").clone()
}

/// A START and a STOP take a period, a byte nine; TX_EMPTY comes when the last byte is out.
#[test]
fn i2c_sends_its_commands() {
    let mut bench = i2c(0x3c);
    assert_eq!(bench.read(RAW), 1 << 4, "TX_EMPTY");
    bench.write(DATA_CMD, 0x11);
    let from = bench.now;
    bench.write(DATA_CMD, STOP | 0x22);
    bench.advance(from + 28 * BIT - 1);
    assert_eq!(bench.read(RAW) & 1 << 4, 0);
    bench.advance(from + 28 * BIT);
    assert_eq!(bench.read(RAW) & (1 << 4 | 1 << 9), 1 << 4);
    bench.advance(from + 29 * BIT);
    assert_eq!(bench.read(RAW), 1 << 10 | 1 << 9 | 1 << 8 | 1 << 4);
    assert_eq!(bench.read(I2C0 + 0x60), 1, "IC_CLR_STOP_DET");
    assert_eq!(bench.read(RAW) & 1 << 9, 0);
    let Device { log, times_ns, .. } = device(&mut bench);
    assert_eq!(log, ["3cW", "11", "22", "STOP"]);
    assert_eq!(times_ns, [10, 19, 28].map(|bits| (from + bits * BIT) * 8));
}

/// A command to read makes a RESTART; the last byte before the STOP is not acknowledged.
#[test]
fn i2c_reads_after_a_restart() {
    let mut bench = i2c(0x3c);
    for command in [0x07, READ, READ | STOP] {
        bench.write(DATA_CMD, command);
    }
    bench.advance(bench.now + 50 * BIT);
    assert_eq!(device(&mut bench).log, ["3cW", "07", "3cR", "ACK", "NACK", "STOP"]);
    assert_eq!(bench.read(I2C0 + 0x78), 2);
    assert_eq!([bench.read(DATA_CMD), bench.read(DATA_CMD)], [0xa0, 0xa1]);
    assert_eq!(bench.read(RAW) & 1 << 12, 1 << 12, "RESTART_DET");
}

/// Bytes that are asked for one by one, as the SDK does, are acknowledged but for the last.
#[test]
fn i2c_reads_one_by_one_are_acknowledged() {
    let mut bench = i2c(0x3c);
    for command in [READ, READ, READ | STOP] {
        bench.write(DATA_CMD, command);
        bench.advance(bench.now + 30 * BIT);
    }
    assert_eq!(device(&mut bench).log, ["3cR", "ACK", "ACK", "NACK", "STOP"]);
}

/// Nobody at an address: an abort says why, the queue stays empty until it is cleared.
#[test]
fn i2c_gives_up_where_nobody_acknowledges() {
    let mut bench = i2c(0x10);
    bench.write(I2C0 + 0x30, 1 << 6);
    bench.write(DATA_CMD, 0x11);
    bench.write(DATA_CMD, STOP | 0x22);
    bench.advance(bench.now + 11 * BIT);
    assert_eq!((bench.read(I2C0 + 0x80), bench.bus.requests >> 23 & 1), (2 << 23 | 1, 1));
    bench.write(DATA_CMD, 0x33);
    assert_eq!(bench.read(I2C0 + 0x74), 0);
    assert_eq!(bench.read(I2C0 + 0x54), 1);
    assert_eq!((bench.read(I2C0 + 0x80), bench.bus.requests >> 23 & 1), (0, 0));
    // The fourth byte is not acknowledged.
    let mut bench = i2c(0x3c);
    (0..6).for_each(|byte| bench.write(DATA_CMD, byte));
    bench.advance(bench.now + 60 * BIT);
    assert_eq!(bench.read(I2C0 + 0x80), 2 << 23 | 1 << 3);
    says(bench.try_write(I2C0 + 4, 1 << 11), "general calls");
}

/// A frame of eight bits takes eight periods of clk_peri / (CPSDVSR * (1 + SCR)); ones come in
/// where no chip is.
#[test]
fn spi_shifts_frames() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    bench.write(SPI0 + 0x10, 2);
    bench.write(SPI0, 4 << 8 | 7);
    bench.write(SPI0 + 4, 2);
    assert_eq!(bench.read(SPI0 + 0x0c), 3);
    bench.write(SPI0 + 8, 0xa5);
    let from = bench.now;
    (0..9).for_each(|_| bench.write(SPI0 + 8, 0x5a));
    assert_eq!(bench.read(SPI0 + 0x0c), 1 << 4, "full, busy");
    bench.advance(from + 79);
    assert_eq!(bench.read(SPI0 + 0x0c) & 1 << 2, 0);
    bench.advance(from + 80);
    assert_eq!((bench.read(SPI0 + 0x0c) & 1 << 2, bench.read(SPI0 + 8)), (1 << 2, 0xff));
    // The frame signal takes 1.5 periods between two frames.
    let end = from + 9 * 80 + 8 * 15;
    bench.advance(end - 1);
    assert_eq!(bench.read(SPI0 + 0x0c) & 1 << 4, 1 << 4);
    bench.advance(end);
    assert_eq!(bench.read(SPI0 + 0x0c), 0xf, "idle, eight received");
    assert_eq!(bench.read(SPI0 + 0x18), 1 << 3 | 1 << 2);
    bench.write(SPI0, 4 << 8 | 8);
    says(bench.try_write(SPI0 + 8, 0), "SSPCR0.DSS");
    says(bench.try_write(SPI0 + 4, 1 << 2), "slave");
}

/// Section 4.9.2: 96 cycles of clk_adc, here of the crystal: 8 us.
#[test]
fn converter_takes_96_cycles() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    // CLK_ADC of the crystal.
    bench.write(CLOCKS + 0x60, 1 << 11 | 3 << 5);
    let supply_v = bench.bus.board.supply_v;
    bench.bus.board.set_analog(1, supply_v / 2.0);
    bench.bus.board.set_analog(2, supply_v / 4.0);
    bench.write(ADC, 1);
    assert_eq!(bench.read(ADC), 1 << 8 | 1);
    bench.write(ADC, 1 << 12 | 1 << 2 | 1);
    let from = bench.now;
    bench.advance(from + 999);
    assert_eq!(bench.read(ADC) & 1 << 8, 0);
    bench.advance(from + 1_000);
    assert_eq!((bench.read(ADC) & 1 << 8, bench.read(ADC + 4)), (1 << 8, 2048));
    // Many, in turn, into the queue of four; the interrupt comes at two.
    bench.write(ADC + 8, 2 << 24 | 1);
    bench.write(ADC + 0x18, 1);
    bench.write(ADC, 6 << 16 | 1 << 12 | 1 << 3 | 1);
    let from = bench.now;
    bench.advance(from + 1_999);
    assert_eq!((bench.read(ADC + 8) >> 16 & 0xf, bench.bus.requests >> 22 & 1), (1, 0));
    bench.advance(from + 2_000);
    assert_eq!((bench.read(ADC + 8) >> 16 & 0xf, bench.bus.requests >> 22 & 1), (2, 1));
    assert_eq!([bench.read(ADC + 0x0c), bench.read(ADC + 0x0c)], [2048, 1024]);
    bench.advance(from + 10_000);
    assert_eq!(bench.read(ADC + 8) >> 8 & 0xf, 1 << 3 | 1 << 1, "full, and one was lost");
}

/// Section 4.1: a device on a bus without a host keeps its registers and its memory, and hears
/// nothing.
#[test]
fn usb_device_waits_for_a_host() {
    const USB: u32 = 0x5011_0000;
    const DPRAM: u32 = 0x5010_0000;
    let mut bench = bench();
    bench.write(RESETS, 0);
    (0..0x9c).step_by(4).for_each(|register| bench.write(USB + register, 0));
    bench.write(DPRAM + 0x80, 0x1234_5678);
    bench.write_part(DPRAM + 0x81, 1, 0xff);
    assert_eq!(bench.read(DPRAM + 0x80), 0x1234_ff78);
    for (register, value) in [(0x78, 3 << 2), (0x40, 1), (0x90, 1 << 12), (0x4c, 1 << 16)] {
        bench.write(USB + register, value);
    }
    assert_eq!(bench.read(USB + 0x50), 1 << 2 | 1, "VBUS, and the line is idle");
    bench.advance(bench.now + 1_000_000);
    assert_eq!((bench.read(USB + 0x98), bench.bus.requests >> 5 & 1), (0, 0));
    says(bench.try_write(USB + 0x40, 3), "as a host");
}

/// Section 2.8.2: the second core answers what it is told to run; here it never runs. What is
/// written to it then stays in its mailbox of eight words.
#[test]
fn second_core_answers_and_does_not_start() {
    let mut bench = bench();
    assert_eq!((bench.read(FIFO_ST), bench.read(SIO + 0x58)), (3, 0), "the ROM says that it is ready");
    assert_eq!(bench.read(FIFO_ST), 2);
    for word in [0, 0, 1, 0x1000_0100, 0x2004_0000, 0x1000_0201] {
        bench.write(SIO + 0x54, word);
        assert_eq!((bench.read(FIFO_ST), bench.read(SIO + 0x58)), (3, word));
    }
    let tolerated = bench.bus.events.tolerated();
    assert!(matches!(tolerated[..], [(said, 1)] if said.contains("second core")), "{tolerated:?}");
    (0..8).for_each(|word| bench.write(SIO + 0x54, word));
    assert_eq!(bench.read(FIFO_ST), 0);
    bench.write(SIO + 0x54, 8);
    assert_eq!((bench.read(FIFO_ST), bench.bus.requests >> 15 & 1), (1 << 2, 1), "WOF interrupts");
    bench.write(FIFO_ST, 0);
    assert_eq!((bench.read(FIFO_ST), bench.bus.requests >> 15 & 1), (0, 0));
    // PSM resets it.
    bench.write(PSM + SET + 4, 1 << 16);
    bench.write(PSM + CLEAR + 4, 1 << 16);
    assert_eq!((bench.read(FIFO_ST), bench.read(SIO + 0x58)), (3, 0));
}
