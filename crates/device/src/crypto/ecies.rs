//! ECIES, with a code and with a signature, and the chain of ECDH and AES. What a function writes
//! is full of 0xa5 before the call.

use std::ffi::c_int;

use super::Drbg;

/// A form of ECIES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Ephemeral keys of 64 bytes.
    Whole,
    /// Ephemeral keys of 33 bytes.
    Compressed,
}

impl Form {
    /// Bytes of an ephemeral key.
    #[must_use]
    pub fn ephemeral(self) -> usize {
        match self {
            Form::Whole => 64,
            Form::Compressed => 33,
        }
    }
}

mod c {
    use super::{Drbg, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_ecies_seal(random: *mut Drbg, recipient: *const u8, info: *const u8, info_len: usize,
                             input: *const u8, len: usize, packet: *mut u8) -> c_int;
        pub fn ws_ecies_seal_compressed(random: *mut Drbg, recipient: *const u8, info: *const u8, info_len: usize,
                                        input: *const u8, len: usize, packet: *mut u8) -> c_int;
        pub fn ws_ecies_open(private_key: *const u8, info: *const u8, info_len: usize, packet: *const u8,
                             packet_len: usize, output: *mut u8) -> c_int;
        pub fn ws_ecies_open_compressed(private_key: *const u8, info: *const u8, info_len: usize, packet: *const u8,
                                        packet_len: usize, output: *mut u8) -> c_int;
        pub fn ws_ecies_ecdsa_seal(random: *mut Drbg, recipient: *const u8, sender_private: *const u8,
                                   info: *const u8, info_len: usize, input: *const u8, len: usize,
                                   packet: *mut u8) -> c_int;
        pub fn ws_ecies_ecdsa_seal_compressed(random: *mut Drbg, recipient: *const u8, sender_private: *const u8,
                                              info: *const u8, info_len: usize, input: *const u8, len: usize,
                                              packet: *mut u8) -> c_int;
        pub fn ws_ecies_ecdsa_open(private_key: *const u8, sender_public: *const u8, info: *const u8,
                                   info_len: usize, packet: *const u8, packet_len: usize, output: *mut u8) -> c_int;
        pub fn ws_ecies_ecdsa_open_compressed(private_key: *const u8, sender_public: *const u8, info: *const u8,
                                              info_len: usize, packet: *const u8, packet_len: usize,
                                              output: *mut u8) -> c_int;
        pub fn ws_ecdh_aes128_encrypt(private_key: *const u8, public_key: *const u8, input: *const u8,
                                      output: *mut u8) -> c_int;
        pub fn ws_ecdh_aes128_encrypt_raw(private_key: *const u8, public_key: *const u8, input: *const u8,
                                          output: *mut u8) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root; opening is given a buffer as long as the
// packet, longer than what it may write.

/// `ws_ecies_seal` or `ws_ecies_seal_compressed`: what it returned, and the packet.
pub fn seal(form: Form, random: &mut Drbg, to: &[u8; 64], info: &[u8], input: &[u8]) -> (i32, Vec<u8>) {
    let function = match form {
        Form::Whole => c::ws_ecies_seal,
        Form::Compressed => c::ws_ecies_seal_compressed,
    };
    let mut packet = vec![0xa5; form.ephemeral() + input.len() + 32];
    let result = unsafe {
        function(
            random.as_mut_ptr(),
            to.as_ptr(),
            info.as_ptr(),
            info.len(),
            input.as_ptr(),
            input.len(),
            packet.as_mut_ptr(),
        )
    };
    (result, packet)
}

/// The same with the plaintext where the ciphertext will be.
pub fn seal_in_place(form: Form, random: &mut Drbg, to: &[u8; 64], info: &[u8], input: &[u8]) -> Vec<u8> {
    let function = match form {
        Form::Whole => c::ws_ecies_seal,
        Form::Compressed => c::ws_ecies_seal_compressed,
    };
    let mut packet = vec![0xa5; form.ephemeral() + input.len() + 32];
    packet[form.ephemeral()..][..input.len()].copy_from_slice(input);
    let pointer = packet.as_mut_ptr();
    let result = unsafe {
        let inside = pointer.add(form.ephemeral());
        function(random.as_mut_ptr(), to.as_ptr(), info.as_ptr(), info.len(), inside, input.len(), pointer)
    };
    assert_eq!(result, 0);
    packet
}

/// `ws_ecies_open` or `ws_ecies_open_compressed`: what it returned, and a buffer as long as the
/// packet.
#[must_use]
pub fn open(form: Form, private_key: &[u8; 32], info: &[u8], packet: &[u8]) -> (i32, Vec<u8>) {
    let function = match form {
        Form::Whole => c::ws_ecies_open,
        Form::Compressed => c::ws_ecies_open_compressed,
    };
    let mut output = vec![0xa5; packet.len()];
    let result = unsafe {
        function(
            private_key.as_ptr(),
            info.as_ptr(),
            info.len(),
            packet.as_ptr(),
            packet.len(),
            output.as_mut_ptr(),
        )
    };
    (result, output)
}

/// The same with the plaintext where the ciphertext was; whether it accepted.
#[must_use]
pub fn open_in_place(form: Form, private_key: &[u8; 32], info: &[u8], packet: &mut [u8]) -> bool {
    let function = match form {
        Form::Whole => c::ws_ecies_open,
        Form::Compressed => c::ws_ecies_open_compressed,
    };
    assert!(packet.len() >= form.ephemeral());
    let pointer = packet.as_mut_ptr();
    let result = unsafe {
        let inside = pointer.add(form.ephemeral());
        function(private_key.as_ptr(), info.as_ptr(), info.len(), pointer, packet.len(), inside)
    };
    result == 0
}

/// `ws_ecies_ecdsa_seal` or `ws_ecies_ecdsa_seal_compressed`: what it returned, and the packet.
pub fn seal_signed(
    form: Form,
    random: &mut Drbg,
    to: &[u8; 64],
    sender: &[u8; 32],
    info: &[u8],
    input: &[u8],
) -> (i32, Vec<u8>) {
    let function = match form {
        Form::Whole => c::ws_ecies_ecdsa_seal,
        Form::Compressed => c::ws_ecies_ecdsa_seal_compressed,
    };
    let mut packet = vec![0xa5; form.ephemeral() + input.len() + 64];
    let result = unsafe {
        function(
            random.as_mut_ptr(),
            to.as_ptr(),
            sender.as_ptr(),
            info.as_ptr(),
            info.len(),
            input.as_ptr(),
            input.len(),
            packet.as_mut_ptr(),
        )
    };
    (result, packet)
}

/// `ws_ecies_ecdsa_open` or `ws_ecies_ecdsa_open_compressed`: what it returned, and a buffer as
/// long as the packet.
#[must_use]
pub fn open_signed(
    form: Form,
    private_key: &[u8; 32],
    sender: &[u8; 64],
    info: &[u8],
    packet: &[u8],
) -> (i32, Vec<u8>) {
    let function = match form {
        Form::Whole => c::ws_ecies_ecdsa_open,
        Form::Compressed => c::ws_ecies_ecdsa_open_compressed,
    };
    let mut output = vec![0xa5; packet.len()];
    let result = unsafe {
        function(
            private_key.as_ptr(),
            sender.as_ptr(),
            info.as_ptr(),
            info.len(),
            packet.as_ptr(),
            packet.len(),
            output.as_mut_ptr(),
        )
    };
    (result, output)
}

/// `ws_ecdh_aes128_encrypt`, or `ws_ecdh_aes128_encrypt_raw`: what it returned, and the block.
#[must_use]
pub fn ecdh_aes128(raw: bool, private_key: &[u8; 32], peer: &[u8; 64], input: &[u8; 16]) -> (i32, [u8; 16]) {
    let function = if raw { c::ws_ecdh_aes128_encrypt_raw } else { c::ws_ecdh_aes128_encrypt };
    let mut output = [0xa5; 16];
    let result =
        unsafe { function(private_key.as_ptr(), peer.as_ptr(), input.as_ptr(), output.as_mut_ptr()) };
    (result, output)
}
