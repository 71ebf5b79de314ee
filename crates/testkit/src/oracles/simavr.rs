//! simavr (Debian: libsimavr-dev), an AVR simulator.

use std::ffi::{CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn ws_simavr_new(name: *const c_char, frequency: u32) -> *mut c_void;
    fn ws_simavr_delete(avr: *mut c_void);
    fn ws_simavr_flash(avr: *mut c_void) -> *mut u8;
    fn ws_simavr_flash_size(avr: *const c_void) -> u32;
    fn ws_simavr_data(avr: *mut c_void) -> *mut u8;
    fn ws_simavr_data_size(avr: *const c_void) -> u32;
    fn ws_simavr_cycles(avr: *const c_void) -> u64;
    fn ws_simavr_pc(avr: *const c_void) -> u32;
    fn ws_simavr_set_pc(avr: *mut c_void, pc: u32);
    fn ws_simavr_sreg(avr: *const c_void) -> u8;
    fn ws_simavr_set_sreg(avr: *mut c_void, value: u8);
    fn ws_simavr_step(avr: *mut c_void) -> c_int;
    fn ws_simavr_run_to(avr: *mut c_void, cycle: u64) -> c_int;
    fn ws_simavr_set_supply(avr: *mut c_void, millivolts: u32);
    fn ws_simavr_set_analog(avr: *mut c_void, channel: c_int, millivolts: u32);
    fn ws_simavr_set_pin(avr: *mut c_void, port: c_char, bit: c_int, level: c_int);
    fn ws_simavr_loop_spi(avr: *mut c_void);
    fn ws_simavr_is_alive(state: c_int) -> c_int;
}

/// Data-space addresses of the stack pointer.
const SPL: usize = 0x5D;
const SPH: usize = 0x5E;

/// One simulated AVR.
pub struct Simavr {
    /// Valid from `ws_simavr_new` to `ws_simavr_delete`, and used by no one else.
    avr: *mut c_void,
}

impl Simavr {
    /// An AVR by simavr's name for it (`atmega328p`, `atmega128`), reset, its flash erased. `None`
    /// where simavr knows no such part.
    #[must_use]
    pub fn new(name: &str, frequency_hz: u32) -> Option<Simavr> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name is a C string that the call does not keep beyond its own copy of the
        // part's table.
        let avr = unsafe { ws_simavr_new(name.as_ptr(), frequency_hz) };
        (!avr.is_null()).then_some(Simavr { avr })
    }

    /// The flash, byte by byte.
    pub fn flash(&mut self) -> &mut [u8] {
        // SAFETY: simavr allocates flash_size bytes of flash for the life of the part.
        unsafe {
            std::slice::from_raw_parts_mut(ws_simavr_flash(self.avr), ws_simavr_flash_size(self.avr) as usize)
        }
    }

    /// The data space: registers, I/O registers as simavr stores them, RAM.
    pub fn data(&mut self) -> &mut [u8] {
        // SAFETY: simavr allocates ramend + 1 bytes of data space for the life of the part.
        unsafe {
            std::slice::from_raw_parts_mut(ws_simavr_data(self.avr), ws_simavr_data_size(self.avr) as usize)
        }
    }

    /// Cycles since it was made.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_cycles(self.avr) }
    }

    /// Byte address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_pc(self.avr) }
    }

    /// Moves execution to a byte address.
    pub fn set_pc(&mut self, pc: u32) {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_set_pc(self.avr, pc) }
    }

    /// The status register.
    #[must_use]
    pub fn sreg(&self) -> u8 {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_sreg(self.avr) }
    }

    /// Sets the status register.
    pub fn set_sreg(&mut self, value: u8) {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_set_sreg(self.avr, value) }
    }

    /// The stack pointer.
    pub fn sp(&mut self) -> u16 {
        let data = self.data();
        u16::from_le_bytes([data[SPL], data[SPH]])
    }

    /// Sets the stack pointer.
    pub fn set_sp(&mut self, value: u16) {
        let [low, high] = value.to_le_bytes();
        let data = self.data();
        data[SPL] = low;
        data[SPH] = high;
    }

    /// Sets the supply and both references of the converter.
    pub fn set_supply(&mut self, millivolts: u32) {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_set_supply(self.avr, millivolts) }
    }

    /// Sets the voltage at input 0 to 7 of the converter.
    pub fn set_analog(&mut self, channel: u8, millivolts: u32) {
        assert!(channel < 8);
        // SAFETY: see `avr`; simavr's converter has a line for each of its eight inputs.
        unsafe { ws_simavr_set_analog(self.avr, channel.into(), millivolts) }
    }

    /// Drives bit `bit` of port `port` (`'B'`) from outside.
    ///
    /// # Panics
    /// The part has no such port.
    pub fn set_pin(&mut self, port: char, bit: u8, level: bool) {
        assert!(matches!(port, 'B'..='D') && bit < 8);
        // SAFETY: see `avr`; every part here has these ports, with a line for each bit.
        unsafe { ws_simavr_set_pin(self.avr, port as c_char, bit.into(), level.into()) }
    }

    /// Joins the serial interface's output with its input: a byte that it sends is the one that it
    /// receives.
    pub fn loop_spi(&mut self) {
        // SAFETY: see `avr`; every part here has a serial interface 0.
        unsafe { ws_simavr_loop_spi(self.avr) }
    }

    /// One instruction, and the entry into an interrupt where one is due. False once the simulator
    /// has stopped.
    pub fn step(&mut self) -> bool {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_is_alive(ws_simavr_step(self.avr)) != 0 }
    }

    /// Runs to the first boundary that simavr offers at or past `cycle`. False once it has stopped.
    pub fn run_to(&mut self, cycle: u64) -> bool {
        // SAFETY: see `avr`.
        unsafe { ws_simavr_is_alive(ws_simavr_run_to(self.avr, cycle)) != 0 }
    }
}

impl Drop for Simavr {
    fn drop(&mut self) {
        // SAFETY: see `avr`; nothing uses it afterwards.
        unsafe { ws_simavr_delete(self.avr) }
    }
}
