//! The meter's messages and packets (`device/meter/message.h`, `link.h`), by themselves.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

thread_local! {
    /// Provisioned data that `ws_provision_read` reads while no meter runs on this thread.
    static PROVISION: Cell<[u8; 176]> = const { Cell::new([0; 176]) };
}

/// Sets the provisioned data for sealing and opening on this thread, while no meter runs there.
pub fn provision(flash: &[u8; 176]) {
    PROVISION.set(*flash);
}

pub(crate) fn provision_read(at: usize, out: &mut [u8]) {
    out.copy_from_slice(&PROVISION.get()[at..at + out.len()]);
}

/// `ws_message_header`, but for the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// 0 report, 1 answer, 2 acknowledgement, 3 command.
    pub kind: u8,
    /// 0 to 6.
    pub suite: u8,
    /// n or m.
    pub number: u32,
}

/// `ws_message_address`: the protocol's *address*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Address {
    /// The meter's name.
    pub meter: [u8; 2],
    /// The meter's radio address.
    pub own: u8,
    /// The collector's.
    pub collector: u8,
}

/// `ws_message_header`.
#[repr(C)]
struct AddressedHeader {
    kind: u8,
    suite: u8,
    number: u32,
    address: *const Address,
    key: *const u8,
}

impl Header {
    /// The header as C has it, of a meter that is at `address`.
    fn at(&self, address: &Address) -> AddressedHeader {
        // In epoch 0 the key of suite 6 is key256.
        let key = PROVISION.with(|provision| provision.as_ptr().cast::<u8>().wrapping_add(48).cast_const());
        AddressedHeader { kind: self.kind, suite: self.suite, number: self.number, address, key }
    }

    /// The same of a message that says nothing of the address.
    fn anywhere(&self) -> AddressedHeader {
        AddressedHeader { address: ptr::null(), ..self.at(&Address::default()) }
    }
}

/// `ws_link_piece`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Piece {
    /// The message's kind.
    pub kind: u8,
    /// The message's suite.
    pub suite: u8,
    /// The meter's name.
    pub meter: u16,
    /// The number's lowest byte.
    pub number_lsb: u8,
    /// Number of the piece, from 0.
    pub index: u8,
    /// Of how many.
    pub count: u8,
    /// Length of each piece.
    pub bytes: u8,
}

/// `ws_link_assembly`, and its message.
#[derive(Clone, Debug)]
pub struct Assembly {
    state: [u8; 3],
    message: [u8; 144],
}

mod c {
    use super::{Address, AddressedHeader as Header, Piece, c_int};

    unsafe extern "C" {
        pub fn ws_message_bytes(kind: u8, suite: u8) -> u8;
        pub fn ws_message_prepare(
            header: *const Header,
            random: *mut u8,
            plain: *const u8,
            message: *mut u8,
        ) -> u8;
        pub fn ws_message_unpack(header: *mut Header, message: *const u8, plain: *mut u8) -> c_int;
        pub fn ws_message_acknowledges(report: *const Header, message: *const u8) -> c_int;
        pub fn ws_link_begin(
            packet: *mut u8,
            address: *const Address,
            header: *const Header,
            index: u8,
        ) -> u8;
        pub fn ws_link_read(packet: *const u8, len: u8, piece: *mut Piece) -> c_int;
        pub fn ws_link_collect(
            assembly: *mut u8,
            piece: *const Piece,
            data: *const u8,
            message: *mut u8,
        ) -> u8;
    }
}

/// `ws_message_bytes`.
#[must_use]
pub fn message_bytes(kind: u8, suite: u8) -> usize {
    // SAFETY: it takes any numbers.
    usize::from(unsafe { c::ws_message_bytes(kind, suite) })
}

/// `ws_message_prepare` of what needs no random numbers, by a meter that is at `address`; `None`
/// where it refuses.
///
/// # Panics
/// Panics for a report with curves, which needs some.
#[must_use]
pub fn prepare(header: &Header, address: &Address, plain: &[u8; 16]) -> Option<Vec<u8>> {
    let has_curve = matches!(header.suite, 3 | 4);
    assert!(header.kind != 0 || !has_curve, "a report that needs random numbers");
    let mut message = vec![0; 144];
    let header = header.at(address);
    // SAFETY: plain and message have as many bytes as the header says, and nothing is drawn.
    let len =
        unsafe { c::ws_message_prepare(&header, ptr::null_mut(), plain.as_ptr(), message.as_mut_ptr()) };
    message.truncate(usize::from(len));
    (len > 0).then_some(message)
}

/// `ws_message_unpack` of a command; `None` where it refuses.
///
/// # Panics
/// Panics where the message has another length than [`message_bytes`].
#[must_use]
pub fn unpack(suite: u8, message: &[u8]) -> Option<(u32, [u8; 16])> {
    assert_eq!(message.len(), message_bytes(3, suite));
    let (mut header, mut plain) = (Header { kind: 3, suite, number: 0 }.anywhere(), [0; 16]);
    // SAFETY: message has the bytes, as was just seen.
    let result = unsafe { c::ws_message_unpack(&mut header, message.as_ptr(), plain.as_mut_ptr()) };
    (result == 0).then_some((header.number, plain))
}

/// `ws_message_acknowledges`.
///
/// # Panics
/// Panics where the message has another length than [`message_bytes`].
#[must_use]
pub fn acknowledges(report: &Header, message: &[u8]) -> bool {
    assert_eq!(message.len(), message_bytes(2, report.suite));
    // SAFETY: message has the bytes, as was just seen.
    unsafe { c::ws_message_acknowledges(&report.anywhere(), message.as_ptr()) == 0 }
}

/// The packets of a message to `to`, by `ws_link_begin`.
///
/// # Panics
/// Panics where the message is shorter than its header says.
#[must_use]
pub fn packets(to: u8, meter: u16, header: &Header, message: &[u8]) -> Vec<Vec<u8>> {
    // `ws_link_begin` takes the collector for the receiver of a packet.
    let address = Address { meter: meter.to_be_bytes(), own: 0, collector: to };
    let header = header.anywhere();
    let mut packets = Vec::new();
    let mut left = message;
    while !left.is_empty() {
        let mut packet = vec![0; 5];
        let index = packets.len() as u8;
        // SAFETY: it writes a header of 5 bytes.
        let bytes = unsafe { c::ws_link_begin(packet.as_mut_ptr(), &address, &header, index) };
        let (piece, rest) = left.split_at(usize::from(bytes));
        packet.extend(piece);
        packets.push(packet);
        left = rest;
    }
    packets
}

/// `ws_link_read`; `None` where it refuses.
#[must_use]
pub fn read(packet: &[u8]) -> Option<Piece> {
    let mut piece = Piece::default();
    let len = u8::try_from(packet.len()).ok()?;
    // SAFETY: packet has `len` bytes.
    (unsafe { c::ws_link_read(packet.as_ptr(), len, &mut piece) } == 0).then_some(piece)
}

impl Default for Assembly {
    fn default() -> Assembly {
        Assembly { state: [0; 3], message: [0; 144] }
    }
}

impl Assembly {
    /// `ws_link_collect` of a packet that [`read`] took; the message where it is whole.
    ///
    /// # Panics
    /// Panics for another packet.
    pub fn collect(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let piece = read(packet).expect("a packet of the protocol");
        let (state, message) = (self.state.as_mut_ptr(), self.message.as_mut_ptr());
        // SAFETY: the packet has the piece behind its header; message has WS_MESSAGE_MAX bytes.
        let whole = unsafe { c::ws_link_collect(state, &piece, packet[5..].as_ptr(), message) };
        let bytes = usize::from(piece.bytes) * usize::from(piece.count);
        (whole != 0).then(|| self.message[..bytes].to_vec())
    }
}
