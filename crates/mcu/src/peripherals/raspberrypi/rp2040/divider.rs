//! The divider of a core in SIO: section 2.3.1.5. A result is there eight cycles after the operand
//! that started it.

pub(super) const UDIVIDEND: u32 = 0x60;
const UDIVISOR: u32 = 0x64;
const SDIVIDEND: u32 = 0x68;
const SDIVISOR: u32 = 0x6c;
const QUOTIENT: u32 = 0x70;
const REMAINDER: u32 = 0x74;
pub(super) const CSR: u32 = 0x78;

const CYCLES: u64 = 8;

const READY: u32 = 1;
const DIRTY: u32 = 2;

/// Its registers.
#[derive(Clone, Default)]
pub(super) struct Divider {
    dividend: u32,
    divisor: u32,
    quotient: u32,
    remainder: u32,
    dirty: bool,
    /// The cycle from which on the result is there.
    ready: u64,
}

impl Divider {
    /// Reads it. A result that is read too early is what the hardware has half done: an error.
    pub fn read(&mut self, register: u32, now: u64) -> Result<u32, &'static str> {
        let early = "the divider's result is read before it is there: eight cycles after the operands";
        Ok(match register {
            UDIVIDEND | SDIVIDEND => self.dividend,
            UDIVISOR | SDIVISOR => self.divisor,
            QUOTIENT | REMAINDER if now < self.ready => return Err(early),
            QUOTIENT => {
                self.dirty = false;
                self.quotient
            }
            REMAINDER => self.remainder,
            _ => (if now >= self.ready { READY } else { 0 }) | (if self.dirty { DIRTY } else { 0 }),
        })
    }

    pub fn write(&mut self, register: u32, value: u32, now: u64) {
        match register {
            UDIVIDEND | SDIVIDEND => self.dividend = value,
            UDIVISOR | SDIVISOR => self.divisor = value,
            QUOTIENT => self.quotient = value,
            REMAINDER => self.remainder = value,
            _ => return,
        }
        self.dirty = true;
        if matches!(register, QUOTIENT | REMAINDER) {
            // A calculation that is under way ends.
            self.ready = now;
            return;
        }
        self.ready = now + CYCLES;
        let (n, m) = (self.dividend, self.divisor);
        if matches!(register, SDIVIDEND | SDIVISOR) {
            let (n, m) = (n as i32, m as i32);
            // By zero: a quotient of -1, or 1 for a negative dividend; the remainder is the
            // dividend.
            let by_zero = if n < 0 { 1 } else { -1 };
            self.quotient = if m == 0 { by_zero } else { n.wrapping_div(m) } as u32;
            self.remainder = if m == 0 { n } else { n.wrapping_rem(m) } as u32;
        } else {
            self.quotient = n.checked_div(m).unwrap_or(u32::MAX);
            self.remainder = n.checked_rem(m).unwrap_or(n);
        }
    }
}
