//! P-256 with ML-KEM-512, `p256_ml_kem_512.h`.

use super::Drbg;
use std::ffi::c_int;

pub type PrivateKey = [u8; 1728];
pub type Offer = [u8; 864];
pub type Response = [u8; 832];

mod c {
    use super::{Drbg, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_p256_ml_kem_512_keygen(random: *mut Drbg, private_key: *mut u8) -> c_int;
        pub fn ws_p256_ml_kem_512_offer(private_key: *const u8, offer: *mut u8);
        pub fn ws_p256_ml_kem_512_respond(random: *mut Drbg, salt: *const u8, salt_len: usize, info: *const u8, info_len: usize,
                                          offer: *const u8, response: *mut u8, key: *mut u8) -> c_int;
        pub fn ws_p256_ml_kem_512_agree(private_key: *const u8, salt: *const u8, salt_len: usize, info: *const u8,
                                        info_len: usize, response: *const u8, key: *mut u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in lib.rs; lengths are the types'.

/// `ws_p256_ml_kem_512_keygen`; `None` where it is refused.
///
/// # Panics
/// Where something is left although it is refused.
#[must_use]
pub fn keygen(random: &mut Drbg) -> Option<PrivateKey> {
    let mut private_key = [0xa5; 1728];
    let result = unsafe { c::ws_p256_ml_kem_512_keygen(random.as_mut_ptr(), private_key.as_mut_ptr()) };
    assert!(result == 0 || private_key == [0; 1728], "refused, but this was written");
    (result == 0).then_some(private_key)
}

/// `ws_p256_ml_kem_512_offer`.
#[must_use]
pub fn offer(private_key: &PrivateKey) -> Offer {
    let mut offer = [0xa5; 864];
    unsafe { c::ws_p256_ml_kem_512_offer(private_key.as_ptr(), offer.as_mut_ptr()) };
    offer
}

/// `ws_p256_ml_kem_512_respond`: the response and the key; `None` where it is refused.
///
/// # Panics
/// Where something is left although it is refused.
#[must_use]
pub fn respond(random: &mut Drbg, salt: &[u8], info: &[u8], offer: &Offer) -> Option<(Response, [u8; 32])> {
    let (mut response, mut key) = ([0xa5; 832], [0xa5; 32]);
    let result = unsafe {
        c::ws_p256_ml_kem_512_respond(
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
    assert!(result == 0 || (response == [0; 832] && key == [0; 32]), "refused, but this was written");
    (result == 0).then_some((response, key))
}

/// `ws_p256_ml_kem_512_agree`: the key; `None` where it is refused.
///
/// # Panics
/// Where something is left although it is refused.
#[must_use]
pub fn agree(private_key: &PrivateKey, salt: &[u8], info: &[u8], response: &Response) -> Option<[u8; 32]> {
    let mut key = [0xa5; 32];
    let result = unsafe {
        c::ws_p256_ml_kem_512_agree(
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
