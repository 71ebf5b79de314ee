//! SLH-DSA, `slh_dsa_sign.h` and `slh_dsa_verify.h`.

use super::Sha256Context;
use std::ffi::c_int;

/// `ws_slh_dsa_steps`.
#[repr(C)]
struct Steps {
    parameters: [u8; 4],
    leaf: u16,
    digest: [u8; 34],
    value: [u8; 18],
    block: [u8; 64],
    seeded: [u32; 8],
    state: [u32; 8],
    hash: Sha256Context,
}

/// `ws_slh_dsa_verification`.
#[repr(C)]
struct Verification {
    steps: Steps,
    state: u8,
    filled: u8,
    part: u8,
    next: u8,
    node: u16,
}

/// `ws_slh_dsa_signing`.
#[repr(C)]
struct Signing {
    steps: Steps,
    seed: [u8; 16],
    shown: [u8; 16],
    path: [[u8; 16]; 12],
    part: u8,
    next: u8,
}

impl Steps {
    /// Memory that nobody has written.
    fn new() -> Steps {
        Steps {
            parameters: [0xa5; 4],
            leaf: 0xa5a5,
            digest: [0xa5; 34],
            value: [0xa5; 18],
            block: [0xa5; 64],
            seeded: [!0; 8],
            state: [!0; 8],
            hash: Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] },
        }
    }
}

mod c {
    use super::{Signing, Verification, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_slh_dsa_verify_begin(verification: *mut Verification, set: u8, public_key: *const u8, randomizer: *const u8,
                                       context: *const u8, context_len: usize) -> c_int;
        pub fn ws_slh_dsa_verify_begin_internal(verification: *mut Verification, set: u8, public_key: *const u8, randomizer: *const u8) -> c_int;
        pub fn ws_slh_dsa_verify_message(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_slh_dsa_verify_signature(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_slh_dsa_verify_end(verification: *mut Verification, public_key: *const u8) -> c_int;
        pub fn ws_slh_dsa_keygen(set: u8, seeds: *const u8, private_key: *mut u8) -> c_int;
        pub fn ws_slh_dsa_sign_begin(signing: *mut Signing, set: u8, private_key: *const u8, random: *const u8, context: *const u8,
                                     context_len: usize, message: *const u8, len: usize, randomizer: *mut u8) -> c_int;
        pub fn ws_slh_dsa_sign_next(signing: *mut Signing, piece: *mut u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root; the structures are C's.

/// `WS_SLH_DSA_SHA2_128S` and `WS_SLH_DSA_SHA2_128F`; the bytes of a signature are 7,856 and
/// 17,088.
pub const SHA2_128S: u8 = 0;
pub const SHA2_128F: u8 = 1;

/// Next piece.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Message(&'a [u8]),
    /// Of what follows R.
    Signature(&'a [u8]),
}

/// `ws_slh_dsa_verify_begin`, or with no context `ws_slh_dsa_verify_begin_internal`;
/// `ws_slh_dsa_verify_message` and `ws_slh_dsa_verify_signature` for the pieces;
/// `ws_slh_dsa_verify_end`: what the first and the last returned.
///
/// # Panics
/// If another `ws_slh_dsa_verify_end` does not refuse.
#[must_use]
pub fn verify<'a>(
    set: u8,
    public_key: &[u8; 32],
    randomizer: &[u8; 16],
    context: Option<&[u8]>,
    pieces: impl IntoIterator<Item = Piece<'a>>,
) -> (i32, i32) {
    let mut verification =
        Verification { steps: Steps::new(), state: 0xa5, filled: 0xa5, part: 0xa5, next: 0xa5, node: 0xa5a5 };
    let verification = &raw mut verification;
    let (key, randomizer) = (public_key.as_ptr(), randomizer.as_ptr());
    unsafe {
        let begun = match context {
            Some(context) => c::ws_slh_dsa_verify_begin(
                verification,
                set,
                key,
                randomizer,
                context.as_ptr(),
                context.len(),
            ),
            None => c::ws_slh_dsa_verify_begin_internal(verification, set, key, randomizer),
        };
        for piece in pieces {
            match piece {
                Piece::Message(bytes) => {
                    c::ws_slh_dsa_verify_message(verification, bytes.as_ptr(), bytes.len());
                }
                Piece::Signature(bytes) => {
                    c::ws_slh_dsa_verify_signature(verification, bytes.as_ptr(), bytes.len());
                }
            }
        }
        let ended = c::ws_slh_dsa_verify_end(verification, key);
        assert_eq!(c::ws_slh_dsa_verify_end(verification, key), -1);
        (begun, ended)
    }
}

/// `ws_slh_dsa_keygen`; `None` where it refuses.
#[must_use]
pub fn keygen(set: u8, seeds: &[u8; 48]) -> Option<[u8; 64]> {
    let mut private_key = [0xa5; 64];
    let result = unsafe { c::ws_slh_dsa_keygen(set, seeds.as_ptr(), private_key.as_mut_ptr()) };
    (result == 0).then_some(private_key)
}

/// `ws_slh_dsa_sign_begin` and all pieces; `None` where it refuses.
///
/// # Panics
/// If there is a piece after the last one, or after a refusal; or if something of the private key
/// is left then.
#[must_use]
pub fn sign(
    set: u8,
    private_key: &[u8; 64],
    random: &[u8; 16],
    context: &[u8],
    message: &[u8],
) -> Option<Vec<u8>> {
    let mut signing = Signing {
        steps: Steps::new(),
        seed: [0xa5; 16],
        shown: [0xa5; 16],
        path: [[0xa5; 16]; 12],
        part: 0xa5,
        next: 0xa5,
    };
    let mut piece = [0xa5; 16];
    let begun = unsafe {
        c::ws_slh_dsa_sign_begin(
            &raw mut signing,
            set,
            private_key.as_ptr(),
            random.as_ptr(),
            context.as_ptr(),
            context.len(),
            message.as_ptr(),
            message.len(),
            piece.as_mut_ptr(),
        )
    };
    let mut signature = piece.to_vec();
    while unsafe { c::ws_slh_dsa_sign_next(&raw mut signing, piece.as_mut_ptr()) } == 0 {
        signature.extend_from_slice(&piece);
    }
    assert_eq!(piece, [0; 16], "a piece that is none is zeros");
    if begun != 0 {
        assert_eq!(signature, [0xa5; 16], "written although refused");
        return None;
    }
    assert_eq!((signing.seed, signing.shown, signing.steps.state), ([0; 16], [0; 16], [0; 8]), "wiped");
    Some(signature)
}
