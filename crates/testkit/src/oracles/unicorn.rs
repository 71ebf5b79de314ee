//! Unicorn, QEMU's translators for ARM and RISC-V as a library (Debian: libunicorn-dev 2.0.1): one
//! instruction at a time, without cycles.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::NonNull;

// unicorn/unicorn.h, unicorn/arm.h and unicorn/riscv.h of 2.0.1.
const UC_ARCH_ARM: c_int = 1;
const UC_MODE_THUMB: c_int = 1 << 4;
const UC_MODE_MCLASS: c_int = 1 << 5;
const UC_ARCH_RISCV: c_int = 8;
const UC_MODE_RISCV32: c_int = 1 << 2;
/// UC_CTL_WRITE(UC_CTL_CPU_MODEL, 1).
const SET_CPU_MODEL: c_int = 0x4400_0007;
/// UC_CTL_WRITE(UC_CTL_TB_REMOVE_CACHE, 2).
const REMOVE_CACHE: c_int = 0x4800_0009;
const UC_PROT_ALL: u32 = 7;
const UC_ARM_REG_APSR_NZCV: c_int = 2;
const UC_ARM_REG_FPEXC: c_int = 4;
const UC_ARM_REG_FPSCR: c_int = 6;
const UC_ARM_REG_LR: c_int = 10;
const UC_ARM_REG_PC: c_int = 11;
const UC_ARM_REG_SP: c_int = 12;
const UC_ARM_REG_R0: c_int = 66;
const UC_ARM_REG_S0: c_int = 79;
const UC_ARM_REG_C1_C0_2: c_int = 111;
const UC_ARM_REG_XPSR: c_int = 120;
const UC_RISCV_REG_X0: c_int = 1;
const UC_RISCV_REG_PC: c_int = 190;

unsafe extern "C" {
    fn uc_open(arch: c_int, mode: c_int, engine: *mut *mut c_void) -> c_int;
    fn uc_close(engine: *mut c_void) -> c_int;
    fn uc_ctl(engine: *mut c_void, control: c_int, ...) -> c_int;
    fn uc_mem_map(engine: *mut c_void, address: u64, size: usize, permissions: u32) -> c_int;
    fn uc_mem_read(engine: *mut c_void, address: u64, bytes: *mut c_void, size: usize) -> c_int;
    fn uc_mem_write(engine: *mut c_void, address: u64, bytes: *const c_void, size: usize) -> c_int;
    fn uc_reg_read(engine: *mut c_void, register: c_int, value: *mut c_void) -> c_int;
    fn uc_reg_write(engine: *mut c_void, register: c_int, value: *const c_void) -> c_int;
    fn uc_emu_start(engine: *mut c_void, begin: u64, until: u64, timeout: u64, count: usize) -> c_int;
}

/// A core of Unicorn's, by its number in `unicorn/arm.h` or `unicorn/riscv.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// ARMv6-M.
    CortexM0 = 7,
    /// ARMv7-M.
    CortexM3 = 8,
    /// ARMv7E-M.
    CortexM4 = 9,
    /// ARMv8-A in Thumb state, the only one with all of FPv5 in double precision: the library's
    /// Cortex-M7 has none.
    ArmV8 = 33,
    /// RV32 with all that is in it.
    RiscV32 = 0,
}

/// A `uc_err` other than UC_ERR_OK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub i32);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unicorn error {}", self.0)
    }
}

impl std::error::Error for Error {}

fn check(code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error(code)) }
}

/// One emulated core with its memory.
pub struct Unicorn {
    engine: NonNull<c_void>,
    model: Model,
}

impl Unicorn {
    /// A core, of ARM's in Thumb state, with no memory.
    ///
    /// # Errors
    /// The library's error.
    pub fn new(model: Model) -> Result<Unicorn, Error> {
        let (architecture, mode) = match model {
            Model::RiscV32 => (UC_ARCH_RISCV, UC_MODE_RISCV32),
            Model::ArmV8 => (UC_ARCH_ARM, UC_MODE_THUMB),
            _ => (UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS),
        };
        let mut engine = std::ptr::null_mut();
        // SAFETY: `engine` is where the library puts the handle.
        check(unsafe { uc_open(architecture, mode, &mut engine) })?;
        let mut unicorn = Unicorn { engine: NonNull::new(engine).ok_or(Error(-1))?, model };
        // SAFETY: the handle is open; this control takes one int.
        check(unsafe { uc_ctl(engine, SET_CPU_MODEL, model as c_int) })?;
        if model == Model::ArmV8 {
            // Access to CP10 and CP11, and FPEXC.EN.
            unicorn.set_numbered(UC_ARM_REG_C1_C0_2, 0xf0_0000)?;
            unicorn.set_numbered(UC_ARM_REG_FPEXC, 1 << 30)?;
        }
        Ok(unicorn)
    }

    /// Memory that can be read, written and executed; both numbers are multiples of 4096.
    ///
    /// # Errors
    /// The library's error.
    pub fn map(&mut self, address: u32, size: u32) -> Result<(), Error> {
        // SAFETY: the handle is open.
        check(unsafe { uc_mem_map(self.engine.as_ptr(), u64::from(address), size as usize, UC_PROT_ALL) })
    }

    /// Reads memory.
    ///
    /// # Errors
    /// The library's error.
    pub fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the handle is open, and the buffer is as long as said.
        check(unsafe {
            uc_mem_read(self.engine.as_ptr(), u64::from(address), bytes.as_mut_ptr().cast(), bytes.len())
        })
    }

    /// Writes memory; what was translated from it before is forgotten.
    ///
    /// # Errors
    /// The library's error.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Error> {
        let (start, end) = (u64::from(address), u64::from(address) + bytes.len() as u64);
        // SAFETY: the handle is open; this control takes two 64-bit addresses.
        check(unsafe { uc_ctl(self.engine.as_ptr(), REMOVE_CACHE, start, end) })?;
        // SAFETY: the handle is open, and the buffer is as long as said.
        check(unsafe {
            uc_mem_write(self.engine.as_ptr(), u64::from(address), bytes.as_ptr().cast(), bytes.len())
        })
    }

    fn number(&self, register: usize) -> c_int {
        match register {
            32 if self.model == Model::RiscV32 => UC_RISCV_REG_PC,
            _ if self.model == Model::RiscV32 => UC_RISCV_REG_X0 + register as c_int,
            13 => UC_ARM_REG_SP,
            14 => UC_ARM_REG_LR,
            15 => UC_ARM_REG_PC,
            16 if self.model == Model::ArmV8 => UC_ARM_REG_APSR_NZCV,
            16 => UC_ARM_REG_XPSR,
            17..=48 => UC_ARM_REG_S0 + (register as c_int - 17),
            49 => UC_ARM_REG_FPSCR,
            _ => UC_ARM_REG_R0 + register as c_int,
        }
    }

    /// r0 to r15, xPSR as number 16, s0 to s31 from 17 on, FPSCR as number 49; of RISC-V x0 to x31,
    /// and the program counter as number 32.
    ///
    /// # Errors
    /// The library's error.
    pub fn register(&mut self, register: usize) -> Result<u32, Error> {
        let mut value = 0u64;
        // SAFETY: the handle is open; the library writes at most eight bytes.
        check(unsafe { uc_reg_read(self.engine.as_ptr(), self.number(register), (&raw mut value).cast()) })?;
        Ok(value as u32)
    }

    /// Sets what [`Unicorn::register`] reads.
    ///
    /// # Errors
    /// The library's error.
    pub fn set_register(&mut self, register: usize, value: u32) -> Result<(), Error> {
        self.set_numbered(self.number(register), value)
    }

    fn set_numbered(&mut self, number: c_int, value: u32) -> Result<(), Error> {
        let value = u64::from(value);
        // SAFETY: the handle is open; the library reads at most eight bytes.
        check(unsafe { uc_reg_write(self.engine.as_ptr(), number, (&raw const value).cast()) })
    }

    /// Executes `count` instructions from `pc` on.
    ///
    /// # Errors
    /// The library's error: a fault of the program among others.
    pub fn step(&mut self, pc: u32, count: usize) -> Result<(), Error> {
        let begin = if self.model == Model::RiscV32 { pc } else { pc | 1 };
        // SAFETY: the handle is open; no callbacks are installed.
        check(unsafe { uc_emu_start(self.engine.as_ptr(), u64::from(begin), 0xffff_fff0, 0, count) })
    }
}

impl Drop for Unicorn {
    fn drop(&mut self) {
        // SAFETY: the handle is open and nobody uses it afterwards.
        unsafe { uc_close(self.engine.as_ptr()) };
    }
}
