//! The curves: keys, shared secrets, signatures. What a function writes is full of 0xa5 before the
//! call, and must be zero after a rejection; else the call panics.

use std::ffi::c_int;

use super::Drbg;

/// The safe calls of one curve. All the bytes are as the headers say.
macro_rules! curve {
    (
        $module:ident, $of:literal, key $key:literal, coordinate $coordinate:literal, hash $digest:literal,
        table $words:literal: $table:ident, order $order:ident; $keygen:ident $public_key:ident $ecdh:ident $validate:ident $compress:ident
        $decompress:ident $decode:ident $sign:ident $sign_digest:ident $verify:ident $verify_digest:ident
    ) => {
        #[doc = $of]
        pub mod $module {
            use super::{Drbg, c_int};

            mod c {
                use super::{Drbg, c_int};

                #[rustfmt::skip]
                unsafe extern "C" {
                    pub static $table: [u32; $words];
                    pub static $order: [u8; 0];
                    pub fn ws_number_scalar(r: *mut u32, input: *const u8, len: u8, order: *const u8);
                    pub fn $keygen(random: *mut Drbg, private_key: *mut u8, public_key: *mut u8) -> c_int;
                    pub fn $public_key(private_key: *const u8, public_key: *mut u8) -> c_int;
                    pub fn $ecdh(private_key: *const u8, public_key: *const u8, shared: *mut u8) -> c_int;
                    pub fn $validate(public_key: *const u8) -> c_int;
                    pub fn $compress(public_key: *const u8, compressed: *mut u8);
                    pub fn $decompress(compressed: *const u8, public_key: *mut u8) -> c_int;
                    pub fn $decode(input: *const u8, len: usize, public_key: *mut u8) -> c_int;
                    pub fn $sign(private_key: *const u8, message: *const u8, len: usize, extra: *const u8,
                                 extra_len: usize, signature: *mut u8) -> c_int;
                    pub fn $sign_digest(private_key: *const u8, digest: *const u8, extra: *const u8,
                                        extra_len: usize, signature: *mut u8) -> c_int;
                    pub fn $verify(public_key: *const u8, message: *const u8, len: usize,
                                   signature: *const u8) -> c_int;
                    pub fn $verify_digest(public_key: *const u8, digest: *const u8, signature: *const u8) -> c_int;
                }
            }

            /// Bytes of a private key.
            pub const KEY: usize = $key;
            /// Bytes of a coordinate, of a shared secret, and of half a signature.
            pub const COORDINATE: usize = $coordinate;
            /// Bytes of a digest.
            pub const DIGEST: usize = $digest;

            pub type Private = [u8; KEY];
            /// x and y.
            pub type Public = [u8; 2 * COORDINATE];
            /// r and s.
            pub type Signature = [u8; 2 * COORDINATE];

            /// Returns what was written, or `None` after a rejection.
            fn result<const N: usize>(returned: c_int, written: [u8; N]) -> Option<[u8; N]> {
                match returned {
                    0 => Some(written),
                    -1 => {
                        assert_eq!(written, [0; N], "refused, but this was written");
                        None
                    }
                    other => panic!("returned {other}"),
                }
            }

            fn accepted(returned: c_int) -> bool {
                result::<0>(returned, []).is_some()
            }

            // SAFETY, of all calls below: as in the crate's root.

            /// `ws_number_scalar` modulo the curve's order: `random` as a big-endian number becomes
            /// a private key.
            ///
            /// # Panics
            ///
            /// Panics where `random` has more than 255 bytes, or the scalar has more than a key.
            #[must_use]
            pub fn scalar(random: &[u8]) -> Private {
                let len = u8::try_from(random.len()).expect("at most 255 bytes");
                let mut limbs = [0xa5a5_a5a5_u32; KEY.div_ceil(4)];
                unsafe {
                    c::ws_number_scalar(limbs.as_mut_ptr(), random.as_ptr(), len, (&raw const c::$order).cast());
                }
                let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
                let (above, key) = bytes.split_at(bytes.len() - KEY);
                assert!(above.iter().all(|&byte| byte == 0), "a scalar of more bytes than a key");
                key.try_into().expect("of that length")
            }

            /// The comb's table, as words of elements.
            #[must_use]
            pub fn comb() -> &'static [u32] {
                unsafe { &*(&raw const c::$table) }
            }

            pub fn keygen(random: &mut Drbg) -> Option<(Private, Public)> {
                let (mut private_key, mut public_key) = ([0xa5; KEY], [0xa5; 2 * COORDINATE]);
                let returned = unsafe {
                    c::$keygen(random.as_mut_ptr(), private_key.as_mut_ptr(), public_key.as_mut_ptr())
                };
                Some((result(returned, private_key)?, result(returned, public_key)?))
            }

            #[must_use]
            pub fn public_key(private_key: &Private) -> Option<Public> {
                let mut public_key = [0xa5; 2 * COORDINATE];
                let returned = unsafe { c::$public_key(private_key.as_ptr(), public_key.as_mut_ptr()) };
                result(returned, public_key)
            }

            /// The shared secret.
            #[must_use]
            pub fn ecdh(private_key: &Private, public_key: &Public) -> Option<[u8; COORDINATE]> {
                let mut shared = [0xa5; COORDINATE];
                let returned =
                    unsafe { c::$ecdh(private_key.as_ptr(), public_key.as_ptr(), shared.as_mut_ptr()) };
                result(returned, shared)
            }

            /// Returns true if the public key is accepted.
            #[must_use]
            pub fn validate(public_key: &Public) -> bool {
                accepted(unsafe { c::$validate(public_key.as_ptr()) })
            }

            /// The compressed form.
            #[must_use]
            pub fn compress(public_key: &Public) -> [u8; COORDINATE + 1] {
                let mut compressed = [0xa5; COORDINATE + 1];
                unsafe { c::$compress(public_key.as_ptr(), compressed.as_mut_ptr()) };
                compressed
            }

            /// The public key of a compressed form.
            #[must_use]
            pub fn decompress(compressed: &[u8; COORDINATE + 1]) -> Option<Public> {
                let mut public_key = [0xa5; 2 * COORDINATE];
                let returned = unsafe { c::$decompress(compressed.as_ptr(), public_key.as_mut_ptr()) };
                result(returned, public_key)
            }

            /// The public key in a string.
            #[must_use]
            pub fn decode(input: &[u8]) -> Option<Public> {
                let mut public_key = [0xa5; 2 * COORDINATE];
                let returned = unsafe { c::$decode(input.as_ptr(), input.len(), public_key.as_mut_ptr()) };
                result(returned, public_key)
            }

            #[must_use]
            pub fn sign(private_key: &Private, message: &[u8], extra: &[u8]) -> Option<Signature> {
                let mut signature = [0xa5; 2 * COORDINATE];
                let returned = unsafe {
                    c::$sign(
                        private_key.as_ptr(),
                        message.as_ptr(),
                        message.len(),
                        extra.as_ptr(),
                        extra.len(),
                        signature.as_mut_ptr(),
                    )
                };
                result(returned, signature)
            }

            #[must_use]
            pub fn sign_digest(private_key: &Private, digest: &[u8; DIGEST], extra: &[u8]) -> Option<Signature> {
                let mut signature = [0xa5; 2 * COORDINATE];
                let returned = unsafe {
                    c::$sign_digest(
                        private_key.as_ptr(),
                        digest.as_ptr(),
                        extra.as_ptr(),
                        extra.len(),
                        signature.as_mut_ptr(),
                    )
                };
                result(returned, signature)
            }

            /// Returns true if the signature of a message is accepted.
            #[must_use]
            pub fn verify(public_key: &Public, message: &[u8], signature: &Signature) -> bool {
                accepted(unsafe {
                    c::$verify(public_key.as_ptr(), message.as_ptr(), message.len(), signature.as_ptr())
                })
            }

            /// Returns true if the signature of a digest is accepted.
            #[must_use]
            pub fn verify_digest(public_key: &Public, digest: &[u8; DIGEST], signature: &Signature) -> bool {
                accepted(unsafe {
                    c::$verify_digest(public_key.as_ptr(), digest.as_ptr(), signature.as_ptr())
                })
            }
        }
    };
}

curve! {
    p256, "`p256.h` and `ecdsa_p256.h`.", key 32, coordinate 32, hash 32, table 1024: ws_p256_comb,
    order ws_p256_order;
    ws_p256_keygen ws_p256_public_key ws_p256_ecdh ws_p256_validate ws_p256_compress ws_p256_decompress ws_p256_decode
    ws_ecdsa_p256_sign ws_ecdsa_p256_sign_digest ws_ecdsa_p256_verify ws_ecdsa_p256_verify_digest
}

curve! {
    secp160r1, "`secp160r1.h` and `ecdsa_secp160r1.h`.", key 21, coordinate 20, hash 20, table 320: ws_secp160r1_comb,
    order ws_secp160r1_order;
    ws_secp160r1_keygen ws_secp160r1_public_key ws_secp160r1_ecdh ws_secp160r1_validate ws_secp160r1_compress
    ws_secp160r1_decompress ws_secp160r1_decode ws_ecdsa_secp160r1_sign ws_ecdsa_secp160r1_sign_digest
    ws_ecdsa_secp160r1_verify ws_ecdsa_secp160r1_verify_digest
}

curve! {
    p384, "`p384.h` and `ecdsa_p384.h`.", key 48, coordinate 48, hash 48, table 1536: ws_p384_comb,
    order ws_p384_order;
    ws_p384_keygen ws_p384_public_key ws_p384_ecdh ws_p384_validate ws_p384_compress ws_p384_decompress ws_p384_decode
    ws_ecdsa_p384_sign ws_ecdsa_p384_sign_digest ws_ecdsa_p384_verify ws_ecdsa_p384_verify_digest
}
