//! Invariants of a meter's images.

use wire::meter::UpdatePacket;

/// Images that a meter may run, and the commands that pieces go with.
#[derive(Default)]
pub(super) struct ImageAudit {
    given: Vec<Vec<u8>>,
    begun: Vec<u32>,
}

impl ImageAudit {
    /// It is given to the meter, or was in it from the beginning.
    pub(super) fn given(&mut self, image: &[u8]) {
        if !self.given.iter().any(|known| known == image) {
            self.given.push(image.to_vec());
        }
    }

    /// The meter has said that it takes pieces with the command of this number.
    pub(super) fn begun(&mut self, m: u32) {
        self.begun.push(m);
    }

    /// The number of the command that a piece on the air, or a reply, goes with.
    pub(super) fn piece_sent(&self, piece: &UpdatePacket<'_>) -> Result<u32, String> {
        let found = self.begun.iter().rev().find(|m| **m as u8 == piece.number_lsb);
        found.copied().ok_or_else(|| {
            format!(
                "piece {} of an image goes with a command {:#04x} that was not answered",
                piece.number, piece.number_lsb
            )
        })
    }

    /// Returns true if the running image is one of them, to its last byte.
    pub(super) fn runs(&self, slot: &[u8]) -> bool {
        self.given.iter().any(|image| slot.starts_with(image))
    }
}
