//! A part with a bootloader, and the host at its UART.

use super::part::{BootPart, Erasure, MSP430F5438A, STM32F407};
use firmware::{Firmware, Slot, build_app, build_for_slot};
use lab::workspace::Workspace;
use mcu::{Access, AccessKind, Mcu, Observer, Stop, Until};
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;
use testkit::random::Random;
use update::image;
use update::key::{Height, PrivateKey, PublicKey};
use update::loader::{Deframer, Status, Transfer, frame, status_of, status_request};

/// Interval at which the host looks at the UART: half a millisecond of a clock of 16 MHz.
const LOOK: u64 = 8_000;
/// Time that it waits, in seconds: a sector takes a second.
const ANSWER_WITHIN_S: u64 = 6;
/// 0.2 s of listening, two verifications and two records; ten seconds once there was a frame.
const START_WITHIN_S: u64 = 14;
/// Bytes of a record of the journal, and its mark behind it.
const RECORD: usize = 24;

/// Builds that all tests of a part share.
pub struct Built {
    pub boot: Firmware,
    programs: [Firmware; 2],
    folder: TempDir,
}

pub fn built(part: &BootPart) -> &'static Built {
    static BUILT: [OnceLock<Built>; 2] = [OnceLock::new(), OnceLock::new()];
    let place = [&STM32F407, &MSP430F5438A].iter().position(|other| other.target == part.target);
    BUILT[place.expect("a part that is listed")].get_or_init(|| {
        let workspace = Workspace::find().expect("the project's folder");
        let target = workspace.target(part.target).expect("a target");
        let point = target.operating_point(Some(part.clock_hz), None).expect("a clock of the part");
        let source = workspace.source(&target, &point).expect("a toolchain");
        let read = |path: PathBuf| Firmware::read(&path, target.part.core).expect("an ELF file");
        let boot = read(build_app(&source, "fast", "boot").expect("it builds"));
        let programs = [Slot::A, Slot::B]
            .map(|slot| read(build_for_slot(&source, "small", "update", slot).expect("it builds")));
        Built { boot, programs, folder: tempfile::tempdir().expect("a folder") }
    })
}

/// A key pair of its own name, only of the random numbers, so that a seed decides on the
/// signatures, too.
pub fn key(part: &BootPart, name: &str, random: &mut Random) -> (PrivateKey, PublicKey) {
    let path = built(part).folder.path().join(name);
    PrivateKey::from_seed(&path, Height::H5, &std::array::from_fn(|_| random.byte())).expect("a new key")
}

/// Behaviour of an image's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Silent = 0,
    Confirms = 1,
}

/// Image to be signed: the program for a slot, named by its version.
pub fn unsigned(part: &BootPart, slot: usize, version: u32, behaviour: Behaviour, signature: u32) -> Vec<u8> {
    let program = &built(part).programs[slot];
    let segments = &program.image().segments;
    let (start, mut bytes) =
        image::program(segments.iter().map(|segment| (segment.address, segment.bytes.as_slice())))
            .expect("a program");
    let at = (program.symbol("ws_update").expect("the program has it").address - start) as usize;
    bytes[at..at + 2].copy_from_slice(&[b'0' + version as u8, behaviour as u8]);
    image::pack(part.target, version, start, &bytes, signature).expect("an image")
}

pub fn signed(part: &BootPart, key: &PrivateKey, slot: usize, version: u32, behaviour: Behaviour) -> Vec<u8> {
    let image = unsigned(part, slot, version, behaviour, key.signature_bytes().expect("a key"));
    let (signature, _) = key.sign(&image).expect("a leaf");
    [image, signature].concat()
}

/// Observer of a run: bytes that the part sends, and changes of its flash.
struct Watched {
    part: &'static BootPart,
    sent: Vec<u8>,
    /// Cycle, and whether it is an erasure.
    changes: Vec<(u64, bool)>,
    erases: bool,
}

impl Observer for Watched {
    fn uart(&mut self, port: &str, byte: u8, _: u64) {
        if port == self.part.uart {
            self.sent.push(byte);
        }
    }
    fn access(&mut self, access: &Access) {
        if access.kind != AccessKind::Write {
            return;
        }
        let part = self.part;
        let in_flash = access.address.wrapping_sub(part.flash) < part.flash_bytes as u32;
        match part.erasure {
            Erasure::Command { register, bit } if access.address == register && access.value & bit != 0 => {
                self.changes.push((access.cycles, true));
            }
            Erasure::Mode { register, bit } if access.address == register => {
                self.erases = access.value & bit != 0;
            }
            _ if in_flash => self.changes.push((access.cycles, self.erases)),
            _ => {}
        }
    }
}

/// Program that runs after a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// The program of a slot.
    Slot(usize),
    /// The bootloader, which waits.
    Loader,
}

/// The journal's newest record, read by its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub sequence: u32,
    pub floor: u32,
    pub confirmed: u8,
    pub trial: u8,
    pub starts: u8,
}

pub struct Rig {
    pub part: &'static BootPart,
    pub machine: Box<dyn Mcu>,
    deframer: Deframer,
    /// Flash operations so far, since the last start: cycle, and whether it is an erasure.
    pub changes: Vec<(u64, bool)>,
    erases: bool,
    /// Interruption of the run.
    pub stops: Stops,
}

/// Cycles at which a copy of the machine is handed over, the earliest last.
#[derive(Default)]
pub struct Stops {
    pub cycles: Vec<u64>,
    pub copies: Vec<(u64, Box<dyn Mcu>)>,
}

impl Rig {
    /// A part with the bootloader for a key, and nothing else.
    pub fn new(part: &'static BootPart, public: Option<&PublicKey>) -> Rig {
        let workspace = Workspace::find().expect("the project's folder");
        let target = workspace.target(part.target).expect("a target");
        let mut machine = mcu::new_machine(&target.part, part.clock_hz).expect("a model");
        machine.load(built(part).boot.image()).expect("it fits");
        if let Some(public) = public {
            let at = built(part).boot.symbol("ws_boot_public_key").expect("the bootloader has it").address;
            assert!(machine.poke(at, public.bytes()));
        }
        machine.reset();
        Rig::of(part, machine)
    }

    pub fn of(part: &'static BootPart, machine: Box<dyn Mcu>) -> Rig {
        let (deframer, changes, stops) = (Deframer::default(), Vec::new(), Stops::default());
        Rig { part, machine, deframer, changes, erases: false, stops }
    }

    /// The power goes and comes back; of what is being written these bits have changed.
    pub fn cut(&mut self, torn: u8) {
        self.machine.cut_power(torn);
        self.deframer = Deframer::default();
        self.changes.clear();
        self.erases = false;
    }

    /// Runs up to a cycle, and returns what was sent.
    pub fn advance(&mut self, cycles: u64) -> Vec<u8> {
        let mut watched =
            Watched { part: self.part, sent: Vec::new(), changes: Vec::new(), erases: self.erases };
        while let Some(&stop) = self.stops.cycles.last().filter(|stop| **stop <= cycles) {
            self.stops.cycles.pop();
            self.step(stop, &mut watched);
            self.stops.copies.push((stop, self.machine.snapshot()));
        }
        self.step(cycles, &mut watched);
        self.changes.append(&mut watched.changes);
        self.erases = watched.erases;
        watched.sent
    }

    fn step(&mut self, cycles: u64, watched: &mut Watched) {
        let until = Until { cycles: Some(cycles), ..Until::default() };
        match self.machine.run_observed(&until, watched) {
            Ok(Stop::Cycles | Stop::Halted) => {}
            other => panic!("{other:?} at {:#x}", self.machine.pc()),
        }
    }

    /// Sends bytes, and returns the next frame that comes.
    pub fn ask(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        assert!(self.machine.uart_receive(self.part.uart, request));
        let end = self.machine.cycles() + ANSWER_WITHIN_S * self.part.clock_hz;
        while self.machine.cycles() < end {
            let look = self.machine.cycles() + LOOK;
            let sent = self.advance(look);
            // The last one, where there are several: others answer what went before.
            let frame = sent.into_iter().filter_map(|byte| self.deframer.take(byte)).last();
            if frame.is_some() {
                return frame;
            }
            if self.machine.cycles() < look {
                return None;
            }
        }
        None
    }

    /// A request of one's own making: its result.
    pub fn result(&mut self, request: &[u8]) -> u8 {
        let answer = self.ask(&frame(request)).expect("an answer");
        assert_eq!(answer[0], request[0] | 0x80);
        answer[1]
    }

    /// The bootloader listens once its UART is set up.
    pub fn await_listening(&mut self) {
        while self.machine.uart_listens(self.part.uart) != Some(true) {
            let cycles = self.machine.cycles() + 1_000;
            assert!(cycles < self.part.clock_hz, "the bootloader does not listen");
            self.advance(cycles);
        }
    }

    pub fn status(&mut self) -> Status {
        self.await_listening();
        let answer = self.ask(&status_request()).expect("an answer");
        status_of(&answer).expect("a status")
    }

    /// Sends an image after a start.
    pub fn send(&mut self, image: &[u8]) -> Result<(), update::UpdateError> {
        self.await_listening();
        let mut transfer = Transfer::new(image)?;
        while let Some(request) = transfer.request() {
            let answer = self.ask(&request).expect("an answer");
            transfer.answer(&answer)?;
        }
        Ok(())
    }

    /// Runs a start while the bootloader receives nothing; returns the program before its first
    /// instruction.
    pub fn start(&mut self) -> Running {
        let mains = [0, 1].map(|slot| self.main_of(slot));
        let until = Until {
            cycles: Some(self.machine.cycles() + START_WITHIN_S * self.part.clock_hz),
            addresses: mains.to_vec(),
        };
        match self.machine.run(&until) {
            Ok(Stop::Address(at)) => {
                Running::Slot(mains.iter().position(|main| *main == at).expect("one of them"))
            }
            Ok(Stop::Cycles) => Running::Loader,
            other => panic!("{other:?} at {:#x}", self.machine.pc()),
        }
    }

    /// Address at which the program of a slot begins.
    pub fn main_of(&self, slot: usize) -> u32 {
        built(self.part).programs[slot].symbol("main").expect("a symbol").address
    }

    /// Output of a running program, up to its last character.
    pub fn says(&mut self) -> String {
        let mut said = String::new();
        for _ in 0..4_000 {
            let before = self.machine.cycles();
            said.extend(self.advance(before + LOOK).into_iter().map(char::from).filter(char::is_ascii));
            if said.ends_with('>') {
                break;
            }
        }
        let begin = said.rfind('<').unwrap_or(0);
        said[begin..].to_owned()
    }

    pub fn flash(&self, address: u32, bytes: usize) -> Vec<u8> {
        let mut held = vec![0; bytes];
        assert!(self.machine.peek(address, &mut held));
        held
    }

    /// The newest valid record of the journal.
    pub fn record(&self) -> Option<Record> {
        let BootPart { journal, journal_sector, .. } = *self.part;
        let bytes = (journal_sector as usize).min(64 * RECORD);
        let sectors = [journal, journal + journal_sector].map(|sector| self.flash(sector, bytes));
        let records = sectors.iter().flat_map(|sector| sector.chunks_exact(RECORD)).filter_map(|bytes| {
            let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
            let check = crc32fast::hash(&[b"WSB1", &bytes[..16]].concat());
            (number(16) == check).then(|| Record {
                sequence: number(0),
                floor: number(4),
                confirmed: bytes[8],
                trial: bytes[9],
                starts: bytes[10],
            })
        });
        records.max_by_key(|record| record.sequence)
    }
}

/// A record that says that a slot is confirmed, with its mark, as it is first in the journal.
pub fn record_bytes(version: u32, slot: u8) -> Vec<u8> {
    let mut bytes = [1u32.to_be_bytes(), version.to_be_bytes(), [slot, 0xff, 0, 0xff], [0; 4]].concat();
    let check = crc32fast::hash(&[&b"WSB1"[..], &bytes].concat());
    bytes.extend(check.to_be_bytes());
    bytes.extend([0; 4]);
    bytes
}
