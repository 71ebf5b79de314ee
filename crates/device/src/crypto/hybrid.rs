//! The hybrid key agreements, `p256_ml_kem_512.h` and `x25519_ml_kem.h`.

use super::Drbg;
use std::ffi::c_int;

mod c {
    use super::{Drbg, c_int};

    macro_rules! agreement {
        ($keygen:ident, $offer:ident, $respond:ident, $agree:ident) => {
            #[rustfmt::skip]
            unsafe extern "C" {
                pub fn $keygen(random: *mut Drbg, private_key: *mut u8) -> c_int;
                pub fn $offer(private_key: *const u8, offer: *mut u8);
                pub fn $respond(random: *mut Drbg, salt: *const u8, salt_len: usize, info: *const u8, info_len: usize,
                                offer: *const u8, response: *mut u8, key: *mut u8) -> c_int;
                pub fn $agree(private_key: *const u8, salt: *const u8, salt_len: usize, info: *const u8,
                              info_len: usize, response: *const u8, key: *mut u8) -> c_int;
            }
        };
    }

    agreement!(
        ws_p256_ml_kem_512_keygen,
        ws_p256_ml_kem_512_offer,
        ws_p256_ml_kem_512_respond,
        ws_p256_ml_kem_512_agree
    );
    agreement!(
        ws_x25519_ml_kem_512_keygen,
        ws_x25519_ml_kem_512_offer,
        ws_x25519_ml_kem_512_respond,
        ws_x25519_ml_kem_512_agree
    );
    agreement!(
        ws_x25519_ml_kem_768_keygen,
        ws_x25519_ml_kem_768_offer,
        ws_x25519_ml_kem_768_respond,
        ws_x25519_ml_kem_768_agree
    );
}

/// Parameter set of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hybrid {
    /// P-256 and ML-KEM-512.
    P256MlKem512,
    /// X25519 and ML-KEM-512.
    X25519MlKem512,
    /// X25519 and ML-KEM-768.
    X25519MlKem768,
}

// SAFETY, of all calls below: as in lib.rs; lengths are asserted.

impl Hybrid {
    /// Bytes of a private key, an offer and a response.
    #[must_use]
    pub fn sizes(self) -> [usize; 3] {
        match self {
            Hybrid::P256MlKem512 => [1728, 864, 832],
            Hybrid::X25519MlKem512 => [1696, 832, 800],
            Hybrid::X25519MlKem768 => [2464, 1216, 1120],
        }
    }

    /// `ws_*_keygen`; `None` where it is refused.
    ///
    /// # Panics
    /// If something is left although it is refused.
    #[must_use]
    pub fn keygen(self, random: &mut Drbg) -> Option<Vec<u8>> {
        let mut private_key = vec![0xa5; self.sizes()[0]];
        let function = match self {
            Hybrid::P256MlKem512 => c::ws_p256_ml_kem_512_keygen,
            Hybrid::X25519MlKem512 => c::ws_x25519_ml_kem_512_keygen,
            Hybrid::X25519MlKem768 => c::ws_x25519_ml_kem_768_keygen,
        };
        let result = unsafe { function(random.as_mut_ptr(), private_key.as_mut_ptr()) };
        assert!(result == 0 || private_key.iter().all(|&byte| byte == 0), "refused, but this was written");
        (result == 0).then_some(private_key)
    }

    /// `ws_*_offer`.
    #[must_use]
    pub fn offer(self, private_key: &[u8]) -> Vec<u8> {
        let [private, offer, _] = self.sizes();
        assert_eq!(private_key.len(), private);
        let mut offer = vec![0xa5; offer];
        let function = match self {
            Hybrid::P256MlKem512 => c::ws_p256_ml_kem_512_offer,
            Hybrid::X25519MlKem512 => c::ws_x25519_ml_kem_512_offer,
            Hybrid::X25519MlKem768 => c::ws_x25519_ml_kem_768_offer,
        };
        unsafe { function(private_key.as_ptr(), offer.as_mut_ptr()) };
        offer
    }

    /// `ws_*_respond`: the response and the key; `None` where it is refused.
    ///
    /// # Panics
    /// If something is left although it is refused.
    #[must_use]
    pub fn respond(
        self,
        random: &mut Drbg,
        salt: &[u8],
        info: &[u8],
        offer: &[u8],
    ) -> Option<(Vec<u8>, [u8; 32])> {
        let [_, len, response] = self.sizes();
        assert_eq!(offer.len(), len);
        let (mut response, mut key) = (vec![0xa5; response], [0xa5; 32]);
        let function = match self {
            Hybrid::P256MlKem512 => c::ws_p256_ml_kem_512_respond,
            Hybrid::X25519MlKem512 => c::ws_x25519_ml_kem_512_respond,
            Hybrid::X25519MlKem768 => c::ws_x25519_ml_kem_768_respond,
        };
        let result = unsafe {
            function(
                random.as_mut_ptr(),
                salt.as_ptr(),
                salt.len(),
                info.as_ptr(),
                info.len(),
                offer.as_ptr(),
                response.as_mut_ptr(),
                key.as_mut_ptr(),
            )
        };
        let is_zero = response.iter().chain(&key).all(|&byte| byte == 0);
        assert!(result == 0 || is_zero, "refused, but this was written");
        (result == 0).then_some((response, key))
    }

    /// `ws_*_agree`: the key; `None` where it is refused.
    ///
    /// # Panics
    /// If something is left although it is refused.
    #[must_use]
    pub fn agree(self, private_key: &[u8], salt: &[u8], info: &[u8], response: &[u8]) -> Option<[u8; 32]> {
        let [private, _, len] = self.sizes();
        assert_eq!([private_key.len(), response.len()], [private, len]);
        let mut key = [0xa5; 32];
        let function = match self {
            Hybrid::P256MlKem512 => c::ws_p256_ml_kem_512_agree,
            Hybrid::X25519MlKem512 => c::ws_x25519_ml_kem_512_agree,
            Hybrid::X25519MlKem768 => c::ws_x25519_ml_kem_768_agree,
        };
        let result = unsafe {
            function(
                private_key.as_ptr(),
                salt.as_ptr(),
                salt.len(),
                info.as_ptr(),
                info.len(),
                response.as_ptr(),
                key.as_mut_ptr(),
            )
        };
        assert!(result == 0 || key == [0; 32], "refused, but this was written");
        (result == 0).then_some(key)
    }
}
