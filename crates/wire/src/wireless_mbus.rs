//! Wireless M-Bus with OMS: telegrams of other makers' meters, from a receiver's bytes to records.
//!
//! The way of a telegram: [`ReceivedFrame`] (a receiver's line) or [`Frame`] (link layer), then
//! [`Datagram`] (extended link layer), [`Reassembly`] (fragments), [`Message::open`] (security),
//! and [`FormatCache::decode`] (records). Nothing knows a clock or a radio, and every parser takes
//! any bytes. An [`OpenedMessage`] says whether its contents are authenticated.
//!
//! Sources: OMS specification, volume 2, issue 5.0.1, as `docs/reference/wireless-mbus.md` names
//! them. EN 13757 is not public. Items that cite it follow public implementations, which that page
//! lists, and are not compared with the standard's text.

mod address;
mod afl;
mod application;
mod ci;
mod crc;
mod datagram;
mod fragments;
mod frame;
mod message;
mod module;
mod provision;
mod receiver;
mod security;
mod transport;

pub use address::{Manufacturer, MeterAddress, device_type_name};
pub use afl::{AflError, AuthenticationType, FragmentHeader};
pub use application::{
    Application, ApplicationError, Coding, Date, DateTime, Decimal, Format, FormatCache, Function, Modifier,
    Quantity, Record, Records, SiUnit, Time, Unit, Unread, Value,
};
pub use ci::{Header, Protocol, header_of, protocol_of};
pub use crc::crc16;
pub use datagram::{AccessWindow, CommunicationControl, Datagram, DatagramError};
pub use fragments::{MESSAGE_BYTES_MAX, Reassembly, ReassemblyError};
pub use frame::{Control, Frame, FrameError, FrameFormat, Integrity, LinkMode};
pub use message::{Message, OpenError, OpenedMessage};
pub use module::{ModuleFrames, RadioModule};
pub use provision::{MeterSetup, SecurityProfile};
pub use receiver::{LINE_BYTES_MAX, ReceivedFrame, ReceiverError};
pub use security::{MeterKey, SecurityMode};
pub use transport::{Configuration, Status, TransportError, TransportHeader};
