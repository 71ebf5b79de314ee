//! A meter and its collector alone on the air, to the cycle: the meter's firmware on its models, the collector's end of the
//! protocol with a radio beside it.

mod deliveries;
mod radio;
mod watch;

pub use deliveries::Experiments;
pub use radio::{BYTE_NS, Packet, TURNAROUND_NS};
pub use watch::{Call, Moment, Watch};

use crate::modelled::Modelled;
use lab::LabError;
use mcu::chips::rfm12b::AirByte;
use radio::Radio;
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::{HashMap, VecDeque};
use wire::meter::{Accepted, Answered, Collector, Due, Heard, Suite, Transmission};

/// How long the meter lives on its own: shorter than it takes the collector to turn around.
const STEP_NS: u64 = 100_000;

/// How long the collector computes, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Computing {
    /// To open a report.
    pub open_ns: u64,
    /// To make an acknowledgement.
    pub acknowledge_ns: u64,
    /// To seal a command.
    pub seal_ns: u64,
    /// To open an answer.
    pub answer_ns: u64,
}

/// What the collector came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A report, and when its last packet had been heard.
    Report(Box<Accepted>, u64),
    /// An answer, and when its last packet had been heard.
    Answer(Box<Answered>, u64),
}

/// The two.
pub struct Pair {
    /// The meter.
    pub meter: Modelled,
    /// The collector.
    pub collector: Collector,
    computing: Computing,
    radio: Radio,
    rng: StdRng,
    /// Bytes of the meter that end later than it has lived to.
    coming: VecDeque<AirByte>,
    /// Packets of the collector that have not begun, and when they may.
    to_send: VecDeque<(u64, Vec<u8>)>,
    /// Until when the collector's radio is at work.
    busy_ns: u64,
    outcomes: Vec<Outcome>,
    /// Reports by number, as they were sealed.
    stored: HashMap<u32, Vec<u8>>,
    /// Everything that was on the air, as beginning and end.
    on_air: Vec<(u64, u64)>,
    /// Packets of the meter, whether the collector heard them or not.
    packets: Vec<Packet>,
    /// Commands that the collector sent.
    commands: Vec<Transmission>,
    /// Share of the packets that do not arrive, in either direction.
    pub loss: f64,
}

impl Pair {
    /// A meter and its collector, at whose sides nothing has happened yet.
    #[must_use]
    pub fn new(meter: Modelled, collector: Collector, group: u8, computing: Computing, rng: StdRng) -> Pair {
        Pair {
            meter,
            collector,
            computing,
            radio: Radio::new(group),
            rng,
            coming: VecDeque::new(),
            to_send: VecDeque::new(),
            busy_ns: 0,
            outcomes: Vec::new(),
            stored: HashMap::new(),
            on_air: Vec::new(),
            packets: Vec::new(),
            commands: Vec::new(),
            loss: 0.0,
        }
    }

    /// The packets that the meter has sent since this was last asked.
    pub fn take_packets(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.packets)
    }

    /// The commands that the collector has sent since this was last asked.
    pub fn take_commands(&mut self) -> Vec<Transmission> {
        std::mem::take(&mut self.commands)
    }

    /// Something is sent to the meter by the collector's radio, but not by the collector.
    pub fn inject(&mut self, transmission: Transmission) {
        let now_ns = self.meter.now_ns();
        self.queue(transmission, now_ns);
    }

    /// The meter's power is cut now, and comes back at once; a byte of its non-volatile memory that is being written becomes `torn`.
    pub fn cut_power(&mut self, torn: u8) {
        let now_ns = self.meter.now_ns();
        self.meter.cut_power(torn);
        self.meter.power_up(now_ns);
        self.coming.clear();
    }

    /// What the collector came to since this was last asked.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// What was on the air since this was last asked, as beginnings and ends, in nanoseconds.
    pub fn take_on_air(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.on_air)
    }

    /// Lives up to a time; `watch` is told of the calls that it watches.
    ///
    /// # Errors
    /// What the model cannot execute.
    pub fn run(&mut self, until_ns: u64, watch: &mut Watch) -> Result<(), LabError> {
        while self.meter.now_ns() < until_ns {
            self.transmit()?;
            let step_ns = until_ns.min(self.meter.now_ns() + STEP_NS);
            watch.run(&mut self.meter, step_ns)?;
            self.hear()?;
        }
        Ok(())
    }

    /// Bytes that the meter has sent, and what the collector makes of them.
    fn hear(&mut self) -> Result<(), LabError> {
        let started_ns = self.meter.started_ns().unwrap_or_default();
        let sent = self.meter.radio()?.take_on_air();
        self.coming.extend(sent.into_iter().map(|byte| AirByte {
            start_ns: byte.start_ns + started_ns,
            end_ns: byte.end_ns + started_ns,
            byte: byte.byte,
        }));
        let now_ns = self.meter.now_ns();
        while let Some(&byte) = self.coming.front().filter(|byte| byte.end_ns <= now_ns) {
            self.coming.pop_front();
            self.on_air.push((byte.start_ns, byte.end_ns));
            let Some(packet) = self.radio.hear(byte) else { continue };
            self.packets.push(packet.clone());
            // While it sends it hears nothing.
            let began_ns = packet.end_ns.saturating_sub(packet.bytes.len() as u64 * BYTE_NS);
            if began_ns >= self.busy_ns && self.arrives() {
                self.heard(packet);
            }
        }
        Ok(())
    }

    fn arrives(&mut self) -> bool {
        self.loss == 0.0 || !self.rng.random_bool(self.loss)
    }

    fn heard(&mut self, packet: Packet) {
        let Packet { end_ns, bytes } = packet;
        match self.collector.hear(&bytes, end_ns / 1_000_000) {
            Heard::Report(report) | Heard::OldNumber(report) => self.store(report, end_ns),
            Heard::Duplicate(acknowledgement) => {
                self.queue(acknowledgement, end_ns + self.computing.acknowledge_ns);
            }
            Heard::Answer(answer) => self.outcomes.push(Outcome::Answer(answer, end_ns)),
            // Nobody else commands it, and nobody writes the meter's memory.
            Heard::NumberReused(_) | Heard::NumberTooLow { .. } => {}
            Heard::Busy | Heard::Piece | Heard::OtherSuite | Heard::Rejected(_) => {}
        }
    }

    /// Keeps a report and acknowledges it. One may come late: a byte that a power cut has torn brings it back.
    fn store(&mut self, report: Box<Accepted>, end_ns: u64) {
        let (meter, n) = (report.meter, report.report.n);
        let known = self.stored.get(&n).cloned();
        if known.as_ref().is_some_and(|known| *known != report.sealed) {
            // It was handed out just now.
            let _ = self.collector.not_stored(meter, n);
            return;
        }
        let plain = report.suite == Suite::None;
        let took_ns = if plain { 0 } else { self.computing.open_ns + self.computing.acknowledge_ns };
        if let Ok(acknowledgement) = self.collector.stored(meter, n) {
            self.queue(acknowledgement, end_ns + took_ns);
        }
        if known.is_none() {
            self.stored.insert(n, report.sealed.clone());
            self.outcomes.push(Outcome::Report(report, end_ns));
        }
    }

    fn queue(&mut self, transmission: Transmission, from_ns: u64) {
        self.to_send.extend(transmission.packets.into_iter().map(|packet| (from_ns, packet)));
    }

    /// What the collector wants sent, and the packets whose time is here.
    fn transmit(&mut self) -> Result<(), LabError> {
        let now_ns = self.meter.now_ns();
        for due in self.collector.due(now_ns / 1_000_000, &mut self.rng) {
            match due {
                Due::Save(state) => self.collector.saved(state.meter, state.revision),
                Due::Send(transmission) => {
                    self.commands.push(transmission.clone());
                    self.queue(transmission, now_ns + self.computing.seal_ns);
                }
            }
        }
        while let Some((from_ns, _)) = self.to_send.front() {
            let start_ns = (from_ns + TURNAROUND_NS).max(self.busy_ns);
            // A byte must be announced before it begins.
            if start_ns > now_ns + 2 * STEP_NS {
                break;
            }
            let start_ns = start_ns.max(now_ns + 1);
            let Some((_, packet)) = self.to_send.pop_front() else { break };
            let bytes = self.radio.send(&packet, start_ns);
            let started_ns = self.meter.started_ns().unwrap_or_default();
            self.busy_ns = bytes.last().map_or(start_ns, |byte| byte.end_ns) + TURNAROUND_NS;
            let arrives = self.arrives();
            for byte in bytes {
                self.on_air.push((byte.start_ns, byte.end_ns));
                let heard = AirByte {
                    start_ns: byte.start_ns - started_ns,
                    end_ns: byte.end_ns - started_ns,
                    byte: byte.byte,
                };
                self.meter.radio()?.hear(heard, arrives);
            }
        }
        Ok(())
    }
}
