//! HMAC in parts, HMAC-SHA-1, and the key derivation functions.

use std::ffi::c_int;

use super::{Sha1Context, Sha256Context};

/// `ws_hmac_sha256_ctx`.
#[repr(C)]
struct HmacSha256Context {
    hash: Sha256Context,
    outer: [u32; 8],
}

/// `ws_hmac_sha1_ctx`.
#[repr(C)]
struct HmacSha1Context {
    hash: Sha1Context,
    outer: [u32; 5],
}

mod c {
    use super::{HmacSha1Context, HmacSha256Context, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_hmac_sha256_init(ctx: *mut HmacSha256Context, key: *const u8, key_len: usize);
        pub fn ws_hmac_sha256_update(ctx: *mut HmacSha256Context, input: *const u8, len: usize);
        pub fn ws_hmac_sha256_final(ctx: *mut HmacSha256Context, mac: *mut u8);
        pub fn ws_hmac_sha1_init(ctx: *mut HmacSha1Context, key: *const u8, key_len: usize);
        pub fn ws_hmac_sha1_update(ctx: *mut HmacSha1Context, input: *const u8, len: usize);
        pub fn ws_hmac_sha1_final(ctx: *mut HmacSha1Context, mac: *mut u8);
        pub fn ws_hmac_sha1(key: *const u8, key_len: usize, input: *const u8, len: usize, mac: *mut u8);
        pub fn ws_x963_kdf(z: *const u8, z_len: usize, info: *const u8, info_len: usize, more: *const u8,
                           more_len: usize, output: *mut u8, len: usize);
        pub fn ws_single_step_kdf(z: *const u8, z_len: usize, info: *const u8, info_len: usize,
                                  output: *mut u8, len: usize);
        pub fn ws_oms_kdf(key: *const u8, constant: u8, counter: *const u8, meter: *const u8, derived: *mut u8);
        pub fn ws_hkdf_sha256(salt: *const u8, salt_len: usize, ikm: *const u8, ikm_len: usize, info: *const u8,
                              info_len: usize, output: *mut u8, len: usize) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root.

/// `ws_hmac_sha1`.
#[must_use]
pub fn hmac_sha1(key: &[u8], message: &[u8]) -> [u8; 20] {
    let mut mac = [0; 20];
    unsafe {
        c::ws_hmac_sha1(key.as_ptr(), key.len(), message.as_ptr(), message.len(), mac.as_mut_ptr());
    }
    mac
}

/// `ws_hmac_sha1_init`, an update for each part, `ws_hmac_sha1_final`; also whether the context was
/// wiped.
#[must_use]
pub fn hmac_sha1_parts<'a>(key: &[u8], parts: impl IntoIterator<Item = &'a [u8]>) -> ([u8; 20], bool) {
    let hash = Sha1Context { state: [!0; 5], length: [!0; 2], block: [0xa5; 64] };
    let mut context = HmacSha1Context { hash, outer: [!0; 5] };
    let mut mac = [0; 20];
    unsafe {
        c::ws_hmac_sha1_init(&raw mut context, key.as_ptr(), key.len());
        for part in parts {
            c::ws_hmac_sha1_update(&raw mut context, part.as_ptr(), part.len());
        }
        c::ws_hmac_sha1_final(&raw mut context, mac.as_mut_ptr());
    }
    let hash = &context.hash;
    let wiped = hash.state == [0; 5] && hash.length == [0; 2] && hash.block == [0; 64];
    (mac, wiped && context.outer == [0; 5])
}

/// `ws_hmac_sha256_init`, an update for each part, `ws_hmac_sha256_final`; also whether the context
/// was wiped.
#[must_use]
pub fn hmac_sha256_parts<'a>(key: &[u8], parts: impl IntoIterator<Item = &'a [u8]>) -> ([u8; 32], bool) {
    let hash = Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] };
    let mut context = HmacSha256Context { hash, outer: [!0; 8] };
    let mut mac = [0; 32];
    unsafe {
        c::ws_hmac_sha256_init(&raw mut context, key.as_ptr(), key.len());
        for part in parts {
            c::ws_hmac_sha256_update(&raw mut context, part.as_ptr(), part.len());
        }
        c::ws_hmac_sha256_final(&raw mut context, mac.as_mut_ptr());
    }
    let hash = &context.hash;
    let wiped = hash.state == [0; 8] && hash.length == [0; 2] && hash.block == [0; 64];
    (mac, wiped && context.outer == [0; 8])
}

/// `ws_x963_kdf`, SharedInfo in its two parts: `len` bytes.
#[must_use]
pub fn x963_kdf(z: &[u8], [info, more]: [&[u8]; 2], len: usize) -> Vec<u8> {
    let mut output = vec![0xa5; len];
    unsafe {
        c::ws_x963_kdf(
            z.as_ptr(),
            z.len(),
            info.as_ptr(),
            info.len(),
            more.as_ptr(),
            more.len(),
            output.as_mut_ptr(),
            len,
        );
    }
    output
}

/// `ws_single_step_kdf`: `len` bytes.
#[must_use]
pub fn single_step_kdf(z: &[u8], info: &[u8], len: usize) -> Vec<u8> {
    let mut output = vec![0xa5; len];
    unsafe {
        c::ws_single_step_kdf(z.as_ptr(), z.len(), info.as_ptr(), info.len(), output.as_mut_ptr(), len);
    }
    output
}

/// `ws_oms_kdf`.
#[must_use]
pub fn oms_kdf(key: &[u8; 16], constant: u8, counter: [u8; 4], meter: [u8; 4]) -> [u8; 16] {
    let mut derived = [0xa5; 16];
    unsafe {
        c::ws_oms_kdf(key.as_ptr(), constant, counter.as_ptr(), meter.as_ptr(), derived.as_mut_ptr());
    }
    derived
}

/// `ws_hkdf_sha256`: what it returned, and the `len` bytes of output, which were 0xa5 before.
#[must_use]
pub fn hkdf_sha256(salt: &[u8], ikm: &[u8], info: &[u8], len: usize) -> (i32, Vec<u8>) {
    let mut output = vec![0xa5; len];
    let result = unsafe {
        c::ws_hkdf_sha256(
            salt.as_ptr(),
            salt.len(),
            ikm.as_ptr(),
            ikm.len(),
            info.as_ptr(),
            info.len(),
            output.as_mut_ptr(),
            len,
        )
    };
    (result, output)
}
