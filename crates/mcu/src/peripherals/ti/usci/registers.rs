//! Registers of the four blocks: their offsets, and the meaning of their bits.
//!
//! Offsets and bits compared with TI's headers msp430f5438a.h and msp430fr5994.h. UCxCTL1 and
//! UCxCTL0 of the USCI are the two bytes of the eUSCI's UCxCTLW0.

/// UCxCTLW0: held in reset.
pub const UCSWRST: u32 = 1 << 0;
/// In I2C mode: START, STOP, not acknowledge as a slave, transmitter.
pub const UCTXSTT: u32 = 1 << 1;
pub const UCTXSTP: u32 = 1 << 2;
pub const UCTXNACK: u32 = 1 << 3;
pub const UCTR: u32 = 1 << 4;
/// UCSSELx.
pub const UCSSEL: u32 = 6;
/// The bits of UCxCTL1 that are neither the clock nor the reset.
pub const CTL1_MODES: u32 = 0x3e;
/// In UART mode: dormant, next to be sent is an address or a break. UCRXEIE and UCBRKIE are about
/// errors, of which there are none.
pub const UART_MODES: u32 = 0x0e;
/// Synchronous; UCMODEx; master.
pub const UCSYNC: u32 = 1 << 8;
pub const UCMODE: u32 = 3 << 9;
pub const UCMODE_3: u32 = 3 << 9;
pub const UCMST: u32 = 1 << 11;
/// In UART mode: two stop bits.
pub const UCSPB: u32 = 1 << 11;
/// In SPI mode: the first bit is the most significant; polarity; phase.
pub const UCMSB: u32 = 1 << 13;
pub const UCCKPL: u32 = 1 << 14;
pub const UCCKPH: u32 = 1 << 15;
/// UCxCTL0 within UCxCTLW0.
pub const CTL0: u32 = 0xff00;

/// UCxCTLW1 of an eUSCI_B: UCASTPx.
pub const UCASTP: u32 = 2;
/// UCSWACK, UCSTPNACK, UCCLTOx, UCETXINT.
pub const CONTROL1_OTHERS: u32 = 0x1f0;

/// UCxSTAT: listens to itself; overrun; of the UART, any error; of UART and SPI, busy.
pub const UCLISTEN: u32 = 1 << 7;
pub const UCOE: u32 = 1 << 5;
pub const UCRXERR: u32 = 1 << 2;
pub const UCBUSY: u32 = 1 << 0;
/// In I2C mode: SCL is held low; the bus is busy.
pub const UCSCLLOW: u32 = 1 << 6;
pub const UCBBUSY: u32 = 1 << 4;

/// UCxIE and UCxIFG.
pub const UCRXIFG: u32 = 1 << 0;
pub const UCTXIFG: u32 = 1 << 1;
/// Of an eUSCI_A.
pub const UCSTTIFG: u32 = 1 << 2;
pub const UCTXCPTIFG: u32 = 1 << 3;
/// In I2C mode.
pub const UCSTPIFG: u32 = 1 << 3;
pub const UCNACKIFG: u32 = 1 << 5;
pub const UCBCNTIFG: u32 = 1 << 6;

/// Block: one of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// USCI_A: UART and SPI.
    UsciA,
    /// USCI_B: SPI and I2C.
    UsciB,
    /// eUSCI_A: UART and SPI.
    EusciA,
    /// eUSCI_B: SPI and I2C.
    EusciB,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// UCxCTLW0.
    Control,
    /// UCxCTLW1.
    Control1,
    /// UCxBRW.
    Prescaler,
    /// UCAxMCTL, UCAxMCTLW.
    Modulation,
    /// UCxSTAT, UCxSTATW.
    Status,
    /// UCBxTBCNT.
    Threshold,
    /// UCxRXBUF.
    Received,
    /// UCxTXBUF.
    Transmit,
    /// UCAxABCTL, UCAxIRCTL.
    OtherModes,
    /// UCBxI2COA, UCBxI2COA0 to 3, UCBxADDMASK, by number.
    Own(usize),
    /// UCBxADDRX.
    AddressReceived,
    /// UCBxI2CSA.
    Slave,
    /// UCxIE below UCxIFG.
    EnablesAndFlags,
    /// UCxIE.
    Enables,
    /// UCxIFG.
    Flags,
    /// UCxIV.
    Vector,
}

impl Block {
    /// Returns true for an eUSCI.
    pub fn enhanced(self) -> bool {
        matches!(self, Block::EusciA | Block::EusciB)
    }

    /// Returns true if it has I2C, and no UART.
    pub fn is_b(self) -> bool {
        matches!(self, Block::UsciB | Block::EusciB)
    }

    /// Bytes of registers.
    pub fn size(self) -> u32 {
        if self == Block::EusciB { 0x30 } else { 0x20 }
    }

    /// The interrupts that it has, as bits of UCxIE.
    pub fn interrupts(self) -> u32 {
        match self {
            Block::UsciA => 0x3,
            Block::UsciB => 0x3f,
            Block::EusciA => 0xf,
            Block::EusciB => 0x7fff,
        }
    }

    /// The register at an even offset.
    pub fn register(self, offset: u32) -> Option<Register> {
        Some(match (offset, self) {
            (0x00, _) => Register::Control,
            (0x02, Block::EusciA | Block::EusciB) => Register::Control1,
            (0x06, _) => Register::Prescaler,
            (0x08, Block::EusciB) | (0x0a, Block::UsciA | Block::UsciB | Block::EusciA) => Register::Status,
            (0x08, _) => Register::Modulation,
            (0x0a, _) => Register::Threshold,
            (0x0c, _) => Register::Received,
            (0x0e, _) => Register::Transmit,
            (0x10, Block::UsciB) => Register::Own(0),
            (0x12, Block::UsciB) | (0x20, Block::EusciB) => Register::Slave,
            (0x10 | 0x12, Block::UsciA | Block::EusciA) => Register::OtherModes,
            (0x14 | 0x16 | 0x18 | 0x1a, Block::EusciB) => Register::Own((offset as usize - 0x14) / 2),
            (0x1c, Block::EusciB) => Register::AddressReceived,
            (0x1e, Block::EusciB) => Register::Own(4),
            (0x1c, Block::UsciA | Block::UsciB) => Register::EnablesAndFlags,
            (0x1a, Block::EusciA) | (0x2a, Block::EusciB) => Register::Enables,
            (0x1c, Block::EusciA) | (0x2c, Block::EusciB) => Register::Flags,
            (0x1e, _) | (0x2e, Block::EusciB) => Register::Vector,
            _ => return None,
        })
    }

    /// Values of UCxIV, by the flags in the order of their priority.
    pub fn vectors(self, i2c: bool) -> &'static [(u32, u32)] {
        match (self, i2c) {
            (Block::EusciA, _) => &[(UCRXIFG, 2), (UCTXIFG, 4), (UCSTTIFG, 6), (UCTXCPTIFG, 8)],
            (_, false) => &[(UCRXIFG, 2), (UCTXIFG, 4)],
            (Block::EusciB, true) => &[
                (1 << 4, 2),
                (UCNACKIFG, 4),
                (1 << 2, 6),
                (UCSTPIFG, 8),
                (1 << 12, 0x0a),
                (1 << 13, 0x0c),
                (1 << 10, 0x0e),
                (1 << 11, 0x10),
                (1 << 8, 0x12),
                (1 << 9, 0x14),
                (UCRXIFG, 0x16),
                (UCTXIFG, 0x18),
                (UCBCNTIFG, 0x1a),
                (1 << 7, 0x1c),
                (1 << 14, 0x1e),
            ],
            (_, true) => {
                &[(1 << 4, 2), (UCNACKIFG, 4), (1 << 2, 6), (UCSTPIFG, 8), (UCRXIFG, 0x0a), (UCTXIFG, 0x0c)]
            }
        }
    }
}
