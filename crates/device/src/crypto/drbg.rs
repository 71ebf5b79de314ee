//! The random bit generator, and the parts that it is made of.

use std::ffi::c_int;

/// `ws_piece`.
#[repr(C)]
struct Piece {
    data: *const u8,
    len: usize,
}

fn pieces<const N: usize>(parts: [&[u8]; N]) -> [Piece; N] {
    parts.map(|part| Piece { data: part.as_ptr(), len: part.len() })
}

/// `ws_drbg`. Zeros, as `Drbg::default` gives, have no seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Drbg {
    state: HmacDrbgSha256,
    /// The number of the next request; 0 without a seed.
    pub request: u32,
}

/// `ws_hmac_drbg_sha256`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct HmacDrbgSha256 {
    key: [u8; 32],
    v: [u8; 32],
}

/// `ws_hmac_drbg_sha1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct HmacDrbgSha1 {
    key: [u8; 20],
    v: [u8; 20],
}

mod c {
    use super::{Drbg, HmacDrbgSha1, HmacDrbgSha256, Piece, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_drbg_instantiate(drbg: *mut Drbg, seed: *const u8, len: usize) -> c_int;
        pub fn ws_drbg_instantiate_pieces(drbg: *mut Drbg, seed: *const Piece, count: u8) -> c_int;
        pub fn ws_drbg_reseed(drbg: *mut Drbg, entropy: *const u8, entropy_len: usize, additional: *const u8,
                              additional_len: usize) -> c_int;
        pub fn ws_drbg_generate(drbg: *mut Drbg, output: *mut u8, len: usize, additional: *const u8,
                                additional_len: usize) -> c_int;
        pub fn ws_hmac_drbg_sha256_instantiate(state: *mut HmacDrbgSha256, pieces: *const Piece, count: u8);
        pub fn ws_hmac_drbg_sha256_update(state: *mut HmacDrbgSha256, pieces: *const Piece, count: u8);
        pub fn ws_hmac_drbg_sha256_output(state: *mut HmacDrbgSha256, output: *mut u8, len: usize);
        pub fn ws_hmac_drbg_sha1_instantiate(state: *mut HmacDrbgSha1, pieces: *const Piece, count: u8);
        pub fn ws_hmac_drbg_sha1_update(state: *mut HmacDrbgSha1, pieces: *const Piece, count: u8);
        pub fn ws_hmac_drbg_sha1_output(state: *mut HmacDrbgSha1, output: *mut u8, len: usize);
    }
}

// SAFETY, of all calls below: as in the crate's root; pieces point to slices that outlive the call.

impl Drbg {
    /// The generator as C sees it.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut Self {
        &raw mut *self
    }

    /// `ws_drbg_instantiate`: what it returned.
    pub fn instantiate(&mut self, seed: &[u8]) -> i32 {
        unsafe { c::ws_drbg_instantiate(self.as_mut_ptr(), seed.as_ptr(), seed.len()) }
    }

    /// `ws_drbg_instantiate_pieces`: what it returned.
    pub fn instantiate_pieces(&mut self, seed: [&[u8]; 3]) -> i32 {
        let seed = pieces(seed);
        unsafe { c::ws_drbg_instantiate_pieces(self.as_mut_ptr(), seed.as_ptr(), 3) }
    }

    /// `ws_drbg_reseed`: what it returned.
    pub fn reseed(&mut self, entropy: &[u8], additional: &[u8]) -> i32 {
        unsafe {
            c::ws_drbg_reseed(
                self.as_mut_ptr(),
                entropy.as_ptr(),
                entropy.len(),
                additional.as_ptr(),
                additional.len(),
            )
        }
    }

    /// `ws_drbg_generate`: what it returned.
    pub fn generate(&mut self, output: &mut [u8], additional: &[u8]) -> i32 {
        unsafe {
            c::ws_drbg_generate(
                self.as_mut_ptr(),
                output.as_mut_ptr(),
                output.len(),
                additional.as_ptr(),
                additional.len(),
            )
        }
    }
}

impl HmacDrbgSha256 {
    /// `ws_hmac_drbg_sha256_instantiate` with three pieces.
    pub fn instantiate(&mut self, seed: [&[u8]; 3]) {
        let seed = pieces(seed);
        unsafe { c::ws_hmac_drbg_sha256_instantiate(&raw mut *self, seed.as_ptr(), 3) }
    }

    /// `ws_hmac_drbg_sha256_update` with two pieces.
    pub fn update(&mut self, provided: [&[u8]; 2]) {
        let provided = pieces(provided);
        unsafe { c::ws_hmac_drbg_sha256_update(&raw mut *self, provided.as_ptr(), 2) }
    }

    /// `ws_hmac_drbg_sha256_output`.
    pub fn output(&mut self, output: &mut [u8]) {
        unsafe { c::ws_hmac_drbg_sha256_output(&raw mut *self, output.as_mut_ptr(), output.len()) }
    }
}

impl HmacDrbgSha1 {
    /// `ws_hmac_drbg_sha1_instantiate` with three pieces.
    pub fn instantiate(&mut self, seed: [&[u8]; 3]) {
        let seed = pieces(seed);
        unsafe { c::ws_hmac_drbg_sha1_instantiate(&raw mut *self, seed.as_ptr(), 3) }
    }

    /// `ws_hmac_drbg_sha1_update` with two pieces.
    pub fn update(&mut self, provided: [&[u8]; 2]) {
        let provided = pieces(provided);
        unsafe { c::ws_hmac_drbg_sha1_update(&raw mut *self, provided.as_ptr(), 2) }
    }

    /// `ws_hmac_drbg_sha1_output`.
    pub fn output(&mut self, output: &mut [u8]) {
        unsafe { c::ws_hmac_drbg_sha1_output(&raw mut *self, output.as_mut_ptr(), output.len()) }
    }
}
