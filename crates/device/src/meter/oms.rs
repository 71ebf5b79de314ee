//! Telegrams of the meter that others read, and its register in EEPROM, by themselves
//! (`device/crypto/oms_telegram.h`, `device/oms/register.h`).

use std::ffi::c_int;

/// Frames at most: `WS_OMS_FRAME_MAX`.
const FRAME_MAX: usize = 60;

/// `ws_oms_reading`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reading {
    /// The message counter.
    pub counter: u32,
    /// The energy in 0.1 Wh, of which 31 bits are sent.
    pub energy: u32,
    /// The power in W.
    pub power: i16,
    /// Hours since the start.
    pub hours: u16,
    /// The status byte.
    pub status: u8,
}

/// The meter of a telegram, and how it seals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealing {
    /// The security profile by its mode: 5, 7 or 10.
    pub profile: u8,
    /// The frame format: 0 is A, 1 is B.
    pub format: u8,
    /// M and A fields.
    pub address: [u8; 8],
    /// The meter's key.
    pub key: [u8; 16],
}

/// `ws_register`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Register {
    /// The number of the newest record, 0 without one.
    pub n: u32,
    /// Its energy.
    pub energy: u32,
    slot: u8,
}

mod c {
    use super::{Reading, Register, c_int};

    unsafe extern "C" {
        pub fn ws_oms_has_profile(profile: u8) -> u8;
        pub fn ws_oms_telegram(
            profile: u8,
            format: u8,
            address: *const u8,
            key: *const u8,
            reading: *const Reading,
            frame: *mut u8,
        ) -> u8;
        pub fn ws_register_start(kept: *mut Register);
        pub fn ws_register_keep(kept: *mut Register, n: u32, energy: u32) -> c_int;
    }
}

/// `ws_oms_has_profile`.
#[must_use]
pub fn has_profile(profile: u8) -> bool {
    // SAFETY: it takes any number.
    unsafe { c::ws_oms_has_profile(profile) != 0 }
}

/// `ws_oms_telegram`.
///
/// # Panics
/// Panics where there is no such profile or format.
#[must_use]
pub fn telegram(sealing: &Sealing, reading: &Reading) -> Vec<u8> {
    let Sealing { profile, format, address, key } = sealing;
    assert!(has_profile(*profile) && *format < 2);
    let mut frame = vec![0xa5; FRAME_MAX];
    // SAFETY: profile and format are in range, and the frame has the bytes.
    let len = unsafe {
        let (address, key) = (address.as_ptr(), key.as_ptr());
        c::ws_oms_telegram(*profile, *format, address, key, reading, frame.as_mut_ptr())
    };
    frame.truncate(usize::from(len));
    frame
}

impl Register {
    /// `ws_register_start`, over the EEPROM of this thread.
    #[must_use]
    pub fn start() -> Register {
        let mut kept = Register { n: 0xa5a5_a5a5, energy: 0xa5a5_a5a5, slot: 0xa5 };
        // SAFETY: the structure is C's, and nothing keeps its address.
        unsafe { c::ws_register_start(&mut kept) };
        kept
    }

    /// `ws_register_keep`; whether it is kept.
    pub fn keep(&mut self, n: u32, energy: u32) -> bool {
        // SAFETY: started.
        unsafe { c::ws_register_keep(self, n, energy) == 0 }
    }
}
