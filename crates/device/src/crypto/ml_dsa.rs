//! ML-DSA, `ml_dsa.h`, and its roundings.

use std::ffi::c_int;

mod c {
    use super::c_int;

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_ml_dsa_44_keygen(xi: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_65_keygen(xi: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_44_keygen_seeded(rho_prime: *const u8, k: *const u8, rho: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_65_keygen_seeded(rho_prime: *const u8, k: *const u8, rho: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_dsa_44_sign(private_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, rnd: *const u8, signature: *mut u8) -> c_int;
        pub fn ws_ml_dsa_65_sign(private_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, rnd: *const u8, signature: *mut u8) -> c_int;
        pub fn ws_ml_dsa_44_sign_mu(private_key: *const u8, mu: *const u8, rnd: *const u8, signature: *mut u8) -> c_int;
        pub fn ws_ml_dsa_65_sign_mu(private_key: *const u8, mu: *const u8, rnd: *const u8, signature: *mut u8) -> c_int;
        pub fn ws_ml_dsa_44_verify(public_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_65_verify(public_key: *const u8, context: *const u8, context_len: u8, message: *const u8, len: usize, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_44_verify_mu(public_key: *const u8, mu: *const u8, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_65_verify_mu(public_key: *const u8, mu: *const u8, signature: *const u8) -> c_int;
        pub fn ws_ml_dsa_44_check(private_key: *const u8) -> c_int;
        pub fn ws_ml_dsa_65_check(private_key: *const u8) -> c_int;
        pub fn ws_host_ml_dsa_decompose_88(a: i32, low: *mut i32) -> u8;
        pub fn ws_host_ml_dsa_decompose_32(a: i32, low: *mut i32) -> u8;
        pub fn ws_host_ml_dsa_product(a: i32, factor: u32) -> i32;
        pub fn ws_host_ml_dsa_product_of_halves(a: i32, factor: u32) -> i32;
    }
}

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlDsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
}

// SAFETY, of all calls below: as in lib.rs; the lengths are asserted.

fn length(context: &[u8]) -> u8 {
    u8::try_from(context.len()).expect("a context string has 255 bytes at most")
}

/// Returns the written signature, where signing did not give up.
fn signed(result: c_int, signature: Vec<u8>) -> Option<Vec<u8>> {
    let has_signed = result == 0;
    assert!(has_signed || (result == -1 && signature.iter().all(|&byte| byte == 0)), "{result}");
    has_signed.then_some(signature)
}

impl MlDsa {
    /// Bytes of a public key, a private key and a signature.
    #[must_use]
    pub fn sizes(self) -> [usize; 3] {
        match self {
            MlDsa::MlDsa44 => [1312, 2560, 2420],
            MlDsa::MlDsa65 => [1952, 4032, 3309],
        }
    }

    /// `ws_ml_dsa_*_keygen`: the public key and the private key.
    #[must_use]
    pub fn keygen(self, xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let [public, private, _] = self.sizes();
        let (mut public, mut private) = (vec![0; public], vec![0; private]);
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_keygen,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_keygen,
        };
        unsafe { function(xi.as_ptr(), public.as_mut_ptr(), private.as_mut_ptr()) };
        (public, private)
    }

    /// `ws_ml_dsa_*_keygen_seeded`: the same of rho', K and rho.
    #[must_use]
    pub fn keygen_seeded(self, rho_prime: &[u8; 64], k: &[u8; 32], rho: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let [public, private, _] = self.sizes();
        let (mut public, mut private) = (vec![0; public], vec![0; private]);
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_keygen_seeded,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_keygen_seeded,
        };
        let (public_key, private_key) = (public.as_mut_ptr(), private.as_mut_ptr());
        unsafe { function(rho_prime.as_ptr(), k.as_ptr(), rho.as_ptr(), public_key, private_key) };
        (public, private)
    }

    /// `ws_ml_dsa_*_sign`: the signature; `None` where signing gave up, and wrote zeros.
    #[must_use]
    pub fn sign(self, private_key: &[u8], context: &[u8], message: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
        let [_, private, signature] = self.sizes();
        assert_eq!(private_key.len(), private);
        let mut signature = vec![0; signature];
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_sign,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_sign,
        };
        let result = unsafe {
            function(
                private_key.as_ptr(),
                context.as_ptr(),
                length(context),
                message.as_ptr(),
                message.len(),
                rnd.as_ptr(),
                signature.as_mut_ptr(),
            )
        };
        signed(result, signature)
    }

    /// `ws_ml_dsa_*_sign_mu`: the same of a message's representative.
    #[must_use]
    pub fn sign_mu(self, private_key: &[u8], mu: &[u8; 64], rnd: &[u8; 32]) -> Option<Vec<u8>> {
        let [_, private, signature] = self.sizes();
        assert_eq!(private_key.len(), private);
        let mut signature = vec![0; signature];
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_sign_mu,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_sign_mu,
        };
        let result =
            unsafe { function(private_key.as_ptr(), mu.as_ptr(), rnd.as_ptr(), signature.as_mut_ptr()) };
        signed(result, signature)
    }

    /// `ws_ml_dsa_*_verify`: whether the signature is one.
    #[must_use]
    pub fn verify(self, public_key: &[u8], context: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let [public, _, len] = self.sizes();
        assert_eq!([public_key.len(), signature.len()], [public, len]);
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_verify,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_verify,
        };
        let result = unsafe {
            function(
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

    /// `ws_ml_dsa_*_verify_mu`: whether the signature is one of a message's representative.
    #[must_use]
    pub fn verify_mu(self, public_key: &[u8], mu: &[u8; 64], signature: &[u8]) -> bool {
        let [public, _, len] = self.sizes();
        assert_eq!([public_key.len(), signature.len()], [public, len]);
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_verify_mu,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_verify_mu,
        };
        unsafe { function(public_key.as_ptr(), mu.as_ptr(), signature.as_ptr()) == 0 }
    }

    /// `ws_ml_dsa_*_check`: whether the private key may be one.
    #[must_use]
    pub fn check(self, private_key: &[u8]) -> bool {
        assert_eq!(private_key.len(), self.sizes()[1]);
        let function = match self {
            MlDsa::MlDsa44 => c::ws_ml_dsa_44_check,
            MlDsa::MlDsa65 => c::ws_ml_dsa_65_check,
        };
        unsafe { function(private_key.as_ptr()) == 0 }
    }

    /// `ws_ml_dsa_decompose_*`: r1 and r0.
    #[must_use]
    pub fn decomposed(self, a: i32) -> (u8, i32) {
        let mut low = 0;
        let function = match self {
            MlDsa::MlDsa44 => c::ws_host_ml_dsa_decompose_88,
            MlDsa::MlDsa65 => c::ws_host_ml_dsa_decompose_32,
        };
        let high = unsafe { function(a, &raw mut low) };
        (high, low)
    }
}

/// `ws_ml_dsa_product` and `ws_ml_dsa_product_of_halves`.
#[must_use]
pub fn products(a: i32, factor: u32) -> [i32; 2] {
    unsafe { [c::ws_host_ml_dsa_product(a, factor), c::ws_host_ml_dsa_product_of_halves(a, factor)] }
}
