//! AES-CMAC, CCM, CBC and key wrap: `aes_cmac.h`, `aes_ccm.h`, `aes_cbc.h`, `aes_key_wrap.h`.

use super::{aes_expand, key_words};
use std::ffi::{c_int, c_uint};

#[repr(C)]
struct Cmac {
    round_keys: *const u8,
    rounds: u8,
    used: u8,
    state: [u8; 16],
}

mod c {
    use super::{Cmac, c_int, c_uint};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_aes_cmac_begin(mac: *mut Cmac, round_keys: *const u8, rounds: c_uint);
        pub fn ws_aes_cmac_update(mac: *mut Cmac, input: *const u8, len: usize);
        pub fn ws_aes_cmac_end(mac: *mut Cmac, code: *mut u8);
        pub fn ws_aes_cmac(key: *const u8, key_words: c_uint, input: *const u8, len: usize, code: *mut u8);
        pub fn ws_aes_ccm_seal(key: *const u8, key_words: c_uint, nonce: *const u8, nonce_len: c_uint, aad: *const u8, aad_len: usize,
                               input: *const u8, len: usize, output: *mut u8, tag: *mut u8, tag_len: c_uint) -> c_int;
        pub fn ws_aes_ccm_open(key: *const u8, key_words: c_uint, nonce: *const u8, nonce_len: c_uint, aad: *const u8, aad_len: usize,
                               input: *const u8, len: usize, tag: *const u8, tag_len: c_uint, output: *mut u8) -> c_int;
        pub fn ws_aes_cbc_encrypt(round_keys: *const u8, rounds: c_uint, iv: *mut u8, input: *const u8, output: *mut u8, blocks: usize);
        pub fn ws_aes_cbc_decrypt(round_keys: *const u8, rounds: c_uint, iv: *mut u8, input: *const u8, output: *mut u8, blocks: usize);
        pub fn ws_aes_key_wrap(key: *const u8, key_words: c_uint, input: *const u8, len: usize, output: *mut u8) -> c_int;
        pub fn ws_aes_key_unwrap(key: *const u8, key_words: c_uint, input: *const u8, len: usize, output: *mut u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in lib.rs; buffers are as long as the headers ask for.

/// `ws_aes_cmac`.
#[must_use]
pub fn aes_cmac(key: &[u8], message: &[u8]) -> [u8; 16] {
    let mut code = [0; 16];
    let pointer = code.as_mut_ptr();
    unsafe { c::ws_aes_cmac(key.as_ptr(), key_words(key), message.as_ptr(), message.len(), pointer) };
    code
}

/// The same of a message in pieces.
#[must_use]
pub fn aes_cmac_of_pieces<'a>(key: &[u8], pieces: impl IntoIterator<Item = &'a [u8]>) -> [u8; 16] {
    let round_keys = aes_expand(key);
    let mut mac = Cmac { round_keys: std::ptr::null(), rounds: 0, used: 0xa5, state: [0xa5; 16] };
    let mut code = [0; 16];
    unsafe { c::ws_aes_cmac_begin(&raw mut mac, round_keys.bytes.as_ptr(), round_keys.rounds) };
    for piece in pieces {
        unsafe { c::ws_aes_cmac_update(&raw mut mac, piece.as_ptr(), piece.len()) };
    }
    unsafe { c::ws_aes_cmac_end(&raw mut mac, code.as_mut_ptr()) };
    assert_eq!(mac.state, [0; 16], "nothing stays");
    code
}

/// `ws_aes_ccm_seal` in place, with a tag as long as `tag`; whether the lengths are possible.
pub fn aes_ccm_seal(key: &[u8], nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> bool {
    let (pointer, len) = (data.as_mut_ptr(), data.len());
    let result = unsafe {
        c::ws_aes_ccm_seal(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            nonce.len() as c_uint,
            aad.as_ptr(),
            aad.len(),
            pointer,
            len,
            pointer,
            tag.as_mut_ptr(),
            tag.len() as c_uint,
        )
    };
    result == 0
}

/// `ws_aes_ccm_open` in place; whether it accepted.
pub fn aes_ccm_open(key: &[u8], nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &[u8]) -> bool {
    let (pointer, len) = (data.as_mut_ptr(), data.len());
    let result = unsafe {
        c::ws_aes_ccm_open(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            nonce.len() as c_uint,
            aad.as_ptr(),
            aad.len(),
            pointer,
            len,
            tag.as_ptr(),
            tag.len() as c_uint,
            pointer,
        )
    };
    result == 0
}

/// `ws_aes_cbc_encrypt` in place, of whole blocks; `iv` goes on.
pub fn aes_cbc_encrypt(key: &[u8], iv: &mut [u8; 16], data: &mut [u8]) {
    assert!(data.len().is_multiple_of(16));
    let (round_keys, pointer) = (aes_expand(key), data.as_mut_ptr());
    let (rounds, blocks) = (round_keys.rounds, data.len() / 16);
    unsafe {
        c::ws_aes_cbc_encrypt(round_keys.bytes.as_ptr(), rounds, iv.as_mut_ptr(), pointer, pointer, blocks);
    };
}

/// `ws_aes_cbc_decrypt` in place, of whole blocks; `iv` goes on.
pub fn aes_cbc_decrypt(key: &[u8], iv: &mut [u8; 16], data: &mut [u8]) {
    assert!(data.len().is_multiple_of(16));
    let (round_keys, pointer) = (aes_expand(key), data.as_mut_ptr());
    let (rounds, blocks) = (round_keys.rounds, data.len() / 16);
    unsafe {
        c::ws_aes_cbc_decrypt(round_keys.bytes.as_ptr(), rounds, iv.as_mut_ptr(), pointer, pointer, blocks);
    };
}

/// `ws_aes_key_wrap`; `None` where a length is refused.
#[must_use]
pub fn aes_key_wrap(key: &[u8], wrapped: &[u8]) -> Option<Vec<u8>> {
    let mut output = vec![0xa5; wrapped.len() + 8];
    let (pointer, len) = (output.as_mut_ptr(), wrapped.len());
    let result = unsafe { c::ws_aes_key_wrap(key.as_ptr(), key_words(key), wrapped.as_ptr(), len, pointer) };
    (result == 0).then_some(output)
}

/// `ws_aes_key_unwrap`; `None` where it refuses.
///
/// # Panics
/// If it leaves something other than zeros where the key is another, or writes where a length is
/// refused.
#[must_use]
pub fn aes_key_unwrap(key: &[u8], wrapped: &[u8]) -> Option<Vec<u8>> {
    let len = wrapped.len().checked_sub(8)?;
    let mut output = vec![0xa5; len];
    let pointer = output.as_mut_ptr();
    let result =
        unsafe { c::ws_aes_key_unwrap(key.as_ptr(), key_words(key), wrapped.as_ptr(), len, pointer) };
    if result == 0 {
        return Some(output);
    }
    let left = if len.is_multiple_of(8) && (16..=4096).contains(&len) { 0 } else { 0xa5 };
    assert!(output.iter().all(|byte| *byte == left), "{output:02x?}");
    None
}
