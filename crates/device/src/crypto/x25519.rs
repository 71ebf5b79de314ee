//! X25519, `x25519.h`.

use std::ffi::c_int;

unsafe extern "C" {
    fn ws_x25519(scalar: *const u8, point: *const u8, shared: *mut u8) -> c_int;
    fn ws_x25519_public_key(scalar: *const u8, public_key: *mut u8);
}

// SAFETY, of both calls below: as in lib.rs.

/// `ws_x25519`: what is shared, and whether it accepted.
#[must_use]
pub fn shared(scalar: &[u8; 32], point: &[u8; 32]) -> ([u8; 32], bool) {
    let mut shared = [0xa5; 32];
    let result = unsafe { ws_x25519(scalar.as_ptr(), point.as_ptr(), shared.as_mut_ptr()) };
    (shared, result == 0)
}

/// `ws_x25519_public_key`.
#[must_use]
pub fn public_key(scalar: &[u8; 32]) -> [u8; 32] {
    let mut public_key = [0xa5; 32];
    unsafe { ws_x25519_public_key(scalar.as_ptr(), public_key.as_mut_ptr()) };
    public_key
}
