//! Ed25519, `ed25519.h`.

use std::ffi::c_int;

/// Words of the comb's four tables: 16 entries of 3 elements each.
const COMB_WORDS: usize = 4 * 16 * 3 * 8;

unsafe extern "C" {
    fn ws_ed25519_keygen(seed: *const u8, public_key: *mut u8);
    fn ws_ed25519_sign(key: *const u8, message: *const u8, len: usize, signature: *mut u8);
    fn ws_ed25519_verify(
        public_key: *const u8,
        message: *const u8,
        len: usize,
        signature: *const u8,
    ) -> c_int;
    static ws_ed25519_comb: [u32; COMB_WORDS];
}

// SAFETY, of all calls below: as in lib.rs.

/// `ws_ed25519_keygen`.
#[must_use]
pub fn public_key(seed: &[u8; 32]) -> [u8; 32] {
    let mut public_key = [0xa5; 32];
    unsafe { ws_ed25519_keygen(seed.as_ptr(), public_key.as_mut_ptr()) };
    public_key
}

/// `ws_ed25519_sign`; the key is the seed and its public key.
#[must_use]
pub fn sign(key: &[u8; 64], message: &[u8]) -> [u8; 64] {
    let mut signature = [0xa5; 64];
    unsafe { ws_ed25519_sign(key.as_ptr(), message.as_ptr(), message.len(), signature.as_mut_ptr()) };
    signature
}

/// `ws_ed25519_verify`: whether it accepted.
///
/// # Panics
///
/// Panics where it returns neither 0 nor -1.
#[must_use]
pub fn verify(public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let result = unsafe {
        ws_ed25519_verify(public_key.as_ptr(), message.as_ptr(), message.len(), signature.as_ptr())
    };
    assert!(result == 0 || result == -1, "returned {result}");
    result == 0
}

/// The comb's table, as words of elements.
#[must_use]
pub fn comb() -> &'static [u32] {
    unsafe { &ws_ed25519_comb }
}
