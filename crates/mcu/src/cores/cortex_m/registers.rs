//! The registers of a Cortex-M core.

use crate::{Register, Role};

/// Everything that an instruction can change outside memory and the system control space.
#[derive(Clone, Debug)]
pub struct State {
    /// r0 to r12, the stack pointer in use, the link register. The last is not kept: see `pc`.
    pub r: [u32; 16],
    /// The next instruction; kept while no run is under way and at exceptions.
    pub pc: u32,
    /// N, in bit 31.
    pub n: u32,
    /// Z, which is set when this is zero.
    pub z: u32,
    /// C.
    pub c: bool,
    /// V.
    pub v: bool,
    /// Q, the sticky saturation flag.
    pub q: bool,
    /// GE[3:0].
    pub ge: u8,
    /// ITSTATE of the next instruction, kept as `pc` is.
    pub it: u8,
    /// The exception being handled; 0 in thread mode.
    pub ipsr: u16,
    /// The stack pointer that is not in use: PSP while MSP is, MSP while PSP is.
    pub other_sp: u32,
    /// CONTROL: bit 0 nPRIV, bit 1 SPSEL, bit 2 FPCA.
    pub control: u8,
    /// PRIMASK.
    pub primask: bool,
    /// FAULTMASK.
    pub faultmask: bool,
    /// BASEPRI.
    pub basepri: u8,
    /// The address that LDREX has marked.
    pub exclusive: Option<u32>,
    /// The event register of WFE and SEV.
    pub event: bool,
    /// In WFI or WFE.
    pub sleep: Sleep,
}

/// Sleep of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// It runs.
    Awake,
    /// In WFI (or sleep on exit): an exception that could be taken were PRIMASK clear wakes it.
    Interrupt,
    /// In WFE: an event or what wakes WFI.
    Event,
}

impl State {
    /// As at the start of the reset exception, before the vector table is read.
    #[must_use]
    pub fn new() -> State {
        State {
            r: [0; 16],
            pc: 0,
            n: 0,
            z: 1,
            c: false,
            v: false,
            q: false,
            ge: 0,
            it: 0,
            ipsr: 0,
            other_sp: 0,
            control: 0,
            primask: false,
            faultmask: false,
            basepri: 0,
            exclusive: None,
            event: false,
            sleep: Sleep::Awake,
        }
    }

    /// N, Z, C, V, Q and GE where xPSR has them.
    #[must_use]
    pub fn apsr(&self) -> u32 {
        self.n & 1 << 31
            | u32::from(self.z == 0) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | u32::from(self.ge) << 16
    }

    /// Sets N, Z, C, V from bits 31 to 28.
    pub fn set_nzcv(&mut self, value: u32) {
        self.n = value;
        self.z = !value & 1 << 30;
        self.c = value >> 29 & 1 != 0;
        self.v = value >> 28 & 1 != 0;
    }

    /// The program status register: flags, ITSTATE (in its two pieces), the Thumb bit, the
    /// exception number.
    #[must_use]
    pub fn xpsr(&self) -> u32 {
        let it = u32::from(self.it);
        self.apsr() | (it & 3) << 25 | (it >> 2) << 10 | 1 << 24 | u32::from(self.ipsr)
    }

    /// Sets all of xPSR but the Thumb bit.
    pub fn set_xpsr(&mut self, value: u32) {
        self.set_nzcv(value);
        self.q = value >> 27 & 1 != 0;
        self.ge = (value >> 16 & 15) as u8;
        self.it = (value >> 25 & 3 | value >> 8 & 0xfc) as u8;
        self.ipsr = (value & 0x1ff) as u16;
    }

    /// Returns true if a condition code (0 to 14) holds.
    #[must_use]
    #[inline]
    pub fn holds(&self, condition: u8) -> bool {
        let n = self.n >> 31 != 0;
        let z = self.z == 0;
        let holds = match condition >> 1 {
            0 => z,
            1 => self.c,
            2 => n,
            3 => self.v,
            4 => self.c && !z,
            5 => n == self.v,
            6 => n == self.v && !z,
            _ => return true,
        };
        holds == (condition & 1 == 0)
    }

    /// Returns true if privileged instructions take effect.
    #[must_use]
    pub fn privileged(&self) -> bool {
        self.ipsr != 0 || self.control & 1 == 0
    }
}

impl Default for State {
    fn default() -> Self {
        State::new()
    }
}

/// The registers by their names; those of the floating-point unit from [`FIRST_FLOAT`] on.
pub(crate) const REGISTERS: &[Register] = &[
    Register::new("r0", 32),
    Register::new("r1", 32),
    Register::new("r2", 32),
    Register::new("r3", 32),
    Register::new("r4", 32),
    Register::new("r5", 32),
    Register::new("r6", 32),
    Register::new("r7", 32),
    Register::new("r8", 32),
    Register::new("r9", 32),
    Register::new("r10", 32),
    Register::new("r11", 32),
    Register::new("r12", 32),
    Register::with("sp", 32, Role::StackPointer),
    Register::with("lr", 32, Role::Link),
    Register::with("pc", 32, Role::ProgramCounter),
    Register::with("xpsr", 32, Role::Status),
    Register::new("msp", 32),
    Register::new("psp", 32),
    Register::new("primask", 8),
    Register::new("control", 8),
    Register::new("basepri", 8),
    Register::new("faultmask", 8),
    Register::new("s0", 32),
    Register::new("s1", 32),
    Register::new("s2", 32),
    Register::new("s3", 32),
    Register::new("s4", 32),
    Register::new("s5", 32),
    Register::new("s6", 32),
    Register::new("s7", 32),
    Register::new("s8", 32),
    Register::new("s9", 32),
    Register::new("s10", 32),
    Register::new("s11", 32),
    Register::new("s12", 32),
    Register::new("s13", 32),
    Register::new("s14", 32),
    Register::new("s15", 32),
    Register::new("s16", 32),
    Register::new("s17", 32),
    Register::new("s18", 32),
    Register::new("s19", 32),
    Register::new("s20", 32),
    Register::new("s21", 32),
    Register::new("s22", 32),
    Register::new("s23", 32),
    Register::new("s24", 32),
    Register::new("s25", 32),
    Register::new("s26", 32),
    Register::new("s27", 32),
    Register::new("s28", 32),
    Register::new("s29", 32),
    Register::new("s30", 32),
    Register::new("s31", 32),
    Register::new("fpscr", 32),
];

/// Index of S0; FPSCR follows S31.
pub(crate) const FIRST_FLOAT: usize = 23;

/// The registers of a part without a floating-point unit.
pub(crate) const INTEGER_REGISTERS: &[Register] = REGISTERS.split_at(FIRST_FLOAT).0;

/// The registers of an ARMv6-M core, which has neither BASEPRI nor FAULTMASK.
pub(crate) const V6M_REGISTERS: &[Register] = REGISTERS.split_at(FIRST_FLOAT - 2).0;

/// CONTROL.SPSEL: the process stack pointer is in use.
pub(super) const SPSEL: u8 = 2;
