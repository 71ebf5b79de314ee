//! `struct ws_meter_status`, as `device/meter/meter.h` has it.

/// Status of the meter. Counters are since the start, and around at 2^16 or 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// n of the last message sealed.
    pub number: u32,
    /// Measurements sealed.
    pub measurements: u32,
    /// Reports acknowledged.
    pub acknowledged: u32,
    /// In 0.1 Wh.
    pub energy: u32,
    /// Starts, with this one.
    pub starts: u16,
    /// Mean power of the last measurement, in W.
    pub power: i16,
    /// RMS at the last measurement, in 0.1 V.
    pub voltage: u16,
    /// RMS at the last measurement, in 0.01 A.
    pub current: u16,
    /// Alerts sealed.
    pub alerts: u16,
    /// Reports sent, to the last packet; each attempt counts.
    pub sent: u16,
    /// Of them those that were sent before.
    pub resent: u16,
    /// Commands carried out.
    pub commands: u16,
    /// Commands answered again.
    pub repeated: u16,
    /// Packets refused.
    pub refused: u16,
    pub radio_faults: u16,
    /// Reports acknowledged before the journal had them to the end.
    pub abandoned: u16,
    /// Measurements lost for want of room.
    pub lost: u16,
    /// Reports waiting.
    pub waiting: u8,
    /// `WS_METER_...`.
    pub state: u8,
    /// 0 to 6.
    pub suite: u8,
    /// Cause of the last reset.
    pub reset_cause: u8,
    /// `WS_METER_NO_...`, joined.
    pub faults: u8,
    /// The lowest byte of the epoch of suite 6's key.
    pub epoch: u8,
    /// n of the last report that the journal had to the end.
    pub kept_number: u32,
    /// n of the last report acknowledged.
    pub acknowledged_number: u32,
}

impl Status {
    /// Bytes of the structure.
    pub const BYTES: usize = 56;

    /// Reads the structure, little-endian.
    #[must_use]
    pub fn read(bytes: &[u8; Status::BYTES]) -> Status {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        Status {
            number: word(0),
            measurements: word(4),
            acknowledged: word(8),
            energy: word(12),
            starts: half(16),
            power: half(18) as i16,
            voltage: half(20),
            current: half(22),
            alerts: half(24),
            sent: half(26),
            resent: half(28),
            commands: half(30),
            repeated: half(32),
            refused: half(34),
            radio_faults: half(36),
            abandoned: half(38),
            lost: half(40),
            waiting: bytes[42],
            state: bytes[43],
            suite: bytes[44],
            reset_cause: bytes[45],
            faults: bytes[46],
            epoch: bytes[47],
            kept_number: word(48),
            acknowledged_number: word(52),
        }
    }
}
