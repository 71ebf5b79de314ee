//! Registers, flags and data space.

use crate::Fault;

/// The status register, each flag kept in the form that arithmetic yields it in, and put together only when it is
/// read as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// C: 0 or 1.
    pub c: u8,
    /// Z is set when this is zero.
    pub z: u8,
    /// N: bit 7.
    pub n: u8,
    /// V: bit 7.
    pub v: u8,
    /// S: bit 7. N xor V after arithmetic, but writable by itself.
    pub s: u8,
    /// H: bit 4.
    pub h: u8,
    /// T: 0 or 1.
    pub t: u8,
    /// I.
    pub i: bool,
}

impl Flags {
    pub fn to_byte(self) -> u8 {
        self.c
            | u8::from(self.z == 0) << 1
            | self.n >> 7 << 2
            | self.v >> 7 << 3
            | self.s >> 7 << 4
            | (self.h >> 4 & 1) << 5
            | self.t << 6
            | u8::from(self.i) << 7
    }

    pub fn from_byte(byte: u8) -> Flags {
        Flags {
            c: byte & 1,
            z: !byte & 2,
            n: byte << 5 & 0x80,
            v: byte << 4 & 0x80,
            s: byte << 3 & 0x80,
            h: byte >> 1 & 0x10,
            t: byte >> 6 & 1,
            i: byte & 0x80 != 0,
        }
    }

    #[inline(always)]
    fn sign(&mut self, n: u8, v: u8) {
        self.n = n;
        self.v = v;
        self.s = n ^ v;
    }

    #[inline(always)]
    pub fn add(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let sum = u16::from(d) + u16::from(r) + u16::from(carry);
        let result = sum as u8;
        self.c = (sum >> 8) as u8;
        self.h = d ^ r ^ result;
        self.z = result;
        self.sign(result, (d ^ result) & (r ^ result));
        result
    }

    /// Everything that a subtraction sets but Z.
    #[inline(always)]
    fn subtract_but_z(&mut self, d: u8, r: u8, carry: u8) -> u8 {
        let difference = u16::from(d).wrapping_sub(u16::from(r)).wrapping_sub(u16::from(carry));
        let result = difference as u8;
        self.c = (difference >> 8) as u8 & 1;
        self.h = d ^ r ^ result;
        self.sign(result, (d ^ r) & (d ^ result));
        result
    }

    #[inline(always)]
    pub fn subtract(&mut self, d: u8, r: u8) -> u8 {
        let result = self.subtract_but_z(d, r, 0);
        self.z = result;
        result
    }

    /// `SBC`, `SBCI`, `CPC`: Z stays clear once it is clear.
    #[inline(always)]
    pub fn subtract_with_carry(&mut self, d: u8, r: u8) -> u8 {
        let result = self.subtract_but_z(d, r, self.c);
        self.z |= result;
        result
    }

    #[inline(always)]
    pub fn logic(&mut self, result: u8) -> u8 {
        self.z = result;
        self.sign(result, 0);
        result
    }

    #[inline(always)]
    pub fn complement(&mut self, d: u8) -> u8 {
        self.c = 1;
        self.logic(!d)
    }

    #[inline(always)]
    pub fn increment(&mut self, d: u8) -> u8 {
        let result = d.wrapping_add(1);
        self.z = result;
        self.sign(result, !d & result);
        result
    }

    #[inline(always)]
    pub fn decrement(&mut self, d: u8) -> u8 {
        let result = d.wrapping_sub(1);
        self.z = result;
        self.sign(result, d & !result);
        result
    }

    /// `LSR`, `ROR`, `ASR`: `top` comes in as bit 7.
    #[inline(always)]
    pub fn shift_right(&mut self, d: u8, top: u8) -> u8 {
        let result = d >> 1 | top;
        self.c = d & 1;
        self.z = result;
        self.sign(result, result ^ d << 7);
        result
    }

    #[inline(always)]
    pub fn add_word(&mut self, d: u16, k: u16) -> u16 {
        let result = d.wrapping_add(k);
        self.c = ((!result & d) >> 15) as u8;
        self.z = (result | result >> 8) as u8;
        self.sign((result >> 8) as u8, ((!d & result) >> 8) as u8);
        result
    }

    #[inline(always)]
    pub fn subtract_word(&mut self, d: u16, k: u16) -> u16 {
        let result = d.wrapping_sub(k);
        self.c = ((result & !d) >> 15) as u8;
        self.z = (result | result >> 8) as u8;
        self.sign((result >> 8) as u8, ((d & !result) >> 8) as u8);
        result
    }

    #[inline(always)]
    pub fn multiply(&mut self, product: u16) -> u16 {
        self.c = (product >> 15) as u8;
        self.z = (product | product >> 8) as u8;
        product
    }

    /// C is bit 15 of the product before the shift.
    #[inline(always)]
    pub fn fractional_multiply(&mut self, product: u16) -> u16 {
        let result = product << 1;
        self.c = (product >> 15) as u8;
        self.z = (result | result >> 8) as u8;
        result
    }

    /// `BSET`, `BCLR` but for I, which the core handles.
    pub fn set(&mut self, bit: u8, on: bool) {
        let byte = self.to_byte() & !(1 << bit) | u8::from(on) << bit;
        *self = Flags::from_byte(byte);
    }
}

/// Registers and memory that instructions work on without the bus.
#[derive(Clone)]
pub(super) struct State {
    pub registers: [u8; 32],
    pub flags: Flags,
    pub sp: u16,
    pub rampz: u8,
    /// The data space; only `ram_start..ram_start + ram_size` of it is used.
    pub data: Box<[u8; 0x1_0000]>,
    pub ram_start: u16,
    pub ram_size: u16,
}

impl State {
    #[inline(always)]
    pub fn pair(&self, low: usize) -> u16 {
        u16::from_le_bytes([self.registers[low & 31], self.registers[(low + 1) & 31]])
    }

    #[inline(always)]
    pub fn set_pair(&mut self, low: usize, value: u16) {
        let [l, h] = value.to_le_bytes();
        self.registers[low & 31] = l;
        self.registers[(low + 1) & 31] = h;
    }

    #[inline(always)]
    pub fn is_ram(&self, address: u16) -> bool {
        address.wrapping_sub(self.ram_start) < self.ram_size
    }
}

/// The fault of an access to data space where the part has nothing.
#[cold]
pub(super) fn unmapped(pc: u16, address: u16, kind: &'static str) -> Fault {
    Fault::Unmapped { pc: u32::from(pc) * 2, address: 0x80_0000 + u32::from(address), size: 1, kind }
}
