//! A board of `boards/` on its models: the microcontroller runs the firmware's ELF file, its radio
//! and its memory are chips beside it.

use crate::radio::{AirByte, Arrival, Emission};
use firmware::{Firmware, FirmwareError, Source};
use lab::LabError;
use lab::board::{BoardDescription, ChipModel};
use lab::harness::place_fault;
use lab::target::Target;
use lab::workspace::Workspace;
use mcu::chips::cc2500::{Cc2500, Frame};
use mcu::chips::rfm12b::{self, Rfm12b};
use mcu::{Mcu, Stop, Until, new_machine};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// For how long ahead a CC2500 is told of packets: it looks at all that it knows of at each of its
/// steps, so it knows of few at once.
const TELLING_NS: u64 = 20_000_000;

/// A program for a board.
pub struct BoardFirmware {
    /// The board that it is for.
    pub board: BoardDescription,
    /// The board's microcontroller.
    pub target: Target,
    /// The linked program.
    pub image: Firmware,
}

impl BoardFirmware {
    /// Builds an app of `device/` for a board.
    ///
    /// # Errors
    /// Errors of building.
    pub fn build(
        workspace: &Workspace,
        board: BoardDescription,
        variant: &str,
        app: &str,
    ) -> Result<BoardFirmware, LabError> {
        BoardFirmware::built(workspace, board, |source| firmware::build_app(source, variant, app))
    }

    /// Builds the meter for a board, with these suites, or where there are none with those of the
    /// board's first build.
    ///
    /// # Errors
    /// Errors of building.
    pub fn build_meter(
        workspace: &Workspace,
        board: BoardDescription,
        variant: &str,
        suites: &[String],
    ) -> Result<BoardFirmware, LabError> {
        BoardFirmware::built(workspace, board, |source| firmware::build_meter(source, variant, suites))
    }

    fn built(
        workspace: &Workspace,
        board: BoardDescription,
        build: impl Fn(&Source<'_>) -> Result<PathBuf, FirmwareError>,
    ) -> Result<BoardFirmware, LabError> {
        let mut target = workspace.target(&board.target)?;
        target.part.supply_v = board.supply_v;
        let source = workspace.board_source(&board, &target, Some(board.clock_hz))?;
        let image = Firmware::read(&build(&source)?, target.part.core)?;
        Ok(BoardFirmware { board, target, image })
    }

    /// Returns the error of a board that does not do what it should.
    pub(crate) fn protocol(&self, problem: String) -> LabError {
        LabError::Protocol { what: self.board.name.clone(), problem }
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// A program without it.
    pub fn address(&self, symbol: &str) -> Result<u32, LabError> {
        Ok(self.image.symbol(symbol)?.address)
    }
}

/// The states that a radio's time is spent in, by the names of its file under `radios/`.
#[must_use]
pub fn radio_states(radio: ChipModel) -> &'static [&'static str] {
    match radio {
        ChipModel::Rfm12b => Rfm12b::STATES,
        ChipModel::Cc2500 => Cc2500::STATES,
        ChipModel::Fm25l16b => &[],
    }
}

/// A packet that a CC2500 has not been told of yet.
struct Incoming {
    start_ns: u64,
    end_ns: u64,
    packet: Vec<u8>,
}

/// The board.
pub struct EmulatedBoard {
    /// Its program.
    pub firmware: Arc<BoardFirmware>,
    machine: Box<dyn Mcu>,
    radio: ChipModel,
    /// When the machine's cycle 0 was, in nanoseconds of the simulation; none without power.
    started_ns: Option<u64>,
    incoming: VecDeque<Incoming>,
}

impl EmulatedBoard {
    /// A board with its program written, without power. memory: what its non-volatile memory holds,
    /// from the first byte.
    ///
    /// # Errors
    /// A target without a model of what the board needs.
    pub fn new(firmware: &Arc<BoardFirmware>, memory: Option<&[u8]>) -> Result<EmulatedBoard, LabError> {
        let wrong = |problem| firmware.protocol(problem);
        let radio = firmware.board.radio().ok_or_else(|| wrong("it has no radio".into()))?.model;
        let mut machine = new_machine(&firmware.target.part, firmware.board.clock_hz).map_err(wrong)?;
        let loaded = machine.load(firmware.image.image());
        loaded.map_err(|fault| place_fault(&firmware.target, &firmware.image, fault))?;
        firmware.board.mount(&mut *machine, memory)?;
        machine.reset();
        let firmware = Arc::clone(firmware);
        Ok(EmulatedBoard { firmware, machine, radio, started_ns: None, incoming: VecDeque::new() })
    }

    /// The microcontroller.
    #[must_use]
    pub fn machine(&self) -> &dyn Mcu {
        &*self.machine
    }

    /// The microcontroller, to be told something.
    pub fn machine_mut(&mut self) -> &mut dyn Mcu {
        &mut *self.machine
    }

    /// Its radio.
    #[must_use]
    pub fn radio(&self) -> ChipModel {
        self.radio
    }

    /// When its power came, in nanoseconds of the simulation; none without.
    #[must_use]
    pub fn started_ns(&self) -> Option<u64> {
        self.started_ns
    }

    /// Nanoseconds since its power came.
    #[must_use]
    pub fn since_start_ns(&self) -> u64 {
        self.machine.board().time_ns(self.machine.cycles())
    }

    /// The time that it has lived to; 0 without power.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.started_ns.map_or(0, |started_ns| started_ns + self.since_start_ns())
    }

    /// Its power comes: the machine is as after a reset.
    pub fn power_up(&mut self, now_ns: u64) {
        self.started_ns = Some(now_ns);
        self.incoming.clear();
    }

    /// Takes the time that it has lived through alone to end at `now_ns`, which is not below it: so
    /// boards meet that have been on for different times.
    pub fn join(&mut self, now_ns: u64) {
        if let Some(started_ns) = self.started_ns {
            self.started_ns = Some(now_ns.saturating_sub(self.now_ns() - started_ns));
        }
    }

    /// Its power is cut: a byte of the microcontroller's non-volatile memory that is being written
    /// becomes `torn`.
    pub fn cut_power(&mut self, torn: u8) {
        self.machine.cut_power(torn);
        self.started_ns = None;
        self.incoming.clear();
    }

    /// Lives up to a time, or to one of the addresses; it may end some cycles after that time, and
    /// earlier where packets come.
    ///
    /// # Errors
    /// An instruction or access that the model cannot execute.
    pub fn run(&mut self, until_ns: u64, addresses: &[u32]) -> Result<Stop, LabError> {
        let Some(started_ns) = self.started_ns else { return Ok(Stop::Cycles) };
        let until_ns = self.tell(until_ns);
        let cycles = Some(self.machine.board().cycle_at(until_ns.saturating_sub(started_ns)));
        let until = Until { cycles, addresses: addresses.to_vec() };
        let stop = self.machine.run(&until);
        stop.map_err(|fault| place_fault(&self.firmware.target, &self.firmware.image, fault))
    }

    /// Tells a CC2500 of the packets that begin before `until_ns`, or before an earlier time that
    /// is returned.
    fn tell(&mut self, until_ns: u64) -> u64 {
        if self.incoming.is_empty() {
            return until_ns;
        }
        let until_ns = until_ns.min(self.now_ns() + TELLING_NS);
        let started_ns = self.started_ns.unwrap_or_default();
        while self.incoming.front().is_some_and(|next| next.start_ns < until_ns) {
            let Some(next) = self.incoming.pop_front() else { break };
            let frame = Frame {
                start_ns: next.start_ns.saturating_sub(started_ns),
                end_ns: next.end_ns.saturating_sub(started_ns),
                bytes: next.packet,
            };
            if let Some(radio) = self.chip::<Cc2500>() {
                radio.hear(frame);
            }
        }
        until_ns
    }

    fn chip<C: 'static>(&mut self) -> Option<&mut C> {
        let name = self.radio.chip_name();
        self.machine.board_mut().chip_mut(name).and_then(|chip| chip.downcast_mut())
    }

    /// Time that its radio has spent in each of its [`radio_states`] since power-up, in
    /// nanoseconds.
    pub fn radio_ns(&mut self) -> Vec<u64> {
        let now_ns = self.since_start_ns();
        let spent = match self.radio {
            ChipModel::Rfm12b => self.chip::<Rfm12b>().map(|radio| radio.spent_ns(now_ns).to_vec()),
            ChipModel::Cc2500 => self.chip::<Cc2500>().map(|radio| radio.spent_ns(now_ns).to_vec()),
            ChipModel::Fm25l16b => None,
        };
        spent.unwrap_or_else(|| vec![0; radio_states(self.radio).len()])
    }

    /// As [`Node::take_emissions`](super::Node::take_emissions).
    pub fn take_emissions(&mut self, into: &mut Vec<Emission>) {
        let Some(started_ns) = self.started_ns else { return };
        match self.radio {
            ChipModel::Rfm12b => {
                // Asking costs the machine nothing, while a radio that may have been told something
                // makes it look at all its pins.
                let radio = self.machine.board().chip(self.radio.chip_name());
                if !radio.and_then(|chip| chip.downcast_ref()).is_some_and(Rfm12b::has_sent) {
                    return;
                }
                let sent = self.chip::<Rfm12b>().map(Rfm12b::take_on_air).unwrap_or_default();
                into.extend(sent.into_iter().map(|at| {
                    Emission::Byte(AirByte {
                        start_ns: started_ns + at.start_ns,
                        end_ns: started_ns + at.end_ns,
                        byte: at.byte,
                    })
                }));
            }
            ChipModel::Cc2500 => {
                let radio = self.machine.board().chip(self.radio.chip_name());
                if !radio.and_then(|chip| chip.downcast_ref()).is_some_and(Cc2500::has_sent) {
                    return;
                }
                let sent = self.chip::<Cc2500>().map(Cc2500::take_sent).unwrap_or_default();
                into.extend(sent.into_iter().map(|frame| Emission::Packet {
                    start_ns: started_ns + frame.start_ns,
                    end_ns: started_ns + frame.end_ns,
                    packet: frame.bytes,
                }));
            }
            ChipModel::Fm25l16b => {}
        }
    }

    /// As [`Node::receive`](super::Node::receive): what begins before its power came is lost.
    pub fn receive(&mut self, arrival: Arrival) {
        let Some(started_ns) = self.started_ns else { return };
        match arrival {
            Arrival::Byte(at, readable) if at.start_ns >= started_ns => {
                let at = rfm12b::AirByte {
                    start_ns: at.start_ns - started_ns,
                    end_ns: at.end_ns - started_ns,
                    byte: at.byte,
                };
                if let Some(radio) = self.chip::<Rfm12b>() {
                    radio.hear(at, readable);
                }
            }
            Arrival::Packet { start_ns, end_ns, packet, .. } if start_ns >= started_ns => {
                self.incoming.push_back(Incoming { start_ns, end_ns, packet });
            }
            Arrival::Byte(..) | Arrival::Packet { .. } | Arrival::Coming { .. } => {}
        }
    }
}
