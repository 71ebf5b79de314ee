//! Registers of the floating-point unit.
//!
//! They include those of the system control block that belong to it (DDI 0403E, B3.2).

use crate::CoreName;

/// Floating-point unit of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Cortex-M0, M3.
    None,
    /// FPv4-SP-D16 of the Cortex-M4: arithmetic in single precision.
    Single,
    /// FPv5-D16 of the Cortex-M7 in STM32F76x: double precision, too.
    Double,
}

/// FPSCR's bits: N, Z, C, V, AHP, DN, FZ, RMode, the cumulative flags.
const FPSCR: u32 = 0xf7c0_009f;
/// FPDSCR's bits, and what a new context takes from it: AHP, DN, FZ, RMode.
const DEFAULTS: u32 = 0x07c0_0000;
/// FPCCR's bits.
const FPCCR: u32 = ASPEN | LSPEN | 0x17b;
const ASPEN: u32 = 1 << 31;
const LSPEN: u32 = 1 << 30;
const LSPACT: u32 = 1 << 0;
/// CPACR's fields of coprocessors 10 and 11, which must be alike.
const CP10: u32 = 3 << 20;
const CP11: u32 = 3 << 22;

/// The state of the unit but CONTROL.FPCA.
#[derive(Clone, Debug)]
pub(in super::super) struct Fpu {
    pub unit: Unit,
    /// S0 to S31. D0 is S0, the lower half, and S1.
    pub s: [u32; 32],
    fpscr: u32,
    /// FPCCR.
    context: u32,
    /// FPCAR.
    pub saved_at: u32,
    /// FPDSCR.
    defaults: u32,
    /// CPACR.
    access: u32,
    /// Arithmetic was done since the machine was made; moves, loads and stores are none.
    pub computed: bool,
}

impl Fpu {
    /// As after reset: off.
    pub fn new(core: CoreName) -> Fpu {
        let unit = match core {
            CoreName::CortexM4 => Unit::Single,
            CoreName::CortexM7 => Unit::Double,
            _ => Unit::None,
        };
        Fpu {
            unit,
            s: [0; 32],
            fpscr: 0,
            context: ASPEN | LSPEN,
            saved_at: 0,
            defaults: 0,
            access: 0,
            computed: false,
        }
    }

    /// Everything as after reset.
    pub fn reset(&mut self) {
        let (unit, computed) = (self.unit, self.computed);
        *self = Fpu { unit, computed, ..Fpu::new(CoreName::CortexM0) };
    }

    pub fn fpscr(&self) -> u32 {
        self.fpscr
    }

    pub fn set_fpscr(&mut self, value: u32) {
        self.fpscr = value & FPSCR;
    }

    /// A new context: the modes are those of FPDSCR.
    pub fn begin_context(&mut self) {
        self.fpscr = self.fpscr & !DEFAULTS | self.defaults;
    }

    /// A register of single precision, or of double precision.
    pub fn get(&self, register: u8, double: bool) -> u64 {
        let index = usize::from(register & 31);
        if double {
            let index = 2 * (index & 15);
            u64::from(self.s[index + 1]) << 32 | u64::from(self.s[index])
        } else {
            u64::from(self.s[index])
        }
    }

    pub fn set(&mut self, register: u8, double: bool, value: u64) {
        let index = usize::from(register & 31);
        if double {
            let index = 2 * (index & 15);
            self.s[index] = value as u32;
            self.s[index + 1] = (value >> 32) as u32;
        } else {
            self.s[index] = value as u32;
        }
    }

    /// Returns true if CPACR lets instructions through.
    pub fn is_enabled(&self, privileged: bool) -> bool {
        match (self.access & CP10) >> 20 {
            1 => privileged,
            3 => true,
            _ => false,
        }
    }

    /// FPCCR.ASPEN.
    pub fn saves_contexts(&self) -> bool {
        self.context & ASPEN != 0
    }

    /// FPCCR.LSPEN.
    pub fn is_lazy(&self) -> bool {
        self.context & LSPEN != 0
    }

    /// FPCCR.LSPACT: room for the state is on the stack, at FPCAR, and the state is still here.
    pub fn is_saving(&self) -> bool {
        self.context & LSPACT != 0
    }

    /// LSPACT set: the state belongs to `address`. `flags` are FPCCR's THREAD and USER.
    pub fn defer_saving(&mut self, address: u32, flags: u32) {
        self.context = self.context & (ASPEN | LSPEN) | flags | LSPACT;
        self.saved_at = address & !7;
    }

    /// LSPACT clear.
    pub fn end_saving(&mut self) {
        self.context &= !LSPACT;
    }

    /// A register of the system control block; `None` where there is none. Without a unit CPACR
    /// reads as zero.
    pub fn read(&self, address: u32) -> Option<u32> {
        let double = self.unit == Unit::Double;
        Some(match address {
            0xe000_ed88 => self.access,
            _ if self.unit == Unit::None => return None,
            0xe000_ef34 => self.context,
            0xe000_ef38 => self.saved_at,
            0xe000_ef3c => self.defaults,
            // MVFR0 to MVFR2 (DDI 0439D, 4.1; DDI 0489, 8.3).
            0xe000_ef40 if double => 0x1011_0221,
            0xe000_ef40 => 0x1011_0021,
            0xe000_ef44 if double => 0x1200_0011,
            0xe000_ef44 => 0x1100_0011,
            0xe000_ef48 if double => 0x40,
            0xe000_ef48 => 0,
            _ => return None,
        })
    }

    /// As [`Fpu::read`]; false where there is none.
    pub fn write(&mut self, address: u32, value: u32) -> bool {
        match address {
            0xe000_ed88 if self.unit == Unit::None => {}
            0xe000_ed88 => self.access = value & (CP10 | CP11),
            _ if self.unit == Unit::None => return false,
            0xe000_ef34 => self.context = value & FPCCR,
            0xe000_ef38 => self.saved_at = value & !7,
            0xe000_ef3c => self.defaults = value & DEFAULTS,
            // Read-only.
            0xe000_ef40..=0xe000_ef48 => {}
            _ => return false,
        }
        true
    }
}
