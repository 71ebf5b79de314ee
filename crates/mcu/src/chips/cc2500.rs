//! Texas Instruments CC2500, 2.4 GHz packet radio, at register level.
//!
//! Source: SWRS040, with the 26 MHz crystal. Modelled: SPI accesses, strobes, registers, FIFOs, the
//! state machine with its times, packets of fixed and variable length with check sum, address and
//! length filter, GDO pins, wake-on-radio. The ether carries whole packets ([`Frame`]): whoever
//! owns the world takes what was [`Cc2500::take_sent`] and lets others [`Cc2500::hear`] it; every
//! station is taken to have the same channel, rate and sync word. What is heard arrives at a fixed
//! strength. Not modelled, and refused where the chip is told to use it: serial modes, infinite
//! length, error correction, Manchester coding, packets without a sync word.

mod packet;
mod pins;
mod radio;
mod registers;
mod spi;
mod timing;

pub use packet::{Frame, check_sum};

use crate::Chip;
use radio::{Next, Reception, Sending, State, Wake};
use spi::Access;
use std::collections::VecDeque;

/// Bytes of each FIFO.
pub const FIFO_BYTES: usize = 64;

/// A packet that is, or will be, on the air around the chip.
#[derive(Clone)]
struct Heard {
    frame: Frame,
    /// Its check sum is wrong.
    spoilt: bool,
    /// Its sync word is past.
    done: bool,
}

/// The radio.
#[derive(Clone)]
pub struct Cc2500 {
    now_ns: u64,
    state: State,
    /// Since when the state is what it is.
    since_ns: u64,
    /// When the state ends by itself, and what follows.
    next: Option<(u64, Next)>,
    /// Time spent up to `now_ns`, by [`Cc2500::STATES`].
    spent_ns: [u64; Cc2500::STATES.len()],
    config: [u8; registers::CONFIGURATION],
    power_table: [u8; 8],
    power_index: usize,
    rx: VecDeque<u8>,
    tx: VecDeque<u8>,
    rx_overflown: bool,
    tx_underflown: bool,
    selected: bool,
    access: Access,
    /// Strobed, and to be done when the select line goes high.
    at_release: Option<u8>,
    sending: Option<Sending>,
    reception: Option<Reception>,
    /// Packets around it whose sync word is still to come, or that are being received.
    air: Vec<Heard>,
    sent: Vec<Frame>,
    /// A packet with a right check sum is there, and none of it read yet.
    packet_ok: bool,
    check_ok: bool,
    wake: Option<Wake>,
    /// Ways from RX or TX back to IDLE, for calibration at every fourth.
    returns: u8,
    /// Problem that arose between accesses, which the next one reports.
    problem: Option<String>,
}

impl Default for Cc2500 {
    fn default() -> Cc2500 {
        Cc2500::new()
    }
}

impl Cc2500 {
    /// The states that time is spent in, each with a current of its own: `wor` is sleep with
    /// wake-on-radio, `crystal` the crystal's start.
    pub const STATES: &'static [&'static str] =
        &["sleep", "wor", "xoff", "crystal", "idle", "calibrate", "settling", "fstxon", "rx", "tx"];

    /// The output GDO0.
    pub const GDO0: u8 = 0;
    /// The output SO, which is also GDO1.
    pub const SO: u8 = 1;
    /// The output GDO2.
    pub const GDO2: u8 = 2;

    /// A radio as after power-up.
    #[must_use]
    pub fn new() -> Cc2500 {
        let mut chip = Cc2500 {
            now_ns: 0,
            state: State::Crystal,
            since_ns: 0,
            next: None,
            spent_ns: [0; Cc2500::STATES.len()],
            config: registers::AFTER_RESET,
            power_table: [0; 8],
            power_index: 0,
            rx: VecDeque::new(),
            tx: VecDeque::new(),
            rx_overflown: false,
            tx_underflown: false,
            selected: false,
            access: Access::Header,
            at_release: None,
            sending: None,
            reception: None,
            air: Vec::new(),
            sent: Vec::new(),
            packet_ok: false,
            check_ok: false,
            wake: None,
            returns: 0,
            problem: None,
        };
        chip.reset();
        chip
    }

    /// Time spent in each of [`Cc2500::STATES`] from power-up to `now_ns`, in nanoseconds: together
    /// `now_ns`.
    pub fn spent_ns(&mut self, now_ns: u64) -> [u64; Cc2500::STATES.len()] {
        self.update_until(now_ns);
        self.spent_ns
    }

    /// The packets that went out since this was last asked, the earliest first.
    pub fn take_sent(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.sent)
    }

    /// Returns true if [`Cc2500::take_sent`] has a frame to give.
    #[must_use]
    pub fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// A packet goes through the air. It is received if the chip is in RX before its sync word
    /// begins and stays there; one whose sync word is past already is lost. Packets that overlap
    /// spoil each other's check sums.
    pub fn hear(&mut self, frame: Frame) {
        self.on_air(Heard { frame, spoilt: false, done: false });
    }

    /// As [`Cc2500::hear`], but its check sum will be wrong.
    pub fn hear_corrupted(&mut self, frame: Frame) {
        self.on_air(Heard { frame, spoilt: true, done: false });
    }
}

impl Chip for Cc2500 {
    fn name(&self) -> &str {
        "CC2500"
    }

    fn power_up(&mut self) {
        *self = Cc2500::new();
    }

    fn select(&mut self, selected: bool, now_ns: u64) {
        self.update_until(now_ns);
        self.selected = selected;
        self.access = Access::Header;
        self.power_index = 0;
        if selected {
            self.roused();
        } else {
            self.released();
        }
    }

    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String> {
        self.update_until(now_ns);
        let answer = match self.problem.take() {
            Some(problem) => Err(problem),
            None => self.exchange(byte),
        };
        // What was set may have brought something forward.
        self.update_until(now_ns);
        answer
    }

    fn spi_limit_hz(&self) -> u64 {
        // SWRS040, "SPI Interface Timing Requirements": 10 MHz with 100 ns between bytes, 6.5 MHz
        // without (from memory, not yet compared). Pauses are not looked at.
        10_000_000
    }

    fn output(&self, index: u8) -> Option<bool> {
        self.pin(index)
    }

    fn due(&self) -> Option<u64> {
        self.next_event().map(|(at_ns, _)| at_ns)
    }

    fn tick(&mut self, now_ns: u64) {
        self.update_until(now_ns);
    }

    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}
