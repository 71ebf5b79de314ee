//! Addresses and reset values: SWRS040, "Configuration Registers", "Status Registers", "Command
//! Strobes" (from memory, not yet compared with the document line by line).

pub const IOCFG2: usize = 0x00;
pub const IOCFG1: usize = 0x01;
pub const IOCFG0: usize = 0x02;
pub const FIFOTHR: usize = 0x03;
pub const PKTLEN: usize = 0x06;
pub const PKTCTRL1: usize = 0x07;
pub const PKTCTRL0: usize = 0x08;
pub const ADDR: usize = 0x09;
pub const MDMCFG4: usize = 0x10;
pub const MDMCFG3: usize = 0x11;
pub const MDMCFG2: usize = 0x12;
pub const MDMCFG1: usize = 0x13;
pub const MCSM2: usize = 0x16;
pub const MCSM1: usize = 0x17;
pub const MCSM0: usize = 0x18;
pub const WOREVT1: usize = 0x1e;
pub const WOREVT0: usize = 0x1f;
pub const WORCTRL: usize = 0x20;
/// The first of the test registers, which lose their contents in sleep.
pub const FSTEST: usize = 0x29;
/// One behind the last configuration register.
pub const CONFIGURATION: usize = 0x2f;

/// Values after reset.
#[rustfmt::skip]
pub const AFTER_RESET: [u8; CONFIGURATION] = [
    // IOCFG2..0, FIFOTHR, SYNC1..0, PKTLEN, PKTCTRL1..0, ADDR, CHANNR
    0x29, 0x2e, 0x3f, 0x07, 0xd3, 0x91, 0xff, 0x04, 0x45, 0x00, 0x00,
    // FSCTRL1..0, FREQ2..0
    0x0f, 0x00, 0x5e, 0xc4, 0xec,
    // MDMCFG4..0, DEVIATN
    0x8c, 0x22, 0x02, 0x22, 0xf8, 0x47,
    // MCSM2..0, FOCCFG, BSCFG, AGCCTRL2..0
    0x07, 0x30, 0x04, 0x36, 0x6c, 0x03, 0x40, 0x91,
    // WOREVT1..0, WORCTRL, FREND1..0, FSCAL3..0, RCCTRL1..0
    0x87, 0x6b, 0xf8, 0x56, 0x10, 0xa9, 0x0a, 0x20, 0x0d, 0x41, 0x00,
    // FSTEST, PTEST, AGCTEST, TEST2..0
    0x59, 0x7f, 0x3f, 0x88, 0x31, 0x0b,
];

pub const PARTNUM: u8 = 0x30;
pub const VERSION: u8 = 0x31;
pub const FREQEST: u8 = 0x32;
pub const LQI: u8 = 0x33;
pub const RSSI: u8 = 0x34;
pub const MARCSTATE: u8 = 0x35;
pub const PKTSTATUS: u8 = 0x38;
pub const VCO_VC_DAC: u8 = 0x39;
pub const TXBYTES: u8 = 0x3a;
pub const RXBYTES: u8 = 0x3b;

pub const SRES: u8 = 0x30;
pub const SFSTXON: u8 = 0x31;
pub const SXOFF: u8 = 0x32;
pub const SCAL: u8 = 0x33;
pub const SRX: u8 = 0x34;
pub const STX: u8 = 0x35;
pub const SIDLE: u8 = 0x36;
pub const SWOR: u8 = 0x38;
pub const SPWD: u8 = 0x39;
pub const SFRX: u8 = 0x3a;
pub const SFTX: u8 = 0x3b;
pub const SWORRST: u8 = 0x3c;
pub const SNOP: u8 = 0x3d;

pub const PATABLE: u8 = 0x3e;
pub const FIFO: u8 = 0x3f;
