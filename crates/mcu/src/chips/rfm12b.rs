//! HopeRF RFM12B, packet radio at 433, 868 and 915 MHz, at register level.
//!
//! Its chip is the RF12B, in another package the Si4421.
//!
//! Source: "the data sheet" is HopeRF's RFM12B data sheet (41 pages); Silicon Labs' Si4421
//! (Si4421-DS rev 2.4) has the same text on the same pages, and was read where the former's was not
//! at hand. The crystal has 10 MHz.
//!
//! Modelled: all command words, the status word, nIRQ ([`Rfm12b::NIRQ`]), power-on reset, the
//! crystal's and the synthesizer's start, the two TX registers, the receive FIFO of 16 bits with
//! its synchron pattern and its overflow.
//!
//! The ether carries whole bytes ([`AirByte`]): whoever owns the world takes what [goes
//! out](Rfm12b::take_on_air) and lets others [`Rfm12b::hear`] it. Every station is taken to have
//! the same band, frequency, deviation and bit rate, and what is heard to be strong enough. A
//! receiver finds the synchron pattern at the borders of the sender's bytes alone, after at least
//! one byte of preamble (the data sheet wants 4 to 8 bits in the fast mode of the clock recovery),
//! and hears nothing where there is nothing: the part's FIFO would fill with noise behind a
//! transmission that broke off.
//!
//! Not modelled, and refused where the chip is told to use it: `Configuration` with `el` or `ef`
//! clear while the transmitter or the receiver is on (bits without register and FIFO), and the band
//! 315 MHz; `Power Management` with `eb` (low battery detector), `ew` (wake-up timer) or without
//! `dc` (clock output); `Receiver Control` without `p16` (interrupt input), with the slow or medium
//! valid data indicator, or with a reserved bandwidth or threshold; `Data Filter` with `s`
//! (analogue filter); `FIFO and Reset Mode` with a level other than 8 bits or with `al` (fill
//! without synchron pattern); `Wake-Up Timer` with R above 29, which the software reset is among;
//! `Low Duty-Cycle` with `en`; a byte more than a command has; reading a FIFO without a byte; bits
//! that the data sheet has fixed. Taken and without effect, because every station is alike and each
//! byte is heard or not by the world's decision: crystal load, frequency, gain, bandwidth and
//! threshold of the receiver, clock recovery, data quality threshold, AFC, deviation, output power,
//! PLL. Of the status word, the wake-up, external, low battery, AFC and offset bits are always 0;
//! RSSI, DQD and CRL say whether there is a signal.

mod commands;
mod radio;

use crate::Chip;
use commands::Registers;
use radio::{Heard, Sending, State};
use std::collections::VecDeque;

/// A byte on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirByte {
    /// When its first bit begins, in nanoseconds since the chip's power-up.
    pub start_ns: u64,
    /// When its last bit ends.
    pub end_ns: u64,
    /// Its value; the most significant bit goes first.
    pub byte: u8,
}

/// The radio.
#[derive(Clone)]
pub struct Rfm12b {
    now_ns: u64,
    state: State,
    /// When the state ends by itself.
    next_ns: Option<u64>,
    /// Since when it receives.
    receiving_since_ns: u64,
    /// Time spent up to `now_ns`, by [`Rfm12b::STATES`].
    spent_ns: [u64; Rfm12b::STATES.len()],
    registers: Registers,
    selected: bool,
    /// The first byte of a command, once it is in; then that the command is.
    command: Option<u8>,
    complete: bool,
    /// The status word as the command began, and what a FIFO read gives.
    status: u16,
    sending: Option<Sending>,
    on_air: Vec<AirByte>,
    air: VecDeque<Heard>,
    /// The synchron pattern was found.
    synchronised: bool,
    /// Bytes without a gap up to the last one heard: how many, the last one's end, and its value
    /// where it was readable.
    run: Option<radio::Run>,
    fifo: VecDeque<u8>,
    power_on_reset: bool,
    register_ready: bool,
    register_missed: bool,
    fifo_overflow: bool,
}

impl Default for Rfm12b {
    fn default() -> Rfm12b {
        Rfm12b::new()
    }
}

impl Rfm12b {
    /// The states that time is spent in, by the names of `radios/rfm12b.toml`; `settling` is
    /// whenever the synthesizer runs, but neither receiver nor transmitter. Power-on reset counts
    /// as `crystal`.
    pub const STATES: &'static [&'static str] = &["sleep", "crystal", "idle", "settling", "rx", "tx"];

    /// The output nIRQ, low while there is an interrupt.
    pub const NIRQ: u8 = 0;

    /// A radio as after power-up, in its power-on reset.
    #[must_use]
    pub fn new() -> Rfm12b {
        Rfm12b {
            now_ns: 0,
            state: State::Reset,
            next_ns: Some(radio::RESET_NS),
            receiving_since_ns: 0,
            spent_ns: [0; Rfm12b::STATES.len()],
            registers: Registers::default(),
            selected: false,
            command: None,
            complete: false,
            status: 0,
            sending: None,
            on_air: Vec::new(),
            air: VecDeque::new(),
            synchronised: false,
            run: None,
            fifo: VecDeque::new(),
            power_on_reset: false,
            register_ready: false,
            register_missed: false,
            fifo_overflow: false,
        }
    }

    /// Time spent in each of [`Rfm12b::STATES`] from power-up to `now_ns`, in nanoseconds: together
    /// `now_ns`.
    pub fn spent_ns(&mut self, now_ns: u64) -> [u64; Rfm12b::STATES.len()] {
        self.update_until(now_ns);
        self.spent_ns
    }

    /// The bytes that began to go out since this was last asked, the earliest first. A byte is
    /// there from its beginning on; where the transmitter is turned off before its end, `end_ns`
    /// still is when it would have ended.
    pub fn take_on_air(&mut self) -> Vec<AirByte> {
        std::mem::take(&mut self.on_air)
    }

    /// Returns true if [`Rfm12b::take_on_air`] has something to give.
    #[must_use]
    pub fn has_sent(&self) -> bool {
        !self.on_air.is_empty()
    }

    /// A byte goes through the air around the chip, now or later. Bytes may be announced in any
    /// order; one whose end is past is lost. It is received if the receiver is on from its
    /// beginning to its end. One that is not `readable` is taken for another byte (its complement),
    /// and never for part of a synchron pattern.
    pub fn hear(&mut self, byte: AirByte, readable: bool) {
        let index = self.air.partition_point(|heard| heard.air.end_ns <= byte.end_ns);
        self.air.insert(index, Heard { air: byte, readable, begun: false, lost: false });
    }
}

impl Chip for Rfm12b {
    fn name(&self) -> &str {
        "RFM12B"
    }

    fn power_up(&mut self) {
        *self = Rfm12b::new();
    }

    fn select(&mut self, selected: bool, now_ns: u64) {
        self.update_until(now_ns);
        // nSEL high "initializes the serial interface" (Control Interface): what is not complete is
        // forgotten.
        self.selected = selected;
        self.command = None;
        self.complete = false;
    }

    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String> {
        self.update_until(now_ns);
        let answer = self.exchange(byte);
        // What was set may have brought something forward.
        self.update_until(now_ns);
        answer
    }

    fn spi_limit_hz(&self) -> u64 {
        // Timing Specification: 25 ns high and low at least. RX FIFO Buffered Data Read: a quarter
        // of the crystal's while the FIFO is read, which is told by the command's first byte.
        if self.command == Some(commands::FIFO_READ) { 2_500_000 } else { 20_000_000 }
    }

    fn output(&self, index: u8) -> Option<bool> {
        (index == Rfm12b::NIRQ).then(|| !self.interrupt())
    }

    fn due(&self) -> Option<u64> {
        self.due_ns()
    }

    fn tick(&mut self, now_ns: u64) {
        self.update_until(now_ns);
    }

    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}
