//! The checksum of a channel's data, which the DMA controller computes in passing. Section 2.5.5.2.
//!
//! The highest bit of a halfword or a word counts first, in a mode with reversed bits the lowest.

/// SNIFF_CTRL.
const EN: u32 = 1 << 0;
const DMACH: u32 = 1;
const CALC: u32 = 5;
const BSWAP: u32 = 1 << 9;
const OUT_REV: u32 = 1 << 10;
const OUT_INV: u32 = 1 << 11;
const MASK: u32 = 0xfff;
/// CALC.
const CRC32: u32 = 0;
const CRC32R: u32 = 1;
const CRC16: u32 = 2;
const CRC16R: u32 = 3;
const EVEN: u32 = 0xe;
const SUM: u32 = 0xf;
/// The polynomials of IEEE 802.3 and of CCITT, the latter in the upper half.
const CRC32_POLYNOMIAL: u32 = 0x04c1_1db7;
const CRC16_POLYNOMIAL: u32 = 0x1021;

/// SNIFF_CTRL and SNIFF_DATA.
#[derive(Clone, Copy, Default)]
pub struct Sniffer {
    control: u32,
    data: u32,
}

impl Sniffer {
    pub fn control(&self) -> u32 {
        self.control
    }

    /// Writes SNIFF_CTRL.
    ///
    /// # Errors
    /// A calculation that does not exist.
    pub fn set_control(&mut self, control: u32) -> Result<(), &'static str> {
        if !matches!(control >> CALC & 0xf, CRC32..=CRC16R | EVEN | SUM) {
            return Err("SNIFF_CTRL.CALC is reserved");
        }
        self.control = control & MASK;
        Ok(())
    }

    /// SNIFF_DATA as it is read.
    pub fn data(&self) -> u32 {
        let data = if self.control & OUT_REV != 0 { self.data.reverse_bits() } else { self.data };
        if self.control & OUT_INV != 0 { !data } else { data }
    }

    pub fn set_data(&mut self, data: u32) {
        self.data = data;
    }

    /// Returns true if it looks at a channel.
    pub fn observes(&self, channel: usize) -> bool {
        self.control & EN != 0 && (self.control >> DMACH & 0xf) as usize == channel
    }

    /// Data of `size` bytes pass by.
    pub fn pass(&mut self, value: u32, size: u8) {
        let bits = 8 * u32::from(size);
        let swaps = self.control & BSWAP != 0;
        let value = if swaps { value.swap_bytes() >> (32 - bits) } else { value };
        let reversed = || value.reverse_bits() >> (32 - bits);
        self.data = match self.control >> CALC & 0xf {
            CRC32 => crc32(self.data, value, bits),
            CRC32R => crc32(self.data, reversed(), bits),
            CRC16 => crc16(self.data, value, bits),
            CRC16R => crc16(self.data, reversed(), bits),
            EVEN => self.data ^ value.count_ones() & 1,
            _ => self.data.wrapping_add(value),
        };
    }
}

/// The remainder after the `bits` low bits of a value, the highest first.
fn crc32(remainder: u32, value: u32, bits: u32) -> u32 {
    (0..bits).rev().fold(remainder, |crc, bit| {
        let carry = crc >> 31 ^ value >> bit & 1;
        crc << 1 ^ carry * CRC32_POLYNOMIAL
    })
}

fn crc16(remainder: u32, value: u32, bits: u32) -> u32 {
    (0..bits).rev().fold(remainder & 0xffff, |crc, bit| {
        let carry = crc >> 15 & 1 ^ value >> bit & 1;
        (crc << 1 ^ carry * CRC16_POLYNOMIAL) & 0xffff
    })
}

#[cfg(test)]
mod tests {
    use super::{BSWAP, CALC, EN, OUT_INV, OUT_REV, Sniffer};

    const CHECK: &[u8] = b"123456789";

    fn over_bytes(calculation: u32, output: u32, seed: u32) -> u32 {
        let mut sniffer = Sniffer::default();
        sniffer.set_control(EN | calculation << CALC | output).unwrap();
        sniffer.set_data(seed);
        CHECK.iter().for_each(|byte| sniffer.pass((*byte).into(), 1));
        sniffer.data()
    }

    /// The check values of the CRC catalogue for CRC-32/ISO-HDLC, CRC-32/BZIP2 and
    /// CRC-16/IBM-3740; the sum and the parity of the bits of the same bytes.
    #[test]
    fn checksums_are_the_published_ones() {
        assert_eq!(over_bytes(1, OUT_REV | OUT_INV, u32::MAX), 0xcbf4_3926);
        assert_eq!(over_bytes(0, OUT_INV, u32::MAX), 0xfc89_1918);
        assert_eq!(over_bytes(2, 0, 0xffff), 0x29b1);
        assert_eq!(over_bytes(0xf, 0, 0), 477);
        assert_eq!(over_bytes(0xe, 0, 0), 1);
    }

    /// A word in the order of its bytes gives what its bytes give.
    #[test]
    fn word_counts_as_its_bytes_in_order() {
        let of = |calculation: u32, pass: &dyn Fn(&mut Sniffer)| {
            let mut sniffer = Sniffer::default();
            sniffer.set_control(EN | calculation).unwrap();
            sniffer.set_data(u32::MAX);
            pass(&mut sniffer);
            sniffer.data()
        };
        let bytes = |sniffer: &mut Sniffer| (1..5).for_each(|byte| sniffer.pass(byte, 1));
        let word = |sniffer: &mut Sniffer| sniffer.pass(0x0403_0201, 4);
        assert_eq!(of(1 << CALC, &word), of(1 << CALC, &bytes));
        assert_eq!(of(BSWAP, &word), of(0, &bytes));
        assert_ne!(of(0, &word), of(0, &bytes));
    }
}
