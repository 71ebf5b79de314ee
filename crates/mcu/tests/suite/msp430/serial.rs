//! USCI and eUSCI as I2C and SPI masters, on the MSP430F5438A and the MSP430FR5994.

use super::programs::{mov, mov_byte, poke, register};
use crate::i2c_bus::Device;
use mcu::{Mcu, Observer, Part, Stop, Until, new_machine};

const PC: u32 = 0x2000;
const END: u16 = 0x3fff;
const UCB0: u16 = 0x05e0;
/// UCMST, UCMODE_3, UCSYNC.
const I2C_MASTER: u16 = 0x0f;
const EUCB0: u16 = 0x0640;

fn f5438a() -> Part {
    super::programs::part()
}

fn fr5994() -> Part {
    Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("target file")
}

fn machine(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    poke(&mut *machine, PC, &[&mov(0x5a80, 0x015c)[..], words, &[END]].concat());
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    machine.board_mut().mount_two_wire("UCB0", Box::new(Device::default()));
    machine
}

fn device(machine: &mut dyn Mcu) -> &mut Device {
    let device = machine.board_mut().two_wire_device_mut("device").expect("mounted");
    device.downcast_mut().expect("a Device")
}

fn ran(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = machine(part, words);
    let until = Until { cycles: Some(100_000), addresses: Vec::new() };
    assert_eq!(machine.run(&until), Ok(Stop::Halted));
    machine
}

fn fault(part: &Part, words: &[u16]) -> String {
    machine(part, words).run(&Until::default()).expect_err("a fault").to_string()
}

/// `BIT.B #bit, &register` and a jump back to it until the bit is set, or clear.
fn wait(bit: u8, register: u16, set: bool) -> [u16; 3] {
    let constant = match bit {
        1 => 0xb3d2,
        2 => 0xb3e2,
        4 => 0xb2e2,
        _ => 0xb2f2,
    };
    [constant, register, if set { 0x27fd } else { 0x23fd }]
}

/// `MOV.B &register, Rn`.
fn read_byte(register: u16, into: u16) -> [u16; 2] {
    [0x4250 | into, register]
}

/// UCB0 of the F5438A as a master with ten clocks a bit for the device at this address.
fn i2c(address: u16) -> Vec<u16> {
    [
        mov_byte(0x81, UCB0),
        mov_byte(I2C_MASTER, UCB0 + 1),
        mov_byte(10, UCB0 + 6),
        mov(address, UCB0 + 0x12),
        mov_byte(0x80, UCB0),
    ]
    .concat()
}

/// SLAU208, "I2C Master Transmitter Mode": UCTR and UCTXSTT, a byte for each UCTXIFG, UCTXSTP.
#[test]
fn a_master_writes() {
    let words = [
        &i2c(0x3c)[..],
        &mov_byte(0x92, UCB0),
        &wait(2, UCB0 + 0x1d, true),
        &mov_byte(0x11, UCB0 + 0xe),
        &wait(2, UCB0 + 0x1d, true),
        &mov_byte(0x22, UCB0 + 0xe),
        &wait(2, UCB0 + 0x1d, true),
        &mov_byte(0x94, UCB0),
        &wait(4, UCB0, false),
        &read_byte(UCB0 + 0xa, 5),
    ]
    .concat();
    let mut machine = ran(&f5438a(), &words);
    assert_eq!(device(&mut *machine).log, ["3cW", "11", "22", "STOP"]);
    // UCTXSTT is written at cycle 28: START, then nine bits each. The first byte is there in time,
    // and the second.
    assert_eq!(device(&mut *machine).times_ns, [128_000, 218_000, 308_000]);
    assert_eq!(register(&*machine, "r5"), 0, "the bus is free");
}

/// "UCTXSTP: the master generates a STOP after a NACK of the byte that is being received."
#[test]
fn a_master_reads() {
    let start = [&i2c(0x3c)[..], &mov_byte(0x82, UCB0), &wait(2, UCB0, false)].concat();
    let rest = [
        &wait(1, UCB0 + 0x1d, true)[..],
        &mov_byte(0x84, UCB0),
        &read_byte(UCB0 + 0xc, 5),
        &wait(1, UCB0 + 0x1d, true),
        &read_byte(UCB0 + 0xc, 6),
        &wait(4, UCB0, false),
    ]
    .concat();
    // Also where the second byte has waited in its last bit for the first one to be read.
    for late in [0, 200] {
        let mut machine = ran(&f5438a(), &[&start[..], &vec![0x4303; late], &rest].concat());
        assert_eq!(device(&mut *machine).log, ["3cR", "ACK", "NACK", "STOP"]);
        assert_eq!((register(&*machine, "r5"), register(&*machine, "r6")), (0xa0, 0xa1));
    }
    // Without a driver that reads it the bus is held: UCSCLLOW, UCBBUSY.
    let held = [&start[..], &[0x4303; 300], &read_byte(UCB0 + 0xa, 5)].concat();
    assert_eq!(register(&*ran(&f5438a(), &held), "r5"), 0x50);
}

/// "UCNACKIFG = 1, UCTXIFG = 0, UCBxTXBUF discarded"; UCBxIV says 4 of it.
#[test]
fn wrong_address_is_not_acknowledged() {
    let words = [
        &i2c(0x3d)[..],
        &mov_byte(0x92, UCB0),
        &mov_byte(0x11, UCB0 + 0xe),
        &wait(2, UCB0, false),
        &read_byte(UCB0 + 0x1d, 5),
        &mov_byte(0x20, UCB0 + 0x1c),
        &read_byte(UCB0 + 0x1e, 6),
        &mov_byte(0x94, UCB0),
        &wait(4, UCB0, false),
    ]
    .concat();
    let mut machine = ran(&f5438a(), &words);
    assert_eq!((register(&*machine, "r5"), register(&*machine, "r6")), (0x20, 4));
    assert_eq!(device(&mut *machine).log, ["3dW", "STOP"]);
}

#[test]
fn unmodelled_modes_and_mistakes_of_a_master_are_refused() {
    let with = |control: u16| {
        fault(&f5438a(), &[mov_byte(0x81, UCB0), mov_byte(control, UCB0 + 1), mov_byte(0x80, UCB0)].concat())
    };
    assert!(with(0x07).contains("slave"));
    assert!(with(0x2f).contains("several masters"));
    assert!(with(0x4f).contains("ten bits"));
    assert!(fault(&f5438a(), &[i2c(0x3c), mov_byte(0x0e, UCB0 + 1)].concat()).contains("UCSWRST"));
    let unclocked = [mov_byte(0x01, UCB0), mov_byte(I2C_MASTER, UCB0 + 1), mov_byte(0x00, UCB0)].concat();
    assert!(fault(&f5438a(), &unclocked).contains("UCSSELx"));
}

/// SLAU367, "Byte Counter and Automatic STOP Generation": UCASTPx = 2 makes a STOP after UCBxTBCNT
/// bytes.
#[test]
fn an_eusci_stops_by_itself() {
    let words = [
        &mov(0x0f81, EUCB0)[..],
        &mov(0x000b, EUCB0 + 2),
        &mov(10, EUCB0 + 6),
        &mov(2, EUCB0 + 0xa),
        &mov(0x3c, EUCB0 + 0x20),
        &mov(0x0f80, EUCB0),
        &mov(0x0f92, EUCB0),
        &wait(2, EUCB0 + 0x2c, true),
        &mov(0x11, EUCB0 + 0xe),
        &wait(2, EUCB0 + 0x2c, true),
        &mov(0x22, EUCB0 + 0xe),
        &wait(8, EUCB0 + 0x2c, true),
        &[0x4215, EUCB0 + 0x2c],
        &[0x4216, EUCB0 + 0x8],
    ]
    .concat();
    let mut machine = ran(&fr5994(), &words);
    assert_eq!(device(&mut *machine).log, ["3cW", "11", "22", "STOP"]);
    // UCBCNTIFG, UCSTPIFG, UCTXIFG0; UCBCNTx is 2, and the bus free.
    assert_eq!((register(&*machine, "r5"), register(&*machine, "r6")), (0x4a, 0x200));
    // UCBxIV of an eUSCI_B has UCRXIFG0 at 0x16.
    let read = [
        &mov(0x0f81, EUCB0)[..],
        &mov(10, EUCB0 + 6),
        &mov(0x3c, EUCB0 + 0x20),
        &mov(0x0f80, EUCB0),
        &mov(0x0001, EUCB0 + 0x2a),
        &mov(0x0f82, EUCB0),
        &wait(1, EUCB0 + 0x2c, true),
        &[0x4215, EUCB0 + 0x2e],
    ]
    .concat();
    assert_eq!(register(&*ran(&fr5994(), &read), "r5"), 0x16);
}

#[derive(Default)]
struct Sent(Vec<u8>);

impl Observer for Sent {
    fn uart(&mut self, _port: &str, byte: u8, _cycles: u64) {
        self.0.push(byte);
    }
}

/// An A block is an SPI master with UCSYNC, as the B blocks are: eight clocks of UCBRx, and with
/// UCLISTEN its own byte comes back.
#[test]
fn an_a_block_is_an_spi_master() {
    for (part, control, status, flags) in
        [(f5438a(), 0x05c0, 0x05ca, 0x05dd), (fr5994(), 0x05c0, 0x05ca, 0x05dc)]
    {
        let words = [
            &mov(0xa981, control)[..],
            &mov(4, control + 6),
            &mov(0xa980, control),
            &mov_byte(0x80, status),
            &mov_byte(0x9f, control + 0xe),
            &wait(1, flags, true),
            &read_byte(control + 0xc, 5),
        ]
        .concat();
        let (mut machine, mut sent) = (machine(&part, &words), Sent::default());
        assert_eq!(machine.run_observed(&Until::default(), &mut sent), Ok(Stop::Halted));
        assert_eq!((register(&*machine, "r5"), sent.0.len()), (0x9f, 0), "{}", part.name);
        // TXBUF is written at cycle 24; the loop of 4 + 2 cycles looks at cycles 24 + 3 + 6 n, and
        // finds it 32 later; then MOV and the end.
        assert!((24 + 32..24 + 32 + 16).contains(&machine.cycles()), "{}", machine.cycles());
    }
    assert!(fault(&fr5994(), &mov(0x2180, 0x05c0)).contains("three-pin master"));
}
