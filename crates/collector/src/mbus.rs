//! Telegrams of other makers' meters, by wireless M-Bus: from receivers' lines to stored records.
//! docs/reference/wireless-mbus.md, "In the collector".
//!
//! The way of a line: a source ([`TelegramSource`]) hears it, a queue that no sender can fill alone
//! holds it, the [`TelegramReceiver`] opens and judges it, and the store takes it, which decides
//! once more whether its counter rose.

mod contents;
mod import;
mod intake;
mod partial_messages;
mod published;
mod queue;
mod receiver;
mod refusal;
mod source;

pub use import::{ImportError, read_key_file};
pub use intake::{Intake, IntakeError, TelegramIntake, TellObservers};
pub use queue::{QUEUED_MAX, QUEUED_OF_SENDER_MAX, RawTelegram, TelegramQueue};
pub use receiver::TelegramReceiver;
pub use refusal::Refusal;
pub use source::{Sender, TelegramSource};
