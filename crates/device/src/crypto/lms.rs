//! LMS and HSS signatures.

use std::cell::RefCell;
use std::collections::HashMap;
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

/// `ws_hss_verification`.
#[repr(C)]
struct HssVerification {
    lms: Verification,
    public_keys: [u8; 2 * 56],
    place: u32,
    len: u32,
    reached: u8,
    is_refused: u8,
}

/// `ws_lms_signing`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Signing {
    name: [u8; 20],
    seed: [u8; 32],
    digits: [u8; 34],
    tree: u8,
    height: u8,
    next: u8,
    node: u16,
}

mod c {
    use super::{HssVerification, Signing, Verification, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_lms_verify_begin(verification: *mut Verification, public_key: *const u8, head: *const u8) -> c_int;
        pub fn ws_lms_verify_message(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_lms_verify_signature(verification: *mut Verification, bytes: *const u8, len: usize);
        pub fn ws_lms_verify_end(verification: *mut Verification, public_key: *const u8) -> c_int;
        pub fn ws_lms_keygen(tree: u8, height: u8, seed: *const u8, identifier: *const u8, public_key: *mut u8) -> c_int;
        pub fn ws_lms_sign_begin(signing: *mut Signing, tree: u8, height: u8, seed: *const u8, identifier: *const u8, leaf: u32, randomizer: *const u8,
                                 message: *const u8, len: usize, head: *mut u8) -> c_int;
        pub fn ws_lms_sign_next(signing: *mut Signing, piece: *mut u8) -> u8;
        pub fn ws_lms_signature_bytes(public_key: *const u8) -> u16;
        pub fn ws_hss_verify_begin(verification: *mut HssVerification, public_key: *const u8, len: u32) -> c_int;
        pub fn ws_hss_verify_message(verification: *mut HssVerification, bytes: *const u8, len: usize);
        pub fn ws_hss_verify_end(verification: *mut HssVerification) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root.

/// Next piece.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Message(&'a [u8]),
    /// Of what follows the head.
    Signature(&'a [u8]),
}

/// `ws_lms_verify_begin`, `ws_lms_verify_message` and `ws_lms_verify_signature` for the pieces,
/// `ws_lms_verify_end`: what the first and the last returned.
///
/// # Panics
/// If another `ws_lms_verify_end` does not refuse.
#[must_use]
pub fn verify<'a>(
    public_key: &[u8; 56],
    head: &[u8; 40],
    pieces: impl IntoIterator<Item = Piece<'a>>,
) -> (i32, i32) {
    let mut verification = Verification::new();
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

impl Verification {
    /// Memory that nobody has written.
    fn new() -> Verification {
        let context = Sha256Context { state: [!0; 8], length: [!0; 2], block: [0xa5; 64] };
        Verification {
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
        }
    }
}

/// `ws_lms_signature_bytes`; `None` where a type is not known.
#[must_use]
pub fn signature_bytes(public_key: &[u8; 56]) -> Option<usize> {
    match unsafe { c::ws_lms_signature_bytes(public_key.as_ptr()) } {
        0 => None,
        bytes => Some(usize::from(bytes)),
    }
}

thread_local! {
    static HSS_SIGNATURE: RefCell<Vec<u8>> = RefCell::default();
}

/// The application's; bytes that are not there end the process.
#[unsafe(no_mangle)]
extern "C" fn ws_hss_read_signature(place: u32, to: *mut u8, count: u8) {
    assert!(count <= 56);
    HSS_SIGNATURE.with_borrow(|signature| {
        let piece = &signature[place as usize..][..usize::from(count)];
        // SAFETY: the C hands room for `count` bytes.
        unsafe { to.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
    });
}

/// `ws_hss_verify_begin`, `ws_hss_verify_message` for the pieces, `ws_hss_verify_end`: what the
/// first and the last returned.
///
/// # Panics
/// If another `ws_hss_verify_end` does not refuse.
#[must_use]
pub fn hss_verify<'a>(
    public_key: &[u8; 60],
    message: impl IntoIterator<Item = &'a [u8]>,
    signature: &[u8],
) -> (i32, i32) {
    HSS_SIGNATURE.set(signature.to_vec());
    let len = u32::try_from(signature.len()).expect("no signature is so long");
    let mut verification = HssVerification {
        lms: Verification::new(),
        public_keys: [0xa5; 2 * 56],
        place: 0xa5a5_a5a5,
        len: 0xa5a5_a5a5,
        reached: 0xa5,
        is_refused: 0xa5,
    };
    let verification = &raw mut verification;
    unsafe {
        let begun = c::ws_hss_verify_begin(verification, public_key.as_ptr(), len);
        for piece in message {
            c::ws_hss_verify_message(verification, piece.as_ptr(), piece.len());
        }
        let ended = c::ws_hss_verify_end(verification);
        assert_eq!(c::ws_hss_verify_end(verification), -1);
        (begun, ended)
    }
}

/// The nodes of trees by the trees' and their own numbers.
pub type Nodes = HashMap<(u8, u16), [u8; 32]>;

thread_local! {
    static NODES: RefCell<Nodes> = RefCell::default();
}

/// The application's, as below; a node that was written before, or one that was not, ends the
/// process. A tree that is whole is written over by the next one of its number.
#[unsafe(no_mangle)]
extern "C" fn ws_lms_write_node(tree: u8, number: u16, node: *const u8) {
    // SAFETY: the C hands 32 bytes.
    let node = unsafe { node.cast::<[u8; 32]>().read() };
    let before = NODES.with_borrow_mut(|nodes| {
        if nodes.contains_key(&(tree, 1)) {
            nodes.retain(|(of, _), _| *of != tree);
        }
        nodes.insert((tree, number), node)
    });
    assert!(before.is_none(), "node {number} of tree {tree} twice");
}

#[unsafe(no_mangle)]
extern "C" fn ws_lms_read_node(tree: u8, number: u16, node: *mut u8) {
    let written = NODES.with_borrow(|nodes| nodes[&(tree, number)]);
    // SAFETY: the C hands room for 32 bytes.
    unsafe { node.cast::<[u8; 32]>().write(written) };
}

/// This thread's trees from here on.
pub fn set_nodes(nodes: Nodes) {
    NODES.set(nodes);
}

/// The tree of this module's own keys.
const TREE: u8 = 7;

/// `ws_lms_keygen`: the public key, and this thread's tree is its; `None` where it refuses.
///
/// # Panics
/// If something was written although it refuses.
#[must_use]
pub fn keygen(height: u8, seed: &[u8; 32], identifier: &[u8; 16]) -> Option<[u8; 56]> {
    set_nodes(Nodes::new());
    let mut public_key = [0xa5; 56];
    let result = unsafe {
        c::ws_lms_keygen(TREE, height, seed.as_ptr(), identifier.as_ptr(), public_key.as_mut_ptr())
    };
    if result != 0 {
        assert!(NODES.with_borrow(Nodes::is_empty) && public_key == [0xa5; 56], "written although refused");
        return None;
    }
    Some(public_key)
}

/// `ws_lms_sign_begin` and all pieces, with this thread's tree; `None` where it refuses.
///
/// # Panics
/// If there is a piece although it refuses.
#[must_use]
pub fn sign(
    height: u8,
    seed: &[u8; 32],
    identifier: &[u8; 16],
    leaf: u32,
    randomizer: &[u8; 32],
    message: &[u8],
) -> Option<Vec<u8>> {
    let mut signing = Signing::new();
    let mut head = [0xa5; 40];
    let result = unsafe {
        c::ws_lms_sign_begin(
            &raw mut signing,
            TREE,
            height,
            seed.as_ptr(),
            identifier.as_ptr(),
            leaf,
            randomizer.as_ptr(),
            message.as_ptr(),
            message.len(),
            head.as_mut_ptr(),
        )
    };
    let rest = signing.rest();
    if result != 0 {
        assert!(head == [0xa5; 40] && rest.is_empty(), "written although refused");
        return None;
    }
    Some([head.as_slice(), &rest].concat())
}

impl Default for Signing {
    fn default() -> Signing {
        Signing::new()
    }
}

impl Signing {
    /// Memory that nobody has written.
    #[must_use]
    pub fn new() -> Signing {
        Signing {
            name: [0xa5; 20],
            seed: [0xa5; 32],
            digits: [0xa5; 34],
            tree: 0xa5,
            height: 0xa5,
            next: 0xa5,
            node: 0xa5a5,
        }
    }

    /// `ws_lms_sign_next`, all that it gives.
    ///
    /// # Panics
    /// If something of the seed is left behind the last piece.
    #[must_use]
    pub fn rest(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut piece = [0; 32];
        loop {
            match unsafe { c::ws_lms_sign_next(self, piece.as_mut_ptr()) } {
                0 => break,
                count => all.extend_from_slice(&piece[..usize::from(count)]),
            }
        }
        assert!(all.is_empty() || (self.seed, self.digits) == ([0; 32], [0; 34]), "wiped");
        all
    }
}
