//! SHA-3 and SHAKE, `sha3.h`.

mod c {
    use super::Context;

    unsafe extern "C" {
        pub fn ws_sha3_init(ctx: *mut Context, rate: u8);
        pub fn ws_sha3_absorb(ctx: *mut Context, input: *const u8, len: usize);
        pub fn ws_sha3_finish(ctx: *mut Context, suffix: u8);
        pub fn ws_sha3_squeeze(ctx: *mut Context, output: *mut u8, len: usize);
        pub fn ws_sha3_256(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_sha3_512(input: *const u8, len: usize, digest: *mut u8);
        pub fn ws_shake128(input: *const u8, len: usize, output: *mut u8, out_len: usize);
        pub fn ws_shake256(input: *const u8, len: usize, output: *mut u8, out_len: usize);
    }
}

/// `ws_sha3_ctx`.
#[derive(Clone)]
#[repr(C)]
struct Context {
    state: [u32; 50],
    rate: u8,
    used: u8,
}

// SAFETY, of all calls below: as in lib.rs.

/// `ws_sha3_256`.
#[must_use]
pub fn sha3_256(message: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    unsafe { c::ws_sha3_256(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// `ws_sha3_512`.
#[must_use]
pub fn sha3_512(message: &[u8]) -> [u8; 64] {
    let mut digest = [0; 64];
    unsafe { c::ws_sha3_512(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

/// `ws_shake128` with `len` bytes of output.
#[must_use]
pub fn shake128(message: &[u8], len: usize) -> Vec<u8> {
    let mut output = vec![0; len];
    unsafe { c::ws_shake128(message.as_ptr(), message.len(), output.as_mut_ptr(), len) };
    output
}

/// `ws_shake256` with `len` bytes of output.
#[must_use]
pub fn shake256(message: &[u8], len: usize) -> Vec<u8> {
    let mut output = vec![0; len];
    unsafe { c::ws_shake256(message.as_ptr(), message.len(), output.as_mut_ptr(), len) };
    output
}

/// `ws_sha3_absorb` for each part and `ws_sha3_squeeze` for as many bytes as each of `lengths`.
#[must_use]
pub fn parts<'a>(
    rate: u8,
    suffix: u8,
    parts: impl IntoIterator<Item = &'a [u8]>,
    lengths: &[usize],
) -> Vec<u8> {
    let mut context = Context { state: [!0; 50], rate: !0, used: !0 };
    let mut output = vec![0; lengths.iter().sum()];
    let mut from = 0;
    unsafe {
        c::ws_sha3_init(&raw mut context, rate);
        for part in parts {
            c::ws_sha3_absorb(&raw mut context, part.as_ptr(), part.len());
        }
        c::ws_sha3_finish(&raw mut context, suffix);
        for &len in lengths {
            c::ws_sha3_squeeze(&raw mut context, output[from..from + len].as_mut_ptr(), len);
            from += len;
        }
    }
    output
}
