//! The harvested node, as `device/node/node.h` and `device/node/message.h` lay its structures and
//! messages out.

mod message;
mod structures;

pub use message::{Challenge, Error, Message, Reassembly, Trigger};
pub use structures::{Config, Mode, State, Status};

/// The symbol of the linked program where a [`Config`] is to be written before the part starts.
pub const CONFIG_SYMBOL: &str = "ws_node_config";
/// The symbol of the linked program where a [`Status`] can be read at any time.
pub const STATUS_SYMBOL: &str = "ws_node_status";

/// The signature scheme of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// ECDSA with secp160r1 and SHA-1.
    Secp160r1,
    /// ECDSA with P-256 and SHA-256.
    P256,
}

impl Scheme {
    /// The number that stands for it in structures and messages.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Scheme::Secp160r1 => 0,
            Scheme::P256 => 1,
        }
    }

    /// Bytes of a signature: r and s, big-endian.
    #[must_use]
    pub fn signature_bytes(self) -> usize {
        match self {
            Scheme::Secp160r1 => 40,
            Scheme::P256 => 64,
        }
    }

    /// Bytes of a private key, big-endian.
    #[must_use]
    pub fn key_bytes(self) -> usize {
        match self {
            Scheme::Secp160r1 => 21,
            Scheme::P256 => 32,
        }
    }
}
