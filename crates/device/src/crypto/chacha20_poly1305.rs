//! ChaCha20-Poly1305, `chacha20_poly1305.h`.

use std::ffi::c_int;

#[rustfmt::skip]
unsafe extern "C" {
    fn ws_chacha20_poly1305_seal(key: *const u8, nonce: *const u8, aad: *const u8, aad_len: usize,
                                 input: *const u8, len: usize, output: *mut u8, tag: *mut u8) -> c_int;
    fn ws_chacha20_poly1305_open(key: *const u8, nonce: *const u8, aad: *const u8, aad_len: usize,
                                 input: *const u8, len: usize, tag: *const u8, output: *mut u8) -> c_int;
}

// SAFETY, of both calls below: as in lib.rs.

/// `ws_chacha20_poly1305_seal` with in and out the same: the tag.
///
/// # Panics
/// Never: what is in memory is within the limit.
pub fn seal(key: &[u8; 32], nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    let (key, nonce, to, len) = (key.as_ptr(), nonce.as_ptr(), data.as_mut_ptr(), data.len());
    let result = unsafe {
        ws_chacha20_poly1305_seal(key, nonce, aad.as_ptr(), aad.len(), to, len, to, tag.as_mut_ptr())
    };
    assert_eq!(result, 0);
    tag
}

/// `ws_chacha20_poly1305_open` with in and out the same; whether it accepted.
pub fn open(key: &[u8; 32], nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
    let (key, nonce, to, len) = (key.as_ptr(), nonce.as_ptr(), data.as_mut_ptr(), data.len());
    let result =
        unsafe { ws_chacha20_poly1305_open(key, nonce, aad.as_ptr(), aad.len(), to, len, tag.as_ptr(), to) };
    result == 0
}
