//! Configuration and status of the node, at the offsets of `device/node/node.h`.

use super::Scheme;

/// The trigger of a node's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A reading every interval.
    Periodic,
    /// An answer to each challenge.
    Asynchronous,
    /// As [`Mode::Asynchronous`], but the radio listens by turns by itself.
    WakeOnRadio,
}

/// `struct ws_node_config`: written into the part's flash before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The trigger of a message.
    pub mode: Mode,
    /// The signature scheme.
    pub scheme: Scheme,
    /// Its name in messages.
    pub node_id: u32,
    /// The first counter value of a new part.
    pub first_counter: u32,
    /// Periodic: seconds between readings. Asynchronous: seconds it waits for energy; by wake on
    /// radio between two looks at the storage. At least 1.
    pub interval_s: u16,
    /// Stored voltage below which it neither signs nor sends, in millivolts; more than
    /// [`Config::MV_MAX`] it cannot measure.
    pub threshold_mv: u16,
    /// Asynchronous: milliseconds from one listening to the next, 0 without a pause.
    pub listen_every_ms: u16,
    /// Asynchronous: milliseconds of each listening, at least 1.
    pub listen_for_ms: u16,
    /// Radio address of the node.
    pub node_address: u8,
    /// Radio address of the server.
    pub server_address: u8,
    /// Radio channel: 2433 MHz and 0.2 MHz times this.
    pub channel: u8,
    /// Output power as the CC2500's PATABLE has it: 0xfe is 0 dBm.
    pub power: u8,
    /// Big-endian; with secp160r1 the first 21 bytes count.
    pub private_key: [u8; 32],
}

impl Config {
    /// Bytes of the structure.
    pub const BYTES: usize = 56;
    /// The highest stored voltage that the node's converter measures, in millivolts.
    pub const MV_MAX: u16 = 5958;

    /// The structure as it lies in flash.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Config::BYTES] {
        let mode = match self.mode {
            Mode::Periodic => 1,
            Mode::Asynchronous => 2,
            Mode::WakeOnRadio => 3,
        };
        let mut bytes = [0; Config::BYTES];
        bytes[..2].copy_from_slice(&1u16.to_le_bytes());
        bytes[2..4].copy_from_slice(&[mode, self.scheme.code()]);
        bytes[4..8].copy_from_slice(&self.node_id.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.first_counter.to_le_bytes());
        let words = [self.interval_s, self.threshold_mv, self.listen_every_ms, self.listen_for_ms];
        for (place, word) in bytes[12..20].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[20..24].copy_from_slice(&[self.node_address, self.server_address, self.channel, self.power]);
        bytes[24..].copy_from_slice(&self.private_key);
        bytes
    }
}

/// The activity of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not started, or its configuration is none that it can work with: then it sleeps for
    /// ever.
    Unconfigured,
    /// Until the next interval.
    Sleeping,
    /// The receiver is on.
    Listening,
    /// A message is being signed.
    Signing,
    /// A message is signed and waits to be sent, or is on the air.
    Sending,
}

/// `struct ws_node_status`: what the node counts, from 0 at each reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Intervals that came, or times that it listened or would have.
    pub wakes: u32,
    /// Well-formed challenges to this node.
    pub challenges: u32,
    /// Messages signed.
    pub signatures: u32,
    /// Messages sent to the last packet.
    pub sent: u32,
    /// Readings that were due, or challenges that came, without enough energy stored.
    pub refused: u32,
    /// Asynchronous: times that it did not listen for lack of energy.
    pub closed: u32,
    /// Packets that came and were no challenge to this node.
    pub ignored: u32,
    /// Times that the radio did not start, or did not send in time.
    pub radio_faults: u32,
    /// Times that the counter's memory did not keep a record.
    pub counter_faults: u32,
    /// Counter of the last message signed.
    pub counter: u32,
    /// Starts that came to sign, over the part's life.
    pub starts: u32,
    /// The stored voltage as last measured, in millivolts.
    pub stored_mv: u16,
    /// The present activity.
    pub state: State,
    /// Says if the private key was refused.
    pub key_refused: bool,
}

impl Status {
    /// Bytes of the structure.
    pub const BYTES: usize = 48;

    /// The structure as it lies in RAM; `None` where the state is none that there is.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Status::BYTES]) -> Option<Status> {
        let word = |n: usize| {
            u32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]])
        };
        let state = match bytes[46] {
            0 => State::Unconfigured,
            1 => State::Sleeping,
            2 => State::Listening,
            3 => State::Signing,
            4 => State::Sending,
            _ => return None,
        };
        Some(Status {
            wakes: word(0),
            challenges: word(1),
            signatures: word(2),
            sent: word(3),
            refused: word(4),
            closed: word(5),
            ignored: word(6),
            radio_faults: word(7),
            counter_faults: word(8),
            counter: word(9),
            starts: word(10),
            stored_mv: u16::from_le_bytes([bytes[44], bytes[45]]),
            state,
            key_refused: bytes[47] != 0,
        })
    }
}
