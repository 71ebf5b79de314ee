//! One-time signatures.

use std::ffi::c_int;

use super::Sha256Context;

/// `ws_winternitz_signing`.
#[repr(C)]
struct WinternitzSigning {
    name: [u8; 20],
    seed: [u8; 32],
    digits: [u8; 34],
    piece: u8,
}

/// `ws_winternitz_verification`.
#[repr(C)]
struct WinternitzVerification {
    name: [u8; 20],
    digits: [u8; 34],
    piece: u8,
    key: Sha256Context,
}

/// `ws_lamport_signing`.
#[repr(C)]
struct LamportSigning {
    name: [u8; 20],
    seed: [u8; 32],
    digest: [u8; 32],
    piece: u16,
}

/// `ws_lamport_verification`.
#[repr(C)]
struct LamportVerification {
    name: [u8; 20],
    digest: [u8; 32],
    piece: u16,
    shown: [u8; 32],
    key: Sha256Context,
}

mod c {
    use super::{LamportSigning, LamportVerification, WinternitzSigning, WinternitzVerification, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_winternitz_keygen(seed: *const u8, name: *const u8, public_key: *mut u8);
        pub fn ws_winternitz_sign_begin(signing: *mut WinternitzSigning, seed: *const u8, name: *const u8,
                                        randomizer: *const u8, message: *const u8, len: usize);
        pub fn ws_winternitz_sign_next(signing: *mut WinternitzSigning, piece: *mut u8) -> c_int;
        pub fn ws_winternitz_verify_begin(verification: *mut WinternitzVerification, public_key: *const u8,
                                          randomizer: *const u8, message: *const u8, len: usize) -> c_int;
        pub fn ws_winternitz_verify_next(verification: *mut WinternitzVerification, piece: *const u8);
        pub fn ws_winternitz_candidate(verification: *mut WinternitzVerification, candidate: *mut u8) -> c_int;
        pub fn ws_winternitz_verify_end(verification: *mut WinternitzVerification, public_key: *const u8) -> c_int;
        pub fn ws_winternitz_sign_all(seed: *const u8, name: *const u8, randomizer: *const u8, message: *const u8,
                                      len: usize, folded: *mut u8);
        pub fn ws_winternitz_verify_all(public_key: *const u8, randomizer: *const u8, message: *const u8, len: usize,
                                        mask: *const u8) -> c_int;
        pub fn ws_winternitz_w2_keygen(seed: *const u8, name: *const u8, public_key: *mut u8);
        pub fn ws_winternitz_w2_sign_begin(signing: *mut WinternitzSigning, seed: *const u8, name: *const u8,
                                           randomizer: *const u8, message: *const u8, len: usize);
        pub fn ws_winternitz_w2_sign_next(signing: *mut WinternitzSigning, piece: *mut u8) -> c_int;
        pub fn ws_winternitz_w2_verify_begin(verification: *mut WinternitzVerification, public_key: *const u8,
                                             randomizer: *const u8, message: *const u8, len: usize) -> c_int;
        pub fn ws_winternitz_w2_verify_next(verification: *mut WinternitzVerification, piece: *const u8);
        pub fn ws_winternitz_w2_candidate(verification: *mut WinternitzVerification, candidate: *mut u8) -> c_int;
        pub fn ws_winternitz_w2_verify_end(verification: *mut WinternitzVerification, public_key: *const u8) -> c_int;
        pub fn ws_winternitz_w2_sign_all(seed: *const u8, name: *const u8, randomizer: *const u8, message: *const u8,
                                         len: usize, folded: *mut u8);
        pub fn ws_winternitz_w2_verify_all(public_key: *const u8, randomizer: *const u8, message: *const u8, len: usize,
                                           mask: *const u8) -> c_int;
        pub fn ws_lamport_keygen(seed: *const u8, name: *const u8, public_key: *mut u8);
        pub fn ws_lamport_sign_begin(signing: *mut LamportSigning, seed: *const u8, name: *const u8,
                                     randomizer: *const u8, message: *const u8, len: usize);
        pub fn ws_lamport_sign_next(signing: *mut LamportSigning, piece: *mut u8) -> c_int;
        pub fn ws_lamport_verify_begin(verification: *mut LamportVerification, public_key: *const u8,
                                       randomizer: *const u8, message: *const u8, len: usize);
        pub fn ws_lamport_verify_next(verification: *mut LamportVerification, piece: *const u8);
        pub fn ws_lamport_candidate(verification: *mut LamportVerification, candidate: *mut u8) -> c_int;
        pub fn ws_lamport_verify_end(verification: *mut LamportVerification, public_key: *const u8) -> c_int;
        pub fn ws_lamport_sign_all(seed: *const u8, name: *const u8, randomizer: *const u8, message: *const u8,
                                   len: usize, folded: *mut u8);
        pub fn ws_lamport_verify_all(public_key: *const u8, randomizer: *const u8, message: *const u8, len: usize,
                                     mask: *const u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root.

/// The safe calls of Winternitz signatures with one width of digits.
macro_rules! winternitz {
    (
        $keygen:ident $sign:ident $take:ident $verify:ident $candidate:ident $sign_all:ident $verify_all:ident;
        $ws_keygen:ident $ws_sign_begin:ident $ws_sign_next:ident $ws_verify_begin:ident $ws_verify_next:ident
        $ws_candidate:ident $ws_verify_end:ident $ws_sign_all:ident $ws_verify_all:ident
    ) => {
        /// `ws_winternitz_keygen`.
        #[must_use]
        pub fn $keygen(seed: &[u8; 32], name: &[u8; 20]) -> [u8; 56] {
            let mut public_key = [0xa5; 56];
            unsafe { c::$ws_keygen(seed.as_ptr(), name.as_ptr(), public_key.as_mut_ptr()) };
            public_key
        }

        /// `ws_winternitz_sign_begin`, and `ws_winternitz_sign_next` until it says that there are
        /// no more; the piece that it then gives is zero, and nothing is left of the seed.
        ///
        /// # Panics
        /// When one of these is not so.
        #[must_use]
        pub fn $sign(
            seed: &[u8; 32],
            name: &[u8; 20],
            randomizer: &[u8; 32],
            message: &[u8],
        ) -> Vec<[u8; 32]> {
            let mut signing =
                WinternitzSigning { name: [0xa5; 20], seed: [0xa5; 32], digits: [0xa5; 34], piece: 0xa5 };
            let mut pieces = Vec::new();
            unsafe {
                c::$ws_sign_begin(
                    &raw mut signing,
                    seed.as_ptr(),
                    name.as_ptr(),
                    randomizer.as_ptr(),
                    message.as_ptr(),
                    message.len(),
                );
                loop {
                    let mut piece = [0xa5; 32];
                    if c::$ws_sign_next(&raw mut signing, piece.as_mut_ptr()) != 0 {
                        assert_eq!(piece, [0; 32]);
                        break;
                    }
                    pieces.push(piece);
                }
            }
            assert_eq!((signing.seed, signing.name, signing.digits), ([0; 32], [0; 20], [0; 34]));
            pieces
        }

        fn $take(
            public_key: &[u8; 56],
            randomizer: &[u8; 32],
            message: &[u8],
            pieces: &[[u8; 32]],
        ) -> (i32, WinternitzVerification) {
            let key = Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] };
            let mut verification =
                WinternitzVerification { name: [0xa5; 20], digits: [0xa5; 34], piece: 0xa5, key };
            let begun = unsafe {
                c::$ws_verify_begin(
                    &raw mut verification,
                    public_key.as_ptr(),
                    randomizer.as_ptr(),
                    message.as_ptr(),
                    message.len(),
                )
            };
            for piece in pieces {
                unsafe { c::$ws_verify_next(&raw mut verification, piece.as_ptr()) };
            }
            (begun, verification)
        }

        /// `ws_winternitz_verify_begin`, `ws_winternitz_verify_next` for each piece,
        /// `ws_winternitz_verify_end`: what the first and the last returned.
        #[must_use]
        pub fn $verify(
            public_key: &[u8; 56],
            randomizer: &[u8; 32],
            message: &[u8],
            pieces: &[[u8; 32]],
        ) -> (i32, i32) {
            let (begun, mut verification) = $take(public_key, randomizer, message, pieces);
            let ended = unsafe { c::$ws_verify_end(&raw mut verification, public_key.as_ptr()) };
            assert_eq!(verification.key.block, [0; 64]);
            (begun, ended)
        }

        /// The same with `ws_winternitz_candidate` at the end: what it returned and gave.
        #[must_use]
        pub fn $candidate(
            public_key: &[u8; 56],
            randomizer: &[u8; 32],
            message: &[u8],
            pieces: &[[u8; 32]],
        ) -> (i32, [u8; 32]) {
            let (_, mut verification) = $take(public_key, randomizer, message, pieces);
            let mut candidate = [0xa5; 32];
            let result = unsafe { c::$ws_candidate(&raw mut verification, candidate.as_mut_ptr()) };
            (result, candidate)
        }

        /// `ws_winternitz_sign_all`.
        #[must_use]
        pub fn $sign_all(
            seed: &[u8; 32],
            name: &[u8; 20],
            randomizer: &[u8; 32],
            message: &[u8],
        ) -> [u8; 32] {
            let mut folded = [0xa5; 32];
            unsafe {
                c::$ws_sign_all(
                    seed.as_ptr(),
                    name.as_ptr(),
                    randomizer.as_ptr(),
                    message.as_ptr(),
                    message.len(),
                    folded.as_mut_ptr(),
                );
            }
            folded
        }

        /// `ws_winternitz_verify_all`: what it returned.
        #[must_use]
        pub fn $verify_all(
            public_key: &[u8; 56],
            randomizer: &[u8; 32],
            message: &[u8],
            mask: &[u8; 32],
        ) -> i32 {
            unsafe {
                c::$ws_verify_all(
                    public_key.as_ptr(),
                    randomizer.as_ptr(),
                    message.as_ptr(),
                    message.len(),
                    mask.as_ptr(),
                )
            }
        }
    };
}

winternitz! {
    winternitz_keygen winternitz_sign winternitz_take winternitz_verify winternitz_candidate winternitz_sign_all
    winternitz_verify_all;
    ws_winternitz_keygen ws_winternitz_sign_begin ws_winternitz_sign_next ws_winternitz_verify_begin
    ws_winternitz_verify_next ws_winternitz_candidate ws_winternitz_verify_end ws_winternitz_sign_all
    ws_winternitz_verify_all
}

winternitz! {
    winternitz_w2_keygen winternitz_w2_sign winternitz_w2_take winternitz_w2_verify winternitz_w2_candidate
    winternitz_w2_sign_all winternitz_w2_verify_all;
    ws_winternitz_w2_keygen ws_winternitz_w2_sign_begin ws_winternitz_w2_sign_next ws_winternitz_w2_verify_begin
    ws_winternitz_w2_verify_next ws_winternitz_w2_candidate ws_winternitz_w2_verify_end ws_winternitz_w2_sign_all
    ws_winternitz_w2_verify_all
}

/// `ws_lamport_keygen`.
#[must_use]
pub fn lamport_keygen(seed: &[u8; 32], name: &[u8; 20]) -> [u8; 52] {
    let mut public_key = [0xa5; 52];
    unsafe { c::ws_lamport_keygen(seed.as_ptr(), name.as_ptr(), public_key.as_mut_ptr()) };
    public_key
}

/// `ws_lamport_sign_begin`, and `ws_lamport_sign_next` until it says that there are no more; the
/// piece that it then gives is zero, and nothing is left of the seed.
///
/// # Panics
/// When one of these is not so.
#[must_use]
pub fn lamport_sign(
    seed: &[u8; 32],
    name: &[u8; 20],
    randomizer: &[u8; 32],
    message: &[u8],
) -> Vec<[u8; 32]> {
    let mut signing =
        LamportSigning { name: [0xa5; 20], seed: [0xa5; 32], digest: [0xa5; 32], piece: 0xa5a5 };
    let mut pieces = Vec::new();
    unsafe {
        c::ws_lamport_sign_begin(
            &raw mut signing,
            seed.as_ptr(),
            name.as_ptr(),
            randomizer.as_ptr(),
            message.as_ptr(),
            message.len(),
        );
        loop {
            let mut piece = [0xa5; 32];
            if c::ws_lamport_sign_next(&raw mut signing, piece.as_mut_ptr()) != 0 {
                assert_eq!(piece, [0; 32]);
                break;
            }
            pieces.push(piece);
        }
    }
    assert_eq!((signing.seed, signing.name, signing.digest), ([0; 32], [0; 20], [0; 32]));
    pieces
}

fn lamport_take(
    public_key: &[u8; 52],
    randomizer: &[u8; 32],
    message: &[u8],
    pieces: &[[u8; 32]],
) -> LamportVerification {
    let key = Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] };
    let mut verification =
        LamportVerification { name: [0xa5; 20], digest: [0xa5; 32], piece: 0xa5a5, shown: [0xa5; 32], key };
    unsafe {
        c::ws_lamport_verify_begin(
            &raw mut verification,
            public_key.as_ptr(),
            randomizer.as_ptr(),
            message.as_ptr(),
            message.len(),
        );
    }
    for piece in pieces {
        unsafe { c::ws_lamport_verify_next(&raw mut verification, piece.as_ptr()) };
    }
    verification
}

/// `ws_lamport_verify_begin`, `ws_lamport_verify_next` for each piece, `ws_lamport_verify_end`:
/// what the last returned.
#[must_use]
pub fn lamport_verify(
    public_key: &[u8; 52],
    randomizer: &[u8; 32],
    message: &[u8],
    pieces: &[[u8; 32]],
) -> i32 {
    let mut verification = lamport_take(public_key, randomizer, message, pieces);
    let ended = unsafe { c::ws_lamport_verify_end(&raw mut verification, public_key.as_ptr()) };
    assert_eq!((verification.key.block, verification.shown), ([0; 64], [0; 32]));
    ended
}

/// The same with `ws_lamport_candidate` at the end: what it returned and gave.
#[must_use]
pub fn lamport_candidate(
    public_key: &[u8; 52],
    randomizer: &[u8; 32],
    message: &[u8],
    pieces: &[[u8; 32]],
) -> (i32, [u8; 32]) {
    let mut verification = lamport_take(public_key, randomizer, message, pieces);
    let mut candidate = [0xa5; 32];
    let result = unsafe { c::ws_lamport_candidate(&raw mut verification, candidate.as_mut_ptr()) };
    (result, candidate)
}

/// `ws_lamport_sign_all`.
#[must_use]
pub fn lamport_sign_all(seed: &[u8; 32], name: &[u8; 20], randomizer: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut folded = [0xa5; 32];
    unsafe {
        c::ws_lamport_sign_all(
            seed.as_ptr(),
            name.as_ptr(),
            randomizer.as_ptr(),
            message.as_ptr(),
            message.len(),
            folded.as_mut_ptr(),
        );
    }
    folded
}

/// `ws_lamport_verify_all`: what it returned.
#[must_use]
pub fn lamport_verify_all(
    public_key: &[u8; 52],
    randomizer: &[u8; 32],
    message: &[u8],
    mask: &[u8; 32],
) -> i32 {
    unsafe {
        c::ws_lamport_verify_all(
            public_key.as_ptr(),
            randomizer.as_ptr(),
            message.as_ptr(),
            message.len(),
            mask.as_ptr(),
        )
    }
}
