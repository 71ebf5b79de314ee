//! ECDH on P-192 and P-224.

use std::ffi::c_int;

mod c {
    use super::c_int;

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_p192_validate(public_key: *const u8) -> c_int;
        pub fn ws_p192_ecdh(private_key: *const u8, public_key: *const u8, shared: *mut u8) -> c_int;
        pub fn ws_p224_validate(public_key: *const u8) -> c_int;
        pub fn ws_p224_ecdh(private_key: *const u8, public_key: *const u8, shared: *mut u8) -> c_int;
    }
}

/// The safe calls of one curve.
macro_rules! older_curve {
    ($module:ident, $of:literal, coordinate $coordinate:literal; $validate:ident $ecdh:ident) => {
        #[doc = $of]
        pub mod $module {
            use super::c;

            /// Bytes of a private key, of a coordinate and of a shared secret.
            pub const COORDINATE: usize = $coordinate;

            // SAFETY, of both calls below: as in the crate's root.

            /// Returns true if the public key is accepted.
            #[must_use]
            pub fn validate(public_key: &[u8; 2 * COORDINATE]) -> bool {
                unsafe { c::$validate(public_key.as_ptr()) == 0 }
            }

            /// The shared secret, which must be zero after a rejection.
            ///
            /// # Panics
            /// When it is not.
            #[must_use]
            pub fn ecdh(
                private_key: &[u8; COORDINATE],
                public_key: &[u8; 2 * COORDINATE],
            ) -> Option<[u8; COORDINATE]> {
                let mut shared = [0xa5; COORDINATE];
                let returned =
                    unsafe { c::$ecdh(private_key.as_ptr(), public_key.as_ptr(), shared.as_mut_ptr()) };
                assert!(returned == 0 || (returned, shared) == (-1, [0; COORDINATE]), "{returned}");
                (returned == 0).then_some(shared)
            }
        }
    };
}

older_curve! { p192, "`p192.h`.", coordinate 24; ws_p192_validate ws_p192_ecdh }
older_curve! { p224, "`p224.h`.", coordinate 28; ws_p224_validate ws_p224_ecdh }
