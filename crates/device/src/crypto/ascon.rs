//! Ascon, `ascon_aead128.h` and `ascon_hash.h`.

use std::ffi::c_int;

mod c {
    use super::{Context, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_ascon_aead128_seal(key: *const u8, nonce: *const u8, aad: *const u8, aad_len: usize,
                                     input: *const u8, len: usize, output: *mut u8, tag: *mut u8);
        pub fn ws_ascon_aead128_open(key: *const u8, nonce: *const u8, aad: *const u8, aad_len: usize,
                                     input: *const u8, len: usize, tag: *const u8, output: *mut u8) -> c_int;
        pub fn ws_ascon_hash256_init(ctx: *mut Context);
        pub fn ws_ascon_xof128_init(ctx: *mut Context);
        pub fn ws_ascon_cxof128_init(ctx: *mut Context, label: *const u8, len: usize) -> c_int;
        pub fn ws_ascon_absorb(ctx: *mut Context, input: *const u8, len: usize);
        pub fn ws_ascon_squeeze(ctx: *mut Context, output: *mut u8, len: usize);
        pub fn ws_ascon_hash256(input: *const u8, len: usize, digest: *mut u8);
    }
}

/// `ws_ascon_ctx`.
#[derive(Clone)]
#[repr(C)]
struct Context {
    state: [u32; 10],
    used: u8,
    squeezing: u8,
}

// SAFETY, of all calls below: as in lib.rs.

/// `ws_ascon_aead128_seal` with in and out the same: the tag.
pub fn seal_in_place(key: &[u8; 16], nonce: &[u8; 16], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    let (to, len) = (data.as_mut_ptr(), data.len());
    unsafe {
        c::ws_ascon_aead128_seal(
            key.as_ptr(),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            to,
            len,
            to,
            tag.as_mut_ptr(),
        );
    }
    tag
}

/// `ws_ascon_aead128_seal` with separate buffers: ciphertext and tag.
#[must_use]
pub fn seal(key: &[u8; 16], nonce: &[u8; 16], aad: &[u8], input: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut output = vec![0; input.len()];
    let mut tag = [0; 16];
    unsafe {
        c::ws_ascon_aead128_seal(
            key.as_ptr(),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            input.as_ptr(),
            input.len(),
            output.as_mut_ptr(),
            tag.as_mut_ptr(),
        );
    }
    (output, tag)
}

/// `ws_ascon_aead128_open` with in and out the same; whether it accepted.
pub fn open_in_place(key: &[u8; 16], nonce: &[u8; 16], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
    let (to, len) = (data.as_mut_ptr(), data.len());
    let result = unsafe {
        c::ws_ascon_aead128_open(
            key.as_ptr(),
            nonce.as_ptr(),
            aad.as_ptr(),
            aad.len(),
            to,
            len,
            tag.as_ptr(),
            to,
        )
    };
    result == 0
}

/// `ws_ascon_aead128_open` into a buffer as long as the input; whether it accepted.
#[must_use]
pub fn open(
    key: &[u8; 16],
    nonce: &[u8; 16],
    aad: &[u8],
    input: &[u8],
    tag: &[u8; 16],
    output: &mut [u8],
) -> bool {
    assert_eq!(input.len(), output.len());
    let result = unsafe {
        c::ws_ascon_aead128_open(
            key.as_ptr(),
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

/// `ws_ascon_hash256`.
#[must_use]
pub fn hash256(message: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    unsafe { c::ws_ascon_hash256(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// Function of `ascon_hash.h`.
#[derive(Clone, Copy, Debug)]
pub enum Function<'a> {
    /// Ascon-Hash256.
    Hash256,
    /// Ascon-XOF128.
    Xof128,
    /// Ascon-CXOF128, with its customization string.
    Cxof128(&'a [u8]),
}

/// `ws_ascon_absorb` for each part and `ws_ascon_squeeze` for as many bytes as each of `lengths`;
/// `None` where the customization string is refused.
#[must_use]
pub fn parts<'a>(
    function: Function,
    parts: impl IntoIterator<Item = &'a [u8]>,
    lengths: &[usize],
) -> Option<Vec<u8>> {
    let mut context = Context { state: [!0; 10], used: !0, squeezing: !0 };
    let mut output = vec![0; lengths.iter().sum()];
    let mut from = 0;
    unsafe {
        match function {
            Function::Hash256 => c::ws_ascon_hash256_init(&raw mut context),
            Function::Xof128 => c::ws_ascon_xof128_init(&raw mut context),
            Function::Cxof128(label) => {
                if c::ws_ascon_cxof128_init(&raw mut context, label.as_ptr(), label.len()) != 0 {
                    return None;
                }
            }
        }
        for part in parts {
            c::ws_ascon_absorb(&raw mut context, part.as_ptr(), part.len());
        }
        for &len in lengths {
            c::ws_ascon_squeeze(&raw mut context, output[from..from + len].as_mut_ptr(), len);
            from += len;
        }
    }
    Some(output)
}
