//! ML-DSA-44, `ml_dsa.h`, and its roundings.

use std::ffi::c_int;

mod c {
    use super::c_int;

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_ml_dsa_44_keygen(xi: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_44_keygen_seeded(rho_prime: *const u8, k: *const u8, rho: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_44_sign(private_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, rnd: *const u8, signature: *mut u8);
        pub fn ws_ml_dsa_44_sign_mu(private_key: *const u8, mu: *const u8, rnd: *const u8, signature: *mut u8);
        pub fn ws_ml_dsa_44_verify(public_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_44_verify_mu(public_key: *const u8, mu: *const u8, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_44_check(private_key: *const u8) -> c_int;
        pub fn ws_host_ml_dsa_decompose(a: i32, low: *mut i32) -> u8;
        pub fn ws_host_ml_dsa_product(a: i32, factor: u32) -> i32;
        pub fn ws_host_ml_dsa_product_of_halves(a: i32, factor: u32) -> i32;
    }
}

/// Bytes of a public key, a private key and a signature.
pub const PUBLIC_KEY: usize = 1312;
pub const PRIVATE_KEY: usize = 2560;
pub const SIGNATURE: usize = 2420;

// SAFETY, of all calls below: as in lib.rs; the lengths are asserted.

/// `ws_ml_dsa_44_keygen`: the public key and the private key.
#[must_use]
pub fn keygen(xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
    let (mut public, mut private) = (vec![0; PUBLIC_KEY], vec![0; PRIVATE_KEY]);
    unsafe { c::ws_ml_dsa_44_keygen(xi.as_ptr(), public.as_mut_ptr(), private.as_mut_ptr()) };
    (public, private)
}

/// `ws_ml_dsa_44_keygen_seeded`: the same of rho', K and rho.
#[must_use]
pub fn keygen_seeded(rho_prime: &[u8; 64], k: &[u8; 32], rho: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
    let (mut public, mut private) = (vec![0; PUBLIC_KEY], vec![0; PRIVATE_KEY]);
    unsafe {
        c::ws_ml_dsa_44_keygen_seeded(
            rho_prime.as_ptr(),
            k.as_ptr(),
            rho.as_ptr(),
            public.as_mut_ptr(),
            private.as_mut_ptr(),
        );
    };
    (public, private)
}

fn length(context: &[u8]) -> u8 {
    u8::try_from(context.len()).expect("a context string has 255 bytes at most")
}

/// `ws_ml_dsa_44_sign`: the signature.
#[must_use]
pub fn sign(private_key: &[u8], context: &[u8], message: &[u8], rnd: &[u8; 32]) -> Vec<u8> {
    assert_eq!(private_key.len(), PRIVATE_KEY);
    let mut signature = vec![0; SIGNATURE];
    unsafe {
        c::ws_ml_dsa_44_sign(
            private_key.as_ptr(),
            context.as_ptr(),
            length(context),
            message.as_ptr(),
            message.len(),
            rnd.as_ptr(),
            signature.as_mut_ptr(),
        );
    }
    signature
}

/// `ws_ml_dsa_44_sign_mu`: the signature of a message's representative.
#[must_use]
pub fn sign_mu(private_key: &[u8], mu: &[u8; 64], rnd: &[u8; 32]) -> Vec<u8> {
    assert_eq!(private_key.len(), PRIVATE_KEY);
    let mut signature = vec![0; SIGNATURE];
    unsafe {
        c::ws_ml_dsa_44_sign_mu(private_key.as_ptr(), mu.as_ptr(), rnd.as_ptr(), signature.as_mut_ptr());
    }
    signature
}

/// `ws_ml_dsa_44_verify`: whether the signature is one.
#[must_use]
pub fn verify(public_key: &[u8], context: &[u8], message: &[u8], signature: &[u8]) -> bool {
    assert_eq!([public_key.len(), signature.len()], [PUBLIC_KEY, SIGNATURE]);
    let result = unsafe {
        c::ws_ml_dsa_44_verify(
            public_key.as_ptr(),
            context.as_ptr(),
            length(context),
            message.as_ptr(),
            message.len(),
            signature.as_ptr(),
        )
    };
    result == 0
}

/// `ws_ml_dsa_44_verify_mu`: whether the signature is one of a message's representative.
#[must_use]
pub fn verify_mu(public_key: &[u8], mu: &[u8; 64], signature: &[u8]) -> bool {
    assert_eq!([public_key.len(), signature.len()], [PUBLIC_KEY, SIGNATURE]);
    unsafe { c::ws_ml_dsa_44_verify_mu(public_key.as_ptr(), mu.as_ptr(), signature.as_ptr()) == 0 }
}

/// `ws_ml_dsa_44_check`: whether the private key may be one.
#[must_use]
pub fn check(private_key: &[u8]) -> bool {
    assert_eq!(private_key.len(), PRIVATE_KEY);
    unsafe { c::ws_ml_dsa_44_check(private_key.as_ptr()) == 0 }
}

/// `ws_ml_dsa_decompose`: r1 and r0.
#[must_use]
pub fn decomposed(a: i32) -> (u8, i32) {
    let mut low = 0;
    let high = unsafe { c::ws_host_ml_dsa_decompose(a, &raw mut low) };
    (high, low)
}

/// `ws_ml_dsa_product` and `ws_ml_dsa_product_of_halves`.
#[must_use]
pub fn products(a: i32, factor: u32) -> [i32; 2] {
    unsafe { [c::ws_host_ml_dsa_product(a, factor), c::ws_host_ml_dsa_product_of_halves(a, factor)] }
}
