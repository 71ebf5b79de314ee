//! Telegrams in the bytes of a radio module's serial line.

use super::ReceivedFrame;
use super::receiver::imst_trailer_bytes;

/// A maker's radio modules, by the frames of their serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioModule {
    /// IMST's iM871A and iM170A.
    Imst,
    /// Amber's AMB8425, AMB8426 and AMB8465 in command mode.
    Amber {
        /// A level stands behind each telegram (RSSI_Enable).
        has_level: bool,
    },
}

impl RadioModule {
    fn start(self) -> u8 {
        match self {
            RadioModule::Imst => 0xa5,
            RadioModule::Amber { .. } => 0xff,
        }
    }

    /// Length of the frame that begins here, in bytes; none while its header is not whole.
    fn frame_bytes(self, bytes: &[u8]) -> Option<usize> {
        match self {
            RadioModule::Imst => {
                let (control, length) = (*bytes.get(1)?, *bytes.get(3)?);
                Some(4 + usize::from(length) + imst_trailer_bytes(control))
            }
            RadioModule::Amber { .. } => Some(3 + usize::from(*bytes.get(2)?) + 1),
        }
    }

    fn parse(self, frame: &[u8]) -> Option<ReceivedFrame> {
        match self {
            RadioModule::Imst => ReceivedFrame::from_imst(frame),
            RadioModule::Amber { has_level } => ReceivedFrame::from_amber(frame, has_level),
        }
        .ok()
    }
}

/// Finds a module's telegrams among the bytes of its serial line.
///
/// A start byte may stand within a telegram, and bytes get lost on the line. If a frame's check
/// fails, the search goes on at the byte behind its start, so that no whole frame is lost.
#[derive(Debug)]
pub struct ModuleFrames {
    module: RadioModule,
    /// Bytes of one frame at most, between two calls.
    waiting: Vec<u8>,
}

impl ModuleFrames {
    /// Frames of a line that was just opened.
    #[must_use]
    pub fn new(module: RadioModule) -> ModuleFrames {
        ModuleFrames { module, waiting: Vec::new() }
    }

    /// Takes bytes as they come, and gives the telegrams that are whole now.
    pub fn take(&mut self, bytes: &[u8], give: impl FnMut(ReceivedFrame)) {
        self.waiting.extend_from_slice(bytes);
        self.search(false, give);
    }

    /// Takes a silence, in which a whole frame would have come: the rest of what waits never comes.
    pub fn take_silence(&mut self, give: impl FnMut(ReceivedFrame)) {
        self.search(true, give);
    }

    fn search(&mut self, is_silent: bool, mut give: impl FnMut(ReceivedFrame)) {
        let mut at = 0;
        while let Some(found) = self.waiting[at..].iter().position(|byte| *byte == self.module.start()) {
            at += found;
            let bytes = &self.waiting[at..];
            let frame = self.module.frame_bytes(bytes).and_then(|length| bytes.get(..length));
            match frame.map(|frame| (frame.len(), self.module.parse(frame))) {
                Some((length, Some(telegram))) => {
                    give(telegram);
                    at += length;
                }
                None if !is_silent => {
                    self.waiting.drain(..at);
                    return;
                }
                _ => at += 1,
            }
        }
        self.waiting.clear();
    }
}
