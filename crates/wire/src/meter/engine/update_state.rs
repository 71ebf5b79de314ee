//! The state of an update: the stored part, the step, and the pace of pieces.

use super::policy::Policy;
use crate::meter::{Image, ImageRefusal};
use serde::{Deserialize, Serialize};

/// The image that a meter is to have. It is kept until the owner forgets it
/// ([`super::Collector::forget_update`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// The image's: [`Image::digest`].
    pub digest: [u8; 32],
    /// The image's.
    pub version: u32,
    /// The meter had all of it, and was told to begin anew.
    pub(super) restarted: bool,
    /// The end of the update; `None` while it is under way.
    pub end: Option<UpdateEnd>,
}

/// The end of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateEnd {
    /// The meter runs an image of that version, and has reported in.
    Runs,
    /// The meter refuses it.
    Refused(ImageRefusal),
    /// It was there, and does not run: its signature is not good under the bootloader's key, or it
    /// did not report in.
    WentBack,
    /// The meter has no bootloader, or a firmware that knows nothing of this.
    NotPossible,
}

/// The progress of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateProgress {
    /// The stored part of the update.
    pub update: Update,
    /// The present stage.
    pub stage: UpdateStage,
}

/// A stage of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStage {
    /// It waits for the image: [`super::Collector::update`] gives it.
    NeedsImage,
    /// The meter is asked how it stands, or told what comes.
    Asking,
    /// Pieces are sent.
    Sending {
        /// Those that the meter has.
        pieces: u16,
        /// Pieces of the whole image.
        of: u16,
    },
    /// The meter has all of it, and begins anew, or is on trial.
    Trying,
    /// [`Update::end`] says how.
    Ended,
}

/// The next step.
#[derive(Debug)]
pub(super) enum Step {
    /// The meter is asked how it stands.
    Look { at_ms: u64 },
    /// It is told what comes.
    Tell,
    /// It is sent pieces.
    Send(Sending),
    /// It has all of it, and is to begin anew.
    Restart,
}

/// Pieces that go with a command which the meter has answered.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) m: u32,
    /// The piece that the meter wants, as far as is known.
    pub(super) index: u16,
    pub(super) attempts: u32,
    pub(super) next_ms: u64,
}

/// An update whose image is there.
#[derive(Debug)]
pub(super) struct Updating {
    pub(super) image: Image,
    pub(super) step: Step,
}

/// The time of the next piece to any meter: [`Policy::update_piece_every_ms`].
#[derive(Debug, Default)]
pub(super) struct PiecePacer {
    pub(super) next_ms: u64,
}

impl PiecePacer {
    pub(super) fn next_ms(&self) -> u64 {
        self.next_ms
    }

    /// Takes the turn for one piece, if one may go out now; then the next one waits.
    pub(super) fn take(&mut self, policy: &Policy, now_ms: u64) -> bool {
        let is_free = self.next_ms <= now_ms;
        if is_free {
            self.next_ms = now_ms + policy.update_piece_every_ms;
        }
        is_free
    }
}
