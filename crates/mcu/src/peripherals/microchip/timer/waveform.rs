//! Waveform generation modes and compare output modes.

/// The value at which the counter turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// This count.
    Fixed(u16),
    /// OCRnA.
    CompareA,
    /// ICRn.
    Capture,
}

/// Mode of the counter. It decides when OCRnx is taken over from its buffer, and when TOVn is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Normal and CTC: up to TOP and to zero; OCRnx at once, TOVn at MAX.
    Plain,
    /// Fast PWM: up to TOP and to zero; OCRnx at BOTTOM, TOVn at TOP.
    Fast,
    /// Phase correct PWM: up to TOP and down to zero; OCRnx at TOP, TOVn at BOTTOM.
    PhaseCorrect,
    /// Phase and frequency correct PWM: up to TOP and down to zero; OCRnx and TOVn at BOTTOM.
    PhaseAndFrequencyCorrect,
}

/// A waveform generation mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waveform {
    /// The value at which the counter turns.
    pub top: Top,
    /// Its direction.
    pub kind: Kind,
}

const fn mode(top: Top, kind: Kind) -> Option<Waveform> {
    Some(Waveform { top, kind })
}

/// DS40002061, tables 15-8 and 18-8: WGMn2..0 of the 8-bit timers.
pub const MODES_8: [Option<Waveform>; 8] = [
    mode(Top::Fixed(0xFF), Kind::Plain),
    mode(Top::Fixed(0xFF), Kind::PhaseCorrect),
    mode(Top::CompareA, Kind::Plain),
    mode(Top::Fixed(0xFF), Kind::Fast),
    None,
    mode(Top::CompareA, Kind::PhaseCorrect),
    None,
    mode(Top::CompareA, Kind::Fast),
];

/// DS40002061, table 16-4: WGMn3..0 of the 16-bit timers.
pub const MODES_16: [Option<Waveform>; 16] = [
    mode(Top::Fixed(0xFFFF), Kind::Plain),
    mode(Top::Fixed(0xFF), Kind::PhaseCorrect),
    mode(Top::Fixed(0x1FF), Kind::PhaseCorrect),
    mode(Top::Fixed(0x3FF), Kind::PhaseCorrect),
    mode(Top::CompareA, Kind::Plain),
    mode(Top::Fixed(0xFF), Kind::Fast),
    mode(Top::Fixed(0x1FF), Kind::Fast),
    mode(Top::Fixed(0x3FF), Kind::Fast),
    mode(Top::Capture, Kind::PhaseAndFrequencyCorrect),
    mode(Top::CompareA, Kind::PhaseAndFrequencyCorrect),
    mode(Top::Capture, Kind::PhaseCorrect),
    mode(Top::CompareA, Kind::PhaseCorrect),
    mode(Top::Capture, Kind::Plain),
    None,
    mode(Top::Capture, Kind::Fast),
    mode(Top::CompareA, Kind::Fast),
];

impl Waveform {
    /// True where the counter runs down, too.
    #[must_use]
    pub fn is_dual_slope(self) -> bool {
        matches!(self.kind, Kind::PhaseCorrect | Kind::PhaseAndFrequencyCorrect)
    }

    /// True where COMnx = `com` connects the output of this channel (0 is A) to its pin: tables
    /// 15-2 to 15-7 and 16-1 to 16-3. In PWM modes 1 toggles OCnA where TOP can be set, and else
    /// leaves the pin to its port.
    #[must_use]
    pub fn connects(self, channel: usize, com: u8) -> bool {
        match (self.kind, com) {
            (_, 0) => false,
            (Kind::Fast, 1) => channel == 0 && !matches!(self.top, Top::Fixed(_)),
            (Kind::PhaseCorrect | Kind::PhaseAndFrequencyCorrect, 1) => {
                channel == 0 && self.top == Top::CompareA
            }
            _ => true,
        }
    }
}
