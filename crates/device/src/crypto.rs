//! The firmware's primitives on the host: safe calls into `device/crypto`, the very C files that
//! run on the microcontrollers in their portable variant. For tests; nothing that guards secrets on
//! the host should use them.

pub mod aes_modes;
pub mod ascon;
pub mod chacha20_poly1305;
mod curves;
mod derivation;
mod drbg;
pub mod ecies;
pub mod ed25519;
pub mod entropy;
pub mod hybrid;
pub mod lms;
pub mod ml_dsa;
pub mod ml_kem;
mod older_curves;
pub mod one_time;
pub mod sha3;
pub mod slh_dsa;
pub mod x25519;

pub use curves::{p256, p384, secp160r1};
pub use derivation::{
    hkdf_sha256, hmac_sha1, hmac_sha1_parts, hmac_sha256_parts, oms_kdf, single_step_kdf, x963_kdf,
};
pub use drbg::{Drbg, HmacDrbgSha1, HmacDrbgSha256};
pub use older_curves::{p192, p224};

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

/// Round keys as `ws_aes_expand` writes them; the longest schedule, aligned as its contract asks.
#[derive(Clone)]
#[repr(C, align(4))]
pub struct RoundKeys {
    bytes: [u8; 240],
    rounds: c_uint,
}

mod c {
    use super::{c_int, c_uint, c_void};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_aes_expand(round_keys: *mut u8, key: *const u8, key_words: c_uint);
        pub fn ws_aes_encrypt(round_keys: *const u8, rounds: c_uint, input: *const u8, output: *mut u8);
        pub fn ws_aes_decrypt(round_keys: *const u8, rounds: c_uint, input: *const u8, output: *mut u8);
        pub static mut ws_aes_block: [u8; 16];
        pub static mut ws_aes_key: [u8; 32];
        pub fn ws_aes128_encrypt_block();
        pub fn ws_aes192_encrypt_block();
        pub fn ws_aes256_encrypt_block();
        pub fn ws_aes_ctr(round_keys: *const u8, rounds: c_uint, counter: *mut u8, input: *const u8, output: *mut u8, len: usize);
        pub fn ws_aes128_ctr(key: *const u8, iv: *const u8, input: *const u8, output: *mut u8, len: usize);
        pub fn ws_aes128_ctr_sliced(key: *const u8, iv: *const u8, input: *const u8, output: *mut u8, len: usize);
        pub fn ws_aes192_ctr(key: *const u8, iv: *const u8, input: *const u8, output: *mut u8, len: usize);
        pub fn ws_aes256_ctr(key: *const u8, iv: *const u8, input: *const u8, output: *mut u8, len: usize);
        pub fn ws_aes_gcm_seal(key: *const u8, key_words: c_uint, nonce: *const u8, aad: *const u8, aad_len: usize,
                               input: *const u8, len: usize, output: *mut u8, tag: *mut u8) -> c_int;
        pub fn ws_aes_gcm_open(key: *const u8, key_words: c_uint, nonce: *const u8, aad: *const u8, aad_len: usize,
                               input: *const u8, len: usize, tag: *const u8, output: *mut u8) -> c_int;
        pub fn ws_sha1(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_sha256_init(ctx: *mut super::Sha256Context);
        pub fn ws_sha256_update(ctx: *mut super::Sha256Context, input: *const u8, len: usize);
        pub fn ws_sha256_final(ctx: *mut super::Sha256Context, digest: *mut u8);
        pub fn ws_sha1_init(ctx: *mut super::Sha1Context);
        pub fn ws_sha1_update(ctx: *mut super::Sha1Context, input: *const u8, len: usize);
        pub fn ws_sha1_final(ctx: *mut super::Sha1Context, digest: *mut u8);
        pub fn ws_sha256(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_sha512_init(ctx: *mut super::Sha512Context);
        pub fn ws_sha512_update(ctx: *mut super::Sha512Context, input: *const u8, len: usize);
        pub fn ws_sha512_final(ctx: *mut super::Sha512Context, digest: *mut u8);
        pub fn ws_sha384(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_sha512(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_hmac_sha256(key: *const u8, key_len: usize, input: *const u8, len: usize, mac: *mut u8);
        pub fn ws_wipe(p: *mut c_void, n: usize);
        pub fn ws_equal(a: *const c_void, b: *const c_void, n: usize) -> c_int;
    }
}

/// A `ws_sha*_ctx`, by the number of its state's words of 32 bits, and the bytes of its blocks.
#[derive(Clone)]
#[repr(C)]
struct HashContext<const STATE: usize, const BLOCK: usize> {
    state: [u32; STATE],
    length: [u32; 2],
    block: [u8; BLOCK],
}

type Sha1Context = HashContext<5, 64>;
type Sha256Context = HashContext<8, 64>;
/// Its eight words have 64 bits.
type Sha512Context = HashContext<16, 128>;

/// 4, 6 or 8 for an AES key.
fn key_words(key: &[u8]) -> c_uint {
    match key.len() {
        16 => 4,
        24 => 6,
        32 => 8,
        other => panic!("an AES key of {other} bytes"),
    }
}

// SAFETY, of all calls below: pointers and lengths are those of one slice or array each, of at
// least the size that the contract in the header names; distinct arguments are distinct Rust
// objects, so they do not overlap; where a contract allows in and out to be the same, both are
// derived from the one mutable borrow.

/// `ws_aes_expand`; the key has 16, 24 or 32 bytes.
#[must_use]
pub fn aes_expand(key: &[u8]) -> RoundKeys {
    let words = key_words(key);
    let mut round_keys = RoundKeys { bytes: [0; 240], rounds: words + 6 };
    unsafe { c::ws_aes_expand(round_keys.bytes.as_mut_ptr(), key.as_ptr(), words) };
    round_keys
}

impl RoundKeys {
    /// The schedule: 176, 208 or 240 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..16 * (self.rounds as usize + 1)]
    }
}

/// `ws_aes_encrypt` with separate buffers.
#[must_use]
pub fn aes_encrypt(round_keys: &RoundKeys, input: &[u8; 16]) -> [u8; 16] {
    let mut output = [0; 16];
    unsafe {
        c::ws_aes_encrypt(round_keys.bytes.as_ptr(), round_keys.rounds, input.as_ptr(), output.as_mut_ptr());
    }
    output
}

/// `ws_aes128_encrypt_block` and its like, which make the round keys on the way.
#[must_use]
pub fn aes_encrypt_keyed(key: &[u8], input: &[u8; 16]) -> [u8; 16] {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let function = match key_words(key) {
        4 => c::ws_aes128_encrypt_block,
        6 => c::ws_aes192_encrypt_block,
        _ => c::ws_aes256_encrypt_block,
    };
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: nobody else touches the two variables while the guard lives, and a key has at most 32
    // bytes.
    unsafe {
        (&raw mut c::ws_aes_block).write(*input);
        (&raw mut c::ws_aes_key).cast::<u8>().copy_from_nonoverlapping(key.as_ptr(), key.len());
        function();
        (&raw const c::ws_aes_block).read()
    }
}

/// `ws_aes_encrypt` with in and out the same.
pub fn aes_encrypt_in_place(round_keys: &RoundKeys, block: &mut [u8; 16]) {
    let block = block.as_mut_ptr();
    unsafe { c::ws_aes_encrypt(round_keys.bytes.as_ptr(), round_keys.rounds, block, block) }
}

/// `ws_aes_decrypt` with separate buffers.
#[must_use]
pub fn aes_decrypt(round_keys: &RoundKeys, input: &[u8; 16]) -> [u8; 16] {
    let mut output = [0; 16];
    unsafe {
        c::ws_aes_decrypt(round_keys.bytes.as_ptr(), round_keys.rounds, input.as_ptr(), output.as_mut_ptr());
    }
    output
}

/// `ws_aes_decrypt` with in and out the same.
pub fn aes_decrypt_in_place(round_keys: &RoundKeys, block: &mut [u8; 16]) {
    let block = block.as_mut_ptr();
    unsafe { c::ws_aes_decrypt(round_keys.bytes.as_ptr(), round_keys.rounds, block, block) }
}

/// `ws_aes_ctr` with in and out the same.
pub fn aes_ctr_in_place(round_keys: &RoundKeys, counter: &mut [u8; 16], data: &mut [u8]) {
    let pointer = data.as_mut_ptr();
    unsafe {
        c::ws_aes_ctr(
            round_keys.bytes.as_ptr(),
            round_keys.rounds,
            counter.as_mut_ptr(),
            pointer,
            pointer,
            data.len(),
        );
    }
}

/// `ws_aes128_ctr`, `ws_aes192_ctr` or `ws_aes256_ctr`, by the length of the key.
#[must_use]
pub fn aes_ctr(key: &[u8], iv: &[u8; 16], input: &[u8]) -> Vec<u8> {
    let function = match key_words(key) {
        4 => c::ws_aes128_ctr,
        6 => c::ws_aes192_ctr,
        _ => c::ws_aes256_ctr,
    };
    let mut output = vec![0; input.len()];
    unsafe { function(key.as_ptr(), iv.as_ptr(), input.as_ptr(), output.as_mut_ptr(), input.len()) };
    output
}

/// `ws_aes128_ctr_sliced`.
#[must_use]
pub fn aes128_ctr_sliced(key: &[u8; 16], iv: &[u8; 16], input: &[u8]) -> Vec<u8> {
    let mut output = vec![0; input.len()];
    let to = output.as_mut_ptr();
    unsafe { c::ws_aes128_ctr_sliced(key.as_ptr(), iv.as_ptr(), input.as_ptr(), to, input.len()) };
    output
}

/// `ws_aes_gcm_seal` with separate buffers: ciphertext and tag.
///
/// # Panics
/// When the key has a length of no AES key.
#[must_use]
pub fn aes_gcm_seal(key: &[u8], nonce: &[u8; 12], aad: &[u8], input: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut output = vec![0; input.len()];
    let mut tag = [0; 16];
    let result = unsafe {
        c::ws_aes_gcm_seal(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            input.as_ptr(),
            input.len(),
            output.as_mut_ptr(),
            tag.as_mut_ptr(),
        )
    };
    assert_eq!(result, 0, "lengths that fit in memory are within the limits");
    (output, tag)
}

/// `ws_aes_gcm_seal` with in and out the same.
pub fn aes_gcm_seal_in_place(key: &[u8], nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    let pointer = data.as_mut_ptr();
    let result = unsafe {
        c::ws_aes_gcm_seal(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            pointer,
            data.len(),
            pointer,
            tag.as_mut_ptr(),
        )
    };
    assert_eq!(result, 0, "lengths that fit in memory are within the limits");
    tag
}

/// `ws_aes_gcm_seal` with a claim about the number of key words, which the function must refuse
/// unless it is 4, 6 or 8. Returns what it returned, and the 16 bytes of output and of tag, which
/// were 0xa5 before.
#[must_use]
pub fn aes_gcm_seal_with_key_words(key: &[u8; 32], words: u32) -> (i32, [u8; 16], [u8; 16]) {
    assert!(words <= 8, "the function may read 4 times as many bytes");
    let mut output = [0xa5; 16];
    let mut tag = [0xa5; 16];
    let result = unsafe {
        c::ws_aes_gcm_seal(
            key.as_ptr(),
            words,
            [0; 12].as_ptr(),
            std::ptr::null(),
            0,
            [0; 16].as_ptr(),
            16,
            output.as_mut_ptr(),
            tag.as_mut_ptr(),
        )
    };
    (result, output, tag)
}

/// `ws_aes_gcm_open` into a buffer as long as the input; whether it accepted.
#[must_use]
pub fn aes_gcm_open(
    key: &[u8],
    nonce: &[u8; 12],
    aad: &[u8],
    input: &[u8],
    tag: &[u8; 16],
    output: &mut [u8],
) -> bool {
    assert_eq!(input.len(), output.len());
    let result = unsafe {
        c::ws_aes_gcm_open(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            input.as_ptr(),
            input.len(),
            tag.as_ptr(),
            output.as_mut_ptr(),
        )
    };
    result == 0
}

/// `ws_aes_gcm_open` with in and out the same; whether it accepted.
#[must_use]
pub fn aes_gcm_open_in_place(
    key: &[u8],
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut [u8],
    tag: &[u8; 16],
) -> bool {
    let pointer = data.as_mut_ptr();
    let result = unsafe {
        c::ws_aes_gcm_open(
            key.as_ptr(),
            key_words(key),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            pointer,
            data.len(),
            tag.as_ptr(),
            pointer,
        )
    };
    result == 0
}

/// `ws_sha1`.
#[must_use]
pub fn sha1(message: &[u8]) -> [u8; 20] {
    let mut digest = [0; 20];
    unsafe { c::ws_sha1(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// `ws_sha256`.
#[must_use]
pub fn sha256(message: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    unsafe { c::ws_sha256(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// `ws_sha512`.
#[must_use]
pub fn sha512(message: &[u8]) -> [u8; 64] {
    let mut digest = [0; 64];
    unsafe { c::ws_sha512(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// `ws_sha384`.
#[must_use]
pub fn sha384(message: &[u8]) -> [u8; 48] {
    let mut digest = [0; 48];
    unsafe { c::ws_sha384(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// A hash by its three functions, an update for each part; also whether the context was wiped.
fn hash_of_parts<'a, const STATE: usize, const BLOCK: usize, const DIGEST: usize>(
    init: unsafe extern "C" fn(*mut HashContext<STATE, BLOCK>),
    update: unsafe extern "C" fn(*mut HashContext<STATE, BLOCK>, *const u8, usize),
    finish: unsafe extern "C" fn(*mut HashContext<STATE, BLOCK>, *mut u8),
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> ([u8; DIGEST], bool) {
    let mut context = HashContext { state: [!0; STATE], length: [!0; 2], block: [0xa5; BLOCK] };
    let mut digest = [0; DIGEST];
    unsafe {
        init(&raw mut context);
        for part in parts {
            update(&raw mut context, part.as_ptr(), part.len());
        }
        finish(&raw mut context, digest.as_mut_ptr());
    }
    let HashContext { state, length, block } = context;
    (digest, state == [0; STATE] && length == [0; 2] && block == [0; BLOCK])
}

/// `ws_sha1_init`, an update for each part, `ws_sha1_final`; also whether the context was wiped.
#[must_use]
pub fn sha1_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> ([u8; 20], bool) {
    hash_of_parts(c::ws_sha1_init, c::ws_sha1_update, c::ws_sha1_final, parts)
}

/// `ws_sha256_init`, an update for each part, `ws_sha256_final`; also whether the context was
/// wiped.
#[must_use]
pub fn sha256_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> ([u8; 32], bool) {
    hash_of_parts(c::ws_sha256_init, c::ws_sha256_update, c::ws_sha256_final, parts)
}

/// `ws_sha512_init`, an update for each part, `ws_sha512_final`; also whether the context was
/// wiped.
#[must_use]
pub fn sha512_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> ([u8; 64], bool) {
    hash_of_parts(c::ws_sha512_init, c::ws_sha512_update, c::ws_sha512_final, parts)
}

/// `ws_hmac_sha256`.
#[must_use]
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = [0; 32];
    unsafe {
        c::ws_hmac_sha256(key.as_ptr(), key.len(), message.as_ptr(), message.len(), mac.as_mut_ptr());
    }
    mac
}

/// `ws_wipe`.
pub fn wipe(bytes: &mut [u8]) {
    unsafe { c::ws_wipe(bytes.as_mut_ptr().cast(), bytes.len()) }
}

/// `ws_equal` on two slices of one length: what it returned.
///
/// # Panics
/// When the lengths differ.
#[must_use]
pub fn equal(a: &[u8], b: &[u8]) -> i32 {
    assert_eq!(a.len(), b.len());
    unsafe { c::ws_equal(a.as_ptr().cast(), b.as_ptr().cast(), a.len()) }
}
