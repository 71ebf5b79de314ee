//! CI fields of the transport layer: the header and the protocol behind it. OMS volume 2, section
//! 7.1, and EN 13757-7; not compared with the latter.

/// The header behind a CI field. OMS volume 2, section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Header {
    /// None: the application's data follow.
    None,
    /// Access number, status, configuration.
    Short,
    /// The meter's address, then as the short one.
    Long,
}

/// The protocol of an application's data. OMS volume 2, sections 7.1 and 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Records with their headers.
    FullFrame,
    /// Records without their headers, which a format frame has.
    CompactFrame,
    /// Headers of records, for compact frames.
    FormatFrame,
    /// The meter could not do what it was told.
    ApplicationError,
    /// Alarms.
    Alarm,
    /// The selected application.
    ApplicationSelect,
    /// DLMS/COSEM.
    Dlms,
    /// An application by OBIS codes, such as SML.
    Obis,
    /// A header without an application.
    TransportOnly,
    /// Network management.
    NetworkManagement,
    /// An image transfer.
    ImageTransfer,
    /// Information about keys.
    SecurityInformation,
    /// A maker's own.
    Manufacturer,
}

/// Returns the header behind a CI field that a meter sends; `None` of an unknown CI field.
#[must_use]
pub fn header_of(ci: u8) -> Option<Header> {
    Some(match ci {
        0x66 | 0x69 | 0x70 | 0x78 | 0x79 | 0x89 | 0xa0..=0xb7 => Header::None,
        0x67 | 0x6a | 0x6e | 0x74 | 0x7a | 0x7b | 0x7d | 0x7f | 0x88 | 0x8a | 0xc1 | 0xc4 => Header::Short,
        0x68 | 0x6b | 0x6f | 0x72 | 0x73 | 0x75 | 0x7c | 0x7e | 0x87 | 0x8b | 0xc2 | 0xc5 => Header::Long,
        _ => return None,
    })
}

/// Returns the protocol behind a CI field that a meter sends; `None` of an unknown CI field.
#[must_use]
pub fn protocol_of(ci: u8) -> Option<Protocol> {
    Some(match ci {
        0x72 | 0x78 | 0x7a => Protocol::FullFrame,
        0x73 | 0x79 | 0x7b => Protocol::CompactFrame,
        0x69..=0x6b => Protocol::FormatFrame,
        0x6e..=0x70 => Protocol::ApplicationError,
        0x74 | 0x75 => Protocol::Alarm,
        0x66..=0x68 => Protocol::ApplicationSelect,
        0x7c | 0x7d => Protocol::Dlms,
        0x7e | 0x7f => Protocol::Obis,
        0x8a | 0x8b => Protocol::TransportOnly,
        0x87..=0x89 => Protocol::NetworkManagement,
        0xc1 | 0xc2 => Protocol::ImageTransfer,
        0xc4 | 0xc5 => Protocol::SecurityInformation,
        0xa0..=0xb7 => Protocol::Manufacturer,
        _ => return None,
    })
}
