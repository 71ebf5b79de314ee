//! ML-KEM, `ml_kem.h` and `ml_kem_pieces.h`.

use std::cell::RefCell;
use std::ffi::c_int;

mod c {
    use super::c_int;

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_ml_kem_512_keygen(d: *const u8, z: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_kem_768_keygen(d: *const u8, z: *const u8, public_key: *mut u8, private_key: *mut u8);
        pub fn ws_ml_kem_512_encapsulate(public_key: *const u8, m: *const u8, ciphertext: *mut u8, shared: *mut u8) -> c_int;
        pub fn ws_ml_kem_768_encapsulate(public_key: *const u8, m: *const u8, ciphertext: *mut u8, shared: *mut u8) -> c_int;
        pub fn ws_ml_kem_512_decapsulate(private_key: *const u8, ciphertext: *const u8, shared: *mut u8);
        pub fn ws_ml_kem_768_decapsulate(private_key: *const u8, ciphertext: *const u8, shared: *mut u8);
        pub fn ws_ml_kem_512_keygen_pieces(private_key: *const u8);
        pub fn ws_ml_kem_512_encapsulate_pieces(m: *const u8, shared: *mut u8) -> c_int;
        pub fn ws_ml_kem_512_decapsulate_pieces(private_key: *const u8, shared: *mut u8) -> c_int;
        pub fn ws_ml_kem_512_check(private_key: *const u8) -> c_int;
        pub fn ws_ml_kem_768_check(private_key: *const u8) -> c_int;
        pub fn ws_ml_kem_compress_10(out: *mut u8, coefficients: *const i16);
        pub fn ws_ml_kem_compress_4(out: *mut u8, coefficients: *const i16);
        pub fn ws_ml_kem_compress_1(out: *mut u8, coefficients: *const i16);
    }
}

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlKem {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
}

// SAFETY, of all calls below: as in lib.rs; the lengths are asserted.

impl MlKem {
    /// Bytes of an encapsulation key, a decapsulation key and a ciphertext.
    #[must_use]
    pub fn sizes(self) -> [usize; 3] {
        match self {
            MlKem::MlKem512 => [800, 1632, 768],
            MlKem::MlKem768 => [1184, 2400, 1088],
        }
    }

    /// `ws_ml_kem_*_keygen`: the encapsulation key and the decapsulation key.
    #[must_use]
    pub fn keygen(self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let [public, private, _] = self.sizes();
        let (mut public, mut private) = (vec![0; public], vec![0; private]);
        let function = match self {
            MlKem::MlKem512 => c::ws_ml_kem_512_keygen,
            MlKem::MlKem768 => c::ws_ml_kem_768_keygen,
        };
        unsafe { function(d.as_ptr(), z.as_ptr(), public.as_mut_ptr(), private.as_mut_ptr()) };
        (public, private)
    }

    /// `ws_ml_kem_*_encapsulate`: the ciphertext and the shared secret; `None` where the key is
    /// refused.
    ///
    /// # Panics
    /// If something was written although the key is refused.
    #[must_use]
    pub fn encapsulate(self, public_key: &[u8], m: &[u8; 32]) -> Option<(Vec<u8>, [u8; 32])> {
        let [public, _, ciphertext] = self.sizes();
        assert_eq!(public_key.len(), public);
        let (mut ciphertext, mut shared) = (vec![0xa5; ciphertext], [0xa5; 32]);
        let function = match self {
            MlKem::MlKem512 => c::ws_ml_kem_512_encapsulate,
            MlKem::MlKem768 => c::ws_ml_kem_768_encapsulate,
        };
        let result = unsafe {
            function(public_key.as_ptr(), m.as_ptr(), ciphertext.as_mut_ptr(), shared.as_mut_ptr())
        };
        if result != 0 {
            assert!(ciphertext.iter().chain(&shared).all(|&byte| byte == 0xa5), "written although refused");
            return None;
        }
        Some((ciphertext, shared))
    }

    /// `ws_ml_kem_*_decapsulate`: the shared secret.
    #[must_use]
    pub fn decapsulate(self, private_key: &[u8], ciphertext: &[u8]) -> [u8; 32] {
        assert_eq!([private_key.len(), ciphertext.len()], self.sizes()[1..]);
        let mut shared = [0; 32];
        let function = match self {
            MlKem::MlKem512 => c::ws_ml_kem_512_decapsulate,
            MlKem::MlKem768 => c::ws_ml_kem_768_decapsulate,
        };
        unsafe { function(private_key.as_ptr(), ciphertext.as_ptr(), shared.as_mut_ptr()) };
        shared
    }

    /// `ws_ml_kem_*_check`: whether the key is what it says.
    #[must_use]
    pub fn check(self, private_key: &[u8]) -> bool {
        assert_eq!(private_key.len(), self.sizes()[1]);
        let function = match self {
            MlKem::MlKem512 => c::ws_ml_kem_512_check,
            MlKem::MlKem768 => c::ws_ml_kem_768_check,
        };
        unsafe { function(private_key.as_ptr()) == 0 }
    }
}

/// Buffers of an application of `ml_kem_pieces.h`: a public key and a ciphertext, to be read or as
/// far as they were written.
#[derive(Default)]
struct Application {
    public_key: Vec<u8>,
    ciphertext: Vec<u8>,
}

thread_local! {
    static APPLICATION: RefCell<Application> = RefCell::default();
}

/// Gives a piece; one that is not in `from` ends the process.
fn read(from: &[u8], offset: u16, to: *mut u8, count: u8) {
    assert!(count <= 24);
    let piece = &from[usize::from(offset)..][..usize::from(count)];
    // SAFETY: the C hands room for `count` bytes.
    unsafe { to.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
}

/// Takes a piece; one that does not follow the one before ends the process.
fn write(to: &mut Vec<u8>, offset: u16, piece: *const u8, count: u8) {
    assert_eq!(to.len(), usize::from(offset), "pieces come in their order");
    // SAFETY: the C hands `count` bytes.
    to.extend_from_slice(unsafe { std::slice::from_raw_parts(piece, usize::from(count)) });
}

#[unsafe(no_mangle)]
extern "C" fn ws_ml_kem_512_write_key(offset: u16, piece: *const u8, count: u8) {
    APPLICATION.with_borrow_mut(|application| write(&mut application.public_key, offset, piece, count));
}

#[unsafe(no_mangle)]
extern "C" fn ws_ml_kem_512_read_key(offset: u16, to: *mut u8, count: u8) {
    APPLICATION.with_borrow(|application| read(&application.public_key, offset, to, count));
}

#[unsafe(no_mangle)]
extern "C" fn ws_ml_kem_512_write_ciphertext(offset: u16, piece: *const u8, count: u8) {
    APPLICATION.with_borrow_mut(|application| write(&mut application.ciphertext, offset, piece, count));
}

#[unsafe(no_mangle)]
extern "C" fn ws_ml_kem_512_read_ciphertext(offset: u16, to: *mut u8, count: u8) {
    APPLICATION.with_borrow(|application| read(&application.ciphertext, offset, to, count));
}

/// `ws_ml_kem_512_keygen_pieces`: the public key. The private one is d and z.
#[must_use]
pub fn keygen_pieces(private_key: &[u8; 64]) -> Vec<u8> {
    APPLICATION.take();
    unsafe { c::ws_ml_kem_512_keygen_pieces(private_key.as_ptr()) };
    APPLICATION.take().public_key
}

/// `ws_ml_kem_512_encapsulate_pieces`: the ciphertext and the shared secret; `None` where the key
/// is refused.
///
/// # Panics
/// If something was written although the key is refused.
#[must_use]
pub fn encapsulate_pieces(public_key: &[u8], m: &[u8; 32]) -> Option<(Vec<u8>, [u8; 32])> {
    assert_eq!(public_key.len(), MlKem::MlKem512.sizes()[0]);
    APPLICATION.set(Application { public_key: public_key.to_vec(), ciphertext: Vec::new() });
    let mut shared = [0xa5; 32];
    let result = unsafe { c::ws_ml_kem_512_encapsulate_pieces(m.as_ptr(), shared.as_mut_ptr()) };
    let Application { ciphertext, .. } = APPLICATION.take();
    if result != 0 {
        assert!(ciphertext.is_empty() && shared == [0xa5; 32], "written although refused");
        return None;
    }
    Some((ciphertext, shared))
}

/// `ws_ml_kem_512_decapsulate_pieces`: the shared secret; `None` where the public key is refused.
///
/// # Panics
/// If something was written although the key is refused.
#[must_use]
pub fn decapsulate_pieces(private_key: &[u8; 64], public_key: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
    let [public, _, length] = MlKem::MlKem512.sizes();
    assert_eq!([public_key.len(), ciphertext.len()], [public, length]);
    APPLICATION.set(Application { public_key: public_key.to_vec(), ciphertext: ciphertext.to_vec() });
    let mut shared = [0xa5; 32];
    let result = unsafe { c::ws_ml_kem_512_decapsulate_pieces(private_key.as_ptr(), shared.as_mut_ptr()) };
    APPLICATION.take();
    if result != 0 {
        assert_eq!(shared, [0xa5; 32], "written although refused");
        return None;
    }
    Some(shared)
}

/// `ws_ml_kem_compress_*` of one coefficient, for 10, 4 and 1 bits.
#[must_use]
pub fn compressed(coefficient: i16) -> [u16; 3] {
    let coefficients = [coefficient; 256];
    let mut out = [0; 32];
    let mut bytes = |function: unsafe extern "C" fn(*mut u8, *const i16)| {
        unsafe { function(out.as_mut_ptr(), coefficients.as_ptr()) };
        u16::from_le_bytes([out[0], out[1]])
    };
    [
        bytes(c::ws_ml_kem_compress_10) & 1023,
        bytes(c::ws_ml_kem_compress_4) & 15,
        bytes(c::ws_ml_kem_compress_1) & 1,
    ]
}
