//! LMS signatures.

use std::ffi::c_int;

use super::Sha256Context;

/// `ws_lms_verification`.
#[repr(C)]
struct Verification {
    name: [u8; 20],
    value: [u8; 34],
    shift: u8,
    kind: u8,
    height: u8,
    filled: u8,
    values: u16,
    state: u8,
    chain: Sha256Context,
    hash: Sha256Context,
}

mod c {
    use super::{Verification, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_lms_verify_begin(verification: *mut Verification, public_key: *const u8, head: *const u8) -> c_int;
        pub fn ws_lms_verify_message(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_lms_verify_signature(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_lms_verify_end(verification: *mut Verification, public_key: *const u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root.

/// What is taken next.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Message(&'a [u8]),
    /// Of what follows the head.
    Signature(&'a [u8]),
}

/// `ws_lms_verify_begin`, `ws_lms_verify_message` and `ws_lms_verify_signature` for the pieces, `ws_lms_verify_end`: what the first and the last
/// returned.
///
/// # Panics
/// Where another `ws_lms_verify_end` does not refuse.
#[must_use]
pub fn verify<'a>(
    public_key: &[u8; 56],
    head: &[u8; 40],
    pieces: impl IntoIterator<Item = Piece<'a>>,
) -> (i32, i32) {
    let context = Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] };
    let mut verification = Verification {
        name: [0xa5; 20],
        value: [0xa5; 34],
        shift: 0xa5,
        kind: 0xa5,
        height: 0xa5,
        filled: 0xa5,
        values: 0xa5a5,
        state: 0xa5,
        chain: context.clone(),
        hash: context,
    };
    let verification = &raw mut verification;
    unsafe {
        let begun = c::ws_lms_verify_begin(verification, public_key.as_ptr(), head.as_ptr());
        for piece in pieces {
            match piece {
                Piece::Message(bytes) => c::ws_lms_verify_message(verification, bytes.as_ptr(), bytes.len()),
                Piece::Signature(bytes) => {
                    c::ws_lms_verify_signature(verification, bytes.as_ptr(), bytes.len());
                }
            }
        }
        let ended = c::ws_lms_verify_end(verification, public_key.as_ptr());
        assert_eq!(c::ws_lms_verify_end(verification, public_key.as_ptr()), -1);
        (begun, ended)
    }
}
