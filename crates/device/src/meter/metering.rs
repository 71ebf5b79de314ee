//! Energy, power and RMS values from samples (`device/meter/metering.h`), by themselves.

use std::ffi::c_int;

/// `ws_metering_sums`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Sums {
    offset: [u32; 2],
    window: [u32; 4],
    p: [u32; 2],
    mean: [u32; 2],
    last_i: i16,
    windows: u16,
    samples: u8,
}

/// `ws_metering`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct State {
    unit: u32,
    weight: [i16; 2],
    p: [u32; 2],
    windows: u16,
    rest: i32,
    net: i32,
    net_rest: i32,
    since: u32,
}

mod c {
    use super::{State, Sums, c_int};

    unsafe extern "C" {
        pub fn ws_metering_begin(sums: *mut Sums);
        pub fn ws_metering_add_windows(sums: *mut Sums, windows: u16, p0: i32, p1: i32, uu: u32, ii: u32);
        pub fn ws_metering_add(sums: *mut Sums, voltage: u16, current: u16);
        pub fn ws_metering_calibrate(metering: *mut State, micro_u: u32, micro_i: u32, phase: i16) -> c_int;
        pub fn ws_metering_take(metering: *mut State, sums: *const Sums, energy: *mut u32);
        pub fn ws_metering_power(metering: *mut State) -> i16;
        pub fn ws_metering_voltage(sums: *const Sums, micro_u: u32) -> u16;
        pub fn ws_metering_current(sums: *const Sums, micro_i: u32) -> u16;
    }
}

impl Sums {
    /// Begun.
    pub(crate) fn new() -> Sums {
        let mut sums = Sums::default();
        // SAFETY: the structure is C's.
        unsafe { c::ws_metering_begin(&mut sums) };
        sums
    }

    /// Whole windows: `power` is the sum over all of them in 4 steps^2, `squares` of voltage and
    /// current over one in 1/16 steps^2.
    pub(crate) fn add_windows(&mut self, windows: u16, power: i32, squares: [u32; 2]) {
        // SAFETY: the structure is C's.
        unsafe { c::ws_metering_add_windows(self, windows, power, power, squares[0], squares[1]) }
    }
}

/// Work of the interrupt and the loop, in one.
#[derive(Clone, Debug)]
pub struct Metering {
    sums: Sums,
    state: State,
    micro: [u32; 2],
    /// The energy taken in, in 0.1 Wh, around at 2^32.
    pub energy: u32,
}

// SAFETY, of all calls below: the structures are C's, and live in self.
impl Metering {
    /// With a calibration: microvolts and microamperes a step, phase in 1/256 of a sampling
    /// interval. `None` where there is no such calibration.
    #[must_use]
    pub fn calibrated(micro_u: u32, micro_i: u32, phase: i16) -> Option<Metering> {
        let mut metering =
            Metering { sums: Sums::new(), state: State::default(), micro: [micro_u, micro_i], energy: 0 };
        let result = unsafe { c::ws_metering_calibrate(&mut metering.state, micro_u, micro_i, phase) };
        (result == 0).then_some(metering)
    }

    /// A pair of samples, 0 to 1023.
    pub fn add(&mut self, voltage: u16, current: u16) {
        unsafe { c::ws_metering_add(&mut self.sums, voltage, current) }
    }

    /// `ws_metering_take`.
    pub fn take(&mut self) {
        unsafe { c::ws_metering_take(&mut self.state, &self.sums, &mut self.energy) }
    }

    /// Mean power in W since the last call.
    pub fn power_w(&mut self) -> i16 {
        unsafe { c::ws_metering_power(&mut self.state) }
    }

    /// Voltage RMS in 0.1 V.
    #[must_use]
    pub fn voltage(&self) -> u16 {
        unsafe { c::ws_metering_voltage(&self.sums, self.micro[0]) }
    }

    /// Current RMS in 0.01 A.
    #[must_use]
    pub fn current(&self) -> u16 {
        unsafe { c::ws_metering_current(&self.sums, self.micro[1]) }
    }
}
